/* What estimates assume; see notes.h. */
#include "runtime/report/notes.h"

#include "runtime/config/accuracy.h"
#include "runtime/config/show.h"
#include "runtime/model/simulation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct notes {
	const struct simulation *sim;
	const struct kernel_stats **kernels; /* the longest first */
	size_t count, most;
	note_fn *say;
	void *data;
};

static void tell(const struct notes *n, const char *about, const char *fmt, ...) GS_PRINTF(3, 4);
static void tell(const struct notes *n, const char *about, const char *fmt, ...)
{
	struct gs_buf text = {0};
	va_list ap;
	va_start(ap, fmt);
	gs_buf_vprintf(&text, fmt, ap);
	va_end(ap);
	if (text.len && !text.failed)
		n->say(about, text.data, n->data);
	gs_buf_free(&text);
}

typedef unsigned long long number; /* as printf takes it */

/* ---- of single kernels ---- */

static bool is_unsized(const struct kernel_stats *k)
{
	return k->unsized;
}

static void tell_unsized(const struct notes *n, const struct kernel_stats *k, const char *name)
{
	const uint64_t *l = k->unsized_local;
	tell(n, "local_size_chosen", "local size of %s: the program gives none; modelled with %llux%llux%llu, as the GPU's driver would choose (%llu of %llu launches)",
	     name, (number)l[0], (number)l[1], (number)l[2], (number)k->unsized, (number)k->launches);
}

static bool has_assumed(const struct kernel_stats *k)
{
	return k->memory.drawn;
}

static void tell_assumed(const struct notes *n, const struct kernel_stats *k, const char *name)
{
	const struct memory_source *m = &k->memory;
	tell(n, "addresses_assumed", "memory of %s: addresses assumed for %u of %u instructions, because they depend on data and %s (%llu of %llu launches)", name,
	     m->drawn, m->accessing, m->reason, (number)m->computed, (number)k->launches);
}

static bool has_computed(const struct kernel_stats *k)
{
	return k->memory.computed && !k->memory.drawn;
}

static void tell_computed(const struct notes *n, const struct kernel_stats *k, const char *name)
{
	const struct memory_source *m = &k->memory;
	tell(n, "addresses_computed", "memory of %s: addresses of all %u instructions computed from the code, because %s (%llu of %llu launches)", name,
	     m->accessing, m->reason, (number)m->computed, (number)k->launches);
}

static bool has_other_trace(const struct kernel_stats *k)
{
	return k->memory.other;
}

static void tell_other_trace(const struct notes *n, const struct kernel_stats *k, const char *name)
{
	const struct memory_source *m = &k->memory;
	tell(n, "other_trace", "memory of %s: addresses from the trace of another launch, with %llux%llux%llu groups of %llux%llux%llu work-items "
	     "(%llu of %llu launches)", name, (number)m->other_groups[0], (number)m->other_groups[1], (number)m->other_groups[2],
	     (number)m->other_local[0], (number)m->other_local[1], (number)m->other_local[2], (number)m->other, (number)k->launches);
}

static bool differs(const struct kernel_stats *k)
{
	return k->comparisons[TWIN_DIFFERS];
}

/* The program's results are the kernel's own. */
static void tell_twin(const struct notes *n, const struct kernel_stats *k, const char *name)
{
	(void)k;
	tell(n, "twin_differs", "twin differs: what the annotated twin of %s wrote differs from what the kernel wrote: the kernel itself "
	     "computed the program's results, and its counts may be wrong", name);
}

static const struct kernel_note {
	const char *what; /* it is about, where there are too many */
	bool (*holds)(const struct kernel_stats *k);
	void (*tell)(const struct notes *n, const struct kernel_stats *k, const char *name);
} kernel_notes[] = {
	{"local size", is_unsized, tell_unsized},
	{"memory", has_assumed, tell_assumed},
	{"memory", has_computed, tell_computed},
	{"memory", has_other_trace, tell_other_trace},
	{"twins", differs, tell_twin},
};

