/* The reports: which are wanted, and when they are written. */
#include "runtime/report/report.h"

#include "runtime/model/simulation.h"
#include "runtime/process/signals.h"
#include "runtime/process/thread.h"
#include "runtime/report/formats.h"
#include "runtime/report/record.h"
#include "runtime/report/timeline.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool finished; /* under the lock */

bool report_lock_for_good(unsigned milliseconds)
{
	struct timespec deadline = deadline_in(milliseconds);
	return !pthread_mutex_timedlock(&lock, &deadline);
}

static bool format_wanted(const struct simulation *sim, uint64_t format)
{
	uint64_t formats = sim->options.report.number;
	return (formats & format) && !(formats & REPORT_NONE);
}

bool report_wanted(const struct simulation *sim)
{
	return !(sim->options.report.number & REPORT_NONE);
}

void report_launch(const struct launch_result *r)
{
	pthread_mutex_lock(&lock);
	stats_add_launch(r);
	if (format_wanted(r->sim, REPORT_JSON | REPORT_HTML))
		report_json_launch(r);
	if (format_wanted(r->sim, REPORT_CSV))
		report_csv_launch(r);
	pthread_mutex_unlock(&lock);
}

static void write_files(struct simulation *sim, bool whole)
{
	if (format_wanted(sim, REPORT_JSON | REPORT_HTML))
		report_json_flush(sim, whole);
	if (format_wanted(sim, REPORT_CSV))
		report_csv_flush(sim);
}

void report_flush(struct simulation *sim)
{
	pthread_mutex_lock(&lock);
	write_files(sim, finished); /* what the end of the program has brought stays */
	pthread_mutex_unlock(&lock);
}

static void make_html(const struct simulation *sim)
{
	const char *ending, *path = report_json_path(&ending);
	if (format_wanted(sim, REPORT_HTML))
		report_html(sim, path, ending, sim->options.report.number & REPORT_JSON);
}

void report_finish(struct simulation *sim)
{
	pthread_mutex_lock(&lock);
	if (!finished) {
		timeline_finish(&sim->timeline);
		write_files(sim, true);
		record_finish(sim);
		make_html(sim);
		if (format_wanted(sim, REPORT_TRACE))
			report_trace(sim);
		if (format_wanted(sim, REPORT_TEXT))
			report_text(sim);
	}
	finished = true;
	pthread_mutex_unlock(&lock);
}

void report_interrupted(struct simulation *sim)
{
	enum { FILES_S = 20, HTML_S = 30 };
	if (finished)
		return;
	if (format_wanted(sim, REPORT_TEXT))
		report_text(sim);
	signals_extend(FILES_S);
	timeline_finish(&sim->timeline);
	write_files(sim, true);
	record_finish(sim);
	if (format_wanted(sim, REPORT_TRACE))
		report_trace(sim);
	signals_extend(HTML_S);
	make_html(sim);
}
