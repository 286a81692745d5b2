/*
 * How many groups an SM has room for, by registers.
 *
 * How: a work-item has LIVE values before a chase (as in memory.cl) that it needs after it, and so as many registers and a few more;
 *   the build's log tells how many. The tuner looks how many groups per SM take as long as one.
 * Against the compiler: each value is made of the one before, so that making them again costs more than keeping them; all of them go into a
 *   sum that is compared with an argument that it does not meet.
 */
struct node {
	global struct node *next;
};

kernel void chase_registers(global char *area, global uint *out, ulong stride, uint count, uint n, ulong never)
{
	uint first = (uint)get_group_id(0) * 2654435761u >> 8, live[LIVE];
	global struct node *p = (global struct node *)(area + first % count * stride);
	live[0] = first + (uint)get_local_id(0);
#pragma unroll
	for (uint i = 1; i < LIVE; i++)
		live[i] = live[i - 1] * live[i - 1] + count;
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
