# Many spellings of values, usual ones, edge cases and random changes of both.
# What the foreign table reads must be what the type's input function makes of
# the same text, to the bit; and where that function raises an error, the
# record must be skipped with its message.
use lib 'test/t';
use CsvServer;
no warnings "qw";
use utf8;
use Encode qw(encode_utf8);
use Time::HiRes qw(time);

my $spellings_a_table = 3000;

sub digits
{
	return join '', map { int(rand(10)) } 1 .. $_[0];
}

# ---- spellings to start from ----

my @blanks = (' ', "\t", "\n", "\r", "\x0b", "\f", "\x{a0}", "\x{3000}", '  ');

my @bools = qw(t f true false yes no on off y n 1 0 T F TRUE False yEs nO ON oFF
  o of tr tru fal fals ye 10 01 2 -1 truee offf yess nono tf 00 11 ON1);

my @ints = (
	qw(0 -0 +0 1 -1 +1 42 007 127 128 32767 32768 -32768 -32769 65535 65536
	  2147483647 2147483648 -2147483648 -2147483649 4294967295 4294967296
	  9223372036854775807 9223372036854775808 -9223372036854775808
	  -9223372036854775809 18446744073709551615 18446744073709551616
	  99999999999999999999 -99999999999999999999 1e3 1. 1.0 .1 1.5 0x10 0X1f 0b1
	  0o7 010 1_000 --1 ++1 +-1 - + 1- 12a a12 １２ ٣ 1,5 NaN $1 1L),
	'0' x 30, '0' x 30 . '7', '-' . '0' x 25 . '9223372036854775808', '+ 1',
	'1 2', '- 1', '12 x');

my @floats = (
	@ints,
	qw(NaN nan NAN -NaN +NaN nan(1) Infinity infinity -Infinity +Infinity inf
	  Inf -inf +inf INF infinit infinityy nanx in na 1e308 1.7976931348623157e308
	  1.7976931348623159e308 1e309 -1e309 1e400 2.2250738585072014e-308
	  2.2250738585072011e-308 4.9e-324 5e-324 2.4703282292062327e-324
	  2.4703282292062328e-324 2e-324 1e-400 0e400 0e-400 0.0e99999 1e 1e+ 1e-
	  1e+5 1E5 1e5.5 1ee5 e5 .5 5. . -. +. .e5 1.5.2 0x1p3 0x1.8p1 0x 1d5 1f 1e05
	  1e0000000000005 1e-0000000010 9007199254740991 9007199254740992
	  9007199254740993 9007199254740994.5 9007199254740995 0.1 0.2 0.3
	  3.4028234e38 3.4028235e38 3.40282356e38 3.4028236e38 3.5e38 1.17549435e-38
	  1.1754942e-38 1e-45 7e-46 1.4e-45 16777216 16777217 16777217.000000001
	  16777219 0.000061035156 1.00000017881393432617187499
	  1.00000017881393421514957253748434595763683319091796875001
	  123456789012345678901234567890 1152921504606846975 -0.0 -0e5 1e22 1e23
	  8.988465674311579e+307 1e-307 6.62607015e-34),
	'1' . '0' x 400, '0.' . '0' x 400 . '1', '1.' . '9' x 900,
	'0' x 500 . '1.5', '1' x 1100);

my @numerics = (
	@floats,
	qw(0.00 0.000 .000 0. 00.10 1e131071 1e131072 1e131073 -1e131072 1e-16383
	  1e-16384 1e1000000 1e2147483648 1e-2147483648 9.999 999.994 999.995 999.9949
	  99.9995 -999.995 0.9994 0.9995 0.99949 -0.9995 0.0004 0.0005 -0.0005
	  9999999999999.994 9999999999999.995 9999999999999.99 99999999999999
	  -9999999999999.995 9999999999999999999999999999.99999999995
	  9999999999999999999999999999.99999999994 12345678901234567890123456789012345678
	  10000 9999 99999999 100000000 0.0001 0.00010000 0.00001 10000.0001 1000000000000
	  12345.6789 1E+2 1e2e2 1.2.3 12e-3 99950 99949 49 50 149 150 9995000),
	'9' x 38, '9' x 39, '9' x 50, '1' . '0' x 44, '0.' . '0' x 62 . '1',
	'0.' . '0' x 63 . '1', '0' x 60 . '1', '1.' . '0' x 70);

