/*
 * JSON, schema gpusim.report/1. The file is a valid document at any time. A flush keeps the launches that it has, adds new ones and the
 * closing part, and replaces the file as a whole (file.c). So a program killed at any time leaves what was known.
 */
#include "runtime/report/json.h"

#include "commit.h"   /* GPUSIM_COMMIT, made by the Makefile */
#include "model_id.h" /* GPUSIM_MODEL_ID, likewise */
#include "models/code/costs.h"
#include "models/code/peaks.h"
#include "runtime/format/protocol.h"
#include "runtime/model/simulation.h"
#include "runtime/report/cost.h"
#include "runtime/report/file.h"
#include "runtime/report/formats.h"
#include "runtime/report/notes.h"
#include "runtime/report/timeline.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct gs_buf launches; /* complete, not written yet */
static struct gs_buf closing;  /* as the file has it */
static struct report_file file = {.ending = ".json", .fd = -1};
static bool any_launch;
static uint64_t closing_at; /* where the closing part begins; 0: nothing is written yet */

void json_add_number(struct gs_buf *b, const char *key, double value)
{
	gs_buf_printf(b, "\"%s\":%.10g,", key, value);
}

void json_add_number_or_null(struct gs_buf *b, const char *key, double value)
{
	if (isnan(value))
		gs_buf_printf(b, "\"%s\":null,", key);
	else
		json_add_number(b, key, value);
}

void json_add_count(struct gs_buf *b, const char *key, uint64_t value)
{
	gs_buf_printf(b, "\"%s\":%llu,", key, (unsigned long long)value);
}

void json_add_string(struct gs_buf *b, const char *key, const char *value)
{
	gs_buf_printf(b, "\"%s\":", key);
	gs_buf_json(b, value);
	gs_buf_puts(b, ",");
}

void json_add_sizes(struct gs_buf *b, const char *key, const uint64_t sizes[3])
{
	gs_buf_printf(b, "\"%s\":[%llu,%llu,%llu],", key, (unsigned long long)sizes[0], (unsigned long long)sizes[1],
	              (unsigned long long)sizes[2]);
}

/* Objects and lists are written with a comma after every member; the last one goes. */
void json_end(struct gs_buf *b, const char *end)
{
	if (b->len && b->data[b->len - 1] == ',')
		b->len--;
	gs_buf_puts(b, end);
}

/* ---- what is known from the beginning ---- */

static void add_command(struct gs_buf *b)
{
	struct gs_buf words = {0};
	gs_buf_puts(b, "\"command\":[");
	if (!gs_read_file("/proc/self/cmdline", &words, NULL))
		for (size_t i = 0; i < words.len; i += strlen(words.data + i) + 1) {
			gs_buf_json(b, words.data + i);
			gs_buf_puts(b, ",");
		}
	json_end(b, "],");
	gs_buf_free(&words);
}

/* What the user chose, so that the run can be repeated. */
static void add_options(struct gs_buf *b, const struct gs_options *options)
{
	const struct option_row *rows;
	size_t count = options_rows(&rows);
	gs_buf_puts(b, "\"options\":{");
	for (size_t i = 0; i < count; i++) {
		const struct option_value *v = (const void *)((const char *)options + rows[i].offset);
		if (v->text && strcmp(v->text, rows[i].fallback))
			json_add_string(b, rows[i].name, v->text);
	}
	json_end(b, "},");
}

/* All keys, as `gpusim show` has them: what GPUSIM_SET and a base changed is in it. */
static void add_description(struct gs_buf *b, const struct gpu *g)
{
	char value[128];
	gs_buf_puts(b, "\"description\":{");
	for (size_t i = 0; i < gpu_key_count(); i++) {
		gpu_format_value(g, i, value, sizeof value);
		json_add_string(b, gpu_key(i)->name, value);
	}
	json_end(b, "},");
}

