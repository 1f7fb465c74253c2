# TableMaker.pm: files of tables, made at random, with the truth about each.
#
#	made_table(SEED, NUMBER)		a hash: content (bytes), suffix, truths (see
#						ImportTruth.pm: one of them holds), what (a line about it)
#
# The same seed and number give the same file.  A file is made only if a reader can know
# the truth: by the header, by other values of the column, or because its values have
# only one reading.  Where a value can be read in two ways (days below 13, 1.234 beside semicolons,
# years of two digits), the truth is: text, or told.
package TableMaker;

use strict;
use warnings;

use Encode ();
use Exporter 'import';

our @EXPORT = qw(made_table);

sub pick
{
	return $_[ rand @_ ];
}

sub chance
{
	return rand() < $_[0];
}

# a number of [from, to]
sub between
{
	return $_[0] + int(rand($_[1] - $_[0] + 1));
}

sub digits
{
	return join '', map { int rand 10 } 1 .. $_[0];
}

sub letters
{
	return join '', map { chr(ord('A') + rand 26) } 1 .. $_[0];
}

my @first = qw(Ann Bob Eve Kari Ola Jürgen José Zoë Søren Marie Renée Nils Åse Ida Max Björn Chloé Omar Lena Tom Ruth);
my @last = ("O'Neill", "D'Arcy", qw(Smith Müller García Hansen Dubois Rossi Åberg Brown Nuñez Jones Schmidt Lévy Berg Novak Silva));
my @town = ('New York', 'São Paulo', "King's Lynn", 'Århus', qw(Oslo Bergen Köln Malmö Leeds Paris Rome Wien Zürich Gent Bodø Porto Tours Bonn));
my @word = qw(red green blue small large steel wood glass apple pear plum fish salt open closed north south east west spring
  autumn road bridge river harbour engine valve pump filter sensor meter cable switch panel board paper cloth wool silk);
my @street = ('High St', 'Mill Lane', 'Rue du Lac', 'Storgata', 'Hauptstr.', 'Via Roma', 'Park Road', 'Calle Mayor');
my @product = qw(bolt nut rod lamp chair table hose clamp drill brush bucket ladder);
my @month = qw(Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec);
my @far = ("\xce\x91\xce\xb8\xce\xae\xce\xbd\xce\xb1", "\xd0\x9c\xd0\xbe\xd1\x81\xd0\xba\xd0\xb2\xd0\xb0", "\xe6\x9d\xb1\xe4\xba\xac", "\xe5\x8c\x97\xe4\xba\xac", "\xf0\x9f\x98\x80 ok");

sub sentence
{
	my $text = join ' ', map { pick(@word) } 1 .. between(3, 9);

	substr($text, index($text, ' '), 1) = ', ' if chance(0.4);
	$text =~ s/ (\w+)$/; $1/ if chance(0.15);
	return ucfirst($text) . pick('', '.', '.', '!', '?');
}

