#!/bin/bash
# setup.sh [build] [check] [lint]
#
# Installs from Debian's packages what this machine lacks for these purposes,
# and nothing where it lacks nothing.  Where it may not install, it names the
# packages and fails.  What is there is found by trying it, not by package
# names, so that a PostgreSQL or compiler of one's own counts.
set -uo pipefail

PG_CONFIG=${PG_CONFIG:-pg_config}
missing=()

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
	local program rc

	program=$(mktemp) || exit 1
	"$@" -o "$program" -x c - >/dev/null 2>&1
	rc=$?
	rm -f "$program"
	return $rc
}

# has_headers_of MACRO HEADER: those of a library, if the server has it
has_headers_of()
{
	compiles cc -I"$("$PG_CONFIG" --includedir-server 2>/dev/null)" <<S
#if __has_include("pg_config.h")
#include "pg_config.h"
#endif
#ifdef $1
#include <$2>
#endif
int main(void) { return 0; }
S
}

# Which PostgreSQL to install: what pg_config speaks of, else Debian's own.
pg_major()
{
	local major

	major=$("$PG_CONFIG" --version 2>/dev/null | sed -n 's/^PostgreSQL \([0-9]*\).*/\1/p')
	if [ -z "$major" ]; then
		major=$(apt-cache depends postgresql 2>/dev/null |
				sed -n 's/.*Depends: postgresql-\([0-9]*\)$/\1/p' | head -1)
	fi
	echo "${major:-15}"
}

look()
{
	local purpose pgxs bindir

	missing=()
	for purpose; do
		case $purpose in
			build)
				have make || missing+=(make)
				compiles cc <<<$'#include <stdio.h>\nint main(void) { return 0; }' ||
					missing+=(gcc libc6-dev)
				if [ "${CUDA:-auto}" != no ] && { have nvcc || [ -x /usr/local/cuda/bin/nvcc ]; }; then
					have g++ || missing+=(g++)
				fi
				pgxs=$("$PG_CONFIG" --pgxs 2>/dev/null) && [ -f "$pgxs" ] ||
					missing+=("postgresql-server-dev-$(pg_major)")
				has_headers_of HAVE_LIBZ zlib.h || missing+=(zlib1g-dev)
				has_headers_of USE_ZSTD zstd.h || missing+=(libzstd-dev)
				has_headers_of USE_LZ4 lz4frame.h || missing+=(liblz4-dev)
				bindir=$("$PG_CONFIG" --bindir 2>/dev/null) &&
					[ -x "$bindir/postgres" ] && [ -x "$bindir/initdb" ] && [ -x "$bindir/psql" ] ||
					missing+=("postgresql-$(pg_major)")
				;;
			check)
				compiles cc -lcmocka <<<$'#include <stdarg.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <setjmp.h>\n#include <cmocka.h>\nint main(void) { return 0; }' ||
					missing+=(libcmocka-dev)
				have prove || missing+=(perl)
				perl -MIPC::Run -e 1 2>/dev/null || missing+=(libipc-run-perl)
				[ -f "$("$PG_CONFIG" --pkglibdir 2>/dev/null)/pg_cron.so" ] ||
					missing+=("postgresql-$(pg_major)-cron")
				have gzip || missing+=(gzip)
				have zstd || missing+=(zstd)
				have lz4 || missing+=(lz4)
				have clang || missing+=(clang)
				compiles clang -fsanitize=fuzzer <<<$'#include <stddef.h>\nint LLVMFuzzerTestOneInput(const unsigned char *d, size_t n) { return d && n > 9; }' ||
					missing+=("libclang-rt-$(clang_major)-dev")
				;;
			lint)
				have "${CPPCHECK:-cppcheck}" || missing+=(cppcheck)
				have "${CLANG_TIDY:-clang-tidy}" || missing+=(clang-tidy)
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
	if [ -z "$major" ]; then
		major=$(apt-cache depends clang 2>/dev/null |
				sed -n 's/.*Depends: clang-\([0-9]*\)$/\1/p' | head -1)
	fi
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

# each purpose once
mapfile -t purposes < <(printf '%s\n' "$@" | sort -u)
look "${purposes[@]}"
[ ${#missing[@]} -gt 0 ] || exit 0

if ! have apt-get || ! as_root=$(root_command); then
	say "this machine lacks what these Debian packages bring: ${missing[*]}"
	say "they cannot be installed from here (not root, and no sudo without a question); have them installed:"
	say "    apt-get install ${missing[*]}"
	exit 1
fi

say "installing ${missing[*]}"
$as_root apt-get -q update >/dev/null || say "apt-get update failed; trying with the lists at hand"
look "${purposes[@]}"
log=$(mktemp) || exit 1
# shellcheck disable=SC2086
if ! $as_root env DEBIAN_FRONTEND=noninteractive \
		apt-get -q -y --no-install-recommends install "${missing[@]}" >"$log" 2>&1 </dev/null; then
	tail -20 "$log" >&2
	say "could not install ${missing[*]}"
	rm -f "$log"
	exit 1
fi
rm -f "$log"

look "${purposes[@]}"
if [ ${#missing[@]} -gt 0 ]; then
	say "installed, but still not usable here: ${missing[*]}"
	say "(PG_CONFIG is $PG_CONFIG)"
	exit 1
fi
