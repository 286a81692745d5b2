/*
 * What the files that write single instructions share: the words of an opcode, types, operands as C expressions, and assignments.
 *
 * Most opcodes are a row of text (struct opcode_rule). In such text:
 *   $a $b ... $f   the operands after the results, read with the type of the instruction; $ua, $sa: as unsigned, signed numbers of as
 *                  many bits; $a:u32: with that type
 *   $T $U $S $W    the C type of the instruction's type, the unsigned and signed ones of as many bits, and one of twice as many
 *   $P             uint, or ulong for 64 bits: C must not compute with less
 *   $t $N $M       the name of the type, its bits, its bits less 1
 *   $m             the rounding: GS_RN, GS_RZ, GS_RM, GS_RP
 */
#ifndef GPUSIM_ANNOTATOR_OPCODES_OPCODE_H
#define GPUSIM_ANNOTATOR_OPCODES_OPCODE_H

#include "annotator/opcodes/instruction.h"

/* kind: u, s, b integers; f floats; g bf16; p predicate; t tf32; e e4m3, E e5m2; 0: not a type. Packed types (f16x2) have two parts. */
struct opcode_type {
	char kind;
	uint8_t bits, parts; /* bits: all parts together */
	char name[8];
};

enum { OPCODE_WORDS = 24, OPCODE_TYPES = 4 };

struct opcode_work {
	const struct lift_scope *scope;
	const struct ptx_instruction *i;
	struct gs_buf *out;
	struct gs_error *err;
	int rc; /* of the first failure; what is written after it does not matter */
	char copy[256];
	const char *words[OPCODE_WORDS]; /* without dots; the first is the opcode's name */
	uint32_t word_count;
	struct opcode_type types[OPCODE_TYPES]; /* that it names, in order */
	uint32_t type_count;
	struct opcode_type type; /* of operands: the last one */
	uint32_t results;        /* operands that are written; they come first */
	bool flush;              /* operands and results of .ftz */
};

struct opcode_entry {
	const char *name; /* may have several words: "cp.async.bulk" */
	enum lift_kind kind;
	void (*write)(struct opcode_work *w); /* NULL: refused, or nothing to write */
	const char *modifiers; /* that it may have beside types; NULL: any */
	const char *why;       /* it is refused */
};

struct opcode_rule {
	const char *name;
	const char *word;   /* a modifier that it has; "directed": rz, rm or rp; NULL: any */
	const char *types;  /* letters of type_letter() */
	const char *result; /* type of the result; NULL: the type of the instruction; "wide": twice its bits */
	const char *text;
};

/* operands.c */
struct opcode_type opcode_type_of(const char *word);
struct opcode_type opcode_type_as(struct opcode_type t, char kind);
const char *opcode_c_type(struct opcode_type t);
/* A letter for rules: u s b of integers, p, f (f32), d (f64), h (f16), H (f16x2), g (bf16), G (bf16x2), F (f32x2), x (u16x2, s16x2). */
char opcode_type_letter(struct opcode_type t);
bool opcode_has(const struct opcode_work *w, const char *word);
/* The first of these words that the opcode has, or -1. The list ends with NULL. */
int opcode_which(const struct opcode_work *w, const char *const *words);
const char *opcode_rounding(const struct opcode_work *w); /* "GS_RN", or the one that a modifier names */
void opcode_refuse(struct opcode_work *w, const char *fmt, ...) GS_PRINTF(2, 3);
/* The operand number n after the results; NULL and a refusal if there is none. */
const struct ptx_operand *opcode_source(struct opcode_work *w, uint32_t n);
uint32_t opcode_sources(const struct opcode_work *w);
void opcode_put(struct opcode_work *w, const char *fmt, ...) GS_PRINTF(2, 3);
void opcode_put_operand(struct opcode_work *w, const struct ptx_operand *o, struct opcode_type t);
void opcode_expand(struct opcode_work *w, const char *text);
/* result n = text; opcode_open and opcode_close write what stands before and after the expression, which has the type t. */
void opcode_assign(struct opcode_work *w, uint32_t n, struct opcode_type t, const char *text);
void opcode_open(struct opcode_work *w, uint32_t n, struct opcode_type t);
void opcode_close(struct opcode_work *w, uint32_t n, struct opcode_type t);
/* Uses the first row that fits. */
bool opcode_apply(struct opcode_work *w, const struct opcode_rule *rules, size_t count);

