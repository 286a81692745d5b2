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

struct ptx_operand {
	uint8_t kind;
	bool write, negated; /* negated: !%p1 */
	int32_t reg, label;
	int64_t value;
	const char *text; /* owned by the module */
};

struct ptx_instruction {
	const char *opcode; /* with its modifiers: ld.global.v4.f32 */
	uint8_t class, space, bytes, elements, flags; /* as in struct code_instruction */
	int32_t guard; /* register, or -1 */
	bool guard_negated;
	/* Elements of a {vector} are separate operands, in order. So are the parts of a d|p pair. In a call, the function is the
	 * first PTX_SYMBOL that is not a write, and its parameters follow. In brx.idx, the labels of its table follow the index
	 * register. */
	struct ptx_operand *operands;
	uint32_t operand_count;
	uint32_t ptx_line;
	uint32_t file, line, column; /* from the last .loc; file is its number in .file, 0: none */
};

struct ptx_register {
	const char *name;
	uint8_t bits;    /* 1: predicate */
	bool real;       /* .f32 or .f64 */
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

struct ptx_variable {
	const char *name;
	uint8_t space; /* enum code_space */
	uint64_t bytes;
	uint32_t align;
};

struct ptx_function {
	const char *name;
	bool entry, external; /* external: declared here, defined elsewhere */
	struct ptx_instruction *instructions;
	struct ptx_register *registers;
	struct ptx_label *labels;
	struct ptx_probe *probes;
	struct ptx_variable *variables; /* .shared, .local and .param variables of the body; parameters first */
	uint32_t instruction_count, register_count, label_count, probe_count, variable_count, parameter_count;
	uint32_t reqntid[3], maxntid[3], minnctapersm; /* 0: not given */
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

struct ptx_module {
	const char *version, *target; /* "8.0", "sm_90"; "" if the text does not say it */
	struct ptx_function *functions;
	struct ptx_variable *variables;
	struct ptx_file *files;
	struct ptx_unknown *unknown;
	uint32_t function_count, variable_count, file_count, unknown_count;
	struct ptx_arena *arena; /* owns every string and array */
};

int ptx_read(const char *text, size_t length, struct ptx_module **out, struct gs_error *err);
void ptx_free(struct ptx_module *module);
const struct ptx_function *ptx_find(const struct ptx_module *module, const char *name);

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

/* Drops the .pseudoprobe lines. No assembler of PTX knows them. */
void ptx_without_probes(const char *ptx, size_t length, struct gs_buf *out);

#endif
