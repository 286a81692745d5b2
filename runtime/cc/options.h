/*
 * The build options of a program: split into words, then sorted by what needs them.
 */
#ifndef GPUSIM_RUNTIME_CC_OPTIONS_H
#define GPUSIM_RUNTIME_CC_OPTIONS_H

#include "runtime/base/tool.h"

struct build_options {
	struct words macros; /* -D, -U and -I, each one word, in their order: for the preprocessor */
	struct words code;   /* the -cl- options that change code or macros, without -cl-std */
	struct words host;   /* what the annotated text is built with: all but -D, -U, -I and -Werror */
	char *standard;      /* "CL1.2" for -cl-std=CL1.2; NULL if it is not given */
};

/*
 * How a text is split into words. As a shell does: blanks separate words, quotes join them, and a backslash keeps the next
 * character as it is. A quote that is not closed ends with the text, as in drivers. POCL knows double quotes only, and each of
 * them becomes a blank.
 */
enum option_quotes { QUOTES_OF_SHELLS, QUOTES_OF_POCL };
void build_options_split(const char *text, enum option_quotes quotes, struct words *out);

int build_options_read(const char *text, enum option_quotes quotes, struct build_options *out, struct gs_error *err);
void build_options_free(struct build_options *o);
/* Joins words by blanks. Words that need quotes get them. */
void build_options_join(const struct words *w, struct gs_buf *out);

#endif
