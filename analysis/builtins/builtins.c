/* Costs of library functions from the table in builtins.def; see builtins.h. */
#include "analysis/builtins/builtins.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "__gpusim_fn_"
#define MEASURED "NVIDIA OpenCL, driver 580, on an H200: executed SASS, counted with Nsight Compute"

enum { FIRST_WITHOUT_RANGE_REDUCTION = 70, FIRST_WITH_I2FP = 90 };

struct builtin_cost {
	const char *name; /* after PREFIX; or a pattern of mangled names, or an opcode */
	const char *steps, *source;
};

#define FUNCTION(function, type, steps) {#function "_" #type, steps, MEASURED},
#define RELAXED(function, type, steps)
#define OPCODE(opcode, steps)
#define MANGLED(pattern, steps, source)
static const struct builtin_cost functions[] = {
#include "analysis/builtins/builtins.def"
#undef FUNCTION
#undef RELAXED
#define FUNCTION(function, type, steps)
#define RELAXED(function, type, steps) {"relaxed_" #function "_" #type, steps, MEASURED},
#include "analysis/builtins/builtins.def"
};
#undef RELAXED
#undef OPCODE

#define RELAXED(function, type, steps)
#define OPCODE(opcode, steps) {opcode, steps, MEASURED},
static const struct builtin_cost opcodes[] = {
#include "analysis/builtins/builtins.def"
};
#undef OPCODE
#undef MANGLED

#define OPCODE(opcode, steps)
#define MANGLED(pattern, steps, source) {pattern, steps, source},
static const struct builtin_cost patterns[] = {
#include "analysis/builtins/builtins.def"
};
#undef FUNCTION
#undef RELAXED
#undef OPCODE
#undef MANGLED

static const struct step_letter {
	char letter;
	uint8_t class, space, bytes;
} letters[] = {
	{'i', CODE_int, SPACE_none, 0},
	{'a', CODE_int_mad, SPACE_none, 0},
	{'n', CODE_int_minmax, SPACE_none, 0},
	{'f', CODE_fp32, SPACE_none, 0},
	{'F', CODE_fp32_fma, SPACE_none, 0},
	{'x', CODE_fp32_minmax, SPACE_none, 0},
	{'d', CODE_fp64, SPACE_none, 0},
	{'D', CODE_fp64_fma, SPACE_none, 0},
	{'s', CODE_sfu, SPACE_none, 0},
	{'r', CODE_sfu, SPACE_none, 0}, /* after a range reduction, where the GPU has one */
	{'c', CODE_conv, SPACE_none, 0},
	{'p', CODE_int, SPACE_none, 0}, /* a conversion, up to Ampere */
	{'l', CODE_logic, SPACE_none, 0},
	{'m', CODE_move, SPACE_none, 0},
	{'b', CODE_branch, SPACE_none, 0},
	{'H', CODE_shuffle, SPACE_none, 0},
	{'B', CODE_barrier, SPACE_none, 0},
	{'k', CODE_load, SPACE_const, 4},
	{'g', CODE_load, SPACE_global, 8},
	{'v', CODE_load, SPACE_shared, 4},
	{'w', CODE_store, SPACE_shared, 4},
	{'S', CODE_store, SPACE_local, 4},
	{'A', CODE_atomic, SPACE_global, 4},
	{'T', CODE_texture, SPACE_texture, 16},
	{'W', CODE_store, SPACE_texture, 16},
};

static const struct builtin_cost *find_cost(const struct builtin_cost *rows, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(rows[i].name, name))
			return &rows[i];
	return NULL;
}

/* _Z11read_imagef14ocl_image2d_ro...: returns where the name begins, and its length. The types follow the name. */
static const char *read_mangled(const char *symbol, size_t *length)
{
	if (strncmp(symbol, "_Z", 2) || !isdigit((unsigned char)symbol[2]))
		return NULL;
	char *name;
	*length = strtoul(symbol + 2, &name, 10);
	return strlen(name) >= *length ? name : NULL;
}

/* Finds the row of a function of mathematics by its mangled name. libclc lacks these functions; most are of half precision. */
static const struct builtin_cost *find_mangled_function(const char *name, size_t length)
{
	char key[64];
	const char *types = name + length;
	if (!strncmp(types, "Dv", 2) && strchr(types, '_'))
		types = strchr(types, '_') + 1;
	snprintf(key, sizeof key, "%.*s_%s", (int)(length < 40 ? length : 40), name, *types == 'd' ? "f64" : "f32");
	return find_cost(functions, GS_ARRAY_LEN(functions), key);
}

const struct builtin_cost *builtin_find(const char *function_name)
{
	size_t length;
	if (!strncmp(function_name, PREFIX, strlen(PREFIX)))
		return find_cost(functions, GS_ARRAY_LEN(functions), function_name + strlen(PREFIX));
	const char *name = read_mangled(function_name, &length);
	const struct builtin_cost *row = name ? find_mangled_function(name, length) : NULL;
	/* The last pattern fits every mangled name. Functions without a mangled name must match one of the other patterns. */
	size_t count = name ? GS_ARRAY_LEN(patterns) : GS_ARRAY_LEN(patterns) - 1;
	for (size_t i = 0; i < count && !row; i++)
		if (!fnmatch(patterns[i].name, name ? name : function_name, 0) &&
		    (name || !strncmp(function_name, "__", 2) || strstr(function_name, "printf")))
			row = &patterns[i];
	return row;
}