static void add_target(struct gs_buf *b, const struct gs_options *options, const struct gpu *g)
{
	gs_buf_puts(b, "{");
	json_add_string(b, "name", g->name);
	json_add_string(b, "title", g->title);
	json_add_string(b, "arch", g->arch);
	json_add_count(b, "sm_count", g->sm_count);
	json_add_number(b, "clock_mhz", g->clock_mhz);
	json_add_string(b, "model", options->model.text);
	json_add_string(b, "memory", options->memory.text);
	json_add_count(b, "warp_size", g->warp_size);
	json_add_count(b, "max_warps_per_sm", g->max_warps_per_sm);
	json_add_count(b, "max_threads_per_block", g->max_threads_per_block);
	json_add_number(b, "fp32_gflops", gpu_peak_gflops(g, CODE_fp32_fma));
	json_add_number(b, "fp64_gflops", gpu_peak_gflops(g, CODE_fp64_fma));
	json_add_number(b, "dram_gbps", g->dram_gbps);
	json_add_number(b, "l2_gbps", gpu_l2_gbps(g));
	json_add_number(b, "l1_gbps", gpu_l1_gbps(g));
	json_add_number(b, "link_gbps", g->link_gbps);
	json_add_number(b, "link_latency_ns", g->link_latency_ns);
	add_description(b, g);
	json_end(b, "},");
}

static void add_opening(struct gs_buf *b, const struct simulation *sim)
{
	char when[32];
	time_t now = time(NULL);
	struct tm utc;
	strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
	gs_buf_puts(b, "{\"schema\":\"gpusim.report/1\",\n\"tool\":{\"name\":\"gpusim\",\"version\":\"" GPUSIM_VERSION "\",\"commit\":\"" GPUSIM_COMMIT
	               "\",\"compiler\":\"" GPUSIM_CC_ID "\",\"models\":\"" GPUSIM_MODEL_ID "\"},\n\"run\":{");
	add_command(b);
	json_add_count(b, "pid", (uint64_t)getpid());
	json_add_string(b, "started", when);
	json_add_string(b, "set", sim->options.set.text);
	add_options(b, &sim->options);
	char *cwd = getcwd(NULL, 0);
	json_add_string(b, "cwd", cwd ? cwd : "");
	free(cwd);
	json_end(b, "},\n\"targets\":[");
	for (size_t t = 0; t < sim->target_count; t++)
		add_target(b, &sim->options, &sim->targets[t].gpu);
	json_end(b, "],\n\"launches\":[");
}

/* ---- launches ---- */

void json_cycles_by(struct gs_buf *b, const double by[CYCLE_KIND_COUNT])
{
	gs_buf_puts(b, "\"cycles_by\":{");
	for (int k = 0; k < CYCLE_KIND_COUNT; k++)
		json_add_number(b, cycle_kind_name((enum cycle_kind)k), by[k]);
	json_end(b, "},");
}

void json_unit_use(struct gs_buf *b, const double unit_cycles[RESOURCE_COUNT], double cycles)
{
	gs_buf_puts(b, "\"unit_use\":{");
	for (int u = 0; u < RESOURCE_COUNT; u++)
		if (u == RESOURCE_issue || (u >= RESOURCE_fp32 && u <= RESOURCE_ldst))
			json_add_number(b, resource_name((enum pipeline_resource)u), cycles > 0 ? fmin(1, unit_cycles[u] / cycles) : 0);
	json_end(b, "},");
}

