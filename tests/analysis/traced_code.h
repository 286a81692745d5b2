/* A kernel's code from a few lines of PTX with probes, and traces of work-items written as text, for tests. */
#ifndef GPUSIM_TESTS_ANALYSIS_TRACED_CODE_H
#define GPUSIM_TESTS_ANALYSIS_TRACED_CODE_H

#include "analysis/mapping/mapping.h"

#define P(id) ".pseudoprobe 1 " #id " 0 0\n"
#define LOC(line, column) ".loc 1 " #line " " #column "\n"

struct traced_code {
	struct ptx_module *module;
	struct mapping *mapping;
	struct kernel_code *code;
};

/* Registers are %p, %r, %rd and %f, numbered 1 to 8. `functions` stands before the kernel. Sites are in the file k.cl. */
void traced_code_make(struct traced_code *t, const char *functions, const char *body, const struct mapping_source *source);
void traced_code_free(struct traced_code *t);

#endif