my @dates = (
	qw(2000-01-01 0001-01-01 0000-01-01 0000-12-31 9999-12-31 10000-01-01
	  5874897-12-31 5874898-01-01 2000-02-29 2000-02-30 1900-02-28 1900-02-29
	  2100-02-29 2004-02-29 1999-02-29 2000-04-31 2000-06-30 2000-13-01 2000-00-10
	  2000-10-00 2000-01-32 2000-1-1 2000-1-01 00-1-1 99-01-08 08-01-99 1/2/2003
	  13/2/2003 2/13/2003 2003/1/2 2003/01/02 2003.1.2 1.2.2003 20030102 030102
	  J2451545 epoch infinity -infinity +infinity now today tomorrow yesterday
	  allballs 2000-01-01Z 1999-Jan-08 08-Jan-1999 Jan-08-1999 1999.008 2000-366
	  02000-01-01 2000--01-01 -2000-01-01 2000-01-01-01 2000-01-1a 1970-01-01
	  294276-12-31 294277-01-01 200-01-01 20-01-01 2-01-01),
	'2000-01-01 BC', '4714-11-24 BC', '4714-11-23 BC', '4713-01-01 BC', '2000-01-01 AD',
	'0001-01-01 BC', 'January 8, 1999', 'Jan 8 1999', '8 Jan 1999', '1999 Jan 8',
	'Sat Jan 01 2000', '2000 01 01', '2000-01-01 12:00', '2000-01-01T00:00:00',
	'2000-01-01 +02', 'Mon 2000-01-03', 'invalid', 'current');

my @times = (
	qw(00:00 00:00:00 12:00 23:59 23:59:59 24:00 24:00:00 24:00:01 24:01 25:00
	  23:60 23:59:60 23:59:60.5 23:59:61 12:00:00.1 12:00:00.12 12:00:00.123
	  12:00:00.1234 12:00:00.12345 12:00:00.123456 12:00:00.1234567
	  12:00:00.1234564 12:00:00.1234565 12:00:00.9999999 23:59:59.9999995 12:00:00.
	  12:00:00.000000 12:00:00.0000000000001 1:2:3 0:0 12 1200 120000 120000.5
	  T12:00 12:00:00,5 12.5 -01:00 12:-5 allballs 12:00:00.12a 040506 12:00:00.5555555),
	'12:00 AM', '12:00 PM', '1:00 pm', '13:00 PM', '12:00:00 AM', '0:30 AM');

my @zones = (
	qw(Z z +00 -00 +0 +1 +02 -03 +14 +15 -15 +15:59 -15:59 +15:59:59 +16 -16:00 +24
	  +0530 -0330 +05:30 +05:3 +5:30 +05:30:15 +053015 +05:60 +0560 UTC EST EDT PST zulu
	  America/New_York Europe/Berlin Asia/Kolkata PST8PDT foo Z+2 +02Z),
	' +02', ' Z', ' UTC', ' EST', ' -03:30', ' America/New_York', ' PM', ' BC', '  +02',
	' + 02', ' +02 BC', ' America/Nowhere');

sub random_date
{
	return sprintf pick('%04d-%02d-%02d', '%04d-%02d-%02d', '%04d-%02d-%02d', '%d-%d-%d'),
	  pick(int(rand(9999)), 1900 + int(rand(200))), rand(13), rand(32);
}

sub random_time
{
	my $time = sprintf '%02d:%02d:%02d', rand(25), rand(61), rand(61);

	$time .= '.' . digits(1 + int(rand(7))) if chance(0.6);
	return $time;
}

