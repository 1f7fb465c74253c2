# Tests of the library, without PostgreSQL, and two more: included by the
# Makefile.
#
#	make unit			every program test/unit/test_*.c
#	make unit-sanitize	the same with ASan and UBSan
#	make unit-threads	those of threads with TSan
#	make differential	random files, engines against the reference reader;
#						DIFFERENTIAL_FILES=5000
#	make fuzz			libFuzzer, every program test/fuzz/fuzz_*.c for
#						FUZZ_SECONDS=6; needs clang
#	make check-arm64	unit, differential and the fuzzers' corpora on 64-bit ARM,
#						by a cross compiler and qemu; PARTS="... sql" also the
#						SQL tests in a root of Debian, for root
#	make stress			hostile files through a server; not part of make check;
#						STRESS_FILES=20000 STRESS_SEED=1
#	make install-inject	the extension as "make check" installs it: tests can make
#						things fail in it; build/tpch, which makes tables; and
#						the script of 0.1
#	make setup-test		what setup.sh installs, what make says, make check and signals
#	make check-versions	the SQL tests and some of COPY with PostgreSQL 17, 18 and 19,
#						in roots of Debian 13, sid and experimental; for root
#	make check-packages	packages, the archive for PGXN and the image, in roots of
#						Debian 12 and 13; for root
#
# EFFORT=N gives all that is random N times as many inputs, or as much time; SEED=N is
# another beginning.  Both hold for "make check", too.
#
# Where the CUDA engine is built, unit and differential have it, too; without a
# GPU its tests are skipped.

EFFORT ?= 1
SEED ?= 1
amount = $(shell awk 'BEGIN { print int($(1) * $(EFFORT) + 0.5) }')
DIFFERENTIAL_FILES ?= $(call amount,5000)
FUZZ_SECONDS ?= $(call amount,6)
FUZZ_CC ?= clang
FUZZ_MAIN ?= -fsanitize=fuzzer

# PGXS sets CFLAGS and CPPFLAGS of its own, which are not meant for these
TEST_CFLAGS ?= -std=gnu11 -O2 -g -Wall -Wextra $(WERROR)
# clang's pointer-overflow refuses NULL plus 0, which C2y defines and all compilers know
SANITIZE_CFLAGS = -std=gnu11 -O1 -g -Wall -Wextra $(WERROR) \
	-fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize=pointer-overflow \
	-fno-sanitize-recover=all
# fuzzers and sanitized tests are linked with the same objects
FUZZ_CFLAGS ?= $(SANITIZE_CFLAGS) -fsanitize=fuzzer-no-link
THREADS_CFLAGS = -std=gnu11 -O1 -g -Wall -Wextra $(WERROR) -fsanitize=thread
TEST_CPPFLAGS = -Isrc/reader -Isrc -Itest

