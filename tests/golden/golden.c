/*
 * golden - annotates kernel files, runs them, and prints the results.
 *
 *   golden GPUSIM_CC FILE.cl...
 *
 * The driver reads its library of functions once per process, which takes longer than a kernel: so there can be many files. A
 * line "==== FILE.cl" stands before what is printed for each. More than one path must be absolute. The first that ends early ends all.
 *
 * Prints the annotated text without the macros before it, and the block table with counts. Comments in the file say what to run,
 * and which counts are expected. The counts were made by hand.
 *   // run KERNEL GLOBAL LOCAL        the kernel's only argument is `__global int *p`, 256 ints, p[i] = i
 *   // trips LOOP TRIPS COUNT        a count of trips is wanted; TRIPS as in block-details (protocol.h)
 *   //= KIND COUNT...                 at the end of a line: the blocks that begin in it, in their order
 *   // options OPTIONS                options of the build; files are included from the folder of the file
 *   // arguments KIND...              further arguments: image (2 x 2 pixels: 0 1 2 3, 4 5 6 7, ...), sampler, local
 *   // unit                           alone in a line: the text after it is compiled by itself and then linked
 * Exits 1 if an expected count differs, if the original kernel leaves another buffer, or if nothing could be run.
 */
#include "common.h"

#include "runtime/format/counters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_BLOCKS = 512 };

static int failures, checked;
static unsigned last_line, taken; /* the line of the last block that was compared, and how many blocks of it were before */

static void print_text(const char *host)
{
	const char *text = strstr(host, "# 1 \"program.cl\"\n");
	fputs(text ? text : host, stdout);
}

/* ---- running ---- */

/* Runs the kernel on fresh ints and returns them changed. The caller sets all arguments after the ints. */
static void run(cl_kernel kernel, size_t global, size_t local, int *ints)
{
	for (int i = 0; i < INTS; i++)
		ints[i] = i;
	cl_mem p = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, INTS * sizeof *ints, ints, NULL);
	check(!clSetKernelArg(kernel, 0, sizeof p, &p) &&
	      !clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL) &&
	      !clEnqueueReadBuffer(queue, p, CL_TRUE, 0, INTS * sizeof *ints, ints, 0, NULL, NULL), "running");
	clReleaseMemObject(p);
}

struct launch {
	char kernel[64];
	size_t global, local, slots, words;
	bool by_item;
	cl_ulong *data;
};

static void run_counted(struct launch *l, const struct source *source, const struct gs_pack *result, size_t blocks,
                        int *ints)
{
	const char *texts[MOST_UNITS];
	size_t count = texts_of(result, "host", texts);
	cl_ulong sizes[2] = {l->slots, l->global};
	l->words = COUNTER_HEADER_WORDS + (l->slots + 1) * (blocks + 1) + l->global * blocks;
	l->data = calloc(l->words, sizeof *l->data);
	l->data[COUNTER_SLOTS] = l->slots;
	cl_kernel kernel = build(texts, count, gs_pack_text(result, "host-options"), l->kernel);
	cl_uint first = set_arguments(kernel, source->all.data);
	cl_mem counters = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, l->words * sizeof *l->data, l->data, NULL);
	check(!clSetKernelArg(kernel, first, sizeof counters, &counters), "an argument");
	if (l->by_item)
		check(!clSetKernelArg(kernel, first + 1, 8, &sizes[0]) && !clSetKernelArg(kernel, first + 2, 8, &sizes[1]),
		      "arguments");
	const cl_ulong16 box = {{0}};
	check(!clSetKernelArg(kernel, first + (l->by_item ? 3 : 1), sizeof box, &box), "the box");
	run(kernel, l->global, l->local, ints);
	clEnqueueReadBuffer(queue, counters, CL_TRUE, 0, l->words * sizeof *l->data, l->data, 0, NULL, NULL);
}

/* ---- counts ---- */

static const char *line_of(const char *table, size_t number)
{
	while (number-- && table)
		table = strchr(table, '\n') ? strchr(table, '\n') + 1 : NULL;
	return table && *table ? table : NULL;
}

/* `ids` lists the columns of the group's sums. */
static void sum_groups(const struct launch *l, const char *ids, long long *counts)
{
	size_t columns = 0, column = 0;
	for (const char *at = ids; *at == ' '; columns++)
		at += 1 + strspn(at + 1, "0123456789");
	for (; *ids == ' '; column++) {
		unsigned id = (unsigned)strtoul(ids, (char **)&ids, 10);
		for (size_t s = 0; s < l->slots; s++)
			counts[id] += (long long)l->data[COUNTER_HEADER_WORDS + l->slots + 1 + s * columns + column];
	}
}

