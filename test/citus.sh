#!/bin/bash
# citus.sh: many servers by Citus, where that is installed, or built in the directory
# $CITUS_SOURCE.  A coordinator and three nodes on ports $CITUS_PORT (26540) and up of
# localhost.  Prints each check that fails; the last line is "N passed, N failed".
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
. test/private.sh

port=${CITUS_PORT:-26540}
passed=0
failed=0

[ -n "${CITUS_SOURCE:-}" ] || [ -e "$("$PG_CONFIG" --sharedir)/extension/citus.control" ] ||
	die 'Citus is not installed; CITUS_SOURCE may name a directory in which it is built'
private_install install || die 'csv_gpu_fdw could not be installed'
if [ -n "${CITUS_SOURCE:-}" ]; then
	$MAKE -s -C "$CITUS_SOURCE" install-extension with_llvm=no DESTDIR="$work/root" >"$work/citus.log" 2>&1 ||
		die "Citus could not be installed: $(tail -5 "$work/citus.log")"
	chmod -R a+rX "$work/root"
fi
mkdir "$work/files" && chmod 755 "$work/files"
for file in {0..6}; do
	seq "$file" 7 6999 | awk '{print $1 "," $1 % 13 "," ($1 % 2 ? "red" : "blue") "," $1 / 4}' >"$work/files/$file.csv"
done
echo 7000,1 >>"$work/files/4.csv"

# ---- servers ----

for node in {0..3}; do
	as_server mkdir "$work/data/$node"
	as_server "$run_bindir/initdb" -D "$work/data/$node" -U postgres -A trust -E UTF8 --no-locale --no-sync \
		>"$work/initdb.log" 2>&1 || die "$(cat "$work/initdb.log")"
	as_server tee -a "$work/data/$node/postgresql.conf" >/dev/null <<S
port = $((port + node))
unix_socket_directories = '$work/sock'
shared_preload_libraries = 'citus,csv_gpu_fdw'
fsync = off
jit = off
S
	as_server "$run_bindir/pg_ctl" -D "$work/data/$node" -l "$work/out/$node.log" -s -w start </dev/null ||
		die "$(cat "$work/out/$node.log")"
done
export PGHOST=$work/sock PGPORT=$port

ask()
{
	"$run_bindir/psql" -XAtq -d postgres -c "$1" 2>&1
}

# check NAME SQL EXPECTED, a pattern as in [[ ]]
check()
{
	local found

	found=$(ask "$2")
	# shellcheck disable=SC2053
	if [[ $found == $3 ]]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED: $1: $found"
	fi
}

for node in {1..3} 0; do
	PGPORT=$((port + node)) ask 'CREATE EXTENSION citus'
done
ask "SELECT citus_set_coordinator_host('localhost', $port)" >/dev/null
for node in {1..3}; do
	ask "SELECT citus_add_node('localhost', $((port + node)))" >/dev/null
done
ask "CREATE EXTENSION csv_gpu_fdw; CREATE SERVER csv FOREIGN DATA WRAPPER csv_gpu_fdw; CREATE SCHEMA files;
	CREATE FOREIGN TABLE files.items (id integer, kind integer, color text, price numeric(10,3), share integer OPTIONS (virtual 'share'))
		SERVER csv OPTIONS (filename '$work/files/*.csv', log_verbosity 'silent', share '0', shares '1');
	CREATE FOREIGN TABLE files.own (id integer, kind integer, color text COLLATE \"C\", price numeric(10,3))
		SERVER csv OPTIONS (filename '$work/files/*.csv', log_verbosity 'silent');
	CREATE FOREIGN TABLE files.slow (id integer, share integer OPTIONS (virtual 'share')) SERVER csv OPTIONS (program 'sleep 600')"

# ---- a table over the nodes ----

# same NAME SQL: the answer is that of the coordinator's own table
same()
{
	check "$1" "$2" "$(ask "SET search_path = files; $2")"
}

check 'made' "SELECT count(*) FROM csv_gpu_distribute_citus('files.items', 'items')" 9
same count 'SELECT count(*), sum(id), count(DISTINCT kind) FROM items'
same groups 'SELECT color, kind, sum(price), avg(price), count(*), min(id), stddev(price) FROM items GROUP BY 1, 2 ORDER BY 1, 2'
same filter "SELECT count(*) FROM items WHERE color LIKE 'r%' AND price > 100"
same first 'SELECT id, price FROM items ORDER BY price DESC LIMIT 10'
same distinct 'SELECT DISTINCT color FROM items ORDER BY 1'
same join 'SET citus.enable_repartition_joins = on; SELECT a.kind, count(*) FROM items a JOIN items b USING (id) GROUP BY 1 ORDER BY 1'
check 'shares' 'SELECT share, count(DISTINCT id) FROM items GROUP BY 1 ORDER BY 1' $'0|2000\n1|2000\n2|3000'
check 'in the engine' 'EXPLAIN SELECT sum(price) FROM items' '*Engine Aggregates: sum(price)*'
check 'one node' 'EXPLAIN SELECT sum(price) FROM items WHERE share = 1' '*Task Count: 1*'
check 'errors' "SELECT server, record, error FROM csv_gpu_server_errors('items')" "localhost:$((port + 3))|1001|column_count"
ask "CREATE SCHEMA \"It's\""
check 'odd names' "SELECT count(*) FROM csv_gpu_distribute_citus('files.items', '\"It''s\".\"It''s\"')" 9
check 'errors of odd names' "SELECT count(*) FROM csv_gpu_server_errors('\"It''s\".\"It''s\"')" 1
check 'DROP TABLE' 'DROP TABLE items' '*is not a table*'
ask 'CREATE VIEW items_view AS SELECT * FROM items' >/dev/null
check 'a view' "SELECT count(*) FROM csv_gpu_undistribute('items')" '*other objects depend on it*Drop the views*'
check 'and the table is as before' 'SELECT count(*) FROM items_view; DROP VIEW items_view' 7000
check 'dropped' "SELECT count(*) FROM csv_gpu_undistribute('items'); SELECT count(*) FROM csv_gpu_undistribute('\"It''s\".\"It''s\"')" $'5\n5'
check 'nothing is left on nodes' "SELECT sum(result::integer) FROM run_command_on_workers(
	'SELECT count(*) FROM pg_class WHERE relname ~ ''_[0-9]+\$'' AND relkind IN (''r'', ''f'') AND oid >= 16384 AND relname !~ ''^pg_''')" 0