/* What was not modelled is there as null, so that scripts find it. */
void json_memory(struct gs_buf *b, const struct estimate *e)
{
	const struct memory_statistics *m = &e->memory;
	const struct access_counts *a = &e->accesses;
	gs_buf_puts(b, "\"memory\":{");
	json_add_number_or_null(b, "requests", m->requests);
	json_add_number_or_null(b, "transactions", m->transactions);
	json_add_number_or_null(b, "l1_hit", m->l1_hit);
	json_add_number_or_null(b, "l2_hit", m->l2_hit);
	json_add_number_or_null(b, "dram_bytes", m->dram_read_bytes + m->dram_written_bytes);
	json_add_number_or_null(b, "dram_read_bytes", m->dram_read_bytes);
	json_add_number_or_null(b, "dram_written_bytes", m->dram_written_bytes);
	json_add_number_or_null(b, "dram_share", m->dram_share);
	json_add_number_or_null(b, "l2_share", m->l2_share);
	json_add_number_or_null(b, "shared_factor", m->shared_factor);
	json_add_number_or_null(b, "atomics", m->atomics);
	json_add_number_or_null(b, "load_latency", m->load_latency);
	json_add_number_or_null(b, "load_requests", a->load_requests);
	json_add_number_or_null(b, "load_sectors", a->load_sectors);
	json_add_number_or_null(b, "store_sectors", a->store_sectors);
	json_add_number_or_null(b, "shared_conflicts", a->shared_conflicts);
	json_add_number_or_null(b, "store_requests", a->store_requests);
	json_add_number_or_null(b, "atomic_requests", a->atomic_requests);
	json_add_number_or_null(b, "texture_requests", a->texture_requests);
	json_add_number_or_null(b, "private_requests", a->private_requests);
	json_add_number_or_null(b, "shared_requests", a->shared_requests);
	json_add_number_or_null(b, "l2_read_bytes", m->l2_read_bytes);
	json_add_number_or_null(b, "l2_written_bytes", m->l2_written_bytes);
	json_end(b, "},");
}

static void add_convergence(struct gs_buf *b, const struct fixed_point *f)
{
	gs_buf_printf(b, "\"converged\":%s,\"convergence\":[", f->converged ? "true" : "false");
	for (uint32_t i = 0; i < fixed_point_kept(f); i++)
		gs_buf_printf(b, "%.10g,", f->history[i]);
	json_end(b, "],");
}

/* Lines of the source at which lanes of a warp went different ways; none where nothing was traced. */
static void add_divergence(struct gs_buf *b, const struct kernel_code *code, const struct estimate *e)
{
	gs_buf_puts(b, "\"divergent_branches\":[");
	for (size_t i = 0; i < ESTIMATE_MAX_LINES && e->divergence[i].divergent > 0; i++) {
		const struct line_divergence *d = &e->divergence[i];
		gs_buf_puts(b, "{");
		json_add_string(b, "file", d->line && d->file < code->file_count ? code->strings + code->files[d->file] : "");
		json_add_count(b, "line", d->line);
		json_add_number(b, "executions", d->executions);
		json_add_number(b, "divergent", d->divergent);
		json_end(b, "},");
	}
	json_end(b, "],");
}

void json_flags(struct gs_buf *b, flag_set flags)
{
	gs_buf_puts(b, "\"flags\":[");
	for (const char *name; (name = flag_take(&flags));)
		gs_buf_printf(b, "\"%s\",", name);
	json_end(b, "],");
}

