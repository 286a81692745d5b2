/* Declarations that the files of the oracle share. */
#ifndef GPUSIM_TESTS_ORACLE_INTERNAL_H
#define GPUSIM_TESTS_ORACLE_INTERNAL_H

#include "tests/oracle/oracle.h"

#include <string.h>

/* Where each space lies among generic addresses. Global memory begins where GPGPU-Sim has it. */
#define GLOBAL_BASE UINT64_C(0xC0000000)
#define SHARED_BASE UINT64_C(0x10000000)
#define LOCAL_BASE UINT64_C(0x20000000)
#define WINDOW_BYTES UINT64_C(0x10000000)
enum { BUFFER_ALIGN = 256 };

/*
 * A row has one value for each of the 32 lanes. A value has the bits of its width, with zeros above. Registers and special
 * registers are rows of the warp, numbered from 0. Constants are rows of the program: row ~i is constant i.
 */
struct warp;
struct oracle_op;
typedef void (*oracle_handler)(struct warp *w, const struct oracle_op *o, uint32_t mask);
/* The result of one lane, of four source values. */
typedef uint64_t (*oracle_lane)(const struct oracle_op *o, const uint64_t *values);

enum oracle_kind { OP_PLAIN, OP_BRANCH, OP_EXIT, OP_BARRIER, OP_MEMORY };
enum { MAX_ELEMENTS = 8, NO_ROW = INT32_MAX };

/* Types of values, as in PTX. */
#define ORACLE_TYPES(X) X(u8) X(s8) X(u16) X(s16) X(u32) X(s32) X(u64) X(s64) X(f32) X(f64) X(pred) X(f16) X(bf16) X(f16x2) X(bf16x2)
#define ORACLE_TYPE(name) TYPE_##name,
enum oracle_type { ORACLE_TYPES(ORACLE_TYPE) TYPE_NONE };
#undef ORACLE_TYPE

enum oracle_rounding { ROUND_NEAREST, ROUND_ZERO, ROUND_DOWN, ROUND_UP };
enum oracle_combine { COMBINE_NONE, COMBINE_AND, COMBINE_OR, COMBINE_XOR };

struct oracle_op {
	oracle_handler run;
	int32_t d, d2, a, b, c; /* rows; NO_ROW: none */
	int32_t guard;
	bool guard_negated;
	uint8_t kind;           /* enum oracle_kind */
	uint8_t type, from;     /* enum oracle_type; from: source type of a conversion */
	uint8_t rounding;
	bool to_integer, saturate;
	uint8_t combine;        /* for setp */
	uint8_t space, element_bytes, elements, register_bits;
	int32_t rows[MAX_ELEMENTS]; /* memory instructions: the rows that are loaded or stored */
	int64_t offset;
	uint32_t target;        /* block */
	const char *opcode;
	oracle_lane lane;       /* where run is oracle_each_lane */
	uint8_t negated;        /* bits of the sources that are !p */
	const char *parts[2];   /* of video instructions: ".b0" of a, of b; or NULL */
};

struct oracle {
	struct ptx_module *module;
	const struct ptx_function *function;
	struct oracle_op *ops;
	struct oracle_block *blocks;
	uint32_t block_count;
	uint32_t *block_of; /* per instruction */
	uint64_t *constants;
	uint32_t constant_count, constant_room;
	const char *specials[32];
	uint32_t special_count;
	uint32_t row_count; /* registers, then special registers */
	uint64_t *variable_at; /* per variable of the function: its place in its space */
	uint64_t *module_at;   /* the same for the variables of the module */
	uint64_t parameter_bytes, shared_bytes, local_bytes, static_bytes;
	uint8_t *statics; /* the module's constant and global variables with their initial values */
};

struct stack_entry {
	uint32_t block, join; /* block_count: none */
	uint32_t mask;
};

struct run;
struct warp {
	struct run *run;
	const struct oracle *program;
	uint64_t *rows;
	uint32_t number, first_thread;
	uint32_t live; /* lanes that have not returned */
	uint32_t at;   /* next instruction */
	bool waiting, begun;
	uint8_t carry[ORACLE_WARP]; /* of add.cc and the like */
	const struct oracle_op *reduction; /* bar.red that waits for its result */
	uint32_t reduced_lanes;
	struct stack_entry *stack;
	uint32_t depth, room;
};

struct run {
	const struct oracle *program;
	const struct oracle_launch *launch;
	struct oracle_counts *counts;
	uint8_t *global, *parameters, *shared, *local;
	uint64_t global_bytes, shared_bytes;
	uint64_t groups[3], group_at[3], group;
	uint32_t threads, warp_count;
	struct warp *warps;
	bool failed;
	struct gs_error *err;
};

static inline uint64_t *oracle_row(const struct warp *w, int32_t row)
{
	return row >= 0 ? w->rows + (size_t)row * ORACLE_WARP : w->program->constants + (size_t)~row * ORACLE_WARP;
}

/* Where the next buffer begins. */
static inline uint64_t oracle_align(uint64_t at)
{
	return (at + BUFFER_ALIGN - 1) / BUFFER_ALIGN * BUFFER_ALIGN;
}

/* Runs the body for every lane l of the mask. Whole warps run in a loop that the compiler can vectorise. */
#define LANES(mask, ...)                                                                                               \
	do {                                                                                                           \
		if ((mask) == UINT32_MAX) {                                                                            \
			for (uint32_t l = 0; l < ORACLE_WARP; l++) {                                                   \
				__VA_ARGS__                                                                            \
			}                                                                                              \
		} else {                                                                                               \
			for (uint32_t rest = (mask); rest; rest &= rest - 1) {                                         \
				uint32_t l = (uint32_t)__builtin_ctz(rest);                                            \
				__VA_ARGS__                                                                            \
			}                                                                                              \
		}                                                                                                      \
	} while (0)

/* flow.c */
int oracle_find_blocks(struct oracle *o);
/* decode.c */
int oracle_decode(struct oracle *o, struct gs_error *err);
bool oracle_has(const char *opcode, const char *modifier); /* whether it is one of the words between the dots */
enum oracle_type oracle_type_of(const char *opcode, uint32_t which); /* the which-th type among the words */
uint32_t oracle_type_bytes(enum oracle_type type);
/* arithmetic.c, floats.c, convert.c, memory.c: the handler of an opcode, or NULL */
oracle_handler oracle_integer_handler(const char *opcode, enum oracle_type type);
oracle_handler oracle_real_handler(const char *opcode, enum oracle_type type);
oracle_handler oracle_compare_handler(const char *opcode, enum oracle_type type);
void oracle_convert(struct warp *w, const struct oracle_op *o, uint32_t mask);
oracle_handler oracle_memory_handler(const char *opcode);
/* layout.c */
int oracle_layout(struct oracle *o, const char *ptx, size_t length, struct gs_error *err);
bool oracle_symbol(const struct oracle *o, const char *name, uint64_t *address, uint8_t *space);
/* Ends the run with a message. */
void oracle_fail(struct run *r, const char *what, uint32_t instruction);

#endif
