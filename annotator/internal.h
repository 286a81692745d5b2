/*
 * What the annotator's own files share: parsed units, the functions of all units, and the edit list.
 *
 * Nothing is rewritten in place: a unit is its text plus a sorted list of edits, and writing the text
 * out renders every edit in the wanted marker form. A new kind of block needs one more edit.
 */
#ifndef GPUSIM_ANNOTATOR_INTERNAL_H
#define GPUSIM_ANNOTATOR_INTERNAL_H

#include "annotator/annotator.h"
#include "models/trace/trace.h"

#include <clang-c/Index.h>

/* A function that some unit defines. Functions without a definition are left alone: they are builtins. */
struct function {
	char *usr; /* libclang's name of the function across units; tells overloads and statics apart */
	char *name;
	unsigned guid; /* of its pseudo probes */
	bool kernel, called;
	bool has_barrier; /* or calls one that has */
	bool passes_locals; /* calls a kernel with __local variables, or one that does */
	uint64_t local_bytes, locals_at; /* its __local variables, and if it is called, where they are (locals.c) */
	bool takes_box;   /* asks for what the box changes, or calls one that does; kernels always take it */
	struct function **callees; /* of ours; may name one twice */
	size_t callee_count;
	bool reached; /* scratch of the walk over callees */
	unsigned hazards; /* enum kernel_hazard (runtime/format/facts.h), of its own text */
	/* Of a kernel: text that tells the trace where its pointers point to, how many such places there are, and the first of
	 * its sites. */
	const char *bases;
	unsigned base_count, first_site;
};

/* A variable that accesses can be told from: a __local one of a kernel, a private array, a constant of the program. */
struct place_of_variable {
	size_t unit, at;     /* where it is declared */
	unsigned base;       /* __local: its number among the kernel's bases */
	uint64_t offset;     /* private, constant: from the first byte of all of its kind */
};

/* Before the name of a kernel, that of its clone: the function that callers of the kernel call. */
#define CLONE_PREFIX "__gpusim_call_"

enum edit_kind {
	EDIT_PARAMETER,   /* the counters as a last parameter; replaces `void` in f(void) */
	EDIT_ARGUMENT,    /* the counters as a last argument of a call */
	EDIT_CALLEE,      /* a call of a kernel goes to its clone */
	EDIT_PRINT,       /* a call of printf, which may have to keep silent */
	EDIT_BOX,         /* a call of a builtin goes to the function of ours that knows the box ... */
	EDIT_BOX_END,     /* ... which is its last argument */
	EDIT_INLINE,      /* before the definition of a function, or of a clone */
	EDIT_COUNT,       /* the marker of a block, a statement */
	EDIT_WRAP,        /* the marker of a block that is an expression: (marker, ( ... */
	EDIT_WRAP_END,    /* ... )) */
	EDIT_TEXT,        /* fixed text, in every form */
	EDIT_RETURN,      /* before `return` in a kernel ... */
	EDIT_RETURN_END,  /* ... and behind it */
	EDIT_RETURN_CALL, /* in place of `return` before an expression, in a kernel one of type void: it comes first ... */
	EDIT_RETURN_CALL_END, /* ... and the return behind it */
	EDIT_KERNEL_END,  /* before the closing brace of a kernel */
	EDIT_LOOP,        /* before a loop, and ... */
	EDIT_LOOP_END,    /* ... behind it: where its trips are counted, if they are wanted */
	EDIT_DROP,        /* an attribute that is not true any more once the function counts */
	EDIT_CLONE,       /* a copy of bytes from..at that is a plain function, for the callers of a kernel */
	EDIT_CLONE_NAME,  /* inside the clone only: its name ... */
	EDIT_KERNEL_ONLY, /* ... and what only a kernel may have */
	EDIT_CLONE_TEXT,  /* inside the clone only: fixed text in place of the bytes */
	EDIT_TRACED,      /* fixed text, in traced text only: what is around an access, or behind a declaration */
};

