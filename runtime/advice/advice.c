/* Trials of a launch, and what they tell; see advice.h. */
#include "runtime/advice/advice.h"

#include "runtime/advice/program_rules.h"
#include "runtime/advice/rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- a launch ---- */

static int by_line(const void *a, const void *b)
{
	const struct advice_line *x = a, *y = b;
	return x->file != y->file ? (x->file < y->file ? -1 : 1) : x->line < y->line ? -1 : x->line > y->line;
}

static void add_survey(struct instruction_survey *to, const struct instruction_survey *from)
{
	to->executions += from->executions;
	to->lanes += from->lanes;
	to->requests += from->requests;
	to->sectors += from->sectors;
	to->sectors_needed += from->sectors_needed;
	to->repeated += from->repeated;
	to->operations += from->operations;
	to->turns += from->turns;
	to->turns_needed += from->turns_needed;
}

static size_t join_lines(struct advice_line *lines, size_t count)
{
	size_t n = 0;
	qsort(lines, count, sizeof *lines, by_line);
	for (size_t i = 0; i < count; i++) {
		if (n && !by_line(&lines[n - 1], &lines[i]))
			add_survey(&lines[n - 1].sum, &lines[i].sum);
		else
			lines[n++] = lines[i];
	}
	return n;
}

int advice_propose(const struct gpu *gpu, const struct launch_profile *launch, const struct estimate *estimate,
                   const struct launch_survey *survey, struct advice_trials *out)
{
	const struct kernel_code *code = launch->code;
	struct advice_case c = {.gpu = gpu, .launch = launch, .estimate = estimate, .survey = survey};
	*out = (struct advice_trials){0};
	c.lines = calloc(code->code_count + 1u, sizeof *c.lines);
	if (!c.lines)
		return -ENOMEM;
	for (uint32_t i = 0; i < code->code_count; i++)
		c.lines[i] = (struct advice_line){code->code[i].file, code->code[i].line, survey->instructions[i]};
	c.line_count = join_lines(c.lines, code->code_count);
	for (size_t i = 0; i < advice_rule_count; i++)
		advice_rules[i].find(&advice_rules[i], &c, out);
	free(c.lines);
	return 0;
}

static int most_first(const void *a, const void *b)
{
	const struct advice *x = a, *y = b;
	return x->saving != y->saving ? (x->saving < y->saving ? 1 : -1) : strcmp(x->rule, y->rule);
}

void advice_finish(const struct advice_trials *trials, double time_ns, struct advice_list *out)
{
	*out = (struct advice_list){.time_ns = time_ns};
	for (size_t i = 0; i < trials->count; i++) {
		const struct advice_trial *t = &trials->list[i];
		double saving = t->time_ns > 0 && time_ns > 0 ? t->share * (1 - t->time_ns / time_ns) : 0;
		if (saving < ADVICE_LEAST || out->count == ADVICE_MOST)
			continue;
		out->list[out->count] = t->advice;
		out->list[out->count++].saving = saving;
	}
	qsort(out->list, out->count, sizeof *out->list, most_first);
}

void advice_trials_free(struct advice_trials *trials)
{
	for (size_t i = 0; i < trials->count; i++)
		free(trials->list[i].gpu);
	trials->count = 0;
}

/* ---- a run ---- */

static int most_saved_first(const void *a, const void *b)
{
	const struct ranked_advice *x = a, *y = b;
	if (x->saving_ns != y->saving_ns)
		return x->saving_ns < y->saving_ns ? 1 : -1;
	return strcmp(x->kernel ? x->kernel->name : "", y->kernel ? y->kernel->name : "");
}

void advice_of_run(struct simulation *sim, size_t target, struct advice_of_run *out)
{
	size_t count = ADVICE_PROGRAM;
	*out = (struct advice_of_run){0};
	for (const struct kernel_stats *k = sim->stats.kernels; k; k = k->next)
		count += k->by_target[target].advice ? k->by_target[target].advice->count : 0;
	out->list = calloc(count + 1, sizeof *out->list);
	for (const struct kernel_stats *k = sim->stats.kernels; k && out->list; k = k->next) {
		const struct advice_list *l = k->by_target[target].advice;
		for (size_t i = 0; l && i < l->count; i++)
			out->list[out->count++] = (struct ranked_advice){&l->list[i], k, l->list[i].saving * k->by_target[target].total_ns};
	}
	double of_ns[ADVICE_PROGRAM];
	size_t program = out->list && sim->options.advice.number != ADVICE_NEVER ? advice_of_program(sim, target, out->program, of_ns) : 0;
	for (size_t i = 0; i < program; i++)
		out->list[out->count++] = (struct ranked_advice){&out->program[i], NULL, out->program[i].saving * of_ns[i]};
	if (out->list)
		qsort(out->list, out->count, sizeof *out->list, most_saved_first);
}
