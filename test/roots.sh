# shellcheck shell=bash
#
# roots.sh: sourced by versions.sh, packages.sh and arm64.sh, after private.sh.  Roots of
# Debian's suites: debootstrap makes them from this machine's mirror and with its settings
# of apt, in $work, a temporary directory that is removed at the end.
#
# The tests count in $passed and $failed.  What cannot be had is skipped, with a message.

name=check-$(basename "$0" .sh)
passed=0
failed=0
# the root in which in_root runs
root=

skip()
{
	echo "$name: skipped: $*"
}

# finish [REASON]: the sum, and out
finish()
{
	[ $# = 0 ] || skip "$@"
	echo "$name: $passed passed, $failed failed"
	[ $failed = 0 ]
	exit
}

# add LINE: a sum, "N passed, N failed", which is a failure where it lacks
add()
{
	if [[ $1 =~ ([0-9]+)' passed, '([0-9]+)' failed' ]]; then
		passed=$((passed + BASH_REMATCH[1]))
		failed=$((failed + BASH_REMATCH[2]))
	else
		failed=$((failed + 1))
	fi
}

# count COMMAND...: adds the last sum that it prints; a cross linker passes over this
# machine's own libraries
count()
{
	"$@" 2>&1 | grep --line-buffered -v 'skipping incompatible' | tee "$work/log"
	add "$(grep -E '[0-9]+ passed, [0-9]+ failed$' "$work/log" | tail -1)"
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

# new_root SUITE [OPTION...]: with this directory in it; options are debootstrap's.  A root
# that lives for minutes need not be written to the disk.
new_root()
{
	local mirror

	mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Label: Debian' | head -1)
	[ -n "$mirror" ] || die 'apt has no mirror of Debian'
	apart bash -c "$init" bash timeout 1800 debootstrap "${@:2}" --variant=minbase \
		--force-check-gpg --include=ca-certificates "$1" "$root" "$mirror" &&
		apt-config dump Acquire | grep -v ::IndexTargets >"$root/etc/apt/apt.conf.d/machine" &&
		echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/unsafe-io" &&
		mkdir -p "$root/src" "$root/etc/postgresql-common/createcluster.d" &&
		echo 'create_main_cluster = false' >"$root/etc/postgresql-common/createcluster.d/none.conf" &&
		tar -c --exclude=./.git --exclude=./build --exclude=./csv_gpu_fdw.so . | tar -x -C "$root/src"
}

# Why can no roots be made here?  Prints nothing where they can.
why_no_roots()
{
	if [ "$(id -u)" != 0 ]; then
		echo 'only root can make roots'
	elif ! test/setup.sh versions; then
		echo 'there is no debootstrap'
	elif ! unshare --mount --pid --ipc --fork --mount-proc true; then
		echo 'no namespaces'
	fi
}

eval "$(apt-config shell http_proxy Acquire::http::Proxy)"
[ -z "${http_proxy-}" ] || export http_proxy
work=$(mktemp -d "${TMPDIR:-/var/tmp}/csv_gpu_fdw.XXXXXX") || exit 1
