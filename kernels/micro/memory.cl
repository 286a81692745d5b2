/*
 * Memory: latencies, sizes and widths of what is behind loads and stores.
 *
 * Latency: a chase. A node holds the address of the next, so that a step is a load and nothing else. `link_nodes` lays nodes out,
 *   `stride` bytes apart, each followed by the one `step` further round; where they lie and how many there are says which cache
 *   has them. Throughput: as many loads as an SM takes, each lane's chain staying at its own place. Bandwidth: all SMs read.
 * Against the compiler: what a load brings is the next address, or goes into a sum that is compared with an argument, and stored if
 *   equal. Steps are written out, loops must not be unrolled further.
 */
#define R2(x) x x
#define R4(x) R2(x) R2(x)
#define R8(x) R4(x) R4(x)
#define R16(x) R8(x) R8(x)
#define REPEAT_(n) R##n
#define REPEAT(n) REPEAT_(n)

struct node {
	global struct node *next;
};

/* Node i is `stride` * i bytes from the start, or one of a pair that is `apart` bytes from one another. */
global struct node *node_at(global char *area, ulong stride, ulong apart, uint i)
{
	return (global struct node *)(apart ? area + i / 2 * stride + i % 2 * apart : area + i * stride);
}

/* At `slot`, behind them, is one more: it leads to where a chase goes on, at first the first node. */
kernel void link_nodes(global char *area, ulong slot, ulong stride, ulong apart, uint count, uint step)
{
	for (uint i = get_global_id(0); i < count; i += get_global_size(0))
		node_at(area, stride, apart, i)->next = node_at(area, stride, apart, (uint)(((ulong)i + step) % count));
	if (get_global_id(0) == 0)
		((global struct node *)(area + slot))->next = (global struct node *)area;
}

/* From where the last chase ended, so that repeats do not find what it brought into a cache. One work-item. */
kernel void chase(global char *area, ulong slot, uint n)
{
	global struct node *p = (global struct node *)(area + slot);
#pragma unroll 1
	for (uint i = 0; i < n; i++) {
		R16(p = p->next;)
	}
	((global struct node *)(area + slot))->next = p;
}

/* The same by the first work-item of every group, from different places, while the others have ended: how many groups, whatever they
 * hold, work at the same time. */
kernel void chase_groups(global char *area, global uint *out, ulong stride, uint count, uint n, ulong never, local uint *room)
{
	if (get_local_id(0))
		return;
	uint first = (uint)get_group_id(0) * 2654435761u >> 8; /* anywhere, so that groups do not follow one another */
	global struct node *p = (global struct node *)(area + first % count * stride);
#pragma unroll 1
	for (uint i = 0; i < n; i++) {
		R4(p = p->next;)
	}
	if ((ulong)p == never) {
		room[0] = n;
		out[get_group_id(0)] = room[first & 1];
	}
}

/* Brings an area into the caches, as far as it fits. */
kernel void touch(global uint4 *area, global uint *out, uint from, uint to, uint never)
{
	uint4 all = 0;
	for (uint i = from + get_global_id(0); i < to; i += get_global_size(0))
		all ^= area[i];
	uint sum = all.x ^ all.y ^ all.z ^ all.w;
	if (sum == never)
		out[get_global_id(0)] = sum;
}

struct local_node {
	local struct local_node *next;
};

/* Local memory, the same. One work-item. */
kernel void chase_local(global uint *out, uint n, uint count, uint step, ulong never)
{
	local struct local_node nodes[512];
	for (uint i = 0; i < count; i++)
		nodes[i].next = &nodes[(i + step) % count];
	barrier(CLK_LOCAL_MEM_FENCE);
	local struct local_node *p = nodes;
#pragma unroll 1
	for (uint i = 0; i < n; i++) {
		R16(p = p->next;)
	}
	if ((ulong)p == never)
		out[0] = n;
}

/* Lanes `stride` words from one another, twice, each at its own place in local memory: turns by bank conflicts. */
kernel void local_stride(global uint *out, uint n, uint stride, uint never)
{
	local uint words[2048];
	for (uint i = get_local_id(0); i < 2048; i += get_local_size(0))
		words[i] = i;
	barrier(CLK_LOCAL_MEM_FENCE);
	uint x = get_local_id(0) % 32 * stride % 1024, y = x + 1024;
#pragma unroll 1
	for (uint i = 0; i < n; i++) {
		R8(x = words[x]; y = words[y];)
	}
	if (x + y == never)
		out[get_global_id(0)] = x;
}

/* All lanes read the same 16 bytes: whether a wide access takes turns for its width alone (side by side it does in any case).
 * Volatile, so that all bytes are loaded, though one word is used. */
kernel void local_wide(global uint *out, uint n, uint never)
{
	volatile local uint4 words[512];
	for (uint i = get_local_id(0); i < 512; i += get_local_size(0))
		words[i] = (uint4)(i, 0, 0, 0);
	barrier(CLK_LOCAL_MEM_FENCE);
	uint x = never % 256, y = x + 256;
	uint4 v, w;
#pragma unroll 1
	for (uint i = 0; i < n; i++) {
		R8(v = words[x]; w = words[y]; x = v.x; y = w.x;)
	}
	if (x + y == never)
		out[get_global_id(0)] = x;
}

/* The same of global memory that L1 has: what it takes in a cycle, and how lanes are coalesced. words[i] is i. */
kernel void fill_words(global uint *words, uint count)
{
	for (uint i = get_global_id(0); i < count; i += get_global_size(0))
		words[i] = i;
}

kernel void global_stride(global uint *words, global uint *out, uint n, uint stride, uint never)
{
	uint x = get_local_id(0) % 32 * stride, y = x;
#pragma unroll 1
	for (uint i = 0; i < n; i++) {
		R8(x = words[x]; y = words[y];)
	}
	if (x + y == never)
		out[get_global_id(0)] = x;
}

/*
 * Groups read, 16 bytes a lane, four loads under way: bandwidth. A group begins `place` (times 16 bytes) after the one before it, reads
 * four times its size side by side, and goes on by `hop`. The area is `mask` + 1 times 16 bytes.
 */
kernel void stream(global uint4 *area, global uint *out, uint n, uint mask, uint place, uint hop, uint never)
{
	uint size = get_local_size(0), at = get_group_id(0) * place + get_local_id(0);
	uint4 a = 0, b = 0, c = 0, d = 0;
#pragma unroll 1
	for (uint i = 0; i < n; i++) {
		a ^= area[at & mask];
		b ^= area[(at + size) & mask];
		c ^= area[(at + 2 * size) & mask];
		d ^= area[(at + 3 * size) & mask];
		at += hop;
	}
	a ^= b ^ c ^ d;
	if ((a.x ^ a.y ^ a.z ^ a.w) == never)
		out[get_global_id(0)] = a.x;
}

/* Atomics on one word, each needing the result of the one before; by one lane, or by all at the same time. The tuner takes the slope
 * against STEPS too, so that the loop cancels. */
#ifndef STEPS
#define STEPS 8
#endif
kernel void atomics(global uint *word, global uint *out, uint n, uint never)
{
	uint x = get_global_id(0) + 1;
#pragma unroll 1
	for (uint i = 0; i < n; i++) {
		REPEAT(STEPS)(x = atomic_xchg(word, x);)
	}
	if (x == never)
		out[get_global_id(0)] = x;
}