sub random_timestamp
{
	my ($with_zone) = @_;
	my $date = chance(0.3) ? pick(@dates) : random_date();
	my $time = chance(0.4) ? pick(@times) : random_time();

	return $date . pick(' ', ' ', ' ', 'T', 'T', 't', '  ', '')
	  . $time . (chance($with_zone) ? pick(@zones) : '');
}

# every bit pattern of a double is as likely as another
sub random_double
{
	my $double = chance(0.3) ? rand(1e6) - 5e5 : unpack('d', pack 'L2', rand(2**32), rand(2**32));

	return sprintf pick('%.17g', '%.*g', '%.*e', '%.*f'), pick(1 .. 25), $double
	  if abs($double) < 1e50;
	return sprintf '%.*g', pick(1 .. 25), $double;
}

# close to the middle between two floats, where rounding twice goes wrong
sub random_middle
{
	my $bits = 0x3000_0000 + int(rand(0x2000_0000));
	my $middle = (unpack('f', pack 'L', $bits) + unpack('f', pack 'L', $bits + 1)) / 2;

	return sprintf('%.*f', 60, $middle) =~ s/0+$//r . pick('', '0', '1', '00000001');
}

sub random_numeric
{
	my $number = pick('', '-', '+') . digits(pick(1 .. 16, 28, 36));

	$number .= '.' . digits(pick(0 .. 12, 40)) if chance(0.7);
	$number .= 'e' . pick('', '-', '+') . int(rand(40)) if chance(0.1);
	$number =~ s/\d(?=\d*$)/pick(0, 9)/ge if chance(0.2);
	return $number;
}

# next to what numeric can hold: 131072 digits before the point, 16383 after it
sub random_exponent
{
	my $number = pick('', '-', '+') . pick('0', '9', '1.5', '.5', '0.0', '000', digits(1 + int(rand(6))), digits(3) . '.' . digits(3));

	return $number . pick('e', 'E') . pick(
		'-' . (16383 + int(rand(12)) - 6),
		'-' . (131072 + int(rand(12)) - 6),
		pick('', '+') . (131072 + int(rand(12)) - 6),
		pick('', '-') . (1073741823 + int(rand(6)) - 3),
		pick('', '-') . pick('0' x int(rand(20)), '') . int(rand(50)),
		pick('', '-') . digits(1 + int(rand(22))));
}

# blanks as isspace() knows them, before and behind
sub padded
{
	my ($spelling) = @_;
	my @spaces = (' ', ' ', "\t", "\n", "\x0b", "\f", "\r");

	return join('', map { pick(@spaces) } 1 .. int(rand(3))) . $spelling
	  . join('', map { pick(@spaces) } 1 .. int(rand(3)));
}

sub random_uuid
{
	my $hex = join '', map { pick(0 .. 9, 'a' .. 'f', 'A' .. 'F') } 1 .. 32;

	$hex =~ s/^(.{8})(.{4})(.{4})(.{4})/$1-$2-$3-$4-/ if chance(0.7);
	return $hex;
}

my @letters = ('a' .. 'e', ' ', ' ', ',', '"', '\\', "\n", qw(é ß 表 日 😀 €), "e\x{301}");

sub random_text
{
	return join('', map { pick(@letters) } 1 .. rand(8)) . ' ' x (chance(0.3) ? rand(6) : 0);
}

my @texts = ('', ' ', 'a', 'é', '😀', '12345', '123456', '12345 ', '12345  x', '     ', '      x',
	'日本語表示', '日本語表示です', 'NULL', '\N', '\.', "a\0x41", '"', '""', 'x' x 300, 'é' x 300);

my @intervals = ('1 day', '1 day 2:03:04', '-1 day', 'P1Y2M3DT4H5M6S', '1-2', '1 2:03', '@ 1 minute ago',
	'1 year 2 mons', '1.5 months', '+1-2 -3 +4:05:06', '1e3 s', '178000000 years', '178000001 years', '1', 'PT',
	'P', '', '0', '1 fortnight', '1:2:3.4567891', '-0:0:1', '9999999999 days', 'P0001-02-03T04:05:06', '1h',
	'infinity', '2147483648 months');

