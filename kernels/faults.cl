/* Kernels with one fault each, and the same without it: what advice is tested with. All take (in, out, n), n a power of 2. */

/* Reads as much as no cache holds. */
__kernel void flush(__global const float *in, __global float *out, int n)
{
	float sum = 0;
	for (int i = get_global_id(0); i < n; i += get_global_size(0))
		sum += in[i];
	if (sum == 12345.678f)
		out[0] = sum;
}

/* Neighbours read places that are 4 KB apart. */
__kernel void coalescing_bad(__global const float *in, __global float *out, int n)
{
	int i = get_global_id(0), rows = n / 1024;
	out[i] = 2.0f * in[(i % rows) * 1024 + i / rows];
}

__kernel void coalescing_good(__global const float *in, __global float *out, int n)
{
	int i = get_global_id(0);
	out[i] = 2.0f * in[i];
}

/* Lanes read one column of a tile: 32 rows, all in one bank. */
__kernel void conflicts_bad(__global const float *in, __global float *out, int n)
{
	__local float tile[32][32];
	int l = get_local_id(0), x = l % 32, y = l / 32;
	float sum = 0;
	for (int r = y; r < 32; r += 8)
		tile[r][x] = in[get_group_id(0) * 1024 + r * 32 + x];
	barrier(CLK_LOCAL_MEM_FENCE);
	for (int k = 0; k < 64; k++)
		sum += tile[x][(y + k) % 32];
	out[get_global_id(0)] = sum;
}

__kernel void conflicts_good(__global const float *in, __global float *out, int n)
{
	__local float tile[32][33];
	int l = get_local_id(0), x = l % 32, y = l / 32;
	float sum = 0;
	for (int r = y; r < 32; r += 8)
		tile[r][x] = in[get_group_id(0) * 1024 + r * 32 + x];
	barrier(CLK_LOCAL_MEM_FENCE);
	for (int k = 0; k < 64; k++)
		sum += tile[x][(y + k) % 32];
	out[get_global_id(0)] = sum;
}

/* Work-items take as many elements as there are for each of them: few groups take many. */
__kernel void groups_bad(__global const float *in, __global float *out, int n)
{
	int items = get_global_size(0);
	for (int i = get_global_id(0); i < n / 16; i += items) {
		float v = in[i];
		for (int k = 0; k < 32; k++)
			v = v * 0.99f + 0.5f;
		out[i] = v;
	}
}

__kernel void groups_good(__global const float *in, __global float *out, int n)
{
	int items = get_global_size(0);
	for (int i = get_global_id(0); i < n / 16; i += items) {
		float v = in[i];
		for (int k = 0; k < 32; k++)
			v = v * 0.99f + 0.5f;
		out[i] = v;
	}
}

/* Every other lane does the one thing, the rest does the other. */
__kernel void divergence_bad(__global const float *in, __global float *out, int n)
{
	int i = get_global_id(0);
	float v = in[i];
	if (i % 2)
		for (int k = 0; k < 200; k++)
			v = v * 0.99f + 0.5f;
	else
		for (int k = 0; k < 200; k++)
			v = v * v - 0.25f;
	out[i] = v;
}

__kernel void divergence_good(__global const float *in, __global float *out, int n)
{
	int i = get_global_id(0);
	float v = in[i];
	if (get_local_id(0) / 32 % 2)
		for (int k = 0; k < 200; k++)
			v = v * 0.99f + 0.5f;
	else
		for (int k = 0; k < 200; k++)
			v = v * v - 0.25f;
	out[i] = v;
}

/* All work-items count in eight bins, each in memory of all. */
__kernel void atomics_bad(__global const float *in, __global float *out, int n)
{
	__global int *bins = (__global int *)out;
	atomic_inc(&bins[(int)(in[get_global_id(0)] * 8)]);
}

__kernel void atomics_good(__global const float *in, __global float *out, int n)
{
	__local int own[8];
	__global int *bins = (__global int *)out;
	int l = get_local_id(0);
	if (l < 8)
		own[l] = 0;
	barrier(CLK_LOCAL_MEM_FENCE);
	atomic_inc(&own[(int)(in[get_global_id(0)] * 8)]);
	barrier(CLK_LOCAL_MEM_FENCE);
	if (l < 8)
		atomic_add(&bins[l], own[l]);
}

