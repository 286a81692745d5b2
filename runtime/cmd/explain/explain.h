/*
 * explain: shows what a source file becomes on a GPU, without running it. The parts of `gpusim explain`:
 *
 *   explain.c          arguments, and the order of the steps
 *   runtime/cmd/explain/compile.c  gpusim-cc's answer to a source file
 *   runtime/cmd/explain/image.c    PTX and fat binaries in place of a source file
 *   runtime/cmd/explain/list.c     the kernels of all modules of a program
 *   runtime/cmd/explain/code.c     the code of every kernel in that answer
 *   runtime/cmd/explain/source.c   the source's own functions and loops, from the same answer
 *   runtime/cmd/explain/lines.c    what each line of the source became, and its cost
 *   runtime/cmd/explain/notes.c    remarks about a kernel as a whole
 *   runtime/cmd/explain/text.c, runtime/cmd/explain/html.c, runtime/cmd/explain/dot.c   what the user sees
 */
#ifndef GPUSIM_RUNTIME_CMD_EXPLAIN_EXPLAIN_H
#define GPUSIM_RUNTIME_CMD_EXPLAIN_EXPLAIN_H

#include "analysis/graph/graph.h"
#include "models/models.h"
#include "runtime/base/base.h"

/* Classes of instructions for a reader of source code: X(name, letter, what). */
#define EXPLAIN_FAMILIES(X)                                                                                            \
	X(int, 'I', "integer")                                                                                         \
	X(fp32, 'F', "float")                                                                                          \
	X(fp64, 'D', "double")                                                                                         \
	X(sfu, 'S', "special function, division")                                                                      \
	X(logic, 'L', "bits, shifts")                                                                                  \
	X(move, 'M', "move, compare, convert")                                                                         \
	X(global, 'G', "global memory")                                                                                \
	X(shared, 'H', "local memory")                                                                                 \
	X(private, 'P', "private memory")                                                                              \
	X(constant, 'K', "constants, arguments")                                                                       \
	X(texture, 'T', "images")                                                                                      \
	X(atomic, 'A', "atomic")                                                                                       \
	X(barrier, 'X', "barrier, fence")                                                                              \
	X(branch, 'B', "branch, call")                                                                                 \
	X(tensor, 'W', "tensor")                                                                                       \
	X(other, 'O', "other")

#define EXPLAIN_FAMILY(name, letter, what) FAMILY_##name,
enum explain_family { EXPLAIN_FAMILIES(EXPLAIN_FAMILY) FAMILY_COUNT };
#undef EXPLAIN_FAMILY

/* What a line of source became. Its cycles are from the issue of each of its instructions to the issue of the next, for one
 * warp alone that runs every block once (GATSim II-A). Its instructions are the ones that the GPU executes. */
struct explain_line {
	uint32_t instructions, families[FAMILY_COUNT];
	double cycles;
	uint32_t *blocks; /* ascending, each once */
	uint32_t block_count;
	uint32_t depth; /* the most loops of the target's code around its instructions */
};

/* A line of a file other than the user's. */
struct explain_place {
	const char *file;
	uint32_t number;
	struct explain_line line;
};

/* A function of the source, or the body of a loop. */
struct explain_range {
	char *function;
	uint32_t first, last; /* lines */
	uint32_t depth;       /* number of loops; 0: a function */
};

struct explain_source {
	const char *file; /* as the user gave it */
	struct gs_buf text;
	const char **lines; /* from 1; point into text, where each line ends with a NUL */
	uint32_t line_count;
	struct explain_range *functions, *loops;
	size_t function_count, loop_count;
};

struct explain_kernel {
	const char *name;
	const struct ptx_function *function;
	struct graph *graph;
	struct kernel_code *code;
	struct kernel_code executed; /* the machine's instructions if there are any, otherwise the PTX's */
	struct code_block *machine_blocks; /* of executed, or NULL */
	struct explain_line *lines; /* from 1, like the source's */
	struct explain_place *places;
	size_t place_count;
	struct explain_line elsewhere; /* instructions that belong to no known line */
	struct explain_line all;
	bool *unrolled; /* for each loop of the source: whether the target's code has no loop there */
	uint32_t spilled; /* registers that it needs beyond the most that a thread can have */
	uint32_t local_pointers; /* arguments in local memory, whose size only the program knows */
};

struct explain {
	struct gpu gpu;
	struct explain_source source;
	uint64_t local_threads;  /* of a work-group; 0: not given */
	uint64_t dynamic_shared; /* bytes of __local arguments, as the user gave them */
	struct ptx_module *module;
	struct explain_kernel *kernels;
	size_t kernel_count;
	struct gs_buf failures; /* kernels that could not be analysed: "NAME: why", one per line */
};

