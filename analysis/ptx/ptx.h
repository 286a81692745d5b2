/*
 * ptx: PTX text as data. The text may come from clang, NVIDIA's OpenCL or nvcc.
 *
 * An unknown opcode is not an error: the reader lists it and gives it a default class. The reader fails only when memory runs
 * out. A text that is not PTX has no functions.
 */
#ifndef GPUSIM_ANALYSIS_PTX_PTX_H
#define GPUSIM_ANALYSIS_PTX_PTX_H

#include "models/code/code.h"

enum ptx_operand_kind {
	PTX_REGISTER,  /* .reg */
	PTX_SPECIAL,   /* %tid.x and the like: .text */
	PTX_IMMEDIATE, /* .value (integers), or its bits where the text is 0f... or 0d... */
	PTX_SYMBOL,    /* the name of a variable or function as a value: .text, + .value */
	PTX_ADDRESS,   /* [base + value]: .reg, or .text when reg is -1, or only .value */
	PTX_LABEL,     /* .label: index in the function's labels; -1: the label does not exist */
};

/* What the text of a PTX_IMMEDIATE is. PTX gives a constant the type of its instruction. */
enum ptx_constant {
	PTX_INTEGER,
	PTX_FLOAT,  /* 0f...: .value has the 32 bits of a float */
	PTX_DOUBLE, /* 0d..., and 1.5 or 1e3: .value has the 64 bits of a double */
};

struct ptx_operand {
	uint8_t kind;
	uint8_t constant;    /* enum ptx_constant */
	bool write, negated; /* negated: !%p1, or -%r1 */
	int32_t reg, label;
	int64_t value;
	const char *text; /* owned by the module; of a PTX_REGISTER: NULL, or the part that is meant: ".h0", ".b3" of video instructions */
};

struct ptx_instruction {
	const char *opcode; /* with its modifiers: ld.global.v4.f32 */
	uint8_t class, space, bytes, elements, flags; /* as in struct code_instruction */
	int32_t guard; /* register, or -1 */
	bool guard_negated;
	/* Elements of a {vector} are separate operands, in order. So are the parts of a d|p pair. In a call, the function is the
	 * first operand that is not a write (ptx_callee), and its parameters follow. In brx.idx, the labels of its table follow the
	 * index register. */
	struct ptx_operand *operands;
	uint32_t operand_count;
	/* Registers that no operand names, which stand for groups of asynchronous copies (struct code_register): a copy writes that of the group
	 * that is open, a commit all of them, and a wait waits for some. The first of them, plus 1, and how many. 0: none */
	uint32_t copies, copy_count;
	int32_t prototype; /* of an indirect call: index in the function's prototypes; -1: none */
	uint32_t ptx_line;
	uint32_t file, line, column; /* from the last .loc; file is its number in .file, 0: none */
};

struct ptx_register {
	const char *name;
	uint8_t bits;    /* 1: predicate */
	bool real;       /* .f32 or .f64 */
	uint8_t copies;  /* as in struct code_register */
	uint32_t number; /* the digits at the end of the name */
};

struct ptx_label {
	const char *name;
	uint32_t at; /* the instruction that it stands before; instruction_count: at the end */
	bool nounroll; /* .pragma "nounroll": the loop that begins here must not be unrolled */
};

struct ptx_probe {
	uint64_t guid;
	uint32_t id, at; /* at: the instruction that it stands before */
	uint32_t labels; /* number of the function's labels before it */
};

enum ptx_linkage { PTX_INTERNAL, PTX_VISIBLE, PTX_WEAK, PTX_COMMON, PTX_EXTERN };

/* The bytes of a variable at `offset` are those of the address of a variable or function, plus addend. */
struct ptx_relocation {
	uint64_t offset;
	const char *symbol;
	int64_t addend;
	uint8_t bytes; /* the lowest ones of the address; mostly 8 */
};

/* Names of variables are unique in their function: a second `param0` of a body, in other braces, is called param0$1, and so are the
 * operands that mean it. */
struct ptx_variable {
	const char *name;
	uint8_t space; /* enum code_space */
	uint64_t bytes;
	uint32_t align;
	uint8_t linkage;        /* enum ptx_linkage; of a module's variables */
	bool array;             /* it has dimensions */
	bool unsized;           /* name[] without an initialiser: bytes are 0, and a launch says how many there are */
	bool managed;           /* .attribute(.managed) */
	bool pointer;           /* .ptr: a parameter that points to memory */
	bool unclear;           /* its initialiser could not be read */
	const char *type;       /* "f32"; of a vector: of its parts; "": none was read */
	uint32_t element_bytes; /* all parts of a vector together */
	const uint8_t *initial; /* what it begins with: initial_bytes of them; all after them are 0 */
	uint64_t initial_bytes; /* at most `bytes` */
	const struct ptx_relocation *relocations; /* by ascending offset; their bytes are 0 in `initial`, or not in it */
	uint32_t relocation_count;
};

