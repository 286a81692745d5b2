/* From PTX to machine instructions; see machine.h. */
#include "analysis/machine/machine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int machine_function_make(struct machine_function *f, struct gs_error *err)
{
	f->block_of = calloc(f->ptx->instruction_count + 1u, sizeof *f->block_of);
	f->plans = calloc(f->ptx->instruction_count + 1u, sizeof *f->plans);
	f->flow = calloc(f->graph->block_count + 1u, sizeof *f->flow);
	f->joins = calloc(f->graph->block_count + 1u, sizeof *f->joins);
	if (!f->block_of || !f->plans || !f->flow || !f->joins)
		return gs_fail(err, ENOMEM, "out of memory");
	for (uint32_t b = 0; b < f->graph->block_count; b++)
		for (uint32_t i = 0; i < f->graph->blocks[b].count; i++)
			f->block_of[f->graph->blocks[b].first + i] = (int32_t)b;
	int result = machine_values_find(f, err);
	if (result)
		return result;
	machine_select(f);
	machine_vectors_find(f);
	result = machine_flow_find(f, err);
	if (!result) {
		machine_tables_find(f);
		machine_unroll_find(f);
	}
	return result;
}

void machine_function_free(struct machine_function *f)
{
	free(f->values);
	free(f->use_list);
	free(f->block_of);
	free(f->plans);
	free(f->flow);
	free(f->joins);
}

static unsigned arch_number(const char *arch)
{
	return strncmp(arch, "sm_", 3) ? 0 : (unsigned)strtoul(arch + 3, NULL, 10);
}

/* Sets the joins where the machine makes warps wait. */
static void set_joins(const struct machine_function *f, uint32_t first_block, struct kernel_code *code)
{
	for (uint32_t b = 0; b < f->graph->block_count; b++)
		code->blocks[first_block + b].join = f->joins[b] < 0 ? -1 : (int32_t)first_block + f->joins[b];
}

int machine_make(const struct reached_functions *reached, const char *arch, bool final, const struct code_instruction *ptx_code, const uint32_t *starts,
                 struct kernel_code *code, struct gs_error *err)
{
	struct machine_function *functions = calloc(reached->count + 1u, sizeof *functions);
	int result = functions ? 0 : gs_fail(err, ENOMEM, "out of memory");
	for (uint32_t i = 0; i < reached->count && !result; i++) {
		functions[i] = (struct machine_function){.ptx = reached->functions[i].ptx, .graph = reached->functions[i].graph,
		                                         .code = ptx_code + reached->functions[i].first_instruction,
		                                         .arch = arch_number(arch), .kernel = !i, .final = final};
		result = machine_function_make(&functions[i], err);
	}
	for (uint32_t i = 0; i < reached->count && !result; i++)
		set_joins(&functions[i], reached->functions[i].first_block, code);
	if (!result)
		result = machine_emit(reached, functions, starts, arch, code, err);
	if (!result)
		result = machine_schedule(reached, arch, code, err);
	for (uint32_t i = 0; functions && i < reached->count; i++)
		machine_function_free(&functions[i]);
	free(functions);
	return result;
}
