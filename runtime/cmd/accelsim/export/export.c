/* gpusim export --accel-sim: writes what a recorded program executed as traces that Accel-Sim simulates, for GPUs that nobody has at hand. */
#include "runtime/cmd/accelsim/export/export.h"

#include "models/warps/machine/machine.h"
#include "runtime/cmd/cmd.h"
#include "runtime/cmd/sweep/replay.h"
#include "runtime/config/log.h"
#include "runtime/model/profile.h"
#include "runtime/model/trace_shapes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LOG_DOMAIN "export"

struct exporter {
	struct simulation *sim;
	const char *folder;
	FILE *list;
	struct export_memory memory;
	uint64_t kernels, left_out;
	unsigned arch;
	struct gs_buf stand_ins; /* text: launches with groups that others stand for */
	uint64_t with_stand_ins;
};

/* ---- memory ---- */

/* Pages apart, so that nobody takes two for one. */
uint64_t export_buffer_at(struct export_memory *m, uint64_t key, uint64_t bytes)
{
	const uint64_t page = UINT64_C(1) << 21, first = UINT64_C(0x7f4000000000);
	for (size_t i = 0; i < m->count; i++)
		if (m->list[i].key == key && m->list[i].bytes >= bytes)
			return m->list[i].begin;
	if (!gs_reserve(&m->list, m->count, &m->room, sizeof *m->list))
		return 0;
	m->next = m->next ? m->next : first;
	m->list[m->count++] = (struct export_buffer){key, m->next, bytes};
	m->next += (bytes / page + 2) * page;
	return m->list[m->count - 1].begin;
}

enum { KEY_OF_ADDRESS = 63, KEY_OF_CONSTANTS = 62 };

/* Buffers of the arguments, and what was copied to them before the launch. */
static int place_arguments(struct exporter *x, const struct launch_record *l, uint64_t *bases)
{
	for (size_t a = 0; a < l->argument_count; a++) {
		const struct argument_memory *m = &l->argument_memory[a];
		uint64_t key = m->buffer ? m->buffer : UINT64_C(1) << KEY_OF_ADDRESS | l->argument_values[a], bytes = l->argument_bytes[a];
		if (bytes > UINT64_C(1) << 40) /* an image's shape */
			bytes = UINT64_C(1) << 28;
		bases[a] = export_buffer_at(&x->memory, key, bytes ? bytes : 4096);
		if (!bases[a])
			return -ENOMEM;
		if (m->copied)
			fprintf(x->list, "MemcpyHtoD,0x%016" PRIx64 ",%" PRIu64 "\n", bases[a], m->copied < bytes ? m->copied : bytes);
	}
	return 0;
}

/* ---- launches ---- */

/* Accel-Sim knows the code of these. */
static unsigned binary_version(unsigned arch)
{
	return arch >= 90 ? 90 : arch >= 86 ? 86 : arch >= 80 ? 80 : arch >= 75 ? 75 : 70;
}

static void write_header(const struct exporter *x, const struct launch_result *r, const struct kernel_code *code, FILE *out)
{
	const uint64_t *g = r->profile.groups, *b = r->profile.local;
	fprintf(out, "-kernel name = %s\n-kernel id = %" PRIu64 "\n", r->launch->kernel_name, x->kernels);
	fprintf(out, "-grid dim = (%" PRIu64 ",%" PRIu64 ",%" PRIu64 ")\n", g[0], g[1], g[2]);
	fprintf(out, "-block dim = (%" PRIu64 ",%" PRIu64 ",%" PRIu64 ")\n", b[0], b[1], b[2]);
	fprintf(out, "-shmem = %" PRIu64 "\n-nregs = %u\n-binary version = %u\n-cuda stream id = 0\n", code->shared_bytes + r->profile.local_bytes,
	        code->registers ? code->registers : 32, binary_version(x->arch));
	fprintf(out, "-shmem base_addr = 0x%016" PRIx64 "\n-local mem base_addr = 0x%016" PRIx64 "\n", EXPORT_SHARED_BASE, EXPORT_LOCAL_BASE);
	fputs("-nvbit version = none\n-accelsim tracer version = 3\n-enable lineinfo = 0\n\n"
	      "#traces format = PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?] [mem_addresses]\n", out);
}

