#!/bin/bash
# setup_test.sh: what setup.sh asks apt-get for, what make says where something lacks,
# and make check when a signal ends it.  Run by "make setup-test"; the last line is
# "setup-test: N passed, M failed".  That the packages suffice is seen in the bare roots
# of check-versions.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
work=
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP
work=$(mktemp -d "${TMPDIR:-/tmp}/csv_gpu_fdw.XXXXXX") || exit 1
passed=0
failed=0
status=
output=

# result STATUS NAME EXPECTED
result()
{
	if [ "$1" = 0 ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		printf 'not ok: %s\n  status %s, expected: %s\n%s\n' "$2" "$status" "$3" "$output"
	fi
}

# program NAME: a program of this text, before all others in PATH
mkdir "$work/bin"
program()
{
	{
		echo "#!$BASH"
		cat
	} >"$work/bin/$1"
	chmod +x "$work/bin/$1"
}

# says NAME STATUS REGEX PURPOSE...: setup.sh ends so, and says that
says()
{
	output=$(PATH=$work/bin:$PATH CUDA=no test/setup.sh "${@:4}" 2>&1 </dev/null)
	status=$?
	[ "$status" = "$2" ] && [[ $output =~ $3 ]]
	result $? "$1" "$3"
}

# ---- packages ----

says 'where nothing lacks, nothing is installed' 0 ^$ build

# a PostgreSQL of Debian's without its headers
program pg_config <<S
case \$1 in
	--version) echo 'PostgreSQL 15.9 (Debian)' ;;
	--bindir) echo /usr/lib/postgresql/15/bin ;;
	*) echo '$work/nowhere' ;;
esac
S
program id <<<'echo 1000'
program sudo <<<'exit 1'
program apt-get <<<'exit 1'
packages='make gcc libc6-dev zlib1g-dev libisal-dev libzstd-dev liblz4-dev postgresql-15 postgresql-server-dev-15'
says 'who may not install is told how' 1 "apt-get update && apt-get install $packages$" build
program sudo <<<'[[ "$*" != *" -s "* ]]'
says 'apt-get fails' 1 "installing $packages"$'\n.*'"could not install $packages$" build
program sudo <<<'exit 0'
says 'what is installed does not work' 1 'not usable here: build, although the packages for that.*PostgreSQL 15.9' build
says 'packages of two purposes' 1 "$packages libcmocka-dev .* clang libclang-rt-[0-9]+-dev postgresql-15-cron" build check
PG_CONFIG=/usr/lib/postgresql/17/bin/pg_config \
	says 'a release that is not there yet' 1 'postgresql-17 postgresql-server-dev-17' build
PG_CONFIG=$work/bin/sudo says 'PG_CONFIG of another program' 1 'bin/sudo, which is no pg_config' build
PG_CONFIG=$work/nowhere/pg_config says 'PG_CONFIG of nothing' 1 'which is not there' build
sed -i 's,/usr/lib/postgresql/15/bin,/opt/bin,' "$work/bin/pg_config"
says 'a PostgreSQL of its own is completed by no package' 1 'installing make gcc libc6-dev zlib1g-dev libisal-dev libzstd-dev liblz4-dev'$'\n' build
sed -i 's,/opt/bin,/usr/bin,' "$work/bin/pg_config"

# ---- make ----

# fresh_make ARGUMENT...: a make that knows nothing of a caller's choices, with
# a build directory of its own; sets status and output
tree=$work/tree
mkdir "$tree"
ln -s "$PWD"/{Makefile,csv_gpu_fdw.control,*.sql,*.md,LICENSE,docs,src,cuda,test} "$tree/"
fresh_make()
{
	output=$(env -u MAKEFLAGS -u CUDA -u NVCC -u PG_CONFIG -u WERROR -u NVCC_ARCH \
			-u WITH_GZIP -u WITH_ISAL -u WITH_ZSTD -u WITH_LZ4 make --no-print-directory -C "$tree" "$@" 2>&1)
	status=$?
}

