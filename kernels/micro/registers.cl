/*
 * How many groups an SM has room for, by registers.
 *
 * How: a work-item loads LIVE values before a chase (as in memory.cl) that it needs after it, and so has as many registers and a few
 *   more; the build's log tells how many. The tuner looks how many groups per SM take as long as one.
 * Against the compiler: the loads are volatile, so that they can neither be done behind the chase nor again; all values go into a sum
 *   that is compared with an argument that it does not meet.
 */
struct node {
	global struct node *next;
};

kernel void chase_registers(global char *area, global uint *out, ulong stride, uint count, uint n, ulong never)
{
	uint first = (uint)get_group_id(0) * 2654435761u >> 8, live[LIVE];
	global struct node *p = (global struct node *)(area + first % count * stride);
	volatile global uint *values = (volatile global uint *)p;
#pragma unroll
	for (uint i = 0; i < LIVE; i++)
		live[i] = values[i % 32];
#pragma unroll 1
	for (uint i = 0; i < n; i++) {
		p = p->next;
		p = p->next;
		p = p->next;
		p = p->next;
	}
	ulong sum = (ulong)p;
#pragma unroll
	for (uint i = 0; i < LIVE; i++)
		sum = (sum ^ live[i]) * 31;
	if (sum == never)
		out[get_global_id(0)] = n;
}
