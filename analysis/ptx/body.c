/* The body of a function: braces, labels, directives, and instructions with their guards. */
#include "analysis/ptx/internal.h"

#include "runtime/format/matrices.h"

#include <ctype.h>
#include <string.h>

/* Reads a number of a line directive. False: the line ended. */
static bool read_field(struct ptx_cursor *c, int64_t *value)
{
	while (c->at < c->end && (*c->at == ' ' || *c->at == '\t'))
		c->at++;
	return ptx_take_number(c, value);
}

static void read_loc(struct ptx_reader *r)
{
	int64_t file = 0, line = 0, column = 0;
	if (read_field(&r->in, &file) && read_field(&r->in, &line) && read_field(&r->in, &column)) {
		r->file = (uint32_t)file;
		r->line = (uint32_t)line;
		r->column = (uint32_t)column;
	}
}

static void read_file(struct ptx_reader *r)
{
	int64_t number = 0;
	if (!read_field(&r->in, &number))
		return;
	/* Paths may contain quotes and backslashes, so the name ends at the last quote of the line. */
	struct ptx_cursor rest = r->in;
	ptx_skip_line(&rest);
	size_t length = (size_t)(rest.at - r->in.at);
	const char *first = memchr(r->in.at, '"', length), *last = memrchr(r->in.at, '"', length);
	struct ptx_file *f = ptx_push(r, &r->files, sizeof *f);
	f->number = (uint32_t)number;
	f->name = "";
	if (first && last > first)
		f->name = ptx_name_of(r, (struct ptx_span){first + 1, (size_t)(last - first - 1)})->text;
}

/* .pseudoprobe guid id type attributes */
static void read_probe(struct ptx_reader *r)
{
	int64_t guid, id;
	if (!r->function || !read_field(&r->in, &guid) || !read_field(&r->in, &id))
		return;
	struct ptx_probe *p = ptx_push(r, &r->probes, sizeof *p);
	*p = (struct ptx_probe){.guid = (uint64_t)guid, .id = (uint32_t)id, .at = r->instructions.count,
	                        .labels = r->labels.count};
}

/* .section .debug_info { ... } */
static void skip_section(struct ptx_reader *r)
{
	ptx_skip_blanks(&r->in);
	while (ptx_take_directive(&r->in).length)
		ptx_skip_blanks(&r->in);
	ptx_take_name(&r->in, true);
	ptx_skip_blanks(&r->in);
	if (r->in.at < r->in.end && *r->in.at == '{')
		ptx_skip_group(&r->in);
}

bool ptx_read_line_directive(struct ptx_reader *r, struct ptx_span directive)
{
	if (ptx_span_is(directive, ".section")) {
		skip_section(r);
		return true;
	}
	if (ptx_span_is(directive, ".loc"))
		read_loc(r);
	else if (ptx_span_is(directive, ".file"))
		read_file(r);
	else if (ptx_span_is(directive, ".pseudoprobe"))
		read_probe(r);
	else
		return false;
	ptx_skip_line(&r->in);
	return true;
}

/* name: .branchtargets L1, L2; */
static void read_table(struct ptx_reader *r, struct ptx_name *name)
{
	struct ptx_vector labels = {0};
	struct ptx_cursor *in = &r->in;
	for (ptx_skip_blanks(in); in->at < in->end && *in->at != ';' && *in->at != '}'; ptx_skip_blanks(in)) {
		struct ptx_span label = ptx_take_name(in, true);
		if (!label.length)
			in->at++;
		else
			*(struct ptx_name **)ptx_push(r, &labels, sizeof(struct ptx_name *)) = ptx_name_of(r, label);
	}
	ptx_take_char(in, ';');
	struct ptx_table *t = ptx_arena_alloc(r->arena, sizeof *t);
	struct ptx_operand *operands = ptx_arena_alloc(r->arena, labels.count * sizeof *operands + 1);
	r->failed |= !t || !operands;
	for (uint32_t i = 0; i < labels.count && !r->failed; i++) {
		struct ptx_name *label = ((struct ptx_name **)labels.data)[i];
		operands[i] = (struct ptx_operand){.kind = PTX_LABEL, .reg = -1, .label = -1, .text = label->text};
		ptx_refer_to_label(r, &operands[i], label);
	}
	if (!r->failed) {
		*t = (struct ptx_table){.labels = operands, .count = labels.count};
		name->table = t;
		name->table_function = r->function_number;
	}
	ptx_vector_free(&labels);
}

