/* Rules about what warps execute. */
#include "runtime/advice/rules.h"

#include "models/code/costs.h"

#include <stdio.h>
#include <string.h>

/* The line after whose branches lanes of a warp most often went different ways. */
RULE(divergence)
{
	const struct line_divergence *d = &c->estimate->divergence[0];
	if (c->survey->lane_efficiency > 0.9 || d->divergent <= 0)
		return;
	struct advice_line line = {.file = d->file, .line = d->line};
	struct advice_trial *t = advice_try(rule, c, d->line ? &line : NULL, CHANGE_lanes, out);
	if (!t)
		return;
	t->change.line = 0; /* what it leads to is elsewhere */
	snprintf(t->advice.evidence, sizeof t->advice.evidence, "%.0f%% of the lanes are on; after %.0f%% of its branches lanes go different ways",
	         100 * c->survey->lane_efficiency, 100 * d->divergent / d->executions);
}

static double share_of(const struct estimate *e, const enum cycle_kind *kinds, size_t count)
{
	double sum = 0;
	for (size_t i = 0; i < count; i++)
		sum += e->by[kinds[i]];
	return e->cycles > 0 ? sum / e->cycles : 0;
}

/* Units for doubles as there are for floats, as fast. */
RULE(doubles)
{
	static const enum cycle_kind kinds[] = {CYCLES_unit_fp64, CYCLES_dependency};
	double doubles = 0, all = 0;
	for (uint32_t i = 0; i < c->launch->code->code_count; i++) {
		uint8_t class = c->launch->code->code[i].class;
		double n = c->survey->instructions[i].executions;
		all += n;
		doubles += class == CODE_fp64 || class == CODE_fp64_fma || class == CODE_fp64_minmax || class == CODE_fp64_div ? n : 0;
	}
	if (doubles < 0.05 * all || share_of(c->estimate, kinds, GS_ARRAY_LEN(kinds)) < ADVICE_LEAST)
		return;
	struct advice_trial *t = advice_try_gpu(rule, c, out);
	if (!t)
		return;
	t->gpu->fp64_units = t->gpu->fp32_units;
	t->gpu->fp64_latency = t->gpu->fp32_latency;
	t->gpu->fp64_initiation = t->gpu->fp32_initiation;
	t->gpu->fp64_fma_latency = t->gpu->fp32_fma_latency;
	t->gpu->fp64_fma_initiation = t->gpu->fp32_fma_initiation;
	t->gpu->fp64_fma_unit = t->gpu->fp32_fma_unit;
	snprintf(t->advice.evidence, sizeof t->advice.evidence, "%.0f%% of the instructions are of double precision", 100 * doubles / all);
}

/* What a line computes; executions. */
struct computing {
	double all;       /* without accesses to memory */
	double divisions; /* of integers, by a number that the compiler does not know: each is some twenty instructions of the chip */
	double library;   /* of functions such as sin, and divisions of floats, of which there are shorter ones */
};

static struct computing computing_of(const struct advice_case *c, const struct advice_line *line)
{
	struct computing sum = {0};
	for (uint32_t i = 0; i < c->launch->code->code_count; i++) {
		const struct code_instruction *in = &c->launch->code->code[i];
		double n = code_is_memory(in->class) ? 0 : c->survey->instructions[i].executions;
		if (line && (in->file != line->file || in->line != line->line))
			continue;
		sum.all += n;
		sum.divisions += in->class == CODE_int_div ? n : 0;
		sum.library += in->class == CODE_fp32_div || (in->flags & (CODE_EXPANDED | CODE_GUARDED)) == CODE_EXPANDED ? n : 0;
	}
	return sum;
}

/* What the line could do with fewer instructions. NULL: nothing that is known. */
static const char *cheaper_way(const struct computing *line, char *what, size_t size)
{
	static const double least = 0.05; /* of the line's instructions of PTX; a division of integers is more of the chip's */
	if (line->divisions >= least * line->all) {
		snprintf(what, size, "which divides integers");
		return "divide by a number that the compiler knows, by a power of 2 with a shift or a mask, or once before the loop";
	}
	if (line->library >= least * line->all) {
		snprintf(what, size, "which divides floats or calls functions of the library");
		return "use native_divide, native_sin and the like where these are exact enough, or compute it once before the loop";
	}
	return NULL;
}

/* Twice as many schedulers and units: what half of the instructions would save, and the line's part of that. Only of a line that can do
 * with fewer: a kernel that computes what it must is not blamed for it. */
RULE(instructions)
{
	static const enum cycle_kind kinds[] = {CYCLES_issue, CYCLES_unit_fp32, CYCLES_unit_int, CYCLES_unit_sfu, CYCLES_fetch};
	const struct advice_line *hottest = NULL;
	struct computing line = {0}, kernel = computing_of(c, NULL);
	char what[64];
	if (share_of(c->estimate, kinds, GS_ARRAY_LEN(kinds)) < 0.5)
		return;
	for (size_t i = 0; i < c->line_count; i++) {
		struct computing own = c->lines[i].line ? computing_of(c, &c->lines[i]) : (struct computing){0};
		if (own.all > line.all) {
			line = own;
			hottest = &c->lines[i];
		}
	}
	double most = kernel.all > 0 ? line.all / kernel.all : 0;
	const char *remedy = most > 0.5 ? cheaper_way(&line, what, sizeof what) : NULL;
	struct advice_trial *t = remedy ? advice_try_gpu(rule, c, out) : NULL;
	if (!t)
		return;
	advice_place(c, hottest, t);
	t->change.line = 0;
	t->share = most;
	t->advice.remedy = remedy;
	t->gpu->schedulers_per_sm *= 2;
	t->gpu->fetches_per_cycle *= 2;
	t->gpu->fp32_units *= 2;
	t->gpu->int_units *= 2;
	t->gpu->sfu_units *= 2;
	t->gpu->fp64_units *= 2;
	t->gpu->register_banks *= 2;
	t->gpu->operand_collectors *= 2;
	t->gpu->result_buses *= 2;
	snprintf(t->advice.evidence, sizeof t->advice.evidence, "the SMs are busy with instructions, %.0f%% of them of this line, %s; half as many",
	         100 * most, what);
}
