#include "tests/lift/conformance/folder.h"

#include <dirent.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *folder_read(const char *folder, const char *name, const char *suffix, size_t *length)
{
	char path[4096], *text = NULL;
	snprintf(path, sizeof path, "%s/%s%s", folder, name, suffix);
	FILE *f = fopen(path, "r");
	if (!f)
		return NULL;
	if (!fseek(f, 0, SEEK_END)) {
		*length = (size_t)ftell(f);
		rewind(f);
		text = calloc(1, *length + 1);
		if (text && fread(text, 1, *length, f) != *length) {
			free(text);
			text = NULL;
		}
	}
	fclose(f);
	return text;
}

static int is_kernel(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);
	return length > 4 && !strcmp(entry->d_name + length - 4, ".ptx");
}

static int wanted(const char *name, int pattern_count, char **patterns)
{
	for (int i = 0; i < pattern_count; i++)
		if (!fnmatch(patterns[i], name, 0))
			return 1;
	return pattern_count == 0;
}

void folder_visit(const char *folder, int pattern_count, char **patterns, void (*visit)(void *user, const char *name), void *user)
{
	struct dirent **entries;
	int count = scandir(folder, &entries, is_kernel, alphasort);
	for (int i = 0; i < count; i++) {
		char *name = entries[i]->d_name;
		name[strlen(name) - 4] = 0;
		if (wanted(name, pattern_count, patterns))
			visit(user, name);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
}

struct execution {
	const char *folder, *way;
	char *input;
	size_t input_bytes;
	folder_function execute;
	void *user;
	int failures;
};

static int prepare(struct execution *e, struct folder_kernel *k)
{
	unsigned scratch;
	k->ptx = folder_read(e->folder, k->name, ".ptx", &k->ptx_length);
	if (!k->ptx || sscanf(k->ptx, "// launch %u %u %u %u", &k->blocks, &k->block, &k->results, &scratch) != 4) {
		fprintf(stderr, "%s: no launch\n", k->name);
		return -1;
	}
	k->bytes[0] = e->input_bytes;
	k->bytes[1] = (size_t)k->blocks * k->block * k->results * 8;
	k->bytes[2] = scratch;
	for (int i = 0; i < 3; i++) {
		/* on a boundary, as device memory is */
		if (posix_memalign(&k->memory[i], 256, k->bytes[i] + 1))
			return -1;
		memset(k->memory[i], 0, k->bytes[i] + 1);
	}
	memcpy(k->memory[0], e->input, e->input_bytes);
	return 0;
}

static int keep(const struct execution *e, const struct folder_kernel *k)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/%s.%s", e->folder, k->name, e->way);
	FILE *f = fopen(path, "w");
	if (!f || fwrite(k->memory[1], 1, k->bytes[1], f) != k->bytes[1] || fclose(f)) {
		perror(path);
		return -1;
	}
	return 0;
}

static void execute_one(void *user, const char *name)
{
	struct execution *e = user;
	struct folder_kernel k = {.name = name};
	char path[4096];
	snprintf(path, sizeof path, "%s/%s.%s", e->folder, name, e->way);
	remove(path);
	if (prepare(e, &k) || e->execute(e->user, &k) || keep(e, &k)) {
		printf("FAIL %s\n", name);
		e->failures++;
	}
	for (int i = 0; i < 3; i++)
		free(k.memory[i]);
	free(k.ptx);
}

int folder_execute(const char *folder, const char *way, int pattern_count, char **patterns, folder_function execute, void *user)
{
	struct execution e = {.folder = folder, .way = way, .execute = execute, .user = user};
	e.input = folder_read(folder, "input", "", &e.input_bytes);
	if (!e.input) {
		fprintf(stderr, "%s/input cannot be read\n", folder);
		return 1;
	}
	folder_visit(folder, pattern_count, patterns, execute_one, &e);
	free(e.input);
	return e.failures;
}