LIBRARY_SOURCES = $(wildcard src/reader/*.c src/cpu/*.c src/query/*.c src/wire/*.c)
COMPARE_SOURCES = test/reference/reference.c \
	$(addprefix test/differential/,case.c compare.c content.c)

# tests of CUDA's engine only where there is one
UNIT_SOURCES = $(wildcard test/unit/test_*.c)
CPU_UNIT_SOURCES = $(filter-out test/unit/test_cuda%.c,$(UNIT_SOURCES))
UNIT_NAMES = $(notdir $(basename $(if $(WITH_CUDA),$(UNIT_SOURCES),$(CPU_UNIT_SOURCES))))
CPU_UNIT_NAMES = $(notdir $(basename $(CPU_UNIT_SOURCES)))

# the same objects as the extension's
TEST_CUDA_OBJS = $(CUDA_OBJS)

# ---- what tests inject: test/inject/inject.h ----

comma := ,
wraps = $(addprefix -Wl$(comma)--wrap=,$(1))
INJECT_OBJS = build/obj/test/inject/server.o
INJECT_WRAPS = $(call wraps,MarkGUCPrefixReserved csv_has_settled compute_parallel_worker csv_resident_find \
	csv_piece_bytes csv_inlet_open csv_codec_load dlopen)
INJECT_CUDA_OBJS = $(if $(WITH_CUDA),build/obj/test/inject/gpu.cu.o)
INJECT_CUDA_WRAPS = $(if $(WITH_CUDA),$(call wraps,csv_cuda_open csv_cuda_engine cudaMemcpyAsync))
INJECT_SERVICE_WRAPS = $(call wraps,csv_outlet_init csv_device_patience csv_least_device_rows \
	csv_most_device_files csv_least_head_limit)
INJECT_READ_WRAPS = $(call wraps,pread)
INJECT_SERVICE_OBJS = build/obj/test/inject/choose.o \
	$(if $(WITH_CUDA),$(addprefix build/obj/test/inject/,service.o faults.o) $(INJECT_CUDA_OBJS))

build/test/csv_gpu_fdw.so: $(OBJS) $(INJECT_OBJS) build/link-flags src/exports.map
	@mkdir -p $(@D)
	$(LINK.shared) -o $@ $(OBJS) $(INJECT_OBJS) $(LDFLAGS) $(LDFLAGS_SL) $(SHLIB_LINK) $(INJECT_WRAPS)

build/test/csv_gpu_service: $(SERVICE_OBJS) $(INJECT_SERVICE_OBJS)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -o $@ $^ $(LDFLAGS) $(CUDA_LIBS) -lm -lpthread $(INJECT_CUDA_WRAPS) $(INJECT_SERVICE_WRAPS) \
		$(if $(WITH_CUDA),$(INJECT_READ_WRAPS))

# the program with a stand-in for the GPU
STAND_IN_OBJS = $(patsubst %.c,build/test/stand-in/%.o,$(ALL_SERVICE_SOURCES) $(wildcard test/inject/stand_in*.c))

build/test/stand-in/%.o: %.c build/c-flags
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(CPPFLAGS) -DCSV_WITH_CUDA -MMD -MP -c -o $@ $<

build/test/csv_gpu_stand_in: $(STAND_IN_OBJS) $(LIBRARY_OBJS) \
		$(addprefix build/obj/test/inject/,faults.o service.o)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -o $@ $^ $(LDFLAGS) -lm -lpthread $(INJECT_SERVICE_WRAPS) $(INJECT_READ_WRAPS)

# a library that keeps rows of tables itself: test/inject/owner.c
build/test/csv_gpu_owner.so: build/obj/test/inject/owner.o build/link-flags
	@mkdir -p $(@D)
	$(LINK.shared) -o $@ $< $(LDFLAGS) $(LDFLAGS_SL)

install-inject: install build/test/csv_gpu_fdw.so build/test/csv_gpu_service \
		build/test/csv_gpu_stand_in build/test/csv_gpu_owner.so build/tpch
	$(INSTALL_SHLIB) build/test/csv_gpu_fdw.so build/test/csv_gpu_owner.so '$(DESTDIR)$(pkglibdir)'
	$(INSTALL_PROGRAM) build/test/csv_gpu_service build/test/csv_gpu_stand_in '$(DESTDIR)$(pkglibdir)'
	$(INSTALL_DATA) test/data/csv_gpu_fdw--0.1.sql '$(DESTDIR)$(datadir)/extension'
	@$(MKDIR_P) '$(DESTDIR)$(bindir)'
	$(INSTALL_PROGRAM) build/tpch '$(DESTDIR)$(bindir)'

-include $(STAND_IN_OBJS:.o=.d) $(INJECT_SERVICE_OBJS:.o=.d)
-include $(INJECT_OBJS:.o=.d) build/obj/test/inject/owner.d

# ---- objects: plain, with sanitizers, and for fuzzers ----

PLAIN = build/test/objects$(if $(WITH_CUDA),-cuda)
SANITIZED = build/test/sanitized
# with what serves a GPU
SANITIZED_GPU = build/test/sanitized-gpu

COMPILE_SANITIZED = $(FUZZ_CC) $(FUZZ_CFLAGS) $(TEST_CPPFLAGS) -MMD -MP

$(PLAIN)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(TEST_CFLAGS) $(TEST_CPPFLAGS) $(if $(WITH_CUDA),-DCSV_WITH_CUDA) -MMD -MP -c -o $@ $<

$(SANITIZED)/%.o: %.c
	@mkdir -p $(@D)
	$(COMPILE_SANITIZED) -c -o $@ $<

$(SANITIZED_GPU)/%.o: %.c
	@mkdir -p $(@D)
	$(COMPILE_SANITIZED) -DCSV_WITH_CUDA -c -o $@ $<

OBJECT_FOLDERS = $(PLAIN) $(SANITIZED) $(SANITIZED_GPU)
.PRECIOUS: $(addsuffix /%.o,$(OBJECT_FOLDERS))
-include $(wildcard $(addsuffix /*/*/*.d,$(OBJECT_FOLDERS)))

# sources of src/ are the extension's objects, where those can be made
plain_objects = $(patsubst %.c,$(PLAIN)/%.o,$(if $(WITH_PGXS),$(filter-out src/%,$(1)),$(1))) \
	$(if $(WITH_PGXS),$(patsubst %.c,build/obj/%.o,$(filter src/%,$(1))))
sanitized = $(patsubst %.c,$(SANITIZED)/%.o,$(1))
sanitized_gpu = $(patsubst %.c,$(SANITIZED_GPU)/%.o,$(1))

# ---- unit ----

# the program but for its main(); with and without GPUs
ALL_PROGRAM_SOURCES = $(filter-out %/main.c,$(ALL_SERVICE_SOURCES))
PROGRAM_SOURCES = $(filter-out %/main.c,$(SERVICE_SOURCES))

UNIT_SUPPORT = $(LIBRARY_SOURCES) $(COMPARE_SOURCES) $(PROGRAM_SOURCES) \
	$(addprefix test/unit/,unit.c reading.c rounds.c naive_query.c random_query.c \
		host_answer.c compare_query.c)

build/test/test_%: $(PLAIN)/test/unit/test_%.o \
		$(call plain_objects,$(UNIT_SUPPORT)) $(PLAIN)/test/inject/faults.o $(TEST_CUDA_OBJS) $(INJECT_CUDA_OBJS)
	$(CC) $(TEST_CFLAGS) -o $@ $^ -lcmocka -lm $(CUDA_LIBS) $(INJECT_CUDA_WRAPS)

$(SANITIZED)/test_%: $(SANITIZED)/test/unit/test_%.o \
		$(call sanitized,$(filter-out $(GPU_SOURCES),$(UNIT_SUPPORT)))
	$(FUZZ_CC) $(FUZZ_CFLAGS) -o $@ $^ -lcmocka -lm

unit: $(patsubst %,build/test/%,$(UNIT_NAMES))
	@test/unit/run.sh $@ $^

unit-sanitize: $(patsubst %,$(SANITIZED)/%,$(CPU_UNIT_NAMES))
	@test/unit/run.sh $@ $^

# in one command: the objects serve no other program; setarch, since TSan
# wants addresses where some kernels put none
build/test/threads/test_%: test/unit/test_%.c test/unit/unit.c test/unit/rounds.c \
		$(LIBRARY_SOURCES) FORCE
	@mkdir -p $(@D)
	$(CC) $(THREADS_CFLAGS) $(TEST_CPPFLAGS) -o $@ $(filter %.c,$^) -lcmocka -lm

unit-threads: build/test/threads/test_crew build/test/threads/test_ahead
	setarch -R $<
	setarch -R $(word 2,$^)

# ---- differential ----

build/test/differential: $(call plain_objects,$(LIBRARY_SOURCES) \
		$(COMPARE_SOURCES) test/differential/differential.c) $(TEST_CUDA_OBJS)
	$(CC) $(TEST_CFLAGS) -o $@ $^ $(if $(WITH_CUDA),$(CUDA_LIBS))

$(SANITIZED)/differential: $(call sanitized,$(LIBRARY_SOURCES) \
		$(COMPARE_SOURCES) test/differential/differential.c)
	$(FUZZ_CC) $(FUZZ_CFLAGS) -o $@ $^

differential: build/test/differential
	@$(EMULATOR) $< --seed $(SEED) --files $(DIFFERENTIAL_FILES)

differential-sanitize: $(SANITIZED)/differential
	@$< --seed $(SEED) --files $(DIFFERENTIAL_FILES)

# ---- fuzz ----

FUZZ_NAMES = $(notdir $(basename $(wildcard test/fuzz/fuzz_*.c)))
FUZZ_LINK = $(FUZZ_CC) $(FUZZ_CFLAGS) $(FUZZ_MAIN) -o $@ $^ -lm -lpthread

build/test/fuzz_%: $(SANITIZED)/test/fuzz/fuzz_%.o $(call sanitized,$(LIBRARY_SOURCES))
	$(FUZZ_LINK)

build/test/fuzz_reader: $(call sanitized,$(COMPARE_SOURCES))
build/test/fuzz_service: $(call sanitized,test/differential/case.c \
		$(filter-out $(GPU_SOURCES),$(ALL_PROGRAM_SOURCES)))

# with the stand-in for a GPU
build/test/fuzz_scan: $(call sanitized_gpu,test/fuzz/fuzz_scan.c \
		$(wildcard test/inject/stand_in*.c) test/inject/faults.c $(ALL_PROGRAM_SOURCES)) \
		$(call sanitized,test/differential/case.c $(LIBRARY_SOURCES))
	$(FUZZ_LINK)

# files of the PostgreSQL side, on what stands in for a server
SNIFF_OBJS = $(call sanitized,test/fuzz/fuzz_sniff.c test/fuzz/server.c \
		$(addprefix src/import/,show.c sniff.c observe.c tell.c types.c separators.c evidence.c recognize.c when.c guess.c dialects.c wide.c header.c header_rows.c grid.c ending.c file_heads.c sample.c names.c keys.c create.c) \
		$(addprefix src/table/,text.c encoding.c memory.c))
$(SNIFF_OBJS): TEST_CPPFLAGS += -Wno-unused-parameter -Wno-sign-compare \
		-isystem '$(INCLUDEDIR_SERVER)' -DUSE_PRIVATE_ENCODING_FUNCS -D_GNU_SOURCE

build/test/fuzz_sniff: $(SNIFF_OBJS) $(call sanitized,$(addprefix src/reader/,dialect.c record.c crew.c thread.c))
	$(FUZZ_LINK) -L'$(shell $(PG_CONFIG) --pkglibdir)' -L'$(shell $(PG_CONFIG) --libdir)' \
		-lpgcommon -lpgport -lm

# what is found stays in build/test/fuzz; the corpora grow there
fuzz: $(FUZZ_NAMES:%=build/test/%)
	@test/fuzz/run.sh $(FUZZ_SECONDS) $^

# ---- stress ----

build/test/hostile: $(PLAIN)/test/stress/hostile.o $(call plain_objects, \
		test/differential/case.c test/differential/content.c src/reader/dialect.c)
	$(CC) $(TEST_CFLAGS) -o $@ $^

stress: build/test/hostile
	+@exec env MAKE='$(MAKE)' PG_CONFIG='$(PG_CONFIG)' CUDA='$(CUDA)' \
		test/stress/stress.sh

# ---- set-up ----

setup-test:
	@test/setup_test.sh

# ---- other releases of PostgreSQL, and packages ----

check-versions check-packages check-arm64: check-%:
	+@exec env MAKE='$(MAKE)' PARTS='$(PARTS)' test/$*.sh

.PHONY: install-inject stress setup-test check-versions check-packages check-arm64 unit unit-sanitize unit-threads differential differential-sanitize fuzz
