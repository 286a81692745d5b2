/* gpusim sweep: the time of a profile at every point of a design space. */
#include "runtime/cmd/sweep/sweep.h"

#include "runtime/cmd/cmd.h"
#include "runtime/cmd/sweep/only.h"
#include "runtime/cmd/sweep/slurm.h"
#include "runtime/config/gpus.h"
#include "runtime/process/rank.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

size_t sweep_value(const struct sweep *s, size_t configuration, size_t key)
{
	for (size_t k = s->key_count; --k > key;)
		configuration /= s->keys[k].count;
	return configuration % s->keys[key].count;
}

bool sweep_is_gpu(const struct sweep_key *key)
{
	return !strcmp(key->name, "gpu");
}

const char *sweep_gpu(const struct sweep *s, size_t configuration)
{
	size_t last = s->key_count - 1;
	return sweep_is_gpu(&s->keys[last]) ? s->keys[last].values[sweep_value(s, configuration, last)] : s->gpu;
}

void sweep_overrides(const struct sweep *s, size_t configuration, struct gs_buf *out)
{
	gs_buf_puts(out, s->set);
	for (size_t k = 0; k < s->key_count; k++)
		if (!sweep_is_gpu(&s->keys[k]))
			gs_buf_printf(out, "%s%s=%s", out->len ? "," : "", s->keys[k].name, s->keys[k].values[sweep_value(s, configuration, k)]);
}

/* ---- the command line ---- */

static const char usage[] = "gpusim sweep FILE --gpu NAME[,...] --vary KEY=VALUE,... [--vary ...] [--only LAUNCHES] [--cost KEY=WEIGHT,...] [--set ...] [-o PREFIX] [-j JOBS] [--slurm]";

/* Errors of overrides say GPUSIM_SET, whoever gave them. */
static const char *blamed(const char *text)
{
	static const char by_variable[] = "GPUSIM_SET: ";
	return strncmp(text, by_variable, sizeof by_variable - 1) ? text : text + sizeof by_variable - 1;
}

/* Before anything runs, checks that every configuration is a valid GPU. */
static int check_configurations(struct sweep *s)
{
	struct gpu gpu;
	struct gs_error err;
	s->configurations = 1;
	for (size_t k = 0; k < s->key_count; k++)
		if ((s->configurations *= s->keys[k].count) > SWEEP_MOST)
			return cmd_fail("sweep: more than %d configurations", SWEEP_MOST);
	s->results = calloc(s->configurations, sizeof *s->results);
	if (!s->results)
		return cmd_fail("sweep: out of memory");
	const struct sweep_key *last = &s->keys[s->key_count - 1];
	for (size_t i = 0; i < (sweep_is_gpu(last) ? last->count : 1); i++)
		if (gpu_load(&gpu, sweep_gpu(s, i), gpus_read, NULL, s->set, NULL, &err))
			return cmd_fail("sweep: %s", err.text);
	for (size_t i = 0; i < s->configurations; i++) {
		struct gs_buf set = {0};
		sweep_overrides(s, i, &set);
		int failed = set.failed ? gs_fail(&err, ENOMEM, "out of memory")
		                        : gpu_load(&gpu, sweep_gpu(s, i), gpus_read, NULL, set.data, NULL, &err);
		gs_buf_free(&set);
		if (failed)
			return cmd_fail("sweep: --vary: %s", blamed(err.text));
		s->results[i].cost = sweep_cost(s, &gpu);
	}
	return 0;
}

static int write_file(const char *prefix, const char *ending, struct gs_buf *text)
{
	char path[4200];
	struct gs_error err;
	snprintf(path, sizeof path, "%s%s", prefix, ending);
	int failed = gs_write_file(path, text->data, text->len, &err);
	text->len = 0;
	return failed ? cmd_fail("sweep: %s", err.text) : 0;
}

static int write_plots(const struct sweep *s, const char *prefix, struct gs_buf *text)
{
	sweep_svg(s, text);
	int code = write_file(prefix, ".svg", text);
	if (!code) {
		sweep_page(s, text);
		code = write_file(prefix, ".html", text);
	}
	if (!code)
		fprintf(stderr, "gpusim: %s.csv, %s.svg and the page %s.html are written\n", prefix, prefix, prefix);
	return code;
}

static int print_results(struct sweep *s, const char *prefix)
{
	struct gs_buf text = {0};
	int code = 0;
	sweep_mark_best(s);
	sweep_table(s, &text);
	fwrite(text.data, 1, text.len, stdout);
	text.len = 0;
	if (*prefix) {
		sweep_csv(s, &text);
		code = write_file(prefix, ".csv", &text);
		if (!code && s->done == s->configurations) /* otherwise plots would have holes */
			code = write_plots(s, prefix, &text);
	}
	gs_buf_free(&text);
	return code;
}

/* What estimates depend on, beside the profile and the GPU; a change of these begins a new sweep. */
static void name_options(const struct sweep *s, const struct gs_options *o, struct gs_buf *out)
{
	gs_buf_printf(out, "%s%s%s,%s,%s,%s,%s,%s", s->only ? s->only : "", s->only ? " " : "", o->model.text, o->memory.text,
	              o->exact.text, o->sampling.text, o->iterations.text, o->kernels.text);
}

/* ---- the command ---- */

