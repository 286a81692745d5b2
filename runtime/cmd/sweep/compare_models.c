/*
 * gpusim compare-models: the times that the models give for the kernels of one profile, side by side. It is a sweep whose configurations
 * differ in the model alone.
 */
#include "runtime/cmd/cmd.h"
#include "runtime/cmd/doc.h"
#include "runtime/cmd/sweep/only.h"
#include "runtime/cmd/sweep/sweep.h"
#include "runtime/config/gpus.h"
#include "runtime/config/show.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* From the simplest to the most thorough, which the others are compared with. */
static const struct compared_model {
	const char *name, *model, *memory; /* memory: NULL: as the user has it */
} models[] = {
	{"optimistic", "optimistic", NULL},   /* units and latencies, no conflicts */
	{"probabilistic", "probabilistic", NULL}, /* with conflicts of banks, by chance */
	{"occupancy", "occupancy", NULL},     /* warps on an SM, cycle by cycle */
	{"perfect", "full", "perfect"},       /* all of these from each other; every access a hit */
	{"full", "full", NULL},               /* and the memory behind L1 */
};
enum { MODELS = GS_ARRAY_LEN(models), LAST = MODELS - 1 };

enum form { FORM_TEXT, FORM_CSV, FORM_JSON };

static void choose_options(size_t configuration, struct gs_options *options)
{
	struct gs_error err;
	options_set(options, options_find("MODEL"), "", models[configuration].model, &err);
	if (models[configuration].memory)
		options_set(options, options_find("MEMORY"), "", models[configuration].memory, &err);
}

/* ---- results ---- */

static void print_row(const struct sweep *s, const char *kernel)
{
	struct gs_buf name = {0};
	show_name(&name, kernel ? kernel : "all kernels", 24);
	printf("%-24s", name.data ? name.data : "");
	for (size_t m = 0; m < MODELS; m++) {
		char cell[SHOW_CELL];
		double ns = sweep_time_of(s, m, kernel), full = sweep_time_of(s, LAST, kernel);
		printf(" %9s", isnan(ns) ? "-" : show_time(cell, ns));
		if (m < LAST && full > 0 && !isnan(ns))
			printf(" %+5.0f%%", 100 * (ns / full - 1) + 0.0);
		else if (m < LAST)
			printf(" %6s", "");
	}
	putchar('\n');
	gs_buf_free(&name);
}

static void print_text(const struct sweep *s)
{
	struct sweep_kernel k;
	const char *line = s->results[LAST].by_kernel;
	printf("%s on %s: times by each model, and how far they are from the full one's\n%-24s", s->profile, s->gpu, "kernel");
	for (size_t m = 0; m < MODELS; m++)
		printf(m < LAST ? " %16s" : " %9s", models[m].name);
	putchar('\n');
	while (sweep_next_kernel(&line, &k))
		print_row(s, k.name);
	print_row(s, NULL);
}

static void print_csv(const struct sweep *s)
{
	struct sweep_kernel k;
	const char *line = s->results[LAST].by_kernel;
	fputs("kernel", stdout);
	for (size_t m = 0; m < MODELS; m++)
		printf(",%s_ns", models[m].name);
	for (bool more = true; more;) {
		more = sweep_next_kernel(&line, &k);
		struct gs_buf name = {0};
		sweep_csv_name(&name, more ? k.name : "*");
		printf("\n%s", name.data ? name.data : "");
		gs_buf_free(&name);
		for (size_t m = 0; m < MODELS; m++) {
			double ns = sweep_time_of(s, m, more ? k.name : NULL);
			printf(isnan(ns) ? "," : ",%.10g", ns);
		}
	}
	putchar('\n');
}

static json_t *row_of(const struct sweep *s, const char *kernel)
{
	json_t *times = json_object();
	for (size_t m = 0; m < MODELS; m++) {
		double ns = sweep_time_of(s, m, kernel);
		json_object_set_new(times, models[m].name, isnan(ns) ? json_null() : json_real(ns));
	}
	return json_pack("{s:s?,s:o}", "kernel", kernel, "time_ns", times);
}

static int print_json(const struct sweep *s)
{
	struct sweep_kernel k;
	const char *line = s->results[LAST].by_kernel;
	json_t *kernels = json_array();
	while (sweep_next_kernel(&line, &k))
		json_array_append_new(kernels, row_of(s, k.name));
	json_array_append_new(kernels, row_of(s, NULL));
	json_t *all = json_pack("{s:s,s:s,s:s,s:o}", "schema", "gpusim.models/1", "profile", s->profile, "target", s->gpu, "kernels", kernels);
	return sweep_print_json(all, "compare-models");
}

/* ---- the command ---- */

static int run_all(struct sweep *s, enum form form)
{
	struct gpu gpu;
	struct gs_error err;
	if (strchr(s->gpu, ','))
		return cmd_fail("compare-models: one GPU at a time");
	if (gpu_load(&gpu, s->gpu, gpus_read, NULL, s->set, NULL, &err))
		return cmd_fail("compare-models: %s", err.text);
	int code = sweep_alike(s, &gpu, MODELS) ? cmd_fail("compare-models: out of memory") : sweep_run(s);
	if (!code && s->results[LAST].done) {
		if (form == FORM_JSON)
			code = print_json(s);
		else if (form == FORM_CSV)
			print_csv(s);
		else
			print_text(s);
	}
	fflush(stdout);
	if (s->stopped_by)
		sweep_stop(s);
	return code;
}

int cmd_compare_models(int argc, char **argv)
{
	struct sweep s = {.set = "", .kept = -1, .growing = -1, .choose = choose_options};
	struct gs_options options;
	enum form form = FORM_TEXT;
	cmd_options(&options);
	for (int i = 1, words, only; i < argc; i += words) {
		words = 1;
		if (!strcmp(argv[i], "--json"))
			form = FORM_JSON;
		else if (!strcmp(argv[i], "--csv"))
			form = FORM_CSV;
		else if ((only = only_argument("compare-models", argc - i, argv + i, &s.only)))
			words = only;
		else if (!strncmp(argv[i], "--", 2))
			words = cmd_take_flag(&options, "compare-models", argc - i, argv + i);
		else if (s.profile)
			return cmd_fail("compare-models: one profile at a time, not '%s' too", argv[i]);
		else
			s.profile = argv[i];
		if (words < 0)
			return EXIT_USAGE;
	}
	int code = sweep_check_profile(s.profile, "compare-models");
	if (code)
		return code;
	s.gpu = options.gpu.text;
	s.set = options.set.text;
	code = run_all(&s, form);
	sweep_free(&s);
	options_free(&options);
	return code;
}
