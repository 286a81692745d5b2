/*
 * Exchange between the lanes of a warp, where OpenCL C reaches it by a line of PTX: NVIDIA's. Latency and initiation interval, as in
 * compute.cl.
 *
 * How: a step hands a value to the neighbour and takes its value. Built with WIDE, a work-item has four chains.
 * Against the compiler: it does not know what the line of PTX does; the result is compared with an argument that it does not meet.
 */
#define R4(x) x x x x
#define R12(x) R4(x) R4(x) R4(x)
#define R16(x) R4(x) R4(x) R4(x) R4(x)
#define R48(x) R16(x) R16(x) R16(x)
#define REPEAT_(n) R##n
#define REPEAT(n) REPEAT_(n)

uint neighbour(uint x)
{
	uint y;
	__asm__("shfl.sync.bfly.b32 %0, %1, 1, 31, 0xffffffff;" : "=r"(y) : "r"(x));
	return y;
}

kernel void shuffle_lanes(global uint *out, uint n, uint first, uint second, uint never)
{
	uint a = get_local_id(0), b = a + first, c = a + second, d = b + second;
#pragma unroll 1
	for (uint i = 0; i < n; i++) {
#ifdef WIDE
		REPEAT(STEPS)(a = neighbour(a); b = neighbour(b); c = neighbour(c); d = neighbour(d);)
#else
		REPEAT(STEPS)(a = neighbour(a);)
#endif
	}
	if ((a ^ b ^ c ^ d) == never)
		out[get_global_id(0)] = first;
}
