#!/bin/bash
# beside.sh TABLES [SEED]: runs "beside" with a private server.  NODE_PATH must name a directory
# with the package @duckdb/node-api, e.g. of "npm install --prefix /tmp/duckdb
# @duckdb/node-api": /tmp/duckdb/node_modules.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
. test/private.sh
: "${NODE_PATH:?names no directory with the package @duckdb/node-api}"
private_install install-inject || exit 1
cp -R test/sniff "$work/src/test/sniff" && chmod -R a+rX "$work/src/test" || exit 1
run_job as_server env PATH="$run_bindir:$PATH" NODE_PATH="$NODE_PATH" TESTDIR="$work/out" TMPDIR="$work/out" \
	perl test/sniff/beside "$@"
