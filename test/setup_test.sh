#!/bin/bash
# setup_test.sh: setup.sh and make on machines that lack this and that, and make
# check when a signal ends it.  Run by "make setup-test"; the last line is
# "setup-test: N passed, M failed".
#
# Such a machine is a directory: bin is all of its PATH, usr has what packages
# bring, and packages/NAME is there for each that is installed.  Its apt-get
# installs the packages that brings() knows, and its compiler is the real one,
# which sees this machine's headers only.
set -uo pipefail
self=${BASH_SOURCE[0]}

# what every Debian has, as far as setup.sh uses it
ESSENTIAL='bash cat chmod cut dirname env head mkdir mktemp mv rm rmdir sed sort tail touch
	true'

BUILD='gcc libc6-dev libisal-dev liblz4-dev libzstd-dev make postgresql-15
	postgresql-server-dev-15 zlib1g-dev'
CHECK='clang gzip libclang-rt-14-dev libcmocka-dev libipc-run-perl lz4 perl
	postgresql-15-cron zstd'

#
# The machine's programs, which are this one with "as=NAME": M is the machine,
# and REAL_CC the compiler.
#

file()
{
	local path

	for path; do
		[ -d "$M/${path%/*}" ] || mkdir -p "$M/${path%/*}"
		: >>"$M/$path"
	done
}

program()
{
	local path

	for path; do
		file "$path"
		printf '#!%s\n. %s as=%s "$@"\n' "$BASH" "$self" "${path##*/}" >"$M/$path"
	done
	chmod +x "${@/#/$M/}"
}

installed()
{
	[ -e "$M/packages/$1" ]
}

# brings PACKAGE: the package's files, after those of packages that it depends
# on; fails for a package that is in no list of this machine's
brings()
{
	local major=${1//[!0-9]/}
	local server=usr/lib/postgresql/$major

	if [[ $1 == postgresql-*[0-9]* && " $(<"$M/majors") " != *" $major "* ]]; then
		return 1
	fi
	case $1 in
		make | g++ | gzip | zstd | lz4 | cppcheck | clang-tidy) program "bin/$1" ;;
		gcc) program bin/gcc bin/cc ;;
		clang)
			brings clang-14
			program bin/clang
			;;
		clang-14) ;;
		libc6-dev)
			file usr/include/{stdio,stdarg,stdint,setjmp}.h
			echo 'typedef unsigned long size_t;' >"$M/usr/include/stddef.h"
			;;
		zlib1g-dev) file usr/include/zlib.h ;;
		libisal-dev)
			mkdir -p "$M/usr/include/isa-l"
			file usr/include/isa-l/igzip_lib.h
			;;
		libzstd-dev) file usr/include/zstd.h ;;
		liblz4-dev) file usr/include/lz4frame.h ;;
		libcmocka-dev) file usr/include/cmocka.h usr/lib/libcmocka.so ;;
		libclang-rt-14-dev) file usr/lib/clang/fuzzer ;;
		perl) program bin/perl bin/prove && file usr/share/perl/{Test::More,Time::HiRes} ;;
		libipc-run-perl) brings perl && file usr/share/perl/IPC::Run ;;
		postgresql-common)
			[ ! -e "$M/bin/pg_config" ] || mv "$M/bin/pg_config" "$M/bin/pg_config.libpq-dev"
			program bin/pg_config
			file packages/postgresql-common
			;;
		libpq-dev-*)
			# Debian calls it libpq-dev; it is of the newest PostgreSQL there is
			file usr/include/postgresql/pg_config.h
			echo "$major" >"$M/usr/include/postgresql/major"
			if installed postgresql-common; then
				program bin/pg_config.libpq-dev
			else
				program bin/pg_config
			fi
			;;
		postgresql-client-*)
			program "$server"/bin/{pg_config,psql}
			program "$server/lib/pgxs/src/test/regress/pg_regress"
			file "$server"/lib/pgxs/src/{makefiles/pgxs.mk,test/perl/PostgreSQL/Test/Cluster.pm}
			;;
		postgresql-server-dev-*)
			brings postgresql-common
			brings "postgresql-client-$major"
			file "usr/include/postgresql/$major/server/postgres.h"
			printf '#define %s 1\n' HAVE_LIBZ USE_ZSTD USE_LZ4 \
				>"$M/usr/include/postgresql/$major/server/pg_config.h"
			;;
		postgresql-*-cron) file "$server/lib/pg_cron.so" ;;
		postgresql-*)
			brings postgresql-common
			brings "postgresql-client-$major"
			program "$server"/bin/{postgres,initdb,pg_ctl}
			;;
		*) return 1 ;;
	esac
	file "packages/$1"
}

