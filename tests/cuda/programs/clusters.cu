/* Clusters of blocks (sm_90): their registers, their barrier, and shared memory of other blocks, by both kinds of addresses. */
#include "tests/cuda/programs/program.h"

#ifdef WITH_KERNELS
#define SPECIAL(name) __extension__({ unsigned special_value; asm volatile("mov.u32 %0, %%" name ";" : "=r"(special_value)); special_value; })

__device__ static void meet(void)
{
	asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/* Each block gets what the next one of its cluster has, and tells its place. */
extern "C" __global__ void pass_on(int *out, unsigned *places)
{
	__shared__ int own[64];
	unsigned t = threadIdx.x, block = blockIdx.x + gridDim.x * blockIdx.y, rank = SPECIAL("cluster_ctarank"), size = SPECIAL("cluster_nctarank"), address, of;
	int value;
	own[t] = (int)(1000 * block + t);
	meet();
	asm volatile("{\n\t.reg .b64 a;\n\t.reg .b32 s;\n\tcvta.to.shared.u64 a, %2;\n\tcvt.u32.u64 s, a;\n\tmapa.shared::cluster.u32 %0, s, %3;\n\t"
		     "getctarank.shared::cluster.u32 %1, %0;\n\t}"
		     : "=r"(address), "=r"(of) : "l"(&own[t]), "r"((rank + 1) % size));
	asm volatile("ld.shared::cluster.s32 %0, [%1];" : "=r"(value) : "r"(address) : "memory");
	out[64 * block + t] = value;
	meet();
	if (t == 0) {
		places[4 * block] = rank;
		places[4 * block + 1] = SPECIAL("cluster_ctaid.x") + 10 * SPECIAL("cluster_ctaid.y");
		places[4 * block + 2] = SPECIAL("clusterid.x") + 10 * SPECIAL("clusterid.y");
		places[4 * block + 3] = of;
	}
}

/* All threads of a cluster count in the shared memory of its first block, by generic addresses. A warp of every other block ends before. */
extern "C" __global__ void count_together(int *out, int rounds)
{
	__shared__ int bins[32];
	unsigned t = threadIdx.x, rank = SPECIAL("cluster_ctarank"), before, after;
	unsigned long first;
	if (t < 32)
		bins[t] = 0;
	if (rank % 2 && t >= 64)
		return;
	asm volatile("barrier.cluster.arrive.release;\n\tbarrier.cluster.wait.acquire;" ::: "memory");
	asm volatile("mapa.u64 %0, %1, %2;" : "=l"(first) : "l"(&bins[t % 32]), "r"(0));
	for (int i = 0; i < rounds; i++) {
		asm volatile("atom.add.u32 %0, [%1], 1;" : "=r"(before) : "l"(first) : "memory");
		asm volatile("barrier.cluster.arrive.release;\n\tbarrier.cluster.wait.acquire;" ::: "memory");
		asm volatile("ld.u32 %0, [%1];" : "=r"(after) : "l"(first) : "memory");
		asm volatile("barrier.cluster.arrive.release;\n\tbarrier.cluster.wait.acquire;" ::: "memory");
		out[blockIdx.x * blockDim.x + t] = (int)after;
	}
}
#endif

#ifdef WITH_HOST
KERNEL(pass_on)
KERNEL(count_together)

enum { INVALID_CLUSTER = 912 };

static int launch_clusters(const void *kernel, dim3 grid, unsigned threads, unsigned x, unsigned y, void **arguments)
{
	cudaLaunchConfig_t config;
	cudaLaunchAttribute cluster;
	memset(&cluster, 0, sizeof cluster);
	config.gridDim = grid;
	config.blockDim = dims(threads, 1, 1);
	config.dynamicSmemBytes = 0;
	config.stream = NULL;
	config.attrs = &cluster;
	config.numAttrs = 1;
	cluster.id = cudaLaunchAttributeClusterDimension;
	cluster.val.clusterDim.x = x;
	cluster.val.clusterDim.y = y;
	cluster.val.clusterDim.z = 1;
	return (int)cudaLaunchKernelExC(&config, kernel, arguments);
}

/* A grid of 8 x 4 blocks in clusters of 4 x 2. */
static void try_neighbours(void)
{
	enum { WIDE = 8, HIGH = 4, BLOCKS = WIDE * HIGH, X = 4, Y = 2 };
	static int values[BLOCKS * 64];
	static unsigned places[4 * BLOCKS];
	int *out = (int *)device_new(NULL, sizeof values);
	unsigned *where = (unsigned *)device_new(NULL, sizeof places);
	void *arguments[2];
	size_t wrong = 0, misplaced = 0;
	arguments[0] = &out;
	arguments[1] = &where;
	CALL(launch_clusters(HANDLE(pass_on), dims(WIDE, HIGH, 1), 64, X, Y, arguments));
	fetch(values, out, sizeof values);
	fetch(places, where, sizeof places);
	for (unsigned b = 0; b < BLOCKS; b++) {
		unsigned x = b % WIDE, y = b / WIDE, rank = x % X + X * (y % Y), next = (rank + 1) % (X * Y);
		unsigned of = x / X * X + next % X + WIDE * (y / Y * Y + next / X);
		for (unsigned t = 0; t < 64; t++)
			wrong += values[64 * b + t] != (int)(1000 * of + t);
		misplaced += places[4 * b] != rank || places[4 * b + 1] != x % X + 10 * (y % Y) || places[4 * b + 2] != x / X + 10 * (y / Y) ||
			     places[4 * b + 3] != next;
	}
	report("shared memory of the next block", wrong);
	report("places in clusters", misplaced);
	report("a grid that is no whole clusters", launch_clusters(HANDLE(pass_on), dims(6, 4, 1), 64, X, Y, arguments) != INVALID_CLUSTER);
	cudaGetLastError();
	report("clusters that are too large", launch_clusters(HANDLE(pass_on), dims(32, 1, 1), 64, 32, 1, arguments) != INVALID_CLUSTER);
	cudaGetLastError();
}

/* 128 threads in even blocks and 64 in odd ones; the last value is that of the last round. */
static void try_counting(unsigned size)
{
	enum { BLOCKS = 8, ROUNDS = 3 };
	static int values[BLOCKS * 128];
	int *out = (int *)device_new(NULL, sizeof values), rounds = ROUNDS;
	int counted = (int)((size + 1) / 2 * 4 + size / 2 * 2);
	void *arguments[2];
	size_t wrong = 0;
	arguments[0] = &out;
	arguments[1] = &rounds;
	CALL(launch_clusters(HANDLE(count_together), dims(BLOCKS, 1, 1), 128, size, 1, arguments));
	fetch(values, out, sizeof values);
	for (unsigned b = 0; b < BLOCKS; b++)
		for (unsigned t = 0; t < 128; t++)
			wrong += values[128 * b + t] != (b % size % 2 && t >= 64 ? 0 : ROUNDS * counted);
	report(size == 1 ? "a cluster of one block" : "counts of a cluster, and warps that end early", wrong);
}

int main(void)
{
	begin();
	try_neighbours();
	try_counting(4);
	try_counting(1);
	return finish();
}
#endif
