/* Advice in the reports: as text and as JSON. */
#include "runtime/advice/advice.h"

#include "runtime/config/show.h"
#include "runtime/report/json.h"
#include "runtime/report/text.h"

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

static void text_advice_on(struct text *t, size_t target)
{
	enum { MOST_LINES = 5 };
	struct advice_of_run run;
	advice_of_run(t->sim, target, &run);
	for (size_t i = 0; i < run.count && (i < MOST_LINES || t->verbose); i++) {
		const struct ranked_advice *r = &run.list[i];
		struct gs_buf place = {0};
		char saved[SHOW_CELL];
		add_place(&place, r);
		text_line(t, 2, "advice%s%s: %s: %s; %s: saves about %.0f%% of %s, %s", t->sim->target_count > 1 ? " for " : "",
		          t->sim->target_count > 1 ? t->sim->targets[target].gpu.name : "", place.data ? place.data : "", r->advice->evidence,
		          r->advice->remedy, 100 * r->advice->saving, r->kernel ? "this kernel" : !strcmp(r->advice->rule, "copies") ? "kernels and copies" : "all kernels", show_time(saved, r->saving_ns));
		gs_buf_free(&place);
	}
	if (run.count > MOST_LINES && !t->verbose)
		text_line(t, 2, "advice: %zu more (GPUSIM_TEXT=verbose shows all)", run.count - MOST_LINES);
	free(run.list);
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
		json_end(b, "},");
	}
	free(run.list);
}

void json_advice(struct gs_buf *b, struct simulation *sim)
{
	gs_buf_puts(b, "\"advice\":[");
	for (size_t t = 0; t < sim->target_count; t++)
		json_advice_on(b, sim, t);
	json_end(b, "],\n");
}
