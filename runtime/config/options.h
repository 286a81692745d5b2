/* The options of options.def, read from the environment or from flags. */
#ifndef GPUSIM_RUNTIME_CONFIG_OPTIONS_H
#define GPUSIM_RUNTIME_CONFIG_OPTIONS_H

#include "runtime/base/base.h"

enum option_type { OPTION_TEXT, OPTION_FLAG, OPTION_CHOICE, OPTION_LIST, OPTION_SIZE, OPTION_SECONDS, OPTION_COUNT, OPTION_NUMBER };

struct option_value {
	char *text;      /* as written; owned */
	uint64_t number; /* FLAG, SIZE, SECONDS, COUNT, NUMBER; CHOICE: index of the word; LIST: bit i for word i */
	bool given;      /* it is not what holds where nobody says it */
};

struct gs_options {
#define OPTION(field, name, type, fallback, allowed, help) struct option_value field;
#include "runtime/config/options.def"
#undef OPTION
};

enum { REPORT_TEXT = 1, REPORT_JSON = 2, REPORT_CSV = 4, REPORT_HTML = 8, REPORT_TRACE = 16, REPORT_NONE = 32 };
enum { TEXT_QUIET, TEXT_NORMAL, TEXT_VERBOSE };
enum { MEMORY_PERFECT, MEMORY_HIERARCHY };
enum { SAMPLING_AUTO, SAMPLING_OFF };
enum { OFFER_AUTO, OFFER_ALWAYS, OFFER_NEVER };
enum { TRACE_AUTO, TRACE_ALL, TRACE_NEVER };
enum { CUDA_HOST_CPU, CUDA_HOST_GPU };
enum { TWINS_AUTO, TWINS_DIRECT, TWINS_SHADOW, TWINS_VERIFY };
enum { LIMITS_TARGET, LIMITS_HOST };
enum { PROFILING_HOST, PROFILING_SIMULATED };
enum { IDENTITY_HOST, IDENTITY_TARGET };

struct option_row {
	const char *name, *fallback, *allowed, *help;
	enum option_type type;
	size_t offset; /* where the option_value is in struct gs_options */
};

size_t options_rows(const struct option_row **rows);
/* `name` is NAME of GPUSIM_NAME, or a flag (lower case, '-'). NULL when there is no such option. */
const struct option_row *options_find(const char *name);
const char *options_nearest(const char *name); /* "GPUSIM_..." close to a full variable name, or NULL */
/* What holds where an option is not given, and its help without that. A help that ends in "; default: WHAT" says it in words. */
const char *options_default(const struct option_row *row);
int options_help_length(const struct option_row *row);
void options_flag_name(const struct option_row *row, char *out, size_t size); /* "--cache-dir" */

void options_defaults(struct gs_options *o);
/* After a bad value the old one stays, and *err says what is allowed. `who` is the name of the variable or flag, for messages. */
int options_set(struct gs_options *o, const struct option_row *row, const char *who, const char *value,
                struct gs_error *err);
/* Takes GPUSIM_* from the environment. Each complaint is one line; that option keeps its default. */
void options_from_environment(struct gs_options *o, char *const *environment, void (*complain)(const char *line));
void options_free(struct gs_options *o);

#endif
