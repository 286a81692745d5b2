/* Searches on a graph in compressed rows, sparse products, and addresses that depend on data. */
#include "kernels/shapes/shapes.h"

#include <limits.h>
#include <math.h>

enum { LOCAL = 128, FAR = INT_MAX / 2, TABLE = 1 << 20 };

static cl_kernel graphs(const char *name)
{
	return shape_kernel("graphs.cl", name);
}

struct graph {
	int nodes, edges, *first, *edge;
};

/* Most nodes have few neighbours, every 64th has many. Neighbours are near, so that a search takes many levels. */
static struct graph make_graph(int nodes)
{
	struct graph g = {.nodes = nodes, .first = allocate((size_t)nodes + 1, sizeof(int))};
	int reach = nodes / 64 > 8 ? nodes / 64 : 8;
	for (int v = 0; v < nodes; v++)
		g.first[v + 1] = g.first[v] + (v % 64 ? 2 + (int)(next_random() % 6) : 64);
	g.edges = g.first[nodes];
	g.edge = allocate((size_t)g.edges, sizeof(int));
	for (int v = 0; v < nodes; v++)
		for (int e = g.first[v]; e < g.first[v + 1]; e++) {
			int near = v + (int)(next_random() % (2 * (unsigned)reach + 1)) - reach;
			g.edge[e] = near < 0 ? 0 : near >= nodes ? nodes - 1 : near;
		}
	return g;
}

static int *filled(int count, int value, int first)
{
	int *words = allocate((size_t)count, sizeof *words);
	for (int i = 0; i < count; i++)
		words[i] = i ? value : first;
	return words;
}

static cl_mem int_buffer(const int *words, int count)
{
	return buffer((size_t)count * sizeof *words, words);
}

static void bfs_in_c(const struct graph *g, int *level, int most)
{
	for (int depth = 0, any = 1; any && depth < most; depth++) {
		any = 0;
		for (int v = 0; v < g->nodes; v++)
			for (int e = g->first[v]; level[v] == depth && e < g->first[v + 1]; e++)
				if (level[g->edge[e]] < 0) {
					level[g->edge[e]] = depth + 1;
					any = 1;
				}
	}
}

/* n nodes, at most `length` levels, two launches for each. */
void run_bfs(struct shape_size s)
{
	struct graph g = make_graph(s.n);
	int *level = filled(s.n, -1, 0), any = 1;
	cl_mem first = int_buffer(g.first, s.n + 1), edge = int_buffer(g.edge, g.edges), levels = int_buffer(level, s.n);
	cl_mem frontier = int_buffer(filled(s.n, 0, 1), s.n), next = int_buffer(filled(s.n, 0, 0), s.n), flag = buffer(sizeof any, NULL);
	cl_kernel expand = graphs("bfs_expand"), advance = graphs("bfs_advance");
	for (int depth = 0; any && depth < s.length; depth++) {
		any = 0;
		put(flag, sizeof any, &any);
		args(expand, "mmmmmii", first, edge, frontier, next, levels, s.n, depth);
		args(advance, "mmmi", frontier, next, flag, s.n);
		launch(expand, (size_t)s.n, 1, LOCAL, 1);
		launch(advance, (size_t)s.n, 1, LOCAL, 1);
		get(flag, sizeof any, &any);
	}
	if (checking)
		bfs_in_c(&g, level, s.length);
	conclude(levels, (size_t)s.n * 4, checking ? level : NULL);
}

static int *relaxed(const struct graph *g, const int *weight, const int *in)
{
	int *out = allocate((size_t)g->nodes, sizeof *out);
	for (int v = 0; v < g->nodes; v++) {
		out[v] = in[v];
		for (int e = g->first[v]; e < g->first[v + 1]; e++)
			if (in[g->edge[e]] + weight[e] < out[v])
				out[v] = in[g->edge[e]] + weight[e];
	}
	return out;
}

/* n nodes, at most `length` rounds. */
void run_sssp(struct shape_size s)
{
	struct graph g = make_graph(s.n);
	int *weight = (int *)random_words((size_t)g.edges, 100), *distance = filled(s.n, FAR, 0), changed = 1;
	cl_mem first = int_buffer(g.first, s.n + 1), edge = int_buffer(g.edge, g.edges), weights = int_buffer(weight, g.edges);
	cl_mem in = int_buffer(distance, s.n), out = int_buffer(distance, s.n), flag = buffer(sizeof changed, NULL);
	cl_kernel k = graphs("relax");
	for (int round = 0; changed && round < s.length; round++) {
		changed = 0;
		put(flag, sizeof changed, &changed);
		args(k, "mmmmmmi", first, edge, weights, in, out, flag, s.n);
		launch(k, (size_t)s.n, 1, LOCAL, 1);
		get(flag, sizeof changed, &changed);
		swap_mem(&in, &out);
		if (checking)
			distance = relaxed(&g, weight, distance);
	}
	conclude(in, (size_t)s.n * 4, checking ? distance : NULL);
}

