/* Reads a PTX module: its directives, variables and functions. */
#include "analysis/ptx/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void ptx_vector_free(struct ptx_vector *v)
{
	free(v->data);
}

/* .maxntid 256, 1, 1 */
static void read_sizes(struct ptx_reader *r, uint32_t *out, uint32_t most)
{
	int64_t value;
	for (uint32_t i = 0; i < most; i++) {
		ptx_skip_blanks(&r->in);
		if (!ptx_take_number(&r->in, &value))
			return;
		out[i] = (uint32_t)value;
		ptx_skip_blanks(&r->in);
		if (!ptx_take_char(&r->in, ','))
			return;
	}
}

/* Reads one directive between the parameters and the body. */
static void read_attribute(struct ptx_reader *r)
{
	struct ptx_function *f = r->function;
	struct ptx_span word = ptx_take_directive(&r->in);
	uint32_t ignored[4];
	if (ptx_read_line_directive(r, word))
		return;
	if (ptx_span_is(word, ".pragma"))
		ptx_skip_statement(&r->in);
	else if (ptx_span_is(word, ".reqntid"))
		read_sizes(r, f->reqntid, 3);
	else if (ptx_span_is(word, ".maxntid"))
		read_sizes(r, f->maxntid, 3);
	else if (ptx_span_is(word, ".minnctapersm"))
		read_sizes(r, &f->minnctapersm, 1);
	else if (ptx_span_is(word, ".maxnreg"))
		read_sizes(r, &f->maxnreg, 1);
	else if (ptx_span_is(word, ".reqnctapercluster"))
		read_sizes(r, f->reqnctapercluster, 3);
	else if (ptx_span_is(word, ".noreturn"))
		f->noreturn = true;
	else
		read_sizes(r, ignored, GS_ARRAY_LEN(ignored));
}

/* (.param .u64 .ptr .global .align 4 a, .param .b8 b[16]), or in old PTX (.reg .u32 %a) */
void ptx_read_parameters(struct ptx_reader *r, enum ptx_where where)
{
	struct ptx_cursor *in = &r->in;
	struct ptx_span type = {0};
	for (in->at++, ptx_skip_blanks(in); in->at < in->end && *in->at != '{' && *in->at != ';'; ptx_skip_blanks(in)) {
		if (ptx_take_char(in, ')'))
			return;
		struct ptx_span word = ptx_take_directive(in), name;
		if (ptx_span_is(word, ".param"))
			ptx_read_variable(r, SPACE_param, where);
		else if (word.length)
			type = word;
		else if (!(name = ptx_take_name(in, false)).length)
			in->at++;
		else if (where == PTX_IN_PARAMETERS) {
			r->function->passes_registers = true;
			ptx_declare_register(r, name, type);
		}
	}
}

/* Adds the labels of jump tables to brx instructions. A table may stand after its brx. */
static void expand_tables(struct ptx_reader *r)
{
	struct ptx_instruction *instructions = r->instructions.data;
	const struct ptx_brx *brx = r->brx.data;
	for (uint32_t b = 0; b < r->brx.count && !r->failed; b++) {
		struct ptx_instruction *i = &instructions[brx[b].instruction];
		const struct ptx_table *t = brx[b].table->table;
		if (!t || brx[b].table->table_function != r->function_number || t->count > r->table_budget)
			continue;
		r->table_budget -= t->count;
		struct ptx_operand *operands = ptx_arena_alloc(r->arena, (t->count + 1) * sizeof *operands);
		r->failed |= !operands;
		if (r->failed)
			return;
		operands[0] = i->operands[0];
		memcpy(operands + 1, t->labels, t->count * sizeof *operands);
		i->operands = operands;
		i->operand_count = t->count + 1;
	}
	r->brx.count = 0;
}

