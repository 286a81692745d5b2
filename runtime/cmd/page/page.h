/*
 * page: the HTML report. report.c reads a report and writes the page. page_data.c makes the document in the page: the report,
 * with launches and commands combined so that it stays small. The folder page/ has the page itself.
 */
#ifndef GPUSIM_RUNTIME_CMD_PAGE_PAGE_H
#define GPUSIM_RUNTIME_CMD_PAGE_PAGE_H

#include "runtime/cmd/doc.h"

/* page/page.html, its style and its script. The Makefile makes these texts. */
extern const char page_html[], page_css[], page_js[];
extern const char cluster_js[]; /* the script of gpusim cluster's page */

/* Makes the document for the page. The caller frees it. NULL: out of memory. */
json_t *page_data(const json_t *report);
/* Makes the page with this script. data: JSON as text; it becomes the text of a <script> element, and nothing in it ends the element or begins a comment. */
int page_make(struct gs_buf *out, const char *js, const char *data);

#endif