/* special.c: a special register as an expression of its own C type. NULL: not known. */
const char *opcode_special(const char *name, struct opcode_type *type);
/* memory.c: the value of a symbol, an expression of type ulong. */
void opcode_put_symbol(struct opcode_work *w, const char *name, int64_t offset);
/* The address that an operand names, as a ulong of the process. */
void opcode_put_address(struct opcode_work *w, const struct ptx_operand *o, uint8_t space);
/* Notes low bits of the address gs_a, where the structure wants that. */
void opcode_put_check(struct opcode_work *w);
/* The same as lift_address() promises it. */
void opcode_put_place(struct opcode_work *w, const struct ptx_operand *o, uint8_t space);
/* Loads from, and the place of, an address in the variable gs_a: the element number n of this type. */
void opcode_put_load(struct opcode_work *w, struct opcode_type t, uint32_t n, bool is_volatile);

/* In statements of warps: every lane, and those that execute it; the latter opens a block. */
#define EACH "GS_LANES"
#define EACH_ON "GS_LANES if (x >> l & 1u) {"

/* What writes opcodes, by file. */
void opcode_write_compute(struct opcode_work *w); /* arithmetic.c, floats.c */
bool opcode_write_integers(struct opcode_work *w);
bool opcode_write_floats(struct opcode_work *w);
void opcode_write_carry(struct opcode_work *w);
void opcode_write_lop3(struct opcode_work *w);
void opcode_write_setp(struct opcode_work *w); /* compare.c */
void opcode_write_set(struct opcode_work *w);
void opcode_write_slct(struct opcode_work *w);
void opcode_write_cvt(struct opcode_work *w); /* convert.c */
void opcode_write_cvt_pack(struct opcode_work *w);
void opcode_write_mov(struct opcode_work *w); /* memory.c */
void opcode_write_load(struct opcode_work *w);
void opcode_write_store(struct opcode_work *w);
void opcode_write_cvta(struct opcode_work *w);
void opcode_write_mapa(struct opcode_work *w);
void opcode_write_getctarank(struct opcode_work *w);
void opcode_write_isspacep(struct opcode_work *w);
void opcode_write_copy(struct opcode_work *w);
void opcode_write_atom(struct opcode_work *w); /* atomics.c */
void opcode_write_fence(struct opcode_work *w);
void opcode_write_mbarrier(struct opcode_work *w); /* mbarriers.c */
void opcode_write_mbarrier_count(struct opcode_work *w);
void opcode_write_bulk(struct opcode_work *w);
void opcode_write_shfl(struct opcode_work *w); /* lanes.c */
void opcode_write_vote(struct opcode_work *w);
void opcode_write_match(struct opcode_work *w);
void opcode_write_redux(struct opcode_work *w);
void opcode_write_activemask(struct opcode_work *w);
void opcode_write_elect(struct opcode_work *w);
void opcode_write_syncwarp(struct opcode_work *w);
void opcode_write_mma(struct opcode_work *w); /* matrices.c */
void opcode_write_wmma(struct opcode_work *w);
void opcode_write_wmma_load(struct opcode_work *w);
void opcode_write_wmma_store(struct opcode_work *w);
bool opcode_put_fragment_address(struct opcode_work *w); /* the address of a lane's first element */
void opcode_write_ldmatrix(struct opcode_work *w);
void opcode_write_stmatrix(struct opcode_work *w);
void opcode_write_movmatrix(struct opcode_work *w);
void opcode_write_tex(struct opcode_work *w); /* textures.c */
void opcode_write_tld4(struct opcode_work *w);
void opcode_write_query(struct opcode_work *w);
/* Writes the address of the first element that a fetch reads. */
bool opcode_put_texture_address(struct opcode_work *w);
void opcode_write_suld(struct opcode_work *w);
void opcode_write_sust(struct opcode_work *w);
bool opcode_put_surface_address(struct opcode_work *w);
/* Writes the object of a texture or a surface. */
bool opcode_put_object(struct opcode_work *w);
void opcode_write_video(struct opcode_work *w); /* video.c */
void opcode_write_video_parts(struct opcode_work *w);

extern const char lift_prelude_text[]; /* the files prelude*.cl, embedded by make */

#endif
