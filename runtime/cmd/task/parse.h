/* What the files that read task lists share: words, one after the other, and where they stand. */
#ifndef GPUSIM_RUNTIME_CMD_TASK_PARSE_H
#define GPUSIM_RUNTIME_CMD_TASK_PARSE_H

#include "runtime/cmd/task/task.h"

enum { TASK_WORD = 256, PC_STEP = 16 };

struct task_parser {
	struct task_list *list;
	const char *at, *end; /* a NUL is at the end */
	uint32_t line, depth;
	struct task_kernel *kernel; /* that is being read */
	uint32_t pc, chain;         /* of the next instruction */
	struct gs_error *err;
	char word[TASK_WORD];
};

/* words.c. Each returns 0 or a negative errno value, after *err says what is wrong and where. */
int parse_fail(const struct task_parser *p, const char *fmt, ...) GS_PRINTF(2, 3);
/* Whether another word is in this statement. */
bool parse_more(struct task_parser *p);
/* Whether the next word is this one; takes it then. */
bool parse_take(struct task_parser *p, const char *word);
int parse_word(struct task_parser *p, const char *what);            /* into p->word */
int parse_number(struct task_parser *p, const char *what, uint64_t least, uint64_t most, uint64_t *out); /* 64, 0x40, 4K, 1M, 2G */
int parse_real(struct task_parser *p, const char *what, double least, double most, double *out);
int parse_end(struct task_parser *p);                               /* of a statement */
int parse_open(struct task_parser *p);                              /* a { */
bool parse_close(struct task_parser *p);                            /* a } */
bool parse_skip(struct task_parser *p);                             /* to the next statement; false: the file ends */
/* A statement of a kernel or of the program by its name, for messages: "there is no ...". */
int parse_unknown(struct task_parser *p, const char *what, const char *const *known);

/* accesses.c: what and where an instruction accesses. The width comes before, or 0: it is read. */
int parse_access(struct task_parser *p, uint32_t width, int32_t *out);
int parse_table(struct task_parser *p);
/* ppt.c: the statements of a list of PPT, and a closing }; "ppt FILE [BUFFER]" from behind its first word on. The caller frees *out in any case. */
int parse_ppt(struct task_parser *p, struct gs_buf *out);
/* operations.c: the operation that p->word begins. *taken: it is one. */
int parse_operation(struct task_parser *p, int32_t node, bool *taken);
/* flow.c, each from behind its first word on. */
int parse_loop(struct task_parser *p, int32_t node, bool bare);
int parse_branch(struct task_parser *p, int32_t node);
int parse_when(struct task_parser *p, int32_t node);
int parse_warps(struct task_parser *p, int32_t node);
int parse_do(struct task_parser *p, int32_t node);
/* kernel.c: statements up to a }, and kernels and pieces from behind their first word on. */
int parse_body(struct task_parser *p, int32_t *first);
int parse_kernel(struct task_parser *p);
int parse_piece(struct task_parser *p);

#endif
