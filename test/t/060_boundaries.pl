# Files whose lines end in CR, with a LF or CR LF somewhere: at the end, behind the header, in
# the middle, in several places.  A second reading, for which any break outside quotes ends a
# record, says how many good records a file has.  A scan must return as many, or tell.
use lib 'test/t';
use CsvServer;
use JSON::PP qw(decode_json);

my $seed = random_seed();
my $dir = new_folder();
my $path = "$dir/t.csv";
my $node = csv_server('boundaries');
my @kinds = qw(none end header middle several);
my $nfiles = 400;
my $most_fields = 4;
my (%count, @wrong);

my $session = new_session($node);
$session->value('SET csv_gpu_fdw.engine = ' . engine());
for my $n (1 .. $most_fields)
{
	my $columns = join ', ', map { "c$_ text" } 1 .. $n;

	$session->value("CREATE FOREIGN TABLE t$n ($columns) SERVER csv OPTIONS (filename '$path', header 'false', record_boundary 'auto', ragged 'skip')");
}

# a field, with breaks only in quotes
sub field
{
	return '"' . join('', map { pick('a', ',', "\r", "\n", "\r\n", '""') } 0 .. rand 4) . '"' if chance(0.2);
	return join '', map { pick('a' .. 'h') } 0 .. 1 + rand 3;
}

sub make_file
{
	my ($kind, $n, $header, $nrows) = @_;
	my @lines = map { join ',', map { field() } 1 .. $n } 1 .. $nrows + $header;
	my @breaks = ("\r") x @lines;
	my $lf = pick("\n", "\r\n");
	my $last = $#breaks;

	$breaks[$last] = '' if chance(0.5);
	$breaks[$last] = $lf if $kind eq 'end' || ($kind eq 'several' && chance(0.5));
	$breaks[0] = $lf if $kind eq 'header';
	$breaks[ 1 + rand($last - 1) ] = $lf if $kind eq 'middle';
	$breaks[ 1 + rand($last - 1) ] = $lf for 1 .. ($kind eq 'several' ? 2 + rand 2 : 0);
	$breaks[0] = "\r" if $kind eq 'several' && chance(0.8);
	# as data, a LF behind a CR
	$breaks[$last] = "\r\n" if $kind eq 'end' && chance(0.3);
	return join '', map { $lines[$_] . $breaks[$_] } 0 .. $last;
}

# the values of the records, where this pattern ends them
sub read_independently
{
	my ($bytes, $break) = @_;
	my @records = ([]);

	while ($bytes !~ /\G\z/gc)
	{
		if ($bytes =~ /\G"((?:[^"]|"")*)"/gc)
		{
			push @{$records[-1]}, $1 =~ s/""/"/gr;
		}
		else
		{
			$bytes =~ /\G((?:(?!$break)[^,"])*)/gc;
			push @{$records[-1]}, $1;
		}
		next if $bytes =~ /\G,/gc;
		push @records, [] if $bytes =~ /\G$break/gc;
	}
	return grep { @$_ > 0 && !(@$_ == 1 && $_->[0] eq '') } @records;
}

# what a scan returns, and whether it tells of something
sub scan
{
	my ($n, %options) = @_;
	my $set = join ', ', map { "SET $_ '$options{$_}'" } sort keys %options;
	my ($out, $err) = $session->query("ALTER FOREIGN TABLE t$n OPTIONS ($set);\n"
		  . "SELECT coalesce(json_agg(ARRAY[" . join(', ', map { "c$_" } 1 .. $n) . "]), '[]') FROM t$n");

	die "$err\n" if $err =~ /ERROR/;
	return (decode_json($out), $err =~ /skipped record|that end no records/ ? 1 : 0);
}

# all, or those behind the line that the header has at least
sub letters
{
	my ($header, $bytes) = @_;

	$bytes =~ s/^[^\n]*(?:\n|\z)// if $header;
	return $bytes =~ tr/a-h//;
}

sub show
{
	return join ' ', map { s/\r/<CR>/gr =~ s/\n/<LF>/gr } @_;
}

for my $i (1 .. $nfiles)
{
	my $kind = $kinds[ $i % @kinds ];
	my $n = 1 + int(rand $most_fields);
	my $header = chance(0.6) ? 1 : 0;
	my $bytes = make_file($kind, $n, $header, 2 + int(rand 7));

	write_file($path, $bytes);
	for my $boundary (qw(auto cr lf crlf))
	{
		my ($rows, $tells) = scan($n, header => $header ? 'true' : 'false', record_boundary => $boundary);
		# with another word of the user, CRs in the only field are data
		my $break = $n > 1 || $boundary =~ /auto|cr$/ ? qr/\r\n|\r|\n/ : $boundary eq 'lf' ? qr/\n/ : qr/\r\n/;
		my @right = read_independently($bytes, $break);
		my $good = grep { @$_ == $n } @right[ $header .. $#right ];
		my $same = "@{[ map { show(@$_) } @$rows ]}" eq "@{[ map { show(@$_) } @right[ $header .. $#right ] ]}";

		$count{"$boundary: " . ($same ? 'right' : $tells ? 'told' : 'silent')}++;
		# for these words, lines may by chance make records of as many fields: no letter is lost
		my $joined = $boundary =~ /lf$/ && join('', map { @$_ } @$rows) =~ tr/a-h// >= letters($header, $bytes);

		push @wrong, "$kind $boundary, $n fields, header $header: " . @$rows . " rows of $good: " . show($bytes)
		  if @$rows < $good && !$tells && !$joined;
		# breaks at the end, and behind the header of several fields, leave no doubt
		push @wrong, "$kind $boundary, $n fields, header $header: not right: " . show($bytes)
		  if !$same && $boundary eq 'auto' && ($kind =~ /none|end/ || ($kind eq 'header' && $header && $n > 1 && @right > 3));
		push @wrong, "$kind $boundary: not right: " . show($bytes)
		  if !$same && $boundary eq 'cr' && $kind =~ /none|end/;
	}
}
is(join("\n", @wrong), '', "no row of $nfiles files is lost in silence") or diag("SEED=$seed");
note("$_ $count{$_}") for sort keys %count;

finish($session);
