# csv_gpu_fdw: see docs/install.md for building, CONTRIBUTING.md for daily work.
#
#	make			the extension; with the CUDA engine where nvcc is found
#	make CUDA=no	without it
#	make install	into the PostgreSQL of PG_CONFIG
#	make uninstall	from there
#	make demo		a tour on a private server
#	make check		all tests on a private server
#	make installcheck	SQL tests against a running server
#	make setup		install Debian packages that all of these need
#	make dist		the archive for PGXN, of the last commit
#	make format, make lint
#	make help		this list, and the tests and benchmarks
#
# PG_CONFIG=/path/to/pg_config chooses a PostgreSQL.  To build in another
# directory, go there and run "make -f /path/to/csv_gpu_fdw/Makefile".

srcdir := $(patsubst %/,%,$(dir $(firstword $(MAKEFILE_LIST))))

# a build in another directory finds these here, and no object of the source tree
ifneq ($(srcdir),.)
vpath %.c $(srcdir)
vpath %.cu $(srcdir)
vpath %.h $(srcdir)
vpath %.map $(srcdir)
vpath %.control $(srcdir)
endif

# $(call files,PATTERN...): relative to the source tree
files = $(patsubst $(srcdir)/%,%,$(wildcard $(addprefix $(srcdir)/,$(1))))

EXTENSION = csv_gpu_fdw
MODULE_big = csv_gpu_fdw

# the version stands in the control file and nowhere else
EXTVERSION := $(shell sed -n "s/^default_version *= *'\(.*\)'/\1/p" $(srcdir)/csv_gpu_fdw.control)
DATA = $(call files,csv_gpu_fdw--*.sql)

