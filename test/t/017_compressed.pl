# Compressed files of some size, as the tools write them: the same rows as of
# the plain file, bounded memory, cancelled in time.
use lib 'test/t';
use CsvServer;
use Compress::Raw::Zlib ();
use Compress::Zlib ();
use Time::HiRes qw(sleep time);

my $node = csv_server('compressed');
my $dir = new_folder();
my %tools = (gz => 'gzip -c', zst => 'zstd -qc', lz4 => 'lz4 -qc');

random_seed();

sub table
{
	my ($name, $file, $options) = @_;

	$node->safe_psql('postgres',
			"DROP FOREIGN TABLE IF EXISTS $name;"
		  . "CREATE FOREIGN TABLE $name (id bigint, code text, amount numeric(12,2))"
		  . " SERVER csv OPTIONS (filename "
		  . literal($file)
		  . ($options // '') . ')');
	return;
}

# what a table holds, in one line
sub contents
{
	my ($name) = @_;

	return $node->safe_psql('postgres',
		"SELECT count(*), sum(hashtextextended(t::text, 0)) FROM $name t");
}

my $nrows = 100_000;
my $plain = "$dir/plain.csv";
{
	open my $file, '>:raw', $plain or die;
	for my $id (1 .. $nrows)
	{
		my $code = join '', map { chr(97 + int(rand 26)) } 1 .. int(rand 20);

		$code = "\"$code,\n\"\"$id\"\"\"" if $id % 50 == 0;
		printf $file "%d,%s,%.2f\n", $id, $code, rand(1e6);
	}
	close $file;
}
table('plain', $plain);
my $expected = contents('plain');

for my $suffix (sort keys %tools)
{
	my ($tool) = split / /, $tools{$suffix};

  SKIP:
	{
		skip "no $tool", 10 if !has_program($tool);

		my $file = "$dir/whole.csv.$suffix";

		system("$tools{$suffix} < $plain > $file") == 0 or die;
		table('t', $file);
		is(contents('t'), $expected, "$tool: the rows of the plain file");

		# what the tool reads when files are joined, and rows across the joint
		system("(head -c 1000003 $plain | $tools{$suffix};"
			  . " tail -c +1000004 $plain | $tools{$suffix}) > $file") == 0
		  or die;
		is(contents('t'), $expected, "$tool: joined files");
		table('t', $file, ", chunk_size '100kB'");
		is(contents('t'), $expected, "$tool: in small chunks");

		# cut anywhere: never fewer rows in silence
		system("(head -c 250000 $plain | $tools{$suffix};"
			  . " head -c 500000 $plain | tail -c 250000 | $tools{$suffix}) > $file") == 0
		  or die;
		my $bytes = -s $file;
		my $refused = 0;

		for (1 .. 5)
		{
			my $cut = 1 + int(rand($bytes - 1));

			# between the two it is whole
			system("head -c $cut $file > $dir/cut.csv.$suffix") == 0 or die;
			table('t', "$dir/cut.csv.$suffix");
			my ($rc, $out, $err) =
			  $node->psql('postgres', 'SELECT count(*) FROM t');
			$refused++
			  if $rc != 0
			  && $err =~ /could not decompress ".*unexpected end of file\nDETAIL:  At byte offset $cut of/;
		}
		is($refused, 5, "$tool: a truncated file is an error");

		# damaged anywhere: a file is decompressed ahead, in a thread, a
		# program's output is not, and both say the same
		my ($same, $damaged) = (0, 0);

		for (1 .. 5)
		{
			my $copy = slurp_file($file);

			substr($copy, int(rand($bytes)), 1) ^= chr(1 + int(rand 255));
			open my $out, '>:raw', "$dir/damaged.csv.$suffix" or die;
			print $out $copy;
			close $out;
			table('t', "$dir/damaged.csv.$suffix");
			table('p', '');
			my $compression = { gz => 'gzip', zst => 'zstd', lz4 => 'lz4' }->{$suffix};
			$node->safe_psql('postgres',
				"ALTER FOREIGN TABLE p OPTIONS (DROP filename, ADD program 'cat $dir/damaged.csv.$suffix', ADD compression '$compression')");
			my @seen;
			for my $name ('t', 'p')
			{
				my ($rc, $rows, $err) = $node->psql('postgres',
					"SET client_min_messages = error; SELECT count(*), sum(hashtextextended(${name}::text, 0)) FROM $name");
				$err =~ s/(could not decompress ").*?(": )/$1$2/;
				# theirs is that of the input they were given at a time
				$err =~ s/byte offset \d+/byte offset/ if $suffix ne 'gz';
				push @seen, "$rc $rows $err";
			}
			$same++ if $seen[0] eq $seen[1];
			diag("$seen[0]\n$seen[1]") if $seen[0] ne $seen[1];
			$damaged++ if $seen[0] =~ /could not decompress/;
		}
		is($same, 5, "$tool: the same is said of a damaged file");
		cmp_ok($damaged, '>', 0, "$tool: which is an error, most of the time");

		# a few kilobytes that become 100 MB
		my $line = '1,' . 'x' x 1000 . ",1.00\n";
		my $bomb = "$dir/bomb.csv.$suffix";

		open my $pipe, '|-', "$tools{$suffix} > $bomb" or die;
		print $pipe $line x 1000 for 1 .. 100;
		close $pipe or die;
		table('t', $bomb);
		my $session = new_session($node);

		# a GPU's driver and pinned memory would be counted, too
		$session->query('SET csv_gpu_fdw.engine = cpu');
		my $before = rss_kb($session->pid);
		my ($out, $err, $most) =
		  $session->query_watched('SELECT count(*), sum(amount) FROM t');

		is("$out$err", '100000|100000.00', "$tool: a file that grows a lot");
		cmp_ok($most - $before, '<', 64 * 1024, "$tool: in little memory")
		  or diag("$before kB before, $most kB at most");

		# more of them, and more threads
		system("cat $bomb $bomb $bomb $bomb > $bomb.more; mv $bomb.more $bomb") == 0
		  or die;
		$session->query('SET csv_gpu_fdw.cpu_threads = 4');
		$before = rss_kb($session->pid);
		($out, $err, $most) =
		  $session->query_watched('SELECT count(*) FROM t');
		is("$out$err", '400000', "$tool: files that grow a lot, by threads");
		cmp_ok($most - $before, '<', 128 * 1024, "$tool: in bounded memory")
		  or diag("$before kB before, $most kB at most");

		unlink glob("$dir/*.$suffix");
	}
}

# ---- members, frames and blocks, by several threads ----

# in parts of some sizes, some of them empty
sub parts
{
	my ($bytes, $largest) = @_;
	my @parts = ('');

	for (my $at = 0; $at < length $bytes;)
	{
		my $length = int(rand $largest);

		push @parts, substr($bytes, $at, $length);
		$at += $length;
	}
	return @parts;
}

# each part as a block of BGZF: a member whose header has its size
sub bgzf
{
	my $file = '';

	for my $part (@_)
	{
		my ($deflate) = Compress::Raw::Zlib::Deflate->new(
			-WindowBits => -15, -AppendOutput => 1);
		my $deflated = '';

		$deflate->deflate($part, $deflated);
		$deflate->flush($deflated);
		$file .= pack('C4VC2vA2vva*VV',
			31, 139, 8, 4, 0, 0, 255, 6, 'BC', 2, 25 + length $deflated,
			$deflated, Compress::Raw::Zlib::crc32($part), length $part);
	}
	return $file;
}

# each part compressed by a tool, with some bytes before it
sub joined
{
	my ($tool, $before, @parts) = @_;
	my $file = '';

	for my $part (@parts)
	{
		write_file("$dir/part", $part);
		$file .= $before . `$tool < $dir/part`;
	}
	return $file;
}

my $skipped = pack 'VVa20', 0x184d2a53, 20, 'passed over';

# what looks like the beginning of others, in what is not compressed
my $feigned = join '', map { "$_,\x1f\x8b\x08\x00\x00,$_\n" } 1 .. 50_000;
my $session = new_session($node);
my @kinds = (
	[ 'gz', 'members', sub { joined('gzip -c', '', parts($_[0], 500_000)) } ],
	[ 'gz', 'small members', sub { join '', map { Compress::Zlib::memGzip($_) } parts($_[0], 2000) } ],
	[ 'gz', 'BGZF', sub { bgzf(parts($_[0], 65_280)) } ],
	[ 'gz', 'one member', sub { joined('gzip -c', '', $_[0]) } ],
	[ 'gz', 'padded', sub { joined('gzip -c', '', parts($_[0], 500_000)) . "\0" x 600_000 } ],
	[ 'zst', 'frames', sub { joined('zstd -qc', '', parts($_[0], 500_000)) } ],
	[ 'zst', 'frames to be skipped', sub { joined('zstd -qc', $skipped, parts($_[0], 300_000)) } ],
	[ 'zst', 'large windows', sub { joined('zstd -qc --long=27', '', parts($_[0], 2_000_000)) } ],
	[ 'lz4', 'frames', sub { joined('lz4 -qc', '', parts($_[0], 300_000)) } ],
	[ 'lz4', 'blocks', sub { joined('lz4 -qc -B4 -BX', $skipped, parts($_[0], 4_000_000)) } ],
	[ 'lz4', 'large blocks', sub { joined('lz4 -qc -B7 --no-frame-crc', '', $_[0]) } ],
	[ 'lz4', 'blocks that depend', sub { joined('lz4 -qc -BD', '', $_[0]) } ],
	[ 'lz4', 'not compressed', sub { joined('lz4 -qc --fast=1000', '', join '', map { chr int rand 256 } 1 .. 3_000_000) } ]);

# rows and errors of a file, by so many threads; of a program, by none
sub seen
{
	my ($name, $threads) = @_;
	my ($out, $err) = $session->query(
			"SET csv_gpu_fdw.cpu_threads = $threads; SET client_min_messages = error;"
		  . "SELECT count(*), sum(hashtextextended($name.t, 0)) FROM $name");

	$err =~ s/(could not decompress ").*?(": )/$1$2/;
	$err =~ s/^LINE.*//ms;
	return "$out$err";
}

# the file as it is, and the same bytes by a program
sub declare
{
	my ($file, $suffix) = @_;
	my $compression = { gz => 'gzip', zst => 'zstd', lz4 => 'lz4' }->{$suffix};

	$session->query(
			'DROP FOREIGN TABLE IF EXISTS f, p;'
		  . "CREATE FOREIGN TABLE f (t text) SERVER csv OPTIONS (filename '$file', delimiter E'\\x01', quote E'\\x02');"
		  . "CREATE FOREIGN TABLE p (t text) SERVER csv OPTIONS (program 'cat $file', compression '$compression', delimiter E'\\x01', quote E'\\x02')");
	return;
}

my $content = slurp_file($plain) x 2 . $feigned;

# a scan begins at marks that the scans before it have made
$session->query("SET csv_gpu_test.file_age = 2; SET csv_gpu_test.mark_bytes = @{[ between(1, 300_000) ]}");

for my $kind (@kinds)
{
	my ($suffix, $name, $make) = @$kind;
	my ($tool) = split / /, $tools{$suffix};
	my $file = "$dir/kind.csv.$suffix";

  SKIP:
	{
		skip "no $tool", 4 if !has_program($tool);

		my $bytes = $make->($content);
		my ($same, $damaged) = (0, 0);

		write_file($file, $bytes);
		declare($file, $suffix);
		my $whole = seen('p', 1);
		like($whole, qr/^\d+\|-?\d+$/, "$tool, $name: all of it");
		is(join(' ', map { seen('f', $_) } 1, 2, 3, 8),
			join(' ', ($whole) x 4), "$tool, $name: by threads");

		for my $n (0 .. 4)
		{
			my $copy = $bytes;
			my $at = int(rand length $bytes);

			# another byte, less or more of them
			substr($copy, $at, 1) ^= chr(1 + int(rand 255)) if $n < 2;
			substr($copy, $at, 1 + int(rand 1000)) = '' if $n == 2;
			substr($copy, $at) = '' if $n == 3;
			substr($copy, $at, 0) = "\x1f\x8b\x08\x00garbage" if $n == 4;
			write_file($file, $copy);
			declare($file, $suffix);
			my $expected = seen('p', 1);
			my @seen = map { seen('f', $_) } 1, 4, 8;

			# zstd's and LZ4's is that of the input they were given at a time
			$same++ if $seen[0] eq $seen[1] && $seen[0] eq $seen[2];
			s/byte offset \d+/byte offset/ for ($suffix ne 'gz' ? ($expected, @seen) : ());
			$same++ if $seen[0] eq $expected;
			diag("$name at $at:\n", join "\n", $expected, @seen)
			  if grep { $_ ne $expected } @seen;
			$damaged++ if $expected =~ /could not decompress/;
		}
		is($same, 10, "$tool, $name: the same is said of a damaged file");
		cmp_ok($damaged, '>', 0, "$tool, $name: which is an error, most of the time");
		unlink $file;
	}
}
$session->quit;

# ---- marks in a member, of all sessions ----

my $states = $node->data_dir . '/base/pgsql_tmp/pgsql_tmp.csv_gpu_fdw';

# rows of a new session, and whether it has begun at marks
sub marked
{
	my ($table) = @_;
	my $session = new_session($node);

	$session->query("LOAD 'csv_gpu_fdw'; SET csv_gpu_test.file_age = 2; SET csv_gpu_test.mark_bytes = 100000;"
		  . 'SET csv_gpu_fdw.cpu_threads = 4; SET csv_gpu_test.marks_used = 0');
	my $rows = $session->value("SELECT count(*), sum(hashtextextended($table.t, 0)) FROM $table");
	my $used = $session->value('SHOW csv_gpu_test.marks_used');
	$session->quit;
	return $rows . ($used > 0 ? ' by marks' : '');
}

# A member whose layout does not depend on the rows: they are not compressed, but for what
# repeats the last of them.
sub repeated
{
	my ($rows) = @_;
	my $last = substr $rows, -21_000;
	my ($deflate) = Compress::Raw::Zlib::Deflate->new(
		-WindowBits => -15, -Level => 9, -Dictionary => $last, -AppendOutput => 1);
	my $file = pack 'C3x7', 31, 139, 8;

	$file .= pack 'xvva*', length, 0xffff - length, $_ for unpack '(a60000)*', $rows;
	$rows .= $last x 150;
	$deflate->deflate($last x 150, $file);
	$deflate->flush($file);
	return $file . pack 'VV', Compress::Raw::Zlib::crc32($rows), length $rows;
}

{
	my $same = join '', map { "a row,$_\n" } 1_000_001 .. 1_100_000;
	my @rows = map { my $n = $_; join '', $same, map { sprintf "a row,%d\n", 1e6 + $_ * $n % 9e6 } 1 .. 20_000 } 7919, 6917;
	my $file = "$dir/marks.csv.gz";

	declare($file, 'gz');
	my @members = map { repeated($_) } @rows;
	my @expected =
	  map { write_file($file, @members[@$_]); marked('p') } [0], [1], [ 1, 0 ], [ 0, 0 ];

	write_file($file, $members[0]);
	is(marked('f'), $expected[0], 'a scan without marks');

  SKIP:
	{
		skip 'no ISA-L', 12 if !glob("$states*");

		is(marked('f'), "$expected[0] by marks", 'a session uses marks of another one');
		write_file($file, $members[1]);
		is(marked('f'), $expected[1], 'but not in a file that has changed');

		# a file that grows has the marks that it had, as far as it is what it was
		sql(q{ALTER FOREIGN TABLE f OPTIONS (ADD growing 'true')});
		open my $more, '>>:raw', $file or die;
		print $more $members[0];
		close $more;
		is(marked('f'), "$expected[2] by marks", 'a file has grown');
		is(marked('f'), "$expected[2] by marks", 'and is read again');
		unlink glob("$states*");
		is(marked('f'), $expected[2], 'and again, without marks');
		write_file($file, @members[ 0, 0 ]);
		is(marked('f'), "$expected[3] by marks", 'other bytes between the same ends');
		write_file($file, $members[0]);
		is(marked('f'), $expected[0], 'a file is shorter');

		sql(q{ALTER FOREIGN TABLE f OPTIONS (DROP growing)});
		for my $name (glob("$states*"))
		{
			open my $states, '+<:raw', $name or die;
			print $states "\0" x 90_000;
			close $states;
		}
		is(marked('f'), "$expected[0] by marks", 'a state is lost');
		is(marked('f'), $expected[0], 'so there are new marks');
		write_file($_, 'x' x 100_000) for glob("$states*");
		is(marked('f'), $expected[0], 'marks are lost');
		is(marked('f'), "$expected[0] by marks", 'and made again');

		# in all they have 64 MB
		system("fallocate -l 65M $states.0.0") == 0 or die;
		write_file($file, $members[1]);
		is(marked('f'), $expected[1], 'other rows');
		ok(!-e "$states.0.0", 'and there is room for marks');
	}
	unlink $file;
}

# Much input that makes no bytes: zero bytes behind gzip's members, skippable
# frames of zstd and LZ4.  The files are sparse, and take minutes to read.
sub endless
{
	my ($suffix, $file, $data) = @_;

	system("$tools{$suffix} < $data > $file") == 0 or die;
	if ($suffix ne 'gz')
	{
		my $nbytes = 0xffffffff;

		open my $out, '+<:raw', $file or die "$file: $!";
		seek $out, 0, 2;
		for (1 .. 1000)
		{
			print $out pack 'VV', 0x184d2a50, $nbytes;
			seek $out, $nbytes, 1;
		}
		close $out or die "$file: $!";
	}
	truncate $file, 4 * 1024**4 or die "$file: $!";
	return;
}

# Run a query, which something ends, and return what it wrote and whether it ended
# within a minute.  A query that runs on is ended by making the file end.
sub in_time
{
	my ($session, $file, $query, $function) = @_;
	my $start = time();

	$session->send($query);
	if ($function)
	{
		sleep(0.3);
		$node->safe_psql('postgres', "SELECT $function(" . $session->pid . ')');
	}
	sleep(0.01) while !$session->ended && time() - $start < 60;
	my $has_ended = $session->ended;

	truncate $file, 0 if !$has_ended;
	return ($session->await, $has_ended);
}

for my $suffix (sort keys %tools)
{
	my ($tool) = split / /, $tools{$suffix};

  SKIP:
	{
		skip "no $tool", 15 if !has_program($tool);

		my $file = "$dir/endless.csv.$suffix";
		my $data = write_file("$dir/data.csv", "1,2\n" x 500_000);
		my $none = write_file("$dir/none.csv");
		my $count = 'SELECT count(*) FROM t';
		my $timeout = qr/canceling statement due to statement timeout/;
		my $cancel = qr/canceling statement due to user request/;

		$node->safe_psql('postgres',
				'DROP FOREIGN TABLE IF EXISTS t;'
			  . 'CREATE FOREIGN TABLE t (a int, b int) SERVER csv OPTIONS (filename '
			  . literal($file)
			  . ", chunk_size '1MB')");
		for (
			[ 'statement_timeout', $data, '300ms', $count, $timeout ],
			[ 'of the first bytes', $none, '300ms', $count, $timeout ],
			[
				'of the first bytes, sniffed', $none, '300ms',
				"SELECT count(*) FROM csv_gpu_sniff('$file')", $timeout
			],
			[
				'sniffed', $data, '300ms',
				"SELECT count(*) FROM csv_gpu_sniff('$file')", $timeout
			],
			[ 'analyzed', $data, '300ms', 'ANALYZE t', $timeout ],
			[ 'pg_cancel_backend', $data, 0, $count, $cancel, 'pg_cancel_backend' ],
			[ 'LIMIT', $data, 0, "SELECT a FROM t OFFSET 200000 LIMIT 1", qr/^1$/ ])
		{
			my ($name, $rows, $setting, $query, $expected, $function) = @$_;
			my $session = new_session($node);

			endless($suffix, $file, $rows);
			$session->query("SET statement_timeout = '$setting'; SET csv_gpu_fdw.cpu_threads = "
				  . ($rows eq $data ? 4 : 1));
			my ($out, $err, $has_ended) =
			  in_time($session, $file, $query, $function);

			like("$out$err", $expected, "$tool without output: $name");
			ok($has_ended, "$tool without output: $name: in time");
			$session->quit;
		}

		# psql ends with its connection, so look at the backend
		my $session = new_session($node);

		endless($suffix, $file, $data);
		$session->send($count);
		sleep(0.3);
		is( $node->safe_psql('postgres',
				'SELECT pg_terminate_backend(' . $session->pid . ', 5000)'),
			't',
			"$tool without output: pg_terminate_backend");
		truncate $file, 0;
		eval { $session->await };
		unlink $file;
	}
}

# a cancel, and nothing stays open
SKIP:
{
	skip 'no gzip', 3 if !has_program('gzip');

	my $session = new_session($node);

	system("gzip -c < $plain > $dir/long.csv.gz") == 0 or die;
	system("cat $dir/long.csv.gz >> $dir/longer.csv.gz") == 0 or die for 1 .. 100;
	table('t', "$dir/longer.csv.gz");

	$session->query('SET csv_gpu_fdw.cpu_threads = 8');

	# the GPU's driver keeps its files open
	$session->query('SELECT code FROM t LIMIT 1');
	my $before = descriptors($session->pid);

	$session->query(q{SET statement_timeout = '30ms'});
	my ($out, $err) = $session->query('SELECT count(code) FROM t');
	like($err, qr/canceling statement due to statement timeout/, 'cancelled');
	is(descriptors($session->pid), $before, 'nothing stays open');
	$session->query('RESET statement_timeout');
	table('t', "$dir/long.csv.gz");
	is($session->value('SELECT count(*) FROM t'), $nrows, 'and on it goes');
}

# ---- without the libraries ----

# a server that preloads the extension starts without them, too
unlike(`LC_ALL=C readelf -d '@{[ $node->config_data('--pkglibdir') ]}/csv_gpu_fdw.so'`,
	qr/NEEDED.*lib(z|isal|zstd|lz4)\.|^$/, 'the extension is not linked with them');

my %libraries = (gz => 'libz', zst => 'libzstd', lz4 => 'liblz4');

for my $suffix (sort keys %libraries)
{
	my ($tool) = split / /, $tools{$suffix};
	my $library = $libraries{$suffix};

  SKIP:
	{
		skip "no $tool", 4 if !has_program($tool);

		my $session = new_session($node);

		system("$tools{$suffix} < $plain > $dir/whole.csv.$suffix") == 0 or die;
		table('t', "$dir/whole.csv.$suffix");
		$session->query("LOAD 'csv_gpu_fdw'; SET csv_gpu_test.missing_library = '$library.'");
		my (undef, $err) = $session->query('SELECT count(*) FROM t');
		like($err,
			qr/ERROR:  could not decompress "[^"]*": could not load library "$library\.so[^"]*"\nDETAIL:  .*No such file.*\nHINT:  Install/,
			"$tool: an error names the library");
		is($session->value('SELECT count(*) FROM plain'), $nrows, 'other files are read');
		$session->query('RESET csv_gpu_test.missing_library');
		is($session->value('SELECT count(*) FROM t'), $nrows, 'and so is this one, once it is there');

		# zlib does the work of ISA-L
		$session->quit;
		$session = new_session($node);
		$session->query("LOAD 'csv_gpu_fdw'; SET csv_gpu_test.missing_library = 'libisal.'; SET csv_gpu_fdw.cpu_threads = 4");
		is($session->value(q{SELECT count(*), sum(hashtextextended(t::text, 0)), pg_read_file('/proc/self/maps') ~ 'libisal' FROM t}),
			"$expected|f", "$tool without ISA-L");
		$session->quit;
	}
}

# ---- many scans at a time ----

{
	my $many = new_session($node);

	$many->query('SET csv_gpu_fdw.engine = cpu; SET csv_gpu_fdw.cpu_threads = 64; BEGIN');
	write_file("$dir/many.csv.gz", bgzf(parts(join('', map { "$_,some text,$_\n" } 1 .. 200_000), 65_280)));
	table('many', "$dir/many.csv.gz");
	for my $i (1 .. 20)
	{
		$many->query("DECLARE c$i CURSOR FOR SELECT code FROM many; MOVE 100000 FROM c$i");
	}
	my $threads = () = glob('/proc/' . $many->pid . '/task/*');

	# 256, and those that a library or the GPU's driver has
	cmp_ok($threads, '<', 300, "$threads threads for 20 scans");
	is($many->value('FETCH 1 FROM c20'), $many->value('FETCH 1 FROM c1'), 'scans without threads go on');
	$many->quit;
}

finish();
