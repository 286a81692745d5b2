/* The description: what came from the configuration, what the simulator does anyway, what the base has, and what was not taken. */
#include "runtime/cmd/gpu_from/gpu_from.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define FROM_ALWAYS true
#define FROM_PTX !f->trace
#define FROM_SASS f->trace

static void add_facts(struct from *f)
{
#define FACT(when, key, value, source)                                                                                 \
	if (FROM_##when)                                                                                               \
		from_fact(f, key, value, source);
#include "runtime/cmd/gpu_from/facts.def"
#undef FACT
}

/* Why options whose names begin so have no counterpart. The first that fits counts. */
static const struct {
	const char *begin, *why;
} reasons[] = {
	{"-gpgpu_perfect_mem", "of the run, not of the GPU: GPUSIM_MEMORY=perfect"},
	{"-gpgpu_ptx_", "how programs are read, not how long they take"},
	{"-gpgpu_occupancy_sm_number", "how registers are counted, not how long programs take"},
	{"-gpgpu_registers_per_block", "what programs are told"},
	{"-gpgpu_shmem_per_block", "what programs are told; the simulator enforces -gpgpu_shmem_size"},
	{"-gpgpu_shmem_option", "L1 is not adaptive"},
	{"-gpgpu_shmem_size", "of a preference that programs state"},
	{"-gpgpu_shmem_limited_broadcast", "gpusim broadcasts every word"},
	{"-gpgpu_cache:dl1Pref", "of a preference that programs state"},
	{"-gpgpu_l1_banks", "GPGPU-Sim 4 that executes PTX takes a sector per cycle, whatever its banks (measured)"},
	{"-gpgpu_l1_cache_write_ratio", "gpusim's stores take no part of L1"},
	{"-gpgpu_flush_l1_cache", "gpusim's L1 begins every launch empty"},
	{"-gpgpu_tex_cache", "images are read through L1"},
	{"-gpgpu_cache:dl2_texture_only", "L2 is for all"},
	{"-gpgpu_dram_partition_queues", "gpusim has one queue of a slice"},
	{"-gpgpu_dram_scheduler", "gpusim's DRAM takes open rows first"},
	{"-dram_dual_bus_interface", "gpusim's commands never wait for their bus"},
	{"-dual_bus_interface", "gpusim's commands never wait for their bus"},
	{"-dram_bnk", "gpusim spreads addresses over banks by a hash"},
	{"-dram_seperate", "gpusim has one queue of a channel"},
	{"-dram_write_queue", "gpusim has one queue of a channel"},
	{"-gpgpu_mem_address_mask", "of -gpgpu_mem_addr_mapping"},
	{"-gpgpu_TB_launch_latency", "gpusim's overhead of a launch does not grow with its groups"},
	{"-gpgpu_n_cluster_ejection_buffer_size", "gpusim's replies wait in the interconnect"},
	{"-gpgpu_n_ldst_response_buffer_size", "gpusim's replies wait in the interconnect"},
	{"-gpgpu_operand_collector_num", "gpusim's collectors take and give as many as the ports of their units"},
	{"-gpgpu_num_mem_units", "the simulator does not use it"},
	{"-gpgpu_dual_issue", "gpusim's scheduler issues to any free units"},
	{"-gpgpu_simd_model", "gpusim's lanes join where paths do"},
	{"-gpgpu_clock_gated", "of power"},
	{"-gpgpu_lrc", "gpusim has no coalescer in front of L2"},
	{"-gpgpu_n_chiplet", "gpusim's slices are as far from all SMs in a description of a simulator"},
	{"-inter_config_file", "there is no such file beside the configuration, or it has no flit_size; the rest of it has no counterpart"},
	{"-inter_chiplet", "gpusim's slices are as far from all SMs in a description of a simulator"},
	{"-gpgpu_chiplet", "gpusim's slices are as far from all SMs in a description of a simulator"},
	{"-gpgpu_opndcoll_model", "gpusim has one model of operand collectors"},
	{"-gpgpu_simple_dram", "gpusim's simple DRAM is a sector per cycle of DRAM and channel"},
	{"<<<<<<<", "left by a merge: values on both sides were read, and the last counts"},
	{"=======", "left by a merge"},
	{">>>>>>>", "left by a merge"},
	{"-icnt_", "gpusim's interconnect has queues of its own"},
	{"-inct_", "gpusim's interconnect has queues of its own"},
	{"-ptx_opcode_", "trace.config has the latencies of machine code"},
	{"-trace_opcode_latency_initiation_spec_op", "of a unit that is not there, or that gpusim has not"},
	{"-trace_opcode_", "PTX is executed: give trace.config, too"},
	{"-specialized_unit", "not enabled, or a unit that gpusim has not"},
	{"-power", "of power"},
	{"-accelwattch", "of power"},
	{"-gpuwattch", "of power"},
	{"-visualizer", "of the simulator's output"},
	{"-trace_", "of the simulator's output"},
	{"-enable_ptx_file_line_stats", "of the simulator's output"},
	{"-gpgpu_runtime_stat", "of the simulator's output"},
	{"-gpgpu_memlatency_stat", "of the simulator's output"},
	{"-gpgpu_stack_size_limit", "of the simulator's run, not of time"},
	{"-gpgpu_heap_size_limit", "of the simulator's run, not of time"},
	{"-gpgpu_runtime_", "of the simulator's run, not of time"},
	{"-gpgpu_max_", "of the simulator's run, not of time"},
	{"-gpgpu_deadlock", "of the simulator's run, not of time"},
};

static void add_not_taken(const struct from *f, struct gs_buf *out)
{
	bool any = false;
	for (size_t i = 0; i < f->count; i++) {
		const struct from_entry *e = &f->entries[i];
		const char *why = NULL;
		if (e->taken)
			continue;
		if (!any)
			gs_buf_puts(out, "\n# Options that have no counterpart.\n");
		any = true;
		gs_buf_printf(out, "# not taken: %s %.80s (%sline %u)", e->name, e->value, e->file == f->entries[0].file ? "" : "trace.config, ", e->line);
		if (e->next) {
			gs_buf_printf(out, ": line %u sets it again\n", f->entries[e->next - 1].line);
			continue;
		}
		for (size_t k = 0; k < GS_ARRAY_LEN(reasons) && !why; k++)
			if (!strncmp(e->name, reasons[k].begin, strlen(reasons[k].begin)))
				why = reasons[k].why;
		gs_buf_printf(out, "%s%s\n", why ? ": " : "", why ? why : "");
	}
}

static void add_key(struct gs_buf *out, const char *key, const char *value, const char *unit, const char *source)
{
	char line[256];
	snprintf(line, sizeof line, "%s = %s", key, value);
	gs_buf_printf(out, "%-34s # %s%s%s\n", line, unit, *unit && *source ? ", " : "", source);
}

static bool is_named(size_t i)
{
	return !strcmp(gpu_key(i)->name, "name") || !strcmp(gpu_key(i)->name, "title");
}

static size_t count_of(const struct from *f, enum from_kind kind)
{
	size_t count = 0;
	for (size_t i = 0; i < gpu_key_count(); i++)
		count += f->values[i].kind == kind && !is_named(i) && (kind != FROM_BASE || f->origins[i].line);
	return count;
}

static void add_section(const struct from *f, enum from_kind kind, struct gs_buf *out)
{
	for (size_t i = 0; i < gpu_key_count(); i++) {
		const struct from_value *v = &f->values[i];
		if (v->kind != kind || is_named(i))
			continue;
		if (kind != FROM_BASE)
			add_key(out, gpu_key(i)->name, v->text, gpu_key(i)->unit, v->source);
		if (kind != FROM_BASE || !f->origins[i].line)
			continue;
		char value[128], source[320];
		gpu_format_value(&f->base, i, value, sizeof value);
		snprintf(source, sizeof source, "%s [%s]", f->origins[i].comment, f->base_name);
		if (*value)
			add_key(out, gpu_key(i)->name, value, "", source);
	}
}

static int read_result(void *ctx, const char *name, struct gs_buf *text, char *path, size_t size, struct gs_error *err)
{
	const struct gs_buf *made = ctx;
	snprintf(path, size, "%s", name);
	gs_buf_add(text, made->data, made->len);
	return text->failed ? gs_fail(err, ENOMEM, "out of memory") : 0;
}

/* A value out of range is the configuration's fault: says which of its lines it came from. */
static int check(struct from *f, struct gs_buf *out)
{
	struct gpu gpu;
	struct gs_error err;
	unsigned line = 0;
	if (out->failed)
		return gs_fail(&f->error, ENOMEM, "out of memory");
	if (!gpu_load(&gpu, "result", read_result, out, NULL, NULL, &err))
		return 0;
	const char *why = err.text, *at = out->data;
	if (sscanf(err.text, "result:%u:", &line) == 1)
		why = strchr(err.text, ' ') ? strchr(err.text, ' ') + 1 : err.text;
	for (unsigned i = 1; i < line && strchr(at, '\n'); i++)
		at = strchr(at, '\n') + 1;
	const char *source = line ? strstr(at, "# ") : NULL;
	return source ? gs_fail(&f->error, EINVAL, "%.200s (%.*s)", why, (int)strcspn(source + 2, "\n"), source + 2)
	              : gs_fail(&f->error, EINVAL, "%.300s", why);
}

int from_write(struct from *f, const char *name, const char *title, struct gs_buf *out)
{
	add_facts(f);
	gs_buf_printf(out,
	              "# Made by gpusim gpu-from of a configuration of %s: what that simulator simulates, not a chip.\n#\n"
	              "# %zu values are the configuration's, %zu are what the simulator does whatever it says, %zu are those of %s.\n\n",
	              f->trace ? "Accel-Sim" : "GPGPU-Sim", count_of(f, FROM_OPTION), count_of(f, FROM_FACT), count_of(f, FROM_BASE), f->base_name);
	gs_buf_printf(out, "name = %s\ntitle = %.60s\n\n", name, title);
	add_section(f, FROM_OPTION, out);
	gs_buf_puts(out, "\n# What the simulator does whatever its configuration says.\n");
	add_section(f, FROM_FACT, out);
	gs_buf_printf(out, "\n# Not in the configuration: those of %s.\n", f->base_name);
	add_section(f, FROM_BASE, out);
	add_not_taken(f, out);
	return check(f, out);
}
