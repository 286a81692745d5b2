#include "runtime/cmd/explain.h"
void explain_html(const struct explain *e, struct gs_buf *out)
{
	(void)e;
	gs_buf_puts(out, "\n");
}
