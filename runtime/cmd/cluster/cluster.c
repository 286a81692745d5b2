/* gpusim cluster: the time of a recorded MPI program on a platform of SimGrid's. */
#include "runtime/cmd/cluster/cluster.h"

#include "runtime/cmd/cmd.h"
#include "runtime/config/gpus.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char usage[] = "gpusim cluster PROFILE... --platform FILE.xml --gpu NAME [--ranks N] [--host-scale FACTOR] [-o PREFIX] [--html FILE] "
                            "[--cfg KEY:VALUE] [--export smpi-ti DIR] [--export chakra PREFIX]";

enum { MOST_RANKS = 65536 };

struct cluster_options {
	const char *prefix, *html, *ti, *chakra;
	char **profiles;
	size_t profile_count, profile_room, setting_room;
	bool json;
};

/* ---- the command line ---- */

static int take_export(struct cluster_options *o, int argc, char **argv)
{
	if (argc < 3)
		return cmd_fail("cluster: --export needs a form and a place: smpi-ti DIR, or chakra PREFIX"), -1;
	if (!strcmp(argv[1], "smpi-ti"))
		o->ti = argv[2];
	else if (!strcmp(argv[1], "chakra"))
		o->chakra = argv[2];
	else
		return cmd_fail("cluster: --export: there is no form '%s'; smpi-ti and chakra are known", argv[1]), -1;
	return 3;
}

/* Takes some words. Returns how many, or -1 after a complaint. */
static int take_words(struct cluster *c, struct cluster_options *o, struct gs_options *options, int argc, char **argv)
{
	bool more = argc > 1;
	if (!strcmp(argv[0], "--platform") && more)
		return c->platform = argv[1], 2;
	if (!strcmp(argv[0], "--ranks") && more) {
		char *end;
		unsigned long ranks = strtoul(argv[1], &end, 10);
		c->wanted = *argv[1] >= '0' && *argv[1] <= '9' && !*end && ranks <= MOST_RANKS ? ranks : 0;
		return c->wanted ? 2 : (cmd_fail("cluster: --ranks needs a number from 1 up to %d, not '%s'", MOST_RANKS, argv[1]), -1);
	}
	if (!strcmp(argv[0], "--host-scale") && more) {
		char *end;
		c->host_scale = strtod(argv[1], &end);
		return end != argv[1] && !*end && c->host_scale >= 0 && isfinite(c->host_scale) ? 2
		       : (cmd_fail("cluster: --host-scale needs a factor, not '%s'", argv[1]), -1);
	}
	if (!strcmp(argv[0], "--cfg") && more) {
		if (!gs_reserve(&c->settings, c->setting_count, &o->setting_room, sizeof *c->settings))
			return cmd_fail("cluster: out of memory"), -1;
		c->settings[c->setting_count++] = argv[1];
		return 2;
	}
	if (!strcmp(argv[0], "--export"))
		return take_export(o, argc, argv);
	if (!strcmp(argv[0], "--json"))
		return o->json = true, 1;
	if (!strcmp(argv[0], "--html") && more)
		return o->html = argv[1], 2;
	if (!strcmp(argv[0], "-o") && more)
		return o->prefix = argv[1], 2;
	if (!strncmp(argv[0], "-", 1))
		return cmd_take_flag(options, "cluster", argc, argv);
	if (!gs_reserve(&o->profiles, o->profile_count, &o->profile_room, sizeof *o->profiles))
		return cmd_fail("cluster: out of memory"), -1;
	o->profiles[o->profile_count++] = argv[0];
	return 1;
}

/* ---- results ---- */

static int write_results(const struct cluster *c, const struct cluster_options *o)
{
	struct gs_buf text = {0};
	struct gs_error err;
	int code = 0;
	if (o->json)
		cluster_json(c, &text);
	else
		cluster_text(c, &text);
	fwrite(text.data, 1, text.len, stdout);
	text.len = 0;
	if (o->prefix) {
		cluster_json(c, &text);
		code = cmd_write_file("cluster", o->prefix, ".json", &text);
		cluster_trace(c, &text);
		if (!code)
			code = cmd_write_file("cluster", o->prefix, ".trace.json", &text);
	}
	if (!code && o->html)
		code = cluster_page(c, &text, &err) ? cmd_fail("cluster: %s", err.text) : cmd_write_file("cluster", o->html, "", &text);
	if (!code && o->ti && cluster_export_ti(c, o->ti, &err))
		code = cmd_fail("cluster: %s", err.text);
	if (!code && o->chakra && cluster_export_chakra(c, o->chakra, &err))
		code = cmd_fail("cluster: %s", err.text);
	gs_buf_free(&text);
	return code;
}

