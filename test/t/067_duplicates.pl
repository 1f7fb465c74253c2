# csv_gpu_load() with `duplicates` and `rejects`: random records into random targets, beside
# INSERT ... ON CONFLICT row by row over the same records.
use lib 'test/t';
use CsvServer;

random_seed();
my $directory = PostgreSQL::Test::Utils::tempdir;
my $node = csv_server('duplicates', max_parallel_workers_per_gather => 0);
my $session = new_session($node);
my $has_icu = $session->value("SELECT count(*) FROM pg_collation WHERE collprovider = 'i'") > 0;

$session->value(q{
	SET client_min_messages = warning;
	CREATE TABLE parent (p int PRIMARY KEY);
	INSERT INTO parent SELECT generate_series(0, 7);
	CREATE TABLE rejected (record bigint, error text, message text);
	CREATE FUNCTION change() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN
		IF new.name = 'drop' THEN RETURN NULL; END IF;
		new.name := coalesce(new.name, 'mended');
		RETURN new;
	END $$;
	-- row by row, as INSERT sees it; the records that are not in
	CREATE FUNCTION by_row(clause text, backwards boolean) RETURNS bigint[] LANGUAGE plpgsql AS $$
	DECLARE
		r record;
		n bigint;
		out bigint[] := '{}';
	BEGIN
		FOR r IN SELECT i FROM records ORDER BY CASE WHEN backwards THEN -i ELSE i END LOOP
			BEGIN
				EXECUTE 'INSERT INTO wanted SELECT k, l, name, p FROM records WHERE i = $1 ' || clause USING r.i;
				GET DIAGNOSTICS n = ROW_COUNT;
				IF n = 0 AND (SELECT name IS DISTINCT FROM 'drop' OR NOT triggered FROM records, how WHERE i = r.i) THEN
					out := out || r.i;
				END IF;
			EXCEPTION WHEN integrity_constraint_violation OR data_exception THEN
				IF clause <> '' AND clause !~ 'refuse' THEN RAISE; END IF;
				out := out || r.i;
			END;
		END LOOP;
		RETURN (SELECT coalesce(array_agg(x ORDER BY x), '{}') FROM unnest(out) x);
	END $$;
});
$session->value("CREATE COLLATION folded (provider = icu, locale = 'und-u-ks-level2', deterministic = false)") if $has_icu;

# type of the key's column, its values in the file, and of the target
my @kinds = (
	[ 'int', 'int', sub { between(1, 40) } ],
	[ 'numeric', 'numeric', sub { pick('1', '1.0', '2', '2.00', between(1, 30)) } ],
	[ 'text', 'char(4)', sub { pick('a', '"a "', 'b', 'x' . between(1, 20)) } ],
	[ 'text', 'varchar(9)', sub { pick('a', 'A', 'b' . between(1, 20)) } ]);
push @kinds, [ 'text', 'text COLLATE folded', sub { pick('a', 'A', 'b' . between(1, 15), 'B' . between(1, 15)) } ] if $has_icu;

