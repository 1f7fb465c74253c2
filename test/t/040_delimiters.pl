# Delimiters of several bytes against Perl's split, and trim against its own patterns: the
# same fields of the same lines, whatever overlaps with what, by rows and by groups.
use lib 'test/t';
use CsvServer;

random_seed();
my $seconds = amount(3);
my $directory = new_folder();
my $node = csv_server('delimiters', QUICK_FILES, 'csv_gpu_fdw.resident_memory' => '100MB');
my $session = new_session($node);
my $nfields = 3;

my @delimiters = ('||', '::', '|~|', '~|~', '|||', 'aba', 'aabaa', ', ', ' | ', "\t\t", "\xc2\xa7", '<=>', '12345678', ',', "\t");

# bytes of the delimiter, mostly, and what else may be next to it
sub random_text
{
	my ($delimiter, $most) = @_;
	# of a character all bytes: half of one is no text
	my @bytes = $delimiter =~ /[\x80-\xff]/ ? $delimiter : split //, $delimiter;

	return join '', map { pick(@bytes, 'x', 'y', ' ', "\t", chance(0.2) ? $delimiter : 'z') } 1 .. rand($most);
}

# a line, and its fields
sub unquoted_line
{
	my ($delimiter, $trim) = @_;
	my $line = join $delimiter, map { random_text($delimiter, 6) } 1 .. $nfields;
	my @fields;

	$line = 'x' if $line eq '';
	@fields = split /\Q$delimiter\E/, $line, -1;
	s/^[ \t]+|[ \t]+$//g for $trim ? @fields : ();
	return ($line, @fields);
}

# where all values are quoted, whatever is in them
sub quoted_line
{
	my ($delimiter, $trim) = @_;
	my @fields = map { random_text($delimiter, 6) . pick('', '"', '""', "\n", ' ') } 1 .. $nfields;
	my $blank = sub { $trim && chance(0.5) && $delimiter !~ /[ \t]/ ? pick(' ', "\t", ' ' x rand(100)) : '' };

	return (join($delimiter, map { $blank->() . '"' . s/"/""/gr . '"' . $blank->() } @fields), @fields);
}

my ($nrounds, $nvalues, @wrong) = (0, 0);

for (my $end = time() + $seconds; time() < $end || $nrounds < 4; $nrounds++)
{
	my $delimiter = pick(@delimiters);
	my $trim = chance(0.5);
	my $quoted = chance(0.5);
	my $path = "$directory/$nrounds.csv";
	my (@lines, @expected);
	my $nskipped = 0;

	for (1 .. 1 + rand(3000))
	{
		my ($line, @fields) = $quoted ? quoted_line($delimiter, $trim) : unquoted_line($delimiter, $trim);

		push @lines, $line;
		@fields == $nfields ? push(@expected, join "\x02", map { unpack 'H*', $_ } @fields) : $nskipped++;
	}
	write_file($path, join '', map { "$_\n" } @lines);
	$nvalues += @expected * $nfields;

	my $columns = join ', ', map { "c$_ text" } 1 .. $nfields;
	my $options = join ', ', 'filename ' . literal($path), 'delimiter ' . literal($delimiter), "encoding 'UTF8'",
		"log_verbosity 'silent'", "null 'NULL'", 'chunk_size ' . literal(int(exp(rand(12))) + 1),
		$trim ? "trim 'true'" : (), $quoted ? () : "quote ''";
	my $row = join " || E'\\x02' || ", map { "encode(convert_to(c$_, 'UTF8'), 'hex')" } 1 .. $nfields;
	my @found = split /\n/, $session->value("CREATE FOREIGN TABLE f ($columns) SERVER csv OPTIONS ($options);
		SELECT $row FROM f;");
	my $groups = $session->value('SELECT count(*), count(DISTINCT (c1, c3)), max(length(c2)) FROM f');
	my $grouped = $session->value("SET csv_gpu_fdw.enable_pushdown = off; SELECT count(*), count(DISTINCT (c1, c3)), max(length(c2)) FROM f;
		SET csv_gpu_fdw.enable_pushdown = on");
	my $errors = $session->value("SELECT count(*) FROM csv_gpu_errors('f')");

	$session->value('DROP FOREIGN TABLE f');
	unlink $path;
	push @wrong, "$options: " . join(', ', scalar(@found), scalar(@expected), $errors, $nskipped, $groups, $grouped)
	  if "@found" ne "@expected" || $errors != $nskipped || $groups ne $grouped;
}
note("$nrounds files, $nvalues values");
is(join("\n", @wrong), '', 'the fields that Perl finds');

finish($session);
