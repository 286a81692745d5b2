/* What a sweep varies: lists and ranges of values, GPUs, and what they cost. */
#include "runtime/cmd/cmd.h"
#include "runtime/cmd/sweep/sweep.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- values ---- */

static const struct gpu_key *key_named(const char *name, size_t length)
{
	for (size_t i = 0; gpu_key(i); i++)
		if (!strncmp(gpu_key(i)->name, name, length) && !gpu_key(i)->name[length])
			return gpu_key(i);
	return NULL;
}

/* A number, with K, M or G: powers of 1024 where the key has bytes, else of 1000. Ki, Mi and Gi are powers of 1024. */
static bool read_number(const char *text, const char **end, bool bytes, double *out)
{
	static const char letters[] = "KMG";
	char *after;
	*out = strtod(text, &after);
	after -= after > text && after[-1] == '.'; /* of a range's dots */
	*end = after;
	if (after == text || !isdigit((unsigned char)after[-1]) || !isfinite(*out))
		return false;
	const char *letter = *after ? strchr(letters, *after) : NULL;
	if (letter) {
		*end = after + 1 + (after[1] == 'i');
		*out *= pow(bytes || after[1] == 'i' ? 1024 : 1000, (double)(letter - letters + 1));
	}
	return true;
}

static int add_value(struct sweep_key *k, const char *text, size_t length)
{
	if (k->count == SWEEP_VALUES)
		return cmd_fail("sweep: at most %d values of %s", SWEEP_VALUES, k->name);
	k->values[k->count] = strndup(text, length);
	return k->values[k->count++] ? 0 : cmd_fail("sweep: out of memory");
}

static int add_number(struct sweep_key *k, double n)
{
	char text[40];
	snprintf(text, sizeof text, "%.10g", n);
	return add_value(k, text, strlen(text));
}

/* "A..B", "A..B:STEP" or "A..B:xFACTOR". */
static int add_range(struct sweep_key *k, const char *text, size_t length, bool bytes)
{
	const char *end = text;
	double low, high, step = 1;
	bool good = read_number(text, &end, bytes, &low) && !strncmp(end, "..", 2) && read_number(end + 2, &end, bytes, &high), times = false;
	if (good && *end == ':') {
		times = end[1] == 'x';
		good = read_number(end + 1 + times, &end, bytes, &step);
	}
	if (!good || end != text + length || low > high || step <= (times ? 1 : 0) || (times && low <= 0))
		return cmd_fail("sweep: --vary %s: '%.*s' is no range; 8..64:8 adds 8 each time, 8..64:x2 doubles", k->name, (int)length, text);
	for (double n = low; n <= high * (1 + 1e-12); n = times ? n * step : n + step)
		if (add_number(k, n))
			return EXIT_USAGE;
	return 0;
}

static int add_item(struct sweep_key *k, const char *text, size_t length, const struct gpu_key *key)
{
	const char *end, *dots = memmem(text, length, "..", 2);
	bool bytes = key && key->kind == GPU_BYTES;
	double n;
	if (dots)
		return add_range(k, text, length, bytes);
	if (read_number(text, &end, bytes, &n) && end == text + length && length && strchr("KMG", text[length - 1]))
		return add_number(k, n);
	return add_value(k, text, length);
}

static struct sweep_key *new_key(struct sweep *s, const char *name, size_t length)
{
	struct sweep_key *k = &s->keys[s->key_count++];
	k->name = strndup(name, length);
	return k;
}

int sweep_take_vary(struct sweep *s, const char *text)
{
	const char *equals = strchr(text, '=');
	if (!equals || equals == text || !equals[1])
		return cmd_fail("sweep: --vary needs KEY=VALUE,VALUE,..., not '%s'", text);
	if (s->key_count == SWEEP_KEYS)
		return cmd_fail("sweep: at most %d keys vary", SWEEP_KEYS);
	struct sweep_key *k = new_key(s, text, (size_t)(equals - text));
	const struct gpu_key *key = key_named(text, (size_t)(equals - text));
	if (!k->name)
		return cmd_fail("sweep: out of memory");
	for (const char *v = equals + 1; *v; v += v[0] == ',') {
		size_t length = strcspn(v, ",");
		if (length && add_item(k, v, length, key))
			return EXIT_USAGE;
		v += length;
	}
	return k->count ? 0 : cmd_fail("sweep: --vary %s has no values", k->name);
}

