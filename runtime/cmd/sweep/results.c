/* What configurations of a sweep gave, and what commands that are sweeps of another kind share. */
#include "runtime/cmd/cmd.h"
#include "runtime/cmd/sweep/sweep.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool sweep_next_kernel(const char **line, struct sweep_kernel *out)
{
	while (*line && **line) {
		bool found = sscanf(*line, "%lf %31s %1023[^\n]", &out->time_ns, out->limiter, out->name) == 3;
		const char *end = strchr(*line, '\n');
		*line = end ? end + 1 : NULL;
		if (found)
			return true;
	}
	return false;
}

void sweep_csv_name(struct gs_buf *out, const char *name)
{
	const char *quote = strpbrk(name, ",\"") ? "\"" : "";
	gs_buf_puts(out, quote);
	for (; *name; name++)
		gs_buf_printf(out, *name == '"' ? "\"\"" : "%c", *name);
	gs_buf_puts(out, quote);
}

double sweep_time_of(const struct sweep *s, size_t configuration, const char *kernel)
{
	const struct sweep_result *r = &s->results[configuration];
	struct sweep_kernel k;
	if (!r->done)
		return NAN;
	if (!kernel)
		return r->time_ns;
	for (const char *line = r->by_kernel; sweep_next_kernel(&line, &k);)
		if (!strcmp(k.name, kernel))
			return k.time_ns;
	return NAN;
}

int sweep_check_profile(const char *profile, const char *command)
{
	struct stat file;
	if (!profile)
		return cmd_fail("%s: no profile given (gpusim record makes one): gpusim %s FILE [--gpu NAME]", command, command);
	if (!stat(profile, &file) && !S_ISREG(file.st_mode))
		return cmd_fail("%s: %s is read several times, but is not a regular file", command, profile);
	return 0;
}

int sweep_alike(struct sweep *s, const struct gpu *gpu, size_t count)
{
	struct sweep_key *k = &s->keys[0];
	s->key_count = 1;
	s->configurations = count;
	k->name = strdup("warp_size");
	s->results = calloc(count, sizeof *s->results);
	for (size_t i = 0; i < count; i++) {
		struct gs_buf value = {0};
		gs_buf_printf(&value, "%u", gpu->warp_size);
		k->values[k->count++] = value.data;
		if (value.failed)
			return -1;
	}
	return k->name && s->results ? 0 : -1;
}

void sweep_free(struct sweep *s)
{
	for (size_t i = 0; i < s->configurations && s->results; i++)
		free(s->results[i].by_kernel);
	for (size_t k = 0; k < s->key_count; k++) {
		for (size_t i = 0; i < s->keys[k].count; i++)
			free(s->keys[k].values[i]);
		free(s->keys[k].name);
	}
	free(s->results);
}
