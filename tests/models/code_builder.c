/* Kernel code for the models' tests. */
#include "tests/models/code_builder.h"
#include "tests/tests.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void build_start(struct built_code *b)
{
	memset(b, 0, sizeof *b);
	b->code = (struct kernel_code){.code = b->instructions,
	                               .operands = b->operands,
	                               .register_table = b->registers,
	                               .blocks = b->blocks,
	                               .edges = b->edges,
	                               .register_count = BUILD_REGISTERS};
	for (uint16_t r = 0; r < BUILD_REGISTERS; r++)
		b->registers[r] = (struct code_register){.number = r, .words = 1};
	build_block(b);
}

void build_block(struct built_code *b)
{
	uint32_t n = b->code.block_count++;
	b->blocks[n] = (struct code_block){.first = b->code.code_count, .first_edge = n, .edge_count = 1, .call = -1,
	                                   .join = -1, .loop = -1};
	b->edges[n] = (struct code_edge){.from = n, .to = -1, .denominator = 1};
	if (n)
		b->edges[n - 1].to = (int32_t)n;
	b->code.edge_count = n + 1;
}

struct code_instruction *build(struct built_code *b, enum code_class class, const char *operands)
{
	struct code_instruction *i = &b->instructions[b->code.code_count++];
	*i = (struct code_instruction){.class = class, .elements = 1, .site = -1,
	                               .first_operand = b->code.operand_count};
	uint8_t *kind = strchr(operands, '<') ? &i->writes : strchr(operands, '?') == operands ? &i->waits : &i->reads;
	for (const char *s = operands; *s;) {
		if (*s == '<')
			kind = &i->reads;
		else if (*s == '?')
			kind = &i->waits;
		if (*s < '0' || *s > '9') {
			s++;
			continue;
		}
		b->operands[b->code.operand_count++] = (uint16_t)strtoul(s, (char **)&s, 10);
		++*kind;
	}
	b->blocks[b->code.block_count - 1].count++;
	b->code.instructions++;
	return i;
}

struct code_instruction *build_memory(struct built_code *b, enum code_class class, enum code_space space,
                                      const char *operands)
{
	struct code_instruction *i = build(b, class, operands);
	i->space = (uint8_t)space;
	i->bytes = 4;
	return i;
}

static int read_shipped(void *ctx, const char *name, struct gs_buf *out, char *path, size_t path_size,
                        struct gs_error *err)
{
	(void)ctx;
	const char *root = getenv("GPUSIM_TEST_ROOT");
	char file[4096];
	snprintf(file, sizeof file, "%s/models/gpus/%s.gpu", root ? root : ".", name);
	snprintf(path, path_size, "%s.gpu", name);
	return gs_read_file(file, out, err);
}

struct gpu test_gpu(const char *name, const char *overrides)
{
	struct gpu gpu;
	struct gs_error err = {""};
	if (gpu_load(&gpu, name, read_shipped, NULL, overrides, NULL, &err))
		fprintf(stderr, "%s\n", err.text);
	CU_ASSERT_STRING_EQUAL_FATAL(err.text, "");
	return gpu;
}
