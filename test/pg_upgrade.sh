#!/bin/bash
# pg_upgrade.sh OLD NEW: does pg_upgrade take a cluster of one PostgreSQL to another, with the
# extension's tables, jobs and positions?  For root in a root of Debian that has PostgreSQL NEW
# (versions.sh): it installs OLD there, from the release before, and the extension for both.
# The last line is "N passed, N failed".
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
old=$1
new=$2
programs=/usr/lib/postgresql
passed=0
failed=0
work=$(mktemp -d /tmp/pg_upgrade.XXXXXX) || exit 1
chown postgres "$work"

# server MAJOR PROGRAM ARGUMENT...: as the servers' user
server()
{
	(cd "$work" && exec runuser -u postgres -- "$programs/$1/bin/$2" "${@:3}" </dev/null)
}

# sql MAJOR DATABASE QUERY
sql()
{
	server "$1" psql -XAtqv ON_ERROR_STOP=1 -h "$work" -d "$2" -c "$3"
}

# is WHAT FOUND EXPECTED
is()
{
	if [ "$2" = "$3" ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		printf 'not ok: %s: found "%s", not "%s"\n' "$@"
	fi
}

start()
{
	server "$1" pg_ctl -D "$work/$1" -l "$work/$1.log" -s -w \
		-o "-k $work -c listen_addresses= -c fsync=off" start >/dev/null
}

# The release before has OLD, and its packages go beside those of this release.
install_old()
{
	sed 's/ trixie / bookworm /' /etc/apt/sources.list >/etc/apt/sources.list.d/before.list &&
		apt-get update && timeout 600 apt-get install -y --no-install-recommends \
			postgresql-"$old" postgresql-server-dev-"$old"
}

prepare()
{
	local major

	[ -x "$programs/$old/bin/pg_config" ] || install_old || return
	mkdir "$work/build" &&
		make -C "$work/build" -f "$PWD/Makefile" -s -j"$(nproc)" PG_CONFIG="$programs/$old/bin/pg_config" install &&
		make -s -j"$(nproc)" PG_CONFIG="$programs/$new/bin/pg_config" install &&
		cp test/data/csv_gpu_fdw--0.1.sql "/usr/share/postgresql/$old/extension" || return
	for major in "$old" "$new"; do
		server "$major" initdb -D "$work/$major" -A trust -E UTF8 --no-locale --no-sync || return
	done
}

seq 3 >"$work/log"
seq 10 >"$work/day1.csv"
if ! prepare >"$work/out" 2>&1 || ! start "$old"; then
	tail -20 "$work/out"
	echo '0 passed, 1 failed'
	exit 1
fi

# The database of version 0.1 is updated after pg_upgrade, before anything is loaded in it.
sql "$old" postgres 'CREATE ROLE analyst' && sql "$old" postgres 'CREATE DATABASE other'
for database in postgres other; do
	version=
	[ $database = postgres ] || version="VERSION '0.1'"
	sql "$old" $database "CREATE EXTENSION csv_gpu_fdw $version;
		CREATE SERVER csv FOREIGN DATA WRAPPER csv_gpu_fdw;
		CREATE FOREIGN TABLE log (a int) SERVER csv OPTIONS (filename '$work/log');
		CREATE FOREIGN TABLE day (a int) SERVER csv OPTIONS (filename '$work/day*.csv');
		CREATE TABLE of_log (a int);
		CREATE TABLE of_day (a int);
		CREATE VIEW stat AS SELECT * FROM csv_gpu_stat;
		REVOKE EXECUTE ON FUNCTION csv_gpu_load FROM PUBLIC;
		GRANT EXECUTE ON FUNCTION csv_gpu_load TO analyst;
		INSERT INTO csv_gpu_job (job, schedule, source, target, mode) VALUES
			('records', '* * * * *', 'log', 'of_log', 'new_records'), ('files', '* * * * *', 'day', 'of_day', 'new_files')"
done
sleep 1.1
sql "$old" postgres "SELECT csv_gpu_run_job('records'), csv_gpu_run_job('files')" >/dev/null
state='SELECT p FROM csv_gpu_position p; SELECT j FROM csv_gpu_job j ORDER BY job; SELECT r FROM csv_gpu_job_run r ORDER BY run;
	SELECT f FROM csv_gpu_job_file f'
before=$(sql "$old" postgres "$state")
is 'rows' "$(wc -l <<<"$before")" 6

server "$old" pg_ctl -D "$work/$old" -s -m fast stop
server "$new" pg_upgrade -b "$programs/$old/bin" -B "$programs/$new/bin" -d "$work/$old" -D "$work/$new" -s "$work" >"$work/out" 2>&1
is 'status of pg_upgrade' $? 0
[ $failed = 0 ] || cat "$work/out"
start "$new"
is 'rows afterwards' "$(sql "$new" postgres "$state")" "$before"
is 'version' "$(sql "$new" other 'ALTER EXTENSION csv_gpu_fdw UPDATE; SELECT extversion FROM pg_extension WHERE extname = $$csv_gpu_fdw$$')" \
	"$(sed -n "s/^default_version = '\(.*\)'/\1/p" csv_gpu_fdw.control)"

seq 4 5 >>"$work/log"
seq 10 >"$work/day2.csv"
sleep 1.1
for database in postgres other; do
	expected='2|10'
	[ $database = postgres ] || expected='5|20'
	is "$database: what jobs load" "$(sql "$new" $database "SELECT (SELECT sum(records_loaded) FROM csv_gpu_run_job('records')),
		(SELECT sum(records_loaded) FROM csv_gpu_run_job('files'))")" "$expected"
	is "$database: rows" "$(sql "$new" $database 'SELECT (SELECT count(*) FROM log), (SELECT count(*) FROM of_log), (SELECT count(*) FROM of_day)')" '5|5|20'
	is "$database: grants" "$(sql "$new" $database "SELECT has_function_privilege('public', oid, 'EXECUTE'), has_function_privilege('analyst', oid, 'EXECUTE')
		FROM pg_proc WHERE proname = 'csv_gpu_load'")" 'f|t'
	is "$database: a view" "$(sql "$new" $database 'SELECT count(*) FROM stat')" 1
done
server "$new" pg_ctl -D "$work/$new" -s -m fast stop
rm -rf "$work"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
