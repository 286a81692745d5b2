/* show: numbers and names for people to read, each with its unit. The text report and the commands share it. */
#ifndef GPUSIM_RUNTIME_CONFIG_SHOW_H
#define GPUSIM_RUNTIME_CONFIG_SHOW_H

#include "runtime/base/base.h"

enum { SHOW_CELL = 24, SHOW_WIDTH = 100 /* columns of a report on a terminal */ };

/* Three significant digits and a unit: "12.3 us". Each of these functions returns its first argument. */
const char *show_time(char cell[SHOW_CELL], double ns);
const char *show_bytes(char cell[SHOW_CELL], double bytes);  /* "4.3 MiB" */
const char *show_count(char cell[SHOW_CELL], double number); /* "17.8 M" */
const char *show_energy(char cell[SHOW_CELL], double joules); /* "1.23 mJ" */
/* How much faster or slower something got: "1.25x faster"; "same" within half a percent. */
const char *show_change(char cell[SHOW_CELL], double before, double after);

/* A name from the user, for a terminal: without control characters, and at most `most` columns. Longer ones lose their
 * namespaces, then their middle, but first what follows the name itself. */
void show_name(struct gs_buf *b, const char *name, size_t most);

/* Columns of the terminal that a descriptor is, at least 60 and at most SHOW_WIDTH; SHOW_WIDTH of anything else. */
size_t show_width(int descriptor);

/* Text in lines of at most the columns that stderr has, if that is a terminal, else SHOW_WIDTH. Each line begins with `prefix`; all but the first then have `indent` blanks. A
 * word is cut only where it is longer than a line. A number stays with its unit. Control characters become '?'. */
void show_wrapped(struct gs_buf *b, const char *prefix, const char *text, int indent);

/* Whether to use colours on stderr or stdout (a descriptor): on a terminal, without NO_COLOR, and if TERM is not dumb. */
bool show_colours(int descriptor);
/* Escape sequences, or "" without colours. */
enum show_style { SHOW_PLAIN, SHOW_DIM, SHOW_BOLD, SHOW_HOT, SHOW_WARM, SHOW_GOOD };
const char *show_style(bool colours, enum show_style style);

#endif
