# Libraries that look at privileges, such as pgaudit and sepgsql: COPY with
# csv_gpu_fdw.copy asks them as often as PostgreSQL's COPY, and once more if that takes
# over after rows were read; csv_gpu_load() asks them once for each relation.
use lib 'test/t';
use CsvServer;

my $directory = PostgreSQL::Test::Utils::tempdir;
my $node = csv_server('permissions', session_preload_libraries => 'csv_gpu_fdw');

$node->safe_psql('postgres', q{
	CREATE TABLE t (k int PRIMARY KEY, b text);
	CREATE TABLE secured (k int, b text);
	ALTER TABLE secured ENABLE ROW LEVEL SECURITY;
	CREATE ROLE nobody;
	CREATE ROLE inserter;
	CREATE ROLE of_one;
	CREATE ROLE of_both;
	GRANT pg_read_server_files, pg_execute_server_program TO nobody, inserter, of_one, of_both;
	GRANT INSERT ON t, secured TO inserter;
	GRANT INSERT (k) ON t TO of_one;
	GRANT INSERT (k, b), SELECT (k) ON t TO of_both;
	REVOKE CREATE ON SCHEMA public FROM PUBLIC});

# psql's standard error, and how many relations the hook has seen
sub run_counted
{
	my ($statement, $input, @settings) = @_;
	my ($output, $error) = ('', '');

	IPC::Run::run [ 'psql', '-XAtq', '-d', $node->connstr('postgres'),
		map { ('-c', $_) } @settings, 'SET csv_gpu_test.permission_checks = 0', $statement, 'SHOW csv_gpu_test.permission_checks' ],
	  '<', $input, '>', \$output, '2>', \$error;
	chomp $output;
	return ($error, $output);
}

my $rows = join '', map { "$_,row $_\n" } 1 .. 40000;
my %files = (
	'good rows' => $rows,
	'a bad row at the end' => $rows . "x,bad\n",
	'a byte-order mark' => "\xef\xbb\xbf$rows",
	'few rows' => "1,a\n");
my %paths = map { $_ => write_file("$directory/" . tr/ /_/r . '.csv', $files{$_}) } keys %files;
my $started = "$directory/started";

sub sources
{
	my ($path) = @_;

	return (file => literal($path), program => 'PROGRAM ' . literal("touch $started; cat $path"), frontend => 'STDIN');
}

# as PostgreSQL's COPY by its error and count; or so many times, where it takes over
sub same
{
	my ($name, %of) = @_;
	my $path = $paths{ $of{file} // 'good rows' };
	my %source = sources($path);

	for my $source (sort keys %source)
	{
		my $statement = sprintf 'COPY %s FROM %s (%s) %s', $of{table} // 't (k, b)', $source{$source}, $of{options} // 'format csv', $of{where} // '';
		my $ways = $of{ways} // [qw(force on)];
		my @settings = @{ $of{settings} // [] };
		my ($error, $count) = run_counted($statement, $path, 'SET csv_gpu_fdw.copy = off', @settings);

		$node->safe_psql('postgres', 'TRUNCATE t');
		is($count, $of{count}, "$name, $source: PostgreSQL's COPY asks $of{count} times");
		for my $way (@$ways)
		{
			unlink $started;
			my @ours = run_counted($statement, $path, "SET csv_gpu_fdw.copy = $way", @settings);

			$node->safe_psql('postgres', 'TRUNCATE t');
			is_deeply(\@ours, [ $error, $of{again}{$source} // $count ], "$name, $source, $way: the same error, and as many times as has to be");
			is(-e $started, undef, "$name, $way: the program is not started") if $of{refused} && $source eq 'program';
		}
	}
	return;
}

# ---- COPY ----

same('good rows', count => 1);
same('WHERE', where => 'WHERE k > 5', count => 1);
same('a bad row at the end', file => 'a bad row at the end', count => 1, again => { map { $_ => 2 } qw(file program frontend) });
same('few rows', file => 'few rows', count => 1);
same('a byte-order mark', file => 'a byte-order mark', count => 1, ways => ['on']);
same('an option of another column', table => 't (k)', options => 'format csv, force_null (b)', count => 1, refused => 1);
same('an option twice', options => q(format csv, delimiter ',', delimiter ','), count => 1, refused => 1);
same('a library that refuses', settings => ['SET csv_gpu_test.refuse_permissions = on'], count => 1, refused => 1);
same('a library that refuses, and an option twice', options => q(format csv, delimiter ',', delimiter ','),
	settings => ['SET csv_gpu_test.refuse_permissions = on'], count => 1, refused => 1);

# ---- privileges ----

same('no privilege', settings => ['SET ROLE nobody'], count => 0, refused => 1);
same('INSERT on the table', settings => ['SET ROLE inserter'], count => 1);
same('INSERT on one column', settings => ['SET ROLE of_one'], count => 0, refused => 1);
same('INSERT on both columns', settings => ['SET ROLE of_both'], count => 1);
same('SELECT on the column of WHERE', settings => ['SET ROLE of_both'], where => 'WHERE k > 5', count => 1);
same('no SELECT on the column of WHERE', settings => ['SET ROLE of_both'], where => q(WHERE b <> 'x'), count => 0, refused => 1);
same('no SELECT at all for WHERE', settings => ['SET ROLE inserter'], where => 'WHERE k > 5', count => 0, refused => 1);
same('row-level security', table => 'secured', settings => ['SET ROLE inserter'], count => 1, refused => 1);

# ---- csv_gpu_load() ----

$node->safe_psql('postgres', q{
	CREATE TABLE rejected (record bigint);
	CREATE TABLE watched (k int, b text);
	CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'a trigger'; END $$;
	CREATE TRIGGER before BEFORE INSERT ON watched FOR EACH STATEMENT EXECUTE FUNCTION tell();}
	  . join '', map { "CREATE FOREIGN TABLE $_->[0] (k int, b text) SERVER csv OPTIONS (filename " . literal($_->[1]) . ', on_error \'skip\');' }
	  [ good => $paths{'good rows'} ], [ bad => $paths{'a bad row at the end'} ], [ twice => write_file("$directory/twice.csv", $rows, "7,again\n") ]);

for my $case ([ 'good rows', q{'good', 't'}, 2, qr/^$/ ], [ 'rejects', q{'bad', 't', rejects => 'rejected'}, 3, qr/^NOTICE/ ],
	[ 'a key twice', q{'twice', 't'}, 2, qr/ERROR:  duplicate key/ ],
	[ 'a trigger', q{'good', 'watched'}, 2, qr/ERROR:  a trigger/ ])
{
	my ($name, $arguments, $expected, $says) = @$case;
	my $statement = "SELECT FROM csv_gpu_load($arguments)";
	my ($error, $count) = run_counted($statement, '/dev/null');

	like($error, $says, "csv_gpu_load(): $name");
	is($count, $expected, 'each relation once');
	$node->safe_psql('postgres', 'TRUNCATE t');
	($error) = run_counted($statement, '/dev/null', 'SET csv_gpu_test.refuse_permissions = on');
	like($error, qr/^ERROR:  a library refuses/, 'a library that refuses, before triggers');
}

finish();
