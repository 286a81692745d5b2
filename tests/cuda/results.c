/*
 * results - compares what the same cases left in their buffers on two ways (suite -d, host -d).
 *
 *   results cases.txt FOLDER FOLDER [-a TOLERANCE] name...
 *
 * Without -a, or with 0, the bytes must be equal. With -a, floats and doubles may differ by TOLERANCE, relative to the larger of both and 1. Prints a
 * line per case. Exits with 1 if one differs.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "kernels/cases.h"

#include <math.h>

static double difference(double a, double b)
{
	double larger = fmax(1.0, fmax(fabs(a), fabs(b)));
	if (isnan(a) || isnan(b))
		return isnan(a) && isnan(b) ? 0 : INFINITY;
	return a == b ? 0 : fabs(a - b) / larger;
}

/* The largest difference in one buffer. An int that differs is infinitely far away. */
static double compare_buffer(const struct arg *a, const char *x, const char *y, size_t *differ)
{
	double worst = 0;
	size_t width = a->kind == 'd' ? 8 : 4;
	for (size_t e = 0; e < a->count; e++, x += width, y += width) {
		double away = INFINITY, dx, dy;
		float fx, fy;
		if (!memcmp(x, y, width))
			continue;
		++*differ;
		if (a->kind == 'd') {
			memcpy(&dx, x, 8);
			memcpy(&dy, y, 8);
			away = difference(dx, dy);
		} else if (a->kind != 'i') {
			memcpy(&fx, x, 4);
			memcpy(&fy, y, 4);
			away = difference((double)fx, (double)fy);
		}
		worst = fmax(worst, away);
	}
	return worst;
}

/* Whether the case is as it should be. */
static int compare_case(struct test_case *c, char **folders, double tolerance)
{
	char *data[2], path[4096];
	size_t size[2], at = 0, differ = 0;
	double worst = 0;
	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof path, "%s/%s", folders[i], c->name);
		data[i] = read_file(path, &size[i]);
	}
	for (int i = 0; i < c->arg_count; i++) {
		struct arg *a = &c->args[i];
		if (!a->init)
			continue;
		if (at + a->size_bytes > size[0] || at + a->size_bytes > size[1])
			fail("too short", path, 0);
		worst = fmax(worst, compare_buffer(a, data[0] + at, data[1] + at, &differ));
		at += a->size_bytes;
		free(a->init);
	}
	int fine = worst <= tolerance && (tolerance > 0 || !differ);
	printf("%-4s %-20s %zu values differ, by %.3g at most\n", fine ? "ok" : "FAIL", c->name, differ, worst);
	free(data[0]);
	free(data[1]);
	return fine;
}

int main(int argc, char **argv)
{
	double tolerance = 0;
	int first = 4, wrong = 0;
	char *cases, *save;
	struct test_case c;
	size_t size;
	if (argc > 5 && !strcmp(argv[4], "-a")) {
		tolerance = strtod(argv[5], NULL);
		first = 6;
	}
	if (argc < 5) {
		fprintf(stderr, "usage: results cases.txt FOLDER FOLDER [-a TOLERANCE] name...\n");
		return 2;
	}
	cases = read_file(argv[1], &size);
	for (char *line = strtok_r(cases, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (line[0] == '#' || !strcspn(line, " \t") || !wanted(line, argc - first, argv + first))
			continue;
		parse_case(&c, line);
		wrong += !compare_case(&c, argv + 2, tolerance);
	}
	free(cases);
	return wrong > 0;
}