static void tell_of_kernels(const struct notes *n, const struct kernel_note *note)
{
	size_t shown = 0, left = 0;
	for (size_t i = 0; i < n->count; i++) {
		struct gs_buf name = {0};
		if (!note->holds(n->kernels[i]))
			continue;
		left += shown == n->most;
		if (shown == n->most)
			continue;
		show_name(&name, n->kernels[i]->name, 60);
		note->tell(n, n->kernels[i], name.data ? name.data : "");
		gs_buf_free(&name);
		shown++;
	}
	if (left)
		tell(n, "more", "%s of %zu more kernels: likewise (GPUSIM_TEXT=verbose shows all)", note->what, left);
}

/* ---- flags ---- */

static flag_set flags_of(const struct notes *n, const struct kernel_stats *k)
{
	flag_set flags = 0;
	for (size_t t = 0; t < n->sim->target_count; t++)
		flags |= k->by_target[t].flags;
	return flags;
}

/* Whether another note says it of the kernel, and more. */
static bool is_told(const struct notes *n, const struct kernel_stats *k, enum flag flag)
{
	switch (flag) {
	case FLAG_local_size_chosen:
		return k->unsized;
	case FLAG_not_traced:
	case FLAG_addresses_assumed:
		return k->memory.computed;
	case FLAG_other_trace:
		return k->memory.other;
	case FLAG_not_counted:
		return n->sim->cost.not_counted;
	case FLAG_over_budget:
		return n->sim->cost.over_budget;
	case FLAG_sampled:
		return true;
	default:
		return false;
	}
}

/* Kernels that a note is about: "a, b and 3 more". */
struct kernel_names {
	struct gs_buf text;
	size_t count;
};

enum { MOST_NAMES = 4 };

static void add_name(struct kernel_names *l, const char *name)
{
	if (l->count++ >= MOST_NAMES)
		return;
	gs_buf_puts(&l->text, l->text.len ? ", " : "");
	show_name(&l->text, name, 40);
}

static const char *names_of(struct kernel_names *l)
{
	if (l->count > MOST_NAMES)
		gs_buf_printf(&l->text, " and %zu more", l->count - MOST_NAMES);
	return l->text.data && !l->text.failed ? l->text.data : "";
}

static void tell_flag(const struct notes *n, enum flag flag)
{
	struct kernel_names kernels = {.count = 0};
	for (size_t i = 0; i < n->count; i++)
		if (flags_of(n, n->kernels[i]) & (flag_set)1 << flag && !is_told(n, n->kernels[i], flag))
			add_name(&kernels, n->kernels[i]->name);
	if (kernels.count)
		tell(n, flag_texts[flag].name, "assumed for %s: %s", names_of(&kernels), flag_texts[flag].meaning);
	gs_buf_free(&kernels.text);
}

/* ---- of the run ---- */

/* Groups that were not traced do as those that were. */
static void tell_stand_ins(const struct notes *n)
{
	struct kernel_names kernels = {.count = 0};
	for (size_t i = 0; i < n->count; i++)
		if (n->kernels[i]->memory.in_part)
			add_name(&kernels, n->kernels[i]->name);
	if (kernels.count)
		tell(n, "traced_in_part", "assumed for %s: work-groups that were not traced do as traced ones that are like them by their counters",
		     names_of(&kernels));
	gs_buf_free(&kernels.text);
}

static void tell_l2(const struct notes *n)
{
	struct kernel_names kernels = {.count = 0};
	for (size_t i = 0; i < n->count; i++)
		if (n->kernels[i]->memory.l2_unknown)
			add_name(&kernels, n->kernels[i]->name);
	const char *names = names_of(&kernels);
	for (size_t t = 0; t < n->sim->target_count && n->sim->options.memory.number == MEMORY_HIERARCHY; t++) {
		const struct gpu *g = &n->sim->targets[t].gpu;
		const char *held = g->l2_warm ? "what a launch touches is in L2 when it begins, as much as fits (l2_warm)" : "L2 is empty when a launch begins (l2_warm)";
		if (!g->l2_kept && n->count)
			tell(n, "l2_before", "assumed on %s: %s", g->name, held);
		else if (kernels.count)
			tell(n, "l2_before", "assumed on %s for %s, whose buffers are not known: %s", g->name, names, held);
	}
	gs_buf_free(&kernels.text);
}