const struct builtin_cost *builtin_find_opcode(const char *opcode)
{
	return find_cost(opcodes, GS_ARRAY_LEN(opcodes), opcode);
}

static const struct step_letter *find_letter(char letter)
{
	for (size_t i = 0; i < GS_ARRAY_LEN(letters); i++)
		if (letters[i].letter == letter)
			return &letters[i];
	return &letters[0];
}

/* Reads the distance from a step back to the step that makes its operand. Distance 0 is an argument. */
static const char *read_distance(const char *text, size_t *distance)
{
	*distance = 1;
	if (*text == '.') {
		*distance = 0;
		return text + 1;
	}
	if (!isdigit((unsigned char)*text))
		return text;
	char *end;
	*distance = strtoul(text, &end, 10);
	return end;
}

size_t builtin_expand(const struct builtin_cost *cost, const char *arch, struct builtin_step *out, size_t room)
{
	unsigned long number = strtoul(arch + (strncmp(arch, "sm_", 3) ? 0 : 3), NULL, 10);
	bool reduces = number < FIRST_WITHOUT_RANGE_REDUCTION;
	int16_t place[BUILTIN_MAX_STEPS]; /* for each step of the text: its index among the written steps */
	size_t written = 0, read = 0, distance;
	for (const char *p = cost->steps; *p && written + 2 <= BUILTIN_MAX_STEPS; read++) {
		const struct step_letter *letter = find_letter(*p);
		bool reduced = *p == 'r' && reduces, converts = *p == 'p' && number < FIRST_WITH_I2FP;
		p = read_distance(p + 1, &distance);
		int16_t from = distance && distance <= read ? place[read - distance] : -1;
		if (reduced && written < room)
			out[written] = (struct builtin_step){CODE_conv, SPACE_none, 0, from};
		if (reduced)
			from = (int16_t)written++;
		if (written < room)
			out[written] = (struct builtin_step){converts ? CODE_conv : letter->class, letter->space, letter->bytes, from};
		place[read] = (int16_t)written++;
	}
	return written;
}

void builtin_name(const char *function_name, char *out, size_t size)
{
	size_t length;
	const char *name = read_mangled(function_name, &length);
	if (!strncmp(function_name, PREFIX, strlen(PREFIX))) {
		name = function_name + strlen(PREFIX);
		const char *type = strrchr(name, '_');
		length = type ? (size_t)(type - name) : strlen(name);
		snprintf(out, size, "%.*s (%s)", (int)length, name, type ? type + 1 : "");
	} else {
		snprintf(out, size, "%.*s", name ? (int)length : (int)strlen(function_name), name ? name : function_name);
	}
}

static bool is_listed(const struct gs_buf *list, size_t from, const char *line)
{
	const char *at = list->len > from ? list->data + from : NULL;
	size_t length = strlen(line);
	for (; at && (at = strstr(at, line)); at += length)
		if ((at == list->data + from || at[-1] == '\n') && at[length] == '\n')
			return true;
	return false;
}

static void list_function(const struct ptx_function *f, size_t from, struct gs_buf *out)
{
	char line[128] = "?";
	builtin_name(f->name, line + 1, sizeof line - 1);
	const char *name = builtin_find(f->name) ? line + 1 : line;
	if (!is_listed(out, from, name))
		gs_buf_printf(out, "%s\n", name);
}

static const struct ptx_function *called_by(const struct ptx_module *module, const struct ptx_instruction *i)
{
	const struct ptx_operand *callee = ptx_callee(i);
	return callee && callee->kind == PTX_SYMBOL ? ptx_find(module, callee->text) : NULL;
}

/* depth limits recursion. GPU code hardly ever has any. */
static void list_calls(const struct ptx_module *module, const struct ptx_function *f, unsigned depth, size_t from,
                       struct gs_buf *out)
{
	for (uint32_t i = 0; i < f->instruction_count; i++) {
		const struct ptx_function *callee = called_by(module, &f->instructions[i]);
		if (callee && callee->external)
			list_function(callee, from, out);
		else if (callee && depth)
			list_calls(module, callee, depth - 1, from, out);
	}
}

void builtin_list(const struct ptx_module *module, const struct ptx_function *function, struct gs_buf *out)
{
	enum { DEEPEST = 8 };
	size_t from = out->len;
	if (function)
		list_calls(module, function, DEEPEST, from, out);
	for (uint32_t i = 0; i < module->function_count && !function; i++) {
		const struct ptx_function *f = ptx_find(module, module->functions[i].name);
		if (f && f->external)
			list_function(f, from, out);
	}
}
