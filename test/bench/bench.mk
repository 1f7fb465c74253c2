# Benchmarks: included by the Makefile.
#
#	make bench-programs	build/generate, build/engine and build/query
#
#	build/generate lineitem 1G > FILE
#	build/engine lineitem FILE
#	build/query FILE
#	test/bench/sql.sh FILE

.PHONY: bench-programs
bench-programs: build/generate build/engine build/query

build/generate: test/bench/generate.c
	@mkdir -p $(@D)
	$(CC) $(TEST_CFLAGS) -o $@ $<

build/engine: $(PLAIN)/test/bench/engine.o $(patsubst %.c,$(PLAIN)/%.o,$(LIBRARY_SOURCES)) $(TEST_CUDA_OBJS)
	$(CC) $(TEST_CFLAGS) -o $@ $^ $(CUDA_LIBS) -lpthread

build/query: $(PLAIN)/test/bench/query.o $(patsubst %.c,$(PLAIN)/%.o,$(LIBRARY_SOURCES))
	$(CC) $(TEST_CFLAGS) -o $@ $^
