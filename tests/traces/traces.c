/*
 * traces - traces a kernel file and compares the events of single work-items with the events that the file expects.
 *
 *   traces GPUSIM_CC FILE.cl [--print]
 *
 * Comments in the file say what to run and what the result must be. They extend the comments of tests/golden/golden.c:
 *   // run KERNEL GLOBAL LOCAL      the first argument is `__global int *p`, 256 ints, p[i] = i
 *   // chunks N                     size of the trace buffer in chunks; default: 1000
 *   // box FIRST GROUPS traced|counted   the launch is cut into these boxes of groups
 *   // every A B                    TRACED_OF and TRACED_BELOW (runtime/format/box.def) of the box (runtime/format/traces.h)
 *   // lane GROUP.ITEM EVENT...     LINE:KIND for a block; LINE:KIND:PLACE:BYTES for an access. PLACE is a0+16 in the buffer of
 *                                   argument 0, s+16 in shared and p+16 in private memory, c+16 in constants of the program.
 *                                   The last word is `cut` if the trace was cut. A \ at the end of a line continues it
 *                                   in the next // line
 *   // cut GROUP.ITEM N             the trace has at least half of its N events, but not all
 *   // absent GROUP                 the group must not be traced
 *   // whole                        loops have no windows
 *   // gaps GROUP.ITEM LINE:KEPT:LEFT...   the gaps of the lane, by the line of the loop's body
 *   // tail GROUP.ITEM EVENT...     the last events of the lane, as in `lane`
 *   // most GROUP.ITEM N            the lane has at most N events
 * All forms of the text are run: that with functions of its own, that which calls native code, and that for GPUs, which contains some loops twice.
 * Where there are boxes, the last one runs all traced boxes as one launch.
 * --print prints all events. Exits 1 if events differ, if the buffer differs from that of the original kernel, or if the counters
 * differ from those of the text that only counts.
 */
#include "common.h"

#include "models/trace/read.h"
#include "runtime/format/counters.h"
#include "runtime/format/native.h"
#include "runtime/format/traces.h"
#include "runtime/guest/support/trace_columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME(name) #name,
static const char *const site_kinds[] = {TRACE_SITE_KINDS(NAME)}, *const spaces[] = {CODE_SPACES(NAME)};
#undef NAME

enum { MOST_ROWS = 1024, MOST_WORDS = 1 << 17, MOST_ARGUMENTS = 8 };

struct block_row {
	char kind[16];
	unsigned line;
};

static struct {
	struct block_row blocks[MOST_ROWS];
	struct trace_site sites[MOST_ROWS];
	unsigned block_count, site_count;
} tables;

struct launch {
	const struct source *source;
	const struct gs_pack *result;
	char kernel[64];
	size_t global, local;
	unsigned chunks, every[2];
	bool by_item, whole, native, runs;
};

static int failures;

static unsigned find_name(const char *const *names, size_t count, const char *name)
{
	for (unsigned i = 0; i < count; i++)
		if (!strcmp(names[i], name))
			return i;
	check(0, "a site of an unknown kind");
	return 0;
}

static void read_tables(const struct gs_pack *result)
{
	int skip;
	const char *at = gs_pack_text(result, "blocks");
	for (; *at; at += strcspn(at, "\n") + 1) {
		struct block_row *b = &tables.blocks[tables.block_count++];
		check(tables.block_count < MOST_ROWS && sscanf(at, "%*u %*u %*s %15s %u", b->kind, &b->line) == 2, "blocks");
	}
	for (at = gs_pack_text(result, "sites"); *at; at += strcspn(at, "\n") + 1) {
		struct trace_site *s = &tables.sites[tables.site_count++];
		char kind[16], space[16];
		check(tables.site_count < MOST_ROWS && sscanf(at, "%*u %*u %u %15s %15s %u %u %u%n", &s->block, kind, space,
		                                             &s->bytes, &s->line, &s->column, &skip) == 6, "sites");
		s->kind = (uint8_t)find_name(site_kinds, TRACE_SITE_KIND_COUNT, kind);
		s->space = (uint8_t)find_name(spaces, CODE_SPACE_COUNT, space);
	}
}

/* ---- running ---- */

