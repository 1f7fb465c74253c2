# What kept columns depend on: all that may be declared of a table, and settings.
# One thing is changed at a time; then a session that uses kept columns must see what
# one that uses none sees, and must have read the file again, unless it is
# known that it need not.  So must a session that reads the file with the other engine:
# everything that is declared reaches the GPU.
#
# Options are those that the extension itself names, settings those that the
# server lists: one for which there is no change below fails the test.
use lib 'test/t';
use CsvServer;

my $directory = PostgreSQL::Test::Utils::tempdir;
my ($other_engine) = grep { $_ ne engine() } 'cuda', 'cpu';
engines();	# a stand-in where there is no GPU
my $node = csv_server('kept_meaning', QUICK_FILES, 'csv_gpu_fdw.resident_memory' => '64MB');
my $session = new_session($node);
my $other = new_session($node);	# reads files
my $elsewhere = new_session($node);	# reads files with the other engine
my $query = 'SELECT t FROM t';	# as rows, in which NULL is no empty text

# reading again would be of no use
my $without_meaning = qr/^(?:reject_limit|log_verbosity|notice_limit|parallel_workers|shares?|writable|csv_gpu_fdw\..*)$/;

write_file("$directory/a.csv", "a,d,s\n1,01/02/2003,x\n\n2,2003-04-05,\"y, \xc3\xa4\"\n3,04/05/2006,'z;' \r\n4;5,6\n4,,\"\"\n7,,\n8\n" .
	"10,,\"more\nlines\"\n11,,in\"side\"\n1_000,,\n\"1,5\",,\n13,,\"a\\\"b\"");
write_file("$directory/b.csv", "b,c\n9,01/02/2003,x\n");
settle();

sub create
{
	$other->value("DROP FOREIGN TABLE IF EXISTS t; CREATE FOREIGN TABLE t (a numeric, d date, s text) SERVER csv OPTIONS (filename '$directory/a.csv')");
}

# what is held of the table as it is now
sub held
{
	return $session->value("EXPLAIN (COSTS OFF) $query") =~ /Resident Columns: (.*)/ ? $1 : 'none';
}

# the table as it stands: the same for both, twice
sub is_same
{
	my ($name) = @_;
	my @plain = $other->query($query);

	for my $round ('read', 'kept')
	{
		my @found = $session->query($query);

		is("$found[0]$found[1]", "$plain[0]$plain[1]", "$name: the same, $round");
	}
	my @found = $elsewhere->query($query);
	is("$found[0]$found[1]", "$plain[0]$plain[1]", "$name: the same, $other_engine");
	return "@plain";
}

