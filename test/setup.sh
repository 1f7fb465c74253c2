#!/bin/bash
# setup.sh [build] [check] [versions] [arm64] [lint]
# setup.sh major
#
# Has apt-get install Debian's packages for these purposes, all of a purpose for which
# something lacks here.  Where it may not install, it prints that line and fails.  What is
# there is found by trying it, not by package names, so that a PostgreSQL or compiler of
# one's own counts.  With "major" it only prints which PostgreSQL it would install.
set -uo pipefail

PG_CONFIG=${PG_CONFIG:-pg_config}
export LC_ALL=C.UTF-8
scratch=$(mktemp -d) || exit 1

trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' HUP INT TERM

die()
{
	printf 'setup: %s\n' "$@" >&2
	exit 1
}

# have PROGRAM...: all of them
have()
{
	command -v "$@" >/dev/null 2>&1 &&
		[ "$(command -v "$@" | wc -l)" = $# ]
}

# has_file OPTION PATH: below the directory that pg_config prints
has_file()
{
	local directory

	directory=$("$PG_CONFIG" "$1" 2>/dev/null) && [ -e "${directory%/pgxs.mk}/$2" ]
}

# compiles COMPILER...: does it compile and link standard input?
compiles()
{
	"$@" -o "$scratch/program" -x c - >/dev/null 2>&1
}

# default_major PACKAGE: the release of it that Debian's package of that name stands for
default_major()
{
	apt-cache depends "$1" 2>/dev/null | sed -n "s/.*Depends: $1-\([0-9]*\)\$/\1/p" | head -1
}

# the release that pg_config, or its path, speaks of, else Debian's own
pg_major()
{
	local major

	major=$({ "$PG_CONFIG" --version || echo "$PG_CONFIG"; } 2>/dev/null |
			sed -n 's,^\(PostgreSQL \|.*/lib/postgresql/\)\([0-9]*\).*,\2,p')
	major=${major:-$(default_major postgresql)}
	echo "${major:-15}"
}

# is_debian: is the PostgreSQL one of Debian's, or none that is there?  No package
# completes another.
is_debian()
{
	local bindir

	bindir=$("$PG_CONFIG" --bindir 2>/dev/null) || bindir=$(dirname "$PG_CONFIG")
	[[ $bindir =~ ^(.|/usr/bin|/usr/lib/postgresql/[0-9]+/bin)$ ]]
}

# The extension is made with the compiler that the server was made with.  Libraries of
# compressed files may lack: make does without them, and says so.
works_to_build()
{
	local cc

	read -ra cc < <("$PG_CONFIG" --cc 2>/dev/null) &&
		have make cc && has_file --pgxs pgxs.mk &&
		has_file --bindir postgres && has_file --bindir initdb &&
		has_file --bindir pg_ctl && has_file --bindir psql &&
		compiles "${cc[@]}" -c -I"$("$PG_CONFIG" --includedir-server)" <<<'#include "postgres.h"'
}

# pg_cron of a PostgreSQL of one's own may lack, and its test is passed over then
works_to_check()
{
	have prove gzip zstd lz4 && perl -MTest::More -MTime::HiRes -MIPC::Run -e 1 2>/dev/null &&
		has_file --pgxs ../test/regress/pg_regress &&
		has_file --pgxs ../test/perl/PostgreSQL/Test/Cluster.pm &&
		{ has_file --pkglibdir pg_cron.so || ! is_debian; } &&
		compiles cc -lcmocka <<<'int main(void) { return 0; }' &&
		compiles clang -fsanitize=address,undefined,fuzzer \
			<<<'int LLVMFuzzerTestOneInput(const unsigned char *d, unsigned long n) { return d && n > 9; }'
}

works_for_versions()
{
	have debootstrap && [ -f /usr/share/keyrings/debian-archive-keyring.gpg ]
}

works_for_arm64()
{
	have qemu-aarch64-static && compiles aarch64-linux-gnu-gcc <<<'int main(void) { return 0; }'
}

works_to_lint()
{
	have "${CPPCHECK:-cppcheck}" "${CLANG_TIDY:-clang-tidy}"
}

# look PURPOSE...: in $packages, those of the purposes that do not work
look()
{
	local purpose major server='' cron='' clang

	packages=()
	major=$(pg_major)
	if is_debian; then
		server="postgresql-$major postgresql-server-dev-$major"
		cron="postgresql-$major-cron"
	fi
	for purpose; do
		# shellcheck disable=SC2206
		case $purpose in
			build) works_to_build ||
				packages+=(make gcc libc6-dev zlib1g-dev libisal-dev libzstd-dev liblz4-dev $server) ;;
			check) works_to_check || {
				clang=$(default_major clang)
				packages+=(libcmocka-dev perl libipc-run-perl gzip zstd lz4 clang "libclang-rt-${clang:-14}-dev" $cron)
			} ;;
			versions) works_for_versions || packages+=(debootstrap debian-archive-keyring) ;;
			arm64) works_for_arm64 || packages+=(gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static) ;;
			lint) works_to_lint || packages+=(cppcheck clang-tidy) ;;
			*) die "unknown purpose $purpose" ;;
		esac
	done
}

if version=$("$PG_CONFIG" --version 2>/dev/null) && [[ $version != PostgreSQL\ * ]]; then
	die "PG_CONFIG is $PG_CONFIG, which is no pg_config; set it to another, or leave it away"
fi
is_debian || have "$PG_CONFIG" || die "PG_CONFIG is $PG_CONFIG, which is not there"
if [ "$*" = major ]; then
	pg_major
	exit
fi
look "$@"
[ ${#packages[@]} -gt 0 ] || exit 0
as_root=()
[ "$(id -u)" = 0 ] || as_root=(sudo)
[ "$(id -u)" = 0 ] || [ -t 0 ] || as_root+=(-n)
have apt-get && "${as_root[@]}" true 2>/dev/null ||
	die "this machine lacks some of what these Debian packages bring: ${packages[*]}" \
		'they cannot be installed from here, so have them installed, as root:' \
		"    apt-get update && apt-get install ${packages[*]}"
# which releases there are is seen in the lists of packages
"${as_root[@]}" apt-get -q -o DPkg::Lock::Timeout=300 update >/dev/null 2>&1 </dev/null
look "$@"
# Debian would create and start a cluster, which nothing here needs
printf 'setup: %s\n' "installing ${packages[*]}" '(this takes from half a minute to some minutes)' >&2
"${as_root[@]}" bash -s "${packages[@]}" >"$scratch/log" 2>&1 <<'S' || {
	setting=/etc/postgresql-common/createcluster.d/csv_gpu_fdw.conf
	export DEBIAN_FRONTEND=noninteractive
	trap 'rm -f "$setting"' EXIT
	mkdir -p "${setting%/*}" && echo 'create_main_cluster = false' >"$setting" || exit
	apt-get -q -o DPkg::Lock::Timeout=300 -y --no-upgrade --no-install-recommends install "$@" </dev/null
S
	tail -20 "$scratch/log" >&2
	die "could not install ${packages[*]}"
}
look "$@"
[ ${#packages[@]} = 0 ] || die "not usable here: $*, although the packages for that are installed" \
	"(PG_CONFIG is $PG_CONFIG, of $("$PG_CONFIG" --version 2>&1))"