/* Library functions whose code the targets' own compilers have and ours has not. */
static void add_new_functions(struct gs_buf *list, const char *lines)
{
	for (const char *end; lines && (end = strchr(lines, '\n')); lines = end + 1) {
		char name[128];
		bool guessed = *lines == '?'; /* protocol.h: the table does not have it */
		if (!strncmp(lines + guessed, "__", 2))
			continue; /* the compiler's own, which no user wrote */
		snprintf(name, sizeof name, "%.*s%s, ", (int)(end - lines) - guessed, lines + guessed, guessed ? " (guessed)" : "");
		const char *at = list->data ? strstr(list->data, name) : NULL;
		if (!at || (at > list->data && at[-1] != ' '))
			gs_buf_puts(list, name);
	}
}

static void tell_library(const struct notes *n)
{
	struct gs_buf list = {0};
	for (size_t i = 0; i < n->count; i++)
		for (size_t g = 0; g < n->sim->target_count; g++)
			add_new_functions(&list, n->kernels[i]->by_target[g].library);
	if (list.len > 2)
		tell(n, "cost_from_table", "cost taken from a table: %.*s", (int)(list.len < 602 ? list.len - 2 : 600), list.data);
	gs_buf_free(&list);
}

/* Kernels whose machine code was asked for (GPUSIM_CODE=machine) and is not what was timed: once per reason. Where it was not asked for, the JSON has it. */
static void tell_selected(const struct notes *n)
{
	for (size_t g = 0; g < n->sim->target_count; g++)
		for (size_t i = 0; i < n->count && n->sim->targets[g].gpu.machine_code == GPU_CODE_machine; i++) {
			const char *why = n->kernels[i]->by_target[g].selected;
			struct kernel_names kernels = {.count = 0};
			bool told = false;
			for (size_t k = 0; why && k < n->count; k++) {
				const char *other = n->kernels[k]->by_target[g].selected;
				told |= k < i && other && !strcmp(other, why);
				if (other && !strcmp(other, why))
					add_name(&kernels, n->kernels[k]->name);
			}
			if (kernels.count && !told)
				tell(n, "selected_code", "selected code instead of the machine's on %s for %s: %s", n->sim->targets[g].gpu.name, names_of(&kernels), why);
			gs_buf_free(&kernels.text);
		}
}

/* The other way round: a profile has the code that it was recorded with. */
static void tell_not_selected(const struct notes *n)
{
	for (size_t g = 0; g < n->sim->target_count; g++) {
		struct kernel_names kernels = {.count = 0};
		for (size_t i = 0; i < n->count && n->sim->targets[g].gpu.machine_code == GPU_CODE_selected; i++) {
			const char *code = n->kernels[i]->by_target[g].code;
			if (code && (!strcmp(code, "machine") || !strcmp(code, "program")))
				add_name(&kernels, n->kernels[i]->name);
		}
		if (kernels.count)
			tell(n, "machine_code", "machine code instead of selected code on %s for %s: the profile was recorded with it", n->sim->targets[g].gpu.name, names_of(&kernels));
		gs_buf_free(&kernels.text);
	}
}

static struct sampling_stats sampling_of(const struct stats *stats, size_t target)
{
	struct sampling_stats all = {0};
	for (const struct kernel_stats *k = stats->kernels; k; k = k->next) {
		const struct sampling_stats *s = &k->by_target[target].sampling;
		all.sampled += s->sampled;
		all.instructions += s->instructions;
		all.simulated += s->simulated;
		all.checks += s->checks;
		all.error_sum += s->error_sum;
		all.error_most = s->error_most > all.error_most ? s->error_most : all.error_most;
	}
	return all;
}