/* name: .callprototype (.param .b32 _) _ (.param .b64 _);  or  name: .calltargets f, g; */
struct ptx_prototype {
	const char *name;
	struct ptx_variable *variables; /* parameters first, then results */
	uint32_t parameter_count, result_count;
	const char **targets; /* the functions that may be called; NULL: any */
	uint32_t target_count;
};

struct ptx_function {
	const char *name;
	bool entry, external; /* external: declared here, defined elsewhere */
	bool noreturn;
	bool passes_registers; /* parameters or results are .reg, as in PTX 1: they are not among the variables */
	uint8_t linkage;       /* enum ptx_linkage */
	struct ptx_instruction *instructions;
	struct ptx_register *registers;
	struct ptx_label *labels;
	struct ptx_probe *probes;
	struct ptx_variable *variables; /* parameters first, then results, then .shared, .local and .param variables of the body */
	struct ptx_prototype *prototypes;
	uint32_t instruction_count, register_count, label_count, probe_count, variable_count, parameter_count, result_count, prototype_count;
	uint32_t reqntid[3], maxntid[3], minnctapersm, maxnreg, reqnctapercluster[3]; /* 0: not given */
	uint64_t shared_bytes; /* the result of ptx_shared_bytes() */
	uint32_t ptx_line;
};

struct ptx_file {
	uint32_t number;
	const char *name;
};

struct ptx_unknown {
	const char *opcode;
	uint32_t ptx_line, count; /* line of its first use; number of uses */
};

/* .alias name, of; */
struct ptx_alias {
	const char *name, *of;
};

struct ptx_module {
	const char *version, *target; /* "8.0", "sm_90"; "" if the text does not say it */
	struct ptx_function *functions;
	struct ptx_variable *variables;
	struct ptx_file *files;
	struct ptx_unknown *unknown;
	struct ptx_alias *aliases;
	uint32_t function_count, variable_count, file_count, unknown_count, alias_count;
	bool debug, narrow; /* .target has `debug`; .address_size is 32 */
	struct ptx_arena *arena; /* owns every string and array */
};

/* The text with loads and stores of fragments (wmma) as those of words, on the same lines (fragments.c). */
int ptx_expand_fragments(const char *text, size_t length, struct gs_buf *out, struct gs_error *err);
int ptx_read(const char *text, size_t length, struct ptx_module **out, struct gs_error *err);
void ptx_free(struct ptx_module *module);
/* A definition is found before a declaration. Aliases are followed. */
const struct ptx_function *ptx_find(const struct ptx_module *module, const char *name);
/* The operand that a call calls: a PTX_SYMBOL, or the PTX_REGISTER of an indirect call. NULL: the instruction is no call. */
const struct ptx_operand *ptx_callee(const struct ptx_instruction *instruction);
/* Whether it copies rows of bytes from or to global memory (cp.async.bulk): its third operand says how many, the first or, from global memory, the
 * second where. */
bool ptx_is_bulk(const struct ptx_instruction *instruction);
/* Marks the functions whose address is somewhere, per function of the module: an indirect call may call any of them. */
void ptx_mark_addressed(const struct ptx_module *module, bool *out);

/* Describes an opcode with its modifiers. False: the opcode is not known, and the result is a default. */
bool ptx_classify(const char *opcode, struct ptx_instruction *out);

/* Bytes of shared memory that a function uses: its own variables, and the module's variables that it mentions. Extern arrays
 * count 0. */
uint64_t ptx_shared_bytes(const struct ptx_module *module, const struct ptx_function *function);

/* The registers of an instruction, in the order of struct code_instruction (writes, reads, waits). Each list has at most `room`
 * elements. Returns how many there are in all. */
enum { PTX_MAX_REGISTERS = 64 };
struct ptx_uses {
	uint16_t list[PTX_MAX_REGISTERS];
	uint8_t writes, reads, waits;
};
void ptx_uses(const struct ptx_instruction *instruction, struct ptx_uses *out);

/* Links the texts of several objects (nvcc -rdc=true): appends one text, which has everything that they have. Names that only one of them
 * knows may change, but not those of the first text. */
int ptx_link(const struct gs_buf *texts, size_t count, struct gs_buf *out, struct gs_error *err);

/* Drops the .pseudoprobe lines. No assembler of PTX knows them. */
void ptx_without_probes(const char *ptx, size_t length, struct gs_buf *out);

#endif
