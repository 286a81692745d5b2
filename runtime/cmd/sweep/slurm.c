/*
 * gpusim sweep --slurm: an array job runs the configurations, and this process waits and gathers. Each task of the array is the same command with --join: one of the
 * processes that divide a sweep (ranks.c). Slurm's own commands are all that is used; nothing of it is needed where they are absent.
 */
#include "runtime/cmd/sweep/slurm.h"

#include "runtime/base/tool.h"
#include "runtime/cmd/cmd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { DEFAULT_TASKS = 16, LOOKS = 25 /* between questions to Slurm */ };

static void add_quoted(struct gs_buf *out, const char *word)
{
	gs_buf_puts(out, "'");
	for (; *word; word++)
		gs_buf_printf(out, *word == '\'' ? "'\\''" : "%c", *word);
	gs_buf_puts(out, "'");
}

/* What a shell command prints. Returns its exit status. */
static int output_of(const char *command, struct gs_buf *out)
{
	char piece[512];
	size_t n;
	fflush(NULL);
	FILE *from = command ? popen(command, "r") : NULL;
	if (!from)
		return -1;
	while ((n = fread(piece, 1, sizeof piece, from)) > 0)
		gs_buf_add(out, piece, n);
	return pclose(from);
}

/* ---- the job ---- */

/* The words of this command without those that are for the one who waits. */
static void write_script(const struct slurm *j, struct gs_buf *out)
{
	char self[4200];
	ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
	self[length > 0 ? length : 0] = 0;
	gs_buf_puts(out, "#!/bin/sh\nexec ");
	add_quoted(out, self);
	for (int i = 0; i < j->argc; i++) {
		if (!strcmp(j->argv[i], "--tasks") || !strcmp(j->argv[i], "--sbatch")) {
			i++;
		} else if (strcmp(j->argv[i], "--slurm")) {
			gs_buf_puts(out, " ");
			add_quoted(out, j->argv[i]);
		}
	}
	gs_buf_puts(out, " --join\n");
}

static size_t tasks_for(const struct sweep *s, const struct slurm *j)
{
	size_t left = s->configurations - s->done, tasks = j->tasks ? j->tasks : DEFAULT_TASKS;
	return left < tasks ? left : tasks;
}

/* The last line of what sbatch said is "ID" or "ID;CLUSTER"; warnings may come before it. It is what remains of the text, without its end. */
static bool take_id(struct slurm *j, char *said)
{
	size_t length = said ? strlen(said) : 0;
	while (length && said[length - 1] == '\n')
		said[--length] = 0;
	const char *line = length ? strrchr(said, '\n') : NULL;
	line = line ? line + 1 : length ? said : "";
	size_t digits = strspn(line, "0123456789");
	snprintf(j->id, sizeof j->id, "%.*s", (int)(digits < sizeof j->id ? digits : 0), line);
	return *j->id && (!line[digits] || line[digits] == ';');
}

/* Slurm copies the script, so that it is not needed afterwards. */
static int submit(const struct sweep *s, struct slurm *j)
{
	struct gs_buf command = {0}, text = {0}, script = {0};
	struct gs_error err;
	gs_buf_printf(&script, "%s.sbatch", s->prefix);
	write_script(j, &text);
	if (!script.data || text.failed || gs_write_file(script.data, text.data, text.len, &err))
		return cmd_fail("sweep: %s", script.failed || text.failed ? "out of memory" : err.text);
	gs_buf_printf(&command, "exec sbatch --parsable --array=0-%zu --job-name=gpusim-sweep --open-mode=append --output=", tasks_for(s, j) - 1);
	text.len = 0;
	gs_buf_printf(&text, "%s.slurm.log", s->prefix);
	add_quoted(&command, text.data);
	gs_buf_printf(&command, " %s ", j->sbatch ? j->sbatch : "");
	add_quoted(&command, script.data);
	gs_buf_puts(&command, " 2>&1");
	text.len = 0;
	int status = output_of(command.data, &text);
	unlink(script.data);
	bool known = take_id(j, text.data);
	int code = status || !known ? cmd_fail("sweep: sbatch has not taken the job: %s", text.data ? text.data : "") : 0;
	gs_buf_free(&command);
	gs_buf_free(&text);
	gs_buf_free(&script);
	return code;
}

/* False where Slurm says that no task waits or runs. A question that it does not answer says nothing: it may be busy. */
static bool job_is_there(const struct slurm *j)
{
	struct gs_buf said = {0};
	char command[128];
	snprintf(command, sizeof command, "exec squeue -h -j %s -o %%T 2>&1", j->id);
	int status = output_of(command, &said);
	bool gone = status ? said.data && strstr(said.data, "Invalid job id") : !said.len;
	gs_buf_free(&said);
	return !gone;
}

static void cancel(const struct slurm *j)
{
	struct gs_buf said = {0};
	char command[128];
	snprintf(command, sizeof command, "exec scancel %s 2>&1", j->id);
	output_of(command, &said);
	gs_buf_free(&said);
}

/* ---- the one who waits ---- */

int slurm_run(struct sweep *s, struct slurm *j)
{
	const struct timespec pause = {.tv_nsec = 200000000};
	int code = 0;
	if (!sweep_claims_open(s))
		return 0;
	sweep_watch(true); /* from now on a signal cancels the job */
	code = submit(s, j);
	if (!code)
		fprintf(stderr, "gpusim: sweep: job %s has %zu tasks\n", j->id, tasks_for(s, j));
	for (unsigned looks = 1; !code && !sweep_signal() && sweep_claims_open(s); looks++) {
		sweep_pause(&pause);
		sweep_show(s);
		if (looks % LOOKS == 0 && !job_is_there(j))
			break;
	}
	if (!code)
		cancel(j); /* tasks that wait have nothing to do any more */
	s->stopped_by = sweep_signal();
	if (!s->stopped_by)
		sweep_watch(false);
	return code;
}

int slurm_take(struct slurm *j, int argc, char **argv)
{
	if (!strcmp(argv[0], "--slurm"))
		return j->on = true, 1;
	if (!strcmp(argv[0], "--tasks") && argc > 1) {
		j->tasks = strtoul(argv[1], NULL, 10);
		return j->tasks > 0 && j->tasks <= 10000 ? 2 : (cmd_fail("sweep: --tasks needs a number from 1 to 10000, not '%s'", argv[1]), -1);
	}
	if (!strcmp(argv[0], "--sbatch") && argc > 1)
		return j->sbatch = argv[1], 2;
	return 0;
}

int slurm_check(const struct slurm *j, const char *prefix)
{
	if (!j->on)
		return j->tasks || j->sbatch ? cmd_fail("sweep: %s is for --slurm", j->tasks ? "--tasks" : "--sbatch") : 0;
	if (!*prefix)
		return cmd_fail("sweep: --slurm needs -o PREFIX");
	return tool_on_path("sbatch") ? 0 : cmd_fail("sweep: --slurm: there is no sbatch on PATH; is Slurm installed here?");
}