/* Gives indirect calls their prototypes. A prototype may stand after its call. */
static void find_prototypes(struct ptx_reader *r)
{
	struct ptx_instruction *instructions = r->instructions.data;
	const struct ptx_brx *calls = r->indirect.data;
	for (uint32_t i = 0; i < r->indirect.count && !r->failed; i++)
		if (calls[i].table->prototype_function == r->function_number)
			instructions[calls[i].instruction].prototype = (int32_t)calls[i].table->prototype;
	r->indirect.count = 0;
}

static void begin_function(struct ptx_reader *r, bool entry)
{
	r->function = ptx_push(r, &r->functions, sizeof *r->function);
	*r->function = (struct ptx_function){.name = "", .entry = entry, .external = true, .linkage = r->linkage};
	r->function->ptx_line = ptx_line_here(&r->in);
	r->function_number++;
	r->depth = r->braces = 0;
	r->file = r->line = r->column = 0;
	ptx_scope_open(r);
}

/* ---- asynchronous copies ---- */

static bool is_bulk_load(const struct ptx_instruction *i)
{
	return i->class == CODE_load && ptx_is_bulk(i);
}

static bool is_copy(const struct ptx_instruction *i)
{
	return is_bulk_load(i) || (i->class == CODE_load && !strncmp(i->opcode, "cp.async.c", 10));
}

static bool asks_barrier(const struct ptx_instruction *i)
{
	return !strncmp(i->opcode, "mbarrier.test_wait", 18) || !strncmp(i->opcode, "mbarrier.try_wait", 17);
}

/* A loop begins before this instruction: a later one branches there. */
static bool begins_loop(struct ptx_reader *r, uint32_t at)
{
	const struct ptx_label *labels = r->labels.data;
	const struct ptx_instruction *code = r->instructions.data;
	for (uint32_t i = at; i < r->instructions.count; i++)
		for (uint32_t o = 0; o < code[i].operand_count; o++)
			if (code[i].operands[o].kind == PTX_LABEL && code[i].operands[o].label >= 0 && labels[code[i].operands[o].label].at == at)
				return true;
	return false;
}

/*
 * Barriers in shared memory are waited for by an address, so which bulk copies a wait is for is not known. If each copy has a wait after it, and no
 * loop begins between copies that are waited for together, none is under way in the next round: a wait is for all. Else copies are made ahead, and
 * no wait is known to be for the last ones.
 */
static bool barriers_wait_for_all(struct ptx_reader *r)
{
	const struct ptx_instruction *code = r->instructions.data;
	bool open = false, looped = false; /* copies are under way; a loop has begun since the last */
	for (uint32_t i = 0; i < r->instructions.count; i++) {
		looped |= open && begins_loop(r, i);
		if (is_bulk_load(&code[i])) {
			if (looped)
				return false;
			open = true;
		} else if (asks_barrier(&code[i])) {
			open = looped = false;
		}
	}
	return !open;
}

/* The newest groups that a wait leaves under way. -1: also copies of no group yet are waited for; -2: it is no wait. */
static int64_t left_by(const struct ptx_instruction *i, bool barriers)
{
	if (!strncmp(i->opcode, "cp.async.wait_all", 17) || (barriers && asks_barrier(i)))
		return -1;
	bool wait = !strncmp(i->opcode, "cp.async.wait_group", 19) && i->operand_count && i->operands[0].kind == PTX_IMMEDIATE;
	return wait && i->operands[0].value >= 0 ? i->operands[0].value : -2;
}

/* How many registers the groups need: for the open one, one for each that a wait may leave, and one for all that are older. */
static uint32_t count_groups(const struct ptx_instruction *code, uint32_t count)
{
	bool any = false;
	int64_t left = 0;
	for (uint32_t i = 0; i < count; i++) {
		any |= is_copy(&code[i]);
		if (left_by(&code[i], false) > left)
			left = left_by(&code[i], false);
	}
	return !any ? 0 : left + 2 < CODE_MOST_COPIES ? (uint32_t)left + 2 : CODE_MOST_COPIES;
}

