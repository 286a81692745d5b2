/* The program. instructions.h has the format of the cases. */
#include "tests/instructions/instructions.h"

#include "runtime/format/native.h"

#include "annotator/opcodes/instruction.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

enum { LANES = 32, SLOTS = 16, WORDS = 2, AREA = 8192, MOST_FORMS_OF_A_PROGRAM = 96 };
enum { AREA_SHARED = 0, AREA_LOCAL = 2048, AREA_GLOBAL = 6144, LOCAL_BYTES = 64, SHARED_BYTES = 1024 };

/* A register as a form reads or writes it. */
struct form_slot {
	int32_t reg;
	const struct ptx_register *of;
};

struct form {
	char *text;
	struct ptx_module *module;
	const struct ptx_function *function;
	struct form_slot inputs[SLOTS], outputs[SLOTS];
	uint32_t input_count, output_count, case_count;
};

struct test_case {
	char *text;
	uint32_t form, warp, lane;
};

static struct form *forms;
static struct test_case *cases;
static size_t form_count, form_room, case_count, case_room;
static size_t current; /* the form that cases belong to */
static uint32_t warp_count, next_lane;
static uint32_t failures;

static void need(int good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "instructions: %s\n", what);
	exit(2);
}

/* Where symbols of the cases are. */
static bool find(const struct lift_scope *s, const char *symbol, struct lift_place *out)
{
	static const struct {
		const char *name;
		struct lift_place place;
	} places[] = {{"p0", {LIFT_PARAMETER, 0}}, {"p1", {LIFT_PARAMETER, 8}},  {"p2", {LIFT_PARAMETER, 16}}, {"gvar", {LIFT_VARIABLE, 0}},
		      {"cvar", {LIFT_VARIABLE, 64}}, {"sh", {LIFT_SHARED, 0}}, {"lo", {LIFT_LOCAL, 0}}, {"args", {LIFT_LOCAL, 32}}, {"fun", {LIFT_FUNCTION, 7}}};
	(void)s;
	for (size_t i = 0; i < GS_ARRAY_LEN(places); i++) {
		if (strcmp(places[i].name, symbol))
			continue;
		*out = places[i].place;
		return true;
	}
	return false;
}

static void spell(const struct lift_scope *s, int32_t reg, struct gs_buf *out)
{
	(void)s;
	gs_buf_printf(out, "R%d[l]", reg);
}

static bool has_slot(const struct form_slot *slots, uint32_t count, int32_t reg)
{
	for (uint32_t i = 0; i < count; i++)
		if (slots[i].reg == reg)
			return true;
	return false;
}

/* Finds what a form reads and writes. */
static void find_slots(struct form *f)
{
	for (uint32_t i = 0; i < f->function->instruction_count; i++) {
		const struct ptx_instruction *in = &f->function->instructions[i];
		for (int writes = 0; writes < 2; writes++) {
			for (uint32_t o = 0; o < in->operand_count; o++) {
				int32_t reg = in->operands[o].reg;
				struct form_slot *list = writes ? f->outputs : f->inputs;
				uint32_t *count = writes ? &f->output_count : &f->input_count;
				if (reg < 0 || in->operands[o].write != writes || has_slot(list, *count, reg) ||
				    (!writes && has_slot(f->outputs, f->output_count, reg)))
					continue;
				need(*count < SLOTS, "a form has too many registers");
				list[(*count)++] = (struct form_slot){reg, &f->function->registers[reg]};
			}
		}
	}
}

/* A form may come again, with more cases. */
static void add_form(const char *text)
{
	struct gs_buf ptx = {0};
	struct gs_error err;
	next_lane = 0;
	for (current = 0; current < form_count; current++)
		if (!strcmp(forms[current].text, text))
			return;
	need(gs_reserve(&forms, form_count, &form_room, sizeof *forms), "out of memory");
	struct form *f = &forms[form_count++];
	memset(f, 0, sizeof *f);
	f->text = strdup(text);
	gs_buf_printf(&ptx, ".version 8.6\n.target sm_90\n.address_size 64\n.global .align 8 .b8 gvar[64];\n.const .align 8 .b8 cvar[16];\n"
		      ".entry k(.param .u64 p0, .param .u32 p1, .param .align 8 .b8 p2[16])\n{\n.reg .pred %%p<9>;\n.reg .b16 %%h<16>;\n"
		      ".reg .b32 %%r<16>;\n.reg .b64 %%rd<16>;\n.reg .f32 %%f<16>;\n.reg .f64 %%fd<16>;\n.reg .b128 %%q<4>;\n"
		      ".shared .align 16 .b8 sh[256];\n.local .align 16 .b8 lo[32];\n.param .align 16 .b8 args[16];\n%s\n}\n", text);
	need(!ptx_read(ptx.data, ptx.len, &f->module, &err) && f->module->function_count, "a form is not PTX");
	f->function = &f->module->functions[0];
	gs_buf_free(&ptx);
	find_slots(f);
}