static unsigned number_in(const char *source, const char *key, unsigned otherwise)
{
	const char *at = strstr(source, key);
	return at ? (unsigned)strtoul(at + strlen(key), NULL, 10) : otherwise;
}

/* Of the trace buffer. Columns need more of them than chunks do. */
static size_t words_of(const struct launch *l)
{
	return TRACE_HEADER_WORDS + (size_t)l->chunks * (l->native ? 1 : 4) * TRACE_CHUNK_BYTES / 8;
}

/* Runs one of the two twins on a box. 0 groups: the whole launch. runs: a list of runs, of so many groups together. */
static void run_box(const struct launch *l, cl_kernel kernel, bool traced, size_t first, size_t groups, const cl_ulong16 *runs,
                    const cl_mem *mems)
{
	cl_ulong sizes[2] = {l->global / l->local, l->global};
	cl_ulong16 box = {{0}};
	if (runs)
		box = *runs;
	size_t offset = first * l->local, global = groups ? groups * l->local : l->global;
	cl_uint next = set_arguments(kernel, l->source->all.data);
	check(!clSetKernelArg(kernel, 0, sizeof mems[0], &mems[0]) && !clSetKernelArg(kernel, next++, sizeof mems[1], &mems[1]),
	      "buffers");
	for (int i = 0; i < 2 && l->by_item; i++)
		check(!clSetKernelArg(kernel, next++, sizeof sizes[i], &sizes[i]), "sizes");
	if (groups && !runs)
		box.s[BOX_FIRST_X] = first;
	if (groups)
		box.s[BOX_OTHERS_X] = l->global / l->local - groups;
	box.s[BOX_COLUMNS] = l->global | trace_column_room(words_of(l), l->global) << 32;
	box.s[BOX_COLUMN] = first * l->local;
	box.s[BOX_CHUNKS] = l->chunks;
	if (!runs) {
		box.s[BOX_TRACED_OF] = l->every[0];
		box.s[BOX_TRACED_BELOW] = l->every[1];
	}
	box.s[BOX_TRACED_WHOLE] = l->whole;
	check(!clSetKernelArg(kernel, next++, sizeof box, &box), "the box");
	if (traced)
		check(!clSetKernelArg(kernel, next, sizeof mems[2], &mems[2]), "the trace buffer");
	check(!clEnqueueNDRangeKernel(queue, kernel, 1, &offset, &global, &l->local, 0, NULL, NULL), "launching");
}

static cl_kernel build_twin(const struct launch *l, const char *section)
{
	const char *texts[MOST_UNITS];
	size_t count = texts_of(l->result, section, texts);
	check(count > 0, "no such text");
	char options[256];
	snprintf(options, sizeof options, "%s%s", gs_pack_text(l->result, "host-options"), l->native ? " -D" NATIVE_MACRO "=1" : "");
	return build(texts, count, options, l->kernel);
}

static void fetch(cl_mem m, void *to, size_t bytes)
{
	check(!clEnqueueReadBuffer(queue, m, CL_TRUE, 0, bytes, to, 0, NULL, NULL), "reading");
}

struct outcome {
	int ints[INTS];
	cl_ulong counters[MOST_WORDS];
	cl_ulong *words;
	size_t word_count;
};

/* Makes of columns what native functions write. */
static void use_chunks(struct outcome *o)
{
	size_t chunks;
	cl_ulong *made = (cl_ulong *)columns_to_chunks((uint64_t *)o->words, o->word_count, tables.block_count, tables.site_count, &chunks);
	check(made != NULL, "columns");
	free(o->words);
	o->words = made;
	o->word_count = TRACE_HEADER_WORDS + chunks * TRACE_CHUNK_BYTES / 8;
}

