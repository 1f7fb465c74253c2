# Tables made at random (TableMaker.pm), whose delimiter, header, types and all values
# are known, through IMPORT FOREIGN SCHEMA.  No value may be changed and no record lost
# without a NOTICE; delimiter, header and names must be right in 99.5% of the files; and
# types are counted.
#
# EFFORT=100 makes 100,000 tables, SEED=N others.
# CSV_GPU_FDW_EXAMPLES=N shows N tables of each kind of failure.  test/sniff/generate writes
# the file of a number.
use lib 'test/t';
use CsvServer;
use File::Path qw(remove_tree);
use ImportTruth;
use TableMaker;

my $batch = 500;
my $examples = $ENV{CSV_GPU_FDW_EXAMPLES} || 1;
my $ntables = amount(1000);
my $seed = $ENV{SEED} || 1;
my $node = csv_server('generated', max_locks_per_transaction => 256);
my $dir = new_folder();
my (%count, %types, %failures, %doubts);

note("SEED=$seed");

# Count a failure by its first reason, less the names and values of the case.
sub failed
{
	my ($what, $case, $table, $notices, @reasons) = @_;
	my %place = map { ($table->{columns}[$_]{name} => $_) } 0 .. $#{ $table->{columns} // [] };

	my ($name, $rest) = $reasons[0] =~ /^(?:column (.+?) (?=\(|is "))?(.*)/s;
	my $class = defined $name && exists $place{$name} ? "$case->{truths}[0]{columns}[ $place{$name} ]{family} " : '';

	$class .= $rest =~ s/(?:".*|(?<=changed:|joined:).*)//sr =~ s/\d+/N/gr;
	$count{$what}++;
	push @{ $failures{$what}{$class} }, "table $case->{number}: " . join('; ', map { substr $_, 0, 150 } @reasons) . "\n    $case->{what}" . join '', map { "\n    NOTICE " . s/\n/ /gr } @{ $notices // [] };
	return;
}

for (my $begin = 1; $begin <= $ntables; $begin += $batch)
{
	my $end = $begin + $batch - 1 < $ntables ? $begin + $batch - 1 : $ntables;
	my @cases = map { my $case = made_table($seed, $_); $case->{number} = $_; $case->{file} = "t$_.$case->{suffix}"; $case } $begin .. $end;
	my $directory = "$dir/tables";

	mkdir $directory;
	write_file("$directory/$_->{file}", $_->{content}) for @cases;
	my $result = imported($node, $directory);

	for my $case (@cases)
	{
		my $table = $result->{tables}{"t$case->{number}"};
		my $notices = $result->{notices}{ $case->{file} } // $result->{notices}{"t$case->{number}"};
		my ($silent, $wrong, $shape, $types) = judged($case->{truths}, $table, $notices);

		for my $doubt (!@$silent && !@$shape ? @{ $notices // [] } : ())
		{
			$doubts{$1}++ if $doubt =~ /: +(assuming that .*|.* without quotes)/ && (my $text = $1) =~ s/".*?"|'.*?'|\d+/.../gr =~ /(.*)/;
		}
		failed('changed in silence', $case, $table, $notices, @$silent) if @$silent;
		failed('delimiter, header or names', $case, $table, $notices, @$shape) if @$shape;
		for my $i (0 .. $#$types)
		{
			$types{ $types->[$i] }++;
			next if $types->[$i] eq 'exact';
			my $c = $case->{truths}[0]{columns}[$i];

			$failures{"type $types->[$i]"}{"$c->{family} is $table->{columns}[$i]{type}"}[ $types{"$c->{family}/$types->[$i]/$table->{columns}[$i]{type}"}++ ] = "table $case->{number}, column $table->{columns}[$i]{name}\n    $case->{what}";
		}
	}
	remove_tree($directory);
}

for my $what (sort keys %failures)
{
	for my $class (sort { @{ $failures{$what}{$b} } <=> @{ $failures{$what}{$a} } || $a cmp $b } keys %{ $failures{$what} })
	{
		my @examples = @{ $failures{$what}{$class} };

		note(sprintf '%s, %d times: %s', $what, scalar @examples, $class);
		note("  $_") for grep { defined } @examples[ 0 .. $examples - 1 ];
	}
}
my $right = $ntables - ($count{'delimiter, header or names'} // 0);
my $ncolumns = 0;

$ncolumns += $types{$_} // 0 for qw(exact weaker told wrong);
note(sprintf 'delimiter, header and names are right in %d of %d files (%.2f%%)', $right, $ntables, 100 * $right / $ntables);
note("in right files, $doubts{$_} times: $_") for sort keys %doubts;
note(sprintf 'types of %d columns: %s', $ncolumns, join ', ', map { sprintf '%s %.2f%%', $_, 100 * ($types{$_} // 0) / ($ncolumns || 1) } qw(exact weaker told wrong));
is($count{'changed in silence'} // 0, 0, "$ntables files: nothing is changed in silence");
cmp_ok($right, '>=', 0.995 * $ntables, "$ntables files: delimiter, header and names");

finish();
