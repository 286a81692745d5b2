/* What instructions of control flow do, and which functions a kernel reaches. */
#include "annotator/lift/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool has_word(const char *opcode, const char *word)
{
	size_t length = strlen(word);
	for (const char *at = opcode; at; at = strchr(at, '.')) {
		at += *at == '.';
		if (!strncmp(at, word, length) && (!at[length] || at[length] == '.'))
			return true;
	}
	return false;
}

static bool begins(const char *opcode, const char *word)
{
	size_t length = strlen(word);
	return !strncmp(opcode, word, length) && (!opcode[length] || opcode[length] == '.');
}

enum flow_kind flow_kind(const struct ptx_instruction *i)
{
	const char *o = i->opcode;
	if (begins(o, "bra"))
		return FLOW_BRANCH;
	if (begins(o, "brx"))
		return FLOW_TABLE;
	if (begins(o, "call"))
		return FLOW_CALL;
	if (begins(o, "ret"))
		return FLOW_RETURN;
	if (begins(o, "exit"))
		return FLOW_EXIT;
	if (begins(o, "trap"))
		return FLOW_TRAP;
	if ((begins(o, "bar") || begins(o, "barrier")) && !has_word(o, "warp"))
		return has_word(o, "arrive") ? FLOW_ARRIVE : FLOW_BARRIER;
	return FLOW_NONE;
}

bool waits_for_cluster(const struct ptx_instruction *i)
{
	return begins(i->opcode, "barrier.cluster.wait");
}

int32_t function_index(const struct ptx_module *m, const char *name)
{
	const struct ptx_function *f = ptx_find(m, name);
	return f ? (int32_t)(f - m->functions) : -1;
}

bool is_system_call(const char *name)
{
	return !strcmp(name, "vprintf") || !strcmp(name, "__assertfail") || !strcmp(name, "malloc") || !strcmp(name, "free");
}

/* Functions of the device runtime. */
static bool launches_kernels(const char *name)
{
	static const char *const beginnings[] = {"cudaLaunchDevice", "cudaGetParameterBuffer", "cudaCGGet", "cudaStream", "__cudaCDP", "__cuda_syscall_cnp"};
	for (size_t i = 0; i < GS_ARRAY_LEN(beginnings); i++)
		if (!strncmp(name, beginnings[i], strlen(beginnings[i])))
			return true;
	return false;
}

struct reacher {
	const struct lifted *lifted;
	bool *reached, *addressed;
	uint32_t *list, count;
	struct gs_error *err;
};

static void add_function(struct reacher *r, int32_t f)
{
	if (f < 0 || r->reached[f])
		return;
	r->reached[f] = true;
	r->list[r->count++] = (uint32_t)f;
}

static int follow_call(struct reacher *r, const struct ptx_instruction *in)
{
	const struct ptx_module *m = r->lifted->module;
	const struct ptx_operand *called = ptx_callee(in);
	if (!called)
		return gs_fail(r->err, ENOTSUP, "line %u: %s: it names no function", in->ptx_line, in->opcode);
	if (called->kind == PTX_REGISTER) {
		for (uint32_t f = 0; f < m->function_count; f++)
			if (r->addressed[f])
				add_function(r, (int32_t)f);
		return 0;
	}
	int32_t f = function_index(m, called->text);
	if (f >= 0 && !m->functions[f].external) {
		add_function(r, f);
		return 0;
	}
	if (is_system_call(called->text))
		return 0;
	if (launches_kernels(called->text))
		return gs_fail(r->err, ENOTSUP, "line %u: call of %s: kernels that launch kernels are not lifted yet", in->ptx_line, called->text);
	return gs_fail(r->err, ENOTSUP, "line %u: call of %s, which is not in the module", in->ptx_line, called->text);
}

int reach_functions(const struct lifted *l, uint32_t entry, uint32_t *list, uint32_t *count, struct gs_error *err)
{
	const struct ptx_module *m = l->module;
	struct reacher r = {.lifted = l, .list = list, .err = err, .reached = calloc(m->function_count + 1u, 1),
	                    .addressed = calloc(m->function_count + 1u, 1)};
	int result = r.reached && r.addressed ? 0 : gs_fail(err, ENOMEM, "out of memory");
	if (!result) {
		ptx_mark_addressed(m, r.addressed);
		add_function(&r, (int32_t)entry);
	}
	for (uint32_t f = 0; f < r.count && !result; f++) {
		const struct ptx_function *own = &m->functions[list[f]];
		for (uint32_t i = 0; i < own->instruction_count && !result; i++)
			if (flow_kind(&own->instructions[i]) == FLOW_CALL)
				result = follow_call(&r, &own->instructions[i]);
	}
	*count = r.count;
	free(r.reached);
	free(r.addressed);
	return result;
}
