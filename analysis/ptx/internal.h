/* What the files of the PTX reader share. */
#ifndef GPUSIM_ANALYSIS_PTX_INTERNAL_H
#define GPUSIM_ANALYSIS_PTX_INTERNAL_H

#include "analysis/ptx/ptx.h"

/* analysis/ptx/text.c: the text and how far it has been read. */
struct ptx_cursor {
	const char *at, *end;
	const char *counted; /* lines are counted up to here */
	uint32_t line;
};

struct ptx_span {
	const char *at;
	size_t length;
};

uint32_t ptx_line_here(struct ptx_cursor *c);
bool ptx_is_name(char c); /* of identifiers and of opcodes without their dots */
/* Blanks, line ends and comments. */
void ptx_skip_blanks(struct ptx_cursor *c);
void ptx_skip_line(struct ptx_cursor *c);
/* After the next semicolon, or to a brace that closes more than was opened on the way. */
void ptx_skip_statement(struct ptx_cursor *c);
/* After what the bracket here closes: ( ) or { }. */
void ptx_skip_group(struct ptx_cursor *c);
/* A name, with the dots in it when `dots`; empty when there is none. */
struct ptx_span ptx_take_name(struct ptx_cursor *c, bool dots);
/* ".word" or its like: with the dot and without `::` parts cut off; empty when there is none. */
struct ptx_span ptx_take_directive(struct ptx_cursor *c);
bool ptx_take_char(struct ptx_cursor *c, char wanted);
/* A quoted text on this line, without its quotes. */
struct ptx_span ptx_take_string(struct ptx_cursor *c);
/* Any form of PTX's constants, without a sign; false when there is none. */
bool ptx_take_number(struct ptx_cursor *c, int64_t *value);
bool ptx_span_is(struct ptx_span s, const char *word);

/* analysis/ptx/arena.c: memory that is freed at once, and names that are there once each. */
struct ptx_arena;
struct ptx_arena *ptx_arena_create(void);
void ptx_arena_free(struct ptx_arena *a);
void *ptx_arena_alloc(struct ptx_arena *a, size_t bytes); /* zeroed; NULL when memory runs out */

struct ptx_binding;
struct ptx_name {
	struct ptx_name *next; /* of the same hash */
	uint32_t hash;
	size_t length;
	struct ptx_binding *bound, *range; /* the innermost: %r5 itself; %r as %r<9> */
	uint32_t label, label_scope;       /* the label of this name in the scope of that number */
	struct ptx_table *table;
	uint32_t table_function; /* the table belongs to the function of this number */
	int32_t shared;          /* the module's variable in shared memory, or -1 */
	uint32_t shared_function; /* the last function that was seen to mention it */
	uint32_t unknown;        /* index + 1 among the opcodes that are not known */
	char text[];
};

struct ptx_names {
	struct ptx_name **slots;
	uint32_t slot_count, count;
};
void ptx_names_free(struct ptx_names *n);

/* A growing array of the reader's own. */
struct ptx_vector {
	void *data;
	uint32_t count, room;
};

/* analysis/ptx/scopes.c: registers and labels and where they are valid. */
struct ptx_binding {
	struct ptx_binding *outer;     /* what it hides */
	struct ptx_binding *same_scope;
	struct ptx_name *name;
	bool is_range, real;
	uint8_t depth, bits, elements; /* elements: of a vector register, one after the other from reg */
	uint32_t count;                /* of a range */
	int32_t reg;
};

struct ptx_reference {
	struct ptx_reference *next;
	struct ptx_operand *operand;
	struct ptx_name *name;
};

struct ptx_table {
	struct ptx_operand *labels;
	uint32_t count;
};

/* Braces deeper than this are one scope; no program has them, and looking outwards stays cheap. */
enum { PTX_MAX_SCOPES = 32 };

struct ptx_scope {
	struct ptx_binding *bindings;
	struct ptx_reference *references; /* to labels that may still come */
	struct ptx_vector labels;         /* indices of labels that stand here */
	uint8_t range_depth;              /* innermost scope up to this one with a register range */
	uint32_t number;
};

