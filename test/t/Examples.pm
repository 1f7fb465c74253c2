# Examples.pm: the examples of a page, for 020_docs.pl and tour.pl.
package Examples;

use strict;
use warnings;

use Exporter 'import';

our @EXPORT = qw(examples plain);

# The blocks of code of a page: [ kind, code, the output that is shown or undef, line ].
sub examples
{
	my ($text) = @_;
	my @examples;

	while ($text =~ /^```(\N*)\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?/gms)
	{
		push @examples, [ $1, $2, $3, 1 + substr($text, 0, $-[0]) =~ tr/\n// ];
	}
	return @examples;
}

# less what differs between machines, and the widths of columns
sub plain
{
	my ($text) = @_;

	$text =~ s/(?<!in )Engine: .*/Engine: .../g;
	$text =~ s/ +/ /g;
	$text =~ s/-+/-/g;
	$text =~ s/ $//gm;
	$text =~ s/\n+/\n/g;
	return $text;
}

1;
