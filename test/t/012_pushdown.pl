# What the engine filters and aggregates is what the executor would: random
# queries over random files give the same with pushdown and without, and over a
# plain table of the same rows.
use lib 'test/t';
use CsvServer;
use Time::HiRes qw(time);

random_seed();
my $seconds = amount(4);
my $queries_per_file = 50;
my $kept_share = 0.2;	# of the files, whose columns the session may keep
my $directory = PostgreSQL::Test::Utils::tempdir;
mkdir "$directory/p=$_" for 1 .. 3;
my @engines = engines();
my $node = csv_server('pushdown', QUICK_FILES, 'csv_gpu_fdw.resident_memory' => '100MB');
my $session = new_session($node);

# ---- files ----

my @words = (
	'', 'a', 'b', 'ab', 'abc', 'A', 'R', 'N', 'zebra', 'a b', ' a', "\x{e4}", 'a%', 'a_c',
	'PROMO TIN', 'PROMO', 'STEEL PROMO');

sub word { return pick(@words) }

sub whole
{
	my ($small, $large) = @_;

	return chance(0.03) ? pick($large, -$large, $large - 1) : int(rand(2 * $small + 1)) - $small;
}

sub decimal
{
	my ($digits, $scale) = @_;

	return 'NaN' if chance(0.01);
	return pick('', '-') . '9' x ($digits - $scale) . '.' . '9' x $scale if chance(0.02);
	return sprintf('%.*f', int(rand($scale + 1)), (int(rand(2001)) - 1000) / 8);
}

sub day { return sprintf('%04d-%02d-%02d', 1992 + int rand 7, 1 + int rand 12, 1 + int rand 28) }

sub hours { return sprintf('%02d:%02d:%02d', rand 24, rand 60, rand 60) . pick('', '', '.5', '.000001') }

sub moment { return day() . sprintf(' %02d:%02d:%02d', rand 24, rand 60, rand 60) }

# name, type, a value; numbers that add up without rounding
my @columns = (
	[ 'b', 'boolean', sub { pick('t', 'f', 'true', 'no') } ],
	[ 'i2', 'smallint', sub { whole(5, 32767) } ],
	[ 'i4', 'integer', sub { whole(1000, 2147483647) } ],
	[ 'i8', 'bigint', sub { whole(5, '9223372036854775807') } ],
	[ 'f4', 'real', sub { chance(0.02) ? pick('NaN', 'inf', '-inf', '-0') : whole(100, 10000) / 4 } ],
	[ 'f8', 'double precision', sub { chance(0.02) ? pick('NaN', 'inf', '-0', '1208925819614629174706176', ' 1') : whole(1000, 10000) / 8 } ],
	[ 'n', 'numeric(15,2)', sub { decimal(15, 2) } ],
	[ 'm', 'numeric(30,6)', sub { decimal(30, 6) } ],
	[ 'q', 'numeric', sub { chance(0.05) ? pick('1' x 45, '0.12345678901234', '0.1234567890123456789', '-7.0000000', '1e-9', '0.0000') : decimal(20, pick(0, 1, 3, 6)) } ],
	# equal values look equal
	[ 'p', 'numeric', sub { chance(0.1) ? pick('2' x 40, '0.00000000000000000001', '123456789.123456', 'inf', '-inf', 'NaN') : (int(rand(2001)) - 1000) / pick(1, 8, 64) } ],
	[ 'd', 'date', sub { chance(0.02) ? pick('infinity', '-infinity', '1998-1-2') : day() } ],
	[ 'ts', 'timestamp', sub { chance(0.02) ? 'infinity' : chance(0.3) ? day() : moment() } ],
	[ 'tz', 'timestamptz', sub { moment() . pick('+00', '+02', 'Z') } ],
	[ 'tm', 'time', sub { chance(0.03) ? pick('24:00', '4:5', '04:05 PM') : hours() } ],
	[ 'u', 'uuid', sub { sprintf('%08x-0000-0000-0000-%012x', pick(0, 1, 255, 4294967295), rand 3) } ],
	[ 't', 'text', sub { chance(0.01) ? 'x' x 10000 : word() } ],
	[ 'v', 'varchar(12)', sub { word() } ],
	[ 'c', 'char(12)', sub { word() . ' ' x rand 2 } ]);

# k tells the parts of a partitioned table apart; the file's path has the last two
my $definition = 'k integer, ' . join(', ', map { "$_->[0] $_->[1]" } @columns) . ', pk smallint, fn text';