foreach my $case (1 .. amount(30))
{
	my ($of_file, $of_target, $value) = @{ pick(@kinds) };
	my $several = chance(0.3);
	my $mode = pick('first', 'last', 'update', 'refuse', 'first', 'last', 'update');
	my $refuses = $mode eq 'refuse' || chance(0.2);
	my $partitioned = !$several && chance(0.2);
	my $triggered = chance(0.2);
	my $same_nulls = $partitioned || chance(0.7) ? '' : 'NULLS NOT DISTINCT';
	my $columns = $several ? 'k, l' : 'k';
	my $n = pick(0, 5, 60, 300);
	my $big = pick('', 'x' x 400);
	my $bytes = '';
	# of rows with one key, the last is chosen before triggers
	my $drops = !$triggered || $mode eq 'first' || $mode eq 'refuse';

	foreach my $i (1 .. $n)
	{
		my $p = $refuses && chance(0.05) ? 9 : between(0, 7);
		my $name = $refuses && chance(0.05) ? '' : $refuses && chance(0.05) ? 'bad' : chance(0.05) && $drops ? 'drop' : "n$i$big";

		$bytes .= join(',', chance(0.05) ? '' : $value->(), between(1, 3), $name, $p) . "\n";
	}
	write_file("$directory/f.csv", $bytes);
	my $unique = $partitioned ? "UNIQUE (k)" : "UNIQUE $same_nulls ($columns)";
	# rows come in the order of the file, also for another index
	my $second = $refuses && !$partitioned && $mode ne 'last' && chance(0.4) ? ', UNIQUE (name)' : '';
	my $table = sub { my ($t) = @_;
		return "DROP TABLE IF EXISTS $t; CREATE TABLE $t (k $of_target, l int, name text NOT NULL CHECK (name <> 'bad'),"
		. ' p int' . ($refuses && chance(0.5) ? ' REFERENCES parent' : '') . ", $unique$second)"
		. ($partitioned ? " PARTITION BY HASH (k); CREATE TABLE ${t}0 PARTITION OF $t FOR VALUES WITH (MODULUS 2, REMAINDER 0);"
			. " CREATE TABLE ${t}1 PARTITION OF $t FOR VALUES WITH (MODULUS 2, REMAINDER 1)" : '') . ';'; };
	my $ddl = $table->('loaded');
	my $ddl2 = $ddl =~ s/\bloaded/wanted/gr;
	my $trigger = !$triggered ? '' : join('', map { "CREATE TRIGGER t BEFORE INSERT ON $_ FOR EACH ROW EXECUTE FUNCTION change();" } qw(loaded wanted));
	my $before = chance(0.5) ? 0 : between(1, 10);
	my $fill = join('', map { "INSERT INTO $_ SELECT k, l, 'before ' || i, 0 FROM records WHERE i > $n - $before AND k IS NOT NULL ON CONFLICT DO NOTHING;" } qw(loaded wanted));
	my $resolves = "ON CONFLICT ($columns) DO";
	my $set = 'UPDATE SET name = excluded.name, p = excluded.p' . ($several ? '' : ', l = excluded.l');
	my $what = "$mode, key of $of_target ($columns) $same_nulls, $n records, $before before"
		. ($refuses ? ', refused' : '') . ($partitioned ? ', partitions' : '') . ($triggered ? ', trigger' : '') . $second;

	$session->value(qq{
		DROP TABLE IF EXISTS records, how;
		DROP FOREIGN TABLE IF EXISTS source;
		CREATE FOREIGN TABLE source (k $of_file, l int, name text, p int) SERVER csv OPTIONS (filename '$directory/f.csv', log_verbosity 'silent');
		CREATE TABLE records (i serial, k $of_target, l int, name text, p int);
		COPY records (k, l, name, p) FROM '$directory/f.csv' (FORMAT csv);
		CREATE TABLE how AS SELECT '@{[ $triggered ? 't' : 'f' ]}'::boolean AS triggered;
		$ddl $ddl2 $trigger TRUNCATE rejected;
		SET session_replication_role = replica; $fill RESET session_replication_role});
	my @out;
	if ($mode eq 'refuse')
	{
		@out = $session->value("SELECT by_row('', false)");
	}
	elsif ($refuses)
	{
		# rows that are not inserted for another reason do not count as duplicates
		next if $mode eq 'update';
		@out = $session->value("SELECT by_row('$resolves NOTHING -- refuse', " . ($mode eq 'last' ? 'true' : 'false') . ')');
	}
	else
	{
		if ($mode ne 'update')
		{
			@out = $session->value("SELECT by_row('$resolves NOTHING', " . ($mode eq 'last' ? 'true' : 'false') . ')');
		}
		else
		{
			my $ddl3 = $ddl =~ s/\bloaded/kept/gr;

			@out = $session->value(qq{$ddl3; ALTER TABLE kept RENAME TO other; ALTER TABLE wanted RENAME TO waiting; ALTER TABLE other RENAME TO wanted;
				SELECT by_row('$resolves NOTHING', true) AS kept_out});
			$session->value(qq{ALTER TABLE wanted RENAME TO kept; ALTER TABLE waiting RENAME TO wanted;
				INSERT INTO wanted SELECT * FROM kept $resolves $set; DROP TABLE kept});
		}
	}
	my $with = $mode eq 'refuse' ? '' : ", duplicates => '$mode', key => '{$columns}'";
	my $counts = $session->value("SELECT records_loaded || ' ' || records_skipped FROM csv_gpu_load('source', 'loaded', rejects => 'rejected'$with)");
	my $in = $session->value("SELECT count(*) FROM (TABLE loaded EXCEPT ALL TABLE wanted UNION ALL (TABLE wanted EXCEPT ALL TABLE loaded)) x");
	my $rejects = $session->value("SELECT coalesce(array_agg(record ORDER BY record), '{}') FROM rejected");
	my $nout = () = $out[-1] =~ /\d+/g;

	is($in, '0', "$what: rows");
	is($rejects, $out[-1], "$what: rejects");
	like($counts, qr/ $nout$/, "$what: skipped");
}

# a key of ranges that must not overlap is no B-tree; each record that overlaps is refused by itself
if ($session->value('SHOW server_version_num') >= 180000)
{
	write_file("$directory/spans.csv", qq{1,"[1,5)"\n1,"[4,8)"\n1,"[5,9)"\n2,\n2,"[4,8)"\n});
	$session->value(qq{CREATE FOREIGN TABLE spans (id int, span int4range) SERVER csv OPTIONS (filename '$directory/spans.csv')});
	foreach my $partitions ('', 'PARTITION BY RANGE (id)')
	{
		$session->value("CREATE TABLE times (id int4range, span int4range, PRIMARY KEY (id, span WITHOUT OVERLAPS)) $partitions");
		$session->value('CREATE TABLE times_1 PARTITION OF times DEFAULT') if $partitions ne '';
		my $load = "records_loaded || ' ' || records_skipped FROM csv_gpu_load('spans', 'times', rejects => 'rejected', expressions => '{\"id\": \"int4range(id, id, ''[]'')\"}'";

		$session->value('TRUNCATE rejected');
		is($session->value("SELECT $load)"), '3 2', "ranges $partitions");
		is($session->value('SELECT string_agg(record::text, \' \' ORDER BY record) FROM rejected'), '2 4', "rejects $partitions");
		my (undef, $error) = $session->query("SELECT $load, duplicates => 'first')");
		like($error, qr/has no primary key that can tell duplicates/, "no key $partitions");
		$session->value('DROP TABLE times');
	}
}

finish($session);
