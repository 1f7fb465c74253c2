#!/bin/bash
# demo.sh: the tour of demo.sql on a private server.  Run by "make demo".
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
. test/private.sh

test/setup.sh build || exit 1
private_install || die 'demo: the build failed'
echo 'starting a private server' >&2
private_start || die 'demo: the private server did not start'

as_server mkdir "$work/data/demo" &&
	as_server cp test/data/customers.csv "$work/data/demo/" || exit 1

# -a prints the statements, less the empty lines between them: one goes before
# each block of comments again
tour()
{
	as_server "$run_bindir/psql" -X -a -q -P pager=off -v ON_ERROR_STOP=1 \
		-d postgres 2>&1 | sed -u 'x;G;/^-- /!s/\n-- /\n&/;s/[^\n]*\n//'
}
job_input=test/demo.sql run_job tour || die 'demo: a statement failed'

echo
echo 'That was on a private server, which is removed now with all that was made.'
echo 'Next: README.md, from "Install" on, and the pages that it lists.'
