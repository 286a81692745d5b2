/* gpusim explain: what a source file becomes on a GPU, without running anything; see explain.h. */
#include "runtime/cmd/cmd.h"
#include "runtime/cmd/explain/explain.h"

#include "runtime/config/gpus.h"
#include "runtime/config/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "Usage: gpusim explain FILE.cl|FILE.ptx|PROGRAM [OPTIONS]\n"
    "\n"
    "Shows what each line of an OpenCL source becomes on a GPU and what it costs there, without running it.\n"
    "Of PTX, of a fat binary, or of a CUDA program with PTX in it, it shows the lines of the PTX that the GPU takes:\n"
    "of the first module that has kernels, or of the one with --kernel. Without --kernel, --html or --dot, a program with several kernels is\n"
    "listed: which there are, with their registers, memory and occupancy, also those that have only machine code.\n"
    "\n"
    "  --gpu NAME|FILE.gpu    the GPU (gpusim gpus lists them); default: GPUSIM_GPU, or h200\n"
    "  --set KEY=VALUE,...    override keys of its description\n"
    "  --kernel NAME          only this kernel; default: all of the file\n"
    "  -D NAME[=VALUE], -I DIR, -cl-...   build options, as for clBuildProgram\n"
    "  --options \"...\"        several of them at once\n"
    "  --local N[,M[,K]]      the local size that will be used; it is marked in the table of occupancy\n"
    "  --shared BYTES         local memory that the program passes as an argument\n"
    "  --dot DIR              also write graphs: KERNEL.dot is the control flow, KERNEL.block-N.dot the pipeline\n"
    "                         execution graph of block N\n"
    "  --html FILE            write a page instead of printing\n"
    "\n"
    "Columns:\n"
    "  blocks   the basic blocks that the line's instructions are in\n"
    "  inst     how many instructions\n"
    "  mix      how many of each kind\n"
    "  cycles   from the issue of each instruction to the issue of the next: one warp alone, memory at its best,\n"
    "           every block runs once\n"
    "Instructions are those that the GPU executes: machine instructions, or PTX where the description says so\n"
    "(machine_code). NO_COLOR switches colours off.\n";

struct explain_arguments {
	const char *file, *gpu, *set, *kernel, *local, *shared, *dot, *html;
	struct gs_buf options;
};

/* Adds a word to the build options, in quotes. */
static void add_option(struct gs_buf *options, const char *word)
{
	gs_buf_puts(options, " \"");
	for (; *word; word++) {
		if (*word == '"' || *word == '\\')
			gs_buf_puts(options, "\\");
		gs_buf_add(options, word, 1);
	}
	gs_buf_puts(options, "\"");
}

/* Takes -DX, -D X, -IX, -I X and -cl-..., which go to the compiler. */
static bool take_build_option(int argc, char **argv, int *i, struct gs_buf *options)
{
	const char *word = argv[*i];
	if (strncmp(word, "-D", 2) && strncmp(word, "-U", 2) && strncmp(word, "-I", 2) && strncmp(word, "-cl-", 4))
		return false;
	add_option(options, word);
	if (!word[2] && *i + 1 < argc)
		add_option(options, argv[++*i]);
	return true;
}

static int unknown_option(const char *word)
{
	static const char *const names[] = {"--gpu", "--set", "--kernel", "--options", "--local", "--shared", "--dot",
	                                    "--html", "--help", NULL};
	const char *nearest = gs_nearest(word, names);
	if (nearest && !strcmp(nearest, word))
		return cmd_fail("explain: %s needs a value", word);
	return cmd_fail("explain: there is no option %s%s%s%s", word, nearest ? "; did you mean " : "",
	                nearest ? nearest : " (gpusim explain --help lists them)", nearest ? "?" : "");
}

static int read_arguments(int argc, char **argv, struct explain_arguments *a)
{
	for (int i = 1; i < argc; i++) {
		const char *options = NULL, *flag = argv[i];
		if (cmd_value("--gpu", argc, argv, &i, &a->gpu) || cmd_value("--set", argc, argv, &i, &a->set) ||
		    cmd_value("--kernel", argc, argv, &i, &a->kernel) || cmd_value("--local", argc, argv, &i, &a->local) ||
		    cmd_value("--shared", argc, argv, &i, &a->shared) || cmd_value("--dot", argc, argv, &i, &a->dot) ||
		    cmd_value("--html", argc, argv, &i, &a->html) || cmd_value("--options", argc, argv, &i, &options)) {
			if (options)
				gs_buf_printf(&a->options, " %s", options);
		} else if (take_build_option(argc, argv, &i, &a->options)) {
			continue;
		} else if (flag[0] == '-' && flag[1]) {
			return unknown_option(flag);
		} else if (a->file) {
			return cmd_fail("explain: one source file at a time: '%s' or '%s'", a->file, flag);
		} else {
			a->file = flag;
		}
	}
	return a->file ? 0 : cmd_fail("explain: name a source file: gpusim explain FILE.cl [--gpu NAME] ...");
}

static int read_local(const char *text, struct explain *e)
{
	const char *at = text;
	e->local_threads = 1;
	for (int i = 0; i < 3 && at; i++) {
		char *end;
		unsigned long long value = strtoull(at, &end, 10);
		if (*at < '0' || *at > '9' || !value || (*end && (*end != ',' || i == 2)))
			return cmd_fail("explain: --local %s: must be N, N,M or N,M,K", text);
		/* The limit is so low that no product of two numbers below it overflows. */
		if (value <= e->gpu.max_threads_per_block)
			e->local_threads *= value;
		if (value > e->gpu.max_threads_per_block || e->local_threads > e->gpu.max_threads_per_block)
			return cmd_fail("explain: --local %s: %s has work-groups of %u work-items at most", text,
					e->gpu.name, e->gpu.max_threads_per_block);
		at = *end ? end + 1 : NULL;
	}
	return 0;
}

