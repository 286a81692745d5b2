/* The reports: which are wanted, and when they are written. */
#include "state.h"

#include "timeline.h"

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
	flush(false);
}

void report_finish(void)
{
	timeline_finish();
	flush(true);
	record_finish();
	if (wanted(REPORT_HTML)) {
		const char *ending, *path = report_json_path(&ending);
		report_html(path, ending, runtime.options.report.number & REPORT_JSON);
	}
	if (wanted(REPORT_TRACE))
		report_trace();
	if (wanted(REPORT_TEXT))
		report_text();
}