# a day as year, month, day; the days that the caller wants
sub day
{
	my ($from, $to) = @_;

	return (between($from // 1995, $to // 2025), between(1, 12), between(1, 28));
}

# ---- columns: each gives name words, kind, types, values ----

# Numbers with the file's decimal mark, which the file then needs.
sub decimal
{
	my ($file, $number) = @_;

	$number =~ s/\./,/ if $file->{decimal} eq ',';
	return $number;
}

sub grouped
{
	my ($number, $mark) = @_;

	1 while $number =~ s/^(-?\d+)(\d{3})/$1$mark$2/;
	return $number;
}

# Values of N rows; those that must be there are among the first six, which are never NULL.
sub values_of
{
	my ($n, $make, @sure) = @_;
	my @values = map { $make->($_) } 1 .. $n;

	my @places = sort { $a->[1] <=> $b->[1] } map { [ $_, rand ] } 0 .. ($n < 6 ? $n : 6) - 1;

	$values[ $places[$_][0] ] = ref $sure[$_] ? $sure[$_]->() : $sure[$_] for 0 .. $#sure;
	return \@values;
}

my %columns = (
	# numbers
	sequence => sub { my ($f, $n) = @_; my $i = between(0, 5000); return (int => [qw(id no row key nr)], [ map { $i++ } 1 .. $n ]) },
	integers => sub { my ($f, $n) = @_; my $m = pick(9, 100, 5000, 100000, 2000000000); return (int => [qw(count qty votes stock hits size)], values_of($n, sub { int rand $m })) },
	negative => sub { my ($f, $n) = @_; return (int => [qw(delta change level offset)], values_of($n, sub { between(-500, 500) }, -7, 12)) },
	bigints => sub { my ($f, $n) = @_; return (int => [qw(user_id bytes total_ns imei)], values_of($n, sub { between(1, 9) . digits(between(10, 16)) })) },
	years => sub { my ($f, $n) = @_; return (int => [qw(year built founded vintage)], values_of($n, sub { between(1950, 2024) })) },
	flags => sub { my ($f, $n) = @_; return (int => [qw(flag is_open paid used)], values_of($n, sub { int rand 2 }, 0, 1)) },
	decimals => sub { my ($f, $n) = @_; my $d = pick(1, 2, 2, 2, 4, 6); return (num => [qw(price amount temp weight lat rate)], values_of($n, sub { decimal($f, sprintf '%.*f', $d, rand(pick(10, 1000)) - 3) })) },
	mixed_decimals => sub { my ($f, $n) = @_; return (num => [qw(value reading score ratio)], values_of($n, sub { decimal($f, sprintf '%.*f', pick(0, 1, 2, 4, 5), rand(500)) }, sub { decimal($f, '17.25') }, sub { decimal($f, '0.5') })) },
	exponents => sub { my ($f, $n) = @_; return (num => [qw(p_value flux conc density)], values_of($n, sub { decimal($f, sprintf '%.*e', pick(1, 3, 6), (rand() + 0.01) * 10**between(-12, 12)) }, sub { decimal($f, '2.5e-05') })) },
	doubles => sub { my ($f, $n) = @_; return (num => [qw(mean sigma x y z coef)], values_of($n, sub { decimal($f, sprintf '%.17g', (rand() - 0.3) * pick(1, 10, 1000)) }, sub { decimal($f, '0.30000000000000004') })) },
	long_decimals => sub { my ($f, $n) = @_; return (num => [qw(exact share weight_exact)], values_of($n, sub { decimal($f, int(rand 100) . '.' . digits(22) . '1') }), types => [ 'numeric', 'text' ]) },
	thousands => sub {
		my ($f, $n) = @_;
		return if $f->{thousands} eq '';
		return (num => [qw(revenue turnover balance budget)], values_of($n, sub { my ($w, $d) = split /\./, sprintf '%.2f', rand(pick(900, 90000, 5000000)); grouped($w, $f->{thousands}) . ($f->{decimal}) . $d },
			'12' . $f->{thousands} . '345' . $f->{decimal} . '50', '999' . $f->{decimal} . '25'));
	},
	groups => sub {
		my ($f, $n) = @_;
		return if $f->{thousands} eq '' || $f->{thousands} eq ' ' && $f->{delimiter} eq ' ';
		return (int => [qw(population inhabitants visitors)], values_of($n, sub { grouped(between(1, pick(999, 99999, 9999999)), $f->{thousands}) }, grouped(between(1000000, 9999999), $f->{thousands}), grouped(between(10000000, 99999999), $f->{thousands}), between(100, 999)),
			types => [ 'integer', 'bigint', 'text' ]);
	},
	# the mark may be one of thousands, or of decimals
	one_group => sub {
		my ($f, $n) = @_;
		return if $f->{delimiter} eq ',';
		my $mark = pick('.', ',');
		return (text => [qw(amount pop sum)], values_of($n, sub { between(1, 99) . $mark . digits(3) }), types => [ 'text', 'integer?', 'bigint?', 'numeric?', 'double precision?' ],
			must_tell => $mark eq ',' || $f->{delimiter} eq ';', mark => $mark);
	},
	# numbers in other forms: these, or text and told
	minus => sub { my ($f, $n) = @_; return if $f->{encoding} =~ /^(LATIN1|WIN1252)$/; return (num => [qw(temp balance)], values_of($n, sub { (chance(0.4) ? "\xe2\x88\x92" : '') . decimal($f, sprintf '%.1f', rand 40) }, "\xe2\x88\x92" . decimal($f, '3.5')), types => [qw(numeric text?)]) },
	accounts => sub { my ($f, $n) = @_; my $s = pick('(%s)', '%s-'); return (num => [qw(amount result)], values_of($n, sub { sprintf chance(0.4) ? $s : '%s', decimal($f, sprintf '%.2f', rand 900) }, sprintf $s, decimal($f, '12.50')), types => [qw(numeric text?)]) },
	# truth values
	truth => sub { my ($f, $n) = @_; my $p = pick([ 'true', 'false' ], [ 'TRUE', 'FALSE' ], [ 'True', 'False' ], [ 'yes', 'no' ], [ 't', 'f' ], [ 'Y', 'N' ]); return (bool => [qw(active valid done member)], values_of($n, sub { pick(@$p) }, @$p)) },
	# dates
	iso_days => sub { my ($f, $n) = @_; return (date => [qw(date day birthday due_date)], values_of($n, sub { sprintf '%04d-%02d-%02d', day() })) },
	old_days => sub { my ($f, $n) = @_; return (date => [qw(birth founded_on signed_on)], values_of($n, sub { sprintf '%04d-%02d-%02d', day(1790, 1950) })) },
	ordered_days => sub { my ($f, $n) = @_; my $m = $f->{date_mark}; my $make = sub { my ($y, $m0, $d) = @_; $f->{order} eq 'MDY' ? sprintf("%02d$m%02d$m%04d", $m0, $d, $y) : sprintf("%02d$m%02d$m%04d", $d, $m0, $y) };
		return (date => [qw(date dato booked_on order_date)], values_of($n, sub { $make->(day()) }, sub { $make->(between(2000, 2024), between(1, 12), between(13, 28)) })) },
	low_days => sub { my ($f, $n) = @_; my $m = pick('/', '-'); return (text => [qw(day when)], values_of($n, sub { sprintf "%02d$m%02d$m%04d", between(1, 12), between(1, 12), between(2000, 2024) }), types => [ 'text', 'date?' ], must_tell => 1, low => 1) },
	short_years => sub { my ($f, $n) = @_; my $m = pick('/', '-', '.'); return (text => [qw(born birth)], values_of($n, sub { sprintf "%02d$m%02d$m%02d", between(1, 28), between(1, 12), between(32, 99) }, sub { sprintf "28${m}02${m}68" }), types => [ 'text', 'date?' ], must_tell => 1) },
	month_names => sub { my ($f, $n) = @_; my $m = pick('-', ' ', '-'); return (date => [qw(date opened closed)], values_of($n, sub { my ($y, $m0, $d) = day(); sprintf "%02d$m%s$m%04d", $d, $month[ $m0 - 1 ], $y })) },
	compact_days => sub { my ($f, $n) = @_; return (date => [qw(date dt report_date)], values_of($n, sub { sprintf '%04d%02d%02d', day(2000, 2024) }), types => [qw(date integer bigint)]) },
	day_like_ids => sub { my ($f, $n) = @_; my ($y, $m) = (between(2015, 2024), between(1, 12)); return (int => [qw(candidate_id update_no invalidated mandate)], [ map { sprintf '%04d%02d%02d', $y, $m, ($_ - 1) % 28 + 1 } 1 .. $n ], types => [qw(integer bigint date?)]) },
	timestamps => sub { my ($f, $n) = @_; my $t = pick(' ', 'T'); my $s = pick(sub { sprintf '%02d:%02d:%02d', int rand 24, int rand 60, int rand 60 }, sub { sprintf '%02d:%02d', int rand 24, int rand 60 }, sub { sprintf '%02d:%02d:%02d.%03d', int rand 24, int rand 60, int rand 60, int rand 1000 });
		return (ts => [qw(created_at timestamp logged updated)], values_of($n, sub { sprintf('%04d-%02d-%02d', day()) . $t . $s->() })) },
	instants => sub { my ($f, $n) = @_; my $z = pick('Z', '+00:00', '+02:00', '-05:00', '+0100', ' UTC', '+05:30'); my $t = $z eq ' UTC' ? ' ' : pick(' ', 'T');
		return (tstz => [qw(at seen_at event_time)], values_of($n, sub { sprintf('%04d-%02d-%02d', day()) . $t . sprintf('%02d:%02d:%02d', int rand 24, int rand 60, int rand 60) . $z })) },
	ordered_timestamps => sub { my ($f, $n) = @_; my $m = $f->{date_mark}; my $make = sub { my ($y, $m0, $d) = @_; ($f->{order} eq 'MDY' ? sprintf("%02d$m%02d$m%04d", $m0, $d, $y) : sprintf("%02d$m%02d$m%04d", $d, $m0, $y)) . sprintf(' %02d:%02d', int rand 24, int rand 60) };
		return (ts => [qw(time start stop)], values_of($n, sub { $make->(day()) }, sub { $make->(between(2000, 2024), between(1, 12), between(13, 28)) })) },
	times => sub { my ($f, $n) = @_; my $s = pick(8, 8, 5); return (time => [qw(time begin departure lap)], values_of($n, sub { substr sprintf('%02d:%02d:%02d', int rand 24, int rand 60, int rand 60), 0, $s }, substr('04:05:06', 0, $s))) },
	uuids => sub { my ($f, $n) = @_; return (uuid => [qw(uuid guid trace_id)], values_of($n, sub { my $h = join '', map { sprintf '%x', rand 16 } 1 .. 32; $h =~ s/^(.{8})(.{4})(.{4})(.{4})/$1-$2-$3-$4-/; $h }), types => [ 'uuid', 'text' ]) },
	# texts that look like numbers or dates
	zeros => sub { my ($f, $n) = @_; my $w = between(3, 8); return (text => [qw(code zip plu account)], values_of($n, sub { digits($w) }, sub { '0' . between(1, 9) . digits($w - 2) })) },
	part_codes => sub { my ($f, $n) = @_; my $e = pick('E', 'e'); return (text => [qw(part item_code cell hash)], values_of($n, sub { between(1, 99) . $e . between(0, pick(9, 40)) }), types => [ 'text', 'double precision?', 'numeric?' ], must_tell => 1) },
	versions => sub { my ($f, $n) = @_; return (text => [qw(version release build)], values_of($n, sub { join '.', between(0, 24), between(0, 12), between(0, 40) }, '10.0.1')) },
	long_versions => sub { my ($f, $n) = @_; return (text => [qw(version build)], values_of($n, sub { join '.', between(1, 9), 100 + int(rand 900), 100 + int(rand 900) })) },
	addresses => sub { my ($f, $n) = @_; my $wide = chance(0.3); return (text => [qw(ip host_ip client)], values_of($n, sub { join '.', map { $wide ? between(100, 255) : between(1, 255) } 1 .. 4 })) },
	phones => sub { my ($f, $n) = @_; my $s = pick(sub { digits(0) . between(2, 9) . digits(2) . ' ' . digits(3) . ' ' . digits(3) }, sub { '+47 ' . join ' ', map { digits(2) } 1 .. 4 }, sub { '0' . digits(9) }, sub { '(' . digits(3) . ') ' . digits(3) . '-' . digits(4) }, sub { join '-', between(2, 9) . digits(2), digits(3), digits(4) }, sub { join '.', between(2, 9) . digits(2), digits(3), digits(3) });
		return (text => [qw(phone tel mobile fax)], values_of($n, $s)) },
	register => sub { my ($f, $n) = @_; return (text => [qw(siren vat_no tax_no)], values_of($n, sub { join pick(' '), between(1, 9) . digits(2), digits(3), digits(3) })) },
	money => sub { my ($f, $n) = @_; my $s = pick('$', "\xc2\xa3"); $s = '$' if $f->{encoding} =~ /^(LATIN1|WIN1252)$/; return (text => [qw(price cost fee)], values_of($n, sub { $s . decimal($f, sprintf '%.2f', rand 500) })) },
	percents => sub { my ($f, $n) = @_; return (text => [qw(share growth pct)], values_of($n, sub { decimal($f, sprintf '%.1f', rand 100) . '%' })) },
	ranges => sub { my ($f, $n) = @_; return (text => [qw(range pages age_group)], values_of($n, sub { my $a = between(1, 90); "$a-" . ($a + between(1, 9)) }, '80-84')) },
	hexes => sub { my ($f, $n) = @_; my $w = pick(6, 8, 32); return (text => [qw(md5 sha1 digest commit)], values_of($n, sub { join '', map { sprintf '%x', rand 16 } 1 .. $w }, 'c' x $w)) },
	months => sub { my ($f, $n) = @_; my $q = chance(0.5); return (text => [qw(month period quarter)], values_of($n, sub { $q ? between(2000, 2024) . '-Q' . between(1, 4) : sprintf '%04d-%02d', between(2000, 2024), between(1, 12) })) },
	isbns => sub { my ($f, $n) = @_; return (text => [qw(isbn ean_text)], values_of($n, sub { '978-' . between(0, 9) . '-' . digits(4) . '-' . digits(4) . '-' . digits(1) })) },
	answers => sub { my ($f, $n) = @_; return (text => [qw(answer response remark)], values_of($n, sub { pick(pick(@word), pick(@word), between(1, 99), '') }, 'no idea', pick(@word))) },
	# lists: other delimiters inside
	lists => sub {
		my ($f, $n) = @_;
		return if !$f->{header};
		my $mark = pick(grep { $_ ne $f->{delimiter} && index($f->{delimiter}, $_) < 0 } ';', ';', '|', '|', ',', '~', '^', ' ', ' - ', '; ', ':');
		my $w = pick(0, 2, 2, 3, 4);
		my $item = pick(sub { int rand 100 }, sub { int rand 100 }, sub { pick(@word) }, sub { sprintf '%.1f', rand 90 }, sub { pick(qw(A C G T)) });
		# a blank beside digits is one of thousands for some, and a colon is one of times
		$item = sub { pick(@word) } if $mark eq ' ' || $mark eq ':' || $mark eq ',' || $mark eq ' - ';
		return (text => [qw(items tags pair ids alleles)], values_of($n, sub { join $mark, map { $item->() } 1 .. ($w || between(1, 5)) }, sub { join $mark, map { $item->() } 1 .. 3 + ($w || 2) - 3 }, sub { join $mark, 'x', 'y' }), list => $mark);
	},
	number_lists => sub {
		my ($f, $n) = @_;
		return if !$f->{header};
		my $mark = pick(grep { $_ ne $f->{delimiter} && index($f->{delimiter}, $_) < 0 } ';', '|', '~', '^');
		my $w = between(2, 4);
		my $item = pick(sub { int rand 100 }, sub { int rand 1000 }, sub { sprintf '%.1f', rand 90 });
		return (text => [qw(pair position rgb range)], values_of($n, sub { join $mark, map { $item->() } 1 .. $w }), list => $mark);
	},
	# texts
	words => sub { my ($f, $n) = @_; return (text => [qw(colour kind category status)], values_of($n, sub { pick(@word) })) },
	people => sub { my ($f, $n) = @_; return (text => [qw(name customer author contact)], values_of($n, sub { pick(@first) . ' ' . pick(@last) })) },
	reversed => sub { my ($f, $n) = @_; return (text => [qw(full_name employee)], values_of($n, sub { pick(@last) . ', ' . pick(@first) })) },
	towns => sub { my ($f, $n) = @_; return (text => [qw(town city place station)], values_of($n, sub { chance(0.05) && $f->{far} ? pick(@far) : pick(@town) })) },
	streets => sub { my ($f, $n) = @_; return (text => [qw(address street)], values_of($n, sub { pick(@street) . ' ' . between(1, 200) . (chance(0.6) ? ', ' . pick(@town) : '') })) },
	sentences => sub { my ($f, $n) = @_; return (text => [qw(comment note description text)], values_of($n, \&sentence)) },
	mails => sub { my ($f, $n) = @_; return (text => [qw(mail email)], values_of($n, sub { lc(pick(@word)) . between(1, 99) . '@' . pick('example.org', 'mail.example.com') })) },
	links => sub { my ($f, $n) = @_; return (text => [qw(url link source)], values_of($n, sub { 'https://example.org/' . pick(@word) . '?id=' . between(1, 999) . '&x=' . pick(@word) })) },
	paths => sub { my ($f, $n) = @_; return if $f->{escape}; return (text => [qw(path file)], values_of($n, sub { 'C:\\' . join('\\', map { pick(@word) } 1 .. 3) . '.txt' })) },
	objects => sub { my ($f, $n) = @_; return (text => [qw(payload json data)], values_of($n, sub { '{"' . pick(@word) . '": ' . int(rand 50) . ', "' . pick(@word) . '": "' . pick(@word) . '"}' })) },
	plates => sub { my ($f, $n) = @_; return (text => [qw(plate sample_id sku code1)], values_of($n, sub { letters(2) . pick(' ', '-', '') . digits(4) })) },
	sizes => sub { my ($f, $n) = @_; return (text => [qw(size screen)], values_of($n, sub { between(10, 50) . '"' })) },
	quoted_words => sub { my ($f, $n) = @_; return (text => [qw(title remark)], values_of($n, sub { chance(0.4) ? 'the "' . pick(@word) . '" ' . pick(@word) : pick(@word) . ' ' . pick(@word) }, 'a "so-called" thing')) },
	several_lines => sub {
		my ($f, $n) = @_;
		return (text => [qw(letter notes address_lines)], values_of($n, sub { join "\n", map { join ' ', map { pick(@word) } 1 .. between(1, 4) } 1 .. between(1, 3) }, "first line\nsecond line"));
	},
	empty => sub { my ($f, $n) = @_; return (text => [qw(unused reserved spare)], [ ('') x $n ]) });

# values of a few that come late, in tables of thousands of rows: until then, these are of another type
my %late = (
	text => sub { my ($n) = @_; my @v = map { int rand 5000 } 1 .. $n; $v[-1] = 'closed'; return (text => \@v) },
	letter => sub { my ($n) = @_; my @v = 1 .. $n; $v[ -between(1, 5) ] = '30B'; return (text => \@v) },
	zeros => sub { my ($n) = @_; my @v = map { between(1000, 9999) } 1 .. $n; $v[ -between(1, 5) ] = '0042'; return (text => \@v) },
	decimal => sub { my ($n, $f) = @_; my @v = map { int rand 5000 } 1 .. $n; $v[-1] = decimal($f, '17.25'); return (num => \@v) },
	bigint => sub { my ($n) = @_; my @v = map { int rand 5000 } 1 .. $n; $v[-1] = '5000000000'; return (int => \@v) },
	huge => sub { my ($n) = @_; my @v = map { int rand 5000 } 1 .. $n; $v[-1] = '123456789012345678901'; return (num => \@v) },
	day => sub { my ($n) = @_; my @v = map { sprintf '%04d-%02d-%02d', day() } 1 .. $n; $v[-1] = 'unknown'; return (text => \@v) },
	time => sub { my ($n) = @_; my @v = map { sprintf '%04d-%02d-%02d', day() } 1 .. $n; $v[-1] .= ' 10:30:00'; return (ts => \@v, types => [ 'timestamp', 'text' ]) },
	no_day => sub { my ($n) = @_; my @v = map { sprintf '%04d-%02d-%02d', day() } 1 .. $n; $v[-1] = '2023-02-30'; return (text => \@v) },
	order => sub { my ($n) = @_; my @v = map { sprintf '%02d/%02d/%04d', between(13, 28), between(1, 12), between(2000, 2024) } 1 .. $n; $v[-1] = '03/25/2024'; return (text => \@v) },
	truth => sub { my ($n) = @_; my @v = map { pick('true', 'false') } 1 .. $n; $v[-1] = 'perhaps'; return (text => \@v) },
	exponent => sub { my ($n, $f) = @_; my @v = map { decimal($f, sprintf '%.2f', rand 50) } 1 .. $n; $v[-1] = decimal($f, '1.5e-07'); return (num => \@v) });

my @usual = (qw(sequence) x 3, qw(integers decimals iso_days words people towns sentences timestamps) x 2, qw(reversed streets lists number_lists zeros plates truth ordered_days thousands) x 2,
	grep { !/^(sequence|minus|accounts|empty|one_group|low_days|short_years)$/ } sort keys %columns);
my @rare = qw(minus accounts empty one_group low_days short_years);

# ---- names ----

sub header_name
{
	my ($style, $stem, $file) = @_;
	my @words = split /_/, $stem;

	return join ' ', map { ucfirst } @words if $style eq 'title';
	return uc $stem if $style eq 'capitals';
	return lc($words[0]) . join '', map { ucfirst } @words[ 1 .. $#words ] if $style eq 'camel';
	return ucfirst(join ' ', @words) . pick('', '', ' (' . pick('kg', 'm', 'NOK', 'mm') . ')', ' [' . pick('C', '%') . ']') if $style eq 'units';
	return pick("m\xc3\xa5l", "gr\xc3\xb6\xc3\x9fe", "ann\xc3\xa9e", "\xc3\xa5r") . '_' . $stem if $style eq 'letters';
	return "$words[0]$file->{delimiter} $stem" if $style eq 'delimiters';
	return pick("1st $stem", "$stem 2", 'select', 'user', 'end', $stem, "$stem, total", "the $file->{quote}$stem$file->{quote}", "$stem\n(unit)", "$stem/$stem", 'v' x 70) if $style eq 'odd';
	return $stem;
}

# ---- the file ----

my %style_of = (
	minimal => sub { my ($v, $f) = @_; return $v =~ /$f->{special}/ },
	all => sub { 1 },
	texts => sub { my ($v, $f, $c) = @_; return $v =~ /$f->{special}/ || $c->{kind} !~ /^(int|num)$/ });

sub field
{
	my ($value, $file, $column) = @_;

	return $value if $file->{style} eq 'none' || !$style_of{ $file->{style} }->($value, $file, $column);
	my $q = $file->{quote};

	if ($file->{escape})
	{
		$value =~ s/([\\$q])/\\$1/g;
	}
	else
	{
		$value =~ s/$q/$q$q/g;
	}
	return "$q$value$q";
}

# bytes that unquoted values may not have
sub without_special
{
	my ($value, $file) = @_;

	$value =~ s/\Q$file->{delimiter}\E/ /g;
	$value =~ s/[\r\n]+/ /g;
	$value =~ s/["]//g;
	$value =~ s/  +/ /g;
	$value =~ s/^ | $//g;
	$value =~ s/^'//;
	return $value;
}

# as COPY writes it as text
sub copied
{
	my ($value) = @_;
	my %letter = ("\\" => '\\', "\t" => 't', "\n" => 'n', "\r" => 'r');

	return '\\N' if $value eq '';
	$value =~ s/([\\\t\n\r])/\\$letter{$1}/g;
	return $value;
}

sub made_table
{
	my ($seed, $number) = @_;

	srand(($seed * 1000003 + $number * 7919 + 12345) % 2147483647);
	rand() for 1 .. 3;
	my %f = (
		delimiter => pick((',') x 9, (';') x 5, ("\t") x 4, ('|') x 2, pick('^', '~', '||', '::', '|~|', '||')),
		decimal => '.',
		thousands => '',
		order => pick('DMY', 'DMY', 'MDY'),
		date_mark => pick('/', '.', '-', '/'),
		quote => '"',
		style => pick((qw(minimal)) x 6, qw(all all texts none none)),
		header => !chance(0.12),
		encoding => pick(('UTF8') x 12, 'BOM', 'BOM', 'LATIN1', 'LATIN1', 'WIN1252', 'UTF16LE', 'UTF16BE'),
		end => pick(("\n") x 30, ("\r\n") x 9, "\r\r\n", "\r"));
	my $late = chance(0.015);
	my $rows = $late ? between(2000, 2600) : int(3 + exp(rand(5.0)));
	my $ncolumns = $late ? between(2, 4) : 1 + int(rand(pick(4, 8, 16)));

	($ncolumns, $rows) = (between(40, 150), between(4, 20)) if !$late && chance(0.005);
	$ncolumns = 2 + int rand 4 if $ncolumns == 1 && chance(0.6);
	$f{order} = 'DMY' if $f{date_mark} eq '.';
	$f{far} = $f{encoding} =~ /^UTF|BOM/;
	# one column of decimal commas is two of integers for many
	if ($ncolumns == 1 ? 0 : $f{delimiter} eq ';' ? chance(0.7) : $f{delimiter} eq ',' ? 0 : chance(0.2))
	{
		$f{decimal} = ',';
		$f{thousands} = pick('', '', '.', ' ');
	}
	else
	{
		# a comma beside commas needs quotes
		$f{thousands} = pick('', '', ',', $f{delimiter} eq ',' ? () : "'");
		$f{thousands} = '' if $f{thousands} eq ',' && $f{style} eq 'none' && $f{delimiter} eq ',';
	}
	# apostrophes quote, or backslashes escape: the file shows that
	if (chance(0.05) && $ncolumns > 1)
	{
		$f{quote} = "'";
		$f{style} = pick('all', 'texts');
		$f{thousands} = '' if $f{thousands} eq "'";
		$f{escape} = '\\' if chance(0.4);
	}
	elsif (chance(0.05) && $ncolumns > 1)
	{
		$f{escape} = '\\';
		$f{style} = pick('minimal', 'all', 'texts');
	}
	# blanks behind delimiters; COPY's text format; no quoting, but values that begin with a quote
	$f{pad} = pick(' ', ' ', "\t") if $ncolumns > 1 && $f{delimiter} =~ /^[,;|]$/ && $f{style} ne 'none' && chance(0.03);
	@f{qw(copy delimiter style decimal thousands quote escape encoding end)} = (1, "\t", 'none', '.', '', '"', undef, 'UTF8', "\n") if $ncolumns > 1 && !$late && chance(0.01);
	$f{pad} = ' ' if $f{copy} && defined $f{pad};
	my $stray = $f{style} eq 'none' && !$f{copy} && $ncolumns > 1 && $rows > 20 && chance(0.15);

	$f{special} = qr/\Q$f{delimiter}\E|$f{quote}|[\r\n]|^\s|\s$/;

	# columns
	my (@columns, @values, %used);
	my $wide = $f{header} && !$late && chance(0.04);

	$ncolumns = between(4, 14) if $wide;
	my $year = between(1960, 2010);
	my $measure = pick(qw(integers negative decimals mixed_decimals));

	while (@columns < $ncolumns)
	{
		my $family = $wide ? (@columns ? $measure : 'towns') : chance(0.03) ? pick(@rare) : pick(@usual);

		$family = 'late' if $late && @columns == 1;
		$family = pick(qw(integers sequence iso_days decimals)) if !$f{header} && !@columns && $family ne 'late';
		# one column: no empty value, and no delimiter that splits it
		next if $ncolumns == 1 && $family =~ /^(lists|number_lists|empty|reversed|streets|sentences|objects|links|thousands|register|phones|several_lines|quoted_words|sizes|answers|paths|ordered_timestamps|timestamps|money|percents|people|towns)$/;
		next if $f{style} eq 'none' && $family =~ /^(several_lines|sizes|quoted_words|objects)$/;
		my ($kind, $stems, $values, %more);

		if ($family eq 'late')
		{
			$family = pick(sort keys %late);
			($kind, $values, %more) = $late{$family}->($rows, \%f);
			$family = "late $family";
			$stems = [qw(value n code)];
		}
		else
		{
			($kind, $stems, $values, %more) = $columns{$family}->(\%f, $rows) or next;
		}
		next if !defined $kind;
		# only one column of days below 13, and none beside days of a known order
		next if $more{low} && grep { $_->{family} =~ /^(ordered|low)/ } @columns;
		next if $family =~ /^ordered/ && grep { $_->{family} =~ /^low/ } @columns;
		my %column = (kind => $kind, family => $family, %more);
		my $stem = pick(@$stems);

		$column{stem} = $used{$stem}++ ? $stem . '_' . ($used{$stem} + 1) : $stem;
		$column{stem} = $year++ if $wide && @columns;
		push @columns, \%column;
		push @values, $values;
	}

	# other columns may tell which
	my $marked = grep { $_->{family} =~ /^(decimals|mixed_decimals|exponents|doubles|long_decimals|thousands|groups|money|percents|minus|accounts|late (decimal|exponent))$/ } @columns;

	for my $c (grep { $_->{family} eq 'one_group' && ($marked || !$_->{must_tell}) } @columns)
	{
		@$c{qw(kind types must_tell)} = ($marked ? 'any' : 'num', [ 'text', 'integer', 'bigint', 'numeric', 'double precision' ], 0);
	}

	# nothing there: empty, or a word
	my $word = pick('', '', 'NA', 'N/A', 'n/a', 'NULL', 'null', 'None', '-');
	my $always = $f{quote} eq '"' && !$f{escape};

	for my $i (0 .. $#columns)
	{
		my $c = $columns[$i];

		next if $ncolumns == 1 || $i == 0 || $rows < 6 || $c->{family} =~ /^late|empty/ || !chance(0.3);
		my $null = $c->{kind} eq 'text' ? '' : $word;
		my $share = pick(0.02, 0.1, 0.3);

		# the first six show what the column is
		$values[$i][$_] = $null for grep { chance($share) } 6 .. $rows - 1;
	}
	if ($f{copy})
	{
		$_->[ rand @$_ ] = '' for $values[-1];
	}
	elsif ($f{style} eq 'none')
	{
		for my $v (@values)
		{
			$_ = without_special($_, \%f) for @$v;
		}
	}
	if ($f{escape} || $f{quote} eq "'")
	{
		# a value that shows it, in a column of texts
		my ($i) = grep { $columns[$_]{family} =~ /^(words|people|towns|sentences|reversed|streets|quoted_words)$/ } 0 .. $#columns;

		if (!defined $i)
		{
			push @columns, { kind => 'text', family => 'words', stem => 'label' };
			push @values, [ map { pick(@word) } 1 .. $rows ];
			$i = $#columns;
		}
		$values[$i][$_] = "it $f{quote}so$f{quote}$f{delimiter} then" for 0, map { int rand $rows } 1 .. 1 + $rows / 10;
	}
	# quotes that are data
	if ($stray)
	{
		push @columns, { kind => 'text', family => 'stray quotes', stem => 'label' };
		push @values, [ map { pick(@word) . ' ' . pick(@word) } 1 .. $rows ];
		$values[-1][ rand $rows ] =~ s/^/"/ for 1 .. between(1, 2);
		$values[-1][ rand $rows ] =~ s/$/"/ if chance(0.5);
	}
	# in Latin-1, there are letters that show it
	if ($f{encoding} =~ /^(LATIN1|WIN1252)$/)
	{
		push @columns, { kind => 'text', family => 'towns', stem => 'region' };
		push @values, [ map { pick("K\xc3\xb6ln", "Malm\xc3\xb6", "Bod\xc3\xb8", "Z\xc3\xbcrich", "Gen\xc3\xa8ve", $f{encoding} eq 'WIN1252' ? "\xe2\x80\x9cK\xc3\xb6ln\xe2\x80\x9d" : ()) } 1 .. $rows ];
	}
	# a delimiter at the end of all lines
	if (@columns > 1 && $f{header} && chance(0.02))
	{
		push @columns, { kind => 'text', family => 'end', stem => '' };
		push @values, [ ('') x $rows ];
	}
	# a record without any value, perhaps right below the names
	if (@columns > 1 && $f{header} && !$late && chance(0.03))
	{
		my $n = pick(0, 0, int rand $rows);

		$_->[$n] = '' for @values;
	}
	# without a header, some column must show that
	my $typed = grep { $_->{kind} ne 'text' } @columns;

	# lines
	my $style = !$typed ? pick('plain', 'title', 'camel') : pick((qw(plain)) x 3, qw(title title capitals camel units), $f{encoding} =~ /^(LATIN1|WIN1252)$/ ? 'plain' : 'letters', $f{style} eq 'none' || length $f{delimiter} > 1 ? 'plain' : pick('delimiters', 'odd'));
	my @names = map { $_->{stem} eq '' ? '' : $wide ? $_->{stem} : header_name($style, $_->{stem}, \%f) } @columns;
	my (@above, $comments);
	my $d = $f{delimiter};
	my $width = @columns;

	if ($width >= 3 && $rows >= 4 && $typed && chance(0.2))
	{
		my $plain = sub { my ($t) = @_; $t =~ s/\Q$d\E/ /g; $t =~ s/["']//g; $t };
		my $pick = pick(qw(title notes pairs padded comments blank));

		@above = ($plain->(ucfirst(pick(@word)) . ' of ' . pick(@town) . pick('', ', 2024')), '') if $pick eq 'title';
		@above = ((map { $plain->(sentence()) } 1 .. between(1, 5)), chance(0.5) ? '' : ()) if $pick eq 'notes';
		@above = ((map { $plain->("$_: " . pick(@word)) } (qw(Station Operator Instrument Period))[ 0 .. between(1, 3) ]), '') if $pick eq 'pairs';
		@above = ($plain->('List of ' . pick(@word) . 's') . $d x ($width - 1), $d x ($width - 1)) if $pick eq 'padded';
		@above = map { $comments = 1; '# ' . $plain->(sentence()) } 1 .. between(1, 3) if $pick eq 'comments';
		@above = ('') x between(1, 2) if $pick eq 'blank';
		@above = ("sep=$d") if $pick eq 'blank' && length $d == 1 && chance(0.3);
	}
	my @lines = @above;
	my $quoted_names = $f{style} =~ /^(all|texts)$/;

	my $between = $d . ($f{pad} // '');

	# as R writes it, without a name for the names of rows
	my $short = $f{header} && $width >= 3 && $typed && $columns[0]{kind} ne 'date' && !@above && !$wide && chance(0.006);

	$names[0] = '' if $short;
	push @lines, join $between, map { my $v = $_; $quoted_names ? field($v, \%f, { kind => 'text' }) : $v =~ /$f{special}/ ? field($v, { %f, style => 'minimal' }, {}) : $v } @names[ ($short ? 1 : 0) .. $#names ] if $f{header};
	my $ragged = $width >= 3 && $rows > 20 && $f{header} && !@above && chance(0.02) ? between(8, $rows - 2) : -1;
	my $blank = $width >= 2 && $rows > 8 && chance(0.02) ? between(5, $rows - 2) : -1;

	for my $n (0 .. $rows - 1)
	{
		push @lines, join $between, map { $f{copy} ? copied($values[$_][$n]) : field($values[$_][$n], \%f, $columns[$_]) } 0 .. $#columns;
		push @lines, '' if $n == $blank;
		push @lines, join $d, 'bad', 'record' if $n == $ragged;
	}
	if ($width >= 3 && $rows >= 6 && $typed && chance(0.05))
	{
		push @lines, '', pick('Source: office of statistics', 'Note: figures are estimates', 'Source: own count');
	}
	my $content = join($f{end}, @lines) . (chance(0.08) ? '' : $f{end});

	# line breaks inside values stay LF
	if ($f{encoding} eq 'BOM')
	{
		$content = "\xef\xbb\xbf$content";
	}
	elsif ($f{encoding} ne 'UTF8')
	{
		my $characters = Encode::decode('UTF-8', $content);

		$content = $f{encoding} eq 'LATIN1' ? Encode::encode('iso-8859-1', $characters) : $f{encoding} eq 'WIN1252' ? Encode::encode('cp1252', $characters) : Encode::encode($f{encoding} eq 'UTF16LE' ? 'UTF-16LE' : 'UTF-16BE', "\x{feff}$characters");
	}
	# words above words: the first record may be names or data
	my $open = $f{header} && !grep { $_->{family} !~ /^(words|people|reversed|towns|sentences|answers|quoted_words|several_lines|empty|end|lists)$/ } @columns;
	my @rows = map { my $n = $_; [ map { $_->[$n] } @values ] } 0 .. $rows - 1;

	my $truth = {
		delimiter => $d,
		header_rows => $comments ? undef : @above + ($f{header} ? 1 : 0),
		encoding => $f{encoding},
		decimal => $f{decimal},
		thousands => $f{thousands},
		order => $f{order},
		lost => $stray ? $rows : 0,
		header_told => $short,
		$f{copy} ? (format => 'text') : (),
		nulls => { map { ($_ => 1) } $word, '' },
		columns => [ map { my ($c, $name) = ($columns[$_], $names[$_]); { kind => $c->{kind}, family => $c->{family}, $c->{types} ? (types => $c->{types}) : (), must_tell => $c->{must_tell}, $f{header} ? (header => $name) : () } } 0 .. $#columns ],
		rows => \@rows };

	return {
		content => $content,
		suffix => $d eq "\t" && chance(0.5) ? 'tsv' : 'csv',
		what => sprintf('%s, quote %s (%s%s), %s, %s%s%s%s; %s', $d eq "\t" ? 'tab' : $d, $f{quote}, $f{style}, $f{escape} ? ', backslashes' : '', $f{encoding}, $f{header} ? "header $style" : 'no header',
			@above ? ', ' . scalar(@above) . ' above' : '', $ragged >= 0 ? ', ragged' : '', join('', $wide ? ', wide' : '', $short ? ', first name missing' : '', $f{copy} ? ', COPY' : '', $f{pad} ? ', blanks' : '', $f{end} =~ /^\r\r|^\r$/ ? ', odd line ends' : ''), join ' ', map { $_->{family} } @columns),
		truths => [ $truth, $open ? { %$truth, header_rows => $comments ? undef : scalar @above, columns => [ map { { %$_, header => undef } } @{ $truth->{columns} } ], rows => [ \@names, @rows ] } : () ] };
}

1;
