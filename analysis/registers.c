/* Registers per thread, from liveness. */
#include "analysis/graph.h"

#include <stdlib.h>
#include <string.h>

static uint32_t arch_number(const char *arch)
{
	const char *digits = arch + strcspn(arch, "0123456789");
	return (uint32_t)strtoul(digits, NULL, 10);
}

/* What an instruction can name: CUDA C programming guide, technical specifications per compute capability. */
static uint32_t most_registers(uint32_t arch)
{
	return arch < 32 ? 63 : 255;
}

uint32_t graph_registers(const struct graph *g, const struct liveness *l, const char *arch, uint32_t call_registers,
                         uint32_t *spilled)
{
	(void)g;
	uint32_t most = most_registers(arch_number(arch)), need = l->most + call_registers;
	if (need < 8)
		need = 8;
	*spilled = need > most ? need - most : 0;
	return need - *spilled;
}