/* Runs the whole launch with the counting text, or the boxes that the file names. */
static void run_twins(const struct launch *l, bool traced, struct outcome *o)
{
	cl_mem mems[3];
	for (int i = 0; i < INTS; i++)
		o->ints[i] = i;
	memset(o->counters, 0, sizeof o->counters);
	o->counters[COUNTER_SLOTS] = l->global / l->local;
	o->word_count = words_of(l);
	o->words = calloc(o->word_count, 8);
	mems[0] = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof o->ints, o->ints, NULL);
	mems[1] = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof o->counters, o->counters, NULL);
	mems[2] = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, o->word_count * 8, o->words, NULL);
	const char *boxes = traced ? strstr(l->source->all.data, "// box ") : NULL;
	cl_kernel counting = build_twin(l, "host"), tracing = traced ? build_twin(l, "traced") : NULL;
	if (!boxes)
		run_box(l, traced ? tracing : counting, traced, 0, 0, NULL, mems);
	static const enum box_slot slots[] = {BOX_RUN_0, BOX_RUN_1, BOX_RUN_2, BOX_RUN_3, BOX_RUN_4, BOX_RUN_5, BOX_RUN_6, BOX_RUN_7};
	cl_ulong16 runs = {{0}};
	size_t together = 0;
	for (size_t first, groups; boxes; boxes = strstr(boxes + 1, "// box ")) {
		char how[16];
		check(sscanf(boxes, "// box %zu %zu %15s", &first, &groups, how) == 3, "a box line");
		bool trace = !strcmp(how, "traced");
		if (trace && l->runs) {
			check(runs.s[BOX_RUNS] < BOX_MOST_RUNS, "too many boxes");
			runs.s[slots[runs.s[BOX_RUNS]++]] = first << BOX_RUN_BITS | groups;
			together += groups;
		} else {
			run_box(l, trace ? tracing : counting, trace, first, groups, NULL, mems);
		}
	}
	if (together)
		run_box(l, tracing, true, 0, together, &runs, mems);
	fetch(mems[0], o->ints, sizeof o->ints);
	fetch(mems[1], o->counters, sizeof o->counters);
	fetch(mems[2], o->words, o->word_count * 8);
	if (o->words[TRACE_COLUMNS_WORD])
		use_chunks(o);
}

static void run_original(const struct launch *l, int *ints)
{
	const char *texts[MOST_UNITS];
	for (size_t i = 0; i < l->source->unit_count; i++)
		texts[i] = l->source->units[i].data;
	for (int i = 0; i < INTS; i++)
		ints[i] = i;
	cl_kernel kernel = build(texts, l->source->unit_count, l->source->options, l->kernel);
	set_arguments(kernel, l->source->all.data);
	cl_mem p = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, INTS * sizeof *ints, ints, NULL);
	check(!clSetKernelArg(kernel, 0, sizeof p, &p) &&
	      !clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &l->global, &l->local, 0, NULL, NULL), "running");
	fetch(p, ints, INTS * sizeof *ints);
}

/* ---- events ---- */

static void write_event(const struct trace_event *e, struct gs_buf *out)
{
	if (!(e->what & TRACE_ACCESS)) {
		gs_buf_printf(out, " %u:%s", tables.blocks[e->what].line, tables.blocks[e->what].kind);
		return;
	}
	const struct trace_site *s = &tables.sites[e->what & ~TRACE_ACCESS];
	gs_buf_printf(out, " %u:%s:", s->line, site_kinds[s->kind]);
	if (s->space == SPACE_shared || s->space == SPACE_local)
		gs_buf_printf(out, "%c+%llu", s->space == SPACE_shared ? 's' : 'p', (unsigned long long)e->address);
	else if (e->address >> 39 == 1)
		gs_buf_printf(out, "c+%llu", (unsigned long long)(e->address & 0x7fffffffff));
	else if (e->address >> 40 && e->address >> 40 <= MOST_ARGUMENTS)
		gs_buf_printf(out, "a%u+%llu", (unsigned)(e->address >> 40) - 1, (unsigned long long)(e->address & 0xffffffffff));
	else
		gs_buf_puts(out, "?");
	gs_buf_printf(out, ":%u", e->bytes);
}

static void write_lane(const struct lane_trace *l, struct gs_buf *out)
{
	for (size_t i = 0; i < l->count; i++)
		write_event(&l->events[i], out);
	if (l->cut)
		gs_buf_puts(out, " cut");
}

static const struct traced_group *find_group(const struct launch_trace *t, unsigned long group)
{
	for (size_t i = 0; i < t->group_count; i++)
		if (t->groups[i].group == group)
			return &t->groups[i];
	return NULL;
}

