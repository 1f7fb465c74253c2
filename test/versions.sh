#!/bin/bash
# versions.sh: the build, the SQL tests and the random COPY statements of
# test/t/028_copy.pl with the PostgreSQL of Debian 13, of sid and of experimental,
# and pg_upgrade to that of Debian 13.
# Run by "make check-versions"; the last line is "check-versions: N passed, N
# failed".
# A root that cannot be had is skipped (roots.sh).
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
. test/private.sh
. test/roots.sh

reason=$(why_no_roots)
[ -z "$reason" ] || finish "$reason"

# fetch SUITE: the root, with what a build needs
fetch()
{
	new_root "$1" &&
		in_root timeout 600 test/setup.sh build &&
		in_root timeout 600 apt-get install -y --no-install-recommends libipc-run-perl
}

# fetch_experimental MAJOR: this PostgreSQL, into the root of sid.  Only its own packages
# are named: experimental's other packages may not go together.
fetch_experimental()
{
	local package packages=()

	sed 's/ sid / experimental /' "$root/etc/apt/sources.list" \
		>"$root/etc/apt/sources.list.d/experimental.list" &&
		in_root apt-get update || return 1
	for package in postgresql-{,client-,server-dev-}"$1" libpq5 libpq-dev; do
		packages+=("$package/experimental")
	done
	in_root timeout 600 apt-get install -y --no-install-recommends "${packages[@]}"
}

# check SUITE [MAJOR]: the PostgreSQL that the suite installs, or this one
check()
{
	local fetch=fetch

	echo
	echo "== $1"
	case $1 in
		experimental) fetch=fetch_experimental ;;
		*) root=$work/root ;;
	esac
	if ! "$fetch" "${2-$1}" >"$work/log" 2>&1; then
		tail -5 "$work/log"
		skip "no root of $1"
		return 1
	fi
	count in_root make --no-print-directory check PARTS='build regress tap' TAP=028_copy \
		${2+PG_CONFIG="/usr/lib/postgresql/$2/bin/pg_config"}
}

# chain SUITE: what one root, and those made of it, say; their sum is the last line
chain()
{
	work=$work/$1
	mkdir "$work"
	trap private_cleanup EXIT
	trap 'exit 143' HUP INT TERM
	if [ "$1" = trixie ]; then
		check trixie && count in_root test/pg_upgrade.sh 15 17
	else
		check sid
		check experimental 19
	fi
	echo "$passed passed, $failed failed"
}

# Side by side, since much of it is of one process: downloads, dpkg, and each SQL test.
chains=()
for suite in trixie sid; do
	start_job chain $suite >"$work/$suite.log" 2>&1
	chains+=($!)
done
for suite in trixie sid; do
	run_job tail -s 0.1 -n +1 -f --pid="${chains[0]}" "$work/$suite.log"
	wait "${chains[0]}"
	chains=("${chains[@]:1}")
	add "$(tail -1 "$work/$suite.log")"
done
finish
