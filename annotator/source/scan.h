/*
 * Finds places in preprocessed text that libclang does not report.
 *
 * Every function that searches returns `length` if it finds nothing.
 */
#ifndef GPUSIM_ANNOTATOR_SOURCE_SCAN_H
#define GPUSIM_ANNOTATOR_SOURCE_SCAN_H

#include <stdbool.h>
#include <stddef.h>

/* The number of the line that contains `at`, by the line markers before it. *name is the file's name in the last of these markers,
 * with its quotes. */
unsigned long scan_line(const char *text, size_t at, const char **name, size_t *name_length);
size_t scan_blanks(const char *text, size_t length, size_t at); /* skips white space and # lines */
/* The next character at or after `at` that is in no # line and no literal. */
size_t scan_significant(const char *text, size_t length, size_t at);
size_t scan_closing(const char *text, size_t length, size_t open); /* the ) of the ( at `open` */
/* The place after the { at `open`, and after the pragmas and __label__ declarations that have to come first. */
size_t scan_block_start(const char *text, size_t length, size_t open);
size_t scan_word(const char *text, size_t length, size_t at); /* end of the identifier at `at` */
size_t scan_attributes(const char *text, size_t length, size_t at); /* end of the __attribute__s that follow; else `at` */
size_t scan_next_word(const char *text, size_t length, size_t at); /* the first word at or after `at` that is in no literal */
bool scan_is_word(const char *text, size_t from, size_t to, const char *word);
bool scan_is_attribute(const char *text, size_t from, size_t to); /* the word before the brackets of an attribute */
void scan_blank_unrolls(char *text, size_t length); /* replaces each #pragma unroll by a single # */
bool scan_asks_for_rounding(const char *text, size_t length); /* a pragma allows inexact arithmetic */
size_t scan_deep(const char *text, size_t length, int most); /* the first bracket inside of more than `most` of its kind */
bool scan_has_range(const char *text, size_t length, size_t at); /* [1 ... 3] in the designators at `at` */
bool scan_has_inner_statements(const char *text, size_t length);
void scan_replace_digraphs(char *text, size_t length); /* <% becomes { and so on: the other functions know one spelling only */

#endif