static int read_shared(const char *text, struct explain *e)
{
	char *end;
	e->dynamic_shared = strtoull(text, &end, 10);
	return end == text || *end || *text == '-' || e->dynamic_shared > UINT32_MAX
		       ? cmd_fail("explain: --shared %s: must be a number of bytes", text)
		       : 0;
}

static void complain(const char *line)
{
	cmd_fail("%s", line);
}

/* Reads the GPU that the user named, or else the first one of GPUSIM_GPU. */
static int read_gpu(const struct explain_arguments *a, struct explain *e)
{
	extern char **environ;
	struct gs_options options;
	struct gs_error err;
	options_defaults(&options);
	options_from_environment(&options, environ, complain);
	const char *given = a->gpu ? a->gpu : options.gpu.text;
	char *name = strdup(given);
	if (name && !a->gpu)
		name[strcspn(name, ",")] = 0;
	int failed = !name || gpu_load(&e->gpu, name, gpus_read, NULL, a->set ? a->set : options.set.text, NULL, &err);
	free(name);
	options_free(&options);
	return failed ? cmd_fail("explain: %s", err.text) : 0;
}

static bool wants_colours(void)
{
	const char *no = getenv("NO_COLOR"), *terminal = getenv("TERM");
	return isatty(STDOUT_FILENO) && (!no || !*no) && terminal && strcmp(terminal, "dumb");
}

static bool wants_unicode(void)
{
	const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
	for (size_t i = 0; i < GS_ARRAY_LEN(names); i++) {
		const char *value = getenv(names[i]);
		if (value && *value)
			return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
	}
	return false;
}

static int show(const struct explain_arguments *a, const struct explain *e, struct gs_error *err)
{
	struct gs_buf out = {0};
	int result = a->dot ? explain_dot(e, a->dot, err) : 0;
	if (!result && a->html) {
		explain_html(e, &out);
		result = gs_write_file(a->html, out.data, out.len, err);
	} else if (!result) {
		explain_text(e, wants_colours(), wants_unicode(), &out);
		fwrite(out.data, 1, out.len, stdout);
	}
	gs_buf_free(&out);
	return result;
}

static int compile(const struct explain_arguments *a, struct explain *e, bool image, const char *target, struct gs_pack *answer,
                   struct gs_error *err)
{
	struct gs_buf marked = {0};
	if (!image)
		return explain_compile(a->file, &e->source.text, a->options.data ? a->options.data : "", target, answer, err);
	explain_mark_lines(&e->source.text, &marked);
	int result = explain_compile_ptx(a->file, &marked, target, answer, err);
	gs_buf_free(&marked);
	return result;
}

/* *done: the file is a program whose kernels were listed. */
static int list_kernels(const struct explain *e, const char *target, bool *done, struct gs_error *err)
{
	struct explain_list list;
	struct gs_buf out = {0};
	int result = explain_list_kernels(e, target, &list, err);
	if (result)
		return result;
	*done = list.count > 1 || (list.count && !list.kernels[0].ptx);
	if (*done) {
		explain_list_text(e, &list, &out);
		fwrite(out.data, 1, out.len, stdout);
	}
	gs_buf_free(&out);
	explain_list_free(&list);
	return 0;
}

static int explain(const struct explain_arguments *a, struct explain *e, struct gs_error *err)
{
	struct gs_pack answer = {0};
	char target[GPU_TARGET_SIZE];
	bool image = false, listed = false;
	gpu_target_name(&e->gpu, target);
	int result = explain_read_source(&e->source, a->file, err);
	if (!result && !a->kernel && !a->dot && !a->html)
		result = list_kernels(e, target, &listed, err);
	if (result || listed)
		return result;
	result = explain_read_image(&e->source, target, a->kernel, &image, err);
	if (!result)
		result = compile(a, e, image, target, &answer, err);
	if (!result)
		result = explain_read_code(e, &answer, a->kernel, err);
	if (!result)
		result = image ? explain_read_ptx_ranges(&e->source, e->module, err) : explain_read_ranges(&e->source, &answer, err);
	for (size_t i = 0; i < e->kernel_count && !result; i++)
		result = explain_attribute(e, &e->kernels[i], err);
	if (!result)
		result = show(a, e, err);
	gs_pack_free(&answer);
	return result;
}

int cmd_explain(int argc, char **argv)
{
	struct explain_arguments a = {0};
	struct explain *e = calloc(1, sizeof *e);
	struct gs_error err = {"out of memory"};
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
			fputs(help, stdout);
			free(e);
			return 0;
		}
	int failed = !e ? cmd_fail("explain: %s", err.text) : read_arguments(argc, argv, &a);
	if (!failed)
		failed = read_gpu(&a, e);
	if (!failed && a.local)
		failed = read_local(a.local, e);
	if (!failed && a.shared)
		failed = read_shared(a.shared, e);
	if (!failed && explain(&a, e, &err))
		failed = cmd_fail("explain: %s", err.text);
	if (e)
		explain_free(e);
	free(e);
	gs_buf_free(&a.options);
	return failed;
}
