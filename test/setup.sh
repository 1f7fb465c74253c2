#!/bin/bash
# setup.sh [build] [check] [versions] [arm64] [lint]
# setup.sh major
#
# Installs from Debian's packages what this machine lacks for these purposes,
# and nothing where it lacks nothing.  Where it may not install, it names the
# packages and fails.  What is there is found by trying it, not by package
# names, so that a PostgreSQL or compiler of one's own counts.  With "major" it
# only prints which PostgreSQL it would install.
set -uo pipefail

PG_CONFIG=${PG_CONFIG:-pg_config}
missing=()
beyond=()
scratch=

# apt-cache's words are read
export LC_ALL=C.UTF-8

trap 'rm -rf "$scratch"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

say()
{
	echo "setup: $*" >&2
}

have()
{
	command -v "$1" >/dev/null 2>&1
}

# compiles [compiler and flags]: does it compile and link standard input?
compiles()
{
	"$@" -o "$scratch/program" -x c - >/dev/null 2>&1
}

# has_headers_of MACRO HEADER: those of a library, if the server has it.  Where
# the server's own are still to come, it will have it: Debian's does.
has_headers_of()
{
	compiles cc "${server_headers[@]}" <<S
#if __has_include("pg_config.h")
#include "pg_config.h"
#else
#define $1
#endif
#ifdef $1
#include <$2>
#endif
int main(void) { return 0; }
S
}

# installed PACKAGE: as dpkg knows it
installed()
{
	[[ $(dpkg-query -W -f '${Status}\n' "$1" 2>/dev/null) == *' ok installed'* ]]
}

# needs PACKAGE...: each once
needs()
{
	local package

	for package; do
		[[ " ${missing[*]} " == *" $package "* ]] || missing+=("$package")
	done
}

# needs_compiled PACKAGE: a compiler misses it, or there is none to try it with,
# where dpkg's word must do
needs_compiled()
{
	[ -z "$has_compiler" ] && installed "$1" || needs "$1"
}

# needs_of_server PACKAGE [WHAT]: of the PostgreSQL of PG_CONFIG; WHAT is lacking
# if that is none of Debian's, which no package completes
needs_of_server()
{
	if [[ $pg_bindir =~ ^$|^/usr/bin$|/lib/postgresql/[0-9]+/bin$ ]]; then
		needs "$1"
	elif [ -n "${2-}" ]; then
		beyond+=("$2")
	fi
}

# default_major PACKAGE: the release of it that Debian's package of that name
# stands for
default_major()
{
	apt-cache depends "$1" 2>/dev/null |
		sed -n "s/.*Depends: $1-\([0-9]*\)\$/\1/p" | head -1
}

