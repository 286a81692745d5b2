/*
 * Fuzz target of commands that read files. The program's name says which: gpu_from (configurations of simulators), ppt (a task list, list.task, with files of
 * PPT's entries), ppt_gpu (a folder of PPT-GPU's tracer), task_from (traces that become task lists), topology (links between GPUs). An input is files, each behind a line "=== NAME"; what stands before the
 * first is left out. They are written to a folder, and the command is run on it. No input may do harm.
 */
#include "runtime/cmd/cmd.h"
#include "runtime/cmd/task/from.h"
#include "runtime/cmd/task/ppt_gpu.h"
#include "runtime/timeline/topology.h"
#include "tests/fuzz/task_list.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SEPARATOR "=== "
enum { MOST_FILES = 16, GPUS = 8 };

static void run_gpu_from(char *folder);
static void run_ppt(char *folder);
static void run_ppt_gpu(char *folder);
static void run_task_from(char *folder);
static void run_topology(char *folder);

static const struct {
	const char *name;
	void (*run)(char *folder);
} commands[] = {{"gpu_from", run_gpu_from}, {"ppt", run_ppt}, {"ppt_gpu", run_ppt_gpu}, {"task_from", run_task_from}, {"topology", run_topology}};
static size_t command = GS_ARRAY_LEN(commands);
static char base[64];

/* ---- commands ---- */

static void run_gpu_from(char *folder)
{
	char *argv[] = {"gpu-from", folder, NULL};
	cmd_gpu_from(2, argv);
}

static void run_ppt_gpu(char *folder)
{
	struct gs_buf text = {0};
	struct gs_error err;
	if (!ppt_gpu_list(folder, &text, &err))
		fuzz_task_list(folder, text.data ? text.data : "", text.len);
	gs_buf_free(&text);
}

static void run_ppt(char *folder)
{
	struct gs_buf text = {0};
	struct gs_error err;
	char path[128];
	snprintf(path, sizeof path, "%s/list.task", folder);
	if (!gs_read_regular_file(path, &text, &err))
		fuzz_task_list(path, text.data ? text.data : "", text.len);
	gs_buf_free(&text);
}

static void run_task_from(char *folder)
{
	char output[128];
	snprintf(output, sizeof output, "%s/list.task", folder);
	task_from(folder, 0, NULL, output);
}

static void run_topology(char *folder)
{
	static struct topology t;
	char path[128];
	struct gs_error err;
	snprintf(path, sizeof path, "%s/links", folder);
	if (topology_load(&t, path, GPUS, &err))
		return;
	const struct gpu gpu = {.link_gbps = 16, .link_latency_ns = 1000};
	for (uint32_t a = 0; a < GPUS; a++)
		for (uint32_t b = 0; b < GPUS; b++)
			if (a != b)
				topology_time_ns(&t, &gpu, (struct peer_ends){a, b}, 1, 1 << 20);
}

/* ---- files ---- */

static bool name_is_plain(const char *name, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-/", name[i]) || !name[i])
			return false;
	return length && length < 48 && *name != '/' && !memmem(name, length, "..", 2);
}

static const char *find_separator(const char *text, const char *end)
{
	while (text < end) {
		const char *found = memmem(text, (size_t)(end - text), SEPARATOR, strlen(SEPARATOR));
		if (!found || found == text || found[-1] == '\n')
			return found;
		text = found + 1;
	}
	return NULL;
}

/* Writes one file, with the folders that it is in. */
static void write_part(const char *name, size_t length, const char *text, size_t size)
{
	char path[160];
	struct gs_error err;
	if (!name_is_plain(name, length))
		return;
	snprintf(path, sizeof path, "%s/%.*s", base, (int)length, name);
	char *slash = strrchr(path, '/');
	*slash = 0;
	gs_make_dirs(path, 0700, &err);
	*slash = '/';
	gs_write_file(path, text, size, &err);
}

static void write_files(const char *text, size_t size)
{
	const char *end = text + size, *at = find_separator(text, end);
	for (int n = 0; at && n < MOST_FILES; n++) {
		const char *name = at + strlen(SEPARATOR), *line = memchr(name, '\n', (size_t)(end - name));
		const char *body = line ? line + 1 : end, *next = find_separator(body, end);
		write_part(name, (size_t)((line ? line : end) - name), body, (size_t)((next ? next : end) - body));
		at = next;
	}
}

static int remove_one(const char *path, const struct stat *s, int kind, struct FTW *f)
{
	(void)s, (void)kind, (void)f;
	return remove(path);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *slash = strrchr((*argv)[0], '/'), *name = slash ? slash + 1 : (*argv)[0];
	(void)argc;
	for (size_t i = 0; i < GS_ARRAY_LEN(commands); i++)
		command = strcmp(commands[i].name, name) ? command : i;
	if (command == GS_ARRAY_LEN(commands)) {
		fprintf(stderr, "%s: no command is called so\n", name);
		exit(1);
	}
	snprintf(base, sizeof base, "%s/gpusim-fuzz.%ld", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm", (long)getpid());
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (mkdir(base, 0700) && errno != EEXIST)
		abort();
	write_files((const char *)data, size);
	commands[command].run(base);
	nftw(base, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	return 0;
}
