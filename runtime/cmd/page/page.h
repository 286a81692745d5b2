/*
 * page: the HTML report. report.c reads a report and writes the page, page_data.c makes the document that the page
 * carries: the report, with launches and commands put together so that it stays small. page/ has the page itself.
 */
#ifndef GPUSIM_RUNTIME_CMD_PAGE_PAGE_H
#define GPUSIM_RUNTIME_CMD_PAGE_PAGE_H

#include "runtime/cmd/doc.h"

/* page/page.html with its style and its script, made by the Makefile. */
extern const char page_html[], page_css[], page_js[];

/* The document for the page; the caller frees it. NULL: out of memory. */
json_t *page_data(const json_t *report);
/* A document as text for a <script> element: nothing in it ends the element or begins a comment. */
int page_embed(struct gs_buf *out, const json_t *data);

#endif