/* runtime/cmd/explain/compile.c: gets gpusim-cc's answer (runtime/format/protocol.h) to a source file. `options` are build
 * options. Includes are searched in the folder of the file last. `target` is a line of the request's section "targets". If the
 * program does not compile, the error is clang's first message. The caller frees *result. */
int explain_compile(const char *file, const struct gs_buf *source, const char *options, const char *target,
                    struct gs_pack *result, struct gs_error *err);

/* The same for PTX. */
int explain_compile_ptx(const char *file, const struct gs_buf *ptx, const char *target, struct gs_pack *result, struct gs_error *err);

/* runtime/cmd/explain/image.c: if the file that was read is PTX, a fat binary or a program with CUDA kernels in it, *found is true, and the
 * source's text becomes the PTX for the target: of the first module that has the kernel, or any kernel (NULL). */
int explain_read_image(struct explain_source *s, const char *target, const char *kernel, bool *found, struct gs_error *err);

/* A kernel of a program. */
struct explain_listed {
	char *name;
	uint32_t registers; /* per work-item: those of the machine code, else an estimate */
	uint64_t shared_bytes, private_bytes;
	uint32_t arch;      /* of the machine code: 90 of sm_90; 0: there is none that can be read */
	bool ptx;
};

struct explain_list {
	struct explain_listed *kernels;
	size_t count;
};

/* runtime/cmd/explain/list.c: the kernels of all modules, if the file that was read is a program, a fat binary or a cubin; else none. The caller frees
 * *out with explain_list_free. */
int explain_list_kernels(const struct explain *e, const char *target, struct explain_list *out, struct gs_error *err);
void explain_list_free(struct explain_list *l);
void explain_list_text(const struct explain *e, const struct explain_list *l, struct gs_buf *out);

/* PTX in which every instruction knows its line in *ptx, as that of program.cl. */
void explain_mark_lines(const struct gs_buf *ptx, struct gs_buf *out);
/* Functions and loops, from the PTX with such lines. The lines of unknown opcodes become those as well. */
int explain_read_ptx_ranges(struct explain_source *s, struct ptx_module *m, struct gs_error *err);

/* runtime/cmd/explain/code.c: fills module and kernels. `only` is the name of one kernel, or NULL for all. */
int explain_read_code(struct explain *e, const struct gs_pack *answer, const char *only, struct gs_error *err);
void explain_free(struct explain *e);

/* runtime/cmd/explain/source.c */
int explain_read_source(struct explain_source *s, const char *file, struct gs_error *err);
int explain_read_ranges(struct explain_source *s, const struct gs_pack *answer, struct gs_error *err);
int explain_split_lines(struct explain_source *s, struct gs_error *err); /* fills lines */
void explain_source_free(struct explain_source *s);
const struct explain_range *explain_function_of(const struct explain_source *s, uint32_t line); /* or NULL */
const struct explain_range *explain_loop_of(const struct explain_source *s, uint32_t line); /* the innermost, or NULL */

/* runtime/cmd/explain/lines.c */
int explain_attribute(struct explain *e, struct explain_kernel *k, struct gs_error *err);
void explain_line_free(struct explain_line *l);
/* Whether to show a line of the source for a kernel: lines of every function from which some of its instructions come are
 * shown. */
bool explain_shows(const struct explain *e, const struct explain_kernel *k, uint32_t line);
bool explain_has_loop(const struct explain *e, const struct explain_kernel *k); /* of the source, in the lines that are shown */
char explain_letter(enum explain_family f);
const char *explain_family_text(enum explain_family f);
/* The families of a line, those with most instructions first. Returns how many there are. */
size_t explain_mix(const struct explain_line *l, enum explain_family order[FAMILY_COUNT]);
/* "0,2-4" */
void explain_blocks(const struct explain_line *l, struct gs_buf *out);

/* runtime/cmd/explain/notes.c: the local sizes of the table; 0 ends it. */
extern const uint32_t explain_local_sizes[];
struct occupancy explain_occupancy(const struct explain *e, const struct explain_kernel *k, uint64_t threads);
/* One line: instructions, blocks, loops, registers, memory. */
void explain_summary(const struct explain *e, const struct explain_kernel *k, struct gs_buf *out);
/* What a user should know besides the tables, one sentence per line. */
void explain_notes(const struct explain *e, const struct explain_kernel *k, struct gs_buf *out);

void explain_text(const struct explain *e, bool colours, bool unicode, struct gs_buf *out);
void explain_html(const struct explain *e, struct gs_buf *out);
/* Writes KERNEL.dot and KERNEL.block-N.dot for every block into the folder. */
int explain_dot(const struct explain *e, const char *folder, struct gs_error *err);

#endif
