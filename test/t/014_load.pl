# csv_gpu_load(): what it puts into a table is what COPY would have put there,
# whatever the table, and on both ways in.
use lib 'test/t';
use CsvServer;
use Time::HiRes qw(sleep time);

random_seed();
my $seconds = amount(3);
my $directory = PostgreSQL::Test::Utils::tempdir;
my $node = csv_server('load', wal_level => 'replica', datestyle => 'ISO, MDY', timezone => 'UTC');
my $session = new_session($node);

$session->value('CREATE EXTENSION amcheck');

sub letters { my ($n) = @_; return join '', map { pick('a' .. 'z', ' ', "\xc3\xa9", ',', "\n", '""') } 1 .. $n }

# ---- random tables ----

# a type, and how to make a value of it
my @types = (
	[ 'int', sub { int(rand(2000000)) - 1000000 } ],
	[ 'bigint', sub { int(rand(2**50)) } ],
	[ 'smallint', sub { int(rand(60000)) - 30000 } ],
	[ 'bool', sub { pick(qw(t f true no)) } ],
	[ 'double precision', sub { rand(1e6) } ],
	[ 'real', sub { int(rand(1000)) / 8 } ],
	[ 'numeric', sub { int(rand(1e9)) . '.' . int(rand(1e9)) } ],
	[ 'numeric(10,2)', sub { sprintf('%.2f', rand(1e7)) } ],
	[ 'date', sub { sprintf('%04d-%02d-%02d', 1900 + rand(200), 1 + rand(12), 1 + rand(28)) } ],
	[ 'timestamp', sub { sprintf('2020-01-%02d %02d:00:00.%06d', 1 + rand(28), rand(24), rand(1e6)) } ],
	[ 'timestamptz', sub { sprintf('2020-01-%02d %02d:00:00+02', 1 + rand(28), rand(24)) } ],
	[ 'uuid', sub { join '-', map { join '', map { pick(0 .. 9, 'a' .. 'f') } 1 .. $_ } 8, 4, 4, 4, 12 } ],
	[ 'text', sub { '"' . letters(rand(30)) . '"' } ],
	[ 'text', sub { '"' . letters(rand(300)) . '"' } ],
	[ 'text', sub { rand() < 0.02 ? '"' . letters(rand(20000)) . '"' : rand() < 0.05 ? 'x' x rand(10000) : 'short' } ],
	[ 'varchar(40)', sub { '"' . ('v' x rand(40)) . '"' } ],
	[ 'char(12)', sub { 'c' x rand(12) } ],
	[ 'int[]', sub { '"{' . join(',', map { int rand(10) } 0 .. rand(5)) . '}"' } ],
	[ 'jsonb', sub { '"{""a"": ' . int(rand(1000)) . '}"' } ],
	[ 'bytea', sub { '\\x' . join '', map { sprintf '%02x', rand(256) } 1 .. rand(40) } ],
	[ 'interval', sub { int(rand(1000)) . ' minutes' } ],
	[ 'inet', sub { join '.', map { int rand(256) } 1 .. 4 } ],
	[ 'name', sub { 'n' x (1 + rand(60)) } ],
	[ '"char"', sub { pick('a' .. 'z') } ],
	[ 'oid', sub { int rand(2**32) } ]);

# what a table has beside its columns; %s is its name
sub table_sql
{
	my ($kind, $columns, $name) = @_;
	my @more;

	push @more, 'n serial' if $kind->{serial};
	push @more, 'n2 int DEFAULT 7' if $kind->{default};
	push @more, 'g int GENERATED ALWAYS AS (c0 / 2) STORED' if $kind->{generated};
	push @more, 'PRIMARY KEY (n)' if $kind->{key} && $kind->{serial};
	push @more, 'CHECK (c0 IS NOT NULL)' if $kind->{check};
	push @more, "UNIQUE ($kind->{unique})" if $kind->{unique};
	my $sql = "CREATE $kind->{persistence} TABLE $name (gone int, " . join(', ', @$columns, @more) . ')';
	return "$sql; ALTER TABLE $name DROP gone" . ($kind->{fillfactor} ? "; ALTER TABLE $name SET (fillfactor = 30)" : '')
	  if !$kind->{partitioned};
	return "$sql PARTITION BY LIST (mod(c0, 4)); ALTER TABLE $name DROP gone;"
	  . "CREATE TABLE ${name}_1 PARTITION OF $name FOR VALUES IN (0, 1);"
	  . "CREATE TABLE ${name}_2 (LIKE $name INCLUDING ALL); ALTER TABLE $name ATTACH PARTITION ${name}_2 FOR VALUES IN (2, -2, NULL);"
	  . "CREATE TABLE ${name}_3 PARTITION OF $name DEFAULT";
}