static void add_copies(struct ptx_reader *r)
{
	struct ptx_instruction *code = r->instructions.data;
	uint32_t first = r->registers.count, count = count_groups(code, r->instructions.count);
	if (first + count > UINT16_MAX)
		return;
	bool bulk = false;
	for (uint32_t i = 0; i < r->instructions.count && count; i++)
		bulk |= is_bulk_load(&code[i]);
	bulk = bulk && barriers_wait_for_all(r);
	for (uint32_t g = 0; g < count; g++) {
		struct ptx_register *made = ptx_push(r, &r->registers, sizeof *made);
		*made = (struct ptx_register){.name = "%copies", .bits = 1, .number = g, .copies = (uint8_t)(g + 1)};
	}
	for (uint32_t i = 0; i < r->instructions.count && count; i++) {
		int64_t left = left_by(&code[i], bulk);
		bool copy = is_copy(&code[i]), commit = !strncmp(code[i].opcode, "cp.async.commit_group", 21);
		if (!copy && !commit && (left < -1 || left + 1 >= count))
			continue;
		uint32_t from = copy || commit ? 0 : (uint32_t)(left + 1);
		code[i].copies = first + from + 1;
		code[i].copy_count = copy ? 1 : count - from;
	}
}

static void end_function(struct ptx_reader *r)
{
	struct ptx_function *f = r->function;
	while (r->braces > PTX_MAX_SCOPES)
		r->braces--;
	while (r->braces)
		ptx_scope_close(r);
	expand_tables(r);
	find_prototypes(r);
	f->prototype_count = r->prototypes.count;
	f->prototypes = ptx_keep(r, &r->prototypes, sizeof *f->prototypes);
	f->instruction_count = r->instructions.count;
	add_copies(r);
	f->register_count = r->registers.count;
	f->label_count = r->labels.count;
	f->probe_count = r->probes.count;
	f->variable_count = r->function_variables.count;
	f->instructions = ptx_keep(r, &r->instructions, sizeof *f->instructions);
	f->registers = ptx_keep(r, &r->registers, sizeof *f->registers);
	f->labels = ptx_keep(r, &r->labels, sizeof *f->labels);
	f->probes = ptx_keep(r, &r->probes, sizeof *f->probes);
	f->variables = ptx_keep(r, &r->function_variables, sizeof *f->variables);
	r->function = NULL;
}

/* In the text, results stand before parameters. */
void ptx_move_results(struct ptx_reader *r, uint32_t results)
{
	struct ptx_variable *list = r->function_variables.data;
	uint32_t parameters = r->function_variables.count - results;
	struct ptx_variable *copy = results && parameters ? calloc(results, sizeof *copy) : NULL;
	if (!copy) {
		r->failed |= results && parameters;
		return;
	}
	memcpy(copy, list, results * sizeof *copy);
	memmove(list, list + results, parameters * sizeof *list);
	memcpy(list + parameters, copy, results * sizeof *copy);
	free(copy);
}

/* Reads a function, after .entry or .func. */
static void read_function(struct ptx_reader *r, bool entry)
{
	struct ptx_cursor *in = &r->in;
	begin_function(r, entry);
	ptx_skip_blanks(in);
	if (in->at < in->end && *in->at == '(')
		ptx_read_parameters(r, PTX_IN_PARAMETERS);
	uint32_t results = r->function_variables.count;
	ptx_skip_blanks(in);
	struct ptx_span name = ptx_take_name(in, true);
	r->function->name = ptx_name_of(r, name)->text;
	ptx_skip_blanks(in);
	if (in->at < in->end && *in->at == '(')
		ptx_read_parameters(r, PTX_IN_PARAMETERS);
	r->function->result_count = results;
	r->function->parameter_count = r->function_variables.count - results;
	ptx_move_results(r, results);
	for (ptx_skip_blanks(in); in->at < in->end && *in->at == '.'; ptx_skip_blanks(in))
		read_attribute(r);
	if (ptx_take_char(in, '{')) {
		r->function->external = false;
		ptx_read_body(r);
	} else {
		ptx_take_char(in, ';');
	}
	end_function(r);
}