static void add_estimate(struct gs_buf *b, const struct launch_result *r, size_t t)
{
	const struct estimate *e = &r->estimates[t];
	const struct gpu *gpu = &r->sim->targets[t].gpu;
	uint32_t registers = launch_registers(r, t);
	gs_buf_puts(b, "{");
	json_add_string(b, "target", gpu->name);
	json_add_string(b, "model", e->model);
	json_add_number(b, "cycles", e->cycles);
	json_add_number(b, "time_ns", e->time_ns);
	json_add_number(b, "low_ns", e->low_ns);
	json_add_number(b, "high_ns", e->high_ns);
	json_add_string(b, "limiter", e->limiter);
	json_add_count(b, "thread_instructions", e->thread_instructions);
	json_add_count(b, "warp_instructions", e->warp_instructions);
	json_add_count(b, "machine_instructions", e->machine_instructions);
	gs_buf_puts(b, "\"machine_by\":{");
	for (int k = 0; k < MACHINE_PIPE_COUNT; k++)
		json_add_number(b, machine_pipe_name((enum machine_pipe)k), e->by_pipe[k] * (double)e->machine_instructions);
	json_end(b, "},");
	if (registers)
		json_add_count(b, "registers_per_thread", registers);
	else
		gs_buf_puts(b, "\"registers_per_thread\":null,");
	json_add_number(b, "occupancy", e->occupancy.fraction);
	json_add_string(b, "occupancy_limit", occupancy_limit_name(e->occupancy.limit));
	json_add_count(b, "blocks_per_sm", e->occupancy.blocks_per_sm);
	json_add_number(b, "sm_use", gpu_sm_use(gpu, &e->occupancy, launch_group_count(r)));
	json_add_number(b, "waves", gpu_waves(gpu, &e->occupancy, launch_group_count(r)));
	json_add_number(b, "register_bank_conflicts", e->register_bank_conflicts);
	json_add_number(b, "simulated_fraction", e->simulated_fraction);
	json_add_count(b, "iterations", e->iterations);
	add_convergence(b, &e->fixed_point);
	json_cycles_by(b, e->by);
	json_unit_use(b, e->unit_cycles, e->cycles);
	struct energy energy = energy_of_launch(gpu, e, launch_group_count(r));
	json_energy(b, gpu, &energy, e->time_ns);
	json_memory(b, e);
	json_add_number(b, "lane_efficiency", e->lane_efficiency);
	add_divergence(b, r->launch->facts->code[r->sim->targets[t].arch], e);
	json_flags(b, e->flags | r->flags);
	json_end(b, "},");
}

/* Rows that are counted for the target's code alone are no blocks of the source. */
static bool is_block(const struct artifact_block *block)
{
	return strcmp(block->kind, "trips") && strcmp(block->kind, "next") && strcmp(block->kind, "edge");
}

static void add_blocks(struct gs_buf *b, const struct launch_result *r)
{
	const struct artifact *a = r->launch->artifact;
	gs_buf_puts(b, "\"blocks\":[");
	for (size_t i = 0; i < a->block_count; i++) {
		if (!r->counts[i] || !is_block(&a->blocks[i]))
			continue;
		gs_buf_puts(b, "{");
		json_add_string(b, "function", a->blocks[i].function);
		json_add_string(b, "kind", a->blocks[i].kind);
		json_add_count(b, "unit", a->blocks[i].unit);
		json_add_string(b, "file", a->blocks[i].file);
		json_add_count(b, "line", a->blocks[i].line);
		json_add_count(b, "column", a->blocks[i].column);
		json_add_count(b, "count", r->profile.scale > 1 ? (uint64_t)((double)r->counts[i] * r->profile.scale) : r->counts[i]);
		json_end(b, "},");
	}
	json_end(b, "],");
}

void report_json_launch(const struct launch_result *r)
{
	struct gs_buf *b = &launches;
	const struct launch_profile *p = &r->profile;
	uint64_t warps = 0;
	for (size_t t = 0; t < r->sim->target_count && !warps; t++)
		warps = r->estimated[t] ? r->estimates[t].warps : 0;
	gs_buf_puts(b, any_launch ? ",\n{" : "\n{");
	any_launch = true;
	json_add_count(b, "seq", r->launch->seq);
	json_add_string(b, "kernel", r->launch->kernel_name);
	json_add_sizes(b, "global", p->global);
	json_add_sizes(b, "local", p->local);
	json_add_count(b, "groups", launch_group_count(r));
	json_add_count(b, "warps", warps);
	bool counted = !(r->flags & (flag_set)1 << FLAG_not_counted);
	json_add_number(b, "sampled_fraction", r->trace ? r->traced_fraction : counted ? 1 / p->scale : 0);
	if (r->launch->measured_ns)
		json_add_count(b, "measured_ns", r->launch->measured_ns);
	else
		gs_buf_puts(b, "\"measured_ns\":null,");
	json_add_count(b, "modelled_ns", r->modelled_ns);
	if (r->sim->options.blocks.number)
		add_blocks(b, r);
	gs_buf_puts(b, "\"estimates\":[");
	for (size_t t = 0; t < r->sim->target_count; t++)
		if (r->estimated[t])
			add_estimate(b, r, t);
	json_end(b, "]}");
}

