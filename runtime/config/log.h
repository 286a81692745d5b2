/*
 * log: messages on stderr, level x domain. Each .c that logs names its domain once:
 *     #define LOG_DOMAIN "twin"
 * A message is one write of one line that begins with "gpusim: ". It never goes to stdout, and nowhere
 * when the process started without a stderr (its number may be the application's file by now).
 */
#ifndef GPUSIM_RUNTIME_CONFIG_LOG_H
#define GPUSIM_RUNTIME_CONFIG_LOG_H

#include "runtime/base/base.h"

enum log_level { LOG_ERROR, LOG_WARNING, LOG_INFO, LOG_DEBUG };

/* "LEVEL[:DOMAIN,...]" as in GPUSIM_LOG; on a bad one the setting stays as it was. */
int log_setup(const char *setting, struct gs_error *err);
bool log_wanted(enum log_level level, const char *domain);
void log_write(enum log_level level, const char *domain, const char *fmt, ...) GS_PRINTF(3, 4);
/* Bytes to stderr as they are. */
void log_raw(const char *text, size_t length);
/* The report, from the beginning of a line on: the application may have left one open. Where that cannot be seen, on a terminal or a
 * pipe, an empty line may come before it. */
void log_report(const char *text, size_t length);
/* Nobody else writes to it: the command's. */
void log_stderr_is_ours(void);
bool log_on_terminal(void);

#define log_at(level, ...) (log_wanted(level, LOG_DOMAIN) ? log_write(level, LOG_DOMAIN, __VA_ARGS__) : (void)0)
#define log_error(...) log_at(LOG_ERROR, __VA_ARGS__)
#define log_warning(...) log_at(LOG_WARNING, __VA_ARGS__)
#define log_info(...) log_at(LOG_INFO, __VA_ARGS__)
#define log_debug(...) log_at(LOG_DEBUG, __VA_ARGS__)

#endif
