/* What the lines of kernels' sources did. Sums over launches are kept per instruction; a report adds them up by line. */
#include "runtime/model/lines.h"

#include "runtime/model/simulation.h"

#include <stdlib.h>
#include <string.h>

bool lines_wanted(const struct simulation *sim)
{
	uint64_t formats = sim->options.report.number;
	return (formats & (REPORT_JSON | REPORT_HTML)) && !(formats & REPORT_NONE);
}

static struct kernel_lines *lines_for(struct kernel_lines **list, const struct launch_record *l)
{
	enum { MOST_PROGRAMS = 8 };
	struct kernel_lines **link = list;
	size_t count = 0;
	for (; *link; link = &(*link)->next, count++)
		if ((*link)->facts == l->facts)
			return *link;
	struct kernel_lines *lines = count < MOST_PROGRAMS ? calloc(1, sizeof *lines) : NULL;
	if (lines) {
		lines->artifact = l->artifact;
		lines->artifact->refs++;
		lines->facts = l->facts;
		*link = lines;
	}
	return lines;
}

static void add_target(struct kernel_lines *lines, const struct launch_result *r, size_t t)
{
	size_t count = r->launch->facts->code[r->sim->targets[t].arch]->code_count;
	if (!lines->sums[t] && !(lines->sums[t] = calloc(count + 1, sizeof *lines->sums[t])))
		return;
	for (size_t i = 0; i < count; i++) {
		lines->sums[t][i].threads += r->instructions[t][i].threads;
		lines->sums[t][i].warps += r->instructions[t][i].warps;
		lines->sums[t][i].transactions += r->instructions[t][i].transactions;
		lines->sums[t][i].requests += r->instructions[t][i].requests;
		lines->sums[t][i].sectors += r->instructions[t][i].sectors;
	}
	for (int k = 0; k < CYCLE_KIND_COUNT; k++)
		lines->by[t][k] += r->estimates[t].by[k];
}

void lines_add_launch(struct kernel_lines **list, const struct launch_result *r)
{
	struct kernel_lines *lines = lines_wanted(r->sim) ? lines_for(list, r->launch) : NULL;
	if (!lines)
		return;
	lines->launches++;
	for (size_t t = 0; t < r->sim->target_count; t++)
		if (r->estimated[t] && r->instructions[t])
			add_target(lines, r, t);
}

bool is_own_source(const char *file)
{
	return !strcmp(strncmp(file, "./", 2) ? file : file + 2, "program.cl") || !strcmp(file, "ptx"); /* of a CUDA module */
}

/* What the compiler or our prelude put in is of no line. */
static void place_of(const struct kernel_code *code, const struct code_instruction *i, struct line_sum *out)
{
	const char *file = i->line && i->file < code->file_count ? code->strings + code->files[i->file] : "";
	const char *base = strrchr(file, '/') ? strrchr(file, '/') + 1 : file;
	bool known = *file && strcmp(base, "prelude.cl");
	*out = (struct line_sum){.file = known ? file : "", .line = known ? i->line : 0};
}

static int by_place(const void *a, const void *b)
{
	const struct line_sum *x = a, *y = b;
	int files = strcmp(x->file, y->file);
	return files ? files : x->line < y->line ? -1 : x->line > y->line;
}

static size_t join_lines(struct line_sum *lines, size_t count)
{
	size_t n = 0;
	for (size_t i = 0; i < count; i++) {
		if (!n || by_place(&lines[n - 1], &lines[i])) {
			lines[n++] = lines[i];
			continue;
		}
		struct line_sum *l = &lines[n - 1];
		l->executions = lines[i].executions > l->executions ? lines[i].executions : l->executions;
		l->instructions += lines[i].instructions;
		l->warps += lines[i].warps;
		l->cycles += lines[i].cycles;
		l->transactions += lines[i].transactions;
		l->accesses_memory |= lines[i].accesses_memory;
		l->requests += lines[i].requests;
		l->sectors += lines[i].sectors;
		l->shared_requests += lines[i].shared_requests;
		l->bank_conflicts += lines[i].bank_conflicts;
		for (int k = 0; k < CYCLE_KIND_COUNT; k++)
			l->by[k] += lines[i].by[k];
	}
	return n;
}

static void add_memory(const struct gpu *gpu, const struct code_instruction *in, const struct instruction_count *n, struct line_sum *l)
{
	l->transactions = in->space == SPACE_param ? 0 : n->transactions;
	l->accesses_memory = l->transactions > 0;
	l->requests = n->requests;
	l->sectors = n->sectors;
	if (in->space == SPACE_shared && code_has_accesses(in->class)) {
		double conflicts = n->transactions - n->warps * shared_turns_needed(gpu, in);
		l->shared_requests = n->warps;
		l->bank_conflicts = conflicts > 0 ? conflicts : 0; /* with some lanes off, fewer turns may do */
	}
}

/* `cycles` is room for a number per instruction. */
static void add_cycles(const struct gpu *gpu, const struct kernel_code *code, const struct instruction_count *sums,
                       const double by[CYCLE_KIND_COUNT], double *cycles, struct line_sum *lines)
{
	for (int k = 0; k < CYCLE_KIND_COUNT; k++) {
		if (!(by[k] > 0))
			continue;
		memset(cycles, 0, code->code_count * sizeof *cycles);
		attribute_kind(gpu, code, sums, (enum cycle_kind)k, by[k], cycles);
		for (size_t i = 0; i < code->code_count; i++) {
			lines[i].by[k] = cycles[i];
			lines[i].cycles += cycles[i];
		}
	}
}

struct line_sum *lines_of(const struct simulation *sim, const struct kernel_lines *l, size_t target, size_t *count)
{
	const struct gpu *gpu = &sim->targets[target].gpu;
	const struct kernel_code *code = l->facts->code[sim->targets[target].arch];
	const struct instruction_count *sums = l->sums[target];
	size_t instructions = code && sums ? code->code_count : 0;
	struct line_sum *lines = calloc(instructions + 1, sizeof *lines);
	double *cycles = calloc(instructions + 1, sizeof *cycles);
	*count = 0;
	if (lines && cycles && instructions) {
		for (size_t i = 0; i < instructions; i++) {
			place_of(code, &code->code[i], &lines[i]);
			lines[i].executions = lines[i].instructions = sums[i].threads;
			lines[i].warps = sums[i].warps;
			add_memory(gpu, &code->code[i], &sums[i], &lines[i]);
		}
		add_cycles(gpu, code, sums, l->by[target], cycles, lines);
		qsort(lines, instructions, sizeof *lines, by_place);
		*count = join_lines(lines, instructions);
	}
	free(cycles);
	return lines;
}