/* The word of a work-item that has the counter of a block. */
static size_t word_of(const char *ids, int flags, unsigned block)
{
	for (int column = 0; *ids == ' '; column++)
		if (strtoul(ids, (char **)&ids, 10) == block)
			return (size_t)((flags + COUNTER_FLAGS - 1) / COUNTER_FLAGS + column - flags);
	check(false, "trips of a block without a column");
	return 0;
}

/* =KIND:FACTOR:RESIDUE:BLOCK after the number of a block: the count is computed from what a work-item counted. */
static const char *sum_computed(const struct launch *l, const char *ids, int flags, const char *at, long long *count)
{
	const cl_uint *words = (const cl_uint *)(l->data + COUNTER_HEADER_WORDS + l->slots + 1);
	char kind[8];
	unsigned factor, residue, of;
	int skip = 0;
	check(sscanf(at, "=%7[a-z]:%u:%u:%u%n", kind, &factor, &residue, &of, &skip) == 4, "computed trips");
	size_t word = word_of(ids, flags, of);
	for (size_t j = word * l->global; j < (word + 1) * l->global; j++)
		*count += (long long)counter_trips(!strcmp(kind, "every"), factor, residue, words[j]);
	return at + skip;
}

static void sum(const struct launch *l, const struct gs_pack *result, size_t blocks, long long *counts)
{
	const cl_ulong *slots = l->data + COUNTER_HEADER_WORDS;
	if (!l->by_item) {
		for (size_t i = 0; i < l->slots * blocks; i++)
			counts[i % blocks] += (long long)slots[i];
		return;
	}
	char name[64];
	const char *table = gs_pack_text(result, "columns"), *line;
	for (size_t i = 0; (line = line_of(table, i)); i++) {
		int skip = 0, flags = 0;
		sscanf(line, "%63s%n", name, &skip);
		if (strcmp(name, l->kernel))
			continue;
		if (!strncmp(line + skip, " sums", 5))
			return sum_groups(l, line + skip + 5, counts);
		sscanf(line, "%*s %d%n", &flags, &skip);
		const cl_uint *words = (const cl_uint *)(slots + l->slots + 1);
		const char *ids = line += skip;
		for (int column = 0; *line == ' '; column++) {
			unsigned id = (unsigned)strtoul(line, (char **)&line, 10);
			if (*line == '=') {
				line = sum_computed(l, ids, flags, line, &counts[id]);
				continue;
			}
			bool flag = column < flags;
			size_t word = flag ? column / COUNTER_FLAGS : (flags + COUNTER_FLAGS - 1) / COUNTER_FLAGS + column - flags;
			for (size_t j = word * l->global; j < (word + 1) * l->global; j++)
				counts[id] += flag ? words[j] >> column % COUNTER_FLAGS & 1 : words[j];
		}
	}
}

/* Compares with the next KIND COUNT that the source has for the line. If it has none, nothing is checked. */
static void compare(const char *source, unsigned line, const char *kind, long long count)
{
	const char *text = line_of(source, line - 1), *by_hand = text ? strstr(text, "//= ") : NULL;
	char expected[64];
	long long number;
	int skip = 4;
	taken = line == last_line ? taken + 1 : 0;
	last_line = line;
	if (!by_hand || by_hand > text + strcspn(text, "\n"))
		return;
	for (unsigned i = 0; i <= taken; i++) {
		by_hand += skip;
		if (sscanf(by_hand, "%63s %lld%n", expected, &number, &skip) != 2)
			return (void)(++failures, printf("FAILED: line %u has more blocks\n", line));
	}
	if (strcmp(expected, kind) || number != count)
		++failures, printf("FAILED: counted by hand in line %u: %s %lld\n", line, expected, number);
	else if (!strcspn(by_hand + skip, "\n"))
		checked++;
}

static void compare_trips(const char *source, int loop, const char *trips, long long count)
{
	char pattern[128];
	snprintf(pattern, sizeof pattern, "// trips %d %s %lld\n", loop, trips, count);
	if (!strstr(source, pattern) && ++failures)
		printf("FAILED: other trips counted by hand\n");
}

