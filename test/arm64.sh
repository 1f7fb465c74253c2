#!/bin/bash
# arm64.sh: tests on 64-bit ARM, compiled by a cross compiler and run by qemu.  Run by
# "make check-arm64"; the last line is "check-arm64: N passed, N failed".
#
#	unit, differential, fuzz	as make has them; of the fuzzers only the corpora.  These
#								run where they are, with ARM's libraries from packages
#								that are not installed, but unpacked.
#	sql							the SQL tests in a root of this Debian for ARM; for root
#
# PARTS="unit sql" runs these parts only; without it, all but sql.  What cannot be had
# is skipped, with a message.  qemu does not show in which order ARM's processors may
# make writes visible.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
. test/private.sh
. test/roots.sh

PARTS=${PARTS:-unit differential fuzz}
handler=/proc/sys/fs/binfmt_misc/qemu-aarch64
registered=

# get PACKAGE...: unpacks packages for ARM into $root; what dpkg knows stays as it is
get()
{
	local deb apt=(apt-get -q -o APT::Architecture=arm64 -o APT::Architectures=arm64
		-o Dir::State::Lists="$work/lists" -o Dir::Cache="$work/cache"
		-o Dir::State::Status=/dev/null)

	mkdir -p "$root" "$work"/{debs,lists/partial,cache/archives/partial}
	"${apt[@]}" update && (cd "$work/debs" && "${apt[@]}" download "$@") || return 1
	for deb in "$work"/debs/*.deb; do
		dpkg -x "$deb" "$root" || return 1
	done
}

# ---- the library ----

# cross GOAL VARIABLE=VALUE...: in the copy of this directory
cross()
{
	local lib=$work/arm64/usr/lib

	EMULATOR="qemu-aarch64-static -L /usr/aarch64-linux-gnu" run_job private_make -s -C "$work/src" CUDA=no \
		CC="aarch64-linux-gnu-gcc -isystem $work/arm64/usr/include -L$lib/aarch64-linux-gnu \
		-Wl,-rpath,$lib/aarch64-linux-gnu -L$lib/postgresql/$major/lib" "$@"
}

# ---- a server ----

# The kernel gives programs for ARM to qemu, as Debian's package asks of systemd.  Without
# systemd, this script asks, and takes it back at the end.
register()
{
	local dir=${handler%/*}

	[ -e $dir/register ] || mount -t binfmt_misc binfmt_misc $dir || return 1
	[ ! -e $handler ] || return 0
	registered=yes
	cat /usr/lib/binfmt.d/qemu-aarch64.conf >$dir/register
}
trap '[ -z "$registered" ] || echo -1 >$handler; private_cleanup' EXIT

# The cross compiler, which is fast, as the root's own; with what it is linked with.
bring_compiler()
{
	local file tools=(/usr/bin/make /usr/bin/aarch64-linux-gnu-* /usr/lib/gcc-cross /usr/aarch64-linux-gnu)

	for file in /lib64/ld-linux-x86-64.so.2 $(find "${tools[@]}" -type f -perm -u+x -exec ldd {} + 2>/dev/null |
			sed -n 's/.* => \(.*\) (.*/\1/p' | sort -u); do
		install -D "$file" "$root$file" || return 1
	done
	cp -a --parents "${tools[@]}" "$root" || return 1
	for file in "$root"/usr/bin/aarch64-linux-gnu-{ar,as,gcc,ld,nm,readelf,strip}; do
		ln -sf "${file##*/}" "$root/usr/bin/${file##*-}" || return 1
	done
	ln -sf gcc "$root/usr/bin/cc"
}

# fetch: the root
fetch()
{
	register && new_root "$(. /etc/os-release && echo "$VERSION_CODENAME")" --arch=arm64 &&
		in_root timeout 1800 apt-get install -y --no-install-recommends "postgresql-$major" \
			zlib1g-dev libisal-dev libzstd-dev liblz4-dev &&
		get "postgresql-server-dev-$major" libpq-dev && bring_compiler
}

sql()
{
	local reason

	root=$work/root
	reason=$(why_no_roots)
	if [ -n "$reason" ]; then
		skip "sql, since $reason"
	elif ! fetch >"$work/log" 2>&1; then
		tail -5 "$work/log"
		skip 'no root'
	else
		count in_root make --no-print-directory check PARTS='build regress' \
			PG_CONFIG="/usr/lib/postgresql/$major/bin/pg_config"
	fi
}

# ---- all ----

[ "$(uname -m)" = x86_64 ] || finish 'this is for x86-64'
test/setup.sh build arm64 || finish 'there is no cross compiler, or no qemu'
major=$(test/setup.sh major)
root=$work/arm64
if ! get libcmocka0 libcmocka-dev "postgresql-server-dev-$major" >"$work/log" 2>&1; then
	tail -5 "$work/log"
	finish 'there are no packages for ARM'
fi
mkdir "$work/src" && tar -c --exclude=./.git --exclude=./build . | tar -x -C "$work/src"
for part in $PARTS; do
	echo
	echo "== $part"
	case $part in
		unit) count cross unit ;;
		differential) count cross differential DIFFERENTIAL_FILES="${DIFFERENTIAL_FILES:-2000}" ;;
		fuzz)
			count cross fuzz FUZZ_CC='$(CC)' FUZZ_CFLAGS='$(TEST_CFLAGS)' FUZZ_MAIN=test/fuzz/replay.c \
				INCLUDEDIR_SERVER="$root/usr/include/postgresql/$major/server"
			;;
		sql) sql ;;
		*) finish "there is no part $part" ;;
	esac
done
finish
