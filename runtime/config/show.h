/* show: numbers and names as people read them, each with its unit. What the text report and the command share. */
#ifndef GPUSIM_RUNTIME_CONFIG_SHOW_H
#define GPUSIM_RUNTIME_CONFIG_SHOW_H

#include "runtime/base/base.h"

enum { SHOW_CELL = 24, SHOW_WIDTH = 100 /* columns of a report on a terminal */ };

/* Three digits that matter and a unit: "12.3 us". Each returns its first argument. */
const char *show_time(char cell[SHOW_CELL], double ns);
const char *show_bytes(char cell[SHOW_CELL], double bytes);  /* "4.3 MiB" */
const char *show_count(char cell[SHOW_CELL], double number); /* "17.8 M" */
/* What got how much faster: "1.25x faster", "same" within half a percent. */
const char *show_change(char cell[SHOW_CELL], double before, double after);

/* User text on a terminal: no control characters, and at most `most` columns, the middle left out where it is longer. */
void show_name(struct gs_buf *b, const char *name, size_t most);

/* Text in lines of at most SHOW_WIDTH columns: `prefix` begins each, then `indent` blanks those after the
 * first. Words are cut only where one alone is too long, and a number keeps its unit. Control characters become '?'. */
void show_wrapped(struct gs_buf *b, const char *prefix, const char *text, int indent);

/* Whether stderr or stdout (a descriptor) wants colours: a terminal, no NO_COLOR, TERM not dumb. */
bool show_colours(int descriptor);
/* Escape sequences, or "" without colours. */
enum show_style { SHOW_PLAIN, SHOW_DIM, SHOW_BOLD, SHOW_HOT, SHOW_WARM, SHOW_GOOD };
const char *show_style(bool colours, enum show_style style);

#endif