struct edit {
	size_t at, drop; /* in the unit's text: where, and how many bytes are replaced */
	enum edit_kind kind;
	const struct function *function;
	const struct function *callee; /* EDIT_ARGUMENT */
	bool alone;              /* EDIT_PARAMETER, EDIT_ARGUMENT, EDIT_BOX_END: the list is empty, no comma */
	bool of_clone;           /* EDIT_PARAMETER: what the clone of a kernel takes, wherever it is written */
	bool entry;              /* EDIT_COUNT: first block of its function */
	unsigned block;          /* EDIT_COUNT, EDIT_WRAP, EDIT_WRAP_END; the loop of EDIT_LOOP*; the function of EDIT_BOX */
	const char *fixed;       /* EDIT_TEXT, EDIT_CLONE_TEXT, EDIT_TRACED */
	size_t from;             /* EDIT_CLONE */
	struct source_place place, end; /* EDIT_CLONE: of `from` and `at` */
	size_t order;            /* keeps edits of one place in the order they were made */
};

struct unit {
	char *text; /* NUL-terminated copy */
	size_t length;
	CXTranslationUnit tu; /* NULL once the edits are made */
	CXFile file;
	struct edit *edits;
	size_t edit_count;
	unsigned box_functions; /* that its text calls, a bit each */
	bool has_kernels;
	bool prints;           /* its text calls printf */
	bool hides_builtins;   /* a variable has the name of one that markers call */
	bool inner_statements; /* there may be some in expressions: ({ ... }) */
};

struct annotation {
	CXIndex index;
	struct unit *units;
	size_t unit_count;
	struct function **functions;
	size_t function_count;
	void *by_usr; /* the same functions as a tsearch tree */
	struct block *blocks;
	size_t block_count;
	int half_count;
	struct loop *loops;
	size_t loop_count;
	struct kernel_entry *kernels;
	size_t kernel_count;
	struct access_site *sites;
	size_t site_count;
	struct place_of_variable *variables;
	size_t variable_count;
	uint64_t private_bytes, constant_bytes; /* of all these variables together */
	uint64_t local_bytes; /* of the __local variables of all kernels that are called */
	bool without_variables;
	char **strings; /* everything handed out that nothing else owns */
	size_t string_count;
};

/* One more element of `size` bytes for an array that grows by doubling; zeroed, or NULL. */
void *array_grow(void *array_pointer, size_t *count, size_t size);
/* A copy that lives as long as the annotation, or NULL. */
const char *keep_string(struct annotation *a, const char *s);

/* parse.c; a refused construct is told with its place in the user's file */
int parse_unit(struct annotation *a, const struct annotator_unit *source, size_t index, struct gs_error *err);
unsigned offset_of(CXSourceLocation location);
int place_of(struct annotation *a, CXSourceLocation location, struct source_place *out);
char *spell_type(CXType type); /* as it can be written down, or NULL: it has no name; the caller frees */
int refuse(CXSourceLocation location, struct gs_error *err, const char *what);

/* origins.c: blocks of a unit get the places of what the user wrote, as far as they are found there */
int find_origins(struct annotation *a, size_t unit, const struct annotator_original *original, struct gs_error *err);

/* functions.c: first pass */
int collect_functions(struct annotation *a, struct gs_error *err);
struct function *find_function(const struct annotation *a, CXCursor cursor);
/* The function of ours that a call expression calls, or NULL. OpenCL C calls functions by name only. */
struct function *called_function(const struct annotation *a, CXCursor call);
bool is_barrier(CXCursor call); /* of a builtin */

/* nesting.c: what would be too deep to walk through, or to be compiled with the markers in it */
int refuse_deep(CXCursor function, struct gs_error *err);
int refuse_deep_brackets(const char *text, size_t length, struct gs_error *err);

/* boxes.c: functions that know the box */
enum { BOX_GROUP_ID, BOX_NUM_GROUPS, BOX_GLOBAL_SIZE, BOX_GLOBAL_OFFSET, BOX_GLOBAL_LINEAR_ID, BOX_FUNCTION_COUNT };
int box_function(CXCursor call); /* of a builtin: which of them it needs, or -1 */
void write_box_function_name(int function, size_t unit, struct gs_buf *out);
void write_box_functions(unsigned wanted, size_t unit, struct gs_buf *out); /* a bit each */