# compiles_with NAME YES NO ARGUMENT...: the words YES and not the words NO
compiles_with()
{
	local name=$1 yes=$2 no=$3 word bad=0

	shift 3
	fresh_make -n "$@"
	for word in $yes; do
		[[ $output == *"$word"* ]] || bad=1
	done
	for word in $no; do
		[[ $output != *"$word"* ]] || bad=1
	done
	[ $status = 0 ] || bad=1
	output=$(tail -5 <<<"$output")
	[ $bad = 0 ]
	result $? "$name" "$yes, not $no"
}

printf '#!/bin/sh\n' >"$work/nvcc"
chmod +x "$work/nvcc"
all='-DCSV_WITH_GZIP -DCSV_WITH_ZSTD -DCSV_WITH_LZ4'
chosen="$work/nvcc -DCSV_WITH_CUDA -DCSV_WITH_GZIP -Wno-error"
others='-DCSV_WITH_ZSTD -DCSV_WITH_LZ4'
fresh_make build/choices.mk WITH_ZSTD=no WITH_LZ4=no NVCC="$work/nvcc" WERROR=-Wno-error
compiles_with 'install holds to what was chosen' "$chosen" "$others" install
compiles_with 'installcheck, too' '' "$others" install installcheck
compiles_with 'but for what is given' "$all" -DCSV_WITH_CUDA install \
	CUDA=no WITH_LZ4=yes WITH_ZSTD=yes
compiles_with 'make decides afresh' "$all" "$work/nvcc -Wno-error"
fresh_make -n WITH_ZST=no
[ $status != 0 ] && [[ $output == *"there is no setting WITH_ZST,"* ]]
result $? 'make refuses a setting that is none' WITH_ZST
fresh_make build/choices.mk CUDA=no
compiles_with 'install does without CUDA as make did' "$all" -DCSV_WITH_CUDA install
PATH=$work:$PATH fresh_make build/choices.mk
compiles_with 'install takes the nvcc of another PATH' "$work/nvcc" '' install
mkdir "$work/postgres"
ln -s "$(type -P pg_config)" "$work/postgres/"
PATH=$work/postgres:$PATH fresh_make build/choices.mk CUDA=no
grep -q "$work/postgres/pg_config" "$tree/build/choices.mk"
result $? 'and its pg_config' "$work/postgres/pg_config"
fresh_make clean
compiles_with 'clean forgets' "$all" "$work/nvcc -Wno-error" install

# in another directory, beside objects of a build in the source tree
mkdir -p "$work/beside" "$tree/build/obj/src/table"
touch "$tree/build/obj/src/table/"{codec,decompress}.o
build_beside=(-C "$work/beside" -f "$tree/Makefile")
fresh_make "${build_beside[@]}" CUDA=no WITH_ISAL=no build/obj/src/table/{codec,decompress}.o
[ $status = 0 ] && [ -s "$work/beside/build/obj/src/table/codec.o" ] && [ -z "$(find "$tree/build" -size +0 -type f)" ]
result $? 'a build in another directory writes to that one only' codec.o
compiles_with 'it has CUDA objects, and installs documentation' \
	"$work/nvcc -I$tree/src -o build/obj/cuda/columns.cu.o $tree/cuda/columns.cu $tree/docs/install.md" '' \
	"${build_beside[@]}" install NVCC="$work/nvcc"
fresh_make clean

fresh_make NVCC="$work/nowhere/nvcc"
[ $status = 2 ] && [[ $output == *"NVCC=$work/nowhere/nvcc, but there is no such program"* ]] &&
	[[ $output != *-DCSV* ]]
result $? 'make with an nvcc that is not there' 'no such program'

fresh_make CUDA=no PG_CONFIG="$work/bin/pg_config" all
[ $status = 2 ] && [[ $output =~ 'No PostgreSQL to build for'.*'nowhere'.*'postgresql-server-dev-15' ]]
result $? 'make names what is missing' 'No PostgreSQL to build for'

