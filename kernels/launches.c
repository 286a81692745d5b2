/*
 * launches - programs with many launches, as ordinary OpenCL applications have them.
 *
 *   launches [-k kernel directory] PROGRAM [SIZE [STEPS]]
 *
 *   bfs       complete breadth-first search, one launch per level: a million nodes, as in Rodinia's largest input, some 40 levels
 *   kmeans    iterations of k-means; the host moves the centres: 262144 points, 30 iterations, as TBPoint's
 *   lu        elimination, two launches per column, each smaller than the previous one: 512 columns, as Rodinia's gaussian and lud
 *   align     Needleman-Wunsch, one launch per anti-diagonal; launches grow, then shrink: 2048 cells a side, as Rodinia's nw
 *   heat      time steps of a stencil, all alike: 512 x 512 cells in 1849 groups, as Rodinia's hotspot
 *   collatz   irregular: works on those of the first million numbers that have not reached 1 yet; they become fewer with each launch
 *   same      one small kernel, STEPS (10000) times
 *
 * The sizes are the usual ones for such programs, so most launches fill a GPU many times over. Some algorithms have launches
 * that are smaller than a GPU (align). They stay small.
 *
 * Prints one line with the number of launches and a checksum. The line is the same on every device.
 */
#include "kernels/shapes/host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- programs ---- */

/* Neighbours are near each other, as on maps, so the search takes many levels. */
static unsigned long run_bfs(int nodes, int steps)
{
	enum { DEGREE = 4 };
	int reach = nodes / 32 > 8 ? nodes / 32 : 8;
	cl_kernel k = kernel(build("launches.cl", ""), "bfs_level");
	int *first = allocate((size_t)nodes + 1, sizeof *first), *edge = allocate((size_t)nodes * DEGREE, sizeof *edge);
	int *level = allocate((size_t)nodes, sizeof *level), *reached = allocate((size_t)nodes, sizeof *reached), any = 1;
	for (int v = 0; v <= nodes; v++)
		first[v] = v * DEGREE;
	for (int e = 0; e < nodes * DEGREE; e++) {
		int near = e / DEGREE + (int)(next_random() % (2 * (unsigned)reach + 1)) - reach;
		edge[e] = near < 0 ? 0 : near >= nodes ? nodes - 1 : near;
	}
	for (int v = 0; v < nodes; v++)
		level[v] = v ? -1 : 0;
	size_t bytes = (size_t)nodes * sizeof(int);
	cl_mem mems[5] = {buffer(bytes + sizeof(int), first), buffer(bytes * DEGREE, edge), buffer(bytes, level),
	                  buffer(bytes, level), buffer(bytes, reached)};
	for (int at = 0; any && at < steps; at++) {
		mem_args(k, mems, 5);
		arg(k, 5, sizeof nodes, &nodes);
		arg(k, 6, sizeof at, &at);
		put(mems[4], bytes, memset(reached, 0, bytes));
		launch(k, (size_t)nodes, 1, 256, 1);
		get(mems[4], bytes, reached);
		any = 0;
		for (int v = 0; v < nodes; v++)
			any |= reached[v];
		swap_mem(&mems[2], &mems[3]);
	}
	return sum_of_buffer(mems[2], bytes);
}

static void move_centres(const float *feature, const int *member, float *centre, int n, int k, int dims)
{
	float *sum = allocate((size_t)(k * dims), sizeof *sum);
	int *count = allocate((size_t)k, sizeof *count);
	for (int i = 0; i < n; i++) {
		count[member[i]]++;
		for (int d = 0; d < dims; d++)
			sum[member[i] * dims + d] += feature[d * n + i];
	}
	for (int c = 0; c < k; c++)
		for (int d = 0; d < dims && count[c]; d++)
			centre[c * dims + d] = sum[c * dims + d] / (float)count[c];
	free(sum);
	free(count);
}