my @jsons = ('{}', '[]', '{"a":1}', '[1,2', '"x"', '"\\u0041"', '"\\u0000"', '"\\ud83d\\ude00"', '"\\ud83d"', 'null',
	'true', 'tru', '1e5', '01', '-', '{"a":1,"a":2}', '{"a" : [1, {"b": null}] }', '1e400', '"a', "\"a\nb\"", '{a:1}',
	'[' x 50 . ']' x 50, '', ' 1 ', '1 2', '{"表":"é"}');

my @inets = qw(1.2.3.4 1.2.3.4/24 1.2.3 10 256.1.1.1 1.2.3.4/33 ::1 ::1/128 ::1/129 fe80::1:2 ::ffff:1.2.3.4 1::2::3 12345::
  10.1.2.3/8 10/8 :: 0.0.0.0/0 1.2.3.4/ 1.2.3.4/a 08:00:2b:01:02:03 08002b010203 08-00-2b-01-02-03 08002b:010203);

my @arrays = ('{}', '{1,2,3}', '{1,NULL}', '{{1,2},{3,4}}', '{{1},{2,3}}', '{1,2', '1,2', '{"1","2"}', '{a,b}', '{"a,b","c\"d"}',
	'[0:1]={1,2}', '[1:1]={1,2}', '{1,,2}', '{ 1 , 2 }', '{null,"null"}', '{}}', '{{}}', '{1.5}', '{2000-01-01}',
	'{"2000-01-01 12:00"}', '', '{99999999999}', '{"é","表"}', "{\"a\nb\"}");

# ---- types ----

# type, and where spellings come from: a list of some, and how to make more.  With
# DateStyle and the like they mean other things; "zoned" types are read under
# all of them.
my @types = (
	[ 'bool', \@bools ],
	[ 'int2', \@ints, sub { pick('', '-', '+') . digits(pick(1 .. 6)) } ],
	[ 'int4', \@ints, sub { pick('', '-', '+') . digits(pick(1 .. 11)) } ],
	[ 'int8', \@ints, sub { pick('', '-', '+') . digits(pick(1 .. 20)) } ],
	[ 'float4', \@floats, sub { pick(random_double(), random_middle(), random_numeric()) } ],
	[ 'float8', \@floats, sub { pick(random_double(), random_numeric()) } ],
	(map { [ $_, \@numerics, sub { chance(0.3) ? random_exponent() : random_numeric() } ] }
		  'numeric', 'numeric(15,2)', 'numeric(38,10)', 'numeric(3,3)', 'numeric(5)',
		'numeric(38,0)', 'numeric(100,70)', 'numeric(5,-2)', 'numeric(2,5)'),
	[ 'date', [ @dates, 'now' ], sub { chance(0.8) ? random_date() : random_timestamp(0.5) }, 'zoned' ],
	(map { [ $_, \@dates, sub { random_timestamp(0.3) }, 'zoned' ] }
		  'timestamp', 'timestamp(0)', 'timestamp(3)', 'timestamp(6)'),
	(map { [ $_, \@dates, sub { random_timestamp(0.7) }, 'zoned' ] }
		  'timestamptz', 'timestamptz(0)', 'timestamptz(4)'),
	[ 'uuid', [ map { random_uuid() } 1 .. 5 ], \&random_uuid ],
	(map { [ $_, \@texts, \&random_text ] }
		  'text', 'varchar', 'varchar(5)', 'varchar(1)', 'bpchar', 'char(5)', 'char(1)', 'char(200)',
		'char(300)', 'name', '"char"'),
	(map { [ $_, \@times, sub { random_time() . (chance(0.5) ? pick(@zones) : '') }, 'zoned' ] }
		  'time', 'time(2)', 'timetz'),
	[ 'interval', [ @intervals, @times ], undef, 'zoned' ],
	[ 'interval(2)', \@intervals, undef, 'zoned' ],
	[ 'interval day to minute', \@intervals, undef, 'zoned' ],
	(map { [ $_, \@jsons ] } 'json', 'jsonb'),
	(map { [ $_, \@inets ] } 'inet', 'cidr', 'macaddr'),
	[ 'bytea', [ '\x', '\x00ff', '\x0', '\xzz', 'abc', '\\001', '\\400', '\\\\', 'é', '\x 0a' ] ],
	[ 'oid', \@ints ],
	[ 'money', [ @ints, '$1.50', '-$1,000.005', '($5)' ] ],
	[ 'bit(3)', [qw(101 10 1010 b101 x5 102)] ],
	[ 'varbit(5)', [qw(101 10101 101010 xf)] ],
	[ 'point', [ '(1,2)', '1,2', '(1,2', '(NaN,inf)', '(1e400,1)' ] ],
	[ 'int4[]', \@arrays ],
	[ 'text[]', \@arrays ],
	[ 'numeric[]', \@arrays ],
	[ 'timestamptz[]', \@arrays, undef, 'zoned' ],
	[ 'int4range', [ '[1,2]', '(1,2)', 'empty', '[2,1]', '(,)', '[1,2147483647]', '1,2' ] ],
	[ 'positive', \@ints, sub { pick('', '-') . digits(2) } ],
	[ 'required', \@texts, \&random_text ],
	[ 'short_code', [ '', 'ab', 'abc', 'abcd', 'abc ', 'a_', 'é' ], \&random_text ],
	[ 'mood', [ 'sad', 'ok', 'happy', 'Sad', 'sa', ' ok', '' ] ],
	[ 'pair', [ '(1,x)', '(1,)', '(,)', '(1)', '(1,x,2)', '("1","a,b")', '(a,b)' ] ],
	[ 'regclass', [ 'pg_class', '1259', 'no_such_table', '-', 'pg_catalog.pg_class', 'a.b.c.d' ] ]);

