/* The reports: which are wanted, and when they are written. */
#include "runtime/guest/state.h"

#include "runtime/guest/timeline.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool finished; /* under it */

void report_lock(void)
{
	pthread_mutex_lock(&lock);
}

void report_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

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
	if (wanted(REPORT_JSON | REPORT_HTML))
		report_json_launch(r);
	if (wanted(REPORT_CSV))
		report_csv_launch(r);
}

static void flush(bool whole)
{
	if (wanted(REPORT_JSON | REPORT_HTML))
		report_json_flush(whole);
	if (wanted(REPORT_CSV))
		report_csv_flush();
}

void report_flush(void)
{
	report_lock();
	flush(false);
	report_unlock();
}

static void make_html(void)
{
	const char *ending, *path = report_json_path(&ending);
	if (wanted(REPORT_HTML))
		report_html(path, ending, runtime.options.report.number & REPORT_JSON);
}

void report_finish(void)
{
	report_lock();
	if (!finished) {
		timeline_finish();
		flush(true);
		record_finish();
		make_html();
		if (wanted(REPORT_TRACE))
			report_trace();
		if (wanted(REPORT_TEXT))
			report_text();
	}
	finished = true;
	report_unlock();
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
	flush(true);
	record_finish();
	if (wanted(REPORT_TRACE))
		report_trace();
	signals_extend(HTML_S);
	make_html();
}