/* name: .callprototype (.param .b32 _) _ (.param .b64 _); */
static void read_prototype(struct ptx_reader *r, struct ptx_name *name)
{
	struct ptx_vector outer = r->function_variables;
	struct ptx_cursor *in = &r->in;
	struct ptx_prototype p = {.name = name->text};
	r->function_variables = (struct ptx_vector){0};
	ptx_skip_blanks(in);
	if (in->at < in->end && *in->at == '(')
		ptx_read_parameters(r, PTX_IN_PROTOTYPE);
	p.result_count = r->function_variables.count;
	ptx_skip_blanks(in);
	ptx_take_name(in, true);
	ptx_skip_blanks(in);
	if (in->at < in->end && *in->at == '(')
		ptx_read_parameters(r, PTX_IN_PROTOTYPE);
	p.parameter_count = r->function_variables.count - p.result_count;
	ptx_move_results(r, p.result_count);
	p.variables = ptx_keep(r, &r->function_variables, sizeof *p.variables);
	ptx_vector_free(&r->function_variables);
	r->function_variables = outer;
	name->prototype_function = r->function_number;
	name->prototype = r->prototypes.count;
	*(struct ptx_prototype *)ptx_push(r, &r->prototypes, sizeof p) = p;
	ptx_skip_statement(in);
}

/* name: .calltargets f, g; */
static void read_targets(struct ptx_reader *r, struct ptx_name *name)
{
	struct ptx_vector targets = {0};
	struct ptx_cursor *in = &r->in;
	struct ptx_prototype p = {.name = name->text};
	for (ptx_skip_blanks(in); in->at < in->end && *in->at != ';' && *in->at != '}'; ptx_skip_blanks(in)) {
		struct ptx_span target = ptx_take_name(in, true);
		if (!target.length)
			in->at++;
		else
			*(const char **)ptx_push(r, &targets, sizeof(char *)) = ptx_name_of(r, target)->text;
	}
	ptx_take_char(in, ';');
	p.target_count = targets.count;
	p.targets = ptx_keep(r, &targets, sizeof(char *));
	ptx_vector_free(&targets);
	name->prototype_function = r->function_number;
	name->prototype = r->prototypes.count;
	*(struct ptx_prototype *)ptx_push(r, &r->prototypes, sizeof p) = p;
}

/* Reads on after the name of a label: its colon follows. Tables and prototypes have names like labels. */
static void read_label(struct ptx_reader *r, struct ptx_name *name)
{
	struct ptx_cursor *in = &r->in;
	ptx_skip_blanks(in);
	ptx_take_char(in, ':');
	ptx_skip_blanks(in);
	struct ptx_cursor before = *in;
	struct ptx_span directive = ptx_take_directive(in);
	if (ptx_span_is(directive, ".branchtargets")) {
		read_table(r, name);
	} else if (ptx_span_is(directive, ".callprototype")) {
		read_prototype(r, name);
	} else if (ptx_span_is(directive, ".calltargets")) {
		read_targets(r, name);
	} else {
		*in = before;
		ptx_add_label(r, name);
	}
}

/* Reads an opcode with its modifiers. Blanks between them are dropped. */
static struct ptx_name *read_opcode(struct ptx_reader *r, struct ptx_span first)
{
	struct ptx_cursor *in = &r->in;
	char text[256];
	size_t length = 0;
	for (struct ptx_span part = first; part.length;) {
		size_t fits = part.length < sizeof text - length ? part.length : sizeof text - length;
		memcpy(text + length, part.at, fits);
		length += fits;
		const char *start = in->at;
		ptx_skip_blanks(in);
		bool more = in->end - in->at > 1 && ((*in->at == '.' && isalnum((unsigned char)in->at[1])) ||
		                                     (*in->at == ':' && in->at[1] == ':' && in->at == start));
		const char *word = in->at;
		in->at += more ? (*word == '.' ? 1 : 2) : 0;
		part = (struct ptx_span){word, more ? (size_t)(in->at - word) + ptx_take_name(in, false).length : 0};
	}
	return ptx_name_of(r, (struct ptx_span){text, length});
}

