# Files whose values have other delimiters in them: tables between tabs with lists that end
# with commas, semicolons or bars, as genome browsers write them; files of "$", "^", "~" and
# "|"; logs that name their fields in a comment; and files of commas with all of these in
# values.  The makers know the tables that they write.  Where the delimiter splits header and
# records alike, IMPORT FOREIGN SCHEMA must take it; no other file may be read wrongly
# without a NOTICE.
#
# EFFORT=N makes more files of each maker, SEED=N others, CSV_GPU_FDW_KIND=WORD only those of makers whose name has the word.
use lib 'test/t';
use CsvServer;
use File::Path qw(remove_tree);
use ImportTruth;

my $nfiles = amount(80);
my $seed = $ENV{SEED} || 1;
my $node = csv_server('delimiters', max_locks_per_transaction => 256);
my $dir = new_folder();
my %nulls = map { ($_ => 1) } '', '-', '.', 'NA', 'NULL', '(empty)';
my @words = qw(alpha beta gamma delta kinase receptor binding channel unknown protein factor domain repeat zinc ring);

note("SEED=$seed");

sub text
{
	return join ' ', map { pick(@words) } 1 .. between(1, 4);
}

# a list, with its mark at the end or without
sub list
{
	my ($mark, $end, $n) = @_;

	return join($mark, map { between(1, 90000) } 1 .. $n) . ($end ? $mark : '');
}

sub record_count
{
	return chance(0.4) ? between(1, 8) : chance(0.8) ? between(9, 80) : between(300, 1300);
}

# A column is [name, kind, function that gives a value of record N].
sub chromosome { return [ $_[0], 'text', sub { 'chr' . pick(1 .. 22, 'X') } ] }
sub number { my ($name, $from, $to) = @_; return [ $name, 'int', sub { between($from, $to) } ] }
sub serial { my ($name, $by) = @_; return [ $name, 'int', sub { 100 + $_[0] * $by } ] }
sub gene { return [ $_[0], 'text', sub { "g$_[0]." . between(1, 9) } ] }
sub strand { return [ $_[0], 'text', sub { pick('+', '-') } ] }
sub words { return [ $_[0], 'text', \&text ] }

