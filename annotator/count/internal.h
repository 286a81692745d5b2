/* What the files of annotator/count share: a module's text while lines of ours are put between its own. */
#ifndef GPUSIM_ANNOTATOR_COUNT_INTERNAL_H
#define GPUSIM_ANNOTATOR_COUNT_INTERNAL_H

#include "annotator/count/count.h"

/* A text before a line. Of several for one line, the earlier comes first. */
struct insertion {
	uint32_t line, order;
	char *text;
};

struct count_writer {
	const struct lifted *lifted;
	enum count_form form;
	const char **lines; /* of the text; lines[n] begins line n + 1, and there is one more */
	uint32_t line_count;
	struct insertion *insertions;
	size_t count, room;
	uint32_t labels; /* of ours; a number for each */
	bool *written;   /* per function of the module: it counts already, for another kernel */
	bool failed;     /* out of memory */
};

/* lines.c */
bool find_lines(struct count_writer *w, const char *ptx, size_t length);
/* The line begins with this instruction. */
bool begins_line(const struct count_writer *w, const struct ptx_function *f, uint32_t instruction);
/* Where the body of a function begins: after its first brace, in the line of the result. 0: it is not alone at the end of its line. */
uint32_t body_line(const struct count_writer *w, const struct ptx_function *f);
/* The first instruction that the text has itself: what a function with parts of wmma begins with is in the line of its brace. */
uint32_t first_of_text(const struct count_writer *w, const struct ptx_function *f);
void insert_lines(struct count_writer *w, uint32_t line, struct gs_buf *text); /* frees it */
void write_all_lines(struct count_writer *w, struct gs_buf *out);            /* all of the text */
void free_lines(struct count_writer *w);

bool is_exit(const struct ptx_instruction *i); /* the thread ends, if its guard holds */
/* The condition under which an instruction is executed, or (not `holds`) is not: "%p1", "!%p1", or "" where it always is. */
void put_condition(const struct ptx_function *f, const struct ptx_instruction *i, bool holds, char out[static 80]);

/* count.c: what kernels and the functions that they call have in common */
enum { COUNT_BYTES = 4, COLUMN_BYTES = COUNT_BYTES * 32 }; /* a column of a warp: a word for each lane */
bool can_count_rows(const struct count_writer *w, uint32_t function);
void look_for_stop(struct count_writer *w, uint32_t function);
void put_thread(struct gs_buf *out, bool traces); /* finds the thread's number, in d1 */
void put_place(struct gs_buf *out);               /* and its word of a warp's first column, in d2. d4 has the bytes of all columns of a warp */
/* Counts a row: before its place, in a register (not NULL), else in the word at the offset. */
void count_row(struct count_writer *w, uint32_t row, const char *reg, uint32_t offset);

/* calls.c */
bool calls_functions(const struct ptx_function *f);
bool can_count_calls(const struct count_writer *w, const struct lift_kernel *k);
void begin_calls(struct count_writer *w, const struct lift_kernel *k, struct gs_buf *out); /* at the begin of the kernel */
void write_functions(struct count_writer *w, const struct lift_kernel *k);
bool ends_in_calls(const struct count_writer *w, const struct lift_kernel *k); /* threads may end in a function */

/* traces.c */
bool can_trace(const struct count_writer *w, const struct lift_kernel *k);
void declare_trace(struct count_writer *w, const struct lift_kernel *k, struct gs_buf *out); /* the registers */
void begin_trace(struct count_writer *w, struct gs_buf *out); /* once a thread's group, its place there and the size of groups are in registers */
void trace_kernel(struct count_writer *w, const struct lift_kernel *k);
void end_trace(struct count_writer *w, const char *condition, struct gs_buf *out);

/* windows.c */
void window_declare(uint32_t loop, struct gs_buf *out);
void window_block(struct count_writer *w, uint32_t row, struct gs_buf *out);
void window_loop(struct count_writer *w, const struct graph *g, uint32_t loop, const char *condition, struct gs_buf *out);
void window_body(struct count_writer *w, const struct graph *g, uint32_t loop, uint32_t row, struct gs_buf *out);
void window_loop_end(struct count_writer *w, const struct graph *g, uint32_t loop, uint32_t row, const char *condition, struct gs_buf *out);

#endif
