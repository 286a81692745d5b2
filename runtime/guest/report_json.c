/*
 * JSON, schema gpusim.report/1. The file is a valid document after every flush: new launches go over the old
 * closing part, which is written anew behind them in the same write, so that a program killed at any time leaves
 * what was known.
 */
#include "state.h"

#include "runtime/cc/protocol.h"

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

static void add_number(struct gs_buf *b, const char *key, double value)
{
	gs_buf_printf(b, "\"%s\":%.10g,", key, value);
}

static void add_number_or_null(struct gs_buf *b, const char *key, double value)
{
	if (isnan(value))
		gs_buf_printf(b, "\"%s\":null,", key);
	else
		add_number(b, key, value);
}

static void add_count(struct gs_buf *b, const char *key, uint64_t value)
{
	gs_buf_printf(b, "\"%s\":%llu,", key, (unsigned long long)value);
}

static void add_string(struct gs_buf *b, const char *key, const char *value)
{
	gs_buf_printf(b, "\"%s\":", key);
	gs_buf_json(b, value);
	gs_buf_puts(b, ",");
}

static void add_sizes(struct gs_buf *b, const char *key, const uint64_t sizes[3])
{
	gs_buf_printf(b, "\"%s\":[%llu,%llu,%llu],", key, (unsigned long long)sizes[0], (unsigned long long)sizes[1],
	              (unsigned long long)sizes[2]);
}

/* Objects and lists are written with a comma after every member; the last one goes. */
static void close_with(struct gs_buf *b, const char *end)
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
	close_with(b, "],");
	gs_buf_free(&words);
}

static void add_target(struct gs_buf *b, const struct gpu *g)
{
	gs_buf_puts(b, "{");
	add_string(b, "name", g->name);
	add_string(b, "title", g->title);
	add_string(b, "arch", g->arch);
	add_count(b, "sm_count", g->sm_count);
	add_number(b, "clock_mhz", g->clock_mhz);
	add_string(b, "model", runtime.options.model.text);
	close_with(b, "},");
}

static void add_opening(struct gs_buf *b)
{
	char when[32];
	time_t now = time(NULL);
	struct tm utc;
	strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
	gs_buf_puts(b, "{\"schema\":\"gpusim.report/1\",\n\"tool\":{\"name\":\"gpusim\",\"version\":\"" GPUSIM_VERSION
	               "\"},\n\"run\":{");
	add_command(b);
	add_count(b, "pid", (uint64_t)getpid());
	add_string(b, "started", when);
	add_string(b, "set", runtime.options.set.text);
	close_with(b, "},\n\"targets\":[");
	for (size_t t = 0; t < runtime.target_count; t++)
		add_target(b, &runtime.targets[t].gpu);
	close_with(b, "],\n\"launches\":[");
}

/* ---- launches ---- */

/* What was not modelled is there as null, so that scripts find it. */
static void add_memory(struct gs_buf *b, const struct memory_statistics *m)
{
	gs_buf_puts(b, "\"memory\":{");
	add_number_or_null(b, "requests", m->requests);
	add_number_or_null(b, "transactions", m->transactions);
	add_number_or_null(b, "l1_hit", m->l1_hit);
	add_number_or_null(b, "l2_hit", m->l2_hit);
	add_number_or_null(b, "dram_bytes", m->dram_read_bytes + m->dram_written_bytes);
	add_number_or_null(b, "dram_read_bytes", m->dram_read_bytes);
	add_number_or_null(b, "dram_written_bytes", m->dram_written_bytes);
	add_number_or_null(b, "dram_share", m->dram_share);
	add_number_or_null(b, "l2_share", m->l2_share);
	add_number_or_null(b, "shared_factor", m->shared_factor);
	add_number_or_null(b, "atomics", m->atomics);
	add_number_or_null(b, "load_latency", m->load_latency);
	close_with(b, "},");
}

static void add_convergence(struct gs_buf *b, const struct fixed_point *f)
{
	gs_buf_printf(b, "\"converged\":%s,\"convergence\":[", f->converged ? "true" : "false");
	for (uint32_t i = 0; i < fixed_point_kept(f); i++)
		gs_buf_printf(b, "%.10g,", f->history[i]);
	close_with(b, "],");
}

