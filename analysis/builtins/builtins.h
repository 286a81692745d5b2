/*
 * builtins: what a library function costs on a target, where its code is not in the PTX.
 *
 * Two kinds of calls stay in the target's PTX. __gpusim_fn_NAME_TYPE (TYPE f16, f32 or f64) stands for a function of
 * mathematics whose code a vendor's compiler would have put there: it is pure, and LLVM moved and merged it as
 * such. Mangled names (_Z11read_imagef...) are builtins that neither clang nor libclc has for NVPTX: images,
 * pipes, work-group functions. analysis/builtins/builtins.def has the machine instructions of both, by architecture.
 *
 * Some PTX instructions are sequences too (div.rn.f32, rem.u64); their rows are found by opcode.
 */
#ifndef GPUSIM_ANALYSIS_BUILTINS_BUILTINS_H
#define GPUSIM_ANALYSIS_BUILTINS_BUILTINS_H

#include "analysis/ptx/ptx.h"

/* One machine instruction of the way that nearly all arguments take. */
struct builtin_step {
	uint8_t class, space, bytes; /* as in struct code_instruction */
	int16_t depends_on;          /* a lower step, whose result it needs last; -1: the call's arguments */
};

enum { BUILTIN_MAX_STEPS = 512 };

struct builtin_cost;

/* The row of a function that PTX calls, or NULL: then it is a function of the program, or nobody knows it. The call is
 * all steps together: neither `call` nor the st.param before and ld.param after it are instructions of the machine. */
const struct builtin_cost *builtin_find(const char *function_name);
/* The row of an instruction by its opcode with modifiers ("div.rn.f32"), or NULL: it is one machine instruction. Meant
 * for GPUs whose math_library is vendor: others have the costs of their *_div and sfu classes. */
const struct builtin_cost *builtin_find_opcode(const char *opcode);

/* The steps on `arch` ("sm_70"), in an order that respects depends_on; the last one makes the result. Returns their
 * number, at least 1 and at most BUILTIN_MAX_STEPS, and writes up to `room` of them. */
size_t builtin_expand(const struct builtin_cost *cost, const char *arch, struct builtin_step *out, size_t room);

/* What reports call the function: "sin (f32)", "read_imagef". */
void builtin_name(const char *function_name, char *out, size_t size);

/* The functions without code that `function` (NULL: any) and those it calls reach, one per line, as reports call them; "?"
 * stands before those that the table does not have. */
void builtin_list(const struct ptx_module *module, const struct ptx_function *function, struct gs_buf *out);

#endif
