/* What follows from each wish. docs/gpus.md has the rules in words. */
#include "runtime/cmd/scale/scale.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void scale_set(struct scale *s, const char *key, double value, const char *rule, ...)
{
	size_t i = 0;
	while (i < s->count && strcmp(s->changes[i].key, key))
		i++;
	if (i == SCALE_MOST_CHANGES)
		return;
	s->count += i == s->count;
	struct scale_change *c = &s->changes[i];
	*c = (struct scale_change){.key = key, .value = value};
	va_list ap;
	va_start(ap, rule);
	vsnprintf(c->rule, sizeof c->rule, rule, ap);
	va_end(ap);
}

static void scale_sms(struct scale *s, double sms)
{
	scale_set(s, "sm_count", sms, "SMs, asked for; L2 and memory stay: they belong to the memory controllers (V100 and A100 white papers)");
}

/* Initiation intervals of a kind of unit in the base: of its usual instruction first. */
struct lane_keys {
	const char *units;
	struct {
		const char *key;
		double base;
	} initiations[3];
};

/* A unit is as wide as a warp: 64 lanes are two units that start an instruction every cycle, 16 lanes are one that does every second. Instructions
 * that take longer than the usual one do so in the same ratio. */
static void scale_lanes(struct scale *s, const struct lane_keys *keys, double lanes)
{
	double units = lanes >= 32 ? floor(lanes / 32) : 1, usual = units * 32 / lanes;
	scale_set(s, keys->units, units, "units, asked for: %g lanes in units as wide as a warp", lanes);
	for (size_t i = 0; i < GS_ARRAY_LEN(keys->initiations); i++)
		scale_set(s, keys->initiations[i].key, usual * keys->initiations[i].base / keys->initiations[0].base, "cycles, %g lanes in %g units%s", lanes, units,
		          i ? ", against others as in the base" : "");
}

/* L2 divides into slices of whole lines. */
static double whole_l2(const struct gpu *g, double bytes, double slices)
{
	double step = slices * (double)(g->l2_line_bytes * g->l2_ways);
	return fmax(1, floor(bytes / step)) * step;
}

/* Channels are of the base's kind, so that more bandwidth means more of them, unless their number is given. Each has its slices of L2. */
static int scale_dram(struct scale *s, const struct scale_wishes *w)
{
	const struct gpu *g = &s->base;
	double gbps = w->dram_gbps ? w->dram_gbps : g->dram_gbps * (w->dram_channels ? w->dram_channels / g->dram_channels : 1);
	double channels = w->dram_channels ? w->dram_channels : fmax(1, round(g->dram_channels * gbps / g->dram_gbps));
	if (gbps == g->dram_gbps && channels == g->dram_channels)
		return 0;
	if (w->dram_gbps)
		scale_set(s, "dram_gbps", gbps, "GB/s, asked for");
	else
		scale_set(s, "dram_gbps", gbps, "GB/s, %g for each channel of %s", g->dram_gbps / g->dram_channels, g->name);
	if (channels == g->dram_channels)
		return 0;
	if (w->dram_channels)
		scale_set(s, "dram_channels", channels, "channels, asked for");
	else
		scale_set(s, "dram_channels", channels, "channels, each as fast as those of %s: %g GB/s", g->name, g->dram_gbps / g->dram_channels);
	double slices = fmax(1, round((double)g->l2_slices * channels / g->dram_channels));
	if (slices > 1024 || channels > 1024)
		return gs_fail(&s->error, ERANGE, "%g GB/s would need %g channels and %g slices of L2; 1024 at most: give --dram-channels", gbps, channels, slices);
	scale_set(s, "l2_slices", slices, "slices, %g for each channel, as in %s: L2 belongs to the memory controllers", (double)g->l2_slices / g->dram_channels, g->name);
	if (!w->l2_mb)
		scale_set(s, "l2_bytes", whole_l2(g, (double)g->l2_bytes / g->l2_slices * slices, slices),
		          "bytes, %.0f KB for each slice, as in %s", (double)g->l2_bytes / g->l2_slices / 1024, g->name);
	return 0;
}

/* Power of the chip's own parts; memory has a process of its own. */
static void scale_energy(struct scale *s, double factor, const char *why)
{
	const struct gpu *g = &s->base;
	const struct {
		const char *key;
		double value;
	} keys[] = {
		{"energy_fma_nj", g->energy_fma_nj}, {"energy_alu_nj", g->energy_alu_nj}, {"energy_xu_nj", g->energy_xu_nj}, {"energy_fp64_nj", g->energy_fp64_nj},
		{"energy_lsu_nj", g->energy_lsu_nj}, {"energy_other_nj", g->energy_other_nj}, {"energy_tensor_nj", g->energy_tensor_nj},
		{"energy_shared_nj", g->energy_shared_nj}, {"energy_l1_nj", g->energy_l1_nj}, {"energy_l2_pj", g->energy_l2_pj}, {"energy_sm_w", g->energy_sm_w},
	};
	for (size_t i = 0; g->energy_idle_w > 0 && i < GS_ARRAY_LEN(keys); i++)
		if (keys[i].value > 0)
			scale_set(s, keys[i].key, keys[i].value * factor, "%s of %s; %s", strstr(keys[i].key, "_w") ? "W, that" : "that", g->name, why);
}