# each node has all of its files, since there is no share
check 'no share' "SELECT count(*) FROM csv_gpu_distribute_citus('files.own', 'own'); SELECT count(*), count(DISTINCT id) FROM own" $'6\n21000|7000'
check 'without it' "SELECT count(*) FROM csv_gpu_undistribute('own')" 5

# ---- what is refused ----

ask "SET citus.enable_ddl_propagation = off; CREATE SERVER here FOREIGN DATA WRAPPER csv_gpu_fdw;
	CREATE FOREIGN TABLE files.here (id integer) SERVER here OPTIONS (filename '$work/files/*.csv')"
check 'a server that nodes lack' "SELECT csv_gpu_distribute_citus('files.here', 'x')" '*node localhost:*server "here" does not exist*'
check 'a program has no share' "SELECT csv_gpu_distribute_citus('files.slow', 'x')" '*options "share" and "program" conflict*'
check 'nothing is left of them' "SELECT count(*) FROM pg_class WHERE relname ~ '^x'" 0
ask "CREATE TABLE loaded (id integer, kind integer, color text, price numeric); CREATE TABLE reference (LIKE loaded);
	SELECT create_distributed_table('loaded', 'id'); SELECT create_reference_table('reference')" >/dev/null
check 'another table of Citus' "SELECT csv_gpu_undistribute('loaded')" '*loaded is no table that csv_gpu_distribute() has made*'
ask "CREATE ROLE ann LOGIN; GRANT USAGE ON SCHEMA files TO ann; CREATE TABLE anns (i integer)"
check 'another role' "SET ROLE ann; SELECT csv_gpu_distribute_citus('files.items', 'y')" '*permission denied*'

# ---- loads ----

for table in loaded reference; do
	check "load into $table" "SELECT records_loaded, records_skipped FROM csv_gpu_load('files.own', '$table')" '7000|1'
	check "rows of $table" "SELECT count(*), sum(id) FROM $table" '7000|24496500'
	check "shell of $table" "SELECT pg_relation_size('$table')" 0
done

ask 'CREATE TABLE plain (LIKE files.own)'
seq 1 40000 | awk '{print $1 ",1,red,1"}' >"$work/files/many.txt"
check 'COPY' "SET csv_gpu_fdw.copy = on; COPY plain FROM '$work/files/many.txt' (FORMAT csv); SELECT count(*) FROM plain" \
	'*left to PostgreSQL, because library "citus" would not see it*Citus must be the first library;*40000'

# rows that a table had before it was distributed stay behind in the shell
ask "CREATE TABLE behind (i integer); INSERT INTO behind SELECT generate_series(1, 40000);
	SELECT create_distributed_table('behind', 'i'); DELETE FROM behind WHERE i > 10" >/dev/null
for setting in 'copy = off' 'copy = on' 'copy_past_hooks = on; SET csv_gpu_fdw.copy = on'; do
	check "COPY TO, $setting" "SET csv_gpu_fdw.$setting; SET client_min_messages = warning; COPY behind TO '$work/out/behind.csv'; SELECT count(*) FROM pg_read_file('$work/out/behind.csv') f, regexp_split_to_table(f, E'\n') l WHERE l <> ''" 10
done

echo "$passed passed, $failed failed"
[ $failed = 0 ]
