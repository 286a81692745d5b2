/*
 * Complete-linkage clustering: join the two nearest clusters, the distance of two being that of their furthest members, until
 * no two are within the threshold.
 *
 *   points: the table of distances between clusters, d(a + b, c) = max(d(a, c), d(b, c)) (Lance and Williams)
 *   numbers: sorted, only neighbours can be nearest, and their distance is that of their outer ends
 * Source: Huang et al., TBPoint, III and IV-B1, thresholds 0.1 and 0.2.
 */
#include "models/sampling/cluster.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- points ---- */

static double point_distance(const double *a, const double *b, size_t dimensions)
{
	double sum = 0;
	for (size_t d = 0; d < dimensions; d++)
		sum += (a[d] - b[d]) * (a[d] - b[d]);
	return sqrt(sum);
}

/* Row i has the distances to all points below i. */
static double *table_at(double *table, size_t i, size_t j)
{
	return i > j ? &table[i * (i - 1) / 2 + j] : &table[j * (j - 1) / 2 + i];
}

/* Joins *b into *a and says so, or returns false: no two within the threshold. */
static bool find_nearest(double *table, const bool *gone, size_t count, double threshold, size_t *a, size_t *b)
{
	double least = INFINITY;
	for (size_t i = 1; i < count; i++)
		for (size_t j = 0; j < i && !gone[i]; j++)
			if (!gone[j] && *table_at(table, i, j) < least) {
				least = *table_at(table, i, j);
				*a = j;
				*b = i;
			}
	return least <= threshold;
}

static int64_t number_clusters(uint32_t *cluster_of, size_t count)
{
	uint32_t *number = malloc((count + 1) * sizeof *number);
	uint32_t clusters = 0;
	if (!number)
		return -ENOMEM;
	memset(number, 0xff, (count + 1) * sizeof *number);
	for (size_t i = 0; i < count; i++) {
		if (number[cluster_of[i]] == UINT32_MAX)
			number[cluster_of[i]] = clusters++;
		cluster_of[i] = number[cluster_of[i]];
	}
	free(number);
	return clusters;
}

int64_t cluster_points(const double *points, size_t count, size_t dimensions, double threshold, uint32_t *cluster_of)
{
	double *table = calloc(count * (count ? count - 1 : 0) / 2 + 1, sizeof *table);
	bool *gone = calloc(count + 1, sizeof *gone);
	int64_t result = -ENOMEM;
	size_t a = 0, b = 0;
	if (!table || !gone)
		goto out;
	for (size_t i = 0; i < count; i++) {
		cluster_of[i] = (uint32_t)i;
		for (size_t j = 0; j < i; j++)
			*table_at(table, i, j) = point_distance(points + i * dimensions, points + j * dimensions, dimensions);
	}
	while (find_nearest(table, gone, count, threshold, &a, &b)) {
		gone[b] = true;
		for (size_t i = 0; i < count; i++) {
			if (cluster_of[i] == b)
				cluster_of[i] = (uint32_t)a;
			if (i != a && !gone[i] && *table_at(table, i, b) > *table_at(table, i, a))
				*table_at(table, i, a) = *table_at(table, i, b);
		}
	}
	result = number_clusters(cluster_of, count);
out:
	free(table);
	free(gone);
	return result;
}

/* ---- numbers ---- */

struct number {
	double value;
	uint32_t index;
};

static int by_value(const void *a, const void *b)
{
	const struct number *x = a, *y = b;
	return x->value < y->value ? -1 : x->value > y->value ? 1 : (x->index > y->index) - (x->index < y->index);
}

/* Neighbours of the sorted numbers, as runs [first, next): a run's next one begins where it ends. */
struct number_run {
	uint32_t last, previous, next; /* index of its last number; of runs, by their first numbers */
	bool gone;
};

/* A pair of neighbouring runs, by the first number of each; stale once either has grown or gone. */
struct cluster_pair {
	double width;
	uint32_t left, right, right_last;
};

struct heap {
	struct cluster_pair *pairs;
	size_t count;
};

static bool nearer(const struct cluster_pair *a, const struct cluster_pair *b)
{
	return a->width < b->width || (a->width == b->width && a->left < b->left);
}

static void heap_push(struct heap *h, struct cluster_pair p)
{
	size_t i = h->count++;
	for (; i && nearer(&p, &h->pairs[(i - 1) / 2]); i = (i - 1) / 2)
		h->pairs[i] = h->pairs[(i - 1) / 2];
	h->pairs[i] = p;
}

static struct cluster_pair heap_pop(struct heap *h)
{
	struct cluster_pair top = h->pairs[0], last = h->pairs[--h->count];
	size_t i = 0, child;
	while ((child = 2 * i + 1) < h->count) {
		if (child + 1 < h->count && nearer(&h->pairs[child + 1], &h->pairs[child]))
			child++;
		if (!nearer(&h->pairs[child], &last))
			break;
		h->pairs[i] = h->pairs[child];
		i = child;
	}
	h->pairs[i] = last;
	return top;
}

static void push_pair(struct heap *h, const struct number *n, const struct number_run *runs, uint32_t left, uint32_t right)
{
	heap_push(h, (struct cluster_pair){n[runs[right].last].value - n[left].value, left, right, runs[right].last});
}

static void join_runs(struct heap *h, const struct number *n, struct number_run *runs, size_t count, double threshold)
{
	while (h->count) {
		struct cluster_pair p = heap_pop(h);
		struct number_run *l = &runs[p.left], *r = &runs[p.right];
		if (p.width > threshold)
			return;
		if (l->gone || r->gone || l->next != p.right || r->last != p.right_last)
			continue;
		l->last = r->last;
		l->next = r->next;
		r->gone = true;
		if (l->next < count) {
			runs[l->next].previous = p.left;
			push_pair(h, n, runs, p.left, l->next);
		}
		if (l->previous != UINT32_MAX)
			push_pair(h, n, runs, l->previous, p.left);
	}
}

int64_t cluster_numbers(const double *numbers, size_t count, double threshold, uint32_t *cluster_of)
{
	struct number *n = calloc(count + 1, sizeof *n);
	struct number_run *runs = calloc(count + 1, sizeof *runs);
	struct heap heap = {calloc(3 * count + 1, sizeof *heap.pairs), 0};
	int64_t result = -ENOMEM;
	if (!n || !runs || !heap.pairs)
		goto out;
	for (size_t i = 0; i < count; i++) {
		n[i] = (struct number){numbers[i], (uint32_t)i};
		runs[i] = (struct number_run){(uint32_t)i, i ? (uint32_t)i - 1 : UINT32_MAX, (uint32_t)i + 1, false};
	}
	qsort(n, count, sizeof *n, by_value);
	for (uint32_t i = 0; i + 1 < count; i++)
		push_pair(&heap, n, runs, i, i + 1);
	join_runs(&heap, n, runs, count, threshold);
	for (uint32_t i = 0; i < count; i = runs[i].next)
		for (uint32_t k = i; k < runs[i].next; k++)
			cluster_of[n[k].index] = i;
	result = number_clusters(cluster_of, count);
out:
	free(n);
	free(runs);
	free(heap.pairs);
	return result;
}