/* With a clock of its own, the process saves energy; without, it buys speed at the power that the base has. */
static int scale_node(struct scale *s, const struct scale_wishes *w)
{
	struct scale_node_step step;
	const char *from = w->from_node ? w->from_node : scale_node_of(s->base.arch);
	if (!from)
		return gs_fail(&s->error, EINVAL, "the process of %s (%s) is not known: give --from-node", s->base.name, s->base.arch);
	int result = scale_nodes(from, w->node, &step, &s->error);
	if (result)
		return result;
	if (w->clock_mhz) {
		scale_energy(s, step.energy, step.source);
		return 0;
	}
	s->clock_mhz = s->base.clock_mhz * step.speed;
	scale_set(s, "clock_mhz", round(s->clock_mhz), "MHz, %.2f times that of %s at the same power: %s", step.speed, s->base.name, step.source);
	s->clock_mhz = round(s->clock_mhz);
	scale_energy(s, 1 / step.speed, step.source);
	return 0;
}

/* DRAM takes as many ns as before, which are other cycles; SMs, interconnect and L2 follow the clock. */
static void scale_clock(struct scale *s)
{
	const struct gpu *g = &s->base;
	double times = s->clock_mhz / g->clock_mhz;
	static const char why[] = "cycles, as many ns as in %s: DRAM does not follow the clock of the SMs (JEDEC states its timing in ns)";
	if (times == 1)
		return;
	scale_set(s, "dram_latency", round(g->l2_latency + fmax(g->dram_latency - g->l2_latency, 0) * times), why, g->name);
	if (g->dram_far_cycles > 0)
		scale_set(s, "dram_far_cycles", round(g->dram_far_cycles * times), why, g->name);
	if (g->dram_refresh_cycles > 0)
		scale_set(s, "dram_refresh_cycles", round(g->dram_refresh_cycles * times), why, g->name);
}

static void scale_l2(struct scale *s, double mb)
{
	double slices = s->base.l2_slices;
	for (size_t i = 0; i < s->count; i++)
		if (!strcmp(s->changes[i].key, "l2_slices"))
			slices = s->changes[i].value;
	scale_set(s, "l2_bytes", whole_l2(&s->base, mb * 1024 * 1024, slices), "bytes, asked for: %g MB, in whole lines of %g slices", mb, slices);
}

int scale_apply(struct scale *s, const struct scale_wishes *w)
{
	const struct gpu *g = &s->base;
	const struct lane_keys fp32 = {"fp32_units", {{"fp32_fma_initiation", g->fp32_fma_initiation}, {"fp32_initiation", g->fp32_initiation},
	                               {"fp32_minmax_initiation", g->fp32_minmax_initiation}}};
	const struct lane_keys fp64 = {"fp64_units", {{"fp64_fma_initiation", g->fp64_fma_initiation}, {"fp64_initiation", g->fp64_initiation},
	                               {"fp64_minmax_initiation", g->fp64_minmax_initiation}}};
	int result = 0;
	s->clock_mhz = w->clock_mhz ? w->clock_mhz : s->base.clock_mhz;
	if (w->sms)
		scale_sms(s, w->sms);
	if (w->clock_mhz)
		scale_set(s, "clock_mhz", w->clock_mhz, "MHz, asked for");
	if (w->node)
		result = scale_node(s, w);
	if (!result)
		scale_clock(s);
	if (w->fp32_lanes)
		scale_lanes(s, &fp32, w->fp32_lanes);
	if (w->fp64_lanes)
		scale_lanes(s, &fp64, w->fp64_lanes);
	if (!result)
		result = scale_dram(s, w);
	if (w->l2_mb)
		scale_l2(s, w->l2_mb);
	if (w->dram_gb)
		scale_set(s, "dram_bytes", round(w->dram_gb * 1e9), "bytes, asked for: %g GB", w->dram_gb);
	if (w->link_gbps) {
		scale_set(s, "link_gbps", w->link_gbps, "GB/s, asked for");
		if (s->base.link_both_gbps > 0)
			scale_set(s, "link_both_gbps", s->base.link_both_gbps * w->link_gbps / s->base.link_gbps, "GB/s, as many times link_gbps as in %s", s->base.name);
	}
	if (s->base.energy_validated)
		scale_set(s, "energy_validated", 0, "nobody measured this GPU");
	return result;
}