struct ptx_brx {
	uint32_t instruction;
	struct ptx_name *table;
};

struct ptx_reader {
	struct ptx_cursor in;
	size_t text_length;
	struct ptx_module *module;
	struct ptx_arena *arena;
	struct ptx_names names;
	bool failed; /* memory ran out: what is read from here on is thrown away */
	struct ptx_vector functions, variables, files, unknown;

	/* The function being read. */
	struct ptx_function *function;
	struct ptx_vector instructions, registers, labels, probes, function_variables, operands, brx;
	struct ptx_scope scopes[PTX_MAX_SCOPES];
	uint32_t depth, braces; /* depth: index of the innermost scope; braces: open ones */
	uint32_t function_number, scope_number;
	uint32_t file, line, column;
	size_t table_budget; /* labels that brx instructions may still take from tables */
	_Alignas(16) char spare[256]; /* what ptx_push returns when memory has run out */
};

void ptx_vector_free(struct ptx_vector *v);
/* One more element, zeroed. */
void *ptx_push(struct ptx_reader *r, struct ptx_vector *v, size_t size);
/* The elements of a vector, kept in the arena; the vector is empty afterwards. */
void *ptx_keep(struct ptx_reader *r, struct ptx_vector *v, size_t size);
/* The name of this text; never NULL. */
struct ptx_name *ptx_name_of(struct ptx_reader *r, struct ptx_span text);
struct ptx_name *ptx_name_find(const struct ptx_reader *r, struct ptx_span text); /* NULL when it never occurred */

void ptx_scope_open(struct ptx_reader *r);
void ptx_scope_close(struct ptx_reader *r);
/* .reg with everything up to its semicolon. */
void ptx_declare_registers(struct ptx_reader *r);
void ptx_declare_register(struct ptx_reader *r, struct ptx_span name, struct ptx_span type);
const struct ptx_binding *ptx_find_register(struct ptx_reader *r, struct ptx_name *name);
void ptx_add_label(struct ptx_reader *r, struct ptx_name *name);
/* The operand becomes that label when the scope, or one around it, has it. */
void ptx_refer_to_label(struct ptx_reader *r, struct ptx_operand *operand, struct ptx_name *name);

/* analysis/ptx/body.c */
void ptx_read_body(struct ptx_reader *r);
/* Directives that end with their line; false when it is another. */
bool ptx_read_line_directive(struct ptx_reader *r, struct ptx_span directive);

/* analysis/ptx/variables.c: one declaration, after its first directive (a space), up to `;`, or to `,` or `)` in a list of
 * parameters. */
enum ptx_where { PTX_IN_MODULE, PTX_IN_BODY, PTX_IN_PARAMETERS };
void ptx_read_variable(struct ptx_reader *r, uint8_t space, enum ptx_where where, bool external);
int ptx_space_of(struct ptx_span directive); /* -1: it is none */
/* Bits of ".u32" and its like, 0 when it is no type. */
uint32_t ptx_type_bits(struct ptx_span type);

/* analysis/ptx/operands.c: the operands of an instruction up to its semicolon, into r->operands. False when the text ended. */
struct ptx_form;
bool ptx_read_operands(struct ptx_reader *r, const struct ptx_form *form);

/* analysis/ptx/classes.c */
enum ptx_shape {
	PTX_PLAIN,  /* the first operand is written unless it is an address */
	PTX_READS,  /* all operands are read */
	PTX_CALL,
	PTX_BRANCH, /* its operand is a label */
	PTX_TABLE,  /* register, then a table of labels */
};
struct ptx_form {
	uint8_t class, space, bytes, elements, flags;
	uint8_t shape;      /* enum ptx_shape */
	bool sized_by_constant; /* its first constant is how many bytes it copies */
	bool sized_by_list;     /* 32 bits for each element of its {list} */
	bool known;
};
struct ptx_form ptx_form_of(const char *opcode);

#endif
