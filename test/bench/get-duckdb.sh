#!/bin/bash
# get-duckdb.sh [PACKAGE.tgz]
#
# Puts DuckDB's library where the benchmarks look for it, build/libduckdb.so,
# and prints its path.  It comes from an npm package of a fixed version, which
# npm fetches, and whose checksum is tested; on a machine that cannot fetch it,
# name the package's file.  A library of one's own needs none of this: set DUCKDB_LIB to its path.
set -euo pipefail
cd "$(dirname "$0")/../.."
version=1.5.6-r.1
package=node-bindings-linux-x64
sha512=21772b64913a904a8cd19e30c1d5671811d7fdface4b7dd53cd0300d743f43e1
sha512+=6cf386f4e7c41ef78721ac208870d2651bc6375072145387817824315b998dd5
file=${1:-build/duckdb-$package-$version.tgz}

if [ ! -e build/libduckdb.so ]; then
	mkdir -p build
	[ -e "$file" ] ||
		npm pack --silent --pack-destination build "@duckdb/$package@$version" >&2
	echo "$sha512  $file" | sha512sum --quiet -c -
	tar -xzf "$file" -C build --strip-components=1 package/libduckdb.so
fi
realpath build/libduckdb.so
