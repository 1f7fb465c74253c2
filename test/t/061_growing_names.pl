# Which of the files is which, in loads of new records: a case for each way in which files
# get other names, bytes and inodes between two loads.  Each load has the rows asked, and
# tells what it took for what.
use lib 'test/t';
use CsvServer;
use POSIX ();

my $node = csv_server('names', QUICK_FILES, log_min_messages => 'panic');
my $directory = PostgreSQL::Test::Utils::tempdir;
my $ncases = 0;

$node->safe_psql('postgres', 'CREATE TABLE t (a text, n int, file text)');

# runs shell commands in a directory of its own, and loads after each that does not begin
# with SHELL: or SQL:; returns what the last load has loaded, and its messages without hints
sub loads
{
	my ($pattern, @commands) = @_;
	my $d = "$directory/" . ++$ncases;
	my ($out, $err);

	mkdir $d or die $!;
	chmod 0777, $d;
	$node->safe_psql('postgres', "DROP FOREIGN TABLE IF EXISTS s; DELETE FROM t;
		CREATE FOREIGN TABLE s (a text, n int, file text OPTIONS (virtual 'filename')) SERVER csv
		OPTIONS (filename '$d/$pattern', growing 'true', header 'true')");
	foreach my $command (@commands)
	{
		my ($kind, $text) = $command =~ /^(?:(SQL|SHELL):)?(.*)/s;
		my $status;

		$kind //= '';
		if ($kind eq 'SQL')
		{
			$node->safe_psql('postgres', $text);
			next;
		}
		system('sh', '-c', "cd $d; set -e; $text") == 0 or die $command;
		next if $kind eq 'SHELL';
		($status, $out, $err) = $node->psql('postgres', "BEGIN; CREATE TEMP TABLE before AS SELECT * FROM t;
			SELECT 1 FROM csv_gpu_load('s', 't', mode => 'new_records') WHERE records_loaded < 0;
			SELECT string_agg(a || n || ':' || file, ' ' ORDER BY file, n, a) FROM (SELECT * FROM t EXCEPT ALL SELECT * FROM before) x;
			DROP TABLE before; COMMIT", on_error_stop => 1);
		$out =~ s/^\s+|\s+$//g;
		$out =~ s{\Q$d/\E}{}g;
	}
	$err = join '; ', map { s{\Q$d/\E}{}gr } $err =~ /(?:psql:<stdin>:\d+: )?((?:NOTICE|ERROR): .*)/g;
	return "$out | $err";
}


my $one = q{printf 'a,n\nx,1\n' >f1};
my $two = q{printf 'a,n\nx,1\ny,2\n' >f1};
# more bytes than both ends of a fingerprint
my $long = q{(echo a,n; seq -f l,%g 1 2000) >f1};
my $hours = q{touch -d @1700000000};
my $moved = 'has the bytes that were loaded of "f1"; the rest is loaded';
my $replaced = 'NOTICE:  file "f1" was replaced, but has the bytes that were loaded; the rest is loaded';
my $alike = 'begins with the bytes that were loaded of "f1", but is loaded as a new file';
my $changed = 'ERROR:  file "f1" has changed before the place up to which it was loaded';
my $shorter = 'ERROR:  file "f1" is shorter than when it was loaded';

sub as
{
	my ($what, $expected, @commands) = @_;

	is(loads('f*', @commands), $expected, $what);
	return;
}

as('it grew', 'z3:f1 | ', $two, q{printf 'z,3\n' >>f1});
as('nothing has come', ' | ', $two, 'true');
as('a further link of it', 'z3:f1 | ', $two, q{ln f1 f2; printf 'z,3\n' >>f1});

# known names
as('another inode', "z3:f1 | $replaced", $two, q{cp f1 g; mv g f1; printf 'z,3\n' >>f1});
as('another inode, and then the same', 'w4:f1 | ', $two, q{cp f1 g; mv g f1; printf 'z,3\n' >>f1}, q{printf 'w,4\n' >>f1});
as('another inode, of a restored directory', " | $replaced", $two, q{cp -p f1 g; mv g f1});
as('a value mended in place', " | $changed", $two, q{printf 'a,n\nx,7\ny,2\nz,3\n' >f1});
as('a value mended by a new file', " | $changed", $two, q{sed -i s/1/7/ f1; printf 'z,3\n' >>f1});
as('only the header mended', " | $changed", $two, q{sed -i 1s/n/N/ f1});
as('all line ends', " | $changed", $two, q{sed -i 's/$/\r/' f1});
as('a mark at the beginning', " | $changed", $two, q{sed -i '1s/^/\xef\xbb\xbf/' f1});
as('newest first', " | $changed", $two, q{printf 'a,n\nz,3\ny,2\nx,1\n' >g; mv g f1});
as('shorter', " | $shorter", $two, q{printf 'a,n\nz,3\n' >f1});
as('truncated by another program than the writer', " | $shorter", $long, q{: >f1});
as('truncated, while its writer does not append', " | $changed", $two, q{printf '\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0z,3\n' >f1});
as('an inode in the middle', " | $changed", $long, q{sed -i 's/^l,1000$/l,9000/' f1; echo z,3 >>f1});

# rotation
as('renamed', 'w4:f1 z3:f2 | ', $two, q{mv f1 f2; printf 'z,3\n' >>f2; printf 'a,n\nw,4\n' >f1});
as('renamed, and the new file begins alike', 'x1:f1 y2:f1 w4:f1 z3:f2 | NOTICE:  file "f1" begins with the bytes that were loaded of "f2", but is loaded as a new file',
	$two, q{mv f1 f2; printf 'z,3\n' >>f2; printf 'a,n\nx,1\ny,2\nw,4\n' >f1});
as('renamed twice', 'v5:f1 w6:f2 | ', $two, q{mv f1 f2; printf 'a,n\nw,4\n' >f1},
	q{mv f2 f3; mv f1 f2; printf 'w,6\n' >>f2; printf 'a,n\nv,5\n' >f1});
as('renamed, out of the pattern', " | $changed", $two, q{mv f1 g; printf 'a,n\nw,4\nv,5\n' >f1});
as('copied and truncated', "w4:f1 z3:f2 | NOTICE:  file \"f2\" $moved", $two, q{printf 'z,3\n' >>f1; cp f1 f2; printf 'a,n\nw,4\n' >f1});
as('copied, truncated and compressed', "w4:f1 z3:f2.gz | NOTICE:  file \"f2.gz\" $moved", $two, q{printf 'z,3\n' >>f1; cp f1 f2; printf 'a,n\nw,4\n' >f1; gzip f2});
as('shifted, copied, truncated and compressed', "w6:f1 v5:f2.gz | NOTICE:  file \"f2.gz\" $moved; NOTICE:  file \"f3.gz\" has the bytes that were loaded of \"f2\"; the rest is loaded", $two,
	q{cp f1 f2; printf 'a,n\nw,4\n' >f1}, q{gzip f2; mv f2.gz f3.gz; printf 'v,5\n' >>f1; cp f1 f2; printf 'a,n\nw,6\n' >f1; gzip f2});
as('copied and truncated, longer and with another record', "w4:f1 v5:f1 z3:f2 | NOTICE:  file \"f2\" $moved", $two,
	q{printf 'z,3\n' >>f1; cp f1 f2; printf 'a,n\nw,4\nv,5\n' >f1});
as('a copy, and a value mended', " | $changed", $two, q{cp f1 f2; sed -i s/2/7/ f1});
as('moved to another file system', "z3:f2 | NOTICE:  file \"f2\" $moved", "$two; $hours f1", q{cp -p f1 f2; rm f1; printf 'z,3\n' >>f2; touch -d @1700000000 f2});
as('moved by a program that cuts off times', "z3:f2 | NOTICE:  file \"f2\" $moved", "$two; touch -d \@1700000000.25 f1", q{cp f1 f2; rm f1; printf 'z,3\n' >>f2; touch -d @1700000000 f2});
as('the same rows and more within a second', 'x1:f2 y2:f2 z3:f2 | NOTICE:  file "f2" ' . $alike, "$two; touch -d \@1700000000.25 f1",
	q{cp f1 f2; rm f1; printf 'z,3\n' >>f2; touch -d @1700000000.75 f2});
as('compressed', " | NOTICE:  file \"f1.gz\" $moved", "$two; $hours f1", 'gzip f1');
as('compressed with new records, and nothing under its name', 'x1:f1.gz y2:f1.gz z3:f1.gz | NOTICE:  file "f1.gz" ' . $alike, "$two; $hours f1",
	q{printf 'z,3\n' >>f1; gzip f1});
as('compressed, and loaded again', ' | ', "$two; $hours f1", 'gzip f1', 'true');
as('compressed, the file is still there', ' | NOTICE:  file "f1.gz" is a compressed copy of "f1", and is not loaded', $two, 'gzip -k f1');
as('rotated and compressed', "w4:f1 z3:f2.gz | NOTICE:  file \"f2.gz\" $moved", "$two; $hours f1",
	q{printf 'z,3\n' >>f1; mv f1 f2; gzip f2; printf 'a,n\nw,4\n' >f1});
as('written anew, compressed', ' | ERROR:  file "f1.gz" has changed before the place up to which it was loaded',
	"$two; gzip f1", q{gzip -d f1.gz; printf 'z,3\n' >>f1; gzip f1});

# new names
as('a copy, at once', ' | NOTICE:  file "f2" begins as "f1" does and has just changed; it is not loaded yet', $two, 'cp f1 f2');
as('a copy, at once, under a name that was moved on', ' | NOTICE:  file "f2" begins as "f1" does and has just changed; it is not loaded yet', "$two; printf 'a,n\\nv,7\\n' >f2",
	'mv f2 f3; cp f1 f2');
as('half a copy', ' | NOTICE:  file "f2" begins as "f1" does and has just changed; it is not loaded yet', $two, 'head -n 2 f1 >f2');
as('a header alone is not told', ' | ', $two, 'head -n 1 f1 >f2');
as('the same rows, the other file is gone', 'x1:f2 y2:f2 | NOTICE:  file "f2" ' . $alike, "$two; $hours f1", q{rm f1; printf 'a,n\nx,1\ny,2\n' >f2});
as('the same rows and more', 'x1:f2 y2:f2 z3:f2 | NOTICE:  file "f2" ' . $alike, "$two; $hours f1", q{rm f1; printf 'a,n\nx,1\ny,2\nz,3\n' >f2});
as('the same rows and more, the other file is there', 'x1:f2 y2:f2 z3:f2 | NOTICE:  file "f2" ' . $alike, $two, q{printf 'a,n\nx,1\ny,2\nz,3\n' >f2});
as('a new file', 'z3:f2 | ', $two, q{printf 'a,n\nz,3\n' >f2});
as('two files that both may be it', ' | ERROR:  files "f3" and "f2" both begin with the bytes that were loaded of "f1"',
	"$two; $hours f1", q{cp -p f1 f2; cp -p f1 f3; rm f1});
as('a long file and its copy under its name', ' | ERROR:  files "f1" and "f2" both begin with the bytes that were loaded of "f1"',
	$long, q{cp f1 g; mv f1 f2; mv g f1});

# what the user says of files
as('what is there counts as loaded', 'z3:f1 w4:f2 | ', qq{$two; printf 'a,n\nv,7\n' >f2}, 'SQL:SELECT csv_gpu_set_positions(\'s\', \'t\')', q{printf 'z,3\n' >>f1; printf 'w,4\n' >>f2});
as('also of a rewritten file', 'w4:f1 | ', $two, 'SHELL:sed -i s/1/7/ f1; printf "z,3\n" >>f1', 'SQL:SELECT csv_gpu_set_positions(\'s\', \'t\')', q{printf 'w,4\n' >>f1});
as('the positions are forgotten', 'x1:f1 y2:f1 | ', $two, 'SQL:SELECT csv_gpu_forget_positions(\'s\', \'t\')', 'true');

# the row of a job's run has it, too, but a run that finds nothing new does not tell it again
loads('f*', $two, 'SHELL:gzip -k f1');
$node->safe_psql('postgres', q{INSERT INTO csv_gpu_job (job, schedule, source, target, mode) VALUES ('j', '* * * * *', 's', 't', 'new_records')});
$node->safe_psql('postgres', q{CALL csv_gpu_run('j')}) foreach 1 .. 3;
like($node->safe_psql('postgres', 'SELECT state, records_loaded, notices FROM csv_gpu_job_run'),
	qr/^succeeded\|0\|file "\S+f1.gz" is a compressed copy of "\S+f1", and is not loaded$/, 'a job tells it once');

$node->stop;
done_testing();
