/* The reports: which are wanted, and when they are written. */
#include "runtime/report/report.h"

#include "runtime/model/stats.h"
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

static bool wanted(uint64_t format)
{
	uint64_t formats = runtime.options.report.number;
	return (formats & format) && !(formats & REPORT_NONE);
}

bool report_wanted(void)
{
	return !(runtime.options.report.number & REPORT_NONE);
}

void report_launch(const struct launch_result *r)
{
	pthread_mutex_lock(&lock);
	stats_add_launch(r);
	if (wanted(REPORT_JSON | REPORT_HTML))
		report_json_launch(r);
	if (wanted(REPORT_CSV))
		report_csv_launch(r);
	pthread_mutex_unlock(&lock);
}

static void write_files(bool whole)
{
	if (wanted(REPORT_JSON | REPORT_HTML))
		report_json_flush(whole);
	if (wanted(REPORT_CSV))
		report_csv_flush();
}

void report_flush(void)
{
	pthread_mutex_lock(&lock);
	write_files(false);
	pthread_mutex_unlock(&lock);
}

static void make_html(void)
{
	const char *ending, *path = report_json_path(&ending);
	if (wanted(REPORT_HTML))
		report_html(path, ending, runtime.options.report.number & REPORT_JSON);
}

void report_finish(void)
{
	pthread_mutex_lock(&lock);
	if (!finished) {
		timeline_finish();
		write_files(true);
		record_finish();
		make_html();
		if (wanted(REPORT_TRACE))
			report_trace();
		if (wanted(REPORT_TEXT))
			report_text();
	}
	finished = true;
	pthread_mutex_unlock(&lock);
}

void report_interrupted(void)
{
	enum { FILES_S = 20, HTML_S = 30 };
	if (finished)
		return;
	if (wanted(REPORT_TEXT))
		report_text();
	signals_extend(FILES_S);
	timeline_finish();
	write_files(true);
	record_finish();
	if (wanted(REPORT_TRACE))
		report_trace();
	signals_extend(HTML_S);
	make_html();
}