# the compiler: its own headers and libraries, and nothing else of the caller's
compiler()
{
	local arguments=() argument

	while [ $# -gt 0 ]; do
		argument=$1
		shift
		case $argument in
			-l*) [ -e "$M/usr/lib/lib${argument#-l}.so" ] || exit 1 ;;
			-fsanitize=*) [ -e "$M/usr/lib/clang/fuzzer" ] || exit 1 ;;
			-o) shift ;;
			-c) ;;
			*) arguments+=("$argument") ;;
		esac
	done
	installed libc6-dev || exit 1
	exec "$REAL_CC" -nostdinc -isystem "$M/usr/include" -E "${arguments[@]}"
}

# pg_config PREFIX MAJOR ARGUMENT
pg_config()
{
	case $3 in
		--version) echo "PostgreSQL $2.7 (Debian $2.7-1)" ;;
		--cc) echo gcc ;;
		--bindir) echo "$1/bin" ;;
		--pkglibdir) echo "$1/lib" ;;
		--includedir-server) echo "${1/lib\/postgresql/include\/postgresql}/server" ;;
		--pgxs) echo "$1/lib/pgxs/src/makefiles/pgxs.mk" ;;
		*) exit 1 ;;
	esac
}

# act PROGRAM PATH ARGUMENT...
act()
{
	local name=$1 package newest depends=Depends

	shift
	case $name in
		cc | gcc) compiler "$@" ;;
		clang)
			[ "$1" != -dumpversion ] || { echo 14.0.6; exit; }
			compiler "$@"
			;;
		id) echo "${FAKE_UID:-$(<"$M/uid")}" ;;
		sudo)
			[ ! -e "$M/password" ] || exit 1
			[ "$1" != -n ] || shift
			FAKE_UID=0 exec "$@"
			;;
		dpkg-query) installed "${*: -1}" && echo 'install ok installed' ;;
		perl)
			while [[ $1 == -M* ]]; do
				[ -e "$M/usr/share/perl/${1#-M}" ] || exit 2
				shift
			done
			;;
		pg_config)
			# Debian's: that of the newest server or client, else libpq-dev's
			for newest in "$M"/usr/lib/postgresql/*; do :; done
			newest=${newest##*/}
			if installed postgresql-common && [ "$newest" != '*' ]; then
				pg_config "$M/usr/lib/postgresql/$newest" "$newest" "$1"
			elif [ -e "$M/usr/include/postgresql/major" ]; then
				newest=$(<"$M/usr/include/postgresql/major")
				pg_config "$M/usr/lib/postgresql/$newest" "$newest" "$1"
			else
				echo 'You need to install postgresql-server-dev-NN' >&2
				exit 1
			fi
			;;
		apt-cache)
			[ -e "$M/lists" ] || exit 100
			[[ ${LC_ALL:-} == C* ]] || depends='Hängt ab von'
			case $1,$2 in
				depends,postgresql) echo "  $depends: postgresql-$(cut -d' ' -f1 "$M/majors")" ;;
				depends,clang) echo "  $depends: clang-14" ;;
				show,*) [[ " $(<"$M/majors") " == *" ${2##*-} "* ]] || exit 100 ;;
			esac
			;;
		apt-get)
			[ "$(id)" = 0 ] || exit 100
			[ ! -e "$M/broken" ] || { echo 'E: nothing works'; exit 100; }
			while [[ $1 == -* ]]; do
				[ "$1" != -o ] || shift
				shift
			done
			case $1 in
				update) touch "$M/lists" ;;
				install)
					shift
					# what the postinst script of postgresql-15 looks at
					cat "$CREATECLUSTER_DIR"/*.conf >>"$M/createcluster"
					echo "1 upgraded, $# newly installed, 0 to remove and 0 not upgraded."
					echo 'Need to get 12 MB of archives.'
					for package; do
						echo "$package" >>"$M/log"
						[ -e "$M/lists" ] && brings "$package" ||
							{ echo "E: Unable to locate package $package"; exit 100; }
					done
					;;
			esac
			;;
		*) exit 0 ;;
	esac
}

if [[ ${1-} == as=* ]]; then
	name=${1#as=}
	shift
	act "$name" "$@"
	exit
fi

#
# The tests
#

cd "$(dirname "$0")/.." || exit 1
self=$PWD/test/setup_test.sh
setup=$PWD/test/setup.sh
work=
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP
work=$(mktemp -d "${TMPDIR:-/tmp}/csv_gpu_fdw.XXXXXX") || exit 1
passed=0
failed=0

# machine PACKAGE...: a new one, of root
machine()
{
	local name

	M=$(mktemp -d "$work/machine.XXXXXX") || exit 1
	export M
	mkdir -p "$M"/{bin,usr/include,packages}
	# shellcheck disable=SC2046,SC2086
	ln -s $(type -P $ESSENTIAL) "$M/bin/"
	program bin/{apt-get,apt-cache,dpkg-query,id}
	echo 0 >"$M/uid"
	echo "${MAJORS:-15}" >"$M/majors"
	: >"$M/log"
	: >"$M/createcluster"
	for name; do
		brings "$name" || exit 1
	done
}

# run PURPOSE...: setup.sh there; sets status, output and asked
run()
{
	output=$(env -i PATH="$M/bin" M="$M" REAL_CC="$REAL_CC" CUDA=no LANG=de_DE.UTF-8 CREATECLUSTER_DIR="$M/createcluster.d" \
			${PG_CONFIG:+PG_CONFIG="$PG_CONFIG"} "$BASH" "$setup" "$@" 2>&1 </dev/null)
	status=$?
	asked=$(sort "$M/log")
	asked=${asked//$'\n'/ }
}

result()
{
	if [ "$1" = 0 ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		printf 'not ok: %s\n  status %s, installed: %s\n  expected: %s\n%s\n' \
			"$2" "$status" "$asked" "$3" "${output//$M/}"
	fi
}

# installs NAME PACKAGE...: these and no other, and all is there then
installs()
{
	local name=$1 expected

	shift
	expected=$(printf '%s\n' "$@" | sort)
	expected=${expected//$'\n'/ }
	[ "$status" = 0 ] && [ "$asked" = "$expected" ]
	result $? "$name" "$expected"
}

# refuses NAME REGEX: nothing is installed, and it says why
refuses()
{
	[ "$status" = 1 ] && [ -z "$asked" ] && [[ $output =~ $2 ]]
	result $? "$1" "$2"
}

REAL_CC=$(type -P cc)
export REAL_CC
unset PG_CONFIG

# ---- Debian's own ----

machine
run build
installs 'a bare machine, to build' $BUILD
run build check
installs 'and later to check' $BUILD $CHECK
: >"$M/log"
run build check
installs 'where nothing is missing, nothing is installed'

machine
run build check
installs 'a bare machine, to check' $BUILD $CHECK
[ "$(<"$M/createcluster")" = 'create_main_cluster = false' ] && [ ! -e "$M/createcluster.d" ]
result $? 'it creates no cluster, and removes the setting for that' 'create_main_cluster = false'
[[ $output =~ 'fetching '[0-9]+' packages: 12 MB' ]]
result $? 'it shows progress' 'fetching'

machine make gcc libc6-dev postgresql-15 libpq-dev-15
run build
installs 'a server and libpq-dev, but no headers of the server' \
	postgresql-server-dev-15 zlib1g-dev libisal-dev libzstd-dev liblz4-dev

machine make gcc libc6-dev zlib1g-dev libisal-dev libzstd-dev liblz4-dev postgresql-15
run build
installs 'a server without its headers' postgresql-server-dev-15

# a piece at a time; where no compiler can try what is there, dpkg knows it
for package in $BUILD $CHECK; do
	kept=
	for other in $BUILD $CHECK; do
		[ "$other" = "$package" ] || kept+=" $other"
	done
	case $package in
		perl) kept=${kept/libipc-run-perl/} ;;
	esac
	# shellcheck disable=SC2086
	machine $kept
	expected=$package
	case $package in
		perl) expected='perl libipc-run-perl' ;;
	esac
	run build check
	# shellcheck disable=SC2086
	installs "all but $package" $expected
done

machine $BUILD $CHECK
rm "$M/bin/gcc"
run build
installs 'without the compiler that the server was made with' gcc

machine make
run build
installs 'without a compiler and all that it would try' ${BUILD/make/}

for part in lib/pgxs/src/makefiles/pgxs.mk lib/pgxs/src/test/regress/pg_regress \
		lib/pgxs/src/test/perl/PostgreSQL/Test/Cluster.pm; do
	machine $BUILD $CHECK
	rm "$M/usr/lib/postgresql/15/$part"
	run build check
	installs "without $(basename "$part")" postgresql-server-dev-15
done

# ---- releases ----

MAJORS='17 16 15' machine
run build
installs "Debian's own release where there is none yet" ${BUILD//15/17}

MAJORS='15 16' machine $BUILD postgresql-16
run build
installs 'another server that pg_config speaks of' postgresql-server-dev-16

MAJORS='17' machine libpq-dev-17
echo 15 >"$M/majors"
touch "$M/lists"
run build
installs 'a libpq-dev that no server is as new as' $BUILD

MAJORS='15 17' machine libpq-dev-17
run build
installs 'a libpq-dev of which there is a server' ${BUILD//15/17}

MAJORS='15 16' machine
PG_CONFIG=$M/usr/lib/postgresql/16/bin/pg_config run build
installs 'PG_CONFIG of a release that is not there yet' ${BUILD//15/16}

machine $BUILD
rm "$M/bin/pg_config"
run build
installs 'a server without a pg_config in PATH' postgresql-15 postgresql-server-dev-15

machine $BUILD
PG_CONFIG=$M/usr/lib/postgresql/17/bin/pg_config run build
refuses 'PG_CONFIG of a release that no package is of' \
	"PostgreSQL 17 is not in this system's package lists.*they have 15;"
echo 1000 >"$M/uid"
PG_CONFIG=$M/usr/lib/postgresql/17/bin/pg_config run build
refuses 'and not root' "apt-get install .*PostgreSQL 17 is not in this system's package lists"

# ---- a PostgreSQL of one's own ----

machine $BUILD $CHECK
cp -R "$M/usr/lib/postgresql/15" "$M/opt"
rm "$M/opt/lib/pg_cron.so"
cp -R "$M/usr/include/postgresql/15/server" "$M/opt/server"
cat >"$M/opt/bin/pg_config" <<S
#!$BASH
case \$1 in
	--version) echo PostgreSQL 18devel ;;
	--cc) echo 'gcc -O' ;;
	--bindir) echo "$M/opt/bin" ;;
	--pkglibdir) echo "$M/opt/lib" ;;
	--includedir-server) echo "$M/opt/server" ;;
	--pgxs) echo "$M/opt/lib/pgxs/src/makefiles/pgxs.mk" ;;
esac
S
PG_CONFIG=$M/opt/bin/pg_config run build check
installs 'one of its own, without pg_cron'
rm "$M"/bin/{gcc,cc}
PG_CONFIG=$M/opt/bin/pg_config run build
installs 'one of its own, without a compiler' gcc
: >"$M/log"
rm "$M/opt/server/postgres.h"
PG_CONFIG=$M/opt/bin/pg_config run build check
refuses 'one of its own, without headers' 'without its headers \(postgres.h\)'

machine $BUILD
PG_CONFIG=$M/nowhere/bin/pg_config run build
refuses 'PG_CONFIG of nothing' 'nowhere/bin/pg_config, which is not there'
PG_CONFIG=$M/bin/true run build
refuses 'PG_CONFIG of another program' 'bin/true, which is no pg_config'

# ---- where it may not install, or cannot ----

machine make gcc libc6-dev postgresql-15 libpq-dev-15
echo 1000 >"$M/uid"
run build
refuses 'not root' 'not root, and there is no sudo.*apt-get update && apt-get install postgresql-server-dev-15 zlib1g-dev libisal-dev libzstd-dev liblz4-dev$'
program bin/sudo
touch "$M/password"
run build
refuses 'not root, and sudo asks' 'not root, and sudo would ask for a password'
rm "$M/password"
run build
installs 'not root, but sudo' postgresql-server-dev-15 zlib1g-dev libisal-dev libzstd-dev liblz4-dev

machine
rm "$M/bin/apt-get"
run build
refuses 'no Debian' 'no apt-get'

machine
touch "$M/broken"
run build
refuses 'apt-get fails' 'E: nothing works.*could not install make gcc'
mkdir "$M/createcluster.d"
touch "$M/createcluster.d/admin.conf"
run build
[ "$(ls "$M/createcluster.d")" = admin.conf ]
result $? 'it leaves settings of the administrator alone' admin.conf

# ---- make ----

# fresh_make ARGUMENT...: a make that knows nothing of a caller's choices, with
# a build directory of its own; sets status and output
tree=$work/tree
mkdir "$tree"
ln -s "$PWD"/{Makefile,csv_gpu_fdw.control,*.sql,*.md,LICENSE,docs,src,cuda,test} "$tree/"
asked=
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
touch "$tree/build/obj/src/table/"{codec,library}.o
build_beside=(-C "$work/beside" -f "$tree/Makefile")
fresh_make "${build_beside[@]}" CUDA=no WITH_ISAL=no build/obj/src/table/{codec,library}.o
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

machine gcc libc6-dev postgresql-15 libpq-dev-15
touch "$M/lists"
PATH=$M/bin:$PATH fresh_make CUDA=no PG_CONFIG="$M/bin/pg_config" all
[ $status = 2 ] && [[ $output =~ 'No PostgreSQL to build for'.*'15/server/postgres.h'.*'postgresql-server-dev-15' ]]
result $? 'make names what is missing' 'No PostgreSQL to build for'

for major in 15 17; do
	fresh_make CUDA=no PG_CONFIG="$M/usr/lib/postgresql/$major/nowhere/pg_config"
	[ $status = 2 ] && [[ $output == *'does not answer'*"Install postgresql-server-dev-$major "* ]]
	result $? 'make names the release of an absent PG_CONFIG' "postgresql-server-dev-$major"
done
fresh_make CUDA=no PG_CONFIG="$M/bin/true"
[ $status = 2 ] && [[ $output == *'bin/true, which is no pg_config'* && $output != *Install* ]]
result $? 'make with a PG_CONFIG of another program' 'no pg_config'

fresh_make CUDA=no PG_CONFIG="$M/bin/pg_config" uninstall
[ $status = 2 ] && [[ $output == *'No PostgreSQL to build for'* ]]
result $? 'uninstall where there are no headers' 'No PostgreSQL to build for'
fresh_make CUDA=no DESTDIR="$work/nowhere" uninstall
[ $status = 0 ] && [[ $output == *WARNING*shared_preload_libraries*pg_db_role_setting* ]]
result $? 'uninstall warns of settings that load the library' WARNING
fresh_make CUDA=no PG_CONFIG="$M/nowhere" help
[ $status = 0 ] && [[ $output == *'make CUDA=no'*'make unit'*'make bench'* && $output != *'$('* ]]
result $? 'make help' 'make unit'

machine gcc libc6-dev zlib1g-dev libisal-dev postgresql-server-dev-15
fresh_make CUDA=no CC="$M/bin/cc" PG_CONFIG="$M/bin/pg_config" say-engines
[ $status = 0 ] && [[ $output =~ 'files: gzip'$'\n''WITHOUT zstd lz4,'.*'install libzstd-dev liblz4-dev ' ]]
result $? 'make names the headers that it does without' 'libzstd-dev liblz4-dev'
fresh_make CUDA=no CC="$M/bin/cc" PG_CONFIG="$M/bin/pg_config" WITH_ZSTD=no WITH_LZ4=no say-engines
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
