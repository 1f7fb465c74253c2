# perl -Itest/t test/tour.pl README.md: the examples of README.md, in a new database of
# the server that psql finds; what stands there must come out.  The last line is
# "N passed, N failed".  packages.sh runs it in bare roots, so it needs only perl-base.
use strict;
use warnings;

use Examples;

my ($passed, $failed, $sql, @shown) = (0, 0, "CREATE DATABASE tour;\n\\c tour\n");

sub result
{
	my ($ok, $line, $found) = @_;

	$ok ? $passed++ : $failed++;
	print "not ok: README.md:$line\n$found" if !$ok;
}

for my $example (examples(do { local $/; <> }))
{
	my ($kind, $code, $shown, $line) = @$example;

	result(system($code) == 0, $line, '') if $kind eq 'sh';
	next if $kind ne 'sql';
	$sql .= "$code;\\echo end of block\n";
	push @shown, [ $line, $shown ];
}

open my $file, '>', '/tmp/tour.sql' or die $!;
print $file $sql;
close $file;
for my $output (split /^end of block\n/m, `psql -Xq postgres </tmp/tour.sql 2>&1`)
{
	my ($line, $shown) = @{ shift @shown // [ 0, '' ] };

	result(defined $shown ? plain($output) eq plain($shown) : $output !~ /^(ERROR|FATAL)/m, $line, $output);
}
result(0, $_->[0], '') for @shown;
print "$passed passed, $failed failed\n";
exit $failed;
