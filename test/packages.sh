#!/bin/bash
# packages.sh: what users get, made and used in roots of Debian 12 and 13.  Run by
# "make check-packages"; the last line is "check-packages: N passed, N failed".
#
# In each: the packages, twice in different directories; lintian; the SQL tests on the
# installed package; and the tour of README.md in a bare root with only the package.
# In one of them: the archive for PGXN, the image of Dockerfile if there is buildah, and
# the package with the GPU engine if there is nvcc.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
. test/private.sh
. test/roots.sh

reason=$(why_no_roots)
[ -z "$reason" ] || finish "$reason"

# try WHAT COMMAND...: one test
try()
{
	if "${@:2}" >"$work/log" 2>&1; then
		passed=$((passed + 1))
		echo "ok: $1"
	else
		failed=$((failed + 1))
		echo "not ok: $1"
		tail -40 "$work/log"
		return 1
	fi
}

# try_if CONDITION WHAT COMMAND...: only where there is what it needs
try_if()
{
	if eval "$1" >/dev/null 2>&1; then
		try "${@:2}"
	else
		skip "$2, since this fails: $1"
	fi
}

# as_builder DIRECTORY COMMAND...: in the root, as a user without rights
as_builder()
{
	in_root runuser -u nobody -- env -C "$1" HOME="$1" "${@:2}"
}

# package DIRECTORY [SETTING...]: what debian/ makes of a copy of the source there
package()
{
	mkdir -p "$root$1" && cp -R "$root/src" "$root$1/src" && chown -R nobody "$root$1" &&
		as_builder "$1/src" MAKEFLAGS="-j$(nproc)" "${@:2}" dpkg-buildpackage -us -uc
}

# again: in another directory, the same packages come out
again()
{
	package /home/another/directory LC_ALL=C.UTF-8 TZ=Asia/Tokyo &&
		diff <(cd "$root/tmp/a" && sha256sum -- *.deb) <(cd "$root/home/another/directory" && sha256sum -- *.deb)
}

# lint: the warning that is left out wants a bug of Debian that asks for the package
lint()
{
	in_root bash -c 'apt-get install -y --no-install-recommends lintian &&
		runuser -u nobody -- lintian --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs /tmp/a/*.changes'
}

# with_gpu: csv_gpu_service has the engine, and nothing of the package depends on CUDA
with_gpu()
{
	local cuda

	cuda=$(realpath "$(dirname "$nvcc")/..")
	# links to files, since a mount would be removed with the root
	{ cp -al "$cuda" "$root/usr/local/cuda" || cp -a "$cuda" "$root/usr/local/cuda"; } &&
		package /tmp/gpu DEB_BUILD_PROFILES=pkg.csv-gpu-fdw.cuda NVCC_ARCH='-gencode arch=compute_75,code=compute_75' &&
		grep -q cuGetProcAddress "$root"/tmp/gpu/src/debian/postgresql-*-csv-gpu-fdw/usr/lib/postgresql/*/lib/csv_gpu_service &&
		! grep -q cuGetProcAddress "$root"/tmp/gpu/src/debian/postgresql-*-csv-gpu-fdw/usr/lib/postgresql/*/lib/csv_gpu_fdw.so &&
		! dpkg-deb -f "$root"/tmp/gpu/postgresql-*-csv-gpu-fdw_*.deb | grep -E '^(Depends|Recommends):.*(cuda|nvidia)'
}

# sql_tests: those of the source, on the package that is installed
sql_tests()
{
	in_root bash -c 'apt-get install -y --no-install-recommends postgresql /tmp/a/postgresql-*-csv-gpu-fdw_*.deb' &&
		as_builder /tmp/a/src debian/tests/installcheck
}

# tour MAJOR: of README.md, by one who has only the package
tour()
{
	in_root bash -c 'apt-get install -y /tmp/*.deb && pg_createcluster "$1" main --start --locale C.UTF-8 &&
		cd "/usr/share/doc/postgresql-doc-$1/extension/csv_gpu_fdw" &&
		runuser -u postgres -- env LC_ALL=C.UTF-8 perl -I/src/test/t /src/test/tour.pl README.md' tour "$1"
}

# archive: PGXN's client builds and installs what "make dist" makes, and its tests pass
archive()
{
	local file

	file=$(make -s dist) && cp "$file" "$root/tmp/" &&
		in_root bash -c 'apt-get install -y --no-install-recommends pgxnclient postgresql &&
			pgxn install "$1" && pg_virtualenv pgxn check "$1" && pgxn uninstall --yes "$1"' archive "/tmp/$file"
}

# image SUITE: of Dockerfile on the bare root; it starts, and has the extension
image()
{
	local in_store=(run_job buildah --root "$work/store" --runroot "$work/run" --storage-driver vfs) base

	base=$("${in_store[@]}" from scratch) &&
		"${in_store[@]}" add -q "$base" "$bare" / &&
		"${in_store[@]}" commit -q "$base" "localhost/debian:$1" &&
		"${in_store[@]}" bud --isolation chroot --build-arg BASE="localhost/debian:$1" -t csv_gpu_fdw . &&
		base=$("${in_store[@]}" from localhost/csv_gpu_fdw) &&
		"${in_store[@]}" run --isolation chroot -e POSTGRES_PASSWORD=secret "$base" -- sh -c '
			start-postgres -c port=54321 &
			for _ in $(seq 30); do
				sleep 1
				! PGPASSWORD=secret psql -h 127.0.0.1 -p 54321 -U postgres -c "CREATE EXTENSION csv_gpu_fdw" ||
					! kill -INT $! || exit 0
			done
			exit 1'
}

# check SUITE MAJOR
check()
{
	echo
	echo "== $1"
	root=$work/$1
	bare=$work/$1.bare
	if ! { new_root "$1" && in_root apt-get update && cp -a "$root" "$bare" &&
			in_root apt-get build-dep -y --no-install-recommends ./; } >"$work/log" 2>&1; then
		tail -5 "$work/log"
		skip "no root of $1"
		return
	fi

	[ "$1" != trixie ] || try_if 'git rev-parse --verify HEAD' "$1: the archive for PGXN" archive
	if try "$1: packages are built" package /tmp/a; then
		try "$1: the same packages from another directory" again
		try "$1: lintian" lint
		try "$1: SQL tests on the package" sql_tests
		cp "$root/tmp/a/postgresql-$2-csv-gpu-fdw_"*.deb "$bare/tmp/"
	fi
	[ "$1" != trixie ] || try_if 'command -v buildah' "$1: the image of Dockerfile" image "$1"
	root=$bare
	try "$1: the tour, with only the package" tour "$2"
	tail -1 "$work/log"
	root=$work/$1
	[ "$1" != trixie ] || try_if '[ -n "$nvcc" ]' "$1: the package with the GPU engine" with_gpu
	rm -rf "$root" "$bare"
}

nvcc=$(PATH=$PATH:/usr/local/cuda/bin command -v nvcc)
check bookworm 15
check trixie 17
finish