static void add_case(const char *text)
{
	need(form_count && gs_reserve(&cases, case_count, &case_room, sizeof *cases), "a case comes before its form");
	forms[current].case_count++;
	warp_count += !next_lane;
	cases[case_count++] = (struct test_case){strdup(text), (uint32_t)current, warp_count - 1, next_lane};
	next_lane = (next_lane + 1) % LANES;
}

static void read_cases(char *text)
{
	char *rest;
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		if (*line == '>')
			add_form(line + 1);
		else if (*line != '#' && strchr(line, '='))
			add_case(line);
	}
}

/* The text of one form: its registers, its instructions in loops over lanes, and the results. */
static int write_form(const struct form *f, struct gs_buf *out, struct gs_error *err)
{
	struct lift_scope scope = {.module = f->module, .function = f->function, .spell = spell, .find = find};
	int rc = 0;
	for (uint32_t r = 0; r < f->function->register_count; r++)
		gs_buf_printf(out, "%s R%u[32];\n", lift_storage(&f->function->registers[r]), r);
	gs_buf_puts(out, "uint gs_flags[32];\nfor (uint l = 0; l < 32; l++) {\ngs_flags[l] = 0;\n");
	for (uint32_t i = 0; i < f->input_count; i++) {
		const struct ptx_register *r = f->inputs[i].of;
		const char *form = r->bits == 128   ? "R%d[l] = (ulong2)(in[l * 32 + %u], in[l * 32 + %u + 1]);\n"
				   : r->real    ? (r->bits == 32 ? "R%d[l] = as_float((uint)in[l * 32 + %u]);\n" : "R%d[l] = as_double(in[l * 32 + %u]);\n")
						: "R%d[l] = in[l * 32 + %u];\n";
		gs_buf_printf(out, form, f->inputs[i].reg, i * WORDS, i * WORDS);
	}
	gs_buf_puts(out, "}\n");
	for (uint32_t i = 0; i < f->function->instruction_count && !rc; i++) {
		const struct ptx_instruction *in = &f->function->instructions[i];
		bool warp = lift_kind(in) == LIFT_WARP;
		gs_buf_puts(out, warp ? "{\n" : "for (uint l = 0; l < 32; l++) if (x >> l & 1) {\n");
		rc = lift_statement(&scope, in, out, err);
		gs_buf_puts(out, "}\n");
	}
	gs_buf_puts(out, "for (uint l = 0; l < 32; l++) {\n");
	for (uint32_t i = 0; i < f->output_count; i++) {
		const struct ptx_register *r = f->outputs[i].of;
		const char *form = r->bits == 128   ? "out[l * 32 + %u] = R%d[l].x; out[l * 32 + %u + 1] = R%d[l].y;\n"
				   : r->real    ? (r->bits == 32 ? "out[l * 32 + %u] = as_uint(R%d[l]);\n" : "out[l * 32 + %u] = as_ulong(R%d[l]);\n")
						: "out[l * 32 + %u] = R%d[l];\n";
		gs_buf_printf(out, form, i * WORDS, f->outputs[i].reg, i * WORDS, f->outputs[i].reg);
	}
	gs_buf_puts(out, "}\n");
	return rc;
}

