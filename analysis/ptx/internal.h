/* What the files of the PTX reader share. */
#ifndef GPUSIM_ANALYSIS_PTX_INTERNAL_H
#define GPUSIM_ANALYSIS_PTX_INTERNAL_H

#include "analysis/ptx/ptx.h"

/* analysis/ptx/text.c: the text and how far it has been read. */
struct ptx_cursor {
	const char *at, *end;
	const char *counted; /* lines are counted up to this point */
	uint32_t line;
};

struct ptx_span {
	const char *at;
	size_t length;
};

uint32_t ptx_line_here(struct ptx_cursor *c);
bool ptx_is_name(char c); /* characters of identifiers, and of opcodes without their dots */
/* Skips blanks, line ends and comments. */
void ptx_skip_blanks(struct ptx_cursor *c);
void ptx_skip_line(struct ptx_cursor *c);
/* Skips to the point after the next semicolon, or to a brace that closes more than was opened. */
void ptx_skip_statement(struct ptx_cursor *c);
/* Skips a group in brackets, ( ) or { }, that begins here. */
void ptx_skip_group(struct ptx_cursor *c);
/* A name. With `dots`, dots belong to it. Empty: there is none. */
struct ptx_span ptx_take_name(struct ptx_cursor *c, bool dots);
/* ".word" or the like, with its dot. `::` parts are cut off. Empty: there is none. */
struct ptx_span ptx_take_directive(struct ptx_cursor *c);
bool ptx_take_char(struct ptx_cursor *c, char wanted);
/* A quoted text on this line, without its quotes. */
struct ptx_span ptx_take_string(struct ptx_cursor *c);
/* A PTX constant in any form, without a sign. False: there is none. */
bool ptx_take_number(struct ptx_cursor *c, int64_t *value);
/* The same. *form is an enum ptx_constant. */
bool ptx_take_constant(struct ptx_cursor *c, int64_t *value, uint8_t *form);
/* The constant with a minus before it. */
int64_t ptx_negative(int64_t value, uint8_t form);
bool ptx_span_is(struct ptx_span s, const char *word);

/* analysis/ptx/arena.c: memory that is freed all at once, and names that are stored once each. */
struct ptx_arena;
struct ptx_arena *ptx_arena_create(void);
void ptx_arena_free(struct ptx_arena *a);
void *ptx_arena_alloc(struct ptx_arena *a, size_t bytes); /* zeroed; NULL: out of memory */

struct ptx_binding;
struct ptx_name {
	struct ptx_name *next; /* the next name with the same hash */
	uint32_t hash;
	size_t length;
	struct ptx_binding *bound, *range; /* the innermost one: `bound` for %r5 itself; `range` for %r of %r<9> */
	uint32_t label, label_scope;       /* label of this name, and the number of its scope */
	struct ptx_table *table;
	uint32_t table_function; /* the number of the function that the table belongs to */
	int32_t shared;          /* index of the module's variable in shared memory, or -1 */
	uint32_t shared_function; /* the last function that mentioned it */
	uint32_t unknown;        /* 1 + its index among the unknown opcodes; 0: none */
	struct ptx_local *local; /* the innermost variable that is known by this name, and has another */
	uint32_t variable_function, variable_count; /* the last function that declared it, and how often */
	uint32_t prototype_function, prototype; /* the last function with a prototype of this name, and its index there */
	char text[];
};

struct ptx_names {
	struct ptx_name **slots;
	uint32_t slot_count, count;
};
void ptx_names_free(struct ptx_names *n);

/* A growing array that belongs to the reader. */
struct ptx_vector {
	void *data;
	uint32_t count, room;
};

/* analysis/ptx/scopes.c: registers and labels, and where they are valid. */
struct ptx_binding {
	struct ptx_binding *outer;     /* the binding that it hides */
	struct ptx_binding *same_scope;
	struct ptx_name *name;
	bool is_range, real;
	uint8_t depth, bits, elements; /* elements: the parts of a vector register, one after the other from reg */
	uint32_t count;                /* registers in a range */
	int32_t reg;
};

/* A variable whose name is taken in the function. It has another, which its scope knows by the name of the text. */
struct ptx_local {
	struct ptx_local *outer; /* the one that it hides */
	struct ptx_local *same_scope;
	struct ptx_name *name, *unique;
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

/* Braces that are nested deeper than this share one scope. No program needs more, and searches in outer scopes stay cheap. */
enum { PTX_MAX_SCOPES = 32 };

struct ptx_scope {
	struct ptx_binding *bindings;
	struct ptx_local *locals;
	struct ptx_reference *references; /* references to labels that may still come */
	struct ptx_vector labels;         /* indices of the labels in this scope */
	uint8_t range_depth;              /* the innermost scope, up to this one, that has a register range */
	uint32_t number;
};

struct ptx_brx {
	uint32_t instruction;
	struct ptx_name *table; /* of labels, or the prototype of a call */
};

struct ptx_reader {
	struct ptx_cursor in;
	size_t text_length;
	struct ptx_module *module;
	struct ptx_arena *arena;
	struct ptx_names names;
	bool failed; /* out of memory: everything that is read from here on is thrown away */
	struct ptx_vector functions, variables, files, unknown, aliases;
	uint8_t linkage; /* of the statement that is being read: enum ptx_linkage */
	struct gs_buf initial; /* the initialiser that is being read */
	struct ptx_vector relocations;
	size_t initial_budget; /* bytes that initialisers may still have */