# Which PostgreSQL to install: what pg_config speaks of, but for one that is not
# to be had (libpq-dev may be newer than any server here), else Debian's own.
pg_major()
{
	local major default

	major=$({ "$PG_CONFIG" --version || echo "$PG_CONFIG"; } 2>/dev/null |
			sed -n 's,^\(PostgreSQL \|.*/lib/postgresql/\)\([0-9]*\).*,\2,p')
	if [ -z "$major" ] || { [[ $PG_CONFIG != */lib/postgresql/* ]] &&
			! apt-cache show "postgresql-server-dev-$major" >/dev/null 2>&1; }; then
		default=$(default_major postgresql)
		major=${default:-$major}
	fi
	echo "${major:-15}"
}

look()
{
	local purpose major headers_dir server_headers pg_bindir pgxs_dir server_cc
	local has_compiler=
	local program='int main(void) { return 0; }'

	missing=()
	beyond=()
	major=$(pg_major)
	pgxs_dir=$(dirname "$("$PG_CONFIG" --pgxs 2>/dev/null)")
	headers_dir=$("$PG_CONFIG" --includedir-server 2>/dev/null) &&
		server_headers=(-I"$headers_dir") || server_headers=()
	pg_bindir=$("$PG_CONFIG" --bindir 2>/dev/null) ||
		{ [[ $PG_CONFIG == */* ]] && pg_bindir=$(dirname "$PG_CONFIG"); }
	# the extension is made with the compiler that the server was made with
	read -ra server_cc < <("$PG_CONFIG" --cc 2>/dev/null || echo gcc)
	have cc && have "${server_cc[0]-}" && has_compiler=yes

	for purpose; do
		case $purpose in
			build)
				have make || needs make
				[ -n "$has_compiler" ] || needs gcc
				compiles cc <<<$'#include <stdio.h>\n'"$program" &&
					compiles "${server_cc[@]}" <<<"$program" || {
					needs_compiled libc6-dev
					has_compiler=
				}
				if [ "${CUDA:-auto}" != no ] && { have nvcc || [ -x /usr/local/cuda/bin/nvcc ]; }; then
					have g++ || needs g++
				fi
				# pgxs.mk comes with the client already, the headers do not
				[ -f "$pgxs_dir/pgxs.mk" ] && [ -f "$headers_dir/postgres.h" ] &&
					{ [ -z "$has_compiler" ] ||
						compiles "${server_cc[@]}" -c "${server_headers[@]}" <<<'#include "postgres.h"'; } ||
					needs_of_server "postgresql-server-dev-$major" 'headers (postgres.h)'
				has_headers_of HAVE_LIBZ zlib.h || needs_compiled zlib1g-dev
				# Debian does not have it for all others
				[[ $HOSTTYPE != @(x86_64|aarch64) ]] ||
					has_headers_of HAVE_LIBZ isa-l/igzip_lib.h || needs_compiled libisal-dev
				has_headers_of USE_ZSTD zstd.h || needs_compiled libzstd-dev
				has_headers_of USE_LZ4 lz4frame.h || needs_compiled liblz4-dev
				[ -x "$pg_bindir/postgres" ] && [ -x "$pg_bindir/initdb" ] &&
					[ -x "$pg_bindir/pg_ctl" ] && [ -x "$pg_bindir/psql" ] ||
					needs_of_server "postgresql-$major" 'programs (postgres, initdb, pg_ctl, psql)'
				;;
			check)
				compiles cc -lcmocka <<<$'#include <stdarg.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <setjmp.h>\n#include <cmocka.h>\n'"$program" ||
					needs_compiled libcmocka-dev
				have prove && perl -MTest::More -MTime::HiRes -e 1 2>/dev/null || needs perl
				perl -MIPC::Run -e 1 2>/dev/null || needs libipc-run-perl
				[ -x "$pgxs_dir/../test/regress/pg_regress" ] &&
					[ -f "$pgxs_dir/../test/perl/PostgreSQL/Test/Cluster.pm" ] ||
					needs_of_server "postgresql-server-dev-$major" 'test programs (pg_regress, PostgreSQL::Test)'
				# its test is passed over where a PostgreSQL of one's own lacks it
				[ -f "$("$PG_CONFIG" --pkglibdir 2>/dev/null)/pg_cron.so" ] ||
					needs_of_server "postgresql-$major-cron"
				have gzip || needs gzip
				have zstd || needs zstd
				have lz4 || needs lz4
				have clang || {
					needs clang
					has_compiler=
				}
				compiles clang -fsanitize=address,undefined,fuzzer <<<$'#include <stddef.h>\nint LLVMFuzzerTestOneInput(const unsigned char *d, size_t n) { return d && n > 9; }' ||
					needs_compiled "libclang-rt-$(clang_major)-dev"
				;;
			versions)
				have debootstrap || needs debootstrap
				[ -f /usr/share/keyrings/debian-archive-keyring.gpg ] || needs debian-archive-keyring
				;;
			arm64)
				have aarch64-linux-gnu-gcc || needs gcc-aarch64-linux-gnu
				compiles aarch64-linux-gnu-gcc <<<"$program" || needs libc6-dev-arm64-cross
				have qemu-aarch64-static || needs qemu-user-static
				;;
			lint)
				have "${CPPCHECK:-cppcheck}" || needs cppcheck
				have "${CLANG_TIDY:-clang-tidy}" || needs clang-tidy
				;;
			*)
				say "unknown purpose $purpose"
				exit 2
				;;
		esac
	done
}

# The clang that is there, else Debian's own.
clang_major()
{
	local major

	major=$(clang -dumpversion 2>/dev/null | cut -d. -f1)
	[ -n "$major" ] || major=$(default_major clang)
	echo "${major:-14}"
}

# How to become root: prints the command, or fails.
root_command()
{
	if [ "$(id -u)" = 0 ]; then
		echo env
	elif have sudo && sudo -n true 2>/dev/null; then
		echo sudo -n
	elif have sudo && [ -t 0 ] && [ -t 2 ]; then
		echo sudo
	else
		return 1
	fi
}