/* Names the launch, unless there are many. */
static void note_stand_ins(struct exporter *x, const struct launch_result *r, uint64_t count)
{
	enum { MOST_NAMED = 8 };
	const uint64_t *g = r->profile.groups;
	if (count && x->with_stand_ins++ < MOST_NAMED)
		gs_buf_printf(&x->stand_ins, "%s%" PRIu64 " (%s, %" PRIu64 " of %" PRIu64 ")", x->with_stand_ins > 1 ? ", " : "", r->launch->seq,
		              r->launch->kernel_name, count, g[0] * g[1] * g[2]);
}

static int write_trace(struct exporter *x, struct launch_result *r, const struct kept_trace *trace, struct gs_error *err)
{
	const struct kernel_code *code = r->launch->facts->code[x->sim->targets[0].arch];
	struct export_code names;
	uint64_t *bases = calloc(r->launch->argument_count + 1, sizeof *bases);
	char *path = NULL;
	FILE *out = NULL;
	if (!code) {
		free(bases);
		const char *why = r->launch->facts->failure[x->sim->targets[0].arch];
		return gs_fail(err, ENOENT, "%s", why ? why : "there is no code of it for this GPU");
	}
	int result = bases ? export_code_make(code, &x->sim->targets[0].gpu, &names) : -ENOMEM;
	if (result) {
		free(bases);
		return gs_fail(err, ENOMEM, "out of memory");
	}
	if (place_arguments(x, r->launch, bases) || asprintf(&path, "%s/kernel-%" PRIu64 ".traceg", x->folder, x->kernels) < 0)
		result = gs_fail(err, ENOMEM, "out of memory");
	if (!result && !(out = fopen(path, "we")))
		result = gs_fail(err, errno, "%s cannot be written: %s", path, strerror(errno));
	if (!result) {
		uint64_t stand_ins;
		struct export_launch launch = {.code = &names, .gpu = &x->sim->targets[0].gpu, .lanes = &r->profile.lanes, .bases = bases,
		                               .base_count = r->launch->argument_count, .bytes = trace->bytes, .length = trace->length,
		                               .chunk_count = trace->chunks, .sites = r->launch->artifact->sites,
		                               .site_count = (uint32_t)r->launch->artifact->site_count,
		                               .block_count = (uint32_t)r->launch->artifact->block_count,
		                               .argument_bytes = trace->argument_bytes, .argument_count = trace->argument_count,
		                               .constants = export_buffer_at(&x->memory, UINT64_C(1) << KEY_OF_CONSTANTS, UINT64_C(1) << 24)};
		memcpy(launch.groups, r->profile.groups, sizeof launch.groups);
		memcpy(launch.local, r->profile.local, sizeof launch.local);
		memcpy(launch.global, r->profile.global, sizeof launch.global);
		write_header(x, r, code, out);
		result = export_groups(&launch, out, &stand_ins, err);
		bool failed = ferror(out);
		if ((fclose(out) || failed) && !result)
			result = gs_fail(err, EIO, "%s cannot be written", path);
		if (result)
			remove(path);
		else
			fprintf(x->list, "kernel-%" PRIu64 ".traceg\n", x->kernels);
		if (!result)
			note_stand_ins(x, r, stand_ins);
	}
	free(path);
	free(bases);
	export_code_free(&names);
	return result;
}

static int write_launch(struct exporter *x, const struct launch_record *l, struct kept_trace *trace, struct gs_error *err)
{
	struct launch_result r = {.sim = x->sim, .launch = l, .counts = calloc(l->artifact->block_count + 1, sizeof *r.counts)};
	if (!r.counts)
		return gs_fail(err, ENOMEM, "out of memory");
	profile_fill(&r);
	int result = trace ? write_trace(x, &r, trace, err) : gs_fail(err, ENOENT, "it was not traced; " EXPORT_RECORD);
	free(r.counts);
	return result;
}

