/* See assemble.h. */
#include "runtime/cc/assemble.h"

#include "analysis/assembled/assembled.h"
#include "analysis/builtins/target_name.h"
#include "runtime/base/tool.h"
#include "runtime/format/protocol.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SECONDS = 20 }; /* what takes longer is left to selected code */

/* ---- the text ---- */

static bool starts_with(const char *at, const char *end, const char *word)
{
	size_t length = strlen(word);
	return (size_t)(end - at) >= length && !memcmp(at, word, length);
}

static bool is_of_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%';
}

/* Whether the text has this word, after its first character. */
static bool has_word(const char *at, const char *end, const char *word)
{
	size_t length = strlen(word);
	for (const char *p = at + 1; p < end; p++)
		if (starts_with(p, end, word) && !is_of_name(p[-1]) && !is_of_name(p[length]))
			return true;
	return false;
}

/* Functions that the driver has, and that the assembler knows, and those whose body is elsewhere in the module. */
static bool is_known(const char *at, const char *end, const struct ptx_module *module)
{
	static const char *const names[] = {"vprintf", "malloc", "free", "__assertfail"};
	for (size_t i = 0; i < GS_ARRAY_LEN(names); i++)
		if (has_word(at, end, names[i]))
			return true;
	for (uint32_t i = 0; i < module->function_count; i++)
		if (module->functions[i].instruction_count && has_word(at, end, module->functions[i].name))
			return true;
	return false;
}

/* The end of a function without a body that begins here, or NULL: this is something else. */
static const char *find_declaration(const char *at, const char *end, const struct ptx_module *module)
{
	const char *func = starts_with(at, end, ".extern .func") ? at + strlen(".extern ") : at;
	if (!starts_with(func, end, ".func"))
		return NULL;
	while (at < end && *at != ';' && *at != '{')
		at++;
	return at < end && *at == ';' && !is_known(func, at, module) ? at : NULL;
}

/*
 * The text for the assembler, with the same lines. Probes are left out. Functions without a body stand for library functions; they get an empty
 * body, so that the kernels beside those that call them can be assembled.
 */
static void write_text(const char *ptx, size_t length, const struct ptx_module *module, struct gs_buf *out)
{
	const char *end = ptx + length, *next;
	for (const char *line = ptx; line < end; line = next) {
		const char *newline = memchr(line, '\n', (size_t)(end - line)), *first = line;
		next = newline ? newline + 1 : end;
		while (first < next && isspace((unsigned char)*first))
			first++;
		if (starts_with(first, next, ".pseudoprobe")) {
			gs_buf_puts(out, "\n");
			continue;
		}
		const char *close = first < next ? find_declaration(first, end, module) : NULL;
		if (!close) {
			gs_buf_add(out, line, (size_t)(next - line));
			continue;
		}
		first += starts_with(first, close, ".extern ") ? strlen(".extern ") : 0;
		gs_buf_add(out, first, (size_t)(close - first));
		gs_buf_puts(out, "{ ret; }");
		next = close + 1;
	}
}

/* ---- the assembler ---- */

static int run_ptxas(const struct gs_buf *text, const char *arch, const char *folder, struct gs_buf *cubin, struct gs_error *err)
{
	struct words args = {0};
	char from[4200], to[4200], messages[4200];
	snprintf(from, sizeof from, "%s/k.ptx", folder);
	snprintf(to, sizeof to, "%s/k.cubin", folder);
	snprintf(messages, sizeof messages, "%s/k.messages", folder);
	words_printf(&args, "-arch=%s", arch);
	words_add(&args, "-lineinfo");
	words_add(&args, "-o");
	words_add(&args, "k.cubin"); /* names within the folder: messages have them */
	words_add(&args, "k.ptx");
	int result = args.failed ? gs_fail(err, ENOMEM, "out of memory") : gs_write_file(from, text->data, text->len, err);
	const struct clang_run run = {.args = (const char *const *)args.items, .messages = messages, .cwd = folder};
	if (!result)
		result = tool_run(ptxas_path(), &run, MOST_SECONDS, err);
	if (!result)
		result = gs_read_file(to, cubin, err);
	words_free(&args);
	return result;
}

