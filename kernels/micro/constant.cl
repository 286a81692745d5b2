/*
 * Latency of constant memory that is cached.
 *
 * How: a chase, as in memory.cl; a place holds the offset of the next, so that a step is a load and a sum. It is so short that the
 *   loop shows: the tuner takes the slope against STEPS.
 * Against the compiler: what a load brings is the next address; the last is compared with an argument that it does not meet.
 */
#define R16(x) x x x x x x x x x x x x x x x x
#define R48(x) R16(x) R16(x) R16(x)
#define REPEAT_(n) R##n
#define REPEAT(n) REPEAT_(n)

kernel void chase_constant(constant ulong *list, global uint *out, uint n, ulong never)
{
	ulong at = 0;
#pragma unroll 1
	for (uint i = 0; i < n; i++) {
		REPEAT(STEPS)(at = *(constant ulong *)((constant char *)list + at);)
	}
	if (at == never)
		out[0] = n;
}