my @settings = (
	[ 'ISO, MDY', 'UTC', 'postgres', 1 ],
	[ 'German, DMY', 'America/New_York', 'sql_standard', 0 ],
	[ 'SQL, YMD', 'Asia/Kolkata', 'iso_8601', 3 ],
	[ 'Postgres, DMY', 'Australia/Lord_Howe', 'postgres_verbose', -5 ],
	[ 'ISO, YMD', '<+0530>-5:30', 'postgres', 1 ]);

# ---- spellings of one table ----

sub change
{
	my ($spelling, $known) = @_;

	for (1 .. pick(1, 1, 2, 3))
	{
		my $at = int(rand(1 + length $spelling));
		my $other = pick(@$known);
		my $character = chance(0.1) ? pick(@blanks, @letters) :
		  length $other ? substr($other, rand(length $other), 1) : 'x';
		my $kind = int(rand(8));

		if ($kind <= 1) { substr $spelling, $at, 0, $character }
		elsif ($kind == 2) { substr $spelling, $at, 1, '' if $at < length $spelling }
		elsif ($kind == 3) { substr $spelling, $at, 1, $character if $at < length $spelling }
		elsif ($kind == 4) { $spelling = pick(@blanks) . $spelling }
		elsif ($kind == 5) { $spelling .= pick(@blanks) }
		elsif ($kind == 6) { $spelling = substr($spelling, 0, $at) . substr($other, rand(length $other)) }
		else { $spelling = chance(0.5) ? uc $spelling : lc $spelling }
	}
	return $spelling;
}

sub spellings
{
	my ($known, $make, $wanted) = @_;
	my %seen;

	$seen{$_} = 1 for @$known, @blanks, '';
	for (1 .. 2 * $wanted)
	{
		my $spelling = $make && chance(0.6) ? $make->() : pick(@$known);

		$spelling = change($spelling, $known) if !$make || chance(0.4);
		$spelling = padded($spelling) if chance(0.2);
		$seen{$spelling} = 1;
		last if keys %seen >= $wanted;
	}
	delete $seen{$_} for grep { /\0/ } keys %seen;
	return sort keys %seen;
}

