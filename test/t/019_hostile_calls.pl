# Every function of the extension, with arguments and files that were made to do
# harm, and by a user who may do nothing.  What is to be tested is found in the
# catalogs: what has no entry here fails.
use lib 'test/t';
use CsvServer;
use IO::Socket::UNIX;
use IO::Compress::Gzip qw(gzip);
use POSIX qw(mkfifo);

my $node = csv_server('hostile');
my $super = new_session($node);
my $directory = PostgreSQL::Test::Utils::tempdir;
my ($out, $err);


# What a user without rights is told, if anything; and arguments that have no name.
my %functions = (
	csv_gpu_begin_load => {},
	csv_gpu_begin_run => { nobody => qr/job "j" does not exist/ },
	csv_gpu_check_logged => {},
	csv_gpu_check_sql => { nobody => qr/syntax error at or near/, arguments => [q('nothing')] },
	csv_gpu_cron => { nobody => qr/needs the extension pg_cron/ },
	csv_gpu_cron_fields => {},
	csv_gpu_cron_numbers => {},
	csv_gpu_delete => { nobody => qr/permission denied for function csv_gpu_delete/ },
	csv_gpu_devices => {},
	csv_gpu_distribute => { nobody => qr/foreign table public.good has no column virtual 'path:KEY'/ },
	csv_gpu_distribute_as => {
		nobody => qr/foreign table public.good has no column virtual 'path:KEY'/,
		arguments => [ ':source', q('{public,t}'), q('{n}'), q('{v}') ]
	},
	csv_gpu_distribute_citus => { nobody => qr/needs the extension citus/ },
	csv_gpu_distribute_citus_as => { nobody => qr/needs the extension citus/, arguments => [ ':source', q('{public,t}') ] },
	csv_gpu_drop_positions => { nobody => qr/permission denied for function csv_gpu_drop_positions/ },
	csv_gpu_end_run => {},
	csv_gpu_errors => { nobody => qr/permission denied for foreign table good/ },
	csv_gpu_fail_run => { nobody => qr/^WARNING:  job "j" failed: error$/ },
	csv_gpu_fdw_handler => { nobody => qr/cannot display a value of type fdw_handler/ },
	csv_gpu_fdw_validator => { arguments => [ q('{on_error=skip}'), q('pg_foreign_server'::regclass) ] },
	csv_gpu_files => { nobody => qr/permission denied for foreign table good/ },
	csv_gpu_find_job => { nobody => qr/job "j" does not exist/ },
	csv_gpu_forget => {},
	csv_gpu_forget_files => {},
	csv_gpu_forget_positions => { nobody => qr/must be owner of table target/ },
	csv_gpu_set_positions => { nobody => qr/must be owner of table target/ },
	csv_gpu_forget_runs => {},
	csv_gpu_is_running => {},
	csv_gpu_is_of_citus => { nobody => qr/target is no table that csv_gpu_distribute\(\) has made/ },
	csv_gpu_jobs => {},
	csv_gpu_leftovers => { nobody => qr/permission denied for function csv_gpu_leftovers/, arguments => [ q('/nowhere'), 'false' ] },
	csv_gpu_load => {
		nobody => qr/permission denied for foreign table good/,
		arguments => [ ':source', q('target'), q('{a,b}'), q('rejects'), 'false', q('new_records'), q('restart'),
			q('first'), q('{a}'), q('a IS NOT NULL'), q('{"a": "coalesce(a, 1)"}'), q('ignore') ] },
	csv_gpu_load_file => {
		nobody => qr/permission denied for foreign table good/,
		arguments => [ ':source', q('target'), ':file', q('all'), q('{a,b}'), q('rejects'), 'false', q('error'),
			q('first'), q('{a}'), q('a > 1'), q('{"a": "a + 1"}'), q('ignore'), 'true' ] },
	csv_gpu_next_run => {},
	csv_gpu_pause => { nobody => qr/job "j" does not exist/ },
	csv_gpu_open => { nobody => qr/permission denied for function csv_gpu_open/ },
	csv_gpu_peek => { nobody => qr/permission denied for function csv_gpu_peek/ },
	csv_gpu_positions => {},
	csv_gpu_relation_in => { arguments => [ q('good'), '0', '0' ] },
	csv_gpu_relation_out => { arguments => [q('good')] },
	csv_gpu_resident => {},
	csv_gpu_resume => { nobody => qr/job "j" does not exist/ },
	csv_gpu_run => { nobody => qr/job "j" does not exist/ },
	csv_gpu_stat => {},
	csv_gpu_run_all => { nobody => qr/job "j" does not exist/ },
	csv_gpu_run_job => { nobody => qr/job "j" does not exist/ },
	csv_gpu_run_on_node => { nobody => qr/function master_run_on_worker\(.*\) does not exist/ },
	csv_gpu_run_load => {},
	csv_gpu_schedule => { nobody => qr/permission denied for foreign table good/ },
	csv_gpu_schedule_as => { nobody => qr/permission denied for foreign table good/ },
	csv_gpu_server_column => {},
	csv_gpu_server_errors => { nobody => qr/target is no table that csv_gpu_distribute\(\) has made/ },
	csv_gpu_session_forms => {},
	csv_gpu_sniff => { nobody => qr/permission denied for function csv_gpu_sniff/ },
	csv_gpu_take_over => { nobody => qr/permission denied for function csv_gpu_take_over/ },
	csv_gpu_undistribute => { nobody => qr/target is no table that csv_gpu_distribute\(\) has made/ },
	csv_gpu_unload => {
		nobody => qr/permission denied for function csv_gpu_unload/,
		arguments => [ q('SELECT 1'), "'$directory/unloaded'", q('csv'), ('NULL') x 4, 'true', 'NULL', q('none'), 'NULL', q('1kB'), 'false', 'false', 'NULL', 'false', q('lf') ] },
	csv_gpu_unschedule => { nobody => qr/job "j" does not exist/ },
	csv_gpu_check_rights => { nobody => qr/permission denied for function csv_gpu_check_rights/ },
	csv_gpu_warn_of_drop => { nobody => qr/permission denied for function csv_gpu_warn_of_drop/ });