REGRESS = $(patsubst sql/%.sql,%,$(sort $(call files,sql/*.sql)))
REGRESS_OPTS = --encoding=UTF8 --no-locale

# ---- what was chosen holds for a later "make install", until "make clean" ----

# root's PATH and environment are others; what is given goes before
ifeq ($(filter-out install% uninstall,$(or $(MAKECMDGOALS),all)),)
$(eval $(file <build/choices.mk))
endif
CHOSEN := $(foreach choice,WERROR NVCC_ARCH WITH_GZIP WITH_ISAL WITH_ZSTD WITH_LZ4,\
	$(if $(filter-out undefined,$(origin $(choice))),$(choice)))
CHOICES = 'PG_CONFIG ?= $(or $(shell command -v $(PG_CONFIG)),$(PG_CONFIG))' \
	$(if $(NVCC),'NVCC ?= $(NVCC)','CUDA ?= no') \
	$(foreach choice,$(CHOSEN),'$(choice) ?= $($(choice))')

# another name would change nothing
$(foreach name,$(filter-out $(CHOSEN),$(filter WITH_%,$(.VARIABLES))),$(if $(filter command,$(origin $(name))),\
	$(error there is no setting $(name), but WITH_GZIP, WITH_ISAL, WITH_ZSTD, WITH_LZ4 and CUDA)))

PG_CONFIG ?= pg_config
CLANG_TIDY ?= clang-tidy
CPPCHECK ?= cppcheck

# empty it where a compiler warns of what others do not
WERROR ?= -Werror

# ---- CUDA: CUDA=yes insists on it, CUDA=no does without ----

CUDA ?= auto
NVCC ?= $(or $(shell command -v nvcc 2>/dev/null),$(firstword $(wildcard /usr/local/cuda/bin/nvcc)))
CUDA_SOURCES = $(call files,cuda/*.cu)

ifeq ($(CUDA),no)
override NVCC =
else ifeq ($(CUDA)$(NVCC),yes)
$(error CUDA=yes, but there is no nvcc in PATH or /usr/local/cuda/bin; set NVCC)
else ifneq ($(NVCC),)
ifeq ($(shell command -v $(NVCC)),)
$(error NVCC=$(NVCC), but there is no such program; set it to another, or CUDA=no)
endif
endif

# a cubin for Hopper, and PTX that newer and older devices compile at first use
NVCC_ARCH ?= -gencode arch=compute_90,code=sm_90 -gencode arch=compute_75,code=compute_75
NVCCFLAGS = -std=c++17 -O3 -lineinfo -I$(srcdir)/src -Xcompiler -fPIC,-Wall,-Wextra,-fno-exceptions,-fno-threadsafe-statics $(NVCC_ARCH)

ifneq ($(and $(NVCC),$(CUDA_SOURCES)),)
WITH_CUDA = yes
CUDA_HOME ?= $(patsubst %/bin/,%,$(dir $(realpath $(NVCC))))
CUDA_LIBDIR ?= $(firstword $(wildcard $(CUDA_HOME)/lib64 $(CUDA_HOME)/targets/$(shell uname -m)-linux/lib) $(CUDA_HOME)/lib)

# libstdc++ becomes a dependency only if something is taken from it
CUDA_LIBS = -L$(CUDA_LIBDIR) -lcudart_static -Wl,--as-needed -lstdc++ -lrt -ldl -lpthread
endif

# ---- compressed files: what the server has, where its headers are ----

hash := \#
INCLUDEDIR_SERVER := $(shell $(PG_CONFIG) --includedir-server 2>/dev/null)

# $(call has,MACRO,HEADER,PACKAGE): yes, where it is defined in pg_config.h and
# the header is there; where only the header lacks, Debian's package of it
has = $(shell has() { printf '$(hash)%s\n' "$$@" | \
		$(CC) $(CPPFLAGS) -I'$(INCLUDEDIR_SERVER)' -E -x c - >/dev/null 2>&1; }; \
	has 'include "pg_config.h"' 'ifndef $(1)' error endif && \
	{ has 'include <$(2)>' && echo yes || echo $(3); })

WITH_GZIP ?= $(call has,HAVE_LIBZ,zlib.h,zlib1g-dev)
WITH_ZSTD ?= $(call has,USE_ZSTD,zstd.h,libzstd-dev)
WITH_LZ4 ?= $(call has,USE_LZ4,lz4frame.h,liblz4-dev)
# decompresses gzip faster than zlib, which says what is wrong with a file
WITH_ISAL ?= $(call has,HAVE_LIBZ,isa-l/igzip_lib.h,libisal-dev)
override WITH_GZIP := $(WITH_GZIP)
override WITH_ISAL := $(if $(filter yes,$(WITH_GZIP)),$(WITH_ISAL),no)
override WITH_ZSTD := $(WITH_ZSTD)
override WITH_LZ4 := $(WITH_LZ4)

# $(call where,VALUE,GZIP,ZSTD,LZ4): one of them for each that is such
where = $(strip $(if $(filter $(1),$(WITH_GZIP)),$(2)) \
	$(if $(filter $(1),$(WITH_ZSTD)),$(3)) $(if $(filter $(1),$(WITH_LZ4)),$(4)))
COMPRESSIONS = $(call where,yes,gzip,zstd,lz4)
COMPRESSION_FLAGS = $(call where,yes,-DCSV_WITH_GZIP,-DCSV_WITH_ZSTD,-DCSV_WITH_LZ4) \
	$(if $(filter yes,$(WITH_ISAL)),-DCSV_WITH_ISAL)
COMPRESSION_LIBS = $(call where,yes,-lz,-lzstd,-llz4) $(if $(filter yes,$(WITH_ISAL)),-lisal)
COMPRESSIONS_LACKING = $(call where,%-dev,gzip,zstd,lz4)
COMPRESSION_PACKAGES = $(call where,%-dev,$(WITH_GZIP),$(WITH_ZSTD),$(WITH_LZ4))

# ---- objects, all under build/ ----

# the program's own are not the extension's; some are only for a build with CUDA
GPU_SOURCES = $(addprefix src/service/,ask.c device.c files.c gpu_scan.c gpus.c outlet.c)
ALL_SERVICE_SOURCES = $(call files,src/service/*.c)
SERVICE_SOURCES = $(filter-out $(if $(WITH_CUDA),,$(GPU_SOURCES)),$(ALL_SERVICE_SOURCES))
SOURCES = $(filter-out $(ALL_SERVICE_SOURCES),$(call files,src/*.c src/*/*.c))

# those of CUDA take longest, so they begin
CUDA_OBJS = $(if $(WITH_CUDA),$(patsubst %.cu,build/obj/%.cu.o,$(CUDA_SOURCES)))
OBJS = $(patsubst %.c,build/obj/%.o,$(SOURCES))

# the library, with what it says to sessions
LIBRARY_OBJS = $(filter $(addprefix build/obj/src/,reader/% cpu/% query/% wire/%),$(OBJS))
SERVICE_OBJS = $(patsubst %.c,build/obj/%.o,$(SERVICE_SOURCES)) $(LIBRARY_OBJS) $(CUDA_OBJS)

PG_CPPFLAGS = -I$(srcdir)/src -Ibuild $(if $(WITH_CUDA),-DCSV_WITH_CUDA) $(COMPRESSION_FLAGS)
PG_CFLAGS = -Wall -Wextra $(WERROR) -Wno-declaration-after-statement

# PostgreSQL's own headers do not pass these
build/obj/%.o: WARNINGS = -Wno-unused-parameter -Wno-sign-compare
build/obj/src/reader/%.o build/obj/src/cpu/%.o build/obj/src/query/%.o \
	build/obj/src/wire/%.o build/obj/src/service/%.o: WARNINGS =

# only what SQL and the server call is visible outside
SHLIB_LINK = -Wl,--version-script=$(srcdir)/src/exports.map

EXTRA_CLEAN = build csv_gpu_fdw-*.zip

# PGXS would make bitcode of every object, which a CUDA one cannot be
override with_llvm = no

# ---- what needs no PostgreSQL, or gets one itself ----

OWN_GOALS = demo check test setup dist format lint help
LIBRARY_GOALS = setup-test check-versions check-packages check-arm64 stress $(UNIT_GOALS) fuzz% bench%
# these take the extension's objects where there is a PostgreSQL to make them for
UNIT_GOALS = unit% differential%
own_goals := $(filter $(OWN_GOALS),$(MAKECMDGOALS))
in_tree_goals := $(filter-out help setup,$(filter $(OWN_GOALS) $(LIBRARY_GOALS) \
	install-inject,$(MAKECMDGOALS)))
ifneq ($(srcdir),.)
ifneq ($(in_tree_goals),)
$(error make $(in_tree_goals) works in the source tree only: run it in $(srcdir))
endif
endif
pgxs_goals := $(filter-out $(OWN_GOALS) $(LIBRARY_GOALS),$(or $(MAKECMDGOALS),all))
unit_goals := $(if $(EMULATOR),,$(filter $(UNIT_GOALS),$(MAKECMDGOALS)))

ifneq ($(pgxs_goals)$(unit_goals),)
PGXS := $(shell $(PG_CONFIG) --pgxs 2>/dev/null)
# the client brings pgxs.mk already, but not what is compiled with
LACKING := $(strip $(foreach file,$(PGXS) $(INCLUDEDIR_SERVER)/postgres.h,$(if $(wildcard $(file)),,$(file))))
ifeq ($(LACKING),)
include $(PGXS)
# PGXS sets these: the first with a slash at its end, and the second so that
# objects of the source tree would be taken for those of another directory
srcdir := $(patsubst %/,%,$(srcdir))
override VPATH =
WITH_PGXS = yes
all: say-engines
else
all install uninstall installcheck:
	@major=$$(PG_CONFIG='$(PG_CONFIG)' $(srcdir)/test/setup.sh major) || exit 1; \
	echo 'No PostgreSQL to build for: $(if $(PGXS),there is no $(firstword $(LACKING)),$(PG_CONFIG) does not answer).' >&2; \
	echo "Install postgresql-server-dev-$$major (Debian), set PG_CONFIG, or run \"make setup\"." >&2; \
	exit 1
clean:
	rm -rf build csv_gpu_fdw.so
endif

# The names of directories are left out, so that builds in any two are the same one.
build/c-flags: FORCE
	@$(call write_if_changed,'$(patsubst -I$(srcdir)/%,-I%,$(filter-out \
		-I$(srcdir) -ffile-prefix-map=%,$(CC) $(CFLAGS) $(CPPFLAGS)))')
build/link-flags: FORCE
	@$(call write_if_changed,'$(OBJS) $(SHLIB_LINK) $(LDFLAGS) $(COMPRESSION_LIBS)')
build/choices.mk: FORCE
	@$(call write_if_changed,$(CHOICES))

csv_gpu_fdw.so: build/link-flags src/exports.map | build/choices.mk

# The extension is not linked with these libraries, but opens them: the linker
# tells the names under which it will find them.
build/sonames.h: build/link-flags
	echo 'int main(void) { return 0; }' | $(CC) $(CFLAGS) $(LDFLAGS) -Wl,--no-as-needed \
		-x c -o build/sonames - -x none $(COMPRESSION_LIBS)
	LC_ALL=C readelf -d build/sonames | sed -n \
		's/.*(NEEDED).*\[lib\(z\|isal\|zstd\|lz4\)\(\.so.*\)\]$$/$(hash)define CSV_SONAME_\1 "lib\1\2"/p' >$@
build/obj/src/table/codec.o: build/sonames.h

# ---- the program that sessions share ----

build/csv_gpu_service: $(SERVICE_OBJS) build/link-flags
	$(CC) $(CFLAGS) -o $@ $(SERVICE_OBJS) $(LDFLAGS) $(CUDA_LIBS) -lm -lpthread

ifeq ($(LACKING),)
all: build/csv_gpu_service

# there, users other than superusers may LOAD it, to have csv_gpu_fdw.copy
install: install-plugin
install-plugin: installdirs
	@$(MKDIR_P) '$(DESTDIR)$(pkglibdir)/plugins'
	ln -sf ../csv_gpu_fdw.so '$(DESTDIR)$(pkglibdir)/plugins/csv_gpu_fdw.so'

install: install-service
install-service: build/csv_gpu_service installdirs
	$(INSTALL_PROGRAM) $< '$(DESTDIR)$(pkglibdir)/csv_gpu_service'

# PGXS would put them among other extensions' files, without the directory docs
docs_dir = $(DESTDIR)$(docdir)/extension/csv_gpu_fdw
install: install-docs
install-docs:
	@$(MKDIR_P) '$(docs_dir)/docs' '$(docs_dir)/test/data'
	$(INSTALL_DATA) $(addprefix $(srcdir)/,LICENSE $(call files,*.md)) '$(docs_dir)'
	$(INSTALL_DATA) $(addprefix $(srcdir)/,$(call files,docs/*.md docs/*.svg)) '$(docs_dir)/docs'
	$(INSTALL_DATA) $(srcdir)/test/data/customers.csv '$(docs_dir)/test/data'

# what root has built belongs to the owner of the directory
install: give-back
give-back: all
	-@[ "$$(id -u)" != 0 ] || chown -hR --reference=. build csv_gpu_fdw.so

uninstall: uninstall-service
uninstall-service:
	rm -f '$(DESTDIR)$(pkglibdir)/csv_gpu_service' '$(DESTDIR)$(pkglibdir)/plugins/csv_gpu_fdw.so'
	rm -rf '$(docs_dir)'
	@echo 'WARNING: take csv_gpu_fdw out of shared_preload_libraries, session_preload_libraries'
	@echo 'and local_preload_libraries now.  Otherwise the server will not start, or logins will'
	@echo 'fail.  Look at postgresql.conf, postgresql.auto.conf and the table pg_db_role_setting'
	@echo '(ALTER ROLE, ALTER DATABASE); "Remove" in docs/install.md has a query for all of them.'
.PHONY: install-plugin install-service install-docs give-back uninstall-service
endif

build/obj/%.o: %.c build/c-flags
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(WARNINGS) $(CPPFLAGS) $(DEFINES) -MMD -MP -c -o $@ $<

build/obj/src/csv_gpu_fdw.o: csv_gpu_fdw.control
build/obj/src/csv_gpu_fdw.o: DEFINES = -DCSV_VERSION=\"$(EXTVERSION)\"

# The library and the program know by this that they are of one build.
build/obj/src/wire/message.o: $(wildcard $(addprefix $(srcdir)/,src/*.[ch] src/*/*.[ch] cuda/*))
build/obj/src/wire/message.o: DEFINES = -DCSV_BUILD=\"$$(cd $(srcdir) && \
	cat src/*.[ch] src/*/*.[ch] cuda/* $(CURDIR)/build/c-flags | sha256sum | cut -c1-16)\"

say-engines:
ifdef WITH_CUDA
	@echo 'csv_gpu_fdw $(EXTVERSION): with the CUDA engine ($(NVCC))'
else
	@echo 'csv_gpu_fdw $(EXTVERSION): WITHOUT the CUDA engine ($(if $(filter no,$(CUDA)),$(if $(filter file,$(origin CUDA)),as last made,CUDA=no),$(if $(NVCC),no file cuda/*.cu,no nvcc found))); queries run on the CPU'
endif
	@echo 'compressed files: $(or $(COMPRESSIONS),none)'
ifneq ($(COMPRESSIONS_LACKING),)
	@echo 'WITHOUT $(COMPRESSIONS_LACKING), which this PostgreSQL has; install $(COMPRESSION_PACKAGES) (Debian), and make again'
endif
ifneq ($(filter %-dev,$(WITH_ISAL)),)
	@echo 'gzip by zlib, at a third of the pace; install $(WITH_ISAL) (Debian), and make again'
endif
.PHONY: say-engines
endif

# ---- CUDA objects, for the extension and for the library's tests ----

# such a file holds what objects were made with: a change makes them again
write_if_changed = mkdir -p $(@D); printf '%s\n' $(1) | cmp -s - $@ || printf '%s\n' $(1) > $@

build/cuda-flags: FORCE
	@$(call write_if_changed,'$(NVCC) $(NVCCFLAGS)')
FORCE:
.PHONY: FORCE

build/obj/%.cu.o: %.cu build/cuda-flags
	@mkdir -p $(@D)
	$(NVCC) $(NVCCFLAGS) -DCSV_WITH_CUDA -MMD -MP -MF $(@:.o=.d) -c -o $@ $<

-include $(OBJS:.o=.d) $(SERVICE_OBJS:.o=.d)

# ---- daily commands ----

ifneq ($(own_goals),)
.PHONY: $(OWN_GOALS)
.NOTPARALLEL:

setup:
	@$(srcdir)/test/setup.sh build check

# the comments at the top of these files
help:
	@for file in Makefile test/test.mk test/bench/bench.mk; do \
		sed -n '/^#/!q;s/^# \?//p' $(srcdir)/$$file; echo; done

demo:
	+@exec env MAKE='$(MAKE)' $(srcdir)/test/demo.sh

# PARTS="build regress" runs these parts only; EFFORT and SEED: test/test.mk
check:
	+@exec env MAKE='$(MAKE)' PARTS='$(PARTS)' $(srcdir)/test/check.sh

# there is a directory of that name
test: check

# as PGXN names it and wants it
dist: archive = csv_gpu_fdw-$(shell sed -n 's/^\t"version": "\(.*\)",/\1/p' $(srcdir)/META.json)
dist:
	git archive --format=zip --prefix=$(archive)/ --output=$(archive).zip HEAD
	@echo $(archive).zip

format:
	@$(srcdir)/test/format.sh

lint:
	+@exec env MAKE='$(MAKE)' CPPCHECK='$(CPPCHECK)' CLANG_TIDY='$(CLANG_TIDY)' \
		COMPRESSION_FLAGS='$(COMPRESSION_FLAGS)' $(srcdir)/test/lint.sh
endif

# ---- tests of the library: unit, unit-sanitize, differential, fuzz ----

-include $(srcdir)/test/test.mk
-include $(srcdir)/test/bench/bench.mk
