# COPY FROM STDIN with csv_gpu_fdw.copy, message by message: what the frontend may send,
# and how it may end, comes to the same as with PostgreSQL's own COPY.
use lib 'test/t';
use CsvServer;
use IO::Socket::UNIX;
use List::Util qw(uniq);
use Socket qw(SOL_SOCKET SO_RCVTIMEO);
use Time::HiRes qw(time sleep);

random_seed();
my $seconds = amount(4);
use constant TIOCOUTQ => 0x5411;
my $node = csv_server('frontend', 'csv_gpu_fdw.copy' => 'force',
	session_preload_libraries => 'csv_gpu_fdw');
my $session = new_session($node);

$session->value('CREATE TABLE t (k int PRIMARY KEY, b text)');

# ---- the protocol ----

sub send_message
{
	my ($socket, $type, $body) = @_;

	return syswrite($socket, $type . pack('N', 4 + length $body) . $body);
}

sub receive_bytes
{
	my ($socket, $n) = @_;
	my $bytes = '';

	while (length $bytes < $n)
	{
		return undef if !sysread($socket, $bytes, $n - length $bytes, length $bytes);
	}
	return $bytes;
}

sub receive_message
{
	my ($socket) = @_;
	my $head = receive_bytes($socket, 5) // return ('', '');
	my ($type, $length) = unpack 'a N', $head;

	return ($type, $length > 4 ? receive_bytes($socket, $length - 4) : '');
}