/* A launch that cannot be written is named, and the others go on. */
static int take_launch(void *ctx, struct launch_record *l, struct kept_trace *trace, struct gs_error *err)
{
	struct exporter *x = ctx;
	struct gs_error why;
	x->kernels++;
	int result = write_launch(x, l, trace, &why);
	kept_trace_free(trace);
	if (result == -ENOENT || result == -EINVAL) {
		x->left_out++;
		log_warning("launch %" PRIu64 " (%s) is left out: %s", l->seq, l->kernel_name, why.text);
		return 0;
	}
	return result ? gs_fail(err, -result, "%s", why.text) : 0;
}

/* ---- the command ---- */

static int export_profile(struct simulation *sim, const char *profile, const char *folder, struct gs_error *err)
{
	struct exporter x = {.sim = sim, .folder = folder, .arch = (unsigned)strtoul(sim->targets[0].gpu.arch + 3, NULL, 10)};
	struct replay play = {.sim = sim, .take = take_launch, .take_ctx = &x};
	char *path = NULL;
	int result = gs_make_dirs(folder, 0777, err);
	if (!result && asprintf(&path, "%s/kernelslist.g", folder) < 0)
		result = gs_fail(err, ENOMEM, "out of memory");
	if (!result && !(x.list = fopen(path, "we")))
		result = gs_fail(err, errno, "%s cannot be written: %s", path, strerror(errno));
	if (!result)
		result = replay_profile(&play, profile, false, err);
	if (x.list && fclose(x.list) && !result)
		result = gs_fail(err, EIO, "%s cannot be written", path);
	if (!result && x.left_out == x.kernels)
		result = gs_fail(err, ENOENT, "no launch of %s could be written", profile);
	if (!result && x.with_stand_ins)
		log_warning("not all groups were traced (GPUSIM_TRACE=all and enough GPUSIM_TRACE_MEMORY trace all): others stand for some of launches %s%s", x.stand_ins.data ? x.stand_ins.data : "",
		            x.with_stand_ins > 8 ? " and others" : "");
	gs_buf_free(&x.stand_ins);
	if (result && path)
		remove(path);
	replay_reset(&play);
	free(x.memory.list);
	free(path);
	return result;
}

int cmd_export(int argc, char **argv)
{
	static struct simulation simulation = SIMULATION_INIT;
	const char *profile = NULL, *folder = NULL;
	bool accel_sim = false;
	struct gs_error err;
	cmd_options(&simulation.options);
	for (int i = 1; i < argc; i++) {
		int words = 1;
		if (cmd_value("-o", argc, argv, &i, &folder))
			continue;
		if (!strcmp(argv[i], "--accel-sim"))
			accel_sim = true;
		else if (!strncmp(argv[i], "--", 2))
			words = cmd_take_flag(&simulation.options, "export", argc - i, argv + i);
		else if (profile)
			return cmd_fail("export: one profile at a time, not '%s' too", argv[i]);
		else
			profile = argv[i];
		if (words < 0)
			return EXIT_USAGE;
		i += words - 1;
	}
	if (!accel_sim || !profile || !folder)
		return cmd_fail("export: gpusim export --accel-sim FILE -o DIR [--gpu NAME]");
	if (cmd_check_gpus(&simulation.options, "export"))
		return EXIT_USAGE;
	load_targets(&simulation);
	if (simulation.target_count > 1)
		return cmd_fail("export: traces are of one GPU at a time");
	if (!gpu_times_machine_code(&simulation.targets[0].gpu))
		return cmd_fail("export: %s executes no machine code that we know; choose a GPU from sm_70 on", simulation.targets[0].gpu.name);
	if (export_profile(&simulation, profile, folder, &err))
		return cmd_fail("export: %s", err.text);
	return 0;
}