	/* The function that is being read. */
	struct ptx_function *function;
	struct ptx_vector instructions, registers, labels, probes, function_variables, operands, brx, prototypes, indirect;
	struct ptx_name *call_prototype; /* of the operands that were just read, or NULL */
	struct ptx_scope scopes[PTX_MAX_SCOPES];
	uint32_t depth, braces; /* depth: index of the innermost scope; braces: open ones */
	uint32_t function_number, scope_number;
	uint32_t file, line, column;
	size_t table_budget; /* how many labels brx instructions may still take from tables */
	_Alignas(16) char spare[256]; /* ptx_push returns this when memory has run out */
};

void ptx_vector_free(struct ptx_vector *v);
/* Appends one element, zeroed. */
void *ptx_push(struct ptx_reader *r, struct ptx_vector *v, size_t size);
/* Moves the elements of a vector to the arena. The vector is empty afterwards. */
void *ptx_keep(struct ptx_reader *r, struct ptx_vector *v, size_t size);
/* The name with this text. Never NULL. */
struct ptx_name *ptx_name_of(struct ptx_reader *r, struct ptx_span text);
struct ptx_name *ptx_name_find(const struct ptx_reader *r, struct ptx_span text); /* NULL: the text never occurred */

void ptx_scope_open(struct ptx_reader *r);
void ptx_scope_close(struct ptx_reader *r);
/* Reads .reg and everything up to its semicolon. */
void ptx_declare_registers(struct ptx_reader *r);
void ptx_declare_register(struct ptx_reader *r, struct ptx_span name, struct ptx_span type);
const struct ptx_binding *ptx_find_register(struct ptx_reader *r, struct ptx_name *name);
void ptx_add_label(struct ptx_reader *r, struct ptx_name *name);
/* Makes the operand refer to the label of this name, in this scope or in one around it. */
void ptx_refer_to_label(struct ptx_reader *r, struct ptx_operand *operand, struct ptx_name *name);

/* The name that a variable of the function gets: its own, or another one if that is taken. */
struct ptx_name *ptx_declare_local(struct ptx_reader *r, struct ptx_name *name);
/* The name of the variable that is meant by this name here. */
struct ptx_name *ptx_find_local(struct ptx_name *name);

/* analysis/ptx/body.c */
void ptx_read_body(struct ptx_reader *r);
/* Reads a directive that ends with its line. False: it is another directive. */
bool ptx_read_line_directive(struct ptx_reader *r, struct ptx_span directive);

/* analysis/ptx/variables.c: reads one declaration, after its first directive (a space). It ends at `;`. In a list of parameters
 * it ends at `,` or `)`. */
enum ptx_where { PTX_IN_MODULE, PTX_IN_BODY, PTX_IN_PARAMETERS, PTX_IN_PROTOTYPE };
void ptx_read_variable(struct ptx_reader *r, uint8_t space, enum ptx_where where);
int ptx_space_of(struct ptx_span directive); /* -1: not a space */
/* The bits of ".u32" or the like. 0: not a type. */
uint32_t ptx_type_bits(struct ptx_span type);

/* analysis/ptx/initialisers.c: reads what follows `=` into *v, and its size if *v is unsized. `strides` are the bytes of an element of each
 * dimension, from the outermost. False: it was not understood, v->unclear is set, and the cursor has not moved. */
enum { PTX_MAX_DIMENSIONS = 8 };
struct ptx_strides {
	uint64_t of[PTX_MAX_DIMENSIONS + 1];
	uint32_t count;
};
bool ptx_read_initialiser(struct ptx_reader *r, const struct ptx_strides *strides, struct ptx_variable *v);

/* analysis/ptx/read.c: reads (.param ...) or (.reg ...) of a function or prototype. */
void ptx_read_parameters(struct ptx_reader *r, enum ptx_where where);
/* Moves the results, which were read first, after the parameters. */
void ptx_move_results(struct ptx_reader *r, uint32_t results);

/* analysis/ptx/operands.c: reads the operands of an instruction up to its semicolon into r->operands. False: the text ended. */
struct ptx_form;
bool ptx_read_operands(struct ptx_reader *r, const struct ptx_form *form);

/* analysis/ptx/classes.c */
enum ptx_shape {
	PTX_PLAIN,  /* writes the first operand, unless that is an address */
	PTX_READS,  /* reads all operands */
	PTX_CALL,
	PTX_BRANCH, /* its operand is a label */
	PTX_TABLE,  /* operands: a register, then a table of labels */
};
struct ptx_form {
	uint8_t class, space, bytes, elements, flags;
	uint8_t shape;      /* enum ptx_shape */
	bool sized_by_constant; /* its first constant is the number of bytes that it copies */
	bool sized_by_list;     /* 32 bits for each element of its {list} */
	bool known;
};
struct ptx_form ptx_form_of(const char *opcode);

#endif
