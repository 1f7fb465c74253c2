# Values in other forms against PostgreSQL's own functions over the same text: dates and
# timestamps by patterns (to_date, to_timestamp), numbers with thousands separators,
# null_values.
use lib 'test/t';
use CsvServer;
use Time::HiRes qw(time);

random_seed();
my $seconds = amount(4);
my $directory = PostgreSQL::Test::Utils::tempdir;
my $node = csv_server('forms');
my $session = new_session($node);

# what a text is, NULL where it is nothing
$session->value(q{
	SET timezone = 'Etc/GMT+4';
	CREATE FUNCTION by_pattern(t text, pattern text) RETURNS timestamptz IMMUTABLE LANGUAGE plpgsql AS $$
	BEGIN RETURN to_timestamp(nullif(btrim(t, E' \t'), ''), pattern); EXCEPTION WHEN data_exception THEN RETURN NULL; END $$;
	CREATE FUNCTION to_date_or_null(t text, pattern text) RETURNS date IMMUTABLE LANGUAGE plpgsql AS $$
	BEGIN RETURN to_date(nullif(btrim(t, E' \t'), ''), pattern); EXCEPTION WHEN data_exception THEN RETURN NULL; END $$;
	CREATE FUNCTION by_epoch(t text, unit numeric) RETURNS timestamptz IMMUTABLE LANGUAGE plpgsql AS $$
	BEGIN RETURN (timestamp '1970-01-01 00:00' + trunc(round(t::numeric * unit) / 86400000000) * interval '1 day'
		+ round(t::numeric * unit) % 86400000000 * interval '1 microsecond') AT TIME ZONE 'UTC';
	EXCEPTION WHEN data_exception THEN RETURN NULL; END $$;
	CREATE FUNCTION by_thousands(t text, separator text, point text) RETURNS numeric IMMUTABLE LANGUAGE plpgsql AS $$
	DECLARE group_of text := '\\' || separator; s text := btrim(t, E' \t\n\v\f\r');
	BEGIN
		IF s ~ ('^[-+]?([0-9]+|[0-9]{1,3}(' || group_of || '[0-9]{3})+)(\D.*)?$|^[-+]?\' || point || '[0-9]') AND
			NOT regexp_replace(s, '^[-+]?[0-9]{1,3}(' || group_of || '[0-9]{3})+', '0') ~ group_of AND NOT (point = ',' AND replace(s, separator, '') ~ '\.') THEN
			RETURN replace(replace(s, separator, ''), point, '.')::numeric;
		END IF;
		RETURN NULL;
	EXCEPTION WHEN data_exception THEN RETURN NULL; END $$;
});

my @months = qw(January February March April May June July August September October November December);
my @elements = (
	[ 'YYYY', sub { pick(sprintf('%04d', 1 + int(rand(9999))), 2024, int(rand(3000))) } ], [ 'YY', sub { sprintf('%02d', rand(100)) } ],
	[ 'MM', sub { pick(sprintf('%02d', 1 + rand(12)), 1 + int(rand(13))) } ], [ 'Mon', sub { my $m = substr(pick(@months), 0, 3); pick($m, lc $m, uc $m) } ],
	[ 'Month', sub { my $m = pick(@months); pick($m, lc $m, uc $m) } ], [ 'DD', sub { pick(sprintf('%02d', 1 + rand(31)), 1 + int(rand(31))) } ],
	[ 'HH24', sub { sprintf('%02d', rand(25)) } ], [ 'HH12', sub { pick(sprintf('%02d', rand(14)), 1 + int(rand(12))) } ], [ 'MI', sub { sprintf('%02d', rand(61)) } ],
	[ 'SS', sub { sprintf('%02d', rand(61)) } ], [ 'MS', sub { sprintf('%03d', rand(1000)) } ], [ 'US', sub { pick(sprintf('%06d', rand(1e6)), int(rand(100))) } ],
	[ 'FF3', sub { sprintf('%03d', rand(1000)) } ], [ 'AM', sub { pick('AM', 'PM', 'am', 'pm') } ], [ 'P.M.', sub { pick('A.M.', 'p.m.') } ],
	[ 'TZH', sub { sprintf('%+03d', rand(20) - 10) } ], [ 'TZH:TZM', sub { sprintf('%+03d:%02d', rand(20) - 10, rand(61)) } ], [ 'DDD', sub { 1 + int(rand(366)) } ]);
my %element = map { $_->[0] => $_->[1] } @elements;
my @usual = (
	[qw(DD / MM / YYYY)], [qw(MM / DD / YYYY)], [qw(YYYY MM DD)], [qw(DD - Mon - YYYY)], [qw(DD . MM . YY)],
	[ 'Month', ' ', 'DD', ', ', 'YYYY' ], [ qw(YYYY - MM - DD), '"T"', qw(HH24 : MI : SS . US) ], [ qw(MM / DD / YYYY), ' ', qw(HH12 : MI), ' ', 'AM' ],
	[ qw(YYYY MM DD HH24 MI SS MS) ], [ qw(YYYY - MM - DD), ' ', qw(HH24 : MI : SS), ' ', 'TZH:TZM' ], [ qw(DD / Mon / YYYY : HH24 : MI : SS), ' ', 'TZH' ]);

# a pattern, and one that is no usual one now and then
sub random_pattern
{
	return @{ pick(@usual) } if chance(0.7);
	my @parts = ('YYYY', map { (pick('-', '/', ' ', '', '.', '"at"', ':', ', '), pick(@elements)->[0]) } 0 .. rand(4));
	# is refused: MM twice, or what reads as DDD and D
	return random_pattern() if (grep { $_ eq 'MM' } @parts) > 1 || join('', @parts) =~ /DDDD/;
	return grep { $_ ne '' } @parts;
}

# A text of the pattern; one with something behind it; or one that is not quite so, of
# which nobody knows where it ends.
sub random_date
{
	my $text = join '', map { my $literal = $_; $literal =~ s/"//g; $element{$_} ? $element{$_}->() : $literal } @_;

	# of a year with fewer digits, what follows gives some, and then what is behind may be a number's
	return (join('', @_) =~ /YYYY[A-Z]/ ? 'perhaps' : 'behind', $text . pick(' x', 'x', ' - 7', '!')) if chance(0.1);
	if (chance(0.1))
	{
		substr($text, rand(length($text)), pick(0, 1)) = pick('x', ' ', '-', '7', '', '/');
		return ('perhaps', $text);
	}
	return ('so', chance(0.05) ? pick(' ', "\t") . $text . pick(' ', '  ') : $text);
}

sub random_number
{
	my ($separator, $point) = @_;
	my $text = pick('', '', '-', '+') . int(rand(1200));

	$text .= $separator . sprintf('%0*d', chance(0.05) ? 2 : 3, rand(1000)) for 1 .. rand(4);
	$text .= $point . int(rand(1000)) if chance(0.3);
	$text .= pick('e3', $separator, ' ', 'x', "$point$point", '.', ',') if chance(0.1);
	return $text;
}

# rows, and numbers of records that were skipped, against those of an expression
my ($rounds, $nvalues, $different) = (0, 0, 0);

sub compare
{
	my ($what, $type, $options, $expected, $null, @texts) = @_;
	my $path = write_file("$directory/f.csv", join '', map { my ($how, $t) = ref $_ ? @$_ : ('so', $_); $t =~ s/"/""/g;
		"$how;" . ($t =~ /[;"]/ || $null eq 'false' && chance(0.1) ? "\"$t\"" : $t) . "\n" } @texts);
	my $setup = "DROP FOREIGN TABLE IF EXISTS t, u; CREATE FOREIGN TABLE t (n bigint OPTIONS (virtual 'record'), how text, v $type) SERVER csv OPTIONS (filename '$path', delimiter ';', log_verbosity 'silent', $options);
		CREATE FOREIGN TABLE u (n bigint OPTIONS (virtual 'record'), how text, v text) SERVER csv OPTIONS (filename '$path', delimiter ';', null '(null)')";
	my $difference = $session->value("$setup; SELECT string_agg(format('record %s, %L: %L, expected %L', u.n, u.v, t.v, e.v), E'\n' ORDER BY u.n)
		FROM u LEFT JOIN t ON t.n = u.n, LATERAL (SELECT CASE WHEN u.how <> 'behind' THEN $expected END::$type AS v) e
		WHERE (u.how <> 'perhaps' OR t.n IS NOT NULL) AND ((t.n IS NOT NULL) <> (e.v IS NOT NULL OR $null) OR t.v IS DISTINCT FROM e.v)");

	$rounds++;
	$nvalues += @texts;
	return if $difference eq '';
	$different++;
	diag("$what: $options\n" . substr($difference, 0, 2000));
	return;
}

my $end = time + $seconds;

while (time < $end && $different < 3)
{
	my @parts = random_pattern();
	my $pattern = join '', @parts;
	my $type = pick('date', 'timestamp', 'timestamptz', 'timestamp(0)', 'timestamptz(3)');

	$type = 'date' if $pattern !~ /HH/ && chance(0.5);
	compare('pattern', $type, ($type eq 'date' ? 'date_format ' : 'timestamp_format ') . literal($pattern),
		$type eq 'date' ? 'to_date_or_null(u.v, ' . literal($pattern) . ')' : 'by_pattern(u.v, ' . literal($pattern) . ')', 'false',
		map { [ random_date(@parts) ] } 1 .. pick(20, 200, 1000));

	my ($word, $unit) = @{ pick([ 'epoch', 1000000 ], [ 'epoch_ms', 1000 ], [ 'epoch_us', 1 ]) };

	$type = pick('date', 'timestamp', 'timestamptz', 'timestamptz(2)');
	my $value = "by_epoch(u.v, $unit)";
	compare('epoch', $type, ($type eq 'date' ? 'date_format' : 'timestamp_format') . " '$word'",
		$type =~ /tz/ ? $value : "$value AT TIME ZONE 'UTC'", 'false',
		map { pick('', '-') . int(rand(2**31) * 1000000 / $unit) . (chance(0.3) ? '.' . int(rand(pick(10, 1000, 10000000))) : '') . (chance(0.03) ? pick('x', ' ', 'e3', '.') : '') } 1 .. pick(20, 300));

	my $point = pick('.', ',');
	my $separator = pick(grep { $_ ne $point } ',', '.', ' ', "'", '_');

	$type = pick('bigint', 'numeric', 'numeric(20,2)', 'double precision');
	next if $point eq ',' && $type eq 'bigint';
	$value = "by_thousands(u.v, '" . ($separator eq "'" ? "''" : $separator) . "', '$point')";
	$value = "CASE WHEN $value = trunc($value) AND u.v !~ '[.e]' THEN $value END" if $type eq 'bigint';
	compare('thousands', $type, 'thousands_separator ' . literal($separator) . ", decimal_separator '$point'", $value, 'false',
		map { random_number($separator, $point) } 1 .. pick(20, 300));

	my @nulls = map { pick('NA', '-999', 'n/a', '0', '1', 'x' x rand(40), '7.5') } 1 .. 1 + rand(4);

	$type = pick('int', 'numeric(8,2)', 'text', 'char(4)', 'double precision');
	compare('null_values', $type, 'null_values ' . literal('{' . join(',', map { "\"$_\"" } @nulls) . '}'),
		"CASE WHEN u.v <> ALL (ARRAY[" . join(',', map { "'$_'" } @nulls, '') . "]) THEN u.v END",
		"u.v = ANY (ARRAY[" . join(',', map { "'$_'" } @nulls, '') . "])",
		map { chance(0.3) ? pick(@nulls) : $type =~ /text|char/ ? pick('a', 'bb', '-99', 'NAN') : int(rand(2000)) - 1000 } 1 .. pick(20, 300));
}
is($different, 0, "$nvalues values in $rounds files are what PostgreSQL makes of them");

finish();