static void write_program(size_t first, size_t count, struct gs_buf *out)
{
	struct gs_error err;
	gs_buf_puts(out, "#define GS_NATIVE \"" NATIVE_PREFIX "\"\n");
	gs_buf_puts(out, lift_prelude);
	gs_buf_printf(out, "#define GS_SHARED area\n#define GS_SHARED_BYTES %uul\n#define GS_DYNAMIC_SHARED 512ul\n", SHARED_BYTES);
	gs_buf_printf(out, "#define GS_LOCAL (area + %uul + l * %uul)\n#define GS_LOCAL_BYTES %uul\n", AREA_LOCAL, LOCAL_BYTES, LOCAL_BYTES);
	gs_buf_puts(out, "#define GS_PARAMETERS parameters\n#define GS_VARIABLES variables\n#define GS_CC gs_flags[l]\n#define GS_ELSEWHERE(lanes, line)\n#define GS_THERE x\n#define GS_LANES for (uint l = 0; l < 32; l++)\n#define GS_WORKSPACE 0x123456789ul\n#define GS_TOGETHER(named, what, mask, keep, take)\n#define GS_CLOCK 0x123456789abcdeful\n"
		    "#define GS_TID_X (l + 100)\n#define GS_TID_Y 1u\n#define GS_TID_Z 2u\n#define GS_NTID_X 3u\n#define GS_NTID_Y 4u\n#define GS_NTID_Z 5u\n"
		    "#define GS_CLUSTERED 0u\n#define GS_CLUSTER_X 1u\n#define GS_CLUSTER_Y 1u\n#define GS_CLUSTER_Z 1u\n#define GS_TO_PEER(rank) (0ul * (rank))\n#define GS_RANK_OF(address) (0u * (uint)(address))\n"
		    "#define GS_IN_CLUSTER(address) ((address) - GS_SHARED < GS_SHARED_BYTES)\n"
		    "#define GS_CTAID_X 6u\n#define GS_CTAID_Y 7u\n#define GS_CTAID_Z 8u\n#define GS_NCTAID_X 9u\n#define GS_NCTAID_Y 10u\n#define GS_NCTAID_Z 11u\n"
		    "#define GS_WARP 12u\n#define GS_WARPS 13u\n");
	for (size_t f = first; f < first + count; f++) {
		struct gs_buf text = {0};
		gs_buf_printf(&text, "static __attribute__((noinline)) void form_%zu(__global ulong *in, __global ulong *out, uint x, ulong area, ulong parameters, ulong variables)\n{\n", f);
		int rc = write_form(&forms[f], &text, &err);
		gs_buf_puts(&text, "}\n");
		if (rc) {
			printf("FAIL >%s\n     %s\n", forms[f].text, err.text);
			failures++;
			forms[f].output_count = 0;
			gs_buf_printf(out, "#define form_%zu(...)\n", f);
		} else {
			gs_buf_add(out, text.data, text.len);
		}
		gs_buf_free(&text);
	}
	gs_buf_puts(out, "__kernel void run(__global ulong *ins, __global ulong *outs, __global uint *form, __global uint *on, ulong areas, ulong parameters, ulong variables)\n{\n"
		    "size_t w = get_global_id(0);\nswitch (form[w]) {\n");
	for (size_t f = first; f < first + count; f++)
		gs_buf_printf(out, "case %zu: form_%zu(ins + w * 1024, outs + w * 1024, on[w], areas + w * %u, parameters, variables); break;\n", f, f, AREA);
	gs_buf_puts(out, "}\n}\n");
}

struct memory {
	uint64_t *in, *out;
	uint32_t *form, *on;
	uint8_t *areas, parameters[32], variables[128];
};

/* A value of a case. */
static uint64_t value_of(const char *word, const struct memory *m, const struct test_case *c, uint64_t *high)
{
	const uint8_t *area = m->areas + (size_t)c->warp * AREA;
	const char *plus = strchr(word, '+');
	uint64_t offset = plus ? strtoull(plus + 1, NULL, 16) : 0;
	union { float f; uint32_t u; } f;
	union { double d; uint64_t u; } d;
	*high = 0;
	switch (*word) {
	case 'g': return (uint64_t)(uintptr_t)area + AREA_GLOBAL + offset;
	case 'S': return (uint64_t)(uintptr_t)area + AREA_SHARED + offset;
	case 'L': return (uint64_t)(uintptr_t)area + AREA_LOCAL + c->lane * LOCAL_BYTES + offset;
	case 'P': return (uint64_t)(uintptr_t)m->parameters + offset;
	case 'V': return (uint64_t)(uintptr_t)m->variables + offset;
	default: break;
	}
	if (!strncmp(word, "i:", 2))
		return (uint64_t)strtoll(word + 2, NULL, 10);
	if (!strncmp(word, "f:", 2)) {
		f.f = strtof(word + 2, NULL);
		return f.u;
	}
	if (!strncmp(word, "d:", 2)) {
		d.d = strtod(word + 2, NULL);
		return d.u;
	}
	size_t digits = strspn(word, "0123456789abcdef");
	if (digits > 16) {
		char copy[40] = "";
		memcpy(copy, word, digits - 16 < 32 ? digits - 16 : 32);
		*high = strtoull(copy, NULL, 16);
		return strtoull(word + digits - 16, NULL, 16);
	}
	return strtoull(word, NULL, 16);
}

