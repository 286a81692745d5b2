/*
 * The clock under load, where the device has a counter of cycles that OpenCL C reaches: NVIDIA's, by a line of PTX.
 *
 * How: a work-item reads the counter before and after a chain of multiply-adds; the tuner divides the slope of cycles against n by
 *   that of time. One warp alone, and all SMs full.
 * Against the compiler: as in compute.cl; the counter is volatile.
 */
#define R4(x) x x x x
#define R16(x) R4(x) R4(x) R4(x) R4(x)

ulong cycles(void)
{
	ulong t;
	__asm__ volatile("mov.u64 %0, %%clock64;" : "=l"(t)::"memory");
	return t;
}

kernel void clock_rate(global ulong *out, uint n, uint first, uint second, uint never)
{
	float a = (float)first, b = (float)second, x = (float)get_local_id(0);
	ulong from = cycles();
#pragma unroll 1
	for (uint i = 0; i < n; i++) {
		R16(x = fma(x, a, b);)
	}
	if (x == (float)never)
		out[1] = n;
	ulong to = cycles();
	if (get_global_id(0) == 0)
		out[0] = to - from;
}