/* Prints the rows of both tables with their counts. It computes the counts of the kernel's entry and those that flow determines. */
static void print_blocks(const struct launch *l, const struct gs_pack *result, long long *counts, const char *source)
{
	const char *row, *details;
	for (size_t i = 0; (row = line_of(gs_pack_text(result, "blocks"), i)); i++) {
		char function[64], kind[64], trips[64], file[64], terms[256] = "";
		unsigned line, column, end_line, end_column, of;
		int loop, skip, times;
		sscanf(row, "%*u %*u %63s %63s %u %u %63s", function, kind, &line, &column, file);
		details = line_of(gs_pack_text(result, "block-details"), i);
		sscanf(details, "%*u %u %u %d %63s%n", &end_line, &end_column, &loop, trips, &skip);
		snprintf(terms, sizeof terms, "%.*s", (int)strcspn(details + skip, "\n"), details + skip);
		if (l->by_item && !strcmp(function, l->kernel) && !strcmp(kind, "entry"))
			for (size_t s = 0; s < l->slots; s++)
				counts[i] += (long long)(l->data[COUNTER_HEADER_WORDS + s] & ((1 << COUNTER_SIZE_BITS) - 1));
		for (const char *t = terms; sscanf(t, " %d*%u%n", &times, &of, &skip) == 2; t += skip)
			counts[i] += times * counts[of];
		bool own = !strcmp(file, "program.cl");
		printf("%zu %s %s %s%s%u:%u-%u:%u loop %d trips %s count %lld%s%s\n", i, function, kind, own ? "" : file,
		       own ? "" : ":", line, column, end_line, end_column, loop, trips, counts[i], *terms ? " =" : "", terms);
		if (strcmp(trips, "-"))
			compare_trips(source, loop, trips, counts[i]);
		else if (own)
			compare(source, line, kind, counts[i]);
	}
}

static void print_texts(const struct gs_pack *result)
{
	const char *texts[MOST_UNITS];
	size_t count = texts_of(result, "host", texts);
	for (size_t i = 0; i < count; i++) {
		if (count > 1)
			printf("---- unit %zu\n", i);
		print_text(texts[i]);
	}
}

static void run_original(const struct launch *l, const struct source *source, int *ints)
{
	const char *texts[MOST_UNITS];
	for (size_t i = 0; i < source->unit_count; i++)
		texts[i] = source->units[i].data;
	cl_kernel kernel = build(texts, source->unit_count, source->options, l->kernel);
	set_arguments(kernel, source->all.data);
	run(kernel, l->global, l->local, ints);
}

static void try_file(const char *cc, const char *path)
{
	struct source source = {0};
	struct gs_pack result = {0};
	struct launch l = {0};
	long long counts[MOST_BLOCKS] = {0};
	int before[INTS], after[INTS];
	size_t blocks = 0;
	last_line = taken = 0;
	checked = 0;
	read_source(&source, path);
	annotate(cc, &source, &result);
	if (gs_pack_find(&result, "failure")) {
		printf("refused: %s\n", gs_pack_text(&result, "failure"));
		check(!strstr(source.all.data, "// run "), "refused, though it should run");
		return;
	}
	print_texts(&result);
	const char *wanted = strstr(source.all.data, "// run ");
	check(wanted && sscanf(wanted, "// run %63s %zu %zu", l.kernel, &l.global, &l.local) == 3, "no run line");
	l.slots = l.global / l.local;
	l.by_item = !strcmp(gs_pack_text(&result, "layout"), "item");
	while (line_of(gs_pack_text(&result, "blocks"), blocks))
		blocks++;
	check(blocks < MOST_BLOCKS, "too many blocks");
	printf("---- layout %s, columns %sloops\n%s---- blocks\n", gs_pack_text(&result, "layout"),
	       gs_pack_text(&result, "columns"), gs_pack_text(&result, "loops"));
	fflush(stdout); /* the driver's printf has a buffer of its own */
	run_original(&l, &source, before);
	run_counted(&l, &source, &result, blocks, after);
	check(!memcmp(before, after, sizeof before), "another result than that of the original");
	sum(&l, &result, blocks, counts);
	print_blocks(&l, &result, counts, source.all.data);
	for (const char *at = source.all.data; (at = strstr(at, "//= ")); at++)
		checked--;
	if (checked && ++failures)
		printf("FAILED: %d lines with counts have not all of these blocks\n", -checked);
	free(l.data);
}

int main(int argc, char **argv)
{
	check(argc >= 3, "golden GPUSIM_CC FILE.cl...");
	open_device();
	for (int i = 2; i < argc; i++) {
		printf("==== %s\n", argv[i]);
		fflush(stdout);
		try_file(argv[1], argv[i]);
	}
	fflush(stdout);
	_exit(failures ? 1 : 0);
}