sub make_file
{
	my ($path, $k, $bad) = @_;
	my $nrows = pick(0, 1, 3, 200, 200, 1500, 4000);
	my $nulls = pick(0, 0.1, 0.1, 0.9);
	my $text = '';
	my $spread = pick(1, 1, 0.1);
	my @common = map { $_->[2]->() } @columns;

	for (1 .. $nrows)
	{
		my @row;

		for my $i (0 .. $#columns)
		{
			my $value = chance($nulls) ? '' :
			  chance($bad) ? 'much longer than allowed' :
			  chance($spread) ? $columns[$i][2]->() : $common[$i];

			utf8::encode($value);
			$value = qq{"$value"} if $value ne '' && chance(0.1);
			push @row, $value;
		}
		$text .= chance(0.01) ? "bad record\n" : join(',', $k, @row) . "\n";
	}
	write_file($path, $text);
}

# ---- expressions, by type ----

# without columns: literals, parameters, InitPlans, and values of an outer row where there is one
our $has_outer = 0;
my %constants = (
	integer => [ '3', 'NULL::int', '$1', '$1 + 1', '(SELECT 2)', '(SELECT $1)', '(SELECT max(i4) FROM @)', 'length(current_user)' ],
	numeric => [ '0.5', '1', '12.345', '$2', '(SELECT 1.25)', '(SELECT avg(n) FROM @ WHERE i2 = $1)' ],
	text => [ "'a'::text", '$3', 'current_user::text', "(SELECT 'ab'::text)", '(SELECT min(t) FROM @ WHERE i4 > $1)' ],
	date => [ "date '1995-03-01'", 'current_date', 'now()::date', '$4', "(SELECT date '1996-02-29')" ],
	timestamptz => [ 'now()', 'current_timestamp', 'localtimestamp::timestamptz' ],
	float8 => [ '0.25::float8', '$5', '(SELECT 1.5::float8)' ],
	boolean => [ 'true', 'random() < 2', '$1 > 0', '$3 IS NULL', "current_date > date '2000-01-01'", '(SELECT false)' ]);
my %outer = (integer => 'yi', numeric => 'yd', text => 'yt', date => 'yday', float8 => 'yf', boolean => 'yi > 1');

sub constant
{
	my ($type) = @_;

	return $outer{$type} if $has_outer && exists $outer{$type} && chance(0.5);
	return pick(@{ $constants{$type} });
}

# the table, and the outer row's values under names that aggregates of the query itself can have
sub source
{
	return ' FROM ' . ($has_outer ? '(SELECT s.*, oi AS yi, od AS yd, ot AS yt, oday AS yday, of AS yf FROM @ s) s' : '@');
}

sub any_constant { return constant(pick(keys %constants)) }

# of $1 and those after it
sub parameters
{
	return join(', ', pick('1', '-3', '12', 'NULL::int'), pick('0.50', '12.125', '-7', "'NaN'", 'NULL') . '::numeric',
		quoted() . '::text', "date '" . day() . "'", pick('1.5', '-0', '100') . '::float8');
}

sub int_value
{
	my ($depth) = @_;

	return pick('i2', 'i4', 'i8', 'i4', int(rand(200)) - 100, '3::bigint', constant('integer')) if $depth <= 0 || chance(0.5);
	return '(' . int_value($depth - 1) . pick(' / ', ' % ') . pick('7', '-3', '10::bigint', '2::smallint', 'CASE WHEN i2 <> 0 THEN i2 END') . ')'
	  if chance(0.2);
	return pick('extract(month from ts)', 'extract(hour from tm)', "date_part('week', ts)") . '::int' if chance(0.1);
	return '(' . int_value($depth - 1) . pick(' + ', ' - ', ' * ') . int_value($depth - 1) . ')'
	  if chance(0.8);
	return '(- ' . int_value($depth - 1) . ')';
}

sub numeric_value
{
	my ($depth) = @_;

	return pick('n', 'm', 'n', 'p', 'q', constant('numeric')) if $depth <= 0 || chance(0.5);
	return '(' . numeric_value($depth - 1) . pick(' + ', ' - ', ' * ') . numeric_value($depth - 1) . ')'
	  if chance(0.8);
	return part() if chance(0.5);
	return int_value(0) . '::numeric';
}

sub part
{
	my $of = pick('d', 'ts', 'ts', 'tm');
	my @units = $of eq 'tm' ? () : qw(year quarter month week day dow isodow doy isoyear);

	push @units, qw(hour minute second) if $of ne 'd';
	return 'extract(' . pick(@units, 'epoch') . " from $of)";
}

sub truncated { return 'date_trunc(' . literal(pick(qw(year quarter month week day hour minute second))) . ', ' . pick('ts', 'ts', 'd::timestamp') . ')' }

# a column at the least, so that it is no constant
sub numeric_column
{
	return pick('n', 'm', 'p', 'q', 'n * (1 - m)', 'p * (1 - n) * q', 'n + i4', 'q * i2', '- q', numeric_value(2) . ' + ' . pick('n', 'q'),
		'CASE WHEN b THEN ' . numeric_value(1) . ' ELSE 0 END', 'CASE i2 WHEN 1 THEN q WHEN 2 THEN n * m END', 'coalesce(q, n, 0.00)');
}

sub float_value
{
	my ($depth) = @_;

	return pick('f8', 'f4::float8', 'i4::float8', constant('float8')) if $depth <= 0 || chance(0.5);
	return '(' . float_value($depth - 1) . pick(' + ', ' - ', ' * ') . float_value($depth - 1) . ')';
}

# of some languages, upper or lower case has other letters
sub folded { return pick('lower', 'upper') . '(' . pick('t', 'v', 'c', 'coalesce(v, t)', 't COLLATE "und-x-icu"', 't COLLATE "tr-x-icu"', 'fn') . ')' }

sub text_value { return pick('t', 'v', 'c', 'v::text', "coalesce(t, v)", folded(), 'fn') }

sub quoted { my $word = word(); utf8::encode($word); return "'$word'" }

sub date_value { return pick("date '" . day() . "'", "(date '1998-12-01' - interval '90' day)", "timestamp '" . moment() . "'", constant('date')) }

sub comparison { return pick(' = ', ' <> ', ' < ', ' <= ', ' > ', ' >= ') }

sub compared_with
{
	my ($value, $make) = @_;

	return "$value BETWEEN " . $make->() . ' AND ' . $make->() if chance(0.2);
	return "$value" . pick(' IN ', ' NOT IN ') . '(' . join(', ', map { $make->() } 0 .. rand 4) . pick('', '', ', NULL') . ')'
	  if chance(0.2);
	return $value . comparison() . $make->();
}

sub condition
{
	my ($depth) = @_;

	if ($depth > 0 && chance(0.5))
	{
		return '(' . condition($depth - 1) . pick(' AND ', ' OR ') . condition($depth - 1) . ')'
		  if chance(0.7);
		return 'NOT (' . condition($depth - 1) . ')' if chance(0.6);
		return '(' . condition($depth - 1) . ') IS ' . pick('', 'NOT ') . pick('TRUE', 'FALSE', 'UNKNOWN');
	}
	return pick(
		sub { pick('b', 'NOT b', 'b IS NOT TRUE', 'b = true') },
		sub { pick(map { $_->[0] } @columns) . ' IS ' . pick('', 'NOT ') . 'NULL' },
		sub { compared_with(int_value(1), sub { int_value(0) }) },
		sub { compared_with(pick('n', 'm', numeric_value(1) . ' + m'), sub { pick('0', '0.05', '-12.125', '100', 'n', '999.999') }) },
		sub { compared_with(pick('q', 'p', 'q + n', 'q * 2', 'scale(q)', 'CASE WHEN b THEN n ELSE q END'), sub { pick('0', '0.05', '-12.1250000', '0.1234567', 'n', 'q', 'i4') }) },
		sub { compared_with(float_value(1), sub { pick('0', '1.5', "'NaN'", 'f4', '-0.0') . '::float8' }) },
		sub { compared_with('f4', sub { pick("'0'", "'NaN'", "'2.25'") . '::real' }) },
		sub { 'd' . comparison() . date_value() },
		sub { compared_with('tm', sub { "time '" . hours() . "'" }) },
		sub { compared_with(part(), sub { pick('1995', '3', '1.5', '0', 'i2') }) },
		sub { compared_with(truncated(), sub { "timestamp '" . day() . "'" }) },
		sub { compared_with('ts::date', sub { "date '" . day() . "'" }) },
		sub { 'ts' . comparison() . pick(date_value(), 'd') },
		sub { compared_with('d', sub { "date '" . day() . "'" }) },
		sub { 'tz' . comparison() . "timestamptz '" . moment() . "+01'" },
		sub { compared_with('u', sub { "uuid '000000ff-0000-0000-0000-000000000001'" }) },
		sub { compared_with(text_value(), \&quoted) },
		sub { compared_with('pk', sub { pick(1, 2) }) },
		sub { text_value() . comparison() . pick(text_value(), constant('text')) },
		sub { constant('boolean') },
		sub {
			my $pattern = pick('%', '') . word() . pick('%', '', '%' . word());
			utf8::encode($pattern);
			text_value() . pick(' LIKE ', ' NOT LIKE ', ' ILIKE ', ' NOT ILIKE ') . "'$pattern'"
		},
		sub { "CASE WHEN b THEN i4 > 0 WHEN i2 = 1 THEN d < date '1995-01-01' ELSE v = 'a' END" },
		sub { "CASE i2 WHEN 1 THEN 'a' WHEN 2 THEN v ELSE t END = " . quoted() })->();
}

# which of -0 and 0 is shown, or of 1.5 and 1.50, depends on how PostgreSQL groups
sub key
{
	return pick('b', 'i2', 'i4', 'i8', 'n', 'm', 'p', 'q', 'q + n', 'scale(q)', 'd', 'ts', 'tz', 'u', 't', 'v', 'c', 'k', 'k', 'f8 + 0::float8', 'i2', 'c', 'v',
		'tm', part(), part(), truncated(), truncated(), 'ts::date', 'ts::time', 'i4 / 100', 'i8 % 7', "date_part('month', ts)",
		'i2 + i2', 'n + 1', 'coalesce(v, t)', 'pk', 'fn', folded(), "CASE WHEN b THEN 'yes' ELSE 'no' END", any_constant(), any_constant(), any_constant());
}

# with as many digits as it needs, equal for equal values
sub trimmed { my ($value) = @_; return $value =~ /\bq\b/ && $value !~ /scale/ ? "trim_scale($value)" : $value }

# nor is it sure which of -0 and 0 a minimum is: threads and PostgreSQL's sort turn rows round
sub aggregate
{
	my ($grouped) = @_;
	my $call = pick(
		sub { 'count(*)' },
		sub { 'count(' . pick('DISTINCT ', '') . pick(any_constant(), folded(), 'fn', map { $_->[0] } @columns) . ')' },
		sub { pick('sum', 'avg', 'min', 'max') . '(' . constant(pick('integer', 'float8')) . ')' },
		sub { pick('min', 'max') . '(' . constant(pick('text', 'date', 'timestamptz', 'numeric')) . ')' },
		sub { pick('sum', 'avg', 'min', 'max') . '(' . int_value(1) . ' + i2)' },
		sub { pick('sum', 'avg', 'min', 'max') . '(' . pick('i2', 'i4', 'i8') . ')' },
		sub { pick('sum', 'avg') . '(' . numeric_column() . ')' },
		sub { pick('sum', 'avg', 'min', 'max') . '(' . pick('n', 'm', 'p') . ')' },
		sub { 'trim_scale(' . pick('min', 'max') . '(' . numeric_column() . '))' },
		sub { pick('sum', 'max') . '(' . pick('scale(q)', 'scale(q * m)', 'scale(coalesce(p, n))') . ')' },
		sub { pick('sum', 'avg') . '(' . pick('f4', 'f8', 'f8 * 2', 'f4 + f8') . ')' },
		sub { pick('min', 'max') . '(' . pick('f4', 'f8', 'f8 * 2') . ' + 0::float8)' },
		sub { pick('min', 'max') . '(' . pick('d', 'ts', 'tz', 'tm', 't', 'v', 'c', 'pk', 'fn', 'lower(t)', truncated(), part()) . ')' },
		sub { pick('bool_and', 'bool_or', 'every') . '(' . pick('b', 'i4 > 0', condition(1)) . ')' },
		sub { pick('variance', 'stddev', 'var_pop', 'stddev_pop') . '(' . pick('i2', 'i4', 'n', 'i2 * 2') . ')' },
		# that of floats is rounded once, and not at every step; this hides it
		sub { pick('stddev', 'stddev_pop') . '(' . pick('f4', 'f4 * 2', 'i2::float8') . ')' })->();
	my $rounded = $call =~ /^stddev.*(f4|float8)/;

	if (chance(0.15))
	{
		my $filter = ' FILTER (WHERE ' . condition(1) . ')';

		$call =~ s/^(trim_scale\(.*)\)$/$1$filter)/ or $call .= $filter;
	}
	return $rounded ? "($call)::real" : $call;
}