/* Takes one argument, or two. Returns how many, or -1 after a complaint. */
static int take_argument(struct sweep *s, struct slurm *job, struct gs_options *options, const char **prefix, int argc, char **argv)
{
	bool more = argc > 1;
	int only = only_argument("sweep", argc, argv, &s->only), words = only ? only : slurm_take(job, argc, argv);
	if (words)
		return words;
	if (!strcmp(argv[0], "--join"))
		return s->joins = true, 1;
	if (!strcmp(argv[0], "--vary") && more)
		return sweep_take_vary(s, argv[1]) ? -1 : 2;
	if (!strcmp(argv[0], "--cost") && more)
		return sweep_take_costs(s, argv[1]) ? -1 : 2;
	if (!strcmp(argv[0], "-o") && more) {
		*prefix = argv[1];
		return 2;
	}
	if (!strcmp(argv[0], "-j") && more) {
		s->jobs = strtoul(argv[1], NULL, 10);
		return s->jobs ? 2 : (cmd_fail("sweep: -j needs a number of configurations at once, not '%s'", argv[1]), -1);
	}
	if (!strncmp(argv[0], "--", 2))
		return cmd_take_flag(options, "sweep", argc, argv);
	if (s->profile)
		return cmd_fail("sweep: one profile at a time, not '%s' too", argv[0]), -1;
	s->profile = argv[0];
	return 1;
}

/* What all processes have found. Only the first of them needs it. */
static int gather(struct sweep *s, const char *prefix)
{
	char path[4200];
	if (s->gathers)
		sweep_keep_read(s);
	sweep_unshare(s, prefix);
	snprintf(path, sizeof path, "%s.slurm.log", prefix);
	if (s->submits && s->done == s->configurations)
		unlink(path);
	if (s->gathers && s->done < s->configurations && !s->stopped_by)
		return cmd_fail("sweep: %zu of %zu configurations have no result: the processes that ran them have died%s%s", s->configurations - s->done, s->configurations,
		                s->submits ? "; see " : "", s->submits ? path : "");
	return 0;
}

/* Who shares a sweep: processes of a launcher, those that join it, and the one that submits a job. */
static void take_part(struct sweep *s, const struct slurm *job, const char *prefix)
{
	const char *cores = s->joins ? getenv("SLURM_CPUS_PER_TASK") : NULL;
	s->submits = job->on && !s->joins;
	s->shared = (sweep_is_shared() || s->joins || s->submits) && *prefix;
	s->gathers = !s->joins && (s->submits || process_rank(0) == 0);
	if (s->shared && !s->jobs)
		s->jobs = cores && atoi(cores) > 0 ? (size_t)atoi(cores) : 1; /* there are others on this machine */
}

static int run_sweep(struct sweep *s, struct slurm *job, const struct gs_options *options, const char *prefix)
{
	struct gs_buf names = {0};
	int code = sweep_check_costs(s);
	if (!code)
		code = check_configurations(s);
	if (code)
		return code;
	name_options(s, options, &names);
	s->prefix = prefix;
	const char *named = names.data ? names.data : "";
	take_part(s, job, prefix);
	if (!s->shared)
		sweep_keep_open(s, prefix, named, true);
	else if (sweep_share(s, prefix, named))
		code = s->joins && errno == ENOENT ? cmd_fail("sweep: --join: no sweep runs that has the file %s.claims", prefix)
		                                   : cmd_fail("sweep: %s.claims cannot be used: %s", prefix, strerror(errno));
	else if (!(code = s->submits ? slurm_run(s, job) : sweep_run(s)))
		code = gather(s, prefix);
	else if (s->submits)
		sweep_unshare(s, prefix);
	if (!s->shared)
		code = sweep_run(s);
	sweep_grow_ends(s);
	if (!s->shared || s->gathers) {
		sweep_keep_close(s, prefix);
		if (!code || (s->shared && s->done && (!s->submits || *job->id))) /* a job that was not taken has nothing to show */
			code = print_results(s, prefix) | code;
	}
	gs_buf_free(&names);
	return code;
}

static void free_sweep(struct sweep *s)
{
	for (size_t i = 0; i < s->configurations && s->results; i++)
		free(s->results[i].by_kernel);
	for (size_t k = 0; k < s->key_count; k++) {
		for (size_t v = 0; v < s->keys[k].count; v++)
			free(s->keys[k].values[v]);
		free(s->keys[k].name);
	}
	free(s->results);
}

int cmd_sweep(int argc, char **argv)
{
	struct stat file;
	struct sweep s = {.gpu = NULL, .set = "", .kept = -1, .growing = -1};
	struct gs_options options;
	struct slurm job = {.argc = argc, .argv = argv};
	const char *prefix = "sweep";
	cmd_options(&options);
	for (int i = 1, words; i < argc; i += words)
		if ((words = take_argument(&s, &job, &options, &prefix, argc - i, argv + i)) < 0)
			return EXIT_USAGE;
	s.gpu = options.gpu.text;
	s.set = options.set.text;
	if (sweep_take_gpus(&s, s.gpu))
		return EXIT_USAGE;
	if (!s.profile || !s.key_count)
		return cmd_fail("sweep: %s is missing: %s", s.profile ? "--vary" : "the profile", usage);
	/* Each configuration reads the profile again. A pipe would be empty by then. */
	if (!stat(s.profile, &file) && !S_ISREG(file.st_mode))
		return cmd_fail("sweep: %s is read several times, but is not a regular file", s.profile);
	if (slurm_check(&job, prefix))
		return EXIT_USAGE;
	int code = run_sweep(&s, &job, &options, prefix);
	if (s.stopped_by) {
		fflush(stdout);
		fprintf(stderr, "%sgpusim: sweep: interrupted, %zu of %zu configurations are missing\n", isatty(STDERR_FILENO) ? "\n" : "",
		        s.configurations - s.done, s.configurations);
		sweep_stop(&s);
	}
	free_sweep(&s);
	options_free(&options);
	return code;
}
