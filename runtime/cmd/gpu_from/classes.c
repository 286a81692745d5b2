/*
 * Rules of instruction classes. GPGPU-Sim has latencies of PTX's opcodes; with traces, Accel-Sim has them of the units that machine code runs
 * on. pipeline_latency (core.c) adds to both.
 */
#include "runtime/cmd/gpu_from/gpu_from.h"

#include <stdio.h>
#include <string.h>

enum { CLASSES = 6 };

/* Published files have 0 for units that take an instruction in every cycle. */
static double interval(double cycles)
{
	return cycles < 1 ? 1 : cycles;
}

/* Lists are ADD, MAX, MUL, MAD, DIV, and SHFL of integers. NULL: no class of ours is alike. */
static void lists(struct from *f, const char *const classes[CLASSES], enum from_option latency, enum from_option initiation, size_t least)
{
	static const char *const names[CLASSES] = {"ADD", "MAX", "MUL", "MAD", "DIV", "SHFL"};
	double cycles[2][CLASSES];
	char key[64];
	size_t count = from_list(f, latency, cycles[0], CLASSES, least), intervals = from_list(f, initiation, cycles[1], CLASSES, least);
	for (size_t i = 0; i < CLASSES; i++) {
		if (!classes[i] || i >= count || i >= intervals)
			continue;
		snprintf(key, sizeof key, "%s_latency", classes[i]);
		from_put(f, key, cycles[0][i], latency, "%s", names[i]);
		snprintf(key, sizeof key, "%s_initiation", classes[i]);
		from_put(f, key, interval(cycles[1][i]), initiation, "%s", names[i]);
	}
}

/* A product of 16 by 16 sums of 16 products, which is an instruction of PTX, has two of our steps. */
static void ptx_tensor(struct from *f)
{
	double latency = from_number(f, CONFIG_PTX_LATENCY_TENSOR), initiation = interval(from_number(f, CONFIG_PTX_INITIATION_TENSOR));
	if (from_value(f, "tensor_units") < 1)
		return;
	from_put(f, "tensor_latency", latency, CONFIG_PTX_LATENCY_TENSOR, "%s", "");
	from_put(f, "tensor_initiation", initiation / 2, CONFIG_PTX_INITIATION_TENSOR, "a step is half of such an instruction");
	from_put(f, "tensor_half_latency", latency, CONFIG_PTX_LATENCY_TENSOR, "%s", "");
	from_put(f, "tensor_half_initiation", initiation / 4, CONFIG_PTX_INITIATION_TENSOR, "half of tensor_initiation");
}

static void ptx(struct from *f)
{
	static const char *const ints[CLASSES] = {"int", "int_minmax", "int_mul", "int_mad", "int_div", "shuffle"};
	static const char *const floats[CLASSES] = {"fp32", "fp32_minmax", NULL, NULL, "fp32_div", NULL};
	static const char *const doubles[CLASSES] = {"fp64", "fp64_minmax", NULL, NULL, "fp64_div", NULL};
	const char *fma = from_number(f, CONFIG_UNITS_INT) > 0 ? "int" : "fp32";
	lists(f, ints, CONFIG_PTX_LATENCY_INT, CONFIG_PTX_INITIATION_INT, CLASSES - 1);
	lists(f, floats, CONFIG_PTX_LATENCY_FP, CONFIG_PTX_INITIATION_FP, CLASSES - 1);
	lists(f, doubles, CONFIG_PTX_LATENCY_DP, CONFIG_PTX_INITIATION_DP, CLASSES - 1);
	from_put(f, "sfu_latency", from_number(f, CONFIG_PTX_LATENCY_SFU), CONFIG_PTX_LATENCY_SFU, "%s", "");
	from_put(f, "sfu_initiation", interval(from_number(f, CONFIG_PTX_INITIATION_SFU)), CONFIG_PTX_INITIATION_SFU, "%s", "");
	from_put_word(f, "fp32_fma_unit", fma, CONFIG_UNITS_INT, "fma goes to INT where there are such units, else to SP");
	from_put_word(f, "fp64_fma_unit", fma, CONFIG_UNITS_INT, "as fp32_fma_unit");
	from_put_word(f, "int_rem_unit", fma, CONFIG_UNITS_INT, "rem has no entry of its own");
	ptx_tensor(f);
}

