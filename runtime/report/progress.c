/*
 * How far the modelling is. On a terminal that is a line, which is written over itself and removed at the end. It appears after modelling
 * has taken a second. Elsewhere, where each line stays, there is one after ten seconds, and then one every half a minute. When the
 * program has ended and waits for modelling, the first comes after a second. There are none with GPUSIM_TEXT=quiet, or without the
 * text report.
 */
#include "runtime/report/progress.h"

#include "runtime/config/log.h"
#include "runtime/config/show.h"
#include "runtime/model/simulation.h"
#include "runtime/process/thread.h"

#include <stdio.h>

#define LOG_DOMAIN "modelling"
#define SECONDS(n) ((n) * UINT64_C(1000000000))

static struct {
	uint64_t since_ns, shown_ns; /* 0: it rests; nothing was shown */
	uint64_t from_ns;            /* when speed began to be measured: a moment after it began, since most work is done by then; 0: not yet */
	double spent_ns;             /* by processors, up to there */
	bool told_end;
} p;

static bool is_wanted(const struct simulation *sim)
{
	return (sim->options.report.number & REPORT_TEXT) && !(sim->options.report.number & REPORT_NONE) &&
	       sim->options.text.number != TEXT_QUIET;
}

/* The program has ended, and waits for us since a while. It may have ended after `now` was read. */
static bool is_end(const struct simulation *sim, uint64_t now)
{
	return sim->cost.exit_begin_ns && now >= sim->cost.exit_begin_ns + SECONDS(1);
}

static bool is_due(const struct simulation *sim, uint64_t now)
{
	if (log_on_terminal())
		return now - p.since_ns >= SECONDS(1) && now - p.shown_ns >= SECONDS(1) / 10 * 9; /* timers are not exact */
	if (is_end(sim, now) && !p.told_end)
		return true;
	return now - p.since_ns >= SECONDS(10) && (!p.shown_ns || now - p.shown_ns >= SECONDS(30));
}

/* Processors go on to work as much in a second as they did up to now; "" where nothing is known. */
static void show_rest(uint64_t now, const struct progress_work *work, char out[64])
{
	char cell[SHOW_CELL];
	double worked = work->spent_ns - p.spent_ns;
	*out = 0;
	if (p.from_ns && worked > 0 && work->left_ns > 0)
		snprintf(out, 64, ", about %s left", show_time(cell, (double)(now - p.from_ns) / worked * work->left_ns));
}

void progress_show(const struct simulation *sim, uint64_t done, uint64_t left, progress_work_fn *work, void *ctx)
{
	uint64_t now = clock_ns();
	char line[200], rest[64];
	if (!left || !is_wanted(sim))
		return;
	if (!p.since_ns)
		p.since_ns = now;
	if (!p.from_ns && now - p.since_ns >= SECONDS(1) / 5) {
		p.from_ns = now;
		p.spent_ns = work(ctx, 0).spent_ns;
	}
	if (!is_due(sim, now))
		return;
	struct progress_work so_far = work(ctx, left);
	show_rest(now, &so_far, rest);
	int length = snprintf(line, sizeof line, "\r\033[Kgpusim: %smodelling: %llu of %llu launches are done%s",
	                      is_end(sim, now) ? "the program has ended; " : "", (unsigned long long)done,
	                      (unsigned long long)(done + left), rest);
	if (log_on_terminal())
		log_raw(line, (size_t)length);
	else
		log_warning("%s", line + sizeof "\r\033[Kgpusim: " - 1);
	p.shown_ns = now;
	p.told_end |= is_end(sim, now);
}

void progress_clear(void)
{
	static const char clear[] = "\r\033[K";
	if (p.shown_ns && log_on_terminal())
		log_raw(clear, sizeof clear - 1);
	p.since_ns = p.from_ns = p.shown_ns = 0;
}
