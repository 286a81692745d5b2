/* gpusim gpu-from: makes a description of a GPU from a simulator's configuration (gpu_from.h). */
#include "runtime/cmd/cmd.h"

#include "runtime/cmd/gpu_from/gpu_from.h"
#include "runtime/config/gpus.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The description of each architecture to start from, by the compute capability from which on it counts. */
static const struct {
	unsigned capability;
	const char *name;
} bases[] = {{100, "rtx5090"}, {90, "h100"}, {89, "rtx4090"}, {86, "rtx3070"}, {80, "a100"},        {75, "rtx2060"},
             {70, "v100"},     {50, "titanx"}, {30, "k40"},   {0, "gtx480_card"}};

struct arguments {
	const char *config, *trace, *base, *name, *output;
};

static int take_arguments(int argc, char **argv, struct arguments *a)
{
	for (int i = 1; i < argc; i++) {
		if (cmd_value("--base", argc, argv, &i, &a->base) || cmd_value("--name", argc, argv, &i, &a->name) ||
		    cmd_value("-o", argc, argv, &i, &a->output))
			continue;
		if (argv[i][0] == '-' || a->trace)
			return cmd_fail("gpu-from: unexpected '%s'", argv[i]);
		*(a->config ? &a->trace : &a->config) = argv[i];
	}
	return a->config ? 0 : cmd_fail("gpu-from: no configuration given: gpusim gpu-from gpgpusim.config [trace.config]");
}

static const char *file_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* A folder stands for the files in it. */
static void look_into_folder(struct arguments *a, char config[PATH_MAX], char trace[PATH_MAX])
{
	struct stat s;
	if (stat(a->config, &s) || !S_ISDIR(s.st_mode))
		return;
	snprintf(config, PATH_MAX, "%s/gpgpusim.config", a->config);
	snprintf(trace, PATH_MAX, "%s/trace.config", a->config);
	a->config = config;
	if (!a->trace && !access(trace, R_OK))
		a->trace = trace;
}

/* The folder's name, in letters, digits and underscores. */
static void name_of(const char *path, char name[GPU_TEXT_SIZE])
{
	char whole[PATH_MAX];
	size_t n = 0;
	if (realpath(path, whole) && strrchr(whole, '/')) {
		*strrchr(whole, '/') = 0;
		for (const char *c = file_of(whole); *c && n < GPU_TEXT_SIZE - 1; c++) {
			bool big = *c >= 'A' && *c <= 'Z', plain = (*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9');
			name[n++] = big ? (char)(*c - 'A' + 'a') : plain ? *c : '_';
		}
	}
	name[n] = 0;
	if (!n)
		snprintf(name, GPU_TEXT_SIZE, "imported");
}

static int load_base(struct from *f, const char *name)
{
	double capability = from_number(f, CONFIG_MAJOR) * 10 + from_number(f, CONFIG_MINOR);
	for (size_t i = 0; !name; i++)
		if (capability >= bases[i].capability)
			name = bases[i].name;
	f->base_name = name;
	f->values = calloc(gpu_key_count(), sizeof *f->values);
	f->origins = calloc(gpu_key_count(), sizeof *f->origins);
	if (!f->values || !f->origins)
		return gs_fail(&f->error, ENOMEM, "out of memory");
	return gpu_load(&f->base, name, gpus_read, NULL, NULL, f->origins, &f->error);
}

static int describe(struct from *f, const struct arguments *a, struct gs_buf *out)
{
	char name[GPU_TEXT_SIZE], title[GPU_TEXT_SIZE + 16];
	f->trace = a->trace != NULL;
	int result = from_read(f, a->config, file_of(a->config));
	if (!result && a->trace)
		result = from_read(f, a->trace, file_of(a->trace));
	if (!result)
		result = load_base(f, a->base);
	if (result)
		return result;
	char folder[PATH_MAX];
	snprintf(folder, sizeof folder, "%.*s", (int)(file_of(a->config) - a->config), a->config);
	f->folder = folder;
	from_core(f);
	from_classes(f);
	from_memory(f);
	if (f->failed)
		return -EINVAL;
	name_of(a->config, name);
	snprintf(title, sizeof title, "%s %s", f->trace ? "Accel-Sim" : "GPGPU-Sim", a->name ? a->name : name);
	return from_write(f, a->name ? a->name : name, title, out);
}

static int write_out(struct from *f, const char *path, const struct gs_buf *text)
{
	if (path)
		return gs_write_file(path, text->data, text->len, &f->error);
	if (fwrite(text->data, 1, text->len, stdout) != text->len || fflush(stdout))
		return gs_fail(&f->error, EIO, "cannot write to stdout");
	return 0;
}

int cmd_gpu_from(int argc, char **argv)
{
	struct arguments a = {0};
	struct from f = {0};
	struct gs_buf text = {0};
	char config[PATH_MAX], trace[PATH_MAX];
	int result = take_arguments(argc, argv, &a);
	if (result)
		return result;
	look_into_folder(&a, config, trace);
	result = describe(&f, &a, &text);
	if (!result)
		result = write_out(&f, a.output, &text);
	if (result)
		cmd_fail("gpu-from: %s", f.error.text);
	gs_buf_free(&text);
	from_free(&f);
	return result ? 1 : 0;
}