static uint64_t mask_of(const struct ptx_register *r)
{
	return r->bits >= 64 ? ~0ull : r->bits == 1 ? ~0ull : (1ull << r->bits) - 1;
}

static void set_inputs(struct memory *m, const struct test_case *c)
{
	const struct form *f = &forms[c->form];
	char copy[1024], *rest;
	snprintf(copy, sizeof copy, "%s", c->text);
	*strchr(copy, '=') = 0;
	uint32_t n = 0;
	for (char *word = strtok_r(copy, " \t", &rest); word; word = strtok_r(NULL, " \t", &rest), n++) {
		uint64_t high, low = value_of(word, m, c, &high), *to = m->in + (((size_t)c->warp * LANES + c->lane) * SLOTS + n % SLOTS) * WORDS;
		if (n < f->input_count && f->inputs[n].of->bits < 64)
			low &= mask_of(f->inputs[n].of);
		to[0] = low;
		to[1] = high;
	}
	if (n != f->input_count) {
		printf("FAIL >%s\n     %s: %u values for %u registers\n", f->text, c->text, n, f->input_count);
		failures++;
	}
}

static bool is_nan(uint64_t v, const struct ptx_register *r)
{
	return r->bits == 64   ? (v & ~(1ull << 63)) > 0x7ff0000000000000ull
	       : r->bits == 32 ? (v & 0x7fffffffu) > 0x7f800000u
			       : (v & 0x7fffu) > 0x7c00u;
}

static bool matches(const char *word, const struct memory *m, const struct test_case *c, const struct ptx_register *r, const uint64_t *got)
{
	uint64_t high, want = value_of(word, m, c, &high), near = 0;
	const char *tilde = strchr(word, '~');
	if (!strcmp(word, "?"))
		return true;
	if (!strcmp(word, "nan"))
		return is_nan(got[0], r);
	if (tilde)
		near = strtoull(tilde + 1, NULL, 10);
	if (r->bits == 128 && got[1] != high)
		return false;
	want &= mask_of(r);
	uint64_t distance = want > got[0] ? want - got[0] : got[0] - want;
	return distance <= near;
}

static void check_outputs(const struct memory *m, const struct test_case *c)
{
	const struct form *f = &forms[c->form];
	char copy[1024], *rest;
	uint32_t n = 0;
	if (!f->output_count) /* refused, or it has no results: then the case says nothing */
		return;
	snprintf(copy, sizeof copy, "%s", strchr(c->text, '=') + 1);
	for (char *word = strtok_r(copy, " \t", &rest); word; word = strtok_r(NULL, " \t", &rest), n++) {
		const uint64_t *got = m->out + (((size_t)c->warp * LANES + c->lane) * SLOTS + n % SLOTS) * WORDS;
		if (n < f->output_count && matches(word, m, c, f->outputs[n].of, got))
			continue;
		printf("FAIL >%s\n     %s: result %u is %s%llx\n", f->text, c->text, n, "", (unsigned long long)got[0]);
		failures++;
	}
	if (n != f->output_count) {
		printf("FAIL >%s\n     %s: %u expected values for %u registers\n", f->text, c->text, n, f->output_count);
		failures++;
	}
}

static void fill(struct memory *m)
{
	uint64_t p0 = 0x1122334455667788ull;
	uint32_t p1 = 0xdeadbeefu;
	m->in = calloc((size_t)warp_count * LANES * SLOTS * WORDS, sizeof *m->in);
	m->out = calloc((size_t)warp_count * LANES * SLOTS * WORDS, sizeof *m->out);
	m->form = calloc(warp_count, sizeof *m->form);
	m->on = calloc(warp_count, sizeof *m->on);
	m->areas = aligned_alloc(64, (size_t)warp_count * AREA);
	need(m->in && m->out && m->form && m->on && m->areas, "out of memory");
	for (size_t i = 0; i < (size_t)warp_count * AREA; i++)
		m->areas[i] = (uint8_t)(0xf0 + i % 1024);
	memcpy(m->parameters, &p0, 8);
	memcpy(m->parameters + 8, &p1, 4);
	for (uint32_t i = 0; i < 16; i++)
		m->parameters[16 + i] = (uint8_t)(i + 1);
	for (uint32_t i = 0; i < 128; i++)
		m->variables[i] = (uint8_t)(i < 64 ? 0xa0 + i : 0x20 + i - 64);
	for (size_t i = 0; i < case_count; i++) {
		m->form[cases[i].warp] = cases[i].form;
		m->on[cases[i].warp] |= 1u << cases[i].lane;
		set_inputs(m, &cases[i]);
	}
}