static void pair(struct from *f, const char *class, enum from_option o, double extra)
{
	double cycles[2];
	char key[64];
	from_list(f, o, cycles, 2, 2);
	snprintf(key, sizeof key, "%s_latency", class);
	from_put(f, key, cycles[0] + extra, o, extra > 0 ? "with pipeline_latency" : "%s", "");
	snprintf(key, sizeof key, "%s_initiation", class);
	from_put(f, key, interval(cycles[1]), o, "%s", "");
}

/* How many instructions of machine code a step of ours takes: Accel-Sim's hardware definitions have 16 HMMA of Volta, 4 of Turing and 2 of
 * later chips in a product of 16 by 16 sums of 16 products, which has two steps. */
static void trace_tensor(struct from *f, enum from_option o)
{
	double cycles[2], version = from_number(f, CONFIG_MAJOR) * 10 + from_number(f, CONFIG_MINOR);
	double each = version < 75 ? 8 : version < 80 ? 2 : 1;
	from_list(f, o, cycles, 2, 2);
	double step = each * interval(cycles[1]), rest = cycles[0] > cycles[1] ? cycles[0] - cycles[1] : 0;
	from_put(f, "tensor_latency", step + rest, o, "%.0f HMMA are a step", each);
	from_put(f, "tensor_initiation", step, o, "%.0f HMMA are a step", each);
	from_put(f, "tensor_half_latency", step / 2 + rest, o, "half a step");
	from_put(f, "tensor_half_initiation", step / 2, o, "half of tensor_initiation");
}

/* -specialized_unit_N enabled,units,latency,ID_OC,OC_EX,NAME. */
static void special_unit(struct from *f, enum from_option unit, enum from_option cycles)
{
	char name[32] = "";
	unsigned enabled = 0, units = 0;
	const char *text = from_has(f, unit) ? from_text(f, unit) : "0";
	if (sscanf(text, "%u,%u,%*u,%*u,%*u,%31[A-Za-z]", &enabled, &units, name) < 3 && enabled) {
		from_bad(f, unit, "expected enabled,units,latency,width,width,NAME");
		return;
	}
	if (!enabled)
		return;
	if (!strcmp(name, "BRA")) {
		pair(f, "branch", cycles, 0);
		from_put(f, "control_units", 1, unit, "units of their own; how many is not asked");
	} else if (!strcmp(name, "TEX")) {
		double both[2];
		from_list(f, cycles, both, 2, 2);
		from_put(f, "texture_latency", both[0] + from_value(f, "pipeline_latency"), cycles, "with pipeline_latency");
	} else if (!strcmp(name, "TENSOR")) {
		from_put(f, "tensor_units", units, unit, "%s", "");
		trace_tensor(f, cycles);
	} else if (f->at[unit]) {
		f->entries[f->at[unit] - 1].taken = false; /* UDP: ours has no uniform datapath of its own */
	}
}

static void sass(struct from *f)
{
	static const char *const ints[] = {"int", "int_mul", "int_mad", "int_minmax", "logic", "move", "shuffle", "branch", "barrier"};
	static const char *const floats[] = {"fp32", "fp32_fma", "fp32_minmax"}, *const doubles[] = {"fp64", "fp64_fma", "fp64_minmax"};
	for (size_t i = 0; i < GS_ARRAY_LEN(ints); i++)
		pair(f, ints[i], CONFIG_TRACE_INT, strcmp(ints[i], "barrier") ? 0 : from_value(f, "pipeline_latency"));
	for (size_t i = 0; i < GS_ARRAY_LEN(floats); i++) {
		pair(f, floats[i], CONFIG_TRACE_SP, 0);
		pair(f, doubles[i], CONFIG_TRACE_DP, 0);
	}
	pair(f, "sfu", CONFIG_TRACE_SFU, 0);
	pair(f, "conv", CONFIG_TRACE_SFU, 0);
	from_fact(f, "control_units", "0", "Accel-Sim: branches go to INT where they have no unit of their own");
	if (from_value(f, "tensor_units") >= 1)
		trace_tensor(f, CONFIG_TRACE_TENSOR);
	special_unit(f, CONFIG_UNIT_1, CONFIG_TRACE_UNIT_1);
	special_unit(f, CONFIG_UNIT_2, CONFIG_TRACE_UNIT_2);
	special_unit(f, CONFIG_UNIT_3, CONFIG_TRACE_UNIT_3);
	special_unit(f, CONFIG_UNIT_4, CONFIG_TRACE_UNIT_4);
}

void from_classes(struct from *f)
{
	if (f->trace)
		sass(f);
	else
		ptx(f);
}