static void count_unknown(struct ptx_reader *r, struct ptx_name *opcode, uint32_t line)
{
	struct ptx_unknown *u;
	if (!opcode->unknown) {
		u = ptx_push(r, &r->unknown, sizeof *u);
		*u = (struct ptx_unknown){.opcode = opcode->text, .ptx_line = line};
		opcode->unknown = r->unknown.count;
	}
	if (!r->failed)
		((struct ptx_unknown *)r->unknown.data)[opcode->unknown - 1].count++;
}

/* The bytes of a matrix that each lane takes, if all take the same: some GPUs have registers for more. */
static uint64_t fragment_bytes(const struct ptx_instruction *i)
{
	struct matrix_product p = {.m = 16, .n = 16, .k = 16};
	enum matrix_kind kind = MATRIX_F16;
	enum matrix_part part = MATRIX_C;
	char words[128];
	char *rest;
	if (strlen(i->opcode) >= sizeof words)
		return 4;
	strcpy(words, i->opcode);
	for (char *word = strtok_r(words, ".", &rest); word; word = strtok_r(NULL, ".", &rest)) {
		if (matrix_shape_of(word, &p))
			continue;
		if (matrix_kind_of(word))
			kind = matrix_kind_of(word);
		else if ((*word == 'a' || *word == 'b') && !word[1])
			part = *word == 'a' ? MATRIX_A : MATRIX_B;
	}
	uint64_t elements = (uint64_t)(part == MATRIX_B ? p.k : p.m) * (part == MATRIX_A ? p.k : p.n), bytes = elements * matrix_bits(kind) / 8 / 32;
	return bytes ? bytes : 1;
}

static void size_by_operands(struct ptx_instruction *i, const struct ptx_form *form)
{
	uint64_t bytes = form->sized_by_list ? fragment_bytes(i) : 0;
	for (uint32_t o = 0; o < i->operand_count && form->sized_by_constant && !bytes; o++)
		if (i->operands[o].kind == PTX_IMMEDIATE && i->operands[o].value > 0)
			bytes = (uint64_t)i->operands[o].value;
	if (bytes)
		i->bytes = bytes < UINT8_MAX ? (uint8_t)bytes : UINT8_MAX;
}

/* Remembers labels and tables. They are resolved later, when the operands do not move any more. */
static void refer(struct ptx_reader *r, const struct ptx_instruction *i, const struct ptx_form *form)
{
	for (uint32_t o = 0; o < i->operand_count; o++) {
		if (i->operands[o].kind != PTX_LABEL)
			continue;
		struct ptx_name *name = (struct ptx_name *)(i->operands[o].text - offsetof(struct ptx_name, text));
		if (form->shape == PTX_TABLE) {
			struct ptx_brx *b = ptx_push(r, &r->brx, sizeof *b);
			*b = (struct ptx_brx){.instruction = r->instructions.count, .table = name};
		} else {
			ptx_refer_to_label(r, &i->operands[o], name);
		}
	}
	if (form->shape == PTX_CALL && r->call_prototype) {
		struct ptx_brx *b = ptx_push(r, &r->indirect, sizeof *b);
		*b = (struct ptx_brx){.instruction = r->instructions.count, .table = r->call_prototype};
	}
}

static uint8_t flags_of(const struct ptx_reader *r, const struct ptx_form *form, const char *opcode, bool guarded)
{
	bool ends = form->class == CODE_branch && (!strncmp(opcode, "exit", 4) || !strncmp(opcode, "ret", 3));
	bool jumps = ends || form->shape == PTX_BRANCH || form->shape == PTX_TABLE;
	uint8_t flags = form->flags;
	if (ends && (r->function->entry || *opcode == 'e'))
		flags |= CODE_EXIT;
	if (guarded)
		flags |= CODE_GUARDED | (jumps ? CODE_CONDITIONAL : 0);
	return flags;
}