/* edits.c: second pass */
struct edit_pass {
	struct annotation *a;
	struct unit *unit;
	size_t unit_index;
	struct function *function; /* whose declaration is being visited */
	struct walk *walk;         /* walk.h: the walk through its body */
	size_t type_name;          /* behind it, the typedef of a function that was written anew last */
	size_t list;               /* behind its first character, the declaration of several kernels that was edited last */
	bool inner;                /* the declaration is inside of a function */
	struct gs_error *err;
	int result;
};
int collect_edits(struct annotation *a, size_t unit, struct gs_error *err);
struct edit *add_edit(struct edit_pass *pass, enum edit_kind kind, size_t at, size_t drop);
int edit_callee(struct edit_pass *pass, CXCursor call);
int edit_argument(struct edit_pass *pass, CXCursor call);

/* declarators.c: where a function is declared or defined */
int edit_declarator(struct edit_pass *pass, CXCursor cursor); /* of pass->function */
int edit_own_name(struct edit_pass *pass, CXCursor definition); /* where the function asks for it */
int edit_foreign_declarator(struct edit_pass *pass, CXCursor cursor); /* of one that nobody defines: it may stand among ours */
int edit_inner_declaration(struct edit_pass *pass, CXCursor cursor); /* among statements */

/* locals.c: __local variables of kernels that are called */
bool is_local_variable(CXCursor cursor);
uint64_t local_bytes(CXCursor variable); /* with what aligning it may take; 0: not known */
bool owns_locals(const struct function *f); /* its clone takes a pointer to them, as do all that pass them on */
void place_locals(struct annotation *a);
int edit_locals(struct edit_pass *pass, CXCursor kernel); /* after all other edits of the kernel */
void write_room_for_locals(const struct annotation *a, struct gs_buf *out);

enum value_use { USE_LOAD, USE_STORE, USE_LOAD_AND_STORE, USE_ADDRESS };

/* Where control is when a statement or an expression is visited. */
struct place_in_flow {
	unsigned block; /* the block that control is in */
	int loop;
	bool exact;     /* what is visited runs once for each time that the block does */
	bool quiet;     /* no markers: not evaluated, or not once per work-item */
	enum value_use use;     /* what is done with the expression that is visited */
	enum block_bound bound; /* of the blocks that begin here */
	bool between_barriers;  /* the loop has a barrier */
};

/* blocks.c: the blocks of one function's body, which begins with a brace */
int collect_blocks(struct edit_pass *pass, CXCursor function, CXCursor body);
/* The statements of ({ ... }), a block of their own ("inner"). */
int collect_inner_blocks(struct edit_pass *pass, CXCursor expression, struct place_in_flow flow);

/* expressions.c: the blocks in an expression */
int collect_expression(struct edit_pass *pass, CXCursor expression, struct place_in_flow flow);
/* One more block, whose marker is the caller's to make; NULL: pass->result says why. */
struct block *add_block(struct edit_pass *pass, CXSourceRange range, const char *kind, struct place_in_flow flow);
int add_term(struct edit_pass *pass, unsigned block, unsigned of, int factor);

/* The children of a cursor as an array, freed by the caller. */
struct children {
	CXCursor *items;
	size_t count;
	bool failed;
};
struct children children_of(CXCursor cursor);

/* sites.c: expressions that access memory, and what is written around them in traced text */
struct site_marks {
	const char *before, *behind; /* NULL: nothing */
	size_t from, to;
};
/* What is done with child i of an expression that is itself used as `use` says. */
enum value_use use_of_child(CXCursor cursor, const struct children *c, size_t i, enum value_use use);
int begin_site(struct edit_pass *pass, CXCursor cursor, const struct children *c, struct place_in_flow flow,
               struct site_marks *marks);
int end_site(struct edit_pass *pass, const struct site_marks *marks);
int add_mark(struct edit_pass *pass, size_t at, const char *text);
/* One more site; NULL: pass->result says why. */
struct access_site *add_site(struct edit_pass *pass, CXSourceLocation location, enum trace_site_kind kind,
                             enum code_space space, uint64_t bytes, struct place_in_flow flow);