/* The architecture for the assembler: the target's, or that of the PTX where it is the same with a letter (sm_90a). */
static void choose_arch(const struct ptx_module *module, const char *target, char *out, size_t size)
{
	const char *own = target_assembler(target);
	size_t length = strcspn(own, ":");
	const char *given = module->target;
	bool letter = !strncmp(given, own, length) && isalpha((unsigned char)given[length]);
	snprintf(out, size, "%.*s", (int)length + letter, letter ? given : own);
}

void assemble(const char *ptx, size_t length, const struct ptx_module *module, const char *target, bool of_program, struct assembled_module *out)
{
	struct gs_buf text = {0};
	char *folder = NULL, arch[64];
	*out = (struct assembled_module){.wanted = target_wants_assembled(target, of_program)};
	if (!out->wanted || !ptx)
		return;
	if (!ptxas_path()) {
		gs_fail(&out->why, ENOENT, PROTOCOL_NO_ASSEMBLER);
		return;
	}
	write_text(ptx, length, module, &text);
	choose_arch(module, target, arch, sizeof arch);
	int result = text.failed ? gs_fail(&out->why, ENOMEM, "out of memory") : folder_create(&folder, &out->why);
	if (!result)
		result = run_ptxas(&text, arch, folder, &out->bytes, &out->why);
	if (!result)
		result = cubin_read(out->bytes.data, out->bytes.len, &out->cubin, &out->why);
	out->there = !result;
	folder_remove(folder);
	free(folder);
	gs_buf_free(&text);
}

void assembled_module_free(struct assembled_module *a)
{
	cubin_free(&a->cubin);
	gs_buf_free(&a->bytes);
}

/* ---- kernels ---- */

struct machine_kernel {
	const struct ptx_function *function;
	const struct cubin *cubin, *own_cubin;
	const struct cubin_code *sass, *own; /* the assembler's and the program's; NULL: there is none */
};

/* The program's own code has no table of lines. Where the assembler makes the same of the PTX, that one's serves. */
static int apply_own(const struct machine_kernel *k, struct kernel_code *code, struct gs_error *why)
{
	struct cubin_code own = *k->own;
	if (!own.lines && k->sass && k->cubin->arch == k->own_cubin->arch && assembled_same(k->cubin->arch, k->sass, k->own))
		own.lines = k->sass->lines;
	int result = assembled_apply(k->function, k->own_cubin, &own, code, why);
	if (!result)
		code->origin = CODE_OF_PROGRAM;
	return result;
}

/* Returns what the code is (protocol.h), or NULL: it is as it was. */
static const char *apply_machine(const struct machine_kernel *k, struct kernel_code *code, struct gs_error *why)
{
	if (!k->function || (!k->sass && !k->own)) {
		gs_fail(why, ENOENT, "the machine code has no kernel of that name");
		return NULL;
	}
	if (k->own && !apply_own(k, code, why))
		return "program";
	if (k->sass && !assembled_apply(k->function, k->cubin, k->sass, code, why))
		return "machine";
	return NULL;
}

void assemble_kernel(const struct assembled_module *a, const struct own_code *own, const struct ptx_module *module, const char *kernel, struct kernel_code *code,
                     struct gs_buf *section)
{
	struct gs_error why = a->why;
	struct machine_kernel k = {.function = ptx_find(module, kernel), .cubin = &a->cubin, .sass = a->there ? cubin_find(&a->cubin, kernel) : NULL};
	k.own = own ? own_code_find(own, kernel, &k.own_cubin) : NULL;
	const struct cubin_code *taken = k.own ? k.own : k.sass;
	if (a->wanted) {
		const char *what = a->there || k.own ? apply_machine(&k, code, &why) : NULL;
		if (what)
			gs_buf_printf(section, "code %s %s\n", kernel, what);
		else
			gs_buf_printf(section, "code %s selected %.*s\n", kernel, (int)strcspn(why.text, "\n"), why.text);
	}
	if (own && taken && taken->registers) {
		code->registers = taken->registers;
		code->shared_bytes = taken->shared_bytes;
	}
}