# a line of the file; what need not be quoted is so now and then
sub line
{
	my ($id, $spelling) = @_;

	return "$id," if !defined $spelling;
	return "$id,$spelling"
	  if $spelling ne '' && $spelling !~ /[,"\r\n]/ && chance(0.7);
	$spelling =~ s/"/""/g;
	return qq($id,"$spelling");
}

# ---- comparison ----

random_seed();
my $node = csv_server('values');
my $session = new_session($node);
my $path = PostgreSQL::Test::Utils::tempdir . '/spellings.csv';

$session->value(<<'SQL');
SET client_min_messages = error;
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE TYPE pair AS (a int, b text);
CREATE DOMAIN positive AS int CHECK (VALUE > 0);
CREATE DOMAIN required AS text NOT NULL;
CREATE DOMAIN short_code AS varchar(3) CHECK (VALUE ~ '^[a-z]*$');
CREATE TABLE spelled (id int, spelling text);

-- Make expect(text): the binary form of what the input function of a table's
-- column "value" makes of a text, or its message.
CREATE FUNCTION make_expect() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	attribute record;
	input text;
BEGIN
	SELECT t.oid, t.typtype, t.typelem, t.typinput::oid::regproc::text AS input, p.pronargs,
		t.typsend::oid::regproc::text AS send, atttypmod, format_type(atttypid, atttypmod) AS name,
		p.prorettype::regtype::text IN ('anyarray', '"any"', 'anyenum', 'record', 'anyrange') AS polymorphic
		INTO attribute
		FROM pg_attribute JOIN pg_type t ON t.oid = atttypid JOIN pg_proc p ON p.oid = t.typinput
		WHERE attrelid = 'found'::regclass AND attname = 'value';

	-- where the function cannot be called by name, an assignment calls it
	input := CASE WHEN attribute.typtype = 'c' THEN format('spelling::%s', attribute.name)
		WHEN attribute.polymorphic THEN 'spelling'
		WHEN attribute.pronargs = 1 THEN format('%s(spelling::cstring)', attribute.input)
		ELSE format('%s(spelling::cstring, %s, %s)', attribute.input,
			CASE WHEN attribute.typelem <> 0 THEN attribute.typelem ELSE attribute.oid END, attribute.atttypmod) END;
	EXECUTE format($f$
		CREATE OR REPLACE FUNCTION expect(spelling text) RETURNS text LANGUAGE plpgsql AS $b$
		BEGIN
			DECLARE
				value %s := %s;
			BEGIN
				RETURN coalesce('value ' || encode(%s(value), 'hex'), 'null');
			END;
		EXCEPTION WHEN OTHERS THEN
			RETURN CASE SQLSTATE WHEN '22001' THEN 'too long: ' ELSE 'refused: ' END || SQLERRM;
		END $b$ $f$,
		-- no typmod here: an assignment would apply it once more
		CASE WHEN attribute.polymorphic THEN attribute.name ELSE format_type(attribute.oid, -1) END,
		input, attribute.send);
	EXECUTE format($f$
		CREATE OR REPLACE VIEW result AS
		SELECT id, coalesce('value ' || encode(%s(value), 'hex'), 'null') AS outcome FROM found
		UNION ALL
		SELECT record::int, CASE error WHEN 'bad_value' THEN 'refused: ' ELSE error || ': ' END ||
			regexp_replace(message, '^column "value":? ', '') FROM csv_gpu_errors('found') $f$,
		attribute.send);
END $$;

-- what cannot be seen is escaped in messages
CREATE FUNCTION visible(message text) RETURNS text LANGUAGE sql AS $$
	SELECT CASE WHEN message ~ '[\u0001-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]' THEN
		(SELECT string_agg(CASE WHEN ascii(c) < 32 OR ascii(c) = 127 THEN '\x' || lpad(to_hex(ascii(c)), 2, '0')
			WHEN c ~ '[\u0080-\u009f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]' THEN '\u' || lpad(to_hex(ascii(c)), 4, '0')
			ELSE c END, '' ORDER BY n)
		FROM regexp_split_to_table(message, '') WITH ORDINALITY AS t (c, n)) ELSE message END
$$;

-- with a decimal comma, a point is wrong, and the message shows what was written
CREATE FUNCTION expect_comma(spelling text, type text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	refused text := format('refused: invalid input syntax for type %s: "%s"', type, spelling);
	outcome text;
BEGIN
	IF spelling LIKE '%.%' THEN
		RETURN refused;
	END IF;
	outcome := expect(replace(spelling, ',', '.'));
	RETURN CASE WHEN outcome LIKE 'refused: invalid input syntax%' THEN refused ELSE outcome END;
END $$;
SQL

my $nspellings = 0;
my $nrefused = 0;

# compare_type(TYPE, OPTIONS, LINES): what differs, as text
sub compare_type
{
	my ($type, $comma, $settings, @spellings) = @_;
	my $n = 0;
	my $expect = 'expect(spelling)';
	my $options = '';

	write_file($path, map { encode_utf8(line(++$n, $_) . "\n") } @spellings);
	if ($comma)
	{
		my $name = $type =~ /numeric/ ? 'numeric' : $type eq 'float4' ? 'real' : 'double precision';

		$options = ", decimal_separator ','";
		$expect = "expect_comma(spelling, '$name')";
	}
	$options .= ', chunk_size ' . literal(pick(1, 100, 5000)) if chance(0.3);

	# The messages of input functions quote the value; where it is long, ours is cut.
	# varchar(n) and char(n) have an error of their own.
	my ($counts, @differences) = split /^/m, $session->value(<<"SQL");
DROP FOREIGN TABLE IF EXISTS found CASCADE;
DROP TABLE IF EXISTS compared;
SET DateStyle = '$settings->[0]';
SET TimeZone = '$settings->[1]';
SET IntervalStyle = '$settings->[2]';
SET extra_float_digits = '$settings->[3]';
CREATE FOREIGN TABLE found (id int, value $type)
	SERVER csv OPTIONS (filename '$path', log_verbosity 'silent', encoding 'UTF8' $options);
TRUNCATE spelled;
COPY spelled FROM '$path' CSV ENCODING 'UTF8';
DO 'BEGIN PERFORM make_expect(); END';
CREATE TABLE compared AS SELECT *
	FROM (SELECT id, spelling, visible($expect) AS expected FROM spelled) s FULL JOIN result USING (id);
SELECT count(*), count(*) FILTER (WHERE outcome NOT LIKE 'value %') FROM compared;
SELECT format('%s of %L: %s, but %s', count(*) OVER (),
	left(spelling, 200), left(expected, 200), left(outcome, 200))
FROM compared
WHERE expected IS DISTINCT FROM outcome
	AND NOT (expected LIKE 'too long: value too long for type%' AND outcome LIKE 'too_many_chars: %')
	AND NOT (expected LIKE 'too long: %' AND outcome = 'refused: ' || substr(expected, 11))
	AND NOT (length(spelling) > 60 AND outcome LIKE 'refused: %'
		AND left(expected, 60) = left(outcome, 60) AND right(expected, 1) = right(outcome, 1))
LIMIT 10;
SQL
	$nspellings += $1, $nrefused += $2 if $counts =~ /(\d+)\|(\d+)/;
	return @differences;
}

my $end = time() + amount(1) - 1;

do
{
	for (@types)
	{
		my ($type, $known, $make, $zoned) = @$_;
		my @differences;

		for my $settings ($zoned ? @settings : pick(@settings))
		{
			my @spellings = spellings($known, $make, $spellings_a_table);

			# NULL is a matter of input functions that are not strict
			push @differences, compare_type($type, 0, $settings, @spellings, undef);
			next if $type !~ /numeric|float/ || $type =~ /\[/;
			tr/.,/,./ for @spellings;
			push @differences, compare_type($type, 1, $settings, @spellings);
		}
		is(join('', @differences), '', "$type as its input function");
	}
} while (time() < $end);

note("$nspellings spellings compared, $nrefused of them refused or NULL");
finish($session);