# Arguments as they should be: a foreign table for :source, its file for :file.
my %arguments = (
	after => q('2026-01-01'),
	before => q('2020-01-01'),
	columns => q('{a,b}'),
	commands => q('NULL'),
	description => q('description'),
	duration => q('1s'),
	error => q('error'),
	field => q('1-5'),
	filename => ':file',
	freeze => 'false',
	high => '59',
	identity => q('identity'),
	job => q('j'),
	keep_runs => '1000',
	low => '0',
	max_records => '1000',
	mode => q('append'),
	name => 'NULL',
	names => q('{}'),
	node => q('localhost'),
	on_failure => q('SELECT 1'),
	options => q('{}'),
	of_path => 'true',
	partition_values => q('{v}'),
	path => q('public'),
	pid => '1',
	port => '1',
	quartz => q('0 0 12 * * ?'),
	rejects => q('rejects'),
	rows => '1',
	running => 'NULL',
	schedule => q('* * * * *'),
	server => 'NULL',
	servers => q('{n}'),
	source => ':source',
	started => q('2026-01-01'),
	target => q('target'),
	waiting => '0');

# What PUBLIC may do with the other objects.  The columns of a run that say whose
# it is, and its number, are none to choose.
my %relations = (
	csv_gpu_job => 'INSERT, SELECT, UPDATE of all but created, job, owner',
	csv_gpu_job_deletion => 'INSERT of all but owner',
	csv_gpu_job_option => 'INSERT, SELECT, UPDATE of all but job, owner',
	csv_gpu_job_run => 'INSERT of all but owner, run, state, SELECT',
	csv_gpu_job_run_run_seq => 'SELECT',
	csv_gpu_job_file => 'INSERT, SELECT',
	csv_gpu_jobs => 'SELECT',
	csv_gpu_position => 'SELECT',
	csv_gpu_positions => 'SELECT',
	csv_gpu_stat => 'SELECT');

