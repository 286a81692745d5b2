/*
 * cases: the lines of cases.txt as data, for every program that runs them.
 *
 * A line is: name  file  kernel  global  local  arguments. An argument is one of:
 *   f, d, i   a buffer of float, double or int: kind:count:how[:value]. `how` is rand (floats in [0,1), ints in [0,value)) or
 *             zero. For ints it may also be fill (value) or ramp (element e is e*value).
 *   m, w      an image of RGBA floats that is read or written: m:WIDTHxHEIGHT:rand, w:WIDTHxHEIGHT:zero
 *   F, I      a scalar: F:value, I:value
 *   L         local memory: L:bytes
 * A local size of - leaves the choice to the driver.
 * The generator that fills buffers starts anew with every case, so all programs run with the same data.
 */
#ifndef GPUSIM_CASES_H
#define GPUSIM_CASES_H

#include <fnmatch.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ARGS = 16 };

struct arg {
	char kind; /* 'f', 'd' or 'i' buffer, 'm' or 'w' image, 'F' or 'I' scalar, 'L' local memory */
	size_t count, size_bytes, width, height;
	int32_t *init; /* buffers and images: the contents at the start of every repeat */
	float f;
	int32_t i;
};

struct test_case {
	const char *name, *file, *kernel;
	uint32_t dims;
	size_t global[3], local[3]; /* local: all 0 where the driver chooses */
	int arg_count;
	struct arg args[MAX_ARGS];
};

static void fail(const char *what, const char *name, int code)
{
	fprintf(stderr, "%s: %s (%d)\n", name, what, code);
	exit(1);
}

static uint32_t random_state;

static uint32_t next_random(void)
{
	random_state = random_state * 1664525u + 1013904223u;
	return random_state >> 8;
}

static void fill(struct arg *a, const char *how, long value)
{
	float *f = (float *)a->init;
	double *d = (double *)a->init;

	for (size_t e = 0; e < a->count; e++) {
		if (a->kind == 'd')
			d[e] = !strcmp(how, "rand") ? next_random() / 16777216.0 : 0.0;
		else if (strchr("fmw", a->kind))
			f[e] = !strcmp(how, "rand") ? next_random() / 16777216.0f : 0.0f;
		else if (!strcmp(how, "rand"))
			a->init[e] = (int32_t)(next_random() % (uint32_t)value);
		else
			a->init[e] = (int32_t)(!strcmp(how, "ramp") ? (long)e * value : value);
	}
}

/* text: kind:count[:how[:value]], or kind:value for a scalar */
static void parse_arg(struct arg *a, char *text)
{
	char *save, *kind = strtok_r(text, ":", &save), *count = strtok_r(NULL, ":", &save);
	char *how = strtok_r(NULL, ":", &save), *value = strtok_r(NULL, ":", &save);

	a->kind = kind[0];
	if (!count)
		fail("no value or count", text, 0);
	if (a->kind == 'F')
		a->f = strtof(count, NULL);
	else if (a->kind == 'I')
		a->i = (int32_t)strtol(count, NULL, 10);
	else
		a->count = a->width = strtoul(count, &count, 10);
	if (strchr("mw", a->kind)) {
		a->height = *count == 'x' ? strtoul(count + 1, NULL, 10) : 1;
		a->count = a->width * a->height * 4;
	}
	if (strchr("fdimw", a->kind)) {
		a->size_bytes = a->count * (a->kind == 'd' ? 8 : 4);
		a->init = malloc(a->size_bytes);
		if (!a->init || !how)
			fail("no memory or no contents", text, 0);
		fill(a, how, value ? strtol(value, NULL, 10) : 0);
	}
}

static uint32_t parse_range(char *text, size_t *range)
{
	uint32_t dims = 0;
	char *save;

	for (char *p = strtok_r(text, ",", &save); p && dims < 3; p = strtok_r(NULL, ",", &save))
		range[dims++] = strtoul(p, NULL, 10);
	return dims;
}

static void parse_case(struct test_case *c, char *line)
{
	const char *blank = " \t";
	char *save, *global, *local;

	memset(c, 0, sizeof *c);
	c->name = strtok_r(line, blank, &save);
	c->file = strtok_r(NULL, blank, &save);
	c->kernel = strtok_r(NULL, blank, &save);
	global = strtok_r(NULL, blank, &save);
	local = strtok_r(NULL, blank, &save);
	if (!local)
		fail("too few fields", c->name, 0);
	c->dims = parse_range(global, c->global);
	if (strcmp(local, "-") && parse_range(local, c->local) != c->dims)
		fail("global and local size differ in dimensions", c->name, 0);
	random_state = 42;
	for (char *p; c->arg_count < MAX_ARGS && (p = strtok_r(NULL, blank, &save)); c->arg_count++)
		parse_arg(&c->args[c->arg_count], p);
}

static char *read_file(const char *path, size_t *size)
{
	FILE *f = fopen(path, "r");
	char *text;

	if (!f) {
		perror(path);
		exit(1);
	}
	fseek(f, 0, SEEK_END);
	*size = (size_t)ftell(f);
	rewind(f);
	text = calloc(1, *size + 1);
	if (!text || fread(text, 1, *size, f) != *size)
		fail("cannot read", path, 0);
	fclose(f);
	return text;
}

/* Whether a line's name matches one of the shell patterns. Without patterns, every name matches. */
static int wanted(const char *line, int argc, char **argv)
{
	char name[128];

	snprintf(name, sizeof name, "%.*s", (int)strcspn(line, " \t"), line);
	for (int i = 0; i < argc; i++)
		if (!fnmatch(argv[i], name, 0))
			return 1;
	return argc == 0;
}

#endif