/* ---- the closing part; with the lock of stats held ---- */

static void add_transfers(struct gs_buf *b, const struct simulation *sim)
{
	gs_buf_puts(b, "\"transfers\":[");
	for (int k = 0; k < TRANSFER_KINDS; k++) {
		const struct transfer_stats *s = &sim->stats.transfers[k];
		if (!s->commands)
			continue;
		gs_buf_puts(b, "{");
		json_add_string(b, "kind", transfer_name(k));
		json_add_count(b, "commands", s->commands);
		json_add_count(b, "size_bytes", s->size_bytes);
		gs_buf_puts(b, "\"estimates\":[");
		for (size_t t = 0; t < sim->target_count; t++) {
			gs_buf_puts(b, "{");
			json_add_string(b, "target", sim->targets[t].gpu.name);
			json_add_number(b, "time_ns", transfers_of_kind_ns(sim, t, (enum transfer_kind)k));
			json_end(b, "},");
		}
		json_end(b, "]},");
	}
	json_end(b, "],\n");
}

static void add_summary(struct gs_buf *b, const struct simulation *sim)
{
	gs_buf_puts(b, "\"summary\":[");
	for (size_t t = 0; t < sim->target_count; t++) {
		uint64_t modelled = 0;
		for (const struct kernel_stats *k = sim->stats.kernels; k; k = k->next)
			modelled += k->by_target[t].launches;
		gs_buf_puts(b, "{");
		json_add_string(b, "target", sim->targets[t].gpu.name);
		json_add_count(b, "launches", modelled);
		json_add_number(b, "kernels_ns", kernels_total_ns(&sim->stats, t));
		json_add_number(b, "transfers_ns", transfers_total_ns(sim, t));
		struct energy energy = kernels_energy(&sim->stats, t);
		json_energy(b, &sim->targets[t].gpu, &energy, kernels_total_ns(&sim->stats, t));
		json_end(b, "},");
	}
	json_end(b, "],\n");
}

static void add_not_modelled(struct gs_buf *b, const struct simulation *sim)
{
	gs_buf_puts(b, "\"not_modelled\":[");
	for (const struct not_modelled *n = sim->stats.not_modelled; n; n = n->next) {
		gs_buf_puts(b, "{");
		json_add_string(b, "kernel", n->kernel);
		json_add_count(b, "launches", n->launches);
		json_add_string(b, "reason", n->reason);
		if (n->measured) {
			json_add_count(b, "measured", n->measured);
			json_add_number(b, "measured_ns", n->measured_ns);
		}
		json_end(b, "},");
	}
	json_end(b, "],\n");
}

/* What ran on a real GPU; nothing where none was used. */
static void add_measured(struct gs_buf *b, const struct simulation *sim)
{
	if (!sim->stats.measured)
		return;
	gs_buf_puts(b, "\"measured\":[");
	for (const struct measured_kernel *m = sim->stats.measured; m; m = m->next) {
		gs_buf_puts(b, "{");
		json_add_string(b, "kernel", m->kernel);
		json_add_sizes(b, "global", m->shape.global);
		json_add_sizes(b, "local", m->shape.local);
		json_add_count(b, "local_bytes", m->shape.local_bytes);
		json_add_count(b, "launches", m->launches);
		json_add_count(b, "measured", m->measured);
		json_add_number(b, "total_ns", m->total_ns);
		json_add_number(b, "least_ns", m->least_ns);
		json_add_number(b, "most_ns", m->most_ns);
		json_end(b, "},");
	}
	json_end(b, "],\n");
}

static void add_note(const char *about, const char *text, void *data)
{
	struct gs_buf *b = data;
	gs_buf_puts(b, "{");
	json_add_string(b, "about", about);
	json_add_string(b, "text", text);
	json_end(b, "},");
}

