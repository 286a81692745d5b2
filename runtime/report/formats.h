/* formats: what report.c calls of each format. All of it runs with the lock of the reports held. */
#ifndef GPUSIM_RUNTIME_REPORT_FORMATS_H
#define GPUSIM_RUNTIME_REPORT_FORMATS_H

#include "runtime/model/launch_record.h"

/* text.c */
void report_text(struct simulation *sim);

/* json.c */
void report_json_launch(const struct launch_result *r);
void report_json_flush(struct simulation *sim, bool whole); /* whole: with what is large, at the end */
/* The JSON file: where it is and how its name ends; NULL before the first flush. */
const char *report_json_path(const char **ending);

/* html.c: makes PREFIX.html of PREFIX + ending, which is removed unless it is to be kept. */
void report_html(const struct simulation *sim, const char *json, const char *ending, bool keep_json);

/* csv.c */
void report_csv_launch(const struct launch_result *r);
void report_csv_flush(const struct simulation *sim);

/* trace_events.c */
void report_trace(struct simulation *sim);

#endif