# what comes until the server is ready, or one of these: types, and errors' fields
sub receive_until
{
	my ($socket, $types) = @_;
	my @received;

	while (1)
	{
		my ($type, $body) = receive_message($socket);

		next if $type =~ /[SKRN]/;
		$body = join ' ', map { substr $_, 0, 1 } () if $type eq 'Z';
		if ($type eq 'E')
		{
			my %fields = map { substr($_, 0, 1) => substr($_, 1) } grep { length } split /\0/, $body;

			$body = join '|', map { "$_=" . ($fields{$_} // '') } qw(S C M D W);
		}
		push @received, $type eq 'D' ? 'row ' . substr($body, 6) : "$type $body";
		return @received if $type eq '' || $types =~ /\Q$type/;
	}
}

sub connect_to_server
{
	my $socket = IO::Socket::UNIX->new(Peer => $node->host . '/.s.PGSQL.' . $node->port) or die "connect: $!";
	# a server that hangs is one that fails
	$socket->setsockopt(SOL_SOCKET, SO_RCVTIMEO, pack('l!l!', 120, 0));
	my $startup = pack('N', 196608) . "user\0" . getpwuid($<) . "\0database\0postgres\0\0";

	syswrite $socket, pack('N', 4 + length $startup) . $startup;
	receive_until($socket, 'Z');
	return $socket;
}

# ---- what is sent, with COPY's setting; what comes back, and the rows ----

my $more_settings = '';

sub outcome
{
	my ($setting, $columns, $options, $send) = @_;
	my $socket = connect_to_server();
	my @received;

	local $SIG{PIPE} = 'IGNORE';
	send_message($socket, 'Q', "TRUNCATE t\0");
	receive_until($socket, 'Z');
	send_message($socket, 'Q', "SET csv_gpu_fdw.copy = $setting; SET temp_file_limit = '1MB'; $more_settings\0");
	receive_until($socket, 'Z');
	send_message($socket, 'Q', "COPY t ($columns) FROM STDIN ($options)\0");
	push @received, receive_until($socket, 'GE');
	my @sent = $send->($socket);
	push @received, @sent ? @sent : receive_until($socket, 'Z');
	close $socket;
	push @received, $session->value('SELECT count(*), md5(string_agg(t::text, $$ $$ ORDER BY ctid)) FROM t');
	return join "\n", @received;
}

sub rows { return join '', map { "$_,row $_\n" } $_[0] .. $_[1] }

# the data in messages of all sizes
sub send_data
{
	my ($socket, $bytes, $most) = @_;

	for (my $at = 0; $at < length $bytes;)
	{
		my $n = 1 + int rand($most);

		send_message($socket, 'd', substr($bytes, $at, $n)) or return;
		$at += $n;
	}
	return;
}

sub same
{
	my ($name, $send, $options, $columns) = @_;
	my @statement = ($columns // 'k, b', $options // 'format csv');
	my ($theirs, $ours) = map { outcome($_, @statement, $send) } qw(off force);

	# not ours, but done, where COPY has to: that is not what this is about
	if ($ours =~ /was not taken/ && $theirs !~ /^E/m)
	{
		$ours = outcome('on', @statement, $send);
		note("$name: left to COPY");
	}
	is($ours, $theirs, $name);
	return $ours;
}

my $long = rows(1, 40000);
my %ends = (
	done => sub { send_message($_[0], 'c', ''); return },
	fails => sub { send_message($_[0], 'f', "no more of it\0"); return },
	'is of type 0' => sub { send_message($_[0], "\0", ''); return receive_until($_[0], 'Z') },
	unknown => sub { send_message($_[0], 'Q', "SELECT 1\0"); return receive_until($_[0], 'Z') },
	'has a wrong length' => sub { syswrite($_[0], 'd' . pack('N', 2)); return receive_until($_[0], 'Z') },
	'is lost' => sub { close $_[0]; sleep 0.5; return '' });

for my $end (sort keys %ends)
{
	for my $case ([ nothing => '' ], [ short => rows(1, 5) ], [ long => $long ],
		[ 'half a row' => $long . '50000,"half' ], [ 'a bad row early' => "1,a\nx,b\n$long" ],
		[ 'a bad row late' => $long . "x,b\n" . rows(50000, 90000) ],
		[ 'a key twice' => $long . "17,b\n" ], [ 'too much to keep' => rows(1, 100000) ])
	{
		my ($what, $bytes) = @$case;

		# one who has read ahead may lose the way earlier
		next if $end eq 'has a wrong length' && $what =~ /bad row|twice/;
		same("$what, and the frontend's end: $end",
			sub { send_data($_[0], $bytes, 20000); return $ends{$end}->($_[0]) });
	}
}

# ---- options that COPY refuses: before it asks the frontend for data ----

for my $case ([ 'of a column that is not copied', 'k', 'force_null (b)' ],
	[ 'of a column that is not there', 'k', 'force_not_null (x)' ],
	[ 'of a column, twice', 'k, b', 'force_null (b, b)' ],
	[ 'of an encoding that cannot be converted', 'k, b', q(encoding 'MULE_INTERNAL') ],
	[ 'of two bytes', 'k, b', q(delimiter 'ab') ])
{
	my ($what, $columns, $option) = @$case;

	like(same("an option $what", $ends{done}, "format csv, $option", $columns), qr/^E /, 'no data are asked for');
}

# ---- a library that refuses the table: before COPY asks the frontend for data ----

$more_settings = 'SET csv_gpu_test.refuse_permissions = on';
like(same('a table that a library refuses', $ends{done}), qr/^E .*a library refuses/, 'no data are asked for');
$more_settings = '';

# ---- the marker of the end, wherever messages and blocks begin ----

# of text, it ends the data also where it does not begin a line
my @in_lines = map { ("77\tb\\.$_", "77\tb\\.${_}88\tc\n", "77\tb\\\\\\.${_}88\tc\n", "77\t\\\\.${_}88\tc$_") } "\n", "\r\n", "\r", 'x',
	"\xc3\xa4\n", "\xe4\xef\xbb\n";
my @markers = ("\\.\n", "\\.\r\n", "\\.", "\\", "\\.\n\\.\n", "\\.\n5000000,x\n", "\\.x\n", "\\.\r", '"',
	"\\.\n\n\n", "\\.\r\n\n\n", "\\.\n\n\n\n\n\n\n\n", "\\.\n\n\nx\n");

for my $format ('csv', 'text')
{
	my $with = "format $format";

	for my $marker (@markers, $format eq 'text' ? @in_lines : ())
	{
		for my $break ("\n", "\r\n", "\r")
		{
			my $bytes = rows(1, 5);

			$bytes =~ s/\n/$break/g;
			$bytes =~ tr/,/\t/ if $format eq 'text';
			same("$format: the marker " . unpack('H*', $marker) . ' after lines that end with ' . unpack('H*', $break),
				sub { send_data($_[0], $bytes . $marker, 3); return $ends{done}->($_[0]) }, $with);
		}
		same("$format: the marker " . unpack('H*', $marker) . ' alone',
			sub { send_data($_[0], $marker, 2); return $ends{done}->($_[0]) }, $with);
		same("$format: a failure behind the marker " . unpack('H*', $marker),
			sub { send_data($_[0], ($format eq 'csv' ? "1,a\n" : "1\ta\n") . $marker, 20); return $ends{fails}->($_[0]) }, $with);
	}
	for my $rest (-6 .. 6)
	{
		my $bytes = rows(1, 20000);

		$bytes = substr($bytes, 0, 262144 + $rest - 8) . ('x' x 7) . "\n";
		$bytes =~ tr/,/\t/ if $format eq 'text';
		same("$format: the marker $rest bytes from where a block ends",
			sub { send_data($_[0], "$bytes\\.\n" . pick('', "\n\n"), 9000); return $ends{done}->($_[0]) }, $with);
	}
}
# what comes behind is of no account, whatever has COPY do it, and however much it is
for my $late ("x\tb\n", '')
{
	same('text: rows behind a marker in a line' . ($late && ', and a bad one before it'),
		sub {
			send_data($_[0], (rows(1, 30000) =~ tr/,/\t/r) . "77777\tb\\\\\n$late" . "88888\tb\\.\n" . (rows(100000, 140000) =~ tr/,/\t/r), 9000);
			return $ends{done}->($_[0]);
		}, 'format text');
}

# a failure behind the marker comes before that of an index, which has rows then that wait
for my $format ('csv', 'text')
{
	for my $marker ("\\.\n", "\\.\r\n", "\"a\n\\.\n\"", "\\.\n8,x\n", "7,b\\.\n")
	{
		for my $size (3, 9000)
		{
			my $bytes = "1,a\n1,b\n$marker";

			$bytes =~ tr/,/\t/ if $format eq 'text';
			$bytes =~ s/(?<!\r)\n/\r\n/g if $marker =~ /\r/;
			same("$format: a failure behind the marker " . unpack('H*', $marker) . " and a key that is there twice, in pieces of $size",
				sub { send_data($_[0], $bytes, $size); return $ends{fails}->($_[0]) }, "format $format");
		}
	}
}

# characters whose second byte is a backslash
for my $bytes ("1\t\x95\x5c.\n2\tb\n3\tc\n", "1\t\x95\x5c.X2345678\n2\tb\n3\tc\n", "1\t\x95\x5c\x5c.\n2\tb\n3\tc\n",
	"1\t\x95\x5c\n2\tb\n", join('', map { "$_\t\x95\x5c.\x83\x5c\n" } 1 .. 40000))
{
	same('text: data in SJIS, ' . length($bytes) . ' bytes',
		sub { send_data($_[0], $bytes, 9000); return $ends{done}->($_[0]) }, q(format text, encoding 'SJIS'));
}

# ---- messages between the data; a slow frontend ----

same('flushes and synchronisations between the data',
	sub {
		for my $i (0 .. 9)
		{
			send_data($_[0], rows($i * 4000, $i * 4000 + 3999), 5000);
			send_message($_[0], pick('H', 'S'), '');
		}
		return $ends{done}->($_[0]);
	});
same('a header, and one row at a time',
	sub {
		send_message($_[0], 'd', $_[0] ? "k,b\n" : '');
		send_message($_[0], 'd', "$_,x\n") for 1 .. 30000;
		return $ends{done}->($_[0]);
	}, 'format csv, header');
same('messages of no bytes', sub { send_message($_[0], 'd', '') for 1 .. 3; send_data($_[0], $long, 9000); return $ends{done}->($_[0]) });

# ---- random messages ----

# what ends the data, and with them the random messages
my %last = (
	done => sub { send_message($_[0], 'c', pick('', '', 'x')) },
	fails => sub { send_message($_[0], 'f', pick("no\0", "no\0more\0", "\0", 'no zero byte', '', "\xff\0")) },
	'of another type' => sub { send_message($_[0], chr(int rand 256), pick('', "x\0")) },
	'of a wrong length' => sub { syswrite($_[0], pick('d', 'c', 'f', 'H', 'S') . pack('N', pick(0, 3, 10001, 2**31, 2**32 - 1))) },
	cut => sub { syswrite($_[0], pick('d', 'c', 'f') . pick('', "\0\0", pack('N', 100) . '9,b')) },
	nothing => sub { 1 });

sub random_messages
{
	my ($format) = @_;
	my $bytes = rows(1, pick(0, 3, 50, chance(0.2) ? 20000 : 300));
	my @messages;

	substr($bytes, rand(length $bytes), 0) = pick("\\.\n", "\n\\.\n", "\n\\.", "\nx\n", "\n1,again\n", '"', "\r", "\0") if chance(0.4);
	$bytes =~ tr/,/\t/ if $format eq 'text';
	$bytes =~ s/\n/\r\n/g if chance(0.2);
	my $most = length($bytes) > 10000 ? 30000 : pick(2, 40, 5000);
	for (my $at = 0; $at < length $bytes;)
	{
		my $n = int rand($most + 1);

		push @messages, [ 'd', substr($bytes, $at, $n) ];
		push @messages, [ pick('H', 'S'), pick('', '', 'x') ] if chance(0.02);
		$at += $n;
	}
	return @messages;
}

my ($nmessages, $ncases) = (0, 0);
my @different;
my $end = time + $seconds;

while (@different < 3 && (time < $end || $ncases < 50))
{
	my $format = pick('csv', 'text');
	my @messages = random_messages($format);
	my $last = pick(sort keys %last);
	my $seed = int rand 2**31;
	my $run = sub {
		my ($setting) = @_;

		srand $seed;
		return outcome($setting, 'k, b', "format $format", sub {
			my ($socket) = @_;

			for (@messages) { send_message($socket, @$_) or last }
			$last{$last}->($socket);
			$socket->shutdown(1);
			my @received = receive_until($socket, 'never');
			my ($error) = grep { $received[$_] =~ /^E/ } 0 .. $#received;

			# Who has read ahead has taken a Sync earlier, or has lost its way.
			@received = @received[ 0 .. $error ]
			  if defined $error && ($last !~ /^(done|fails|nothing)$/ || grep { $_->[0] ne 'd' } @messages);
			return join "\n", uniq(@received);
		});
	};
	my @outcomes = ($run->('off'), $run->('force'));

	$outcomes[1] = $run->('on') if $outcomes[1] =~ /was not taken/ && $outcomes[0] !~ /^E/m;
	$ncases++;
	$nmessages += @messages;
	if ($outcomes[0] ne $outcomes[1])
	{
		push @different, $last;
		diag("$format, seed $seed, the last one is $last\nCOPY: $outcomes[0]\nours: $outcomes[1]");
	}
}
is("@different", '', "$ncases COPYs of $nmessages random messages end as COPY ends them");

# ---- where data are kept until all of them have come ----

mkdir $node->basedir . '/other' or die;
$session->value('CREATE TABLESPACE other LOCATION ' . literal($node->basedir . '/other'));
my $keeping = connect_to_server();

send_message($keeping, 'Q', "TRUNCATE t; SET temp_tablespaces = other\0");
receive_until($keeping, 'Z');
send_message($keeping, 'Q', "COPY t FROM STDIN (format csv)\0");
receive_until($keeping, 'GE');
send_data($keeping, $long, 20000);
ok($node->poll_query_until('postgres', q{SELECT count(*) > 0 FROM pg_ls_tmpdir((SELECT oid FROM pg_tablespace WHERE spcname = 'other'))}),
	'the temporary file is in the tablespace for temporary files');
send_message($keeping, 'f', "enough\0");
receive_until($keeping, 'Z');
close $keeping;

# ---- a session that is ended while it waits for its frontend ----

for my $case ([ early => 5 ], [ late => 40000 ])
{
	my $socket = connect_to_server();
	my $started = time;

	send_message($socket, 'Q', "TRUNCATE t\0");
	receive_until($socket, 'Z');
	send_message($socket, 'Q', "COPY t FROM STDIN (format csv)\0");
	receive_until($socket, 'GE');
	send_data($socket, rows(1, $case->[1]), 10000);
	sleep 0.3;
	$session->value(q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'COPY t FROM%'});
	like((receive_until($socket, 'EZ'))[-1], qr/57P01/, "a session can be ended while it waits, $case->[0]");
	cmp_ok(time - $started, '<', 10, 'and at once');
}
is($session->value(q{SELECT count(*) FROM t}), 0, 'none of its rows are there');

# ---- a COPY that is cancelled while it waits ----

# until the server has read all that was sent, and waits again
sub cancel
{
	my ($socket) = @_;
	my $unread = pack('i', 1);

	while (unpack('i', $unread) > 0)
	{
		ioctl($socket, TIOCOUTQ, $unread) or die "ioctl: $!";
		sleep 0.01;
	}
	$node->poll_query_until('postgres', q{SELECT wait_event = 'ClientRead' FROM pg_stat_activity WHERE query LIKE 'COPY t (%'}) or die;
	$session->value(q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE 'COPY t (%'});
	return;
}

for my $n (5, 40001)
{
	for my $format ('csv', 'text')
	{
		for my $case ([ 'goes on' => '', "9999999,\"a\xc3\xa4\"\n9999998,b\n", 'done' ], [ 'ends a line' => '9999999,a', "b\n", 'done' ],
			[ 'ends a long line' => '9999999,' . "\xc3\xa4" x 49, ('b' x 40) . "\xc3\xa4\n", 'done' ],
			[ 'ends it' => '', '', 'done' ], [ 'fails' => '9', '', 'fails' ])
		{
			my ($what, $early, $late, $end) = @$case;

			like(same("$format: a COPY that is cancelled behind $n rows, and the frontend $what", sub {
					send_data($_[0], (rows(1, $n) . $early) =~ tr/,/\t/r, 9000);
					cancel($_[0]);
					send_message($_[0], 'd', $late =~ tr/,/\t/r) if $late ne '';
					return $ends{$end}->($_[0]);
				}, "format $format, delimiter E'\\t'"), qr/57014.*COPY t, line /s, 'says where');
		}
		# what ends the connection comes before the cancel
		for my $end ('is of type 0', 'unknown', 'has a wrong length', 'is lost')
		{
			like(same("$format: a COPY that is cancelled behind $n rows, and the frontend's end: $end", sub {
					send_data($_[0], rows(1, $n) =~ tr/,/\t/r, 9000);
					cancel($_[0]);
					return $ends{$end}->($_[0]) if $end ne 'is lost';
					$_[0]->shutdown(1);
					return receive_until($_[0], 'never');
				}, "format $format, delimiter E'\\t'"), qr/^E S=(ERROR|FATAL).*COPY t, line [1-9]/m, 'says where');
		}
	}
}
# a session that is ended says so before it removes its files
ok($node->poll_query_until('postgres', q{SELECT count(*) = 0 FROM pg_ls_tmpdir()}), 'no temporary file is left');
finish();