/* ---- a process for SimGrid, which ends the process where it does not like something ---- */

static int simulate_and_write(struct cluster *c, const struct cluster_options *o)
{
	struct gs_error err;
	int result = c->platform ? cluster_simulate(c, &err) : cluster_play_alone(c, &err);
	if (result)
		return cmd_fail("cluster: %s", err.text);
	cluster_find_waits(c);
	return write_results(c, o);
}

/* What SimGrid said before it ended, without its prefix: "[0.000000] [ker_platform/CRITICAL] ..." */
static const char *complaint(char *said)
{
	char *best = NULL;
	for (char *line = strtok(said, "\n"); line; line = strtok(NULL, "\n")) {
		char *text = strrchr(line, ']');
		if (strstr(line, "CRITICAL]") || strstr(line, "ERROR]"))
			if (!best && text)
				best = text + 1 + strspn(text + 1, " ");
		if (strstr(line, "eadlock"))
			return "the ranks wait for each other for ever: a profile does not fit to the others";
	}
	return best ? best : "SimGrid ended without a word";
}

static int run_apart(struct cluster *c, const struct cluster_options *o)
{
	struct gs_buf said = {0};
	char piece[4096];
	int ends[2], status = 0;
	ssize_t n;
	fflush(NULL);
	if (pipe(ends))
		return cmd_fail("cluster: %s", strerror(errno));
	pid_t pid = fork();
	if (pid == 0) {
		dup2(ends[1], STDERR_FILENO);
		close(ends[0]);
		close(ends[1]);
		int code = simulate_and_write(c, o);
		fflush(NULL);
		_exit(code);
	}
	close(ends[1]);
	while (pid > 0 && ((n = read(ends[0], piece, sizeof piece)) > 0 || (n < 0 && errno == EINTR)))
		if (n > 0)
			gs_buf_add(&said, piece, (size_t)n);
	close(ends[0]);
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return cmd_fail("cluster: no process could be started: %s", strerror(errno));
	int code = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_USAGE;
	char *own = said.data ? strstr(said.data, "gpusim: cluster: ") : NULL;
	if (code && own)
		fprintf(stderr, "%.*s\n", (int)strcspn(own, "\n"), own);
	else if (code)
		code = cmd_fail("cluster: %s: %s", c->platform, complaint(said.data ? said.data : (char[]){""}));
	gs_buf_free(&said);
	return code;
}

/* ---- the command ---- */

static int run_cluster(struct cluster *c, const struct cluster_options *o, const struct gs_options *options)
{
	struct gs_error err;
	c->gpu_name = options->gpu.text;
	c->topology_path = options->topology.text;
	if (strchr(c->gpu_name, ','))
		return cmd_fail("cluster: one GPU at a time, not '%s'", c->gpu_name);
	if (gpu_load(&c->gpu, c->gpu_name, gpus_read, NULL, options->set.text, NULL, &err))
		return cmd_fail("cluster: %s", err.text);
	if (c->platform && access(c->platform, R_OK))
		return cmd_fail("cluster: %s: %s", c->platform, strerror(errno));
	if (cluster_load(c, o->profiles, o->profile_count, &err) || cluster_model(c, &err) || (c->wanted && cluster_replicate(c, c->wanted, &err)))
		return cmd_fail("cluster: %s", err.text);
	return run_apart(c, o);
}

int cmd_cluster(int argc, char **argv)
{
	struct cluster c = {.host_scale = 1};
	struct cluster_options o = {0};
	struct gs_options options;
	cmd_options(&options);
	for (int i = 1, words; i < argc; i += words)
		if ((words = take_words(&c, &o, &options, argc - i, argv + i)) <= 0)
			return EXIT_USAGE;
	if (!o.profile_count)
		return cmd_fail("cluster: no profile given: %s", usage);
	if (!c.platform && !o.ti && !o.chakra)
		return cmd_fail("cluster: --platform is missing: %s", usage);
	int code = run_cluster(&c, &o, &options);
	cluster_free(&c);
	free(c.settings);
	free(o.profiles);
	options_free(&options);
	return code;
}
