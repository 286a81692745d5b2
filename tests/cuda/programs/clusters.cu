/* Clusters of blocks (sm_90): their registers, their barrier, shared memory of other blocks, by both kinds of addresses, and bulk copies to it. */
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

enum { ROW = 256 };

__device__ static unsigned shared_place(const void *p)
{
	unsigned place;
	asm("{\n\t.reg .b64 a;\n\tcvta.to.shared.u64 a, %1;\n\tcvt.u32.u64 %0, a;\n\t}" : "=r"(place) : "l"(p));
	return place;
}

__device__ static void wait_for(unsigned barrier)
{
	unsigned over = 0;
	while (!over)
		asm volatile("{\n\t.reg .pred p;\n\tmbarrier.try_wait.parity.shared.b64 p, [%1], 0;\n\tselp.u32 %0, 1, 0, p;\n\t}" : "=r"(over) : "r"(barrier) : "memory");
}

/* Rows go by bulk copies from global memory to a block, from there to the next one of its cluster, and back to global memory. Of the two barriers, the
 * first is told of its bytes after the copy was asked for, the second before. */
extern "C" __global__ void carry(int *out, const int *in)
{
	__shared__ __attribute__((aligned(16))) int row[ROW], from_before[ROW];
	__shared__ __attribute__((aligned(8))) unsigned long barriers[2];
	unsigned t = threadIdx.x, rank = SPECIAL("cluster_ctarank"), size = SPECIAL("cluster_nctarank");
	unsigned own = shared_place(&barriers[0]), coming = shared_place(&barriers[1]), there, barrier_there;
	if (t == 0) {
		asm volatile("mbarrier.init.shared.b64 [%0], 1;\n\tmbarrier.init.shared.b64 [%1], 1;" ::"r"(own), "r"(coming) : "memory");
		asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
		asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(coming), "n"(4 * ROW) : "memory");
	}
	meet();
	if (t == 0) {
		asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
			     ::"r"(shared_place(row)), "l"(in + ROW * blockIdx.x), "r"(4 * ROW), "r"(own) : "memory");
		asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;" ::"r"(own), "r"(4 * ROW) : "memory");
	}
	wait_for(own);
	row[t] += 1;
	asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
	__syncthreads();
	if (t == 0) {
		asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(shared_place(from_before)), "r"((rank + 1) % size));
		asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(barrier_there) : "r"(coming), "r"((rank + 1) % size));
		asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
			     ::"r"(there), "r"(shared_place(row)), "r"(4 * ROW), "r"(barrier_there) : "memory");
	}
	wait_for(coming);
	from_before[t] *= 2;
	asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
	__syncthreads();
	if (t == 0)
		asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;\n\tcp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group 0;"
			     ::"l"(out + ROW * blockIdx.x), "r"(shared_place(from_before)), "r"(4 * ROW) : "memory");
	meet();
}
#endif

#ifdef WITH_HOST
KERNEL(pass_on)
KERNEL(count_together)
KERNEL(carry)

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

static void try_bulk_copies(void)
{
	enum { BLOCKS = 8, SIZE = 4, ELEMENTS = 256 };
	static int values[BLOCKS * ELEMENTS], given[BLOCKS * ELEMENTS];
	size_t wrong = 0;
	for (int i = 0; i < BLOCKS * ELEMENTS; i++)
		given[i] = i;
	int *in = (int *)device_new(given, sizeof given), *out = (int *)device_new(NULL, sizeof values);
	void *arguments[2];
	arguments[0] = &out;
	arguments[1] = &in;
	CALL(launch_clusters(HANDLE(carry), dims(BLOCKS, 1, 1), ELEMENTS, SIZE, 1, arguments));
	fetch(values, out, sizeof values);
	for (int b = 0; b < BLOCKS; b++)
		for (int t = 0; t < ELEMENTS; t++)
			wrong += values[ELEMENTS * b + t] != 2 * (ELEMENTS * (b / SIZE * SIZE + (b + SIZE - 1) % SIZE) + t + 1);
	report("bulk copies to shared memory, to another block's, and back", wrong);
}

int main(void)
{
	begin();
	try_neighbours();
	try_bulk_copies();
	try_counting(4);
	try_counting(1);
	return finish();
}
#endif