fresh_make CUDA=no PG_CONFIG=/usr/lib/postgresql/17/bin/pg_config
[ $status = 2 ] && [[ $output == *'does not answer'*"Install postgresql-server-dev-17 "* ]]
result $? 'make names the release of an absent PG_CONFIG' postgresql-server-dev-17
fresh_make CUDA=no PG_CONFIG="$work/bin/sudo"
[ $status = 2 ] && [[ $output == *'bin/sudo, which is no pg_config'* && $output != *Install* ]]
result $? 'make with a PG_CONFIG of another program' 'no pg_config'

fresh_make CUDA=no PG_CONFIG="$work/bin/pg_config" uninstall
[ $status = 2 ] && [[ $output == *'No PostgreSQL to build for'* ]]
result $? 'uninstall where there are no headers' 'No PostgreSQL to build for'
fresh_make CUDA=no DESTDIR="$work/nowhere" uninstall
[ $status = 0 ] && [[ $output == *WARNING*shared_preload_libraries*pg_db_role_setting* ]]
result $? 'uninstall warns of settings that load the library' WARNING
fresh_make CUDA=no PG_CONFIG="$work/nowhere" help
[ $status = 0 ] && [[ $output == *'make CUDA=no'*'make unit'*'make bench'* && $output != *'$('* ]]
result $? 'make help' 'make unit'

# a compiler that knows no header of these
program cc <<'S'
if [[ $* == *' -E '* ]]; then
	text=$(cat)
	[[ $text != *@(zstd|lz4frame).h* ]] || exit 1
	exec gcc "$@" <<<"$text"
fi
exec gcc "$@"
S
fresh_make CUDA=no CC="$work/bin/cc" say-engines
[ $status = 0 ] && [[ $output =~ 'files: gzip'$'\n''WITHOUT zstd lz4,'.*'install libzstd-dev liblz4-dev ' ]]
result $? 'make names the headers that it does without' 'libzstd-dev liblz4-dev'
fresh_make CUDA=no CC="$work/bin/cc" WITH_ZSTD=no WITH_LZ4=no say-engines
[ $status = 0 ] && [[ $output != *lz4* ]]
result $? 'but not those of what is not wanted' 'no lz4'

# ---- signals ----

# Instead of make: what takes long, and where it is to install something, a
# server that has left for a session of its own.
cat >"$work/make" <<S
#!$BASH
for argument; do
	[[ \$argument == DESTDIR=* ]] || continue
	server=\${argument#*=}/bin/postgres
	mkdir "\${server%/*}"
	cp "$(type -P sleep)" "\$server"
	env --default-signal=QUIT setsid "\$server" 60 &
	echo \$! >>"$work/processes"
done
echo \$\$ >>"$work/processes"
touch "$work/at-work"
sleep 60
S
chmod +x "$work/make"

# stops NAME SIGNAL PART: make check, which a signal to it alone ends at once
stops()
{
	local check began process

	mkdir "$work/tmp"
	rm -f "$work"/{processes,at-work}
	# bash has what is in the background ignore SIGINT and SIGQUIT
	env -u MAKEFLAGS --default-signal=INT CUDA=no MAKE="$work/make" \
		PARTS="$3" TMPDIR="$work/tmp" "$tree/test/check.sh" >"$work/output" 2>&1 &
	check=$!
	while [ ! -e "$work/at-work" ] && kill -0 $check 2>/dev/null; do
		sleep 0.1
	done
	began=$EPOCHSECONDS
	kill "-$2" $check
	wait $check
	status=$?
	output=$(
		cat "$work/output"
		[ $((EPOCHSECONDS - began)) -lt 15 ] || echo "stopped only after a while"
		ls -A "$work/tmp"
		while read -r process; do
			[ ! -e "/proc/$process/exe" ] || echo "still there: $process"
		done <"$work/processes"
	)
	[ $status = $((128 + $(kill -l "$2"))) ] && [ -e "$work/at-work" ] &&
		[[ $output != *@("stopped only"|"still there"|csv_gpu_fdw.)* ]]
	result $? "$1" 'nothing left'
	rm -rf "$work/tmp"
}

stops 'SIGTERM, with a server' TERM regress
stops 'SIGINT, with a part beside' INT setup-test

echo "setup-test: $passed passed, $failed failed"
[ $failed = 0 ]
