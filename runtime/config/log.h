/*
 * log: messages on stderr. Each has a level and a domain. Each .c file that logs names its domain once:
 *     #define LOG_DOMAIN "twin"
 * A message is one line that begins with "gpusim: ", in one write. It never goes to stdout. If the process started
 * without a stderr, messages go nowhere, because the number of stderr may by now be a file of the application.
 */
#ifndef GPUSIM_RUNTIME_CONFIG_LOG_H
#define GPUSIM_RUNTIME_CONFIG_LOG_H

#include "runtime/base/base.h"

enum log_level { LOG_ERROR, LOG_WARNING, LOG_INFO, LOG_DEBUG };

/* Takes "LEVEL[:DOMAIN,...]" as in GPUSIM_LOG. After an error the setting stays as it was. */
int log_setup(const char *setting, struct gs_error *err);
bool log_wanted(enum log_level level, const char *domain);
void log_write(enum log_level level, const char *domain, const char *fmt, ...) GS_PRINTF(3, 4);
/* Writes bytes to stderr as they are. */
void log_raw(const char *text, size_t length);
/* Writes the report, which begins on a new line: the application may have written a line without its end. On a terminal or a
 * pipe that cannot be seen, so an empty line may come before the report. */
void log_report(const char *text, size_t length);
/* Only the gpusim command calls this: nothing else writes to its stderr. */
void log_stderr_is_ours(void);
bool log_on_terminal(void);

#define log_at(level, ...) (log_wanted(level, LOG_DOMAIN) ? log_write(level, LOG_DOMAIN, __VA_ARGS__) : (void)0)
#define log_error(...) log_at(LOG_ERROR, __VA_ARGS__)
#define log_warning(...) log_at(LOG_WARNING, __VA_ARGS__)
#define log_info(...) log_at(LOG_INFO, __VA_ARGS__)
#define log_debug(...) log_at(LOG_DEBUG, __VA_ARGS__)

#endif
