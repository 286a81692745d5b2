/* Text that records what lanes do. */
#include "annotator/lift/structure.h"

int write_traced_access(struct kernel_writer *w, uint32_t instruction)
{
	(void)w;
	(void)instruction;
	return 0;
}

void trace_block(struct kernel_writer *w, uint32_t block, const char *mask)
{
	(void)w;
	(void)block;
	(void)mask;
}

void trace_edge(struct kernel_writer *w, uint32_t edge, const char *mask)
{
	(void)w;
	(void)edge;
	(void)mask;
}
