/* estimate_bytes: an estimate as bytes of a file, and back. The bytes are of no use to another build: whoever keeps them must know whose
 * they are. */
#ifndef GPUSIM_RUNTIME_ESTIMATES_KEPT_ESTIMATE_BYTES_H
#define GPUSIM_RUNTIME_ESTIMATES_KEPT_ESTIMATE_BYTES_H

#include "models/models.h"

/* instructions: `count` of them, or NULL. False: the estimate has a value that cannot come back, and nothing was added. */
bool estimate_write(const struct estimate *e, const struct instruction_count *instructions, size_t count, struct gs_buf *out);
/* Fills all of it from bytes that may be anything. False: no estimate_write made them for such a kernel. instructions: `count` of them,
 * which must be there; NULL: they are left out. files: that lines can be of. */
bool estimate_read(const void *bytes, size_t length, size_t files, struct estimate *out, struct instruction_count *instructions,
                   size_t count);

#endif