static void add_notes(struct gs_buf *b, const struct simulation *sim)
{
	gs_buf_puts(b, "\"notes\":[");
	notes_tell(sim, SIZE_MAX, add_note, b);
	json_end(b, "],\n");
}

static void add_cost(struct gs_buf *b, const struct simulation *sim)
{
	struct run_cost c = cost_now(sim);
	gs_buf_puts(b, "\"cost\":{");
	json_add_number(b, "wall_ns", c.wall_ns);
	json_add_number(b, "without_ns", c.without_ns);
	json_add_number(b, "building_ns", c.building_ns);
	json_add_number(b, "counting_ns", c.counting_ns);
	json_add_number(b, "tracing_ns", c.tracing_ns);
	json_add_number(b, "modelling_ns", c.modelling_ns);
	json_add_count(b, "untraced_launches", sim->cost.untraced);
	json_add_count(b, "simulated_launches", sim->cost.simulated);
	json_add_count(b, "cached_launches", sim->cost.from_cache);
	json_add_count(b, "over_budget_launches", sim->cost.over_budget);
	json_add_count(b, "not_counted_launches", sim->cost.not_counted);
	json_add_count(b, "programs", sim->cost.compiles);
	json_add_count(b, "cache_hits", sim->cost.cache_hits);
	json_add_count(b, "compile_ns", sim->cost.compile_ns);
	json_add_count(b, "twin_build_ns", sim->cost.twin_build_ns);
	json_add_count(b, "wait_ns", sim->cost.wait_ns);
	json_add_count(b, "launch_ns", sim->cost.launch_ns);
	json_add_count(b, "model_ns", sim->cost.model_ns);
	json_end(b, "}");
}

static void add_host(struct gs_buf *b, const struct run_host *h)
{
	if (!h->name[0])
		return;
	gs_buf_puts(b, "\"host\":{");
	json_add_string(b, "device", h->name);
	json_add_string(b, "driver", h->driver);
	json_add_string(b, "platform", h->platform);
	json_add_string(b, "platform_version", h->version);
	json_end(b, "},\n");
}

static void add_closing(struct gs_buf *b, struct simulation *sim, bool whole)
{
	gs_buf_puts(b, "],\n");
	pthread_mutex_lock(&sim->stats.lock);
	add_transfers(b, sim);
	json_kernels(b, sim, whole);
	if (whole)
		json_advice(b, sim);
	add_summary(b, sim);
	add_not_modelled(b, sim);
	add_measured(b, sim);
	if (whole)
		add_notes(b, sim);
	add_host(b, &sim->host);
	pthread_mutex_unlock(&sim->stats.lock);
	if (whole)
		json_timeline(b, &sim->timeline);
	add_cost(b, sim);
	gs_buf_puts(b, "}\n");
}

/* ---- the file ---- */

const char *report_json_path(const char **ending)
{
	*ending = file.ending;
	return file.failed ? NULL : file.path;
}

void report_json_flush(struct simulation *sim, bool whole)
{
	struct gs_buf out = {0};
	file.prefix = sim->options.output.text;
	if (!(sim->options.report.number & REPORT_JSON)) /* for the page alone */
		file.ending = ".html.json";
	if (!closing_at)
		add_opening(&out, sim);
	gs_buf_add(&out, launches.data, launches.len);
	size_t kept = out.len;
	add_closing(&out, sim, whole);
	if (out.failed || launches.failed) {
		gs_buf_free(&out);
		return;
	}
	if (!report_write(&file, out.data, out.len, closing_at)) {
		closing_at += kept;
		closing.len = 0;
		gs_buf_add(&closing, out.data + kept, out.len - kept);
		launches.len = 0;
	} else if (closing_at) {
		/* The disk is full, say: the file gets the end back that it had, and the launches wait. */
		report_write(&file, closing.data, closing.len, closing_at);
	}
	gs_buf_free(&out);
}
