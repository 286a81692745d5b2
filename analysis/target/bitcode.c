/*
 * Runs clang's front end: it makes unoptimised bitcode of every unit, with libclc's builtins linked in.
 *
 * The bitcode is the same for all architectures, because NVPTX takes the processor from the target machine alone. So one run
 * serves every target.
 */
#include "analysis/target/internal.h"
#include "runtime/base/tool.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *builtins_path(void)
{
	static const char *const places[] = {
		"/usr/lib/clc/nvptx64--nvidiacl.bc",
		"/usr/share/clc/nvptx64--nvidiacl.bc",
		"/usr/local/lib/clc/nvptx64--nvidiacl.bc",
	};
	const char *chosen = getenv("GPUSIM_LIBCLC");
	if (chosen && *chosen)
		return chosen;
	for (size_t i = 0; i < GS_ARRAY_LEN(places); i++)
		if (!access(places[i], R_OK))
			return places[i];
	return NULL;
}

/* clang marks functions for relaxed arithmetic only if contraction is allowed, too. */
static bool relaxes_arithmetic(const char *word)
{
	return !strcmp(word, "-cl-fast-relaxed-math") || !strcmp(word, "-cl-unsafe-math-optimizations") ||
	       !strcmp(word, "-cl-mad-enable");
}

/* Adds the options that change code. Each is one word. Only clang's own front end (-cc1) knows -cl-ext. */
static void add_options(struct words *args, const char *options)
{
	char *copy = strdup(options ? options : ""), *rest = copy, *word;
	if (!copy)
		args->failed = true;
	while (copy && (word = strsep(&rest, " \t\n\r"))) {
		if (!strncmp(word, "-cl-ext=", 8)) {
			words_add(args, "-Xclang");
			words_add(args, word);
		} else if (!strncmp(word, "-cl-", 4) && strcmp(word, "-cl-kernel-arg-info")) {
			words_add(args, word);
			if (relaxes_arithmetic(word))
				words_add(args, "-ffp-contract=fast");
		}
	}
	free(copy);
}

static bool has_word(const char *options, const char *word)
{
	size_t length = strlen(word);
	for (const char *at = options; at && (at = strstr(at, word)); at += length)
		if ((at == options || isspace((unsigned char)at[-1])) && (!at[length] || isspace((unsigned char)at[length])))
			return true;
	return false;
}

/* A program is not optimised if one of its units must not be. It is as accurate as its strictest unit demands. */
static struct target_settings settings_of(const struct target_unit *units, size_t count)
{
	struct target_settings s = {.optimise = true, .relaxed = true};
	for (size_t i = 0; i < count; i++) {
		const char *options = units[i].options ? units[i].options : "";
		s.optimise &= !has_word(options, "-cl-opt-disable");
		s.relaxed &= has_word(options, "-cl-fast-relaxed-math") ||
		             has_word(options, "-cl-unsafe-math-optimizations");
		s.flushes_denormals |= has_word(options, "-cl-denorms-are-zero");
		s.correctly_rounded |= has_word(options, "-cl-fp32-correctly-rounded-divide-sqrt");
	}
	return s;
}

static void add_arguments(struct words *args, const struct target_unit *unit, bool optimise, bool full_header)
{
	static const char *const fixed[] = {
		"-x", "cl", "-target", TARGET_TRIPLE, "-c", "-emit-llvm", "-w", "-fno-crash-diagnostics",
		/* OpenCL programs call an inline function without an external definition, so it must also be a function. */
		"-fgnu89-inline",
		/* The host's driver accepted the program. Errors that newer compilers report must not reject it. */
		"-Wno-int-conversion", "-Wno-incompatible-pointer-types", "-Wno-implicit-int",
		"-Xclang", "-disable-llvm-passes", "-nogpulib",
		/* .loc lines say which source line an instruction comes from. Full line tables would mark the PTX as debug code, and
		 * they do not work for every program. The folder changes with each run, so it is left out. */
		"-gline-directives-only", "-fdebug-compilation-dir=.",
		/* Probes add brackets. */
		"-fbracket-depth=4096",
	};
	for (size_t i = 0; i < GS_ARRAY_LEN(fixed); i++)
		words_add(args, fixed[i]);
	words_add(args, optimise ? "-O3" : "-O0");
	if (full_header)
		words_add(args, "-cl-no-stdinc");
	words_add(args, "-include");
	words_add(args, full_header ? "opencl-c.h" : "prelude.cl");
	if (full_header) {
		words_add(args, "-include");
		words_add(args, "prelude.cl");
	}
	words_add(args, "-Xclang");
	words_add(args, "-mlink-builtin-bitcode");
	words_add(args, "-Xclang");
	words_add(args, builtins_path());
	add_options(args, unit->options);
}

