/* What the files of the mapping share. */
#ifndef GPUSIM_ANALYSIS_MAPPING_INTERNAL_H
#define GPUSIM_ANALYSIS_MAPPING_INTERNAL_H

#include "analysis/graph/reached.h"
#include "analysis/mapping/linear.h"
#include "analysis/mapping/mapping.h"

/* One copy of a probe. It is at the begin of a block, or on the edge that falls through to the block. */
struct probe_copy {
	uint32_t id, function;
	uint32_t block;  /* in the function */
	uint32_t at;     /* the instruction of the function that it stands before */
	int32_t edge;    /* an edge of the function; -1: it is in the block */
	uint32_t variable;
};

/*
 * Blocks and edges share a variable if they always run equally often, because control flow neither divides nor joins between
 * them. Things are numbered in this order: blocks, then edges, then entries of functions.
 */
struct mapping {
	const struct ptx_module *module;
	struct reached_functions reached;
	uint32_t block_count, edge_count, instruction_count, register_count, loop_count;
	uint32_t *variable_of;
	uint32_t variable_count;
	uint8_t *rank;           /* per variable, see linear.h */
	bool *library;           /* per edge: it leads into a part without probes, and the other way out joins at the end of that part */
	struct probe_copy *copies; /* by function, then in the order of the text */
	uint32_t copy_count;
	uint32_t *order;         /* indices of copies, sorted by probe id */
	bool *ambiguous;         /* per id up to id_count: the place of some copy is not certain */
	uint32_t id_count;
};

uint32_t variable_of_block(const struct mapping *m, uint32_t function, uint32_t block);
uint32_t variable_of_edge(const struct mapping *m, uint32_t function, uint32_t edge);
/* The copies of a probe: m->copies[m->order[i]] for i in [*first, return value). */
uint32_t copies_of(const struct mapping *m, uint32_t id, uint32_t *first);
/* The function that a block's last instruction calls, or -1. */
int32_t mapped_callee(const struct mapping *m, uint32_t function, uint32_t block);
/* Whether the block calls a function by its address. */
bool mapped_call_of_any(const struct mapping *m, uint32_t function, uint32_t block);
/* Makes the system of equations of flow and probes. Its symbols are the counters. */
int mapping_system(const struct mapping *m, const struct mapping_source *source, struct linear **out,
                   struct gs_error *err);

/* analysis/mapping/code.c: the code without its sums. Its blocks and accesses are tied to the source, or to rows: one of them is NULL. The
 * caller frees *out with code_free. */
int mapping_code(const struct mapping *m, const struct mapping_source *source, const struct mapping_rows *rows, const char *arch,
                 struct kernel_code **out, struct gs_error *err);
/* analysis/mapping/counted.c: the rows of blocks, and the sites of instructions. */
int mapping_place_rows(const struct mapping *m, const struct mapping_rows *rows, struct kernel_code *code, struct gs_error *err);

/* analysis/mapping/sites.c: finds the source blocks of blocks and edges, and the sites of instructions. Call it before
 * mapping_expand. */
int mapping_probes(const struct mapping *m, const struct mapping_source *source, struct kernel_code *code,
                   struct gs_error *err);
int mapping_sites(const struct mapping *m, const struct mapping_source *source, struct kernel_code *code,
                  struct gs_error *err);

/* analysis/mapping/expand.c: replaces calls of library functions without code by their machine instructions (builtins.h).
 * starts[i] is then where instruction i begins. It needs room for code->code_count + 1. */
int mapping_expand(const struct mapping *m, const char *arch, struct kernel_code *code, uint32_t *starts,
                   struct gs_error *err);

/* analysis/mapping/steps.c: fills the steps of `code`. starts: as above. */
int mapping_steps(const struct mapping *m, const uint32_t *starts, struct kernel_code *code, struct gs_error *err);

/* slow_paths.c: fills m->rank and m->library. */
int find_slow_paths(struct mapping *m, struct gs_error *err);

/* alike.c: for every edge of all functions, the number of its class (struct code_edge). */
int find_alike(const struct mapping *m, const struct mapping_source *source, uint32_t *out, struct gs_error *err);

/* trips.c: equations that hold if the annotated source counts trips. */
struct trip_term {
	struct trip_count count;
	int32_t factor;
};
struct trip_equation {
	struct linear_term *left; /* variables */
	struct trip_term *right;  /* the sum that equals the left side */
	uint32_t left_count, right_count, left_room, right_room;
};
struct trip_equations {
	struct trip_equation *items;
	uint32_t count, room;
	bool failed; /* out of memory */
};
void find_trip_equations(const struct mapping *m, const struct mapping_source *source, uint32_t loop, uint32_t block,
                         struct trip_equations *out);
void trip_equations_free(struct trip_equations *e);

#endif