enum code_space space_of(CXType type); /* of what it is the type of; SPACE_none: not memory */
char letter_of(enum code_space space); /* in the names of the functions that trace */
unsigned root_of(const struct edit_pass *pass, CXCursor pointer); /* the base that it is computed from, or NO_BASE */
CXCursor peel(CXCursor cursor); /* brackets and implicit conversions */
enum { NO_BASE = 7 }; /* TRACE_BASES (models/trace/read.h) */
int tell_variable(struct edit_pass *pass, CXCursor variable, size_t end); /* end: behind its declaration */
int tell_arguments(struct edit_pass *pass, CXCursor kernel);

/* site_calls.c: library functions that access memory; what is around each of their arguments */
enum { MOST_MARKED = 4 };
struct call_marks {
	struct site_marks arguments[MOST_MARKED];
};
int mark_call(struct edit_pass *pass, CXCursor call, const struct children *c, struct place_in_flow flow,
              struct call_marks *marks);

/* trace_text.c: the functions that trace, and what a kernel does at its begin and its ends */
void write_trace_functions(const struct annotation *a, size_t unit, enum marker_form form, struct gs_buf *out);
void write_trace_begin(const struct annotation *a, const struct function *kernel, unsigned block, struct gs_buf *out);

/* counter_macros.c: what markers of a unit's host text are */
#define COUNTER_TYPE "__global volatile unsigned long *"
void write_counter_macros(const struct annotation *a, size_t unit, enum marker_form form, struct gs_buf *out);

/* write.c: the columns of sites become those of the text that is compiled for targets */
int place_sites(struct annotation *a, struct gs_error *err);

/* hazards.c */
int find_argument_kinds(struct kernel_entry *k, CXCursor kernel);
void find_hazards(struct annotation *a); /* once all kernels are known */

/* columns.c */
void reach(struct function *f); /* marks it, and all that it calls, as reached */
int choose_columns(struct annotation *a, struct gs_error *err);
bool inlines_all(const struct annotation *a); /* kernels stay small enough with all that they call in them */

/* trips.c: text that counts what annotation_want_trips asked for */
bool has_trip_numbers(const struct annotation *a, unsigned block);
void write_trip_numbers(const struct annotation *a, unsigned block, const char *separator, struct gs_buf *out);
void write_trips(const struct annotation *a, const struct edit *loop, struct gs_buf *out);

/* scan.c: places in preprocessed text that libclang does not tell. All return `length` when not found. */
/* The number of the line that `at` is in, by the line markers before it, and the file's name in the last of these, in quotes. */
unsigned long scan_line(const char *text, size_t at, const char **name, size_t *name_length);
size_t scan_blanks(const char *text, size_t length, size_t at); /* over white space and # lines */
/* The next character that counts, at or after `at`: over # lines and literals. */
size_t scan_significant(const char *text, size_t length, size_t at);
size_t scan_closing(const char *text, size_t length, size_t open); /* the ) of the ( at `open` */
/* Behind the { at `open`, and the pragmas and __label__ declarations that have to come first. */
size_t scan_block_start(const char *text, size_t length, size_t open);
size_t scan_word(const char *text, size_t length, size_t at); /* end of the identifier at `at` */
size_t scan_attributes(const char *text, size_t length, size_t at); /* behind the __attribute__s that follow; else `at` */
size_t scan_next_word(const char *text, size_t length, size_t at); /* the first one at or behind `at`, in no literal */
bool scan_is_word(const char *text, size_t from, size_t to, const char *word);
bool scan_is_attribute(const char *text, size_t from, size_t to); /* the word before the brackets of one */
void scan_blank_unrolls(char *text, size_t length); /* #pragma unroll becomes a # by itself */
bool scan_asks_for_rounding(const char *text, size_t length); /* pragmas that let arithmetic be inexact */
size_t scan_deep(const char *text, size_t length, int most); /* the first bracket that is in more than `most` of its kind */
bool scan_has_range(const char *text, size_t length, size_t at); /* [1 ... 3] in the designators at `at` */
bool scan_has_inner_statements(const char *text, size_t length);
void scan_replace_digraphs(char *text, size_t length); /* <% is { and so on: everything else knows one spelling only */

#endif