sub lists
{
	my ($name, $mark, $end, $n) = @_;

	# two numbers with a comma between are a number with a decimal comma
	$n = 3 if !$end && $mark eq ',' && ($n // 0) < 3;
	return [ $name, 'list', sub { list($mark, $end, $n // between(1, 9)) } ];
}

# A file of columns: "above" are lines above the names, "names" is what stands before them (undef:
# there are none), "below" lines at the end; a "log" has names above.
sub table
{
	my ($delimiter, $columns, %how) = @_;
	my $break = chance(0.25) ? "\r\n" : "\n";
	my $names = defined $how{names} || $how{log};
	my @rows = map { my $n = $_; [ map { $_->[2]->($n) } @$columns ] } 1 .. $how{n} // record_count();
	my @lines = (@{ $how{above} // [] }, defined $how{names} ? $how{names} . join($delimiter, map { $_->[0] } @$columns) : ());
	my $quoted = $how{quoted} // 0;

	$lines[-1] = join $delimiter, map { "\"$_\"" } split /\Q$delimiter\E/, $lines[-1] if $quoted && defined $how{names} && $how{names} eq '';
	push @lines, map {
		join $delimiter, map { index($_, $delimiter) >= 0 || chance($quoted / 100) && /\D/ ? '"' . s/"/""/gr . '"' : $_ } @$_
	} @rows;
	return {
		content => join($break, @lines, @{ $how{below} // [] }) . (chance(0.9) ? $break : ''),
		header => $names,
		truth => {
			delimiter => $delimiter,
			nulls => \%nulls,
			rows => \@rows,
			columns => [ map { { kind => $_->[1] eq 'list' ? 'text' : $_->[1], header => $names ? $_->[0] : '',
					# one number that a mark ends, or two beside a decimal comma
					$_->[1] eq 'list' ? (types => [ 'text', 'numeric?', 'integer?' ]) : $_->[1] eq 'text' ? (types => [ 'text', 'boolean' ]) : () } } @$columns ]
		}
	};
}

sub coordinates
{
	return (chromosome($_[0] // 'chrom'), serial('start', 100), serial('end', 130));
}

my %made;

%made = (
	# ---- tabs ----

	gtf => sub {
		my $attributes = sub { my $n = $_[0]; join ' ', map { "$_;" } "gene_id \"ENSG$n\"", "transcript_id \"T$n.1\"", map { $_ . ' "' . between(1, 9) . '"' } grep { chance(0.5) } qw(exon_number gene_name oId class_code tss_id) };

		return table("\t", [ chromosome('seqname'), [ 'source', 'text', sub { pick(qw(Cufflinks HAVANA)) } ], [ 'feature', 'text', sub { pick(qw(exon CDS)) } ], serial('start', 50), serial('end', 70), [ 'score', 'text', sub { '.' } ], strand('strand'), [ 'frame', 'text', sub { pick('.', 0, 1, 2) } ], [ 'attributes', 'text', $attributes ] ],
			above => chance(0.3) ? [ '#!genome-build GRCh38', '#!genome-version GRCh38' ] : []);
	},
	gff3 => sub {
		return table("\t", [ chromosome('seqid'), words('source'), [ 'type', 'text', sub { pick(qw(gene mRNA exon)) } ], serial('start', 50), serial('end', 70), [ 'score', 'text', sub { '.' } ], strand('strand'), [ 'phase', 'text', sub { '.' } ], [ 'attributes', 'text', sub { "ID=g$_[0];Name=" . pick(@words) . (chance(0.5) ? ';Alias=a,b' : '') . ';' } ] ],
			above => ['##gff-version 3']);
	},
	bed12 => sub {
		my $n = chance(0.5) ? between(1, 4) : undef;

		return table("\t", [ coordinates(), gene('name'), number('score', 0, 1000), strand('strand'), serial('thickStart', 100), serial('thickEnd', 130), [ 'itemRgb', 'text', sub { pick('0', '255,0,0') } ], number('blockCount', 1, 9), lists('blockSizes', ',', 1, $n), lists('blockStarts', ',', 1, $n) ],
			names => pick(undef, '#', ''));
	},
	bed => sub {
		my $n = chance(0.5) ? between(1, 4) : undef;

		return table("\t", [ coordinates(pick('chrom', 'chr')), gene('name'), lists('sizes', pick(',', ';', '|'), 1, $n) ], names => pick('', '', '#', undef));
	},
	'known genes' => sub {
		my $n = chance(0.5) ? between(2, 5) : undef;

		return table("\t", [ gene('name'), chromosome('chrom'), strand('strand'), serial('txStart', 90), serial('txEnd', 95), serial('cdsStart', 91), serial('cdsEnd', 94), number('exonCount', 1, 20), lists('exonStarts', ',', 1, $n), lists('exonEnds', ',', 1, $n), [ 'proteinID', 'text', sub { chance(0.7) ? "Q$_[0]X" : '' } ], [ 'alignID', 'text', sub { "uc$_[0]aaa.1" } ] ],
			names => pick(undef, '#', ''));
	},
	variants => sub {
		my @samples = map { [ "S0$_", 'text', sub { pick('0/1', '1/1', '0|1') . ':' . between(1, 60) . ',' . between(1, 60) } ] } 1 .. between(1, 3);

		return table("\t", [ chromosome('CHROM'), serial('POS', 40), [ 'ID', 'text', sub { chance(0.5) ? "rs$_[0]" : '.' } ], [ 'REF', 'text', sub { pick(qw(A C G T AT)) } ], [ 'ALT', 'text', sub { pick('A', 'C', 'G', 'A,T') } ], number('QUAL', 10, 99), [ 'FILTER', 'text', sub { pick('PASS', 'q10;s50') } ], [ 'INFO', 'text', sub { 'DP=' . between(1, 99) . ';AF=0.5,0.1;DB;' } ], [ 'FORMAT', 'text', sub { 'GT:AD' } ], @samples ],
			above => [ '##fileformat=VCFv4.2', '##INFO=<ID=DP,Number=1,Type=Integer,Description="Total, all">' ], names => '#');
	},
	'lists between tabs' => sub {
		my $mark = pick(',', ',', ';', '|');
		my $n = chance(0.6) ? between(1, 5) : undef;
		my @columns = map { pick([ 0, lists("part$_", $mark, chance(0.8), $n) ], [ 1, number("count$_", 1, 500) ], [ 1, words("label$_") ], [ 1, gene("gene$_") ]) } 1 .. between(1, 5);

		return table("\t", [ gene('id'), number('size', 1, 9999), lists('parts', $mark, 1, $n), map { $_->[1] } @columns ], names => '');
	},
	'the list first' => sub {
		my $n = chance(0.6) ? between(1, 4) : undef;

		return table("\t", [ lists('parts', pick(',', ';', '|'), 1, $n), number('size', 1, 9999), chance(0.5) ? gene('id') : () ], names => '');
	},
	'lines above' => sub {
		my $file = $made{bed}->();
		my ($above) = pick("track name=\"a\" description=\"b, c; d\"\n", "browser position chr7:127471196-127495720\nbrowser hide all\ntrack name=\"x\"\n", "Genes by size\n\n", "Genes; by size, and name\n\n");

		$file->{content} = $above . $file->{content};
		return $file;
	},
	'a bad record' => sub {
		my $mark = pick(',', ';', '|');
		my $file = table("\t", [ gene('id'), number('size', 1, 9999), lists('parts', $mark, 1, 3), chance(0.5) ? lists('more', $mark, 0, 4) : () ], names => pick('', undef), n => between(30, 300));

		$file->{content} =~ s/\t(?=[^\t]*\z)/ /;
		pop @{ $file->{truth}{rows} };
		return $file;
	},
	'names of rows' => sub {
		my $file = table("\t", [ gene('x'), number('size', 1, 9999), lists('parts', pick(',', ';', '|'), 1, pick(3, undef)) ], names => '');

		$file->{content} =~ s/^x\t//;
		$file->{truth}{columns}[0]{header} = '';
		return $file;
	},
	'all columns are lists' => sub {
		my $mark = pick(',', ';', '|');

		return table("\t", [ map { lists($_, $mark, 1, $_[0] % 2 ? undef : 2) } pick([qw(starts ends)], [qw(starts ends sizes)])->@* ], names => '');
	},
	'texts between tabs' => sub {
		my $mark = pick(',', ';', '|', ', ', '; ');

		return table("\t", [ serial('id', 1), [ 'title', 'text', sub { join $mark, map { text() } 1 .. between(1, 4) } ], [ 'place', 'text', sub { text() . (chance(0.5) ? pick(',', ';', '|') : '') } ], number('year', 1990, 2020) ], names => '', quoted => pick(0, 100));
	},
	'no names' => sub {
		my $n = chance(0.6) ? between(2, 4) : undef;

		return table("\t", [ number('a', 1, 500), gene('b'), lists('c', pick(',', ';', '|'), 1, $n), chance(0.5) ? number('d', 1, 9) : () ]);
	},

	# ---- any delimiter, with lists by another ----

	'lists by another' => sub {
		my $delimiter = pick("\t", ';', ',', '|', '^', '~', '$');
		my ($mark) = grep { $_ ne $delimiter } map { pick(',', ';', '|', '~', '^', '::', '||', ' | ', '; ') } 1 .. 20;
		my $n = chance(0.6) ? between(2, 4) : undef;

		return table($delimiter, [ gene('id'), lists('parts', $mark, chance(0.6), $n), number('size', 1, 99), chance(0.5) ? words('note') : () ], names => '');
	},

	# ---- between all fields: "$", "^", "~", "|" ----

	'adverse events' => sub {
		my $drug = [ 'drugname', 'text', sub { pick('TYLENOL', 'ASPIRIN, COATED', 'VITAMIN B; OTHER', 'HUMIRA (PEN, 40MG)') } ];

		return table('$', [ serial('primaryid', 11), serial('caseid', 1), chance(0.5) ? $drug : (), [ 'fda_dt', 'date', sub { 20240100 + between(1, 28) } ], number('age', 1, 99), [ 'sex', 'text', sub { pick('F', 'M', '') } ], chance(0.5) ? [ 'dose', 'text', sub { pick('', '5 MG', '2 X 10 MG, DAILY') } ] : () ], names => '');
	},
	'single bytes' => sub {
		my $mark = pick('$', '^', '~', '|');
		my @columns = map { pick(number("count$_", 1, 99), words("label$_"), [ "day$_", 'date', sub { sprintf '2024-0%d-%02d', between(1, 9), between(1, 28) } ], [ "price$_", 'num', sub { sprintf '%d.%02d', between(0, 99), between(1, 99) } ], [ "note$_", 'text', sub { join pick(', ', ',', '; '), map { text() } 1 .. between(1, 3) } ]) } 1 .. between(1, 6);

		return table($mark, [ serial('id', 1), @columns ], names => pick('', '', '', undef), quoted => pick(0, 0, 100));
	},
	'a mark at every end' => sub {
		return table(pick('$', '^', '~', '|'), [ serial('isr', 7), number('case', 1, 99), words('drug'), [ '', 'text', sub { '' } ] ], names => '');
	},
	'texts by single bytes' => sub {
		return table(pick('$', '^', '~', '|'), [ words('kind'), map { words("word$_") } 1 .. between(1, 4) ], names => pick('', '', undef));
	},

	# ---- commas, with others in values ----

	'others between commas' => sub {
		my $mark = pick("\t", ';', '|', '^', '~', '$');
		my $n = chance(0.6) ? between(2, 4) : undef;

		return table(pick(',', ',', ';'), [ serial('id', 1), [ 'item', 'text', sub { join $mark, map { pick(@words) } 1 .. $n // between(1, 4) } ], chance(0.5) ? words('note') : (), chance(0.5) ? number('count', 1, 99) : () ], names => '', quoted => pick(0, 100));
	},
	'prices' => sub {
		my $price = [ pick('price', 'price', 'price ($)', '$ in 2024'), 'text', sub { sprintf '$%d.%02d', between(1, 99), between(0, 99) } ];

		return table(pick(',', ';', "\t", '|'), [ serial('id', 1), $price, chance(0.5) ? [ 'cost', 'text', $price->[2] ] : (), chance(0.5) ? words('item') : () ], names => pick('', '', undef));
	},
	'one column' => sub {
		my ($mark, $n) = (pick('$', '^', '~', '|'), between(2, 3));

		return table(',', [ [ 'value', 'text', pick(sub { sprintf '$%d.%02d', between(1, 99), between(0, 99) }, sub { join $mark, map { pick(@words) } 1 .. $n }, sub { between(1, 9) . $mark . between(1, 9) }) ] ], names => '');
	},
	'tabs behind commas' => sub {
		my $mark = pick(',', ';');
		my $file = table("$mark\t", [ serial('id', 1), words('name'), number('count', 1, 99), chance(0.5) ? gene('gene') : () ], names => '');

		$file->{truth}{delimiter} = $mark;
		return $file;
	},

	# ---- logs ----

	zeek => sub {
		my $break = [ [ 'ts', 'num', sub { sprintf '15982430%02d.%06d', between(10, 99), between(0, 999999) } ], [ 'uid', 'text', sub { "CW$_[0]x" } ], [ 'id.orig_h', 'text', sub { join '.', 10, map { between(0, 255) } 1 .. 3 } ], [ 'id.orig_p', 'int', sub { between(1024, 65000) } ], [ 'proto', 'text', sub { pick(qw(tcp udp)) } ], [ 'duration', 'num', sub { chance(0.3) ? '-' : sprintf '0.%06d', between(1, 999999) } ], [ 'tunnel_parents', 'text', sub { pick('(empty)', 'a,b') } ] ];
		my @columns = @$break[ 0 .. between(2, 6) ];
		my @types = map { { num => 'time', text => 'string', int => 'port' }->{ $_->[1] } } @columns;

		return table("\t", \@columns, above => [ '#separator \x09', "#set_separator\t,", "#empty_field\t(empty)", "#unset_field\t-", "#path\tconn", chance(0.7) ? "#open\t2020-08-24-00-00-00" : (), join("\t", '#fields', map { $_->[0] } @columns), chance(0.9) ? join("\t", '#types', @types) : () ], log => 1, below => chance(0.8) ? ["#close\t2020-08-24-01-00-00"] : []);
	},
	w3c => sub {
		my $delimiter = pick(' ', ' ', "\t");
		my @columns = ([ 'date', 'date', sub { sprintf '2024-05-%02d', between(1, 28) } ], [ 'time', 'time', sub { sprintf '%02d:%02d:%02d', between(0, 23), between(0, 59), between(0, 59) } ], [ 's-ip', 'text', sub { '10.0.0.' . between(1, 99) } ], [ 'cs-method', 'text', sub { pick(qw(GET POST)) } ], [ 'cs-uri-stem', 'text', sub { '/' . pick(@words) . '.html' } ], [ 'sc-status', 'int', sub { pick(200, 302, 404) } ], [ 'cs(User-Agent)', 'text', sub { 'Mozilla/5.0+(X11;+Linux)' } ], [ 'time-taken', 'int', sub { between(1, 900) } ]);

		splice @columns, between(3, 7), between(0, 1);
		return table($delimiter, \@columns, above => [ '#Software: Microsoft Internet Information Services 8.5', '#Version: 1.0', chance(0.8) ? '#Date: 2024-05-01 00:00:01' : (), join pick(' ', $delimiter), '#Fields:', map { $_->[0] } @columns ], log => 1, n => between(3, 60));
	});

# ---- the tests ----

# A log of several parts, each below its line of fields: the first line of other names must be
# told with its number, and nothing must be told of the same names again.
sub log_of_parts
{
	my $delimiter = pick(' ', "\t");
	my @names = ([qw(date time c-ip sc-status)], [qw(date time sc-status c-ip)], [qw(date time s-ip sc-status)], [qw(date time c-ip)], [qw(date time c-ip sc-status s-ip)], [qw(date time c-ip sc-status s-ip bytes)]);
	my @parts = (0, map { chance(0.5) ? 0 : pick(1 .. $#names) } 1 .. between(1, 3));
	my $zeek = $delimiter eq "\t" && chance(0.5);
	my (@lines, $changed);

	for my $part (@parts)
	{
		my %value = (date => '2024-05-01', time => '10:00:07', 'sc-status' => 200, 'c-ip' => '10.0.0.1', 's-ip' => '10.0.0.2', bytes => 7);

		push @lines, $zeek ? '#path' . "\tconn" : ('#Software: x', '#Version: 1.0');
		push @lines, ($zeek ? "#fields\t" : '#Fields: ') . join $delimiter, @{ $names[$part] };
		$changed //= @lines if $part;
		push @lines, (join $delimiter, map { $value{$_} } @{ $names[$part] }) x (@lines > 4 ? pick(between(1, 9), 40) : pick(3, 20, 20, 30000));
	}
	return (join('', map { "$_\n" } @lines), $changed);
}

my $about = qr/$ImportTruth::doubts|header|has no header|names other fields/;
my $number = 0;

for my $name (grep { index($_, $ENV{CSV_GPU_FDW_KIND} // '') >= 0 } sort keys %made)
{
	my $directory = "$dir/files";
	my (@cases, @silent, @wrong, $told);

	mkdir $directory;
	for my $i (1 .. $nfiles)
	{
		srand($seed * 1_000_003 + unpack('%32C*', $name) * 1000 + $i);
		my $case = $made{$name}->($i);

		$case->{table} = sprintf 'f%04d', ++$number;
		$case->{file} = "$case->{table}." . pick(qw(csv csv txt dat bed));
		write_file("$directory/$case->{file}", $case->{content});
		push @cases, $case;
	}
	my $result = imported($node, $directory, options => "suffixes 'csv,txt,dat,bed'");

	for my $case (@cases)
	{
		my $said = $result->{notices}{ $case->{file} } // $result->{notices}{ $case->{table} } // [];
		my ($silent, undef, $shape) = judged([ $case->{truth} ], $result->{tables}{ $case->{table} }, $said);
		my $shown = join "\n    ", "$name, $case->{file}: " . join('; ', @$silent, @$shape), (map { substr $_, 0, 120 } (split /\r?\n/, $case->{content})[ 0 .. 3 ]), map { s/\n/ /gr } @$said;

		$told++ if grep { /$ImportTruth::doubts/ } @$said;
		push @silent, $shown if @$silent || @$shape && "@$said" !~ $about;
		push @wrong, $shown if @$shape && $case->{header};
	}
	remove_tree($directory);
	ok(!@silent, "$name: none of $nfiles files is wrong in silence") or diag(scalar @silent, "\n", join "\n", @silent[ 0 .. ($#silent < 4 ? $#silent : 4) ]);
	ok(!@wrong, "$name: files with a header are right") or diag(scalar @wrong, "\n", join "\n", @wrong[ 0 .. ($#wrong < 4 ? $#wrong : 4) ]);
	note("$name: $told told") if $told;
}

my @logs;

mkdir "$dir/logs";
for my $i (1 .. $nfiles)
{
	srand($seed * 1_000_003 + $i);
	my ($content, $changed) = log_of_parts();

	push @logs, { file => "l$i.csv", changed => $changed };
	write_file("$dir/logs/l$i.csv", $content);
}
my $of_logs = imported($node, "$dir/logs")->{notices};
my @mistakes = grep {
	my $said = join "\n", grep { /names other fields/ } @{ $of_logs->{ $_->{file} } // [] };
	my $line = $_->{changed};

	defined $line ? $said !~ /line $line of / : $said ne '';
} @logs;

is(join(' ', map { "$_->{file}: " . ($_->{changed} // 'unchanged') } @mistakes), '', "the lines at which $nfiles logs change their fields are told");

finish();