/* The rest of a comment, with the lines that continue it. */
static void read_expected(const char *at, struct gs_buf *out)
{
	for (;;) {
		size_t length = strcspn(at, "\n");
		bool more = length && at[length - 1] == '\\';
		for (const char *c = at; c < at + length - more; c++)
			if (*c != ' ' || (out->len && out->data[out->len - 1] != ' '))
				gs_buf_add(out, c, 1);
		at += length + 1;
		if (!more || strncmp(at, "//", 2))
			break;
		at += 2;
	}
	while (out->len && out->data[out->len - 1] == ' ')
		out->data[--out->len] = 0;
}

static void compare_lane(const struct launch_trace *t, const char *line)
{
	unsigned long group, lane;
	int skip = 0;
	struct gs_buf expected = {0}, got = {0};
	check(sscanf(line, "// lane %lu.%lu%n", &group, &lane, &skip) == 2, "a lane line");
	read_expected(line + skip, &expected);
	const struct traced_group *g = find_group(t, group);
	if (g && lane < g->lane_count)
		write_lane(&g->lanes[lane], &got);
	if (!got.data || !expected.data || strcmp(got.data + 1, expected.data)) {
		failures++;
		printf("FAILED: lane %lu.%lu\n  %s\ninstead of\n  %s\n", group, lane, got.data ? got.data + 1 : "nothing",
		       expected.data ? expected.data : "");
	}
	gs_buf_free(&expected);
	gs_buf_free(&got);
}

/* Checks that some of the events are there, and that the trace says that there were more. */
static void compare_cut(const struct launch_trace *t, const char *line)
{
	unsigned long group, lane, count;
	check(sscanf(line, "// cut %lu.%lu %lu", &group, &lane, &count) == 3, "a cut line");
	const struct traced_group *g = find_group(t, group);
	const struct lane_trace *l = g && lane < g->lane_count ? &g->lanes[lane] : NULL;
	if ((!l || !l->cut || l->count < count / 2 || l->count >= count) && ++failures)
		printf("FAILED: lane %lu.%lu has %zu events%s\n", group, lane, l ? l->count : 0, l && l->cut ? ", cut" : "");
}

static const struct lane_trace *find_lane(const struct launch_trace *t, const char *line, int *skip)
{
	unsigned long group, lane;
	check(sscanf(line, "// %*s %lu.%lu%n", &group, &lane, skip) == 2, "a line of a lane");
	const struct traced_group *g = find_group(t, group);
	check(g && lane < g->lane_count, "no such lane");
	return &g->lanes[lane];
}

static void compare_texts(const char *line, const char *got, const char *expected)
{
	if (strcmp(got, expected) && ++failures)
		printf("FAILED: %.16s\n  %s\ninstead of\n  %s\n", line, got, expected);
}

static void compare_gaps(const struct launch_trace *t, const char *line)
{
	int skip = 0;
	struct gs_buf expected = {0}, got = {0};
	const struct lane_trace *l = find_lane(t, line, &skip);
	read_expected(line + skip, &expected);
	for (size_t i = 0; i < l->gap_count; i++)
		gs_buf_printf(&got, " %u:%u:%llu", tables.blocks[l->gaps[i].body].line, l->gaps[i].kept,
		              (unsigned long long)l->gaps[i].iterations);
	compare_texts(line, got.data ? got.data + 1 : "", expected.data ? expected.data : "");
	gs_buf_free(&expected);
	gs_buf_free(&got);
}

static void compare_tail(const struct launch_trace *t, const char *line)
{
	int skip = 0;
	struct gs_buf expected = {0}, got = {0};
	const struct lane_trace *l = find_lane(t, line, &skip);
	read_expected(line + skip, &expected);
	write_lane(l, &got);
	const char *tail = got.len > expected.len ? got.data + got.len - expected.len : "";
	compare_texts(line, tail, expected.data ? expected.data : "");
	gs_buf_free(&expected);
	gs_buf_free(&got);
}

static void compare_most(const struct launch_trace *t, const char *line)
{
	int skip = 0;
	const struct lane_trace *l = find_lane(t, line, &skip);
	if ((l->cut || l->count > strtoul(line + skip, NULL, 10)) && ++failures)
		printf("FAILED: %.16s: %zu events%s\n", line, l->count, l->cut ? ", cut" : "");
}

