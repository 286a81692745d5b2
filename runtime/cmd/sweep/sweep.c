/* gpusim sweep: the time of a profile at every point of a design space. */
#include "runtime/cmd/sweep/sweep.h"

#include "runtime/cmd/cmd.h"
#include "runtime/config/gpus.h"

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

void sweep_overrides(const struct sweep *s, size_t configuration, struct gs_buf *out)
{
	gs_buf_puts(out, s->set);
	for (size_t k = 0; k < s->key_count; k++)
		gs_buf_printf(out, "%s%s=%s", out->len ? "," : "", s->keys[k].name, s->keys[k].values[sweep_value(s, configuration, k)]);
}

/* ---- the command line ---- */

static const char usage[] = "gpusim sweep FILE --gpu NAME --vary KEY=VALUE,... [--vary ...] [--set ...] [-o PREFIX] [-j JOBS]";

/* Reads "key=1,2,4". */
static int take_vary(struct sweep *s, char *text)
{
	char *values = strchr(text, '=');
	if (!values || values == text || !values[1])
		return cmd_fail("sweep: --vary needs KEY=VALUE,VALUE,..., not '%s'", text);
	if (s->key_count == SWEEP_KEYS)
		return cmd_fail("sweep: at most %d keys vary", SWEEP_KEYS);
	struct sweep_key *k = &s->keys[s->key_count++];
	*values++ = 0;
	k->name = text;
	for (char *save, *v = strtok_r(values, ",", &save); v; v = strtok_r(NULL, ",", &save)) {
		if (k->count == SWEEP_VALUES)
			return cmd_fail("sweep: at most %d values of %s", SWEEP_VALUES, k->name);
		k->values[k->count++] = v;
	}
	return k->count ? 0 : cmd_fail("sweep: --vary %s has no values", k->name);
}

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
		s->configurations *= s->keys[k].count;
	if (s->configurations > SWEEP_MOST)
		return cmd_fail("sweep: %zu configurations; at most %d", s->configurations, SWEEP_MOST);
	if (gpu_load(&gpu, s->gpu, gpus_read, NULL, s->set, NULL, &err))
		return cmd_fail("sweep: %s", err.text);
	for (size_t i = 0; i < s->configurations; i++) {
		struct gs_buf set = {0};
		sweep_overrides(s, i, &set);
		int failed = set.failed ? gs_fail(&err, ENOMEM, "out of memory")
		                        : gpu_load(&gpu, s->gpu, gpus_read, NULL, set.data, NULL, &err);
		gs_buf_free(&set);
		if (failed)
			return cmd_fail("sweep: --vary: %s", blamed(err.text));
	}
	s->results = calloc(s->configurations, sizeof *s->results);
	return s->results ? 0 : cmd_fail("sweep: out of memory");
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

static int print_results(const struct sweep *s, const char *prefix)
{
	struct gs_buf text = {0};
	int code = 0;
	sweep_table(s, &text);
	fwrite(text.data, 1, text.len, stdout);
	text.len = 0;
	if (*prefix) {
		sweep_csv(s, &text);
		code = write_file(prefix, ".csv", &text);
		if (!code && s->done == s->configurations) { /* otherwise the plot would have holes */
			sweep_svg(s, &text);
			code = write_file(prefix, ".svg", &text);
			if (!code)
				fprintf(stderr, "gpusim: %s.csv and %s.svg are written\n", prefix, prefix);
		}
	}
	gs_buf_free(&text);
	return code;
}

int cmd_sweep(int argc, char **argv)
{
	struct stat file;
	struct sweep s = {.gpu = NULL, .set = ""};
	struct gs_options options;
	const char *prefix = "sweep";
	cmd_options(&options);
	for (int i = 1; i < argc;) {
		int words = 2;
		if (!strcmp(argv[i], "--vary") && i + 1 < argc) {
			if (take_vary(&s, argv[i + 1]))
				return EXIT_USAGE;
		} else if (!strcmp(argv[i], "-o") && i + 1 < argc) {
			prefix = argv[i + 1];
		} else if (!strcmp(argv[i], "-j") && i + 1 < argc) {
			s.jobs = strtoul(argv[i + 1], NULL, 10);
			if (!s.jobs)
				return cmd_fail("sweep: -j needs a number of configurations at once, not '%s'", argv[i + 1]);
		} else if (!strncmp(argv[i], "--", 2)) {
			words = cmd_take_flag(&options, "sweep", argc - i, argv + i);
		} else {
			if (s.profile)
				return cmd_fail("sweep: one profile at a time, not '%s' too", argv[i]);
			s.profile = argv[i];
			words = 1;
		}
		if (words < 0)
			return EXIT_USAGE;
		i += words;
	}
	if (!s.profile || !s.key_count)
		return cmd_fail("sweep: %s is missing: %s", s.profile ? "--vary" : "the profile", usage);
	/* Each configuration reads the profile again. A pipe would be empty by then. */
	if (!stat(s.profile, &file) && !S_ISREG(file.st_mode))
		return cmd_fail("sweep: %s is read several times, but is not a regular file", s.profile);
	s.gpu = options.gpu.text;
	s.set = options.set.text;
	if (strchr(s.gpu, ','))
		return cmd_fail("sweep: one GPU at a time, whose keys vary");
	int code = check_configurations(&s);
	if (!code)
		code = sweep_run(&s);
	if (!code)
		code = print_results(&s, prefix);
	if (s.stopped_by) {
		fflush(stdout);
		fprintf(stderr, "%sgpusim: sweep: interrupted, %zu of %zu configurations are missing\n", isatty(STDERR_FILENO) ? "\n" : "",
		        s.configurations - s.done, s.configurations);
		sweep_stop(&s);
	}
	for (size_t i = 0; i < s.configurations && s.results; i++)
		free(s.results[i].by_kernel);
	free(s.results);
	options_free(&options);
	return code;
}
