# Benchmarks: included by the Makefile.  Each program and script says at its top
# what it does and what it can be told.
#
#	make bench			all of them, on a server of our own or that of PGHOST;
#						the results go to docs/results
#	make bench-programs	build/generate, build/tpch, build/engine and build/duckdb
#	make bench-docs		tables and plots of docs/benchmarks.md from docs/results

.PHONY: bench bench-programs bench-docs
bench-programs: build/generate build/tpch build/engine build/duckdb

bench: bench-programs
	+@exec env MAKE='$(MAKE)' PARTS='$(PARTS)' test/bench/run.sh

bench-docs:
	@python3 test/bench/report.py

build/generate build/tpch: build/%: test/bench/%.c test/bench/random.h
	@mkdir -p $(@D)
	$(CC) $(TEST_CFLAGS) -o $@ $<

build/duckdb: test/bench/duckdb.c
	@mkdir -p $(@D)
	$(CC) $(TEST_CFLAGS) -o $@ $< -ldl

build/engine: $(call plain_objects,test/bench/engine.c $(LIBRARY_SOURCES)) $(TEST_CUDA_OBJS)
	$(CC) $(TEST_CFLAGS) -o $@ $^ $(CUDA_LIBS) -lpthread
