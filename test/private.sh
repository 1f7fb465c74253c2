# shellcheck shell=bash
#
# private.sh: sourced by demo.sh and check.sh.  A PostgreSQL of our own.
#
# Everything lives in one temporary directory, $work, which goes away at the
# end, also after a failure or Ctrl-C:
#
#	root	a copy of the PostgreSQL of PG_CONFIG with the extension installed
#			in it.  PostgreSQL finds its files relative to its own program, so
#			copied programs and links to all else will do, and nothing is
#			written where the system's PostgreSQL would see it.
#	src		the tests and their data, readable for the server's user
#	data	the cluster
#	sock	its socket, for the server's user only; there is no TCP
#	out		what tests write; those with servers of their own have them here
#
# The server does not run as root.  Root starts it as user postgres, or nobody
# where there is no postgres.

PG_CONFIG=${PG_CONFIG:-pg_config}
MAKE=${MAKE:-make}
work=
server_user=
private_settings=
bindir=
run_bindir=
pg_regress=

die()
{
	echo "$*" >&2
	exit 1
}

# No setting of the caller's may lead to another server.
for name in $(compgen -e PG); do
	case $name in
		PG_CONFIG) ;;
		*) unset "$name" ;;
	esac
done
export LC_ALL=C.UTF-8 PGCLIENTENCODING=UTF8 PGUSER=postgres

# start_job COMMAND...: in a process group of its own, so that a signal to this
# script ends all of it at once.  Its standard input is $job_input, its id $!.
start_job()
{
	set -m
	("$@") <"${job_input:-/dev/null}" &
	set +m
}

run_job()
{
	start_job "$@"
	wait $!
}

# as_server COMMAND...: as the server's user, in a directory it can enter
as_server()
{
	(
		cd "$work/src" || exit 1
		if [ -n "$server_user" ]; then
			exec runuser -u "$server_user" -- env HOME="$work/out" "$@"
		fi
		exec "$@"
	)
}

private_cleanup()
{
	local job

	trap '' INT TERM HUP
	set +e
	for job in $(jobs -p); do
		kill -TERM -- "-$job" 2>/dev/null
		wait "$job" 2>/dev/null
	done
	[ -n "$work" ] || return 0
	private_stop_all
	rm -rf "$work"
	work=
}

trap private_cleanup EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

private_make()
{
	local jobs

	# an outer make's job slots, or all processors
	case ${MAKEFLAGS:-} in
		*jobserver*) jobs= ;;
		*) jobs=-j$(nproc) ;;
	esac
	$MAKE --no-print-directory $jobs PG_CONFIG="$PG_CONFIG" "$@"
}

# The directory, and the copy of PostgreSQL with the extension in it; for tests
# that make things fail: private_install install-inject.
private_install()
{
	local dir

	work=$(realpath "$(mktemp -d "${TMPDIR:-/tmp}/csv_gpu_fdw.XXXXXX")") || exit 1
	chmod 755 "$work"
	mkdir -p "$work"/{root,src/test/bench,data,sock,out}

	bindir=$("$PG_CONFIG" --bindir) || return 1
	run_bindir=$work/root$bindir
	dir=$(dirname "$("$PG_CONFIG" --pgxs)")
	# shellcheck disable=SC2034
	pg_regress=$dir/../test/regress/pg_regress

	echo 'building the extension, which takes up to a minute; with CUDA, the first time takes minutes' >&2
	run_job private_make -s "${1:-install}" DESTDIR="$work/root" || return 1
	mkdir -p "$run_bindir" &&
		cp -L "$bindir"/* "$run_bindir"/ || return 1
	for dir in "$("$PG_CONFIG" --sharedir)" "$("$PG_CONFIG" --pkglibdir)"; do
		mkdir -p "$work/root$dir" && cp -rsn "$dir"/. "$work/root$dir"/ || return 1
	done

	for dir in *.md LICENSE docs sql expected test/data test/t test/bench/tpch; do
		[ ! -e "$dir" ] || cp -R "$dir" "$work/src/$dir" || return 1
	done
	chmod -R a+rX "$work/root" "$work/src"
	chmod 700 "$work/data" "$work/sock"

	if [ "$(id -u)" = 0 ]; then
		server_user=nobody
		! id postgres >/dev/null 2>&1 || server_user=postgres
		chown -R "$server_user" "$work"/{src,data,sock,out} || return 1
	fi
}

# private_start [DATA [PORT]]: a server; its directory must be below $work/out
private_start()
{
	local data=${1:-$work/data} port=${2:-5432}

	if ! as_server "$run_bindir/initdb" -D "$data" -U postgres -A trust -E UTF8 \
			--no-locale --no-sync >"$work/initdb.log" 2>&1; then
		cat "$work/initdb.log" >&2
		return 1
	fi
	as_server tee -a "$data/postgresql.conf" >/dev/null <<S || return 1
listen_addresses = ''
unix_socket_directories = '$work/sock'
port = $port
fsync = off
jit = off
$private_settings
S
	if ! as_server "$run_bindir/pg_ctl" -D "$data" -l "$work/out/server.log" -s -w start \
			>"$work/start.log" 2>&1 </dev/null; then
		cat "$work/start.log" "$work/out/server.log" >&2
		return 1
	fi
	export PGHOST=$work/sock PGPORT=$port
}

# our_servers: the processes of all servers made of our copy.  They are not in a
# job's group, and one that is starting has no postmaster.pid yet.
our_servers()
{
	find /proc/[0-9]*/exe -maxdepth 0 -lname "$work/root/*/postgres*" 2>/dev/null |
		cut -d/ -f3
}

private_stop_all()
{
	local server segment

	# immediate shutdown
	for server in $(our_servers); do
		kill -QUIT "$server" 2>/dev/null
	done
	for _ in {1..100}; do
		[ -n "$(our_servers)" ] || break
		sleep 0.1
	done

	# this file outlives a server only where a test has killed it
	for segment in $(sed -sn '7s/.* //p' \
			"$work"/{data,out/tmp_check/*/pgdata}/postmaster.pid 2>/dev/null); do
		ipcrm -m "$segment"
	done
}