# all that is wanted is in the order, so that equal rows look equal
sub ordered
{
	my @wanted = map { pick(map { /^f/ ? "$_ + 0::float8" : $_ } grep { $_ ne 'q' } map { $_->[0] } @columns) } 0 .. rand 4;
	my @order = sort { rand() <=> 0.5 } 1 .. @wanted;

	push @wanted, pick('i4 + i2', 'n * 2', '1', any_constant()) if chance(0.3);
	return 'SELECT ' . join(', ', map { "$wanted[$_] AS x$_" } 0 .. $#wanted) . source() . where() .
	  ' ORDER BY ' . (chance(0.1) ? pick('q, ', 'q + n DESC, ') : '') . join(', ', map { $_ . pick('', ' DESC', ' NULLS FIRST', ' DESC NULLS LAST') } @order, @order < @wanted ? scalar @wanted : ()) .
	  ' LIMIT ' . pick(1, 3, 10, 100, 2000, 'greatest($1, 0)', $has_outer ? 'greatest(oi, 0)' : '(SELECT 5)') . (chance(0.3) ? ' OFFSET ' . pick(1, 20, 500) : '');
}

sub outer_rows { return '(VALUES ' . join(', ', map { '(' . parameters() . ')' } 0 .. rand 4) . ') o(oi, od, ot, oday, of)' }

# with values of an outer row; each column may be a parameter of the scan
sub joined
{
	local $has_outer = 0;
	my $join = pick(
		sub { 'i4' . comparison() . pick('oi', 'oi + 1', 'oi * i2') },
		sub { pick('i2', 'i8', 'i4') . ' = oi' },
		sub { pick('n', 'm', 'q', 'n * 2') . comparison() . 'od' },
		sub { pick('t', 'v') . ' = ot' },
		sub { 'd' . comparison() . 'oday' },
		sub { 'f8' . comparison() . 'of' },
		sub { 'CASE WHEN b THEN i2 = oi ELSE n > od END' },
		sub { condition(1) . ' AND i4 > oi' })->();
	my $kind = pick('JOIN', 'LEFT JOIN');

	return 'SELECT ' . join(', ', 'o.*', pick('i4', 't'), pick('n', 'd', 'c')) . ' FROM ' . outer_rows() . " $kind @ ON $join" . where();
}

# a query anew for each outer row, whose values it may use or not
sub repeated
{
	local $has_outer = chance(0.8);
	my $inner = query(1);

	return "SELECT o.*, ARRAY(SELECT l::text FROM ($inner) l ORDER BY 1) FROM " . outer_rows() if chance(0.3);
	return 'SELECT * FROM ' . outer_rows() . pick(' JOIN', ' LEFT JOIN') . " LATERAL ($inner) l ON true";
}

sub where { return chance(0.3) ? '' : ' WHERE ' . join(' AND ', map { condition(2) } 0 .. rand 2) }

sub query
{
	my ($is_inner) = @_;
	my @keys;

	return repeated() if !$is_inner && chance(0.2);
	return ordered() if chance(0.2);
	return joined() if chance(0.15);
	if (chance(0.35))
	{
		my @wanted = map { pick(map { $_->[0] } @columns) } 0 .. rand 4;

		return 'SELECT ' . join(', ', map { "$wanted[$_] AS x$_" } 0 .. $#wanted) . source() . where();
	}
	return 'SELECT DISTINCT ' . join(', ', map { trimmed(key()) . " AS x$_" } 0 .. rand 4) . source() . where() if chance(0.2);
	@keys = map { key() } 1 .. rand 4 if chance(0.7);

	my @results = ((map { trimmed($_) } @keys), map { aggregate(@keys > 0) } 0 .. rand 4);
	my $query = 'SELECT ' . join(', ', map { "$results[$_] AS x$_" } 0 .. $#results) . source() . where();

	$query .= ' GROUP BY ' . join(', ', map { $results[$_] eq $keys[$_] ? $_ + 1 : $keys[$_] } 0 .. $#keys) if @keys;
	$query .= ' HAVING ' . pick(aggregate(1) . ' IS NOT NULL', 'count(*) > ' . constant('integer'), constant('boolean')) if chance(0.1);
	return $query;
}

# ---- comparison ----

$session->value(q{
	CREATE FUNCTION prepare(query text) RETURNS void LANGUAGE plpgsql AS $$
	BEGIN
		IF EXISTS (SELECT FROM pg_prepared_statements WHERE name = 'query') THEN
			DEALLOCATE query;
		END IF;
		EXECUTE 'PREPARE query(int, numeric, text, date, float8) AS ' || query;
	END $$;

	-- with each of these lists of parameters
	CREATE FUNCTION outcome(query text, VARIADIC parameters text[]) RETURNS text LANGUAGE plpgsql AS $$
	DECLARE
		list text;
		result text;
		results text[];
	BEGIN
		PERFORM prepare('SELECT string_agg(x::text, E''\n'' ORDER BY x::text) FROM (' || query || ') x');
		FOREACH list IN ARRAY parameters LOOP
			EXECUTE 'EXECUTE query(' || list || ')' INTO result;
			results := results || coalesce(result, 'NULL');
		END LOOP;
		RETURN array_to_string(results, E'\n');
	EXCEPTION WHEN others THEN
		RETURN 'ERROR ' || SQLSTATE;
	END $$;

	CREATE FUNCTION difference(found text, expected text) RETURNS text LANGUAGE sql AS $$
		SELECT left(string_agg(line, E'\n' ORDER BY line NOT LIKE '%ERROR%'), 1000) FROM (
			(SELECT '+ ' || regexp_split_to_table(coalesce(found, 'NULL'), E'\n') AS line
			EXCEPT ALL SELECT '+ ' || regexp_split_to_table(coalesce(expected, 'NULL'), E'\n'))
			UNION ALL
			(SELECT '- ' || regexp_split_to_table(coalesce(expected, 'NULL'), E'\n')
			EXCEPT ALL SELECT '- ' || regexp_split_to_table(coalesce(found, 'NULL'), E'\n'))) x
	$$;

	CREATE FUNCTION compare(query text, VARIADIC parameters text[]) RETURNS text LANGUAGE plpgsql AS $$
	DECLARE
		plain text := outcome(replace(query, '@', 'plain'), VARIADIC parameters);
		unpushed text;
		pushed text;
	BEGIN
		PERFORM set_config('csv_gpu_fdw.enable_pushdown', 'off', true);
		unpushed := outcome(replace(query, '@', 'csv'), VARIADIC parameters);
		PERFORM set_config('csv_gpu_fdw.enable_pushdown', 'on', true);
		pushed := outcome(replace(query, '@', 'csv'), VARIADIC parameters);
		-- the planner may find out that a partition need not be looked at
		IF unpushed IS DISTINCT FROM plain AND
			(coalesce(plain, '') LIKE 'ERROR%') = (coalesce(unpushed, '') LIKE 'ERROR%') THEN
			RETURN E'without pushdown:\n' || difference(unpushed, plain);
		END IF;
		IF pushed IS DISTINCT FROM unpushed THEN
			RETURN E'with pushdown:\n' || difference(pushed, unpushed);
		END IF;
		RETURN CASE WHEN plain LIKE 'ERROR%' THEN 'error' ELSE 'same' END;
	END $$;

	CREATE TABLE expected (query text, result text);

	-- with pushdown only, and the plain table once for each query
	CREATE FUNCTION compare_pushed(query text) RETURNS text LANGUAGE plpgsql AS $$
	DECLARE
		list text := '1, 1, ''a'', ''2001-01-01'', 1';
		plain text;
		pushed text := outcome(replace(query, '@', 'csv'), list);
	BEGIN
		SELECT result INTO plain FROM expected e WHERE e.query = compare_pushed.query;
		IF NOT FOUND THEN
			plain := outcome(replace(query, '@', 'plain'), list);
			INSERT INTO expected VALUES (query, plain);
		END IF;
		RETURN CASE WHEN pushed IS DISTINCT FROM plain THEN difference(pushed, plain) ELSE 'same' END;
	END $$;

	CREATE FUNCTION is_pushed(query text, parameters text) RETURNS boolean LANGUAGE plpgsql AS $$
	DECLARE
		line text;
	BEGIN
		PERFORM prepare(replace(query, '@', 'csv'));
		FOR line IN EXECUTE 'EXPLAIN EXECUTE query(' || parameters || ')' LOOP
			IF line ~ 'Engine (Filter|Aggregates|Group Key|Limit)' THEN
				RETURN true;
			END IF;
		END LOOP;
		RETURN false;
	EXCEPTION WHEN others THEN
		RETURN false;
	END $$;
});

my $start = time();
my ($nfiles, $nqueries, $nerrors, $npushed, $ndifferent) = (0, 0, 0, 0, 0);

while (time() - $start < $seconds && $ndifferent == 0)
{
	my $nparts = pick(1, 1, 3);
	my @paths = map { "$directory/p=$_/$nfiles.csv" } 1 .. $nparts;
	my @patterns = $nparts > 1 && chance(0.5) ? "$directory/*/$nfiles.csv" : @paths;
	# what of a value is bad does not depend on the columns that a query wants only here
	my $bad = pick(0, 0, 0.003);
	my $options = "log_verbosity 'silent'" . ($bad ? ", on_error 'set_null'" : '')
	  . (chance(0.5) ? ", chunk_size '" . pick('1kB', '16kB', '100kB') . "'" : '');
	my $sql = '
		SET client_min_messages = error;
		DROP TABLE IF EXISTS plain; DROP VIEW IF EXISTS csv;
		DROP TABLE IF EXISTS csv_parts; DROP FOREIGN TABLE IF EXISTS csv_1;';

	$nfiles++;
	make_file($paths[$_ - 1], $_, $bad) for 1 .. $nparts;
	my $kept = chance($kept_share);
	settle() if $kept;
	$sql .= "CREATE TABLE csv_parts ($definition) PARTITION BY LIST (k);" if @patterns > 1;
	$sql .= "CREATE FOREIGN TABLE csv_$_ " .
	  (@patterns > 1 ? "PARTITION OF csv_parts FOR VALUES IN ($_)" : "($definition)") .
	  " SERVER csv OPTIONS (filename '$patterns[$_ - 1]', $options);
	  ALTER FOREIGN TABLE csv_$_ ALTER pk OPTIONS (virtual 'path:p'), ALTER fn OPTIONS (virtual 'filename');" for 1 .. @patterns;
	$sql .= 'CREATE VIEW csv AS SELECT * FROM ' . (@patterns > 1 ? 'csv_parts' : 'csv_1') . ';';
	$sql .= 'ANALYZE csv_parts;' if @patterns > 1;
	$session->value("$sql
		SET csv_gpu_fdw.enable_pushdown = off;
		CREATE TABLE plain AS SELECT * FROM csv;
		RESET csv_gpu_fdw.enable_pushdown;
		SET enable_partitionwise_aggregate = " . pick('on', 'off') . '; SET plan_cache_mode = ' . pick('auto', 'force_generic_plan') . "; SET work_mem = '" . pick('64kB', '4MB') . "';
		SET csv_gpu_fdw.cpu_threads = " . pick(1, 1, 3) . '; SET enable_hashjoin = ' . pick('on', 'off') .
		'; SET csv_gpu_fdw.engine = ' . pick(@engines) . '; SET csv_gpu_test.gpu_groups = ' . pick(0, 1, 20) .
		'; SET csv_gpu_fdw.resident = ' . ($kept ? 'on' : 'off') . '; SET enable_mergejoin = off; SET enable_material = ' . pick('on', 'off') . ';');
	for (1 .. $queries_per_file)
	{
		my $query = query();
		my @parameters = map { literal(parameters()) } 1 .. 2;
		my $outcome = $session->value('SELECT compare(' . join(', ', literal($query), @parameters) . ')');

		$nqueries++;
		$nerrors++ if $outcome eq 'error';
		$npushed++ if $session->value('SELECT is_pushed(' . literal($query) . ", $parameters[0])") eq 't';
		next if $outcome eq 'same' || $outcome eq 'error';
		$ndifferent++;
		diag("$outcome\n\n$query\n\n@parameters\n");
		rename $paths[$_], "$ENV{TESTDATADIR}/different.$_.csv" for 0 .. $#paths;
		last;
	}
	unlink @paths;
}
note("$nfiles files, $nqueries queries: $npushed pushed down, $nerrors errors");
is($ndifferent, 0, 'no query gives anything else');
cmp_ok($npushed, '>', $nqueries / 2, 'most queries are pushed down');
cmp_ok($nqueries - $nerrors, '>', $nqueries / 2, 'most queries end without an error');

# ---- many groups, of several files ----

# far more than fit into the least work_mem, or are worth one thread
my $ngroups = 6000;

for my $part (1 .. 3)
{
	write_file("$directory/many.$part.csv",
		map {
			my $k = ($_ * 7919 + $part * 13) % $ngroups;

			join(',', $k, "customer-$k", $k % 100 ? $k % 7 . '.25' : 'NaN', $k % 50 ? $_ / 4 : 'NaN',
				$_ % 1000, sprintf('2001-01-%02d', 1 + $_ % 28), $_ % 90 ? $_ % 77 : "$_" . '0' x 25,
				$_ % 11 ? $_ % 300 - 150 : '', $_ % 3 ? 't' : 'f', $_ % 13 ? $_ / 8 : '',
				# of some keys no lane holds it
				$k % 7 ? $k / 8 : $k % 14 ? "$k" . '1' x 40 : $k % 21 ? '0.' . '0' x 15 . (100000 + $k) : 'NaN') . "\n"
		} 1 .. 8000);
}
settle();
$session->value("
	CREATE FOREIGN TABLE csv_many (k integer, name text, n numeric(10,2), f float8, v integer, d date,
		h numeric(38,0), s smallint, b boolean, r real, y numeric)
		SERVER csv OPTIONS (filename '$directory/many.*.csv');
	DROP VIEW csv; DROP TABLE plain;
	CREATE VIEW csv AS SELECT * FROM csv_many;
	CREATE TABLE plain AS SELECT * FROM csv_many; ANALYZE plain;
	SET plan_cache_mode = auto; SET hash_mem_multiplier = 1;");
# half of the conditions with each, so that each is there with any two settings
my @halves = ([ 'true', 'k < 5600 AND v >= 10' ], [ 'k < 1600', 'k < 6000' ]);
for my $threads (1, 4)
{
	for my $kept ('off', 'on')
	{
		for my $memory ('64kB', '64MB')
		{
			my $half = ($threads == 1) ^ ($kept eq 'on') ^ ($memory eq '64kB');
			$session->value("SET csv_gpu_fdw.cpu_threads = $threads; SET csv_gpu_fdw.resident = $kept; SET work_mem = '$memory'");
			my @different;

			for my $where (@{ $halves[$half] })
			{
				for my $query (
					'SELECT k, count(*), sum(v) FROM @ WHERE w GROUP BY k',
					'SELECT name, n, count(*) FROM @ WHERE w GROUP BY name, n',
					'SELECT k, min(n), max(n), sum(n), min(f), max(f), min(d), max(name) FROM @ WHERE w GROUP BY k',
					'SELECT k, b, count(s), sum(s), max(s), min(r), sum(n) FROM @ WHERE w GROUP BY k, b',
					'SELECT h, s, count(*), min(r) FROM @ WHERE w GROUP BY h, s',
					'SELECT k, sum(h), min(h), max(b::int) FROM @ WHERE w GROUP BY k',
					'SELECT k, sum(y), min(y), max(y) FROM @ WHERE w GROUP BY k',
					'SELECT y, b, count(*), sum(y * n), max(h) FROM @ WHERE w GROUP BY y, b',
					'SELECT v, count(DISTINCT y) FROM @ WHERE w GROUP BY v',
					'SELECT k, count(DISTINCT v) FROM @ WHERE w GROUP BY k',
					'SELECT v, count(DISTINCT name) FROM @ WHERE w GROUP BY v')
				{
					my $outcome = $session->value('SELECT compare_pushed(' . literal($query =~ s/\bw\b/$where/r) . ')');

					push @different, "$query, $where: $outcome" if $outcome ne 'same';
				}
			}
			is(join("\n", @different), '', "many groups: $threads threads, resident $kept, work_mem $memory");
		}
	}
}

# ---- groups on disk: one key in half of the rows, keys longer than the memory ----

write_file("$directory/skew.csv",
	map { ($_ % 2 ? 'half' : "key $_") . ",$_," . ($_ % 30 ? $_ % 900 : "$_" . '0' x 30) . "\n" } 1 .. 60_000);
write_file("$directory/skew.long.csv",
	map { ('x' x (300_000 + $_ % 7)) . ",$_,1\n" } 1 .. 30);
settle();
$session->value("
	CREATE FOREIGN TABLE skew (t text, n integer, y numeric) SERVER csv OPTIONS (filename '$directory/skew*.csv');
	DROP VIEW csv; DROP TABLE plain;
	CREATE VIEW csv AS SELECT * FROM skew;
	CREATE TABLE plain AS SELECT * FROM skew; ANALYZE plain; ANALYZE skew;
	SET csv_gpu_fdw.resident = off; SET csv_gpu_fdw.engine = cpu; SET work_mem = '64kB'; SET cpu_operator_cost = 1;");

my @skewed = (
	'SELECT t, count(*), sum(n), max(y), min(t) FROM @ GROUP BY t',
	'SELECT length(t), t, count(DISTINCT n), count(DISTINCT y), count(*) FROM @ GROUP BY t',
	'SELECT count(DISTINCT t), count(DISTINCT n), count(DISTINCT y), sum(y) FROM @',
	'SELECT y, t, max(t), avg(n), max(y), count(*) FROM @ GROUP BY y, t');

# what EXPLAIN ANALYZE says of a query's groups on disk
sub on_disk
{
	my ($query) = @_;
	my $said = $session->value('EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' . $query =~ s/@/csv/gr);
	my ($nbatches) = $said =~ /Engine Group Batches: (\d+)$/m;
	my ($kilobytes) = $said =~ /Engine Group Disk Usage: (\d+) kB$/m;

	return ($nbatches // 0, $kilobytes // 0);
}

for my $threads (1, 2, 7)
{
	my @different;

	$session->value("SET csv_gpu_fdw.cpu_threads = $threads");
	for my $query (@skewed)
	{
		my $outcome = $session->value('SELECT compare_pushed(' . literal($query) . ')');
		my ($nbatches, $kilobytes) = on_disk($query);

		push @different, "$query: $outcome" if $outcome ne 'same';
		push @different, "$query: $nbatches batches, $kilobytes kB" if $nbatches == 0 || $kilobytes < 1000;
	}
	is(join("\n", @different), '', "skewed groups on disk: $threads threads");
}
$session->value("SET work_mem = '1GB'");
is(join(' ', on_disk($skewed[0])), '0 0', 'no file if memory suffices');
$session->value("SET work_mem = '64kB'");

# the file is counted, and goes, whatever ends the query
my $files = descriptors($session->pid);
my $no_files = 'SELECT count(*) FROM pg_ls_tmpdir()';
for my $threads (1, 7)
{
	$session->value("SET csv_gpu_fdw.cpu_threads = $threads");
	for my $query (@skewed[0 .. 2])
	{
		my ($out, $err) = $session->query("SET temp_file_limit = '1MB'; " . ($query =~ /GROUP/ ? "SELECT count(*) FROM ($query) x" : $query) =~ s/@/csv/gr);

		like($err, qr/^ERROR:  temporary file size exceeds "temp_file_limit" \(1024kB\)$/m, "temp_file_limit, $threads threads");
		$session->value('RESET temp_file_limit');
	}
	# left early, and by a cursor that rests while threads merge
	$session->value("SELECT * FROM (SELECT t, count(*) FROM csv GROUP BY t) x LIMIT 1");
	like(($session->query('BEGIN; DECLARE c CURSOR FOR SELECT n, count(*) FROM csv GROUP BY n; MOVE 100 FROM c; SELECT 1 / 0'))[1],
		qr/division by zero/, 'an ERROR while groups come');
	$session->value('ROLLBACK');
	my $ncancels = 0;
	for my $pause (0, 1, 3, 10, 30)
	{
		my ($out, $err) = $session->query("BEGIN; DECLARE c CURSOR FOR SELECT n, t, count(DISTINCT y) FROM csv GROUP BY n, t;
			MOVE 1 FROM c; SELECT pg_sleep($pause / 1000.0);
			DO \$\$ BEGIN SET LOCAL statement_timeout = 1; END \$\$; MOVE ALL FROM c; SELECT pg_sleep(10)");

		$ncancels++ if $err =~ /^ERROR:  canceling statement due to statement timeout$/m;
		$session->value('ROLLBACK');
	}
	is($ncancels, 5, 'a cancel while groups come');
	is($session->value($no_files), 0, 'no temporary file is left');
	cmp_ok(descriptors($session->pid), '<=', $files, 'nor a descriptor');
}
is($session->value('SELECT compare_pushed(' . literal($skewed[1]) . ')'), 'same', 'the same groups again');

finish();
