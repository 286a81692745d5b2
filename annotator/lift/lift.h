/*
 * lift: kernels of PTX, rewritten as OpenCL C that runs on a CPU device. Start reading here.
 *
 * A CUDA program brings its kernels as PTX, and that PTX is what the target executes. Lifted text executes it warp by warp: a register is
 * an array of 32, a mask says which lanes are on, and a stack says where lanes that went different ways meet again: at the immediate
 * post-dominator of the branch. So counts, masks and addresses are those of the target. runtime/format/lifted.h has what a launch passes.
 *
 *   lift.c         what a module has: variables and where they are, kernels and what they reach
 *   rows.c         what is counted, and how everything else follows from it
 *   structure.c    the text of a kernel: blocks, the stack, calls, barriers
 *   segments.c     runs of instructions that become one loop over the lanes
 *   annotator/opcodes  the text of a single instruction
 *
 * A kernel that cannot be lifted is refused with a reason that names the instruction and its line. Others of its module are not affected.
 */
#ifndef GPUSIM_ANNOTATOR_LIFT_LIFT_H
#define GPUSIM_ANNOTATOR_LIFT_LIFT_H

#include "analysis/graph/graph.h"
#include "runtime/format/lifted.h"

/* A .global or .const variable of the module: bytes of the module's image. */
struct lift_variable {
	const char *name;
	uint64_t offset, bytes;
	uint32_t align;
	uint8_t space; /* SPACE_global or SPACE_const */
};

/* The image holds an address there: that of the image plus `addend`, or (function) the number by which calls know a function. */
struct lift_relocation {
	uint64_t offset;
	uint64_t addend;
	bool function;
};

struct lift_parameter {
	uint32_t offset, bytes, align;
};

struct lift_kernel {
	const char *name;
	uint32_t function;       /* of the module */
	struct gs_error refused; /* "": it is lifted */
	struct lift_parameter *parameters;
	uint32_t parameter_count;
	struct lifted_sizes sizes;
	uint32_t *columns;       /* rows that are counted in this kernel, in the order of the counters of a thread (counters.h) */
	uint32_t column_count;
	uint32_t entry_row;      /* the row of its first block */
	bool prints, barriers, waits; /* waits: for other groups, HAZARD_WAITS of facts.h */
	bool fetches;            /* its groups fetch work from a queue that they share */
	bool meets_groups;       /* has atomic operations on memory that all groups share */
	bool large;              /* its text that traces is compiled sooner than the one that counts (pieces.c) */
	bool of_warps;           /* and the driver's optimiser takes long for it, and gains little */
	uint32_t reqntid[3], maxntid[3], cluster[3]; /* 0: not given */
};

/*
 * A row is something with a count: a block or an edge of a function's graph (graph_build of that function). Rows are numbered through the
 * module. A row without terms is counted; others are sums of lower rows. Trace events name the rows of blocks.
 */
struct lift_term {
	uint32_t row;
	int32_t factor;
};
struct lift_row {
	uint32_t function;
	int32_t block, edge; /* one of them is -1 */
	uint32_t first_term, term_count;
};

/* A function's part of the tables. Functions that no kernel reaches have none. */
struct lift_function {
	struct graph *graph;  /* NULL: not reached */
	struct ptx_function *contracted; /* as its text is written: products have joined sums (analysis/graph/contract.h) */
	uint32_t *block_rows; /* per block */
	/* Per edge: its count as a sum of rows. */
	struct lift_terms {
		uint32_t first, count;
	} *edge_terms;
};

/* A place that accesses memory: an instruction. Trace events name it. */
struct lift_site {
	uint32_t function, instruction;
	uint32_t row;  /* of its block */
	uint8_t kind;  /* enum trace_site_kind */
	uint8_t space; /* enum code_space */
	uint32_t bytes;
};

struct lift_loop {
	uint32_t function;
	uint32_t body, parent; /* rows: the block that begins every iteration, and one that runs as often as the loop is entered */
	int32_t outer;
};

struct lifted {
	const struct ptx_module *module;
	struct lift_variable *variables;
	uint32_t variable_count;
	uint8_t *image; /* of the variables, as they begin */
	uint64_t image_bytes;
	struct lift_relocation *relocations;
	uint32_t relocation_count;
	struct lift_kernel *kernels;
	uint32_t kernel_count;
	struct lift_row *rows;
	uint32_t row_count;
	struct lift_term *terms;
	uint32_t term_count;
	struct lift_function *functions; /* per function of the module */
	struct lift_site *sites;
	uint32_t site_count;
	struct lift_loop *loops;
	uint32_t loop_count;
};

/* The module must outlive the result. Fails only if memory is short or the module has no kernel. */
int lift_module(const struct ptx_module *module, struct lifted **out, struct gs_error *err);
void lift_free(struct lifted *l);

/* Text that counts, and text that traces as well. It has all kernels that are not refused. */
enum lift_form { LIFT_COUNTING, LIFT_TRACING };
int lift_write(const struct lifted *l, enum lift_form form, struct gs_buf *out, struct gs_error *err);

/* Long loops are traced in windows (models/trace/read.h). How many iterations the first window of a loop has; 0: every iteration is recorded. */
unsigned lift_window(const struct graph *g, uint32_t loop);
bool lift_window_needs_last(const struct graph *g, uint32_t loop); /* the blocks of its last iteration must be known */
int32_t lift_headed(const struct graph *g, int32_t block);         /* the loop that the block begins, or -1 */

#endif