/* Four loads, where the four numbers lie side by side. */
__kernel void vectors_bad(__global const float *in, __global float *out, int n)
{
	int i = get_global_id(0);
	float sum = 0;
	for (int k = 0; k < 64; k++) {
		int at = 4 * ((i + 37 * k) & 1023);
		sum += in[at] * in[at + 1] + in[at + 2] * in[at + 3];
	}
	out[i] = sum;
}

__kernel void vectors_good(__global const float *in, __global float *out, int n)
{
	int i = get_global_id(0);
	float sum = 0;
	for (int k = 0; k < 64; k++) {
		float4 v = ((__global const float4 *)in)[(i + 37 * k) & 1023];
		sum += v.x * v.y + v.z * v.w;
	}
	out[i] = sum;
}

/* Much local memory, of which little is needed: an SM holds few groups, and waits for loads that need those before. */
__kernel void local_bad(__global const float *in, __global float *out, int n)
{
	__local float room[11 * 1024];
	int l = get_local_id(0), at = get_global_id(0);
	for (int k = 0; k < 64; k++)
		at = (at + 4096 + (int)in[at]) & (n - 1);
	room[l * 64] = at;
	barrier(CLK_LOCAL_MEM_FENCE);
	out[get_global_id(0)] = room[(l ^ 1) * 64];
}

__kernel void local_good(__global const float *in, __global float *out, int n)
{
	__local float room[128];
	int l = get_local_id(0), at = get_global_id(0);
	for (int k = 0; k < 64; k++)
		at = (at + 4096 + (int)in[at]) & (n - 1);
	room[l] = at;
	barrier(CLK_LOCAL_MEM_FENCE);
	out[get_global_id(0)] = room[l ^ 1];
}

/* Groups of one warp: an SM has room for half of its warps. */
__kernel void sizes_bad(__global const float *in, __global float *out, int n)
{
	int at = get_global_id(0);
	for (int k = 0; k < 64; k++)
		at = (at + 4096 + (int)in[at]) & (n - 1);
	out[get_global_id(0)] = at;
}

__kernel void sizes_good(__global const float *in, __global float *out, int n)
{
	int at = get_global_id(0);
	for (int k = 0; k < 64; k++)
		at = (at + 4096 + (int)in[at]) & (n - 1);
	out[get_global_id(0)] = at;
}

/* The same in double precision and in single. */
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
__kernel void doubles_bad(__global const float *in, __global float *out, int n)
{
	double v = in[get_global_id(0)], w = v;
	for (int k = 0; k < 256; k++) {
		v = v * 0.99 + 0.5;
		w = w * 0.98 + 0.25;
	}
	out[get_global_id(0)] = v + w;
}
#endif

__kernel void doubles_good(__global const float *in, __global float *out, int n)
{
	float v = in[get_global_id(0)], w = v;
	for (int k = 0; k < 256; k++) {
		v = v * 0.99f + 0.5f;
		w = w * 0.98f + 0.25f;
	}
	out[get_global_id(0)] = v + w;
}

/* Remainders of a number that the compiler does not know, and of one that it knows. */
__kernel void instructions_bad(__global const float *in, __global float *out, int n)
{
	uint i = get_global_id(0), sum = 0, by = n / 1024 - 1;
	for (uint k = 0; k < 64; k++)
		sum += (i * 977u + k * 131u) % by;
	out[i] = sum;
}

__kernel void instructions_good(__global const float *in, __global float *out, int n)
{
	uint i = get_global_id(0), sum = 0, by = n / 1024;
	for (uint k = 0; k < 64; k++)
		sum += (i * 977u + k * 131u) & (by - 1);
	out[i] = sum;
}

/* One work-item's worth of nothing: many launches of it are bound by launching. */
__kernel void launches_bad(__global const float *in, __global float *out, int n)
{
	out[get_global_id(0)] = in[get_global_id(0)] + 1;
}

__kernel void launches_good(__global const float *in, __global float *out, int n)
{
	float v = in[get_global_id(0)];
	for (int k = 0; k < 64; k++)
		v += 1;
	out[get_global_id(0)] = v;
}
