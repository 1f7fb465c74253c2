# README.md and docs/: their examples run and give what they show, their links lead
# somewhere, and the reference has all that there is.
#
# A block ```sql is run, after all blocks ```sh of the pages.  A block ```text
# right after it is its output; without one there must be no ERROR.  Other
# blocks, such as ```sql not-run, are not run.  README.md comes first; each
# other page begins in a copy of the database that it leaves.
use lib 'test/t';
use CsvServer;
use Examples;

my $cron = `pg_config --pkglibdir` =~ s/\n//r . '/pg_cron.so';
my @cron = (shared_preload_libraries => 'pg_cron', 'cron.database_name' => 'jobs');
my $dir = new_folder();
my %pages = map { $_ => slurp_file($_) } glob('*.md docs/*.md');

# ---- examples, all in one go: page by page, a new session each ----

my ($sql, @blocks) = ('');

for my $page ('README.md', grep { m{^docs/} } sort keys %pages)
{
	my $text = $pages{$page};
	my $database = lc($page) =~ s{^docs/|\.md$}{}gr =~ tr{-}{_}r;
	my $template = $database eq 'readme' ? 'template1' : 'readme';

	next if $text !~ /^```sql\n/m || $database eq 'jobs' && !-e $cron;
	$sql .= "\\c postgres\nCREATE DATABASE $database TEMPLATE $template;\n\\c $database\n";
	for my $example (examples($text))
	{
		my ($kind, $code, $shown, $line) = @$example;
		my $name = "$page:$line";

		$code =~ s{/tmp\b}{$dir}g;
		is(system($code), 0, $name) if $kind eq 'sh';
		next if $kind ne 'sql';
		push @blocks, [ $name, $shown ];
		# the next statement is to see what has changed
		$code .= ";SELECT pg_sleep(0.3) AS reloaded \\gset\n" if $code =~ /pg_reload_conf/;
		$sql .= "$code;\\echo end of block\n";
	}
	$sql .= "ALTER SYSTEM RESET ALL;SELECT pg_reload_conf(), pg_sleep(0.3) \\gset\n" if $text =~ /pg_reload_conf/;
}

my $settled = Time::HiRes::time() + 1.1;
my $node = csv_server('docs', -e $cron ? @cron : ());

# columns are kept of files that have been left alone for a second
Time::HiRes::sleep(0.1) while Time::HiRes::time() < $settled;
IPC::Run::run([ 'psql', '-Xq', '-d', $node->connstr('postgres') ], '<', \$sql, '>&', \my $out);
$out =~ s/\Q$dir\E\b/\/tmp/g;
for my $output (split /^end of block\n/m, $out)
{
	my ($name, $shown) = @{ shift @blocks };

	is(plain($output), plain($shown), $name) if defined $shown;
	unlike($output, qr/^(ERROR|FATAL)/m, $name) if !defined $shown;
}
is(@blocks, 0, 'no block is left');

# ---- links; anchors as GitHub makes them of headings ----

my %anchors;

for my $page (keys %pages)
{
	my $text = $pages{$page} =~ s/^```.*?^```$//gmsr;

	$anchors{$page} = { map { lc =~ tr/a-z0-9_ -//cdr =~ tr/ /-/r => 1 } $text =~ /^#+ (.*)$/gm };
}
for my $page (sort keys %pages)
{
	while ($pages{$page} =~ /\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g)
	{
		my ($file, $anchor) = ($1, $2);

		$file = $file eq '' ? $page : $page =~ s{[^/]*$}{}r . $file;
		$file =~ s{docs/\.\./}{};
		ok(-e $file && (!defined $anchor || $anchors{$file}{$anchor}),
			"$page: link to $file#" . ($anchor // ''));
	}
}
# ---- the reference ----

my @rows = map { [ split / \| / ] } $pages{'docs/reference.md'} =~ /^\| (`\N*) \|$/gm;
my @names = map { $_->[0] =~ /^`([\w.]+)/ } @rows;
my @there = split /\n/, $node->safe_psql('readme', q{
	LOAD 'csv_gpu_fdw';
	CREATE FUNCTION pg_temp.listed(arguments text, pattern text) RETURNS text LANGUAGE sql AS $$
		SELECT coalesce(string_agg(regexp_replace(a, '"|::[a-z]+[][]*|^(OUT|IN) ', '', 'g'), ', ' ORDER BY n), '')
			FROM regexp_split_to_table(replace(arguments, 'timestamp with time zone', 'timestamptz'), ', ')
				WITH ORDINALITY l(a, n) WHERE a ~ pattern $$;
	WITH members AS (
		SELECT classid, objid FROM pg_depend
			WHERE deptype = 'e' AND refclassid = 'pg_extension'::regclass
				AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'csv_gpu_fdw')
				AND coalesce(obj_description(objid, classid::regclass::name), '') NOT LIKE 'internal: %')
	SELECT format('`%s(%s)` | %s | `%s%s` | ', proname, pg_temp.listed(a, '^(?!OUT )'),
			CASE prokind WHEN 'p' THEN 'procedure' ELSE 'function' END, CASE WHEN proretset THEN 'SETOF ' END, coalesce('(' || nullif(pg_temp.listed(a, '^OUT '), '') || ')', prorettype::regtype::text))
		FROM members JOIN pg_proc p ON classid = 'pg_proc'::regclass AND objid = p.oid, pg_get_function_arguments(p.oid) a
		WHERE NOT EXISTS (SELECT FROM pg_class WHERE relname = proname)
	UNION ALL SELECT format('`%s` | %s | `(%s)` | ', relname, CASE relkind WHEN 'v' THEN 'view' ELSE 'table' END,
			pg_temp.listed(string_agg(attname || ' ' || atttypid::regtype, ', ' ORDER BY attnum), ''))
		FROM members JOIN pg_class c ON classid = 'pg_class'::regclass AND objid = c.oid AND relkind <> 'S'
			JOIN pg_attribute ON attrelid = c.oid AND attnum > 0 GROUP BY relname, relkind
	UNION ALL SELECT format('`%s` | setting%s | `%s` | `%s`', name,
			CASE context WHEN 'sighup' THEN ' of the configuration' WHEN 'superuser' THEN ' of superusers' END,
			coalesce(array_to_string(enumvals, ', '), CASE vartype WHEN 'bool' THEN 'boolean' WHEN 'string' THEN 'text' ELSE vartype END),
			boot_val)
		FROM pg_settings WHERE name LIKE 'csv\_gpu\_fdw.%'});
my %of;

for my $place ([ tables => 'pg_foreign_table' ], [ servers => 'pg_foreign_server' ],
	[ columns => 'pg_attribute' ], [ IMPORT => 'pg_namespace' ])
{
	my (undef, undef, $refusal) =
	  $node->psql('readme', "SELECT csv_gpu_fdw_validator('{there_is_no_such_option=1}', '$place->[1]'::regclass)");

	push @{ $of{$_} }, $place->[0] for split /, /, $refusal =~ s/.*context are: (\N*).*/$1/sr;
}
$of{default} //= ['tables'];    # PostgreSQL 15 has no such option
push @there, map { "`$_` | option of " . join ', ', @{ $of{$_} } } keys %of;
is_deeply(\@names, [ sort @names ], 'the reference is in the order of names');
is_deeply([ sort map { join ' | ', @{$_}[ 0 .. ($_->[1] =~ /^option/ ? 1 : 3) ] } @rows ], [ sort @there ],
	'the reference has all functions, views, tables, settings and options, and no others');
done_testing();
