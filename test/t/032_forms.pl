# Values in other forms against PostgreSQL's own functions over the same text: dates and
# timestamps by patterns (to_date, to_timestamp), numbers with thousands separators,
# null_values.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use CsvServer;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

random_seed();
my $seconds = seconds_to_run(12);
my $directory = PostgreSQL::Test::Utils::tempdir;
my $node = csv_server('forms');
my $session = new_session($node);

# What a text is by a pattern, NULL where it is none.  A text that does not end where the
# pattern does is told by an offset behind both that does not come out, and by its last
# character, which is of no account; one that ends before the pattern is taken.
$session->value(q{
	SET timezone = 'Etc/GMT+4';
	CREATE FUNCTION leniently(t text, pattern text) RETURNS timestamptz IMMUTABLE LANGUAGE plpgsql AS $$
	BEGIN RETURN to_timestamp(t, pattern); EXCEPTION WHEN data_exception THEN RETURN NULL; END $$;
	CREATE FUNCTION by_pattern(t text, pattern text, zoned bool) RETURNS timestamptz IMMUTABLE LANGUAGE plpgsql AS $$
	DECLARE
		value timestamptz := leniently(t, pattern);
		apart interval := leniently(t || ' -13', pattern || ' TZH') - leniently(t || ' +07', pattern || ' TZH');
	BEGIN
		IF t ~ '^\s*$' THEN RETURN NULL; END IF;
		IF NOT zoned AND apart IS DISTINCT FROM interval '20 hours' AND value IS NOT DISTINCT FROM leniently(left(rtrim(t), -1), pattern) THEN RETURN NULL; END IF;
		RETURN value;
	END $$;
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
	return grep { $_ ne '' } @parts;
}

# a text of the pattern, sometimes not quite
sub random_date
{
	my $text = join '', map { my $literal = $_; $literal =~ s/"//g; $element{$_} ? $element{$_}->() : $literal } @_;

	substr($text, rand(length($text)), pick(0, 1)) = pick('x', ' ', '-', '7', '', '/') if chance(0.1);
	$text .= pick(' ', ' x', '5', '-', ' 07') if chance(0.05);
	$text = pick('  ', "\t", '-') . $text if chance(0.03);
	return $text;
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
	my $path = write_file("$directory/f.csv", join '', map { my $t = $_; $t =~ s/"/""/g; ($t =~ /[;"]/ || $null eq 'false' && chance(0.1) ? "\"$t\"" : $t) . "\n" } @texts);
	my $setup = "DROP FOREIGN TABLE IF EXISTS t, u; CREATE FOREIGN TABLE t (n bigint OPTIONS (virtual 'record'), v $type) SERVER csv OPTIONS (filename '$path', delimiter ';', log_verbosity 'silent', $options);
		CREATE FOREIGN TABLE u (n bigint OPTIONS (virtual 'record'), v text) SERVER csv OPTIONS (filename '$path', delimiter ';', null '(null)')";
	my $difference = $session->value("$setup; SELECT string_agg(format('record %s, %L: %L, expected %L', u.n, u.v, t.v, e.v), E'\n' ORDER BY u.n)
		FROM u LEFT JOIN t ON t.n = u.n, LATERAL (SELECT ($expected)::$type AS v) e
		WHERE (t.n IS NOT NULL) <> (e.v IS NOT NULL OR $null) OR t.v IS DISTINCT FROM e.v");

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
	my $zoned = $pattern =~ /TZH/ ? 'true' : 'false';
	my $type = pick('date', 'timestamp', 'timestamptz', 'timestamp(0)', 'timestamptz(3)');
	my $is_date = $type eq 'date';
	my $value = 'by_pattern(u.v, ' . literal($pattern) . ", $zoned)";

	$type = 'date' if $pattern !~ /HH/ && chance(0.5);
	$is_date = $type eq 'date';

	# what offset_behind() cannot tell of a pattern with a zone
	my @texts = map { my $t = random_date(@parts); $t } 1 .. pick(20, 200, 1000);
	@texts = map { my $t = $_; $t =~ /\d\s*$/ || $zoned eq 'false' ? $t : '2024' } @texts;
	next if $zoned eq 'true' && $is_date;
	if ($zoned eq 'true')
	{
		@texts = map { join '', map { my $l = $_; $l =~ s/"//g; $element{$_} ? $element{$_}->() : $l } @parts } @texts;
	}
	# years that a date can have, but no timestamp; separators that may be the pattern's
	@texts = map { /\d{6}/ && $pattern =~ /YYYY(\W|$)/ || /[-\/.:,]\s*$/ ? '2024' : $_ } @texts;
	compare('pattern', $type, ($is_date ? 'date_format ' : 'timestamp_format ') . literal($pattern),
		$value,
		"false", @texts);

	my ($word, $unit) = @{ pick([ 'epoch', 1000000 ], [ 'epoch_ms', 1000 ], [ 'epoch_us', 1 ]) };

	$type = pick('date', 'timestamp', 'timestamptz', 'timestamptz(2)');
	$value = "by_epoch(u.v, $unit)";
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

$node->stop;
done_testing();