# Values of each type of argument that are not.
my %hostile = (
	regclass => [
		'NULL', '0', '4294967295', '1', map { "'$_'" }
		  qw(plain plain_pkey view matview sequence composite partitioned file_table pg_class pg_toast.pg_toast_1255
		  csv_gpu_job rejects self) ],
	integer => [ 'NULL', '0', '-1', '2147483647', '-2147483648' ],
	bigint => [ 'NULL', '0', '-1', '9223372036854775807', '-9223372036854775808' ],
	oid => [ 'NULL', '0', '1', '4294967295', map { "'$_'::regclass" } qw(pg_foreign_table pg_attribute plain) ],
	boolean => [qw(NULL true)],
	'timestamp with time zone' => [ 'NULL', q('infinity'), q('-infinity'), q('4713-01-01 BC') ],
	'text[]' => [
		'NULL', q('{}'), q('{NULL}'), q('{NULL,NULL}'), q('{{a,b},{c,d}}'), q('{a,a}'), q('{=}'), q('{filename}'),
		q('{filename=}'), q('[-5:-4]={a,b}'), q('{"a=b=c","=a"}'), q('{header=,"header= "}'), q('{chunk_size=99999999999999999999}'),
		q('{reject_limit=-1}'), q('{reject_limit=1e999%}'), q('{"delimiter= "}'), q(ARRAY[E'delimiter=\n']), q(ARRAY[E'quote=\u00e9']),
		q('{encoding=nowhere}'), q(array_fill('a'::text, ARRAY[100000])), q(ARRAY[repeat('x', 1000000)]), q(ARRAY['filename=' || repeat('x', 1000000)]) ],
	text => [
		'NULL', q(''), q(' '), q('NULL'), q(repeat('x', 1000000)), q(repeat('* ', 100000)), q(repeat('9', 1000)), q(repeat('"', 64)),
		q{repeat('(', 100000)}, q(E'a\nb'), q(E'\u0001'), q('%s%n%s%n'), q($$'; DROP TABLE plain; --$$), q('j'' '), q('*'), q('\\'), q('/'), q('.'), q('../../..'),
		q('~'), q('99999999999999999999 * * * *'), q('1,2,3 0/0 */0 ? * 8'), q('- - - - -'), q('0 99999999999/1 * * * ?'), q('pg_temp, "'), q('replace'), q('new_files') ],
	jsonb => [
		'NULL', (map { "'$_'" } '1', 'null', '[]', '{}', '[{"a": "1"}]', '{"a": 1}', '{"": ""}', '{"a": null}', '{"a": {"b": "1"}}', '{"a": "1); DROP TABLE plain; --"}',
			'{"ctid": "a"}', '{"a": ""}', '{"a": "*"}', '{"a": "(SELECT 1)"}', '{"a": "1 /*"}', '{"a": "\\"}'),
		q(jsonb_build_object('a', repeat(chr(40), 100000))) ],
	bytea => [ 'NULL', q('') ],
	internal => ['NULL'],
	'"any"' => [ 'NULL', q('x'), 'ROW(1)', 'NULL::record', 'ARRAY[1]' ],
	cstring => [ 'NULL', q(''), q('-'), q('99999999999'), q('none.none.none.none'), q('"'), q{repeat('x', 100000)::cstring} ],
	csv_gpu_relation => [ 'NULL', q('0'), q('4294967295') ],
	interval => [ 'NULL', q('-1 year'), q('178000000 years') ],
	jsonb => [
		'NULL', q('1'), q('null'), q('[]'), q('{"": 1}'), q('{"columns": [[["a"]], 1]}'), q('{"columns": {}}'), q('{"rejects": 0}'), q('{"rejects": "pg_class"}'),
		q('{"freeze": "perhaps"}'), q('{"freeze": true}'), q('{"on_rewrite": []}'), q('{"key": ["a", null]}'), q('{"filter": "1 OR ; 1"}'), q('{"expressions": 1}'), q('{"expressions": {"a": "1; DROP TABLE plain; --"}}') ]);

# ---- the setting ----

mkdir "$directory/files";
write_file("$directory/files/good.csv", "1,one\n2,two\nx,three\n");
my $good = "$directory/files/good.csv";

$super->value("
	CREATE ROLE nobody_special LOGIN;
	SET client_min_messages = error;
	CREATE TABLE plain (a int PRIMARY KEY, b text);
	CREATE VIEW view AS SELECT * FROM plain;
	CREATE MATERIALIZED VIEW matview AS SELECT * FROM plain;
	CREATE SEQUENCE sequence;
	CREATE TYPE composite AS (a int, b text);
	CREATE TABLE partitioned (a int, b text) PARTITION BY LIST (a);
	CREATE FOREIGN TABLE file_table (a int, b text) SERVER file OPTIONS (filename '$good', format 'csv');
	CREATE TABLE target (a int, b text);
	CREATE TABLE rejects (record bigint, error text, message text, raw text);
	CREATE FOREIGN TABLE self (a int, b text) SERVER csv OPTIONS (filename '$good');
	CREATE FOREIGN TABLE good (a int, b text) SERVER csv OPTIONS (filename '$good');
	INSERT INTO csv_gpu_job (job, schedule, source, target, mode) VALUES ('j', '* * * * *', 'good', 'target', 'append');
	INSERT INTO csv_gpu_job_option (job, options) VALUES ('j', '{}')");

# SQL that must end as SQL does: in rows or in an ERROR that is not an internal
# one, in time, by the same backend.  It is undone.
sub survives
{
	my ($name, $sql, %options) = @_;
	my $timeout = $options{endless} ? '300ms' : '60s';
	my $began = time;

	($out, $err) = $super->query("BEGIN;\n\\set VERBOSITY verbose\n\\o /dev/null\nSET LOCAL statement_timeout = '$timeout';
		$sql;\n\\o\n\\set VERBOSITY default\nROLLBACK");
	my ($state, $message) = $err =~ /^ERROR:  (\w{5}): (.*)/m;
	$state //= '';

	# errno decides on these, as it does in all of the server
	$state = '' if $state eq 'XX000' && $message =~ /^could not (open|stat|read|read from) (file|directory) "/;
	return if ok($state !~ /^XX/ && ($options{endless} ? time - $began < 10 : $state ne '57014'), $name);
	diag(substr($sql, 0, 1000), "\n", substr($err, 0, 1000));
	return;
}

# ---- all there are ----

my $members = "SELECT objid FROM pg_depend WHERE deptype = 'e' AND refclassid = 'pg_extension'::regclass
	AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'csv_gpu_fdw')";
my @found = map { [ split /\|/, $_, -1 ] } split /\n/, $super->value("
	SELECT p.proname, array_to_string(p.proargtypes::regtype[], ','), array_to_string(p.proargnames[1:p.pronargs], ',')
		FROM pg_proc p WHERE p.oid IN ($members AND classid = 'pg_proc'::regclass) ORDER BY p.proname COLLATE \"C\"");
my (%types, %defaults);

is_deeply([ map { $_->[0] } @found ], [ sort keys %functions ], 'each function of the extension is tested here, and no other');
for (@found)
{
	my ($function, $types, $names) = @$_;
	my @types = split /,/, $types;
	my @values = map { $arguments{$_} } split /,/, $names;

	@values = @{ $functions{$function}{arguments} } if $functions{$function}{arguments};
	$types{$function} = \@types;
	$defaults{$function} = \@values;
	is(scalar(grep { defined } @values), scalar(@types), "$function has arguments to be called with");
	is(join(',', grep { !$hostile{$_} } @types), '', 'and with values of each of their types that do harm');
}
my @functions = sort keys %defaults;

# a call with these arguments; the source is a foreign table of this file
sub call
{
	my ($function, $arguments, $source, $file) = @_;
	my %meant = (':source' => "'$source'", ':file' => literal($file));

	return ($function eq 'csv_gpu_run' ? 'CALL' : 'SELECT') . " $function(" . join(', ', map { $meant{$_} // $_ } @$arguments) . ')';
}

# ---- arguments ----

for my $function (@functions)
{
	my @types = @{ $types{$function} };

	survives($function, call($function, $defaults{$function}, 'good', $good));
	survives("$function, nothing but NULL", call($function, [ map { "NULL::$_" } @types ], 'good', $good));
	for my $i (0 .. $#types)
	{
		for my $value (@{ $hostile{ $types[$i] } })
		{
			my @with = @{ $defaults{$function} };

			$with[$i] = $value eq 'NULL' ? "NULL::$types[$i]" : $value;
			survives("$function: argument " . ($i + 1) . " is $value", call($function, \@with, 'good', $good));
		}
	}
}

# jobs that csv_gpu_schedule() would not make
for my $change (map({ "source = '$_', target = '$_'" } qw(0 4294967295 plain view sequence pg_class)), q(description = '%s%n'), 'last_success = NULL', q(schedule = ''))
{
	for my $mode (qw(append replace new_files new_records))
	{
		survives("a $mode job with $change", "UPDATE csv_gpu_job SET mode = '$mode', $change; SELECT csv_gpu_run_job(job) FROM csv_gpu_job; SELECT * FROM csv_gpu_jobs");
	}
}
survives("a job with options $_", "UPDATE csv_gpu_job_option SET options = $_; SELECT csv_gpu_run_job('j')") for @{ $hostile{jsonb} };

# ---- files ----

my $gz = '';
gzip \("1,one\n" x 10000), \$gz;
my $bomb = '';
gzip \("\0" x 17_000_000), \$bomb;
my %files = (
	'empty.csv' => '',
	'zero.csv' => "\0",
	'zeros in the header.csv' => "a\0b,\0\0\0,c\0\n1,2,3\n4,5,6\n",
	'zeros.csv' => "\0" x 100_000,
	'zeros and line breaks.csv' => "\0\n" x 10_000,
	'quote.csv' => '"',
	'quotes.csv' => '"' x 100_001,
	'open quotes.csv' => "\"a\n" x 10_001,
	'delimiters.csv' => ',' x 100_000,
	'many fields.csv' => join(',', map { "f$_" } 1 .. 5000) . "\n" . join(',', 1 .. 5000) . "\n",
	'1600 fields.csv' => join(',', map { "f$_" } 1 .. 1600) . "\n" . join(',', 1 .. 1600) . "\n",
	'long name.csv' => 'n' x 200_000 . ",b\n1,2\n",
	'long name of odd letters.csv' => "\xf0\x9f\x98\x80" x 50_000 . ",b\n1,2\n",
	'same names.csv' => join(',', ('a') x 1500) . "\n" . join(',', 1 .. 1500) . "\n",
	'one long record.csv' => 'x' x 17_000_000,
	'one long record in quotes.csv' => '"' . ('1' x 1000 . ",\n") x 17_000,
	'line breaks.csv' => "\n" x 100_000,
	'carriage returns.csv' => "\r" x 100_000,
	'mark.csv' => "\xef\xbb\xbf",
	'half a mark.csv' => "\xef\xbb",
	'marks.csv' => "\xef\xbb\xbf" x 1000,
	'utf16.csv' => "\xff\xfea\0,\0b\0\n\0",
	'invalid.csv' => join('', map { chr(128 + $_ % 128) } 1 .. 100_000),
	'invalid header.csv' => "\xc3(,\xff\xfe,\xe2\x82\n1,2,3\n",
	'half a character.csv' => "1,\xf0\x9f\x98",
	'surrogates.csv' => "\xed\xa0\x80,\xed\xbf\xbf\n" x 100,
	'numbers.csv' => join("\n", '9' x 100_000, '1e999999999', '-0', 'NaN', '0x', "1e-" . '9' x 1000, '') ,
	'backslashes.csv' => '\\' x 100_000,
	'reserved names.csv' => "select,\"; DROP TABLE plain; --\",,oid,ctid,tableoid,a b,A B,a b\n1,2,3,4,5,6,7,8,9\n",
	'binary.csv' => join('', map { chr($_ * 7919 % 251) } 1 .. 100_000),
	'damaged.csv.gz' => substr($gz, 0, 20) . 'damaged' x 10,
	'truncated.csv.gz' => substr($gz, 0, length($gz) / 2),
	'trailing bytes.csv.gz' => "${gz}trailing bytes",
	'two members.csv.gz' => $gz . $gz,
	'empty.csv.gz' => '',
	'no gzip.csv.gz' => "1,one\n",
	'bomb.csv.gz' => $bomb,
	'no zstd.csv.zst' => "1,one\n",
	'damaged.csv.zst' => "\x28\xb5\x2f\xfd" . "\xff" x 100,
	'large window.csv.zst' => "\x28\xb5\x2f\xfd\x00\xff" . "\0" x 100,
	'no lz4.csv.lz4' => "1,one\n",
	'damaged.csv.lz4' => "\x04\x22\x4d\x18" . "\xff" x 100,
	"it's \"odd\"\n%s\\.csv" => "a,b\n1,2\n",
	'[a*?.csv' => "a,b\n1,2\n",
	"\xe8\xa1\xa8.csv" => "a,b\n1,2\n");

write_file("$directory/files/$_", $files{$_}) for keys %files;
mkdir "$directory/files/directory.csv";
symlink 'loop.csv', "$directory/files/loop.csv";
symlink 'nowhere', "$directory/files/dangling.csv";
write_file("$directory/files/unreadable.csv", "1,one\n");
mkdir "$directory/others";
mkfifo("$directory/others/fifo.csv", 0600) or die;
mkdir "$directory/locked";
my $socket = IO::Socket::UNIX->new(Type => SOCK_STREAM, Local => "$directory/others/socket", Listen => 1);
chmod 0, "$directory/files/unreadable.csv", "$directory/locked";

# what has no end, or may wait for ever
my %endless = map { $_ => 1 } "$directory/others/fifo.csv", qw(/dev/zero /dev/urandom);
my @paths = (
	map({ "$directory/files/$_" } sort(keys %files), qw(directory.csv loop.csv dangling.csv unreadable.csv missing.csv)),
	"$directory/locked/a.csv", "$directory/locked/*.csv", "$directory/*/*.csv", "$directory/files/zero*.csv", "$directory/others/socket",
	'/dev/null', '/dev/tty', '/proc/self/status', '/proc/self/mem', '/proc/self/environ', '/proc/self/fd/0', '/proc/self/task/', '/',
	'', '.', '*', '[', '/' . 'x' x 300, 'x/' x 5000, '/*' x 500, sort keys %endless);

for my $path (@paths)
{
	(my $name = length($path) > 100 ? substr($path, 0, 20) . '...' : $path) =~ s{^\Q$directory\E/}{};
	my %options = (endless => $endless{$path} || $path =~ /^\Q$directory\E\/\*/);

	$name =~ s/\n/\\n/;
	for my $table ('a int, b text', "a text OPTIONS (header_name 'a'), f text OPTIONS (virtual 'filename')")
	{
		my $create = "CREATE FOREIGN TABLE source ($table) SERVER csv OPTIONS (filename " . literal($path)
		  . ($table =~ /header/ ? ", header 'true')" : ')');

		survives("$name: SELECT", "$create; SELECT count(a) FROM source", %options);
		for my $function (@functions)
		{
			next if !grep { /^:(source|file)$/ } @{ $defaults{$function} };
			survives("$name: $function", "$create; " . call($function, $defaults{$function}, 'source', $path), %options);
		}
	}
}
for my $options ('', "OPTIONS (all_text 'true')", "OPTIONS (sample_records '1')", "OPTIONS (encoding 'SJIS')", "OPTIONS (header 'true', record_boundary 'lf')")
{
	# one by one, as the first bad one ends it
	for my $file (sort keys %files)
	{
		mkdir "$directory/one";
		symlink "$directory/files/$file", "$directory/one/$file" or die;
		survives("IMPORT FOREIGN SCHEMA $options of $file", "CREATE SCHEMA made; IMPORT FOREIGN SCHEMA \"$directory/one\" FROM SERVER csv INTO made $options");
		unlink "$directory/one/$file" or die;
	}
}
survives("IMPORT FOREIGN SCHEMA of $_", 'IMPORT FOREIGN SCHEMA "' . $_ . '" FROM SERVER csv INTO public')
  for "$directory/files", "$directory/others", "$directory/locked", "$directory/missing", '/dev', '/proc/self', '', "$directory/files/good.csv", '*';
cmp_ok(rss_kb($super->pid), '<', 300_000, 'no memory is left behind');

# ---- by a user without rights ----

my $nobody = new_session($node, user => 'nobody_special');

for my $function (@functions)
{
	($out, $err) = $nobody->query('BEGIN; ' . call($function, $defaults{$function}, 'good', $good) . '; ROLLBACK');
	like($err, $functions{$function}{nobody} // qr/^$/, "$function by a user without rights");
	unlike($out . $err, qr/three/, 'who sees no data');
}
is($super->value("SELECT string_agg(p.oid::regprocedure::text, ', ') FROM pg_proc p
	WHERE p.oid IN ($members AND classid = 'pg_proc'::regclass) AND p.prosecdef AND has_function_privilege('nobody_special', p.oid, 'EXECUTE')"), '', 'no function has other rights than its caller');

my $privileges = $super->value("
	SELECT c.relname, (
		SELECT string_agg(p.privilege, ', ' ORDER BY p.privilege) FROM (
			SELECT a.privilege_type FROM aclexplode(c.relacl) a WHERE a.grantee = 0
			UNION ALL
			SELECT e.privilege_type || ' of all but ' || (
					SELECT string_agg(t.attname, ', ' ORDER BY t.attname) FROM pg_attribute t
						WHERE t.attrelid = c.oid AND t.attnum > 0 AND t.attname <> ALL (array_agg(e.attname)))
				FROM (SELECT t.attname, a.privilege_type FROM pg_attribute t, aclexplode(t.attacl) a
					WHERE t.attrelid = c.oid AND a.grantee = 0) e GROUP BY e.privilege_type) p(privilege))
	FROM pg_class c WHERE c.oid IN ($members AND classid = 'pg_class'::regclass) ORDER BY c.relname COLLATE \"C\"");
is($privileges, join("\n", map { "$_|$relations{$_}" } sort keys %relations), 'what PUBLIC may do with tables, views and sequences');
is($super->value("SELECT string_agg(c.oid::regclass::text, ', ') FROM pg_class c
	WHERE c.oid IN ($members AND classid = 'pg_class'::regclass) AND c.relkind IN ('r', 'p') AND NOT c.relrowsecurity"),
	'', 'each table shows everyone his own rows');

# rows that are not his
$super->value("INSERT INTO csv_gpu_job_run (job, started, duration) VALUES ('j', now(), '1s');
	INSERT INTO csv_gpu_job_file (job, identity, filename, run) VALUES ('j', 'i', '$good', 1)");
for my $table (qw(csv_gpu_job csv_gpu_job_option csv_gpu_job_run csv_gpu_job_file))
{
	is($nobody->value("SELECT count(*) FROM $table"), 0, "rows of $table that are another's");
	($out, $err) = $nobody->query("DELETE FROM $table");
	is($super->value("SELECT count(*) FROM $table"), 1, 'are not deleted');
	($out, $err) = $nobody->query("TRUNCATE $table");
	like($err, qr/^ERROR:  permission denied/, 'nor truncated');
}
# nor when he deletes his own, even in a table that is like ours
$nobody->query("INSERT INTO csv_gpu_job_run (job, started, duration) VALUES ('j', now(), '1s');
	INSERT INTO csv_gpu_job_file (job, identity, filename, run) VALUES ('j', 'i', '$good', 1);
	INSERT INTO csv_gpu_job (job, schedule, source, target, mode) VALUES ('j', '', 'good', 'target', 'append');
	INSERT INTO csv_gpu_job_option (job, options) VALUES ('j', '{}')");
($out, $err) = $nobody->query("SELECT csv_gpu_forget_runs('j'), csv_gpu_forget_files('j'), csv_gpu_unschedule('j')");
is($err, '', 'a user deletes');
for my $table (qw(csv_gpu_job csv_gpu_job_option csv_gpu_job_run csv_gpu_job_file))
{
	is($nobody->value("SELECT count(*) FROM $table"), 0, "his rows of $table");
	is($super->value("SELECT count(*) FROM $table"), 1, 'and no others');
}
($out, $err) = $nobody->query("CREATE TEMP TABLE mine (owner regrole, what text, job text, before timestamptz, filename text);
	CREATE TRIGGER mine BEFORE INSERT ON mine FOR EACH ROW EXECUTE FUNCTION csv_gpu_delete()");
like($err, qr/^ERROR:  permission denied for function csv_gpu_delete/, 'who has no trigger of his own for it');

# locks that conflict with those of a run: of no object of ours
for my $table (grep { !/_seq$/ } sort keys %relations)
{
	for my $mode ('SHARE UPDATE EXCLUSIVE', 'SHARE', 'SHARE ROW EXCLUSIVE', 'EXCLUSIVE', 'ACCESS EXCLUSIVE')
	{
		($out, $err) = $nobody->query("BEGIN; LOCK TABLE $table IN $mode MODE; ROLLBACK");
		like($err, qr/^ERROR:  permission denied for (?:table|view) $table/, "nobody locks $table in $mode mode");
	}
}
# or that would be in the way of others
for (
	[ 'csv_gpu_job', "(owner, job, schedule, source, target, mode) VALUES ('pg_monitor', 'mine', '', 'good', 'target', 'append')" ],
	[ 'csv_gpu_job_option', "(owner, job, options) VALUES ('pg_monitor', 'j', '{}')" ],
	[ 'csv_gpu_job_run', "(owner, job, started, duration) VALUES ('pg_monitor', 'j', now(), '1s')" ],
	[ 'csv_gpu_job_run', "(run, job, started, duration) OVERRIDING SYSTEM VALUE VALUES (1000, 'j', now(), '1s')" ],
	[ 'csv_gpu_job_file', "(owner, job, identity, filename, run) VALUES ('pg_monitor', 'j', 'k', 'f', 1)" ],
	map({ [ 'csv_gpu_job_deletion', "(owner, what, job) VALUES ('pg_monitor', '$_', 'j')" ] } qw(job runs files)))
{
	my ($table, $row) = @$_;

	($out, $err) = $nobody->query("INSERT INTO $table $row");
	like($err, qr/^ERROR:  (permission denied|new row violates row-level security policy) for table "?$table/, "nobody inserts into $table $row");
}
($out, $err) = $nobody->query("SELECT nextval('csv_gpu_job_run_run_seq')");
like($err, qr/^ERROR:  permission denied for sequence/, 'nor uses up its numbers');
$nobody->quit;

# ---- names that are found on the way ----

# a schema that has an impostor for each function and operator of PostgreSQL's
# that the functions' texts may mean, and temporary tables for its catalogs
$super->value(q{
	CREATE SCHEMA evil;
	CREATE FUNCTION evil.deceive(what text) RETURNS void LANGUAGE plpgsql AS $$ BEGIN EXECUTE what; EXCEPTION WHEN OTHERS THEN END $$;
	CREATE FUNCTION evil.word_counts(p oid) RETURNS text LANGUAGE sql AS
		$$ SELECT format('CREATE FUNCTION evil.%I(%s) RETURNS %s %s LANGUAGE plpgsql AS ''BEGIN RAISE EXCEPTION ''''the impostor %s was called''''; END''',
			proname, pg_get_function_identity_arguments(oid), CASE WHEN proretset THEN 'SETOF' END, prorettype::regtype, proname) FROM pg_proc WHERE oid = p $$;
});
$super->value("SELECT evil.deceive(evil.word_counts(p.oid)) FROM pg_proc p WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.prokind = 'f'
	AND p.proname IN (SELECT w[1] FROM pg_proc e, regexp_matches(e.prosrc, '([a-z_]+)\\s*\\(', 'g') w
		WHERE e.oid IN ($members AND classid = 'pg_proc'::regclass));
	SELECT evil.deceive(evil.word_counts(o.oprcode)), evil.deceive(format('CREATE OPERATOR evil.%s (FUNCTION = evil.%I, LEFTARG = %s, RIGHTARG = %s)',
			o.oprname, p.proname, o.oprleft::regtype, o.oprright::regtype))
		FROM pg_operator o JOIN pg_proc p ON p.oid = o.oprcode
		WHERE o.oprnamespace = 'pg_catalog'::regnamespace AND o.oprkind = 'b'
			AND o.oprleft::regtype::text IN ('text', 'name', 'oid', 'integer', 'bigint', 'boolean', 'anyarray', 'anycompatiblearray', 'timestamp with time zone');
	CREATE FUNCTION naive(a text) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RETURN btrim(a, a) = a; END'");
cmp_ok($super->value("SELECT count(*) FROM pg_proc WHERE pronamespace = 'evil'::regnamespace"), '>', 50, 'many impostors');

my $trap = join('', map { "CREATE TEMP TABLE $_ () ON COMMIT DROP;" }
	  qw(pg_extension pg_class pg_namespace pg_proc pg_foreign_table pg_foreign_server pg_foreign_data_wrapper csv_gpu_job csv_gpu_job_run csv_gpu_job_file csv_gpu_job_deletion csv_gpu_job_option pg_stat_activity))
  . 'SET LOCAL search_path = evil, pg_temp, pg_catalog, public;';
($out, $err) = $super->query("BEGIN; $trap SELECT naive('a'); ROLLBACK");
like($err, qr/^ERROR:  the impostor \w+ was called/, 'which are called where nobody takes care');
for my $function (@functions)
{
	my $call = call($function, $defaults{$function}, 'good', $good) =~ s/NULL::csv/NULL::public.csv/r;

	($out, $err) = $super->query("BEGIN; $trap $call; ROLLBACK");
	unlike($err, qr/impostor|column \S+ does not exist/, "$function finds what it means");
}

# overloads of each function, in its own schema, that fit better where arguments have
# other types than the function's
my %similar = (
	bigint => ['integer'],
	integer => ['bigint'],
	boolean => ['text'],
	oid => ['regclass'],
	regclass => [qw(oid text)],
	text => [ 'name', 'character varying' ],
	'text[]' => [ 'name[]', 'character varying[]' ],
	'timestamp with time zone' => ['timestamp'],
	'"any"' => [qw(integer text)],
	jsonb => ['json']);

$super->value('CREATE ROLE creator; GRANT CREATE ON SCHEMA public TO creator; SET ROLE creator');
for my $function (grep { !grep { /^(internal|cstring)$/ } @{ $types{$_} } } @functions)
{
	my @types = @{ $types{$function} };

	for my $i (0 .. $#types)
	{
		for my $similar (@{ $similar{ $types[$i] } })
		{
			my @with = map { $_ eq '"any"' ? 'integer' : $_ } @types;

			$with[$i] = $similar;
			$super->value("CREATE FUNCTION $function(" . join(', ', @with) . q{) RETURNS text LANGUAGE plpgsql AS
				$$ BEGIN RAISE EXCEPTION 'an impostor was called'; END $$});
		}
	}
}
$super->value('RESET ROLE');
for my $function (@functions)
{
	my @types = @{ $types{$function} };
	my @typed = map { my $value = $defaults{$function}[$_]; $types[$_] =~ /any|internal/ ? $value : "$value\::$types[$_]" } 0 .. $#types;

	next if grep { $_ eq '"any"' } @types;
	for my $mode ('', 'append', 'replace', 'new_files', 'new_records')
	{
		($out, $err) = $super->query("BEGIN; UPDATE csv_gpu_job SET mode = coalesce(nullif('$mode', ''), mode); "
			  . call($function, [ map { $mode ne '' && /'append'/ ? s/append/$mode/r : $_ } @typed ], 'good', $good) . '; ROLLBACK');
		unlike($err, qr/impostor|is not unique/, "$function calls no overload, $mode");
	}
}

is($super->value('SELECT 1'), 1, 'the server lives');
unlike(slurp_file($node->logfile), qr/terminated by signal|PANIC/, 'no backend has crashed');
chmod 0700, "$directory/locked";
finish($super);
