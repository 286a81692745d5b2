/* The table of rules, and what they share. */
#include "runtime/advice/rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct advice_rule advice_rules[] = {
	{"coalescing", "let neighbouring work-items access neighbouring addresses", advise_coalescing},
	{"bank-conflicts", "pad the rows of the local array by one element, or let neighbouring work-items access neighbouring elements", advise_conflicts},
	{"atomics", "add up within the group first, in local memory, and let one work-item of it do the atomic", advise_atomics},
	{"vector-loads", "load them as one vector (float4, vload4)", advise_vectors},
	{"divergence", "let work-items of one warp, 32 in a row, take the same way", advise_divergence},
	{"occupancy", "", advise_occupancy},
	{"double-precision", "compute in single precision where that is exact enough", advise_doubles},
	{"instructions", "", advise_instructions},
	{"groups", "divide the work into more groups, so that all SMs are busy to the end", advise_groups},
};
const size_t advice_rule_count = GS_ARRAY_LEN(advice_rules);

/* Without the folder: reports are about a program that its user knows. */
static void name_file(const struct kernel_code *code, uint16_t file, char *out, size_t room)
{
	const char *name = file < code->file_count ? code->strings + code->files[file] : "";
	const char *base = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
	snprintf(out, room, "%s", base);
}

void advice_place(const struct advice_case *c, const struct advice_line *line, struct advice_trial *t)
{
	t->change.line = t->advice.line = line->line;
	t->change.file = line->file;
	name_file(c->launch->code, line->file, t->advice.file, sizeof t->advice.file);
}

struct advice_trial *advice_try(const struct advice_rule *rule, const struct advice_case *c, const struct advice_line *line,
                                enum warps_change_kind kind, struct advice_trials *out)
{
	if (out->count == ADVICE_TRIALS)
		return NULL;
	struct advice_trial *t = &out->list[out->count++];
	*t = (struct advice_trial){.change = {.kind = kind}, .share = 1, .work = 1, .advice = {.rule = rule->name, .remedy = rule->remedy}};
	if (line)
		advice_place(c, line, t);
	return t;
}

struct advice_trial *advice_try_gpu(const struct advice_rule *rule, const struct advice_case *c, struct advice_trials *out)
{
	struct gpu *gpu = malloc(sizeof *gpu);
	struct advice_trial *t = gpu ? advice_try(rule, c, NULL, CHANGE_none, out) : NULL;
	if (!t) {
		free(gpu);
		return NULL;
	}
	*gpu = *c->gpu;
	t->gpu = gpu;
	return t;
}