/* One row of a sparse product, in the order of the kernels. */
static float row_product(const struct graph *g, int row, const float *x, const float *by_column, const float *by_edge)
{
	float sum = 0;
	for (int e = g->first[row]; e < g->first[row + 1]; e++) {
		int column = g->edge[e];
		sum = by_edge ? fmaf(by_edge[e], x[column], sum) : fmaf(x[column], by_column[column], sum);
	}
	return sum;
}

/* n pages, `length` rounds. */
void run_pagerank(struct shape_size s)
{
	struct graph g = make_graph(s.n);
	float *share = random_floats((size_t)s.n), *rank = random_floats((size_t)s.n);
	for (int v = 0; v < s.n; v++)
		share[v] = share[v] / 8;
	cl_mem first = int_buffer(g.first, s.n + 1), edge = int_buffer(g.edge, g.edges), shares = buffer((size_t)s.n * 4, share);
	cl_mem in = buffer((size_t)s.n * 4, rank), out = buffer((size_t)s.n * 4, rank);
	cl_kernel k = graphs("rank_pages");
	for (int round = 0; round < s.length; round++) {
		args(k, "mmmmmi", first, edge, shares, in, out, s.n);
		launch(k, (size_t)s.n, 1, LOCAL, 1);
		swap_mem(&in, &out);
		if (checking) {
			float *next = allocate((size_t)s.n, sizeof *next);
			for (int v = 0; v < s.n; v++)
				next[v] = fmaf(row_product(&g, v, rank, share, NULL), 0.875f, 0.125f);
			rank = next;
		}
	}
	conclude(in, (size_t)s.n * 4, checking ? rank : NULL);
}

/* n rows of 8 values, but every 1024th has `length`: few long groups among many short ones. */
void run_spmv(struct shape_size s)
{
	struct graph g = {.nodes = s.n, .first = allocate((size_t)s.n + 1, sizeof(int))};
	for (int i = 0; i < s.n; i++)
		g.first[i + 1] = g.first[i] + (i % 1024 == 512 ? s.length : 8);
	g.edges = g.first[s.n];
	g.edge = (int *)random_words((size_t)g.edges, (unsigned)s.n);
	float *value = random_floats((size_t)g.edges), *x = random_floats((size_t)s.n), *expected = NULL;
	cl_mem y = buffer((size_t)s.n * 4, NULL);
	cl_kernel k = graphs("sparse_product");
	args(k, "mmmmmi", int_buffer(g.first, s.n + 1), int_buffer(g.edge, g.edges), buffer((size_t)g.edges * 4, value),
	     buffer((size_t)s.n * 4, x), y, s.n);
	launch(k, (size_t)s.n, 1, LOCAL, 1);
	if (checking) {
		expected = allocate((size_t)s.n, sizeof *expected);
		for (int i = 0; i < s.n; i++)
			expected[i] = row_product(&g, i, x, NULL, value);
	}
	conclude(y, (size_t)s.n * 4, expected);
}

/* n work-items, `length` random loads each. */
void run_gather(struct shape_size s)
{
	unsigned *table = random_words(TABLE, 1000), *expected = NULL;
	cl_mem out = buffer((size_t)s.n * 4, NULL);
	cl_kernel k = graphs("gather");
	args(k, "mmii", buffer(TABLE * 4, table), out, TABLE - 1, s.length);
	launch(k, (size_t)s.n, 1, LOCAL, 1);
	if (checking) {
		expected = allocate((size_t)s.n, sizeof *expected);
		for (int i = 0; i < s.n; i++) {
			unsigned at = (unsigned)i * 2654435761u;
			for (int t = 0; t < s.length; t++) {
				at = at * 1664525u + 1013904223u;
				expected[i] += table[(at >> 8) & (TABLE - 1)];
			}
		}
	}
	conclude(out, (size_t)s.n * 4, expected);
}

/* n work-items follow one large circle of addresses for `length` steps each. */
void run_chase(struct shape_size s)
{
	int *next = filled(TABLE, 0, 0), *order = filled(TABLE, 0, 0), *expected = NULL;
	for (int i = 0; i < TABLE; i++)
		order[i] = i;
	for (int i = TABLE - 1; i > 0; i--) {
		int other = (int)(next_random() % (unsigned)(i + 1)), was = order[i];
		order[i] = order[other];
		order[other] = was;
	}
	for (int i = 0; i < TABLE; i++)
		next[order[i]] = order[(i + 1) % TABLE];
	cl_mem out = buffer((size_t)s.n * 4, NULL);
	cl_kernel k = graphs("chase");
	args(k, "mmii", int_buffer(next, TABLE), out, TABLE / s.n, s.length);
	launch(k, (size_t)s.n, 1, LOCAL, 1);
	if (checking) {
		expected = allocate((size_t)s.n, sizeof *expected);
		for (int i = 0; i < s.n; i++) {
			expected[i] = i * (TABLE / s.n);
			for (int t = 0; t < s.length; t++)
				expected[i] = next[expected[i]];
		}
	}
	conclude(out, (size_t)s.n * 4, expected);
}