/* The first word of the rest of the line. */
static const char *take_line_word(struct ptx_reader *r)
{
	struct ptx_cursor *in = &r->in;
	while (in->at < in->end && (*in->at == ' ' || *in->at == '\t'))
		in->at++;
	return ptx_name_of(r, ptx_take_name(in, true))->text;
}

static bool read_linkage(struct ptx_reader *r, struct ptx_span word)
{
	static const char *const words[] = {
	    [PTX_VISIBLE] = ".visible", [PTX_WEAK] = ".weak", [PTX_COMMON] = ".common", [PTX_EXTERN] = ".extern"};
	for (uint8_t i = PTX_VISIBLE; i <= PTX_EXTERN; i++)
		if (ptx_span_is(word, words[i])) {
			r->linkage = i;
			return true;
		}
	return false;
}

/* .target sm_90a, debug */
static void read_target(struct ptx_reader *r)
{
	const char *first = take_line_word(r);
	struct ptx_cursor line = r->in;
	ptx_skip_line(&line);
	r->module->debug |= memmem(r->in.at, (size_t)(line.at - r->in.at), "debug", strlen("debug")) != NULL;
	if (!*r->module->target)
		r->module->target = first;
	ptx_skip_line(&r->in);
}

/* .alias name, of; */
static void read_alias(struct ptx_reader *r)
{
	struct ptx_alias *a = ptx_push(r, &r->aliases, sizeof *a);
	ptx_skip_blanks(&r->in);
	a->name = ptx_name_of(r, ptx_take_name(&r->in, true))->text;
	ptx_skip_blanks(&r->in);
	ptx_take_char(&r->in, ',');
	ptx_skip_blanks(&r->in);
	a->of = ptx_name_of(r, ptx_take_name(&r->in, true))->text;
	ptx_skip_statement(&r->in);
}

/* Reads a statement of the module that begins with a directive. Its linkage, if it has one, stands before it. */
static void read_directive(struct ptx_reader *r)
{
	struct ptx_span word = ptx_take_directive(&r->in);
	int space = ptx_space_of(word);
	bool entry = ptx_span_is(word, ".entry");
	if (read_linkage(r, word))
		return;
	if (entry || ptx_span_is(word, ".func"))
		read_function(r, entry);
	else if (space >= 0)
		ptx_read_variable(r, (uint8_t)space, PTX_IN_MODULE);
	else if (ptx_span_is(word, ".version") && !*r->module->version)
		r->module->version = take_line_word(r);
	else if (ptx_span_is(word, ".target"))
		read_target(r);
	else if (ptx_span_is(word, ".alias"))
		read_alias(r);
	else if (ptx_span_is(word, ".address_size"))
		r->module->narrow = !strcmp(take_line_word(r), "32");
	else if (ptx_span_is(word, ".version"))
		ptx_skip_line(&r->in);
	else if (!ptx_read_line_directive(r, word))
		ptx_skip_statement(&r->in);
	r->linkage = PTX_INTERNAL;
}

static void read_module(struct ptx_reader *r)
{
	struct ptx_cursor *in = &r->in;
	for (ptx_skip_blanks(in); in->at < in->end && !r->failed; ptx_skip_blanks(in)) {
		if (*in->at == '.')
			read_directive(r);
		else if (!ptx_take_name(in, false).length)
			in->at++;
	}
}

/* Computes the result of ptx_shared_bytes(). */
static void count_shared(struct ptx_reader *r, struct ptx_function *f, uint32_t number)
{
	const struct ptx_variable *variables = r->module->variables;
	for (uint32_t v = 0; v < f->variable_count; v++)
		if (f->variables[v].space == SPACE_shared)
			f->shared_bytes += f->variables[v].bytes;
	for (uint32_t i = 0; i < f->instruction_count; i++) {
		const struct ptx_instruction *at = &f->instructions[i];
		for (uint32_t o = 0; o < at->operand_count; o++) {
			if (!at->operands[o].text)
				continue;
			struct ptx_name *n =
			    (struct ptx_name *)(at->operands[o].text - offsetof(struct ptx_name, text));
			if (n->shared >= 0 && n->shared_function != number)
				f->shared_bytes += variables[n->shared].bytes;
			n->shared_function = number;
		}
	}
}

