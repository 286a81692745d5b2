/*
 * The kernel that issue.py writes over: its 16 subtractions become what sets registers up, its multiply-adds the loop that is timed.
 * Every warp notes the SM's clock before and after the loop. The rest keeps registers in use, and is not executed.
 */
enum { VALUES = 18, SETUP = 16, NEVER = -12345 };

extern "C" __global__ void __launch_bounds__(1024) timed(long long *spans, float *out, int rounds)
{
	extern __shared__ float shared[];
	float r[VALUES];
	volatile float *values = out;
#pragma unroll
	for (int i = 0; i < VALUES; i++)
		r[i] = values[i];
	asm volatile("bar.sync 0;" ::: "memory");
#pragma unroll
	for (int i = 0; i < SETUP; i++)
		asm volatile("sub.ftz.f32 %0, %0, %1;" : "+f"(r[0]) : "f"(r[1]) : "memory");
	asm volatile("bar.sync 0;" ::: "memory");
	long long begin, end;
	asm volatile("mov.u64 %0, %%clock64;" : "=l"(begin)::"memory");
#pragma unroll 1
	for (int n = rounds; n > 0; n--) {
#pragma unroll
		for (int i = 0; i < BODY; i++)
			asm volatile("fma.rn.ftz.f32 %0, %0, %0, %0;" : "+f"(r[0]));
	}
	asm volatile("mov.u64 %0, %%clock64;" : "=l"(end)::"memory");
	if (threadIdx.x % 32 == 0) {
		int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
		spans[2 * warp] = begin;
		spans[2 * warp + 1] = end;
	}
	if (rounds == NEVER) {
#pragma unroll
		for (int i = 0; i < VALUES; i++)
			values[i + threadIdx.x] = r[i];
		shared[threadIdx.x] = r[2];
		__syncthreads();
		values[threadIdx.x + 99] = shared[threadIdx.x * 3];
	}
}