static void add_estimate(struct gs_buf *b, const struct launch_result *r, size_t t)
{
	const struct estimate *e = &r->estimates[t];
	uint32_t registers = r->launch->facts->code[runtime.targets[t].arch]->registers;
	gs_buf_puts(b, "{");
	add_string(b, "target", runtime.targets[t].gpu.name);
	add_string(b, "model", e->model);
	add_number(b, "cycles", e->cycles);
	add_number(b, "time_ns", e->time_ns);
	add_number(b, "low_ns", e->low_ns);
	add_number(b, "high_ns", e->high_ns);
	add_string(b, "limiter", e->limiter);
	add_count(b, "thread_instructions", e->thread_instructions);
	add_count(b, "warp_instructions", e->warp_instructions);
	add_count(b, "machine_instructions", e->machine_instructions);
	gs_buf_puts(b, "\"machine_by\":{");
	for (int k = 0; k < MACHINE_PIPE_COUNT; k++)
		add_number(b, machine_pipe_name((enum machine_pipe)k), e->by_pipe[k] * (double)e->machine_instructions);
	close_with(b, "},");
	if (registers)
		add_count(b, "registers_per_thread", registers);
	else
		gs_buf_puts(b, "\"registers_per_thread\":null,");
	add_number(b, "occupancy", e->occupancy.fraction);
	add_string(b, "occupancy_limit", occupancy_limit_name(e->occupancy.limit));
	add_count(b, "blocks_per_sm", e->occupancy.blocks_per_sm);
	add_number(b, "register_bank_conflicts", e->register_bank_conflicts);
	add_number(b, "simulated_fraction", e->simulated_fraction);
	add_count(b, "iterations", e->iterations);
	add_convergence(b, &e->fixed_point);
	gs_buf_puts(b, "\"cycles_by\":{");
	for (int k = 0; k < CYCLE_KIND_COUNT; k++)
		add_number(b, cycle_kind_name((enum cycle_kind)k), e->by[k]);
	close_with(b, "},");
	add_memory(b, &e->memory);
	add_number(b, "lane_efficiency", e->lane_efficiency);
	gs_buf_puts(b, "\"flags\":[");
	for (size_t i = 0; i < ESTIMATE_MAX_FLAGS && e->flags[i]; i++)
		gs_buf_printf(b, "\"%s\",", e->flags[i]);
	for (size_t i = 0; i < GS_ARRAY_LEN(r->flags) && r->flags[i]; i++)
		gs_buf_printf(b, "\"%s\",", r->flags[i]);
	close_with(b, "]},");
}

/* Rows that are counted for the target's code alone are no blocks of the source. */
static bool is_block(const struct artifact_block *block)
{
	return strcmp(block->kind, "trips") && strcmp(block->kind, "next");
}

static void add_blocks(struct gs_buf *b, const struct launch_result *r)
{
	const struct artifact *a = r->launch->artifact;
	gs_buf_puts(b, "\"blocks\":[");
	for (size_t i = 0; i < a->block_count; i++) {
		if (!r->counts[i] || !is_block(&a->blocks[i]))
			continue;
		gs_buf_puts(b, "{");
		add_string(b, "function", a->blocks[i].function);
		add_string(b, "kind", a->blocks[i].kind);
		add_count(b, "line", a->blocks[i].line);
		add_count(b, "column", a->blocks[i].column);
		add_count(b, "count", r->profile.scale > 1 ? (uint64_t)((double)r->counts[i] * r->profile.scale) : r->counts[i]);
		close_with(b, "},");
	}
	close_with(b, "],");
}

void report_json_launch(const struct launch_result *r)
{
	struct gs_buf *b = &launches;
	const struct launch_profile *p = &r->profile;
	uint64_t warps = 0;
	for (size_t t = 0; t < runtime.target_count && !warps; t++)
		warps = r->estimated[t] ? r->estimates[t].warps : 0;
	gs_buf_puts(b, any_launch ? ",\n{" : "\n{");
	any_launch = true;
	add_count(b, "seq", r->launch->seq);
	add_string(b, "kernel", r->launch->kernel_name);
	add_sizes(b, "global", p->global);
	add_sizes(b, "local", p->local);
	add_count(b, "groups", p->groups[0] * p->groups[1] * p->groups[2]);
	add_count(b, "warps", warps);
	add_number(b, "sampled_fraction", r->trace ? r->traced_fraction : 1 / p->scale);
	if (r->launch->measured_ns)
		add_count(b, "measured_ns", r->launch->measured_ns);
	else
		gs_buf_puts(b, "\"measured_ns\":null,");
	if (runtime.options.blocks.number)
		add_blocks(b, r);
	gs_buf_puts(b, "\"estimates\":[");
	for (size_t t = 0; t < runtime.target_count; t++)
		if (r->estimated[t])
			add_estimate(b, r, t);
	close_with(b, "]}");
}

/* ---- the closing part; with the lock of stats held ---- */

static void add_transfers(struct gs_buf *b)
{
	gs_buf_puts(b, "\"transfers\":[");
	for (int k = 0; k < TRANSFER_KINDS; k++) {
		const struct transfer_stats *s = &stats.transfers[k];
		if (!s->commands)
			continue;
		gs_buf_puts(b, "{");
		add_string(b, "kind", transfer_name(k));
		add_count(b, "commands", s->commands);
		add_count(b, "size_bytes", s->size_bytes);
		gs_buf_puts(b, "\"estimates\":[");
		for (size_t t = 0; t < runtime.target_count; t++) {
			gs_buf_puts(b, "{");
			add_string(b, "target", runtime.targets[t].gpu.name);
			add_number(b, "time_ns", transfer_time_ns(&runtime.targets[t].gpu, k, s));
			close_with(b, "},");
		}
		close_with(b, "]},");
	}
	close_with(b, "],\n");
}