static int run_clang(const struct target_unit *unit, const struct target_bitcode *b, size_t index, bool full_header,
                     struct gs_error *err)
{
	struct words args = {0}, names = {0};
	words_printf(&names, "%s/unit%zu.cl", b->folder, index);
	words_printf(&names, "%s/messages", b->folder);
	add_arguments(&args, unit, b->settings.optimise, full_header);
	words_add(&args, "-o");
	words_add(&args, b->files.items[index]);
	int result = names.failed ? gs_fail(err, ENOMEM, "out of memory")
	                          : gs_write_file(names.items[0], unit->text, unit->length, err);
	if (!result) {
		words_add(&args, names.items[0]);
		if (args.failed)
			result = gs_fail(err, ENOMEM, "out of memory");
	}
	if (!result)
		result = clang_run(&(struct clang_run){.args = (const char *const *)args.items, .cwd = b->folder,
		                                       .messages = names.items[1]}, err);
	words_free(&names);
	words_free(&args);
	return result;
}

/* First tries the builtins that clang declares by itself. If clang rejects the program, it may need clang's full header. */
static int compile_unit(const struct target_unit *unit, struct target_bitcode *b, size_t index, struct gs_error *err)
{
	words_printf(&b->files, "%s/unit%zu.bc", b->folder, index);
	if (b->files.failed)
		return gs_fail(err, ENOMEM, "out of memory");
	struct gs_error first = {""}, second = {""};
	int result = run_clang(unit, b, index, false, &first);
	if (result == -EINVAL && !run_clang(unit, b, index, true, &second))
		return 0;
	if (result && err)
		*err = first;
	return result;
}

static int compile_all(const struct target_unit *units, size_t count, struct target_bitcode *b, struct gs_error *err)
{
	struct words prelude = {0};
	words_printf(&prelude, "%s/prelude.cl", b->folder);
	int result = prelude.failed ? gs_fail(err, ENOMEM, "out of memory")
	                            : gs_write_file(prelude.items[0], target_prelude, strlen(target_prelude), err);
	for (size_t i = 0; i < count && !result; i++)
		result = compile_unit(&units[i], b, i, err);
	words_free(&prelude);
	return result;
}

int target_bitcode_create(const struct target_unit *units, size_t count, struct target_bitcode **out,
                          struct gs_error *err)
{
	if (!count)
		return gs_fail(err, EINVAL, "nothing to compile");
	if (!builtins_path())
		return gs_fail(err, ENOENT, "libclc for nvptx64 is not installed (GPUSIM_LIBCLC may name it)");
	struct target_bitcode *b = calloc(1, sizeof *b);
	if (!b)
		return gs_fail(err, ENOMEM, "out of memory");
	b->settings = settings_of(units, count);
	int result = folder_create(&b->folder, err);
	if (!result)
		result = compile_all(units, count, b, err);
	if (result) {
		target_bitcode_free(b);
		return result;
	}
	*out = b;
	return 0;
}

void target_bitcode_free(struct target_bitcode *b)
{
	if (!b)
		return;
	words_free(&b->files);
	folder_remove(b->folder);
	free(b->folder);
	free(b);
}