static unsigned long run_kmeans(int n, int steps)
{
	enum { LOCAL = 256 };
	int k = 8, dims = 8;
	n = (n + LOCAL - 1) / LOCAL * LOCAL; /* the kernel has no bounds check */
	cl_kernel assign = kernel(build("linear.cl", ""), "kmeans_assign");
	float *feature = random_floats((size_t)(n * dims)), *centre = random_floats((size_t)(k * dims));
	int *member = allocate((size_t)n, sizeof *member);
	cl_mem mems[3] = {buffer((size_t)(n * dims) * sizeof *feature, feature), buffer((size_t)(k * dims) * sizeof *centre, centre),
	                  buffer((size_t)n * sizeof *member, NULL)};
	mem_args(assign, mems, 3);
	arg(assign, 3, sizeof n, &n);
	arg(assign, 4, sizeof k, &k);
	arg(assign, 5, sizeof dims, &dims);
	for (int s = 0; s < steps; s++) {
		put(mems[1], (size_t)(k * dims) * sizeof *centre, centre);
		launch(assign, (size_t)n, 1, LOCAL, 1);
		get(mems[2], (size_t)n * sizeof *member, member);
		move_centres(feature, member, centre, n, k, dims);
	}
	return sum_of(member, (size_t)n * sizeof *member);
}

static unsigned long run_lu(int n, int steps)
{
	cl_program program = build("linear.cl", "");
	cl_kernel multipliers = kernel(program, "gauss_multipliers"), update = kernel(program, "gauss_update");
	float *a = random_floats((size_t)n * (size_t)n), *b = random_floats((size_t)n);
	for (int i = 0; i < n; i++)
		a[i * n + i] += (float)n;
	size_t bytes = (size_t)n * (size_t)n * sizeof *a, column = (size_t)n * sizeof *b;
	cl_mem first[2] = {buffer(bytes, a), buffer(column, b)}, then[3] = {first[0], buffer(column, b), first[1]};
	mem_args(multipliers, first, 2);
	mem_args(update, then, 3);
	arg(multipliers, 2, sizeof n, &n);
	arg(update, 3, sizeof n, &n);
	for (int k = 0; k < n - 1 && k < steps; k++) {
		arg(multipliers, 3, sizeof k, &k);
		arg(update, 4, sizeof k, &k);
		launch(multipliers, (size_t)(n - k - 1), 1, 64, 1);
		launch(update, (size_t)(n - k), (size_t)(n - k - 1), 16, 16);
	}
	return sum_of_buffer(first[0], bytes);
}

static unsigned long run_align(int n, int steps)
{
	int gap = 10;
	size_t width = (size_t)n + 1, bytes = width * width * sizeof(int), cells = (size_t)n * (size_t)n;
	cl_kernel k = kernel(build("launches.cl", ""), "align_cells");
	int *score = allocate(width * width, sizeof *score), *match = allocate(cells, sizeof *match);
	for (size_t i = 0; i < width; i++)
		score[i] = score[i * width] = -(int)i * gap;
	for (size_t i = 0; i < cells; i++)
		match[i] = (int)(next_random() % 20) - 10;
	cl_mem mems[2] = {buffer(bytes, score), buffer(cells * sizeof *match, match)};
	mem_args(k, mems, 2);
	arg(k, 2, sizeof n, &n);
	arg(k, 6, sizeof gap, &gap);
	for (int d = 0; d < 2 * n - 1 && d < steps; d++) {
		int from = d < n ? 0 : d - n + 1, count = d < n ? d + 1 : 2 * n - 1 - d;
		arg(k, 3, sizeof d, &d);
		arg(k, 4, sizeof from, &from);
		arg(k, 5, sizeof count, &count);
		launch(k, (size_t)count, 1, 64, 1);
	}
	return sum_of_buffer(mems[0], bytes);
}

