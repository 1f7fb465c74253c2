/*
 * gpu.cu
 *		A GPU that fails when a test wants it to.
 *
 * The fault is CUDA's, in the n-th call of parse: the first copy in it fails, or
 * a kernel that traps goes before the copy.
 */
#include "../../cuda/csv_cuda.h"
#include "inject.h"

extern "C" {
extern const CsvEngine __real_csv_cuda_engine;
extern void *__real_csv_cuda_open(CsvSession *session,
								  const CsvCudaOptions *options,
								  const CsvMemory *memory, char *reason,
								  size_t reason_size);
extern cudaError_t __real_cudaMemcpyAsync(void *to, const void *from,
										  size_t nbytes, cudaMemcpyKind kind,
										  cudaStream_t stream);

extern CsvEngine __wrap_csv_cuda_engine;
extern void *__wrap_csv_cuda_open(CsvSession *session,
								  const CsvCudaOptions *options,
								  const CsvMemory *memory, char *reason,
								  size_t reason_size);
extern cudaError_t __wrap_cudaMemcpyAsync(void *to, const void *from,
										  size_t nbytes, cudaMemcpyKind kind,
										  cudaStream_t stream);
}

/* the fault of the call of parse that is under way in this thread */
static thread_local int fault_now;

static __global__ void
trap_kernel()
{
	asm volatile("trap;");
}

static CsvStatus
parse(void *engine, const CsvInput *input, CsvBatch *batch)
{
	CsvStatus	status;

	fault_now = csv_faults_now(engine);
	status = __real_csv_cuda_engine.parse(engine, input, batch);
	fault_now = 0;
	return status;
}

static void
close_engine(void *engine)
{
	csv_faults_close(engine);
	__real_csv_cuda_engine.close(engine);
}

static CsvEngine
with_faults()
{
	CsvEngine	engine = __real_csv_cuda_engine;

	engine.parse = parse;
	engine.close = close_engine;
	return engine;
}

/* made when the program begins: a session that starts uses it at once */
CsvEngine	__wrap_csv_cuda_engine = with_faults();

cudaError_t
__wrap_cudaMemcpyAsync(void *to, const void *from, size_t nbytes,
					   cudaMemcpyKind kind, cudaStream_t stream)
{
	int			now = fault_now;

	fault_now = 0;
	if (now < 0)
		return cudaErrorMemoryAllocation;
	if (now > 0)
		trap_kernel<<<1, 1, 0, stream>>>();
	return __real_cudaMemcpyAsync(to, from, nbytes, kind, stream);
}

void *
__wrap_csv_cuda_open(CsvSession *session, const CsvCudaOptions *options,
					 const CsvMemory *memory, char *reason,
					 size_t reason_size)
{
	CsvInjected injected = csv_faults_find(memory);
	CsvCudaOptions changed = *options;
	void	   *engine;

	if (injected.gpu_groups > 0)
		changed.hold_from = (uint32_t) injected.gpu_groups;
	engine = __real_csv_cuda_open(session, &changed, memory, reason,
								  reason_size);
	if (engine != NULL)
		csv_faults_open(engine, injected.gpu_fault);
	return engine;
}
