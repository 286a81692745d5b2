/* Advice in the reports: as text and as JSON. */
#include "runtime/advice/advice.h"

#include "runtime/config/show.h"
#include "runtime/report/json.h"
#include "runtime/report/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_place(struct gs_buf *b, const struct ranked_advice *r)
{
	if (r->kernel)
		show_name(b, r->kernel->name, 40);
	else
		gs_buf_puts(b, "the program");
	if (r->advice->line)
		gs_buf_printf(b, ", %s:%u", r->advice->file, (unsigned)r->advice->line);
}

/* The part of the run's time that a kernel takes of which nothing could be tried; 0: it was, or it is not worth a word. */
static double untried_share(const struct simulation *sim, const struct kernel_stats *k, size_t target)
{
	static const double least = 0.05;
	const struct target_stats *s = &k->by_target[target];
	double all = kernels_total_ns(&sim->stats, target), share = all > 0 ? s->total_ns / all : 0;
	return !s->advice && s->untried_s > 0 && share >= least ? share : 0;
}

static void text_untried(struct text *t, const struct kernel_stats *k, size_t target)
{
	struct gs_buf name = {0};
	show_name(&name, k->name, 40);
	text_line(t, 2, "no advice%s%s for %s (%.0f%% of the time): its trials would take about %.0f s; GPUSIM_ADVICE=always makes them",
	          t->sim->target_count > 1 ? " on " : "", t->sim->target_count > 1 ? t->sim->targets[target].gpu.name : "", name.data ? name.data : "",
	          100 * untried_share(t->sim, k, target), ceil(k->by_target[target].untried_s));
	gs_buf_free(&name);
}

static double tried_part(const struct ranked_advice *r, size_t target)
{
	return r->kernel && r->kernel->by_target[target].advice ? r->kernel->by_target[target].advice->part : 0;
}

static void text_advice_on(struct text *t, size_t target)
{
	enum { MOST_LINES = 5 };
	struct advice_of_run run;
	advice_of_run(t->sim, target, &run);
	for (size_t i = 0; i < run.count && (i < MOST_LINES || t->verbose); i++) {
		const struct ranked_advice *r = &run.list[i];
		struct gs_buf place = {0};
		char saved[SHOW_CELL], part[64] = "";
		add_place(&place, r);
		if (tried_part(r, target) > 0)
			snprintf(part, sizeof part, " (tried with %.2g%% of its groups)", 100 * tried_part(r, target));
		text_line(t, 2, "advice%s%s: %s: %s; %s: saves about %.0f%% of %s, %s%s", t->sim->target_count > 1 ? " for " : "",
		          t->sim->target_count > 1 ? t->sim->targets[target].gpu.name : "", place.data ? place.data : "", r->advice->evidence,
		          r->advice->remedy, 100 * r->advice->saving, r->kernel ? "this kernel" : !strcmp(r->advice->rule, "copies") ? "kernels and copies" : "all kernels", show_time(saved, r->saving_ns), part);
		gs_buf_free(&place);
	}
	if (run.count > MOST_LINES && !t->verbose)
		text_line(t, 2, "advice: %zu more (GPUSIM_TEXT=verbose shows all)", run.count - MOST_LINES);
	free(run.list);
	for (const struct kernel_stats *k = t->sim->stats.kernels; k; k = k->next)
		if (untried_share(t->sim, k, target) > 0)
			text_untried(t, k, target);
}

void text_advice(struct text *t)
{
	for (size_t g = 0; g < t->sim->target_count; g++)
		text_advice_on(t, g);
}

static void json_advice_on(struct gs_buf *b, struct simulation *sim, size_t target)
{
	struct advice_of_run run;
	advice_of_run(sim, target, &run);
	for (size_t i = 0; i < run.count; i++) {
		const struct ranked_advice *r = &run.list[i];
		gs_buf_puts(b, "{");
		json_add_string(b, "target", sim->targets[target].gpu.name);
		if (r->kernel)
			json_add_string(b, "kernel", r->kernel->name);
		else
			gs_buf_puts(b, "\"kernel\":null,");
		json_add_string(b, "rule", r->advice->rule);
		json_add_string(b, "file", r->advice->file);
		json_add_count(b, "line", r->advice->line);
		json_add_string(b, "evidence", r->advice->evidence);
		json_add_string(b, "remedy", r->advice->remedy);
		json_add_number(b, "saving", r->advice->saving);
		json_add_number(b, "saving_ns", r->saving_ns);
		json_add_number(b, "tried_with", tried_part(r, target) > 0 ? tried_part(r, target) : 1);
		json_end(b, "},");
	}
	free(run.list);
}

static void json_untried_on(struct gs_buf *b, const struct simulation *sim, size_t target)
{
	for (const struct kernel_stats *k = sim->stats.kernels; k; k = k->next) {
		double share = untried_share(sim, k, target);
		if (share <= 0)
			continue;
		gs_buf_puts(b, "{");
		json_add_string(b, "target", sim->targets[target].gpu.name);
		json_add_string(b, "kernel", k->name);
		json_add_number(b, "share", share);
		json_add_number(b, "seconds", k->by_target[target].untried_s);
		json_end(b, "},");
	}
}

void json_advice(struct gs_buf *b, struct simulation *sim)
{
	gs_buf_puts(b, "\"advice\":[");
	for (size_t t = 0; t < sim->target_count; t++)
		json_advice_on(b, sim, t);
	json_end(b, "],\n");
	gs_buf_puts(b, "\"no_advice\":[");
	for (size_t t = 0; t < sim->target_count; t++)
		json_untried_on(b, sim, t);
	json_end(b, "],\n");
}
