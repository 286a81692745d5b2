#include "interposer/cuda/device/limits.h"

#include <stdlib.h>
#include <string.h>

int limit_capability(const struct gpu *g)
{
	return atoi(g->arch + strcspn(g->arch, "0123456789"));
}

struct size_limits limit_grid(const struct gpu *g)
{
	return (struct size_limits){limit_capability(g) < 30 ? 65535 : 2147483647, 65535, 65535};
}

struct size_limits limit_block(const struct gpu *g)
{
	return (struct size_limits){g->max_threads_per_block, g->max_threads_per_block, 64};
}

unsigned limit_registers(const struct gpu *g)
{
	return g->registers_per_sm < 65536 ? g->registers_per_sm : 65536;
}

/* CUDA programming guide, thread block clusters: 8 is what is portable, 16 the most of an H100. */
unsigned limit_cluster(const struct gpu *g, bool large)
{
	return limit_capability(g) < 90 ? 1 : large ? 16 : 8;
}

size_t limit_shared(const struct gpu *g)
{
	return g->max_shared_bytes_per_block < 48 * 1024 ? g->max_shared_bytes_per_block : 48 * 1024;
}

size_t limit_dynamic_shared(const struct gpu *g, size_t own_bytes, size_t asked_bytes)
{
	size_t usual = limit_shared(g), rest = own_bytes < usual ? usual - own_bytes : 0;
	return asked_bytes ? asked_bytes : rest; /* also less */
}