int sweep_take_gpus(struct sweep *s, const char *names)
{
	if (!strchr(names, ','))
		return 0;
	struct sweep_key *k = new_key(s, "gpu", 3);
	for (const char *n = names; *n; n += n[0] == ',') {
		size_t length = strcspn(n, ",");
		if (length && add_value(k, n, length))
			return EXIT_USAGE;
		n += length;
	}
	return k->name && k->count ? 0 : cmd_fail("sweep: --gpu names no GPU");
}

/* ---- cost ---- */

int sweep_take_costs(struct sweep *s, const char *text)
{
	for (const char *item = text; *item; item += item[0] == ',') {
		const char *equals = strchr(item, '='), *end = item;
		struct sweep_cost *c = &s->costs[s->cost_count];
		if (s->cost_count == SWEEP_COSTS)
			return cmd_fail("sweep: at most %d costs", SWEEP_COSTS);
		if (!equals || !read_number(equals + 1, &end, false, &c->weight) || (*end && *end != ','))
			return cmd_fail("sweep: --cost needs KEY=WEIGHT or GPU=PRICE, with commas, not '%s'", item);
		c->name = item;
		c->length = (size_t)(equals - item);
		s->cost_count++;
		item = end;
	}
	return s->cost_count ? 0 : cmd_fail("sweep: --cost is empty");
}

/* A name that is neither would cost nothing, in silence. */
int sweep_check_costs(const struct sweep *s)
{
	for (size_t c = 0; c < s->cost_count; c++) {
		const char *name = s->costs[c].name;
		size_t length = s->costs[c].length;
		bool known = key_named(name, length);
		for (const char *n = s->gpu; *n && !known; n += strcspn(n, ","), n += *n == ',')
			known = strcspn(n, ",") == length && !strncmp(n, name, length);
		if (!known)
			return cmd_fail("sweep: --cost: '%.*s' is neither a key of GPUs nor one of the GPUs", (int)length, name);
	}
	return 0;
}

double sweep_cost(const struct sweep *s, const struct gpu *gpu)
{
	double all = 0;
	for (size_t c = 0; c < s->cost_count; c++)
		for (size_t i = 0; gpu_key(i); i++) {
			char value[128];
			if (strncmp(gpu_key(i)->name, s->costs[c].name, s->costs[c].length) || gpu_key(i)->name[s->costs[c].length])
				continue;
			gpu_format_value(gpu, i, value, sizeof value);
			all += s->costs[c].weight * strtod(value, NULL);
		}
	for (size_t c = 0; c < s->cost_count; c++)
		if (!strncmp(gpu->name, s->costs[c].name, s->costs[c].length) && !gpu->name[s->costs[c].length])
			all += s->costs[c].weight;
	return all;
}

static int by_cost_and_time(const void *a, const void *b)
{
	const struct sweep_result *x = *(struct sweep_result *const *)a, *y = *(struct sweep_result *const *)b;
	return x->cost < y->cost ? -1 : x->cost > y->cost ? 1 : x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

/* From the cheapest on: the best are faster than all that are cheaper. Of those that cost the same the fastest come first; there may be several. */
void sweep_mark_best(struct sweep *s)
{
	struct sweep_result **order = s->cost_count ? calloc(s->configurations, sizeof *order) : NULL;
	const struct sweep_result *last = NULL; /* of the best */
	size_t count = 0;
	for (size_t i = 0; i < s->configurations && order; i++)
		if (s->results[i].done)
			order[count++] = &s->results[i];
	if (order)
		qsort(order, count, sizeof *order, by_cost_and_time);
	for (size_t i = 0; i < count; i++) {
		struct sweep_result *r = order[i];
		r->best = !last || r->time_ns < last->time_ns || (r->time_ns == last->time_ns && r->cost == last->cost);
		last = r->best ? r : last;
	}
	free(order);
}