static void finish_module(struct ptx_reader *r)
{
	struct ptx_module *m = r->module;
	m->function_count = r->functions.count;
	m->variable_count = r->variables.count;
	m->file_count = r->files.count;
	m->unknown_count = r->unknown.count;
	m->functions = ptx_keep(r, &r->functions, sizeof *m->functions);
	m->variables = ptx_keep(r, &r->variables, sizeof *m->variables);
	m->files = ptx_keep(r, &r->files, sizeof *m->files);
	m->unknown = ptx_keep(r, &r->unknown, sizeof *m->unknown);
	m->alias_count = r->aliases.count;
	m->aliases = ptx_keep(r, &r->aliases, sizeof *m->aliases);
	for (uint32_t f = 0; f < m->function_count && !r->failed; f++)
		count_shared(r, &m->functions[f], f + 1);
}

static void free_reader(struct ptx_reader *r)
{
	struct ptx_vector *const all[] = {&r->functions, &r->variables, &r->files,  &r->unknown, &r->instructions,
	                                  &r->registers, &r->labels,    &r->probes, &r->brx,     &r->function_variables,
	                                  &r->operands,  &r->aliases,   &r->prototypes, &r->indirect, &r->relocations};
	for (size_t i = 0; i < GS_ARRAY_LEN(all); i++)
		ptx_vector_free(all[i]);
	for (size_t i = 0; i < PTX_MAX_SCOPES; i++)
		ptx_vector_free(&r->scopes[i].labels);
	ptx_names_free(&r->names);
	gs_buf_free(&r->initial);
	free(r);
}

/* What initialisers may take beyond what their text has: zeros that {} leave out. */
enum { MOST_INITIAL_BYTES = 64 << 20 };

int ptx_read(const char *text, size_t length, struct ptx_module **out, struct gs_error *err)
{
	struct ptx_reader *r = calloc(1, sizeof *r);
	struct ptx_arena *arena = ptx_arena_create();
	struct ptx_module *module = arena ? ptx_arena_alloc(arena, sizeof *module) : NULL;
	bool failed = !r || !module;
	if (!failed) {
		*module = (struct ptx_module){.version = "", .target = "", .arena = arena};
		r->in = (struct ptx_cursor){.at = text, .end = text + length, .counted = text, .line = 1};
		r->table_budget = length;
		r->initial_budget = MOST_INITIAL_BYTES + 8 * length;
		r->module = module;
		r->arena = arena;
		read_module(r);
		finish_module(r);
		failed = r->failed;
	}
	if (r)
		free_reader(r);
	if (failed) {
		ptx_arena_free(arena);
		return gs_fail(err, ENOMEM, "out of memory while reading PTX");
	}
	*out = module;
	return 0;
}

void ptx_free(struct ptx_module *module)
{
	if (module)
		ptx_arena_free(module->arena);
}

static const struct ptx_function *find_function(const struct ptx_module *module, const char *name)
{
	const struct ptx_function *found = NULL;
	for (uint32_t i = 0; i < module->function_count; i++) {
		const struct ptx_function *f = &module->functions[i];
		if (!strcmp(f->name, name) && (!found || found->external))
			found = f;
	}
	return found;
}

const struct ptx_function *ptx_find(const struct ptx_module *module, const char *name)
{
	const struct ptx_function *found = find_function(module, name), *aliased;
	for (uint32_t i = 0; i < module->alias_count && (!found || found->external); i++)
		if (!strcmp(module->aliases[i].name, name) && (aliased = find_function(module, module->aliases[i].of)))
			found = aliased;
	return found;
}

uint64_t ptx_shared_bytes(const struct ptx_module *module, const struct ptx_function *function)
{
	(void)module;
	return function->shared_bytes;
}
