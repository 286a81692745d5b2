/*
 * builtins: the cost of a library function on a target, for functions whose code is not in the PTX.
 *
 * Two kinds of calls stay in the target's PTX:
 *   - __gpusim_fn_NAME_TYPE (TYPE is f16, f32 or f64) stands for a function of mathematics. A vendor's compiler would have put its
 *     code there. The function is pure, so LLVM may have moved and merged the calls.
 *   - Mangled names (_Z11read_imagef...) are builtins that neither clang nor libclc has for NVPTX: images, pipes, work-group functions.
 * analysis/builtins/builtins.def lists the machine instructions of both kinds for each architecture.
 *
 * Some PTX instructions are sequences too (div.rn.f32, rem.u64). Their rows are found by opcode.
 */
#ifndef GPUSIM_ANALYSIS_BUILTINS_BUILTINS_H
#define GPUSIM_ANALYSIS_BUILTINS_BUILTINS_H

#include "analysis/ptx/ptx.h"

/* One machine instruction on the path that nearly all arguments take. */
struct builtin_step {
	uint8_t class, space, bytes; /* as in struct code_instruction */
	int16_t depends_on;          /* the earlier step whose result it waits for last; -1: the call's arguments */
};

enum { BUILTIN_MAX_STEPS = 512 };

struct builtin_cost;

/* The row of a function that PTX calls. NULL: the function belongs to the program, or it is not in the table. The steps replace
 * the whole call: `call`, the st.param before it and the ld.param after it are not machine instructions. */
const struct builtin_cost *builtin_find(const char *function_name);
/* The row of an instruction, found by its opcode with modifiers ("div.rn.f32"). NULL: it is one machine instruction. Use it only
 * for GPUs whose math_library is vendor. Other GPUs have costs for these instructions in their *_div and sfu classes. */
const struct builtin_cost *builtin_find_opcode(const char *opcode);

/* The steps on `arch` ("sm_70"). A step comes after the step that it depends on. The last step makes the result. Returns the
 * number of steps, from 1 to BUILTIN_MAX_STEPS. Writes up to `room` steps. */
size_t builtin_expand(const struct builtin_cost *cost, const char *arch, struct builtin_step *out, size_t room);

/* The name of the function in reports: "sin (f32)", "read_imagef". */
void builtin_name(const char *function_name, char *out, size_t size);

/* Lists the functions without code that `function` reaches by calls. NULL stands for all functions. Each line is one name as in
 * reports. "?" stands before a name that the table does not have. */
void builtin_list(const struct ptx_module *module, const struct ptx_function *function, struct gs_buf *out);

#endif