my $contents = q{SELECT count(*), md5(string_agg(to_jsonb(t)::text, ' ' ORDER BY to_jsonb(t)::text COLLATE "C")) FROM %s t};

sub corruption
{
	my ($name) = @_;

	return $session->value(
		"SELECT count(*) FROM pg_partition_tree('$name') p, LATERAL verify_heapam(p.relid) WHERE p.isleaf");
}

my ($ntables, $nfailures, $nrows_all, $npages) = (0, 0, 0, 0);
my @wrong;
for (my $end = time() + $seconds; time() < $end || $ntables < 20; $ntables++)
{
	# the first is what partitions and generated columns go by
	my @columns = ($types[0], map { pick(@types) } 1 .. rand(12));
	my $nulls = pick(0, 0.1, 0.9);
	my $nrows = int(pick(0, rand(10), rand(300), rand(5000), 3000 + rand(3000)));
	my @rows = map { join ',', map { rand() < $nulls ? '' : $_->[1]->() } @columns } 1 .. $nrows;
	my $file = write_file("$directory/random.csv", map { "$_\n" } @rows);
	my %kind = map { $_ => rand() < 0.15 } qw(default generated check fillfactor);
	$kind{serial} = rand() < 0.2;
	$kind{persistence} = pick('', '', 'UNLOGGED', 'TEMP');
	$kind{partitioned} = rand() < 0.2 && !$kind{persistence};
	$kind{key} = rand() < 0.5 && !$kind{partitioned};
	$kind{unique} = rand() < 0.1 && !$kind{partitioned} ? 'c0' : '';
	my @names = map { "c$_" } 0 .. $#columns;
	my @definitions = map { "$names[$_] $columns[$_][0]" } 0 .. $#columns;
	# in the table, columns stand in another order; sometimes one is declared otherwise
	my @shuffled = sort { rand() <=> 0.5 } @definitions;
	my $list = join ', ', @names;
	my %got;

	# a blank line is a record only where there is one field
	next if @columns > 1 && grep { $_ eq '' } @rows;
	$session->value("CREATE FOREIGN TABLE source (" . join(', ', @definitions) . ") SERVER csv
		OPTIONS (filename '$file', quoting 'postgres', on_error 'stop')");
	# with enough bytes, index entries come after the rows: "built" or "sorted"
	for my $way ('copy', 'built', 'sorted')
	{
		my $name = "t_$way";
		my ($out, $err);

		$session->value('BEGIN') if $way eq 'built';
		$session->value(table_sql(\%kind, \@shuffled, $name));
		$session->value('\set VERBOSITY sqlstate');
		if ($way eq 'copy')
		{
			($out, $err) = $session->query("COPY $name ($list) FROM '$file' (FORMAT csv)");
		}
		else
		{
			$session->value('SAVEPOINT a') if $way eq 'built';
			($out, $err) = $session->query("SELECT records_loaded, records_skipped FROM csv_gpu_load('source', '$name')");
			$session->value($err eq '' ? 'COMMIT' : 'ROLLBACK TO a; COMMIT') if $way eq 'built';
		}
		$session->value('\set VERBOSITY default');
		$got{$way} = $session->value(sprintf $contents, $name) . ($err =~ /ERROR:  (\w+)/ ? " error $1" : '');
		$got{$way} .= ' corrupt' if corruption($name);
		$session->value("SELECT bt_index_check(indexrelid, true) FROM pg_index WHERE indrelid = '$name'::regclass") if !$kind{partitioned};
		$nfailures++ if $err =~ /ERROR/;
	}
	$nrows_all += $nrows;
	push @wrong, "(" . join(', ', @shuffled) . ") " . join(' ', map { "$_=" . ($kind{$_} || 0) } sort keys %kind) . " $nrows rows: " . join(' / ', map { "$_: $got{$_}" } sort keys %got)
	  if grep { $_ ne $got{copy} } values %got;
	$session->value('DROP FOREIGN TABLE source; DROP TABLE t_copy, t_built, t_sorted');
}
is(scalar @wrong, 0, "random tables hold what COPY puts there") or diag(join "\n", @wrong[0 .. ($#wrong < 5 ? $#wrong : 5)]);
note("$ntables tables, $nfailures loads that fail, $nrows_all rows");

# ---- leaf pages of indexes that are filled by several loads ----

my @index_kinds = (
	'UNIQUE INDEX %s ON filled (a)', 'UNIQUE INDEX %s ON filled (b, a) NULLS NOT DISTINCT', 'UNIQUE INDEX %s ON filled (c, a) INCLUDE (b)',
	map { "INDEX %s ON filled $_" } '(b)', '(b DESC NULLS FIRST, a)', '(c) INCLUDE (b)', '(lower(b))', '(a) WHERE c > 50', '(b COLLATE "en-x-icu")',
	'(repeat(md5(b), 30))', '(c) WITH (deduplicate_items = off, fillfactor = 60)');
my $next = 0;

@wrong = ();
for my $round (1 .. 4)
{
	$session->value('CREATE TABLE filled (a int, b text, c numeric); CREATE FOREIGN TABLE source (a int, b text, c numeric) SERVER csv
		OPTIONS (filename ' . "'$directory/filled.csv', quoting 'postgres')");
	$session->value(sprintf "CREATE $index_kinds[$_]", "filled_$_") foreach grep { rand() < 0.5 } 0 .. $#index_kinds;
	for my $load (1 .. 6)
	{
		my @keys = sort { rand() <=> 0.5 } map { $next++ * 7919 % 100003 } 1 .. 500 + rand 4000;
		my $nwords = pick(1, 5, 3000);
		my $error = '';

		push @keys, $keys[rand @keys] if rand() < 0.2;
		write_file("$directory/filled.csv", map { "$_," . (rand() < 0.1 ? '' : 'w' . int rand $nwords) . ',' . (rand() < 0.1 ? '' : int rand 100) . "\n" } @keys);
		(undef, $error) = $session->query("SELECT csv_gpu_load('source', 'filled')");
		push @wrong, $error if $error =~ /ERROR/ && $error !~ /duplicate key value/;
		$session->value("SELECT bt_index_parent_check(indexrelid, true, true) FROM pg_index WHERE indrelid = 'filled'::regclass");
		$session->value('DELETE FROM filled WHERE random() < 0.3') if rand() < 0.4;
		$session->value('VACUUM filled') if rand() < 0.4;
		$next = 0 if $next > 90000;
	}
	$session->value('DROP TABLE filled; DROP FOREIGN TABLE source');
}
is(scalar @wrong, 0, 'indexes that are filled by pages are as PostgreSQL makes them') or diag(join "\n", @wrong);

# ---- foreign tables as targets, and as partitions ----

my $port = $node->port;
my $host = $node->host;
$session->value("CREATE EXTENSION postgres_fdw;
	CREATE SERVER loop FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 'postgres', batch_size '10');
	CREATE USER MAPPING FOR CURRENT_USER SERVER loop;
	CREATE TABLE there (a int, b text);
	CREATE FOREIGN TABLE here (a int, b text DEFAULT 'none') SERVER loop OPTIONS (table_name 'there');
	CREATE TABLE parts (a int, b text) PARTITION BY LIST (b);
	CREATE TABLE parts_x PARTITION OF parts FOR VALUES IN ('x');
	CREATE FOREIGN TABLE parts_y PARTITION OF parts FOR VALUES IN ('y') SERVER loop OPTIONS (table_name 'there')");
write_file("$directory/foreign.csv", map { "$_," . ($_ % 3 ? 'x' : 'y') . "\n" } 1 .. 1000);
$session->value("CREATE FOREIGN TABLE source (a int, b text) SERVER csv OPTIONS (filename '$directory/foreign.csv')");
is($session->value("SELECT records_loaded FROM csv_gpu_load('source', 'here')"), '1000', 'a foreign table as target');
is($session->value('SELECT count(*), sum(a) FROM there'), '1000|500500', 'has the rows');

# a row a batch that arrives; batch_size is 10
$session->value('CREATE TABLE batches (n bigint);
	CREATE FUNCTION count_batch() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN INSERT INTO public.batches SELECT count(*) FROM new; RETURN NULL; END$$;
	CREATE TRIGGER t AFTER INSERT ON there REFERENCING NEW TABLE AS new FOR EACH STATEMENT EXECUTE FUNCTION count_batch()');
for my $target ('here', 'parts')
{
	my $nrows = $target eq 'here' ? 1000 : 333;

	$session->value("TRUNCATE there, batches; SELECT csv_gpu_load('source', '$target')");
	is($session->value('SELECT count(*), sum(n), max(n) FROM batches'), int(($nrows + 9) / 10) . "|$nrows|10", "rows of $target travel in batches");
}
$session->value('DROP TRIGGER t ON there; TRUNCATE parts_x');
is($session->value("TRUNCATE there; SELECT records_loaded FROM csv_gpu_load('source', 'here', ARRAY['a', NULL]); SELECT DISTINCT b FROM there"),
	"1000\nnone", 'and the defaults');
is($session->value("TRUNCATE there; SELECT records_loaded FROM csv_gpu_load('source', 'parts')"), '1000', 'a foreign partition');
is($session->value('SELECT (SELECT count(*) FROM parts_x), (SELECT count(*) FROM there)'), '667|333', 'has its rows');
$session->value('BEGIN');
$session->value("SELECT csv_gpu_load('source', 'parts')");
$session->value('ROLLBACK');
is($session->value('SELECT (SELECT count(*) FROM parts_x), (SELECT count(*) FROM there)'), '667|333', 'an abort undoes both');

# ---- a temporary table of another session ----

my $stranger = new_session($node);
$stranger->value('CREATE TEMP TABLE private (a int, b text)');
my $theirs = $stranger->value("SELECT 'private'::regclass::oid");
my ($refused, $reason) = $session->query("SELECT csv_gpu_load('source', $theirs)");
like($reason, qr/ERROR:  cannot access temporary tables of other sessions/, "nothing gets into another session's");
is($stranger->value("SELECT count(*), pg_relation_size('private') FROM private"), '0|0', 'which is empty');
$stranger->quit;

# ---- an index that is made meanwhile ----

write_file("$directory/beside.csv", map { "$_,some text," . $_ % 7 . "\n" } 1 .. 20000);
$session->value("CREATE TABLE beside (a int PRIMARY KEY, b text, c text);
	CREATE FOREIGN TABLE beside_it (a int, b text, c text) SERVER csv OPTIONS (filename '$directory/beside.csv')");
for my $index ('(c)', 'USING gin (to_tsvector(\'simple\', b))')
{
	my ($first, $loader, $maker) = map { new_session($node) } 1 .. 3;
	my ($out, $err);

	# the load has seen which indexes there are, and waits to open them
	$first->value('BEGIN; ALTER INDEX beside_pkey SET TABLESPACE pg_default');
	$loader->send("SELECT records_loaded FROM csv_gpu_load('beside_it', 'beside')");
	$node->poll_query_until('postgres', 'SELECT wait_event_type = \'Lock\' FROM pg_stat_activity WHERE pid = ' . $loader->pid) or die 'no load waits';
	$maker->send("CREATE INDEX CONCURRENTLY made ON beside $index");
	$node->poll_query_until('postgres', 'SELECT count(*) = 1 FROM pg_index WHERE indexrelid::regclass::text = \'made\'') or die 'no index is made';
	$first->value('COMMIT');
	($out, $err) = $loader->await;
	is("$out$err", '20000', "a load beside CREATE INDEX CONCURRENTLY $index");
	($out, $err) = $maker->await;
	is($err, '', 'which goes on');
	is($session->value("SELECT bt_index_check('beside_pkey', true); SET enable_seqscan = off; SELECT count(*) FROM beside WHERE " . ($index =~ /gin/ ? "to_tsvector('simple', b) \@\@ 'text'" : "c IN ('0', '1', '2', '3', '4', '5', '6')") . '; RESET enable_seqscan'),
		"\n20000", 'and has all rows');
	$session->value('DROP INDEX made; TRUNCATE beside');
	$_->quit for $first, $loader, $maker;
}

# ---- memory ----

write_file("$directory/large.csv", map { "$_,some text,more text\n" } 1 .. 300000);
$session->value("CREATE FOREIGN TABLE large (a int, b text, c text) SERVER csv OPTIONS (filename '$directory/large.csv');
	CREATE TABLE plain (a int, b text, c text);
	CREATE TABLE split (a bigint PRIMARY KEY, b varchar(10) CHECK (b <> ''), c text, d timestamptz DEFAULT now()) PARTITION BY HASH (a);
	CREATE TABLE split_0 PARTITION OF split FOR VALUES WITH (MODULUS 2, REMAINDER 0);
	CREATE TABLE split_1 PARTITION OF split FOR VALUES WITH (MODULUS 2, REMAINDER 1);
	CREATE TABLE triggered (a int, b text, c text);
	CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
	CREATE TRIGGER a BEFORE INSERT ON triggered FOR EACH ROW EXECUTE FUNCTION nothing()");
for my $table (qw(plain split triggered))
{
	$session->value("BEGIN; SELECT csv_gpu_load('large', '$table'); ROLLBACK");
	my $before = rss_kb($session->pid);
	my ($out, $err, $most) = $session->query_watched("BEGIN; SELECT records_loaded FROM csv_gpu_load('large', '$table'); ROLLBACK");

	is($out, '300000', "$table: 300,000 rows");
	cmp_ok($most - $before, '<', 16 * 1024, "$table: memory does not grow with the rows");
}

# ---- readers and writers meanwhile ----

my $nload = 20000;
write_file("$directory/many.csv", map { "$_,load," . ('z' x ($_ % 90)) . "\n" } 1 .. $nload);
$session->value("CREATE FOREIGN TABLE many (a int, b text, c text) SERVER csv OPTIONS (filename '$directory/many.csv')");
for my $persistence ('', 'UNLOGGED')
{
	my $name = $persistence ? 'busy_unlogged' : 'busy';
	my @others = map { new_session($node) } 1 .. 3;
	my ($loads, $aborted, $seen, $partial) = (0, 0, 0, 0);
	my @inserted = (0, 0);
	my @failed;

	$session->value("CREATE $persistence TABLE $name (a int, b text, c text) WITH (autovacuum_enabled = off)");
	for (my $end = time() + $seconds / 4; time() < $end;)
	{
		my $abort = rand() < 0.3;

		$session->send("BEGIN; SELECT csv_gpu_load('many', '$name'); " . ($abort ? 'ROLLBACK' : 'COMMIT'));
		for my $writer (0, 1)
		{
			my $n = int(rand(3000));

			$others[$writer]->send("INSERT INTO $name SELECT g, 'other$writer', repeat('q', g % 300) FROM generate_series(1, $n) g;
				UPDATE $name SET c = c || '.' WHERE b = 'other$writer' AND a = 1; DELETE FROM $name WHERE b = 'gone$writer';
				INSERT INTO $name VALUES (0, 'gone$writer', 'x')");
			$inserted[$writer] += $n;
		}
		until ($session->ended && $others[0]->ended && $others[1]->ended)
		{
			my $count = $others[2]->value("SELECT count(*) FROM $name WHERE b = 'load'");

			$partial++ if $count % $nload != 0;
			$seen++;
			$others[2]->value("VACUUM $name") if rand() < 0.1;
			$others[2]->value('CHECKPOINT') if rand() < 0.1;
		}
		for my $ended ($session, @others[0, 1])
		{
			my ($out, $err) = $ended->await;

			push @failed, $err if $err =~ /(ERROR|PANIC|FATAL)/;
		}
		$abort ? $aborted++ : $loads++;
	}
	is(join("\n", @failed), '', "$name: nobody had an error");
	is($partial, 0, "$name: $seen looks, $loads loads, $aborted aborted: all rows of a load or none");
	is($session->value("SELECT count(*) FROM $name WHERE b = 'load'"), $loads * $nload, "$name: no row lost");
	is($session->value("SELECT count(*) FROM $name WHERE b LIKE 'other%'"), $inserted[0] + $inserted[1], "$name: nor of the others");
	is($session->value("SELECT count(*) FROM $name WHERE b = 'load' AND (length(c) <> a % 90 OR a NOT BETWEEN 1 AND $nload)"), 0, "$name: nor spoilt");
	is(corruption($name), 0, "$name: verify_heapam");
	$session->value("VACUUM $name");
	is(corruption($name), 0, "$name: verify_heapam after VACUUM");
	$_->quit for @others;
}

# ---- a cancel ----

$session->value("CREATE TABLE stopped (a int, b text, c text)");
my $pid = $session->pid;
my $cancelled = 0;
for (1 .. 10)
{
	$session->send("SELECT csv_gpu_load('many', 'stopped') FROM generate_series(1, 50)");
	sleep(rand(0.2));
	$node->safe_psql('postgres', "SELECT pg_cancel_backend($pid)");
	my ($out, $err) = $session->await;
	$cancelled++ if $err =~ /canceling statement due to user request/;
	$session->value('DELETE FROM stopped') if $err !~ /canceling/;
}
cmp_ok($cancelled, '>', 0, "cancelled $cancelled of 10 loads");
is($session->value('SELECT count(*) FROM stopped'), 0, 'a cancelled load leaves no row');
is(corruption('stopped'), 0, 'cancelled: verify_heapam');

# not those that the checkpointer is writing just then
my $size;
for (1 .. 20)
{
	$session->value('VACUUM stopped');
	$size = $session->value("SELECT pg_relation_size('stopped')");
	last if $size == 0;
	sleep(0.2);
}
is($size, 0, 'and VACUUM takes its pages back');
# checkpoints are not held up by what has failed
$session->value('CHECKPOINT');

# ---- progress ----

write_file("$directory/slow.csv", map { "$_,load,c\n" . ($_ % 100 == 0 ? "bad\n" : '') } 1 .. 400000);
$session->value("CREATE FOREIGN TABLE slow (a int, b text, c text) SERVER csv OPTIONS (filename '$directory/slow.csv', log_verbosity 'silent', chunk_size '64kB');
	TRUNCATE stopped");
my $watcher = new_session($node);
my $look = "SELECT command, type, relid::regclass, bytes_processed, bytes_total, tuples_processed, tuples_excluded
	FROM pg_stat_progress_copy WHERE pid = $pid";

# the first query of a session takes as long as a scan may
$watcher->value($look);
for my $statement ("SELECT records_loaded, records_skipped FROM csv_gpu_load('slow', 'stopped')", 'SELECT count(b), 4000 FROM slow WHERE pg_sleep(CASE a % 1000 WHEN 0 THEN 0.002 ELSE 0 END) IS NOT NULL')
{
	my ($looks, $backwards, $odd, $result) = (0, 0, 0, '');
	my $relation = $statement =~ /stopped/ ? 'stopped' : 'slow';

	# on a busy machine, it may end before it is looked at
	for (my $tries = 0; $looks == 0 && $tries < 20; $tries++)
	{
		my $last = 0;

		$session->send($statement);
		until ($session->ended)
		{
			my $row = $watcher->value($look);
			next if $row eq '';
			my ($command, $type, $relid, $done, $total, $tuples, $excluded) = split /\|/, $row;
			$looks++;
			$backwards++ if $done < $last;
			$odd++ if $command ne 'COPY FROM' || $type ne 'FILE' || $relid ne $relation || $done > $total
			  || $total != -s "$directory/slow.csv" || $excluded > $tuples / 50 + 1;
			$last = $done;
		}
		$result = ($session->await)[0];
	}
	is($result, '400000|4000', "$statement: its result");
	cmp_ok($looks, '>', 0, "it shows in pg_stat_progress_copy ($looks times)");
	is("$backwards $odd", '0 0', 'and goes forward');
	is($watcher->value("SELECT count(*) FROM pg_stat_progress_copy"), 0, 'and is gone afterwards');
}
# COPY has the place, and keeps it
$session->send("COPY (SELECT * FROM slow) TO '/dev/null'");
my %relations;
until ($session->ended)
{
	my $row = $watcher->value("SELECT command || ' ' || relid FROM pg_stat_progress_copy WHERE pid = $pid");
	$relations{$row}++ if $row ne '';
}
$session->await;
ok(!exists $relations{'COPY FROM'} && !grep({ !/^COPY TO 0$/ && !/^COPY FROM \d+$/ } keys %relations), 'COPY ... TO shows itself');
is($watcher->value("SELECT count(*) FROM pg_stat_progress_copy"), 0, 'and nothing is left');
# two scans, an ERROR, a cursor that stays open
$session->query('SELECT 1 / (a - 300000) FROM slow');
is($watcher->value("SELECT count(*) FROM pg_stat_progress_copy"), 0, 'nothing is left after an ERROR');
$session->value('SELECT count(*) FROM slow x JOIN slow y USING (a) WHERE x.a < 1000');
$session->value('BEGIN; DECLARE c CURSOR FOR SELECT a FROM slow; MOVE 200000 IN c');
like($watcher->value("SELECT tuples_processed FROM pg_stat_progress_copy WHERE pid = $pid"), qr/^\d+$/, 'a cursor shows');
is($session->value("SELECT records_loaded FROM csv_gpu_load('many', 'stopped')"), $nload, 'a load beside it');
is($session->value('FETCH 1 FROM c'), '200001', 'the cursor goes on');
$session->value('COMMIT');
is($watcher->value("SELECT count(*) FROM pg_stat_progress_copy"), 0, 'and nothing is left');

$session->quit;
$watcher->quit;
$node->stop;

# ---- a server with few buffers ----

my $small = csv_server('small', shared_buffers => '128kB');
my @loaders = map { new_session($small) } 1 .. 4;
$loaders[0]->value("CREATE FOREIGN TABLE many (a int, b text, c text) SERVER csv OPTIONS (filename '$directory/many.csv');
	CREATE TABLE by_pages (a int, b text, c text);
	CREATE TABLE by_buffers (a int, b text, c text) PARTITION BY LIST (mod(a, 24))");
$loaders[0]->value("CREATE TABLE by_buffers_$_ PARTITION OF by_buffers FOR VALUES IN ($_)") for 0 .. 23;
for my $table (qw(by_pages by_buffers))
{
	my @failed;

	for my $few (1, scalar @loaders)
	{
		my @some = @loaders[0 .. $few - 1];

		$_->send("SELECT csv_gpu_load('many', '$table')") for @some;
		for my $loader (@some)
		{
			my ($out, $err) = $loader->await;

			push @failed, $err if $err ne '';
		}
	}
	is("@failed", '', "$table: 16 buffers are enough for several loads");
	is($loaders[0]->value("SELECT count(*), sum(a) FROM $table"),
		join('|', map { (1 + @loaders) * $_ } $nload, $nload * ($nload + 1) / 2),
		"$table: has all rows");
}
finish(@loaders);