# give_up_on_server: where it is one that no package completes
give_up_on_server()
{
	[ ${#beyond[@]} -gt 0 ] || return 0
	if have "$PG_CONFIG"; then
		say "PG_CONFIG is $PG_CONFIG, of a PostgreSQL without its ${beyond[*]}"
	else
		say "PG_CONFIG is $PG_CONFIG, which is not there"
	fi
	say "no package of Debian's brings that; set PG_CONFIG to another, or leave it away"
	exit 1
}

# give_up_on_release: where the lists of packages have another PostgreSQL only
give_up_on_release()
{
	local major default

	major=$(pg_major)
	default=$(default_major postgresql)
	[[ " ${missing[*]}" == *" postgresql-"* && -n $default ]] || return 0
	! apt-cache show "postgresql-server-dev-$major" >/dev/null 2>&1 || return 0
	say "PG_CONFIG is $PG_CONFIG, but PostgreSQL $major is not in this system's package lists"
	say "they have $default; PostgreSQL's own (PGDG) have others: add those, or set PG_CONFIG to another"
	exit 1
}

# progress: apt-get's output goes to a log; says how far it is
progress()
{
	local line of='' fetched=0 unpacked=0 set_up=0

	while read -r line; do
		echo "$line" >>"$scratch/log"
		case $line in
			*' newly installed, '*) of=${line% newly installed*} of=${of##* } ;;
			'Need to get '*) say "fetching $of packages: ${line#Need to get }" ;;
			Get:*) ((++fetched % 20)) || say "fetched $fetched of $of" ;;
			'Unpacking '*) ((++unpacked % 20)) || say "unpacked $unpacked of $of" ;;
			'Setting up '*) ((++set_up % 20)) || say "set up $set_up of $of" ;;
		esac
	done
}

# Run as root: DIRECTORY PACKAGE...; Debian would create and start a cluster, which
# nothing here needs.  This setting in DIRECTORY prevents it, and is removed again.
createcluster_dir=${CREATECLUSTER_DIR:-/etc/postgresql-common/createcluster.d}
install_packages='
	dir=$1 made=
	shift
	trap '\''rm -f "$dir/csv_gpu_fdw.conf"; [ -z "$made" ] || rmdir "$dir"'\'' EXIT
	trap "exit 1" HUP INT TERM
	[ -d "$dir" ] || { made=yes && mkdir -p "$dir"; } || exit
	echo "create_main_cluster = false" >"$dir/csv_gpu_fdw.conf" || exit
	DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 apt-get -q -o DPkg::Lock::Timeout=300 \
		-y --no-install-recommends install "$@" 2>&1'

if version=$("$PG_CONFIG" --version 2>/dev/null) && [[ $version != PostgreSQL\ * ]]; then
	say "PG_CONFIG is $PG_CONFIG, which is no pg_config; set it to another, or leave it away"
	exit 1
fi
if [ "$*" = major ]; then
	pg_major
	exit
fi

scratch=$(mktemp -d) || exit 1

# each purpose once
mapfile -t purposes < <(printf '%s\n' "$@" | sort -u)
look "${purposes[@]}"
if [ ${#missing[@]} = 0 ]; then
	give_up_on_server
	exit 0
fi

if ! have apt-get; then
	say "this machine lacks what these packages bring in Debian: ${missing[*]}"
	say "it has no apt-get to install them; have the like of them installed"
	exit 1
fi
if ! as_root=$(root_command); then
	say "this machine lacks what these Debian packages bring: ${missing[*]}"
	say "they cannot be installed from here (not root, and $(have sudo && echo 'sudo would ask for a password' || echo 'there is no sudo')); have them installed, as root:"
	say "    apt-get update && apt-get install ${missing[*]}"
	(give_up_on_release)
	exit 1
fi

say "installing ${missing[*]}"
say "(this takes from half a minute to some minutes, by what is to be fetched)"
# another apt may be at work, as on a machine just started
$as_root apt-get -q -o DPkg::Lock::Timeout=300 update >/dev/null || say "apt-get update failed; trying with the lists at hand"
look "${purposes[@]}"
give_up_on_release
if ! $as_root bash -c "$install_packages" setup "$createcluster_dir" "${missing[@]}" </dev/null | progress; then
	tail -20 "$scratch/log" >&2
	say "could not install ${missing[*]}"
	exit 1
fi

look "${purposes[@]}"
if [ ${#missing[@]} -gt 0 ]; then
	say "installed, but still not usable here: ${missing[*]}"
	say "(PG_CONFIG is $PG_CONFIG, of $("$PG_CONFIG" --version 2>&1))"
	exit 1
fi
give_up_on_server
