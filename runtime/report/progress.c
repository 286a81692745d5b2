/*
 * One line on a terminal that shows how far the modelling is. It is written over itself and removed at the end. It appears after modelling
 * has taken a second. There is none where stderr is no terminal, with GPUSIM_TEXT=quiet, or without the text report.
 */
#include "runtime/report/progress.h"

#include "runtime/config/log.h"
#include "runtime/config/show.h"
#include "runtime/model/simulation.h"
#include "runtime/process/thread.h"

enum { FIRST_NS = 1000000000, EVERY_NS = 100000000 };

static uint64_t busy_since_ns, shown_ns; /* 0: rests, not shown; the worker's, but see progress_due */

static bool is_wanted(const struct simulation *sim)
{
	static int wanted = -1;
	if (wanted < 0)
		wanted = (sim->options.report.number & REPORT_TEXT) && sim->options.text.number != TEXT_QUIET &&
		         log_on_terminal();
	return wanted;
}

bool progress_due(const struct simulation *sim)
{
	uint64_t now = clock_ns();
	if (!busy_since_ns)
		busy_since_ns = now;
	return now - busy_since_ns >= FIRST_NS && now - shown_ns >= EVERY_NS && is_wanted(sim);
}

void progress_show(const char *kernel, uint64_t done, unsigned long left)
{
	struct gs_buf line = {0};
	char age[SHOW_CELL];
	shown_ns = clock_ns();
	gs_buf_printf(&line, "\r\033[Kgpusim: modelling, %s: launch %llu, %lu to go: ",
	              show_time(age, (double)(shown_ns - busy_since_ns)), (unsigned long long)done + 1, left);
	show_name(&line, kernel, 30);
	if (!line.failed)
		log_raw(line.data, line.len);
	gs_buf_free(&line);
}

void progress_clear(void)
{
	static const char clear[] = "\r\033[K";
	if (shown_ns)
		log_raw(clear, sizeof clear - 1);
	busy_since_ns = shown_ns = 0;
}
