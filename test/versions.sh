#!/bin/bash
# versions.sh: the build and the SQL tests with the PostgreSQL of Debian 13, of sid
# and of experimental.  Run by "make check-versions"; the last line is
# "check-versions: N passed, N failed".
#
# debootstrap makes a root of each, from this machine's mirror and with its
# settings of apt, in a temporary directory that is removed at the end.  A root
# that cannot be had is skipped, with a message.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
. test/private.sh

passed=0
failed=0

# finish [REASON]: the sum, and out
finish()
{
	[ $# = 0 ] || echo "check-versions: skipped: $*"
	echo "check-versions: $passed passed, $failed failed"
	[ $failed = 0 ]
	exit
}

# apart OPTION... COMMAND...: by unshare, in namespaces of its own: mounts and
# processes end with its bash, which is their init, also after a signal
apart()
{
	run_job unshare --mount --pid --ipc --fork --kill-child "$@"
}
init='trap "exit 1" HUP INT TERM; "$@" & wait $!'

# in_root COMMAND...: in the root's copy of this directory
in_root()
{
	apart --root="$root" --mount-proc --wd=/src env -i HOME=/root CUDA=no \
		PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive \
		${http_proxy:+http_proxy="$http_proxy"} \
		bash -c "mount -t tmpfs tmpfs /dev/shm && $init" bash "$@"
}

# fetch SUITE: the root, with what a build needs
fetch()
{
	apart bash -c "$init" bash timeout 600 debootstrap --variant=minbase \
		--force-check-gpg --include=ca-certificates "$1" "$root" "$mirror" &&
		apt-config dump Acquire | grep -v ::IndexTargets >"$root/etc/apt/apt.conf.d/machine" &&
		mkdir -p "$root/src" "$root/etc/postgresql-common/createcluster.d" &&
		echo 'create_main_cluster = false' >"$root/etc/postgresql-common/createcluster.d/none.conf" &&
		tar -c --exclude=./.git --exclude=./build --exclude=./csv_gpu_fdw.so . | tar -x -C "$root/src" &&
		in_root timeout 600 test/setup.sh build
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
	local sum fetch=fetch

	echo
	echo "== $1"
	case $1 in
		experimental) fetch=fetch_experimental ;;
		*) root=$work/$1 ;;
	esac
	if ! "$fetch" "${2-$1}" >"$work/log" 2>&1; then
		tail -5 "$work/log"
		echo "check-versions: skipped: no root of $1"
		return
	fi
	in_root make --no-print-directory check PARTS='build regress' \
		${2+PG_CONFIG="/usr/lib/postgresql/$2/bin/pg_config"} 2>&1 | tee "$work/log"
	sum=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$work/log" | tail -1)
	if [[ $sum =~ ^([0-9]+)' passed, '([0-9]+)' failed' ]]; then
		passed=$((passed + BASH_REMATCH[1]))
		failed=$((failed + BASH_REMATCH[2]))
	else
		failed=$((failed + 1))
	fi
}

[ "$(id -u)" = 0 ] || finish 'only root can make roots'
test/setup.sh versions || finish 'there is no debootstrap'
unshare --mount --pid --ipc --fork --mount-proc true || finish 'no namespaces'
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Label: Debian' | head -1)
[ -n "$mirror" ] || finish 'apt has no mirror of Debian'
eval "$(apt-config shell http_proxy Acquire::http::Proxy)"
[ -z "${http_proxy-}" ] || export http_proxy
work=$(mktemp -d "${TMPDIR:-/var/tmp}/csv_gpu_fdw.XXXXXX") || exit 1

check trixie
rm -rf "$root"
check sid
check experimental 19
finish