# A change, and the way back.  Returns whether it showed.
sub try_change
{
	my ($what, $change, $back) = @_;
	my ($before, $after);

	# what a change before this one has left may do for this one
	$session->value('SELECT csv_gpu_forget()');
	$before = is_same("before $what");

	like(held(), qr/^(\d+) of \1$/, "before $what: all is held");
	$change->();
	if ($what =~ s/ .*//r =~ $without_meaning)
	{
		like(held(), qr/^(\d+) of \1$/, "$what: what is held will do");
	}
	else
	{
		like(held(), qr/^(?:0 of|none)/, "$what: what is held is of no use");
	}
	$after = is_same($what);
	$back->();
	is(is_same("without $what"), $before, "without $what: as before");
	return $after ne $before;
}

# ---- options ----

# names that the extension takes on an object: it says so where one is wrong
sub options_of
{
	my ($object) = @_;
	my ($out, $err) = $other->query("ALTER $object OPTIONS (ADD nobody_has_such_an_option '1')");

	$err =~ /HINT:  Valid options in this context are: (.*)/ or die $err;
	return split /, /, $1;
}

# an option's new value and, where it conflicts with others, what goes with it;
# no value: it says nothing of what is read
my %table_changes = (
	filename => "$directory/[ab].csv",
	program => undef,	# what it writes is not kept
	compression => 'none',
	format => 'text',
	header => 'true',
	header_rows => 2,
	footer_rows => 2,
	growing => 'true',
	growing_rest => 0,
	by_name => "true', ADD header 'true",
	delimiter => ';',
	quote => "''",
	escape => '\\',
	quoting => 'postgres',
	multiline => 'false',
	comment => '4;',
	trim => 'true',
	null => '2',
	default => 'x',
	encoding => 'LATIN1',
	decimal_separator => ',',
	thousands_separator => '_',
	null_values => '{4,9}',
	date_format => 'DD/MM/YYYY',
	timestamp_format => 'epoch',
	date_order => 'DMY',
	timezone => 'Asia/Tokyo',
	columns => 4,
	record_boundary => 'crlf',
	ragged => 'pad',
	max_record_size => 12,
	engine => 'cpu',
	on_error => 'stop',
	reject_limit => 2,
	log_verbosity => 'silent',
	notice_limit => 1,
	chunk_size => 8,
	parallel_workers => 0,
	share => "0', ADD shares '2",
	shares => "2', ADD share '0",
	writable => 'true',
	allowed => undef,
	allowed_write => undef);
my %column_changes = (
	column => 0,
	header_name => 'd',
	virtual => 'line',
	byte_width => 4,
	max_chars => 1,
	force_null => 'true',
	force_not_null => 'true',
	null_values => '{x}',
	date_format => 'DD/MM/YYYY',
	timestamp_format => 'epoch');

# options that rows and NOTICEs here do not tell
my %silent = map { $_ => 1 } qw(compression growing_rest timestamp_format engine chunk_size parallel_workers share shares writable);

sub try_option
{
	my ($object, $name, $value) = @_;
	my $verb = $object =~ /TABLE t$/ && $name eq 'filename' ? 'SET' : 'ADD';
	my $back = $verb eq 'SET' ? "SET filename '$directory/a.csv'" : join ', ', map { "DROP $_" } $name, $value =~ /ADD (\w+)/;
	my $shows = try_change("$name of $object",
		sub { $other->value("ALTER $object OPTIONS ($verb $name '$value')") },
		sub { $other->value("ALTER $object OPTIONS ($back)") });

	ok($shows != ($silent{$name} // 0), "$name: shows in the results, or is known not to");
}

$_->value('SET csv_gpu_fdw.resident = off') for $other, $elsewhere;
$elsewhere->value("SET csv_gpu_fdw.engine = $other_engine");
create();
like($elsewhere->value("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) $query"), qr/Engine: $other_engine/, 'another engine');
for my $object ('SERVER csv', 'FOREIGN TABLE t')
{
	for my $name (options_of($object))
	{
		ok(exists $table_changes{$name}, "a change of $name") or next;
		$other->value('ALTER FOREIGN TABLE t ALTER d TYPE ' . ($name eq 'timezone' ? 'timestamptz' : 'date'));
		try_option($object, $name, $table_changes{$name}) if defined $table_changes{$name};
	}
}
try_option($_, 'on_error', 'set_null') for 'SERVER csv', 'FOREIGN TABLE t';
$other->value("ALTER FOREIGN TABLE t OPTIONS (ADD header 'true')");
delete $silent{timestamp_format};
for my $name (options_of('FOREIGN TABLE t ALTER a'))
{
	my $column = $name eq 'virtual' ? 'a' : $name =~ /_format$/ ? 'd' : 's';

	ok(exists $column_changes{$name}, "a change of $name") or next;
	$other->value("ALTER FOREIGN TABLE t ALTER d TYPE $1") if $name =~ /(date|timestamp)_format/;
	$other->value('ALTER FOREIGN TABLE t ALTER a TYPE bigint') if $name eq 'virtual';
	try_option("FOREIGN TABLE t ALTER $column", $name, $column_changes{$name});
}

# ---- columns ----

for my $change ('RENAME s TO other', 'ALTER s TYPE text COLLATE "C"', 'ALTER d TYPE timestamp', 'ALTER a TYPE numeric(3,1)',
	'ALTER s TYPE varchar(2)', 'ALTER s TYPE char(4)', 'DROP s', 'ADD b text')
{
	create();
	try_change($change, sub { $other->value("ALTER FOREIGN TABLE t $change") }, \&create);
}
for my $type (split /\n/, $other->value(q{
	SELECT oid::regtype FROM pg_type
	WHERE typnamespace = 'pg_catalog'::regnamespace AND typtype IN ('b', 'r', 'm') AND typcategory <> 'A' ORDER BY 1}))
{
	create();
	is_same("before $type");
	$other->value("ALTER FOREIGN TABLE t ALTER s TYPE $type");
	is_same("a column of type $type");
}

# ---- settings ----

# where a value has to be chosen; other types have one beside that of now
my %setting_changes = (
	DateStyle => 'ISO, DMY',
	TimeZone => 'Asia/Tokyo',
	client_encoding => 'LATIN1',
	default_text_search_config => 'pg_catalog.simple',
	lc_messages => 'C.UTF-8',
	lc_monetary => 'C.UTF-8',
	lc_numeric => 'C.UTF-8',
	lc_time => 'C.UTF-8',
	timezone_abbreviations => 'India',
	'csv_gpu_fdw.load_method' => 'pages',
	'csv_gpu_fdw.device' => 0);	# there may be no other

sub other_value
{
	my ($name, $type, $now, $min, $max, $words) = @_;

	return $setting_changes{$name} if exists $setting_changes{$name};
	return $now eq 'on' ? 'off' : 'on' if $type eq 'bool';
	return (grep { $_ ne $now } split /,/, $words)[0] if $type eq 'enum';
	return $now == $max ? $min : $now + 1 if $type ne 'string';
	return;
}

create();
$other->value("ALTER FOREIGN TABLE t ALTER s TYPE timestamptz, ALTER a TYPE float8, ADD m money OPTIONS (column '0'), OPTIONS (ADD columns '3')");
for my $setting (split /\n/, $session->value(q{
	SELECT name, vartype, setting, min_val, max_val, array_to_string(enumvals, ',') FROM pg_settings
	WHERE (category ~ 'Locale and Formatting' OR name ~ '^csv_gpu_fdw\.') AND context IN ('user', 'superuser')
		AND name <> 'csv_gpu_fdw.resident' ORDER BY name}))
{
	my ($name, @how) = split /\|/, $setting;
	my $value = other_value($name, @how);
	my @sessions = ($session, $other, $name eq 'csv_gpu_fdw.engine' ? () : $elsewhere);

	ok(defined $value, "a change of $name") or next;
	try_change($name,
		sub { $_->value("SET $name = '$value'") for @sessions },
		sub { $_->value("SET $name = '$how[1]'") for @sessions });
}

finish($session, $other, $elsewhere);
