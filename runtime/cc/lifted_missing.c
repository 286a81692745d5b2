/* Stands in for the lifter (annotator/lift) until it is there. */
#include "annotator/lift/lift.h"

#include <errno.h>

__attribute__((weak)) int lift_module(const struct ptx_module *module, struct lifted **out, struct gs_error *err)
{
	(void)module;
	(void)out;
	return gs_fail(err, ENOSYS, "PTX cannot be lifted yet");
}

__attribute__((weak)) void lift_free(struct lifted *l)
{
	(void)l;
}

__attribute__((weak)) int lift_write(const struct lifted *l, enum lift_form form, struct gs_buf *out, struct gs_error *err)
{
	(void)l;
	(void)form;
	(void)out;
	return gs_fail(err, ENOSYS, "PTX cannot be lifted yet");
}