static void print_all(const struct launch_trace *t)
{
	for (size_t i = 0; i < t->group_count; i++)
		for (uint32_t j = 0; j < t->groups[i].lane_count; j++) {
			struct gs_buf text = {0};
			write_lane(&t->groups[i].lanes[j], &text);
			printf("// lane %llu.%u%s\n", (unsigned long long)t->groups[i].group, j, text.data ? text.data : "");
			gs_buf_free(&text);
		}
	printf("%llu bytes, %llu accesses\n", (unsigned long long)t->size_bytes, (unsigned long long)t->accesses);
}

static void compare(const struct launch *l, const struct outcome *o, bool print)
{
	uint64_t bytes[MOST_ARGUMENTS];
	struct launch_trace *t = NULL;
	struct gs_error err;
	for (int i = 0; i < MOST_ARGUMENTS; i++)
		bytes[i] = INTS * sizeof(int);
	struct trace_layout layout = {.sites = tables.sites, .site_count = tables.site_count, .block_count = tables.block_count,
	                              .local = {(uint32_t)l->local, 1, 1}, .groups = {l->global / l->local, 1, 1},
	                              .argument_bytes = bytes, .argument_count = MOST_ARGUMENTS};
	check(!trace_read(o->words, o->word_count, &layout, &t, &err), "reading the trace");
	if (print)
		print_all(t);
	printf("%s:\n", l->native ? "native" : l->source->atomic ? "text for GPUs" : "text");
	const char *source = l->source->all.data, *at = source;
	while ((at = strstr(at, "// lane ")))
		compare_lane(t, at++);
	for (at = source; (at = strstr(at, "// gaps ")); at++)
		compare_gaps(t, at);
	for (at = source; (at = strstr(at, "// tail ")); at++)
		compare_tail(t, at);
	for (at = source; (at = strstr(at, "// most ")); at++)
		compare_most(t, at);
	for (at = source; (at = strstr(at, "// cut ")); at++)
		compare_cut(t, at);
	for (at = source; (at = strstr(at, "// absent ")); at++)
		if (find_group(t, strtoul(at + 10, NULL, 10)) && ++failures)
			printf("FAILED: a group that is not to be traced was\n");
	trace_free(t);
}

int main(int argc, char **argv)
{
	static struct outcome counted, traced;
	struct source source = {0};
	struct gs_pack result = {0}, for_gpus = {0};
	struct launch l = {.source = &source, .result = &result};
	int ints[INTS];
	bool print = argc == 4 && !strcmp(argv[3], "--print");
	check(argc == 3 || print, "traces GPUSIM_CC FILE.cl [--print]");
	read_source(&source, argv[2]);
	annotate(argv[1], &source, &result);
	check(!gs_pack_find(&result, "failure"), gs_pack_text(&result, "failure"));
	const char *wanted = strstr(source.all.data, "// run "), *every = strstr(source.all.data, "// every ");
	check(wanted && sscanf(wanted, "// run %63s %zu %zu", l.kernel, &l.global, &l.local) == 3, "no run line");
	check(!every || sscanf(every, "// every %u %u", &l.every[0], &l.every[1]) == 2, "an every line");
	l.chunks = number_in(source.all.data, "// chunks ", 1000);
	l.whole = strstr(source.all.data, "// whole");
	l.by_item = !strcmp(gs_pack_text(&result, "layout"), "item");
	read_tables(&result);
	open_device();
	run_original(&l, ints);
	run_twins(&l, false, &counted);
	check(!memcmp(ints, counted.ints, sizeof ints), "another result of the counting text");
	for (int form = 0; form < 3; form++) {
		l.native = form == 1;
		if (form == 2) {
			source.atomic = l.runs = true;
			annotate(argv[1], &source, &for_gpus);
			l.result = &for_gpus;
		}
		run_twins(&l, true, &traced);
		check(!memcmp(ints, traced.ints, sizeof ints), "another result of the traced text");
		check(!memcmp(counted.counters, traced.counters, sizeof counted.counters), "other counts in the traced text");
		compare(&l, &traced, print);
	}
	fflush(stdout);
	_exit(failures ? 1 : 0);
}