static void read_instruction(struct ptx_reader *r, struct ptx_span first, int32_t guard, bool negated)
{
	uint32_t line = ptx_line_here(&r->in);
	struct ptx_name *opcode = read_opcode(r, first);
	struct ptx_form form = ptx_form_of(opcode->text);
	r->operands.count = 0;
	if (!ptx_read_operands(r, &form) || r->failed)
		return;
	if (!form.known)
		count_unknown(r, opcode, line);
	struct ptx_instruction i = {.opcode = opcode->text,
	                            .class = form.class,
	                            .space = form.space,
	                            .bytes = form.bytes,
	                            .elements = form.elements,
	                            .flags = flags_of(r, &form, opcode->text, guard >= 0),
	                            .guard = guard,
	                            .guard_negated = negated,
	                            .prototype = -1,
	                            .operand_count = r->operands.count,
	                            .ptx_line = line,
	                            .file = r->file,
	                            .line = r->line,
	                            .column = r->column};
	i.operands = ptx_keep(r, &r->operands, sizeof *i.operands);
	if (r->failed)
		return;
	size_by_operands(&i, &form);
	refer(r, &i, &form);
	*(struct ptx_instruction *)ptx_push(r, &r->instructions, sizeof i) = i;
}

/* Reads a guard if there is one. Returns its register, or -1. */
static int32_t read_guard(struct ptx_reader *r, bool *negated)
{
	*negated = false;
	if (!ptx_take_char(&r->in, '@'))
		return -1;
	ptx_skip_blanks(&r->in);
	*negated = ptx_take_char(&r->in, '!');
	ptx_skip_blanks(&r->in);
	struct ptx_span text = ptx_take_name(&r->in, true);
	const struct ptx_binding *b = text.length ? ptx_find_register(r, ptx_name_of(r, text)) : NULL;
	ptx_skip_blanks(&r->in);
	return b ? b->reg : -1;
}

/* .pragma "nounroll"; it follows the label of a loop. */
static void read_pragma(struct ptx_reader *r)
{
	ptx_skip_blanks(&r->in);
	struct ptx_label *last = r->labels.count ? (struct ptx_label *)r->labels.data + r->labels.count - 1 : NULL;
	if (ptx_span_is(ptx_take_string(&r->in), "nounroll") && last && last->at == r->instructions.count)
		last->nounroll = true;
	ptx_skip_statement(&r->in);
}

static void read_directive(struct ptx_reader *r)
{
	struct ptx_span directive = ptx_take_directive(&r->in);
	int space = ptx_space_of(directive);
	if (ptx_span_is(directive, ".reg"))
		ptx_declare_registers(r);
	else if (space >= 0)
		ptx_read_variable(r, (uint8_t)space, PTX_IN_BODY);
	else if (ptx_span_is(directive, ".pragma"))
		read_pragma(r);
	else if (!ptx_read_line_directive(r, directive))
		ptx_skip_statement(&r->in);
}

/* Reads a name. If a single colon follows, it is a label. Otherwise it is an opcode. */
static void read_word(struct ptx_reader *r, struct ptx_span word, int32_t guard, bool negated)
{
	struct ptx_cursor next = r->in;
	ptx_skip_blanks(&next);
	bool colon = next.at < next.end && *next.at == ':' && (next.at + 1 == next.end || next.at[1] != ':');
	if (colon && guard < 0)
		read_label(r, ptx_name_of(r, word));
	else
		read_instruction(r, word, guard, negated);
}

/* Whether the next directive cannot stand in a body. Then a closing brace is missing. */
static bool at_function(const struct ptx_reader *r)
{
	struct ptx_cursor look = r->in;
	struct ptx_span directive = ptx_take_directive(&look);
	return ptx_span_is(directive, ".entry") || ptx_span_is(directive, ".func") ||
	       ptx_span_is(directive, ".visible");
}

void ptx_read_body(struct ptx_reader *r)
{
	struct ptx_cursor *in = &r->in;
	for (ptx_skip_blanks(in); in->at < in->end && !r->failed; ptx_skip_blanks(in)) {
		bool negated;
		if (*in->at == '}') {
			in->at++;
			if (r->braces == 1)
				return;
			ptx_scope_close(r);
		} else if (*in->at == '{') {
			in->at++;
			ptx_scope_open(r);
		} else if (*in->at == '.') {
			if (at_function(r))
				return;
			read_directive(r);
		} else {
			int32_t guard = read_guard(r, &negated);
			struct ptx_span word = ptx_take_name(in, false);
			if (word.length)
				read_word(r, word, guard, negated);
			else if (in->at < in->end && !memchr("{}.@", *in->at, 4))
				in->at++;
		}
	}
}