static cl_context context;
static cl_device_id device;
static cl_command_queue queue;

static void open_device(void)
{
	cl_platform_id platforms[16];
	cl_uint count = 0;
	char name[256] = "";
	cl_platform_id platform = NULL;
	need(!clGetPlatformIDs(16, platforms, &count), "no OpenCL platform");
	for (cl_uint i = 0; i < count && i < 16 && !platform; i++)
		if (!clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name, name, NULL) && strstr(name, "Portable"))
			platform = platforms[i];
	need(platform && !clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "no POCL");
	context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
	queue = clCreateCommandQueue(context, device, 0, NULL);
	need(context && queue, "no queue");
}

static cl_mem buffer(void *data, size_t bytes)
{
	cl_mem made = clCreateBuffer(context, CL_MEM_USE_HOST_PTR, bytes, data, NULL);
	need(made != NULL, "no buffer");
	return made;
}

static void set_argument(cl_kernel kernel, cl_uint n, size_t bytes, const void *value)
{
	need(!clSetKernelArg(kernel, n, bytes, value), "an argument is not taken");
}

/* Builds the forms from `first` on, and runs their warps. */
static void run_program(struct memory *m, size_t first, size_t count)
{
	struct gs_buf text = {0};
	write_program(first, count, &text);
	if (getenv("INSTRUCTIONS_TEXT"))
		gs_write_file(getenv("INSTRUCTIONS_TEXT"), text.data, text.len, NULL);
	const char *source = text.data;
	cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, NULL);
	if (clBuildProgram(program, 1, &device, "-cl-std=CL1.2", NULL, NULL)) {
		static char log[1 << 16];
		clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
		fprintf(stderr, "%s\n", log);
		need(0, "the text does not build");
	}
	cl_kernel kernel = clCreateKernel(program, "run", NULL);
	need(kernel != NULL, "no kernel");
	size_t warps = warp_count, local = 1, words = (size_t)LANES * SLOTS * WORDS;
	cl_mem in = buffer(m->in, warps * words * 8), out = buffer(m->out, warps * words * 8), form = buffer(m->form, warps * 4), on = buffer(m->on, warps * 4);
	uint64_t areas = (uint64_t)(uintptr_t)m->areas, parameters = (uint64_t)(uintptr_t)m->parameters, variables = (uint64_t)(uintptr_t)m->variables;
	cl_mem buffers[] = {in, out, form, on};
	for (cl_uint i = 0; i < 4; i++)
		set_argument(kernel, i, sizeof(cl_mem), &buffers[i]);
	set_argument(kernel, 4, 8, &areas);
	set_argument(kernel, 5, 8, &parameters);
	set_argument(kernel, 6, 8, &variables);
	need(!clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &warps, &local, 0, NULL, NULL) && !clFinish(queue), "the kernel does not run");
	for (cl_uint i = 0; i < 4; i++)
		clReleaseMemObject(buffers[i]);
	clReleaseKernel(kernel);
	clReleaseProgram(program);
	gs_buf_free(&text);
}

int main(int argc, char **argv)
{
	struct memory m = {0};
	struct gs_error err;
	for (int i = 1; i < argc; i++) {
		struct gs_buf text = {0};
		if (!strcmp(argv[i], "--rounding"))
			write_rounding_cases(&text);
		else
			need(!gs_read_file(argv[i], &text, &err), err.text);
		if (text.len)
			read_cases(text.data);
		gs_buf_free(&text);
	}
	need(case_count > 0, "usage: instructions CASES... [--rounding]");
	fill(&m);
	open_device();
	for (size_t first = 0; first < form_count; first += MOST_FORMS_OF_A_PROGRAM)
		run_program(&m, first, form_count - first < MOST_FORMS_OF_A_PROGRAM ? form_count - first : MOST_FORMS_OF_A_PROGRAM);
	for (size_t i = 0; i < case_count; i++)
		check_outputs(&m, &cases[i]);
	for (size_t i = 0; i < form_count; i++)
		if (!forms[i].case_count)
			printf("FAIL >%s\n     it has no cases\n", forms[i].text), failures++;
	printf("%zu instructions of %zu cases, %u failed\n", form_count, case_count, failures);
	return failures ? 1 : 0;
}
