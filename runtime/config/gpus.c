/* Finding GPU descriptions; see gpus.h. */
#include "runtime/config/gpus.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char ending[] = ".gpu";

static bool has_ending(const char *name)
{
	size_t n = strlen(name);
	return n > sizeof ending - 1 && !strcmp(name + n - (sizeof ending - 1), ending);
}

static bool user_folder(char *out, size_t size)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	if (config && *config == '/')
		snprintf(out, size, "%s/gpusim/gpus", config);
	else if (home && *home == '/')
		snprintf(out, size, "%s/.config/gpusim/gpus", home);
	else
		return false;
	return true;
}

static int not_found(const char *name, struct gs_error *err)
{
	char **names = gpus_names();
	const char *nearest = names ? gs_nearest(name, (const char *const *)names) : NULL;
	int result = gs_fail(err, ENOENT, "there is no GPU '%s' (%s%s%s)", name, nearest ? "did you mean '" : "gpusim gpus",
	                     nearest ? nearest : " lists them", nearest ? "'?" : "");
	for (char **n = names; n && *n; n++)
		free(*n);
	free(names);
	return result;
}

int gpus_read(void *ctx, const char *name, struct gs_buf *text, char *path, size_t path_size, struct gs_error *err)
{
	char folder[PATH_MAX], file[PATH_MAX];
	(void)ctx;
	if (strchr(name, '/') || has_ending(name)) {
		snprintf(path, path_size, "%s", name);
		return gs_read_file(name, text, err);
	}
	if (user_folder(folder, sizeof folder) &&
	    snprintf(file, sizeof file, "%s/%s%s", folder, name, ending) < (int)sizeof file && !access(file, R_OK)) {
		snprintf(path, path_size, "%s", file);
		return gs_read_file(file, text, err);
	}
	for (const struct builtin_gpu *g = builtin_gpus; g->name; g++) {
		if (strcmp(g->name, name))
			continue;
		snprintf(path, path_size, "%s%s", name, ending);
		gs_buf_puts(text, g->text);
		return text->failed ? gs_fail(err, ENOMEM, "out of memory") : 0;
	}
	return not_found(name, err);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static char **add_name(char **names, size_t *count, const char *name, size_t length)
{
	for (size_t i = 0; i < *count; i++)
		if (strlen(names[i]) == length && !strncmp(names[i], name, length))
			return names;
	char **grown = realloc(names, (*count + 2) * sizeof *grown);
	if (!grown)
		return names;
	if ((grown[*count] = strndup(name, length)))
		++*count;
	grown[*count] = NULL;
	return grown;
}

char **gpus_names(void)
{
	char folder[PATH_MAX], **names = NULL;
	size_t count = 0;
	for (const struct builtin_gpu *g = builtin_gpus; g->name; g++)
		names = add_name(names, &count, g->name, strlen(g->name));
	DIR *d = user_folder(folder, sizeof folder) ? opendir(folder) : NULL;
	for (struct dirent *f; d && (f = readdir(d));)
		if (has_ending(f->d_name))
			names = add_name(names, &count, f->d_name, strlen(f->d_name) - (sizeof ending - 1));
	if (d)
		closedir(d);
	if (names)
		qsort(names, count, sizeof *names, by_name);
	return names;
}