/* The lines of a text as strings. */
static void add_lines(struct gs_buf *b, const char *key, const char *text)
{
	gs_buf_printf(b, "\"%s\":[", key);
	for (const char *end; text && (end = strchr(text, '\n')); text = end + 1) {
		char line[128];
		snprintf(line, sizeof line, "%.*s", (int)(end - text), text);
		gs_buf_json(b, line);
		gs_buf_puts(b, ",");
	}
	close_with(b, "],");
}

static void add_kernel(struct gs_buf *b, const struct kernel_stats *k)
{
	gs_buf_puts(b, "{");
	add_string(b, "name", k->name);
	add_count(b, "launches", k->launches);
	if (k->measured)
		add_number(b, "measured_ns", k->measured_ns);
	else
		gs_buf_puts(b, "\"measured_ns\":null,");
	gs_buf_puts(b, "\"estimates\":[");
	for (size_t t = 0; t < runtime.target_count; t++) {
		const struct target_stats *s = &k->by_target[t];
		if (!s->launches)
			continue;
		gs_buf_puts(b, "{");
		add_string(b, "target", runtime.targets[t].gpu.name);
		add_count(b, "launches", s->launches);
		add_number(b, "total_ns", s->total_ns);
		add_number(b, "average_ns", s->total_ns / (double)s->launches);
		add_number(b, "min_ns", s->min_ns);
		add_number(b, "max_ns", s->max_ns);
		add_number(b, "cycles", s->cycles);
		add_string(b, "limiter", main_limiter(s));
		add_number(b, "occupancy", s->occupancy_sum / (double)s->launches);
		add_lines(b, "library", s->library);
		close_with(b, "},");
	}
	close_with(b, "]},");
}

static void add_summary(struct gs_buf *b)
{
	gs_buf_puts(b, "\"summary\":[");
	for (size_t t = 0; t < runtime.target_count; t++) {
		uint64_t modelled = 0;
		for (const struct kernel_stats *k = stats.kernels; k; k = k->next)
			modelled += k->by_target[t].launches;
		gs_buf_puts(b, "{");
		add_string(b, "target", runtime.targets[t].gpu.name);
		add_count(b, "launches", modelled);
		add_number(b, "kernels_ns", kernels_total_ns(t));
		add_number(b, "transfers_ns", transfers_total_ns(t));
		close_with(b, "},");
	}
	close_with(b, "],\n");
}

static void add_not_modelled(struct gs_buf *b)
{
	gs_buf_puts(b, "\"not_modelled\":[");
	for (const struct not_modelled *n = stats.not_modelled; n; n = n->next) {
		gs_buf_puts(b, "{");
		add_string(b, "kernel", n->kernel);
		add_count(b, "launches", n->launches);
		add_string(b, "reason", n->reason);
		close_with(b, "},");
	}
	close_with(b, "],\n");
}

static void add_cost(struct gs_buf *b)
{
	gs_buf_puts(b, "\"cost\":{");
	add_number(b, "wall_ns", (double)(clock_ns() - runtime.start_ns));
	add_count(b, "programs", tool_cost.compiles);
	add_count(b, "cache_hits", tool_cost.cache_hits);
	add_count(b, "compile_ns", tool_cost.compile_ns);
	add_count(b, "twin_build_ns", tool_cost.twin_build_ns);
	add_count(b, "wait_ns", tool_cost.wait_ns);
	add_count(b, "launch_ns", tool_cost.launch_ns);
	add_count(b, "model_ns", tool_cost.model_ns);
	close_with(b, "}");
}

static void add_closing(struct gs_buf *b)
{
	size_t count;
	gs_buf_puts(b, "],\n");
	pthread_mutex_lock(&stats.lock);
	const struct kernel_stats **kernels = stats_sorted(&count);
	add_transfers(b);
	gs_buf_puts(b, "\"kernels\":[");
	for (size_t i = 0; i < count; i++)
		add_kernel(b, kernels[i]);
	close_with(b, "],\n");
	add_summary(b);
	add_not_modelled(b);
	pthread_mutex_unlock(&stats.lock);
	add_cost(b);
	gs_buf_puts(b, "}\n");
	free(kernels);
}

/* ---- the file ---- */

void report_json_flush(void)
{
	struct gs_buf out = {0};
	if (!closing_at)
		add_opening(&out);
	gs_buf_add(&out, launches.data, launches.len);
	size_t kept = out.len;
	add_closing(&out);
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