static unsigned long run_heat(int n, int steps)
{
	enum { BLOCK = 16 };
	int inner_steps = 2, inner = BLOCK - 2 * inner_steps, groups = (n + inner - 1) / inner;
	cl_kernel k = kernel(build("physics.cl", ""), "hotspot");
	size_t bytes = (size_t)n * (size_t)n * sizeof(float);
	float *power = random_floats((size_t)n * (size_t)n), *heat = random_floats((size_t)n * (size_t)n);
	cl_mem mems[3] = {buffer(bytes, power), buffer(bytes, heat), buffer(bytes, heat)};
	arg(k, 3, sizeof n, &n);
	arg(k, 4, sizeof n, &n);
	arg(k, 5, sizeof inner_steps, &inner_steps);
	for (int s = 0; s < steps; s++) {
		mem_args(k, mems, 3);
		launch(k, (size_t)groups * BLOCK, (size_t)groups * BLOCK, BLOCK, BLOCK);
		swap_mem(&mems[1], &mems[2]);
	}
	return sum_of_buffer(mems[1], bytes);
}

static unsigned long run_collatz(int n, int steps)
{
	cl_kernel k = kernel(build("launches.cl", ""), "collatz_some");
	size_t bytes = (size_t)n * sizeof(int);
	int *alive = allocate((size_t)n, sizeof *alive), *taken = allocate((size_t)n, sizeof *taken), count = n, most = 8;
	unsigned *number = allocate((size_t)n, sizeof *number);
	for (int i = 0; i < n; i++) {
		alive[i] = i;
		number[i] = (unsigned)i + 1;
	}
	cl_mem mems[3] = {buffer(bytes, alive), buffer(bytes, number), buffer(bytes, taken)};
	mem_args(k, mems, 3);
	arg(k, 4, sizeof most, &most);
	for (int s = 0; count && s < steps; s++) {
		int left = 0;
		put(mems[0], (size_t)count * sizeof *alive, alive);
		arg(k, 3, sizeof count, &count);
		launch(k, (size_t)count, 1, 128, 1);
		get(mems[1], bytes, number);
		for (int i = 0; i < count; i++)
			if (number[alive[i]] > 1)
				alive[left++] = alive[i];
		count = left;
	}
	return sum_of_buffer(mems[2], bytes);
}

static unsigned long run_same(int n, int steps)
{
	cl_kernel k = kernel(build("launches.cl", ""), "saxpy_again");
	size_t bytes = (size_t)n * sizeof(float);
	float *x = random_floats((size_t)n), a = 0.5f;
	cl_mem mems[2] = {buffer(bytes, x), buffer(bytes, x)};
	mem_args(k, mems, 2);
	arg(k, 2, sizeof a, &a);
	for (int s = 0; s < steps; s++)
		launch(k, (size_t)n, 1, 256, 1);
	return sum_of_buffer(mems[0], bytes);
}

static const struct program {
	const char *name;
	unsigned long (*run)(int size, int steps);
	int size, steps;
} programs[] = {
	{"bfs", run_bfs, 1000000, 1000},  {"kmeans", run_kmeans, 262144, 30}, {"lu", run_lu, 512, 1000},
	{"align", run_align, 2048, 10000}, {"heat", run_heat, 512, 100},       {"collatz", run_collatz, 1000000, 1000},
	{"same", run_same, 65536, 10000},
};
enum { PROGRAMS = sizeof programs / sizeof *programs };

static int usage(void)
{
	fprintf(stderr, "usage: launches [-k kernel directory] PROGRAM [SIZE [STEPS]]\nprograms:");
	for (int i = 0; i < PROGRAMS; i++)
		fprintf(stderr, " %s", programs[i].name);
	fprintf(stderr, "\n");
	return 2;
}

int main(int argc, char **argv)
{
	int option, size, steps;
	const char *kernel_dir = "kernels";
	while ((option = getopt(argc, argv, "k:")) != -1) {
		if (option != 'k')
			return usage();
		kernel_dir = optarg;
	}
	for (int i = 0; i < PROGRAMS && optind < argc; i++) {
		const struct program *p = &programs[i];
		if (strcmp(argv[optind], p->name))
			continue;
		size = optind + 1 < argc ? atoi(argv[optind + 1]) : p->size;
		steps = optind + 2 < argc ? atoi(argv[optind + 2]) : p->steps;
		if (size < 1 || steps < 1)
			return usage();
		open_device(kernel_dir, false);
		unsigned long sum = p->run(size, steps);
		printf("%s: %lu launches, checksum %08lx\n", p->name, launches, sum);
		return 0;
	}
	return usage();
}
