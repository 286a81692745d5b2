/* work.h - one launch of a generated kernel, as the test passes it to the C translation. */
#ifndef WORK_H
#define WORK_H

#include <stdint.h>

enum { IN_WORDS = 256, OUT_PER_ITEM = 4, OUT_SHARED = 8 };

struct work {
	char name[32];
	uint32_t global[3], local[3], local_bytes;
	const uint32_t *in;
	uint32_t *out, n;
};

#endif