static void tell_sampling(const struct notes *n)
{
	for (size_t g = 0; g < n->sim->target_count; g++) {
		struct sampling_stats all = sampling_of(&n->sim->stats, g);
		char checks[160] = "";
		if (!all.sampled && !all.checks)
			continue;
		if (all.checks)
			snprintf(checks, sizeof checks, "; %llu launches were checked by full simulation: the error is %.1f%% on average, %.1f%% at most",
			         (number)all.checks, 100 * all.error_sum / (double)all.checks, 100 * all.error_most);
		tell(n, "sampled", "sampling on %s: %.2f%% of the warp instructions were simulated; %llu of %llu launches were not simulated, but estimated from "
		     "similar ones%s", n->sim->targets[g].gpu.name, all.instructions > 0 ? 100 * all.simulated / all.instructions : 0, (number)all.sampled,
		     (number)n->sim->stats.launches, checks);
	}
}

static void tell_not_counted(const struct notes *n)
{
	const char *why = n->sim->options.cuda_host.number == CUDA_HOST_GPU
	                          ? "on a real GPU only some launches of a size are counted, and only where that is safe (GPUSIM_LOG=info)"
	                          : "there was no room for these, or no time to copy memory (GPUSIM_COUNTER_MEMORY)";
	if (n->sim->cost.not_counted)
		tell(n, "not_counted", "not counted: %llu launches ran without counters, because %s; their counts and times follow from other launches of their kernels",
		     (number)n->sim->cost.not_counted, why);
}

static void tell_budget(const struct notes *n)
{
	if (n->sim->cost.over_budget)
		tell(n, "over_budget", "over budget: %llu launches were not simulated, because the %s s of GPUSIM_BUDGET were spent; their times are rough",
		     (number)n->sim->cost.over_budget, n->sim->options.budget.text);
}

/* What starting a launch takes does not follow from a model. */
static void tell_launches(const struct notes *n)
{
	struct gs_buf list = {0};
	char cell[SHOW_CELL];
	for (size_t t = 0; t < n->sim->target_count; t++) {
		const struct gpu *g = &n->sim->targets[t].gpu;
		gs_buf_printf(&list, "%s%s on %s", list.len ? ", " : "", show_time(cell, n->sim->stats.cuda ? g->cuda_launch_overhead_ns : g->launch_overhead_ns), g->name);
	}
	if (n->sim->stats.launches && list.len && !list.failed)
		tell(n, "launch_overhead", "assumed: starting a launch takes %s (%slaunch_overhead_ns)", list.data, n->sim->stats.cuda ? "cuda_" : "");
	gs_buf_free(&list);
}

static void tell_copies(const struct notes *n)
{
	bool any = false;
	for (int k = 0; k < TRANSFER_KINDS; k++)
		any |= n->sim->stats.transfers[k].commands != 0;
	if (any)
		tell(n, "copies", "assumed: a copy takes the latency of the link and its bytes over the link's bandwidth (link_latency_ns, link_gbps)");
}

static void tell_not_validated(const struct notes *n)
{
	for (size_t t = 0; t < n->sim->target_count; t++)
		if (!accuracy_is_measured(n->sim->targets[t].gpu.name))
			tell(n, "not_validated", "not validated: no estimate for %s has been compared with what it takes", n->sim->targets[t].gpu.name);
}

void notes_tell(const struct simulation *sim, size_t most, note_fn *say, void *data)
{
	struct notes n = {.sim = sim, .most = most, .say = say, .data = data};
	n.kernels = stats_sorted(sim, &n.count);
	for (size_t i = 0; i < GS_ARRAY_LEN(kernel_notes); i++)
		tell_of_kernels(&n, &kernel_notes[i]);
	for (int f = 0; f < FLAG_COUNT; f++)
		tell_flag(&n, (enum flag)f);
	tell_stand_ins(&n);
	tell_l2(&n);
	tell_library(&n);
	tell_selected(&n);
	tell_not_selected(&n);
	tell_sampling(&n);
	tell_not_counted(&n);
	tell_budget(&n);
	tell_launches(&n);
	tell_copies(&n);
	tell_not_validated(&n);
	free(n.kernels);
}
