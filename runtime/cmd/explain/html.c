/* The page of `gpusim explain --html`, one file that needs no other; see explain.h. */
#include "runtime/cmd/explain/explain.h"

#include <string.h>

static const char head[] =
	"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";

static const char style[] =
    "<style>\n"
    ":root{color-scheme:light dark;--bg:#fbfbfa;--card:#fff;--text:#1d2329;--dim:#6c757d;--line:#e3e5e8;--bar:#2f7ed8;"
    "--rest:#e3e8ee;--hot:220,60,40;--int:#0b7285;--real:#2b8a3e;--memory:#b35c00;--control:#9c36b5;--loop:#4c6ef5}\n"
    "@media(prefers-color-scheme:dark){:root{--bg:#14171a;--card:#1b1f24;--text:#dfe4ea;--dim:#8b949e;--line:#2d333b;"
    "--bar:#58a6ff;--rest:#2d333b;--hot:255,110,90;--int:#66d9e8;--real:#8ce99a;--memory:#ffc078;--control:#e599f7;"
    "--loop:#91a7ff}}\n"
    "body{margin:0 auto;max-width:1200px;padding:1.5rem;background:var(--bg);color:var(--text);"
    "font:15px/1.5 system-ui,sans-serif}\n"
    "h1{font-size:1.4rem;margin:0}h2{font:600 1.15rem ui-monospace,monospace;margin:2rem 0 .25rem}"
    "p{margin:.2rem 0 .8rem;color:var(--dim)}nav a{margin-right:1em;color:var(--bar)}\n"
    "section{background:var(--card);border:1px solid var(--line);border-radius:8px;margin:.6rem 0;overflow-x:auto}\n"
    "table{border-collapse:collapse;width:100%}th,td{padding:.1rem .6rem;text-align:right;white-space:nowrap}\n"
    "th{font-weight:600;color:var(--dim);border-bottom:1px solid var(--line);padding:.4rem .6rem}\n"
    ".source{font:13px/1.45 ui-monospace,monospace}.source td.code,.source th.code{text-align:left;white-space:pre;"
    "tab-size:4;width:100%}\n"
    ".n,.b{color:var(--dim)}td.code.l{border-left:3px solid var(--loop)}td.code.u{border-left:3px dotted var(--loop)}\n"
    ".m{text-align:left}.m b{font-weight:500;margin-right:.5em}.I,.L{color:var(--int)}.F,.D,.S,.W{color:var(--real)}"
    ".G,.H,.P,.T,.A{color:var(--memory)}.B,.X{color:var(--control)}\n"
    "tr.gap td{color:var(--dim);text-align:left}tr.sum td{border-top:1px solid var(--line);font-weight:600}\n"
    ".bar{display:inline-block;width:14rem;height:.7rem;background:var(--rest);border-radius:3px;vertical-align:middle}"
    "\n"
    ".bar i{display:block;height:100%;background:var(--bar);border-radius:3px}tr.chosen td{font-weight:700}\n"
    "td.left,th.left{text-align:left}ul{color:var(--dim)}\n"
    "</style>\n";

/* ---- the source ---- */

static void put_mix(struct gs_buf *out, const struct explain_line *l)
{
	enum explain_family order[FAMILY_COUNT];
	size_t count = explain_mix(l, order);
	gs_buf_puts(out, "<td class=\"m\">");
	for (size_t i = 0; i < count; i++)
		gs_buf_printf(out, "<b class=\"%c\" title=\"%s\">%u%c</b>", explain_letter(order[i]),
		              explain_family_text(order[i]), l->families[order[i]], explain_letter(order[i]));
	gs_buf_puts(out, "</td>");
}

/* The larger a line's share of all cycles, the darker it is. */
static void put_gutter(struct gs_buf *out, const struct explain_kernel *k, const struct explain_line *l)
{
	struct gs_buf blocks = {0};
	if (!l->instructions) {
		gs_buf_puts(out, "<td></td><td></td><td></td><td></td>");
		return;
	}
	double share = k->all.cycles > 0 && l != &k->all ? l->cycles / k->all.cycles : 0;
	explain_blocks(l, &blocks);
	gs_buf_printf(out, "<td class=\"b\">%s</td><td>%u</td>", blocks.data ? blocks.data : "", l->instructions);
	put_mix(out, l);
	gs_buf_printf(out, "<td style=\"background:rgba(var(--hot),%.2f)\">%.0f</td>", share * 0.7, l->cycles);
	gs_buf_free(&blocks);
}

static void put_line(const struct explain *e, const struct explain_kernel *k, uint32_t line, struct gs_buf *out)
{
	const struct explain_range *loop = explain_loop_of(&e->source, line);
	bool unrolled = loop && k->unrolled[loop - e->source.loops];
	gs_buf_printf(out, "<tr><td class=\"n\">%u</td>", line);
	put_gutter(out, k, &k->lines[line]);
	gs_buf_printf(out, "<td class=\"code%s\"%s>", !loop ? "" : unrolled ? " u" : " l",
	              unrolled ? " title=\"unrolled\"" : "");
	gs_buf_html(out, e->source.lines[line]);
	gs_buf_puts(out, "</td></tr>\n");
}

static void put_place(struct gs_buf *out, const struct explain_kernel *k, const struct explain_line *l,
		      const char *name, uint32_t number)
{
	gs_buf_printf(out, "<tr%s><td></td>", l == &k->all ? " class=\"sum\"" : "");
	put_gutter(out, k, l);
	gs_buf_puts(out, "<td class=\"code\">");
	gs_buf_html(out, name);
	if (number)
		gs_buf_printf(out, ":%u", number);
	gs_buf_puts(out, "</td></tr>\n");
}

static void put_source(const struct explain *e, const struct explain_kernel *k, struct gs_buf *out)
{
	bool gap = false, any = false;
	gs_buf_puts(out, "<section><table class=\"source\">\n<tr><th>line</th><th>blocks</th><th>inst</th>"
	                 "<th class=\"left\">mix</th><th>cycles</th><th class=\"code\">source</th></tr>\n");
	for (uint32_t line = 1; line <= e->source.line_count; line++) {
		if (!explain_shows(e, k, line)) {
			gap = any;
			continue;
		}
		if (gap)
			gs_buf_puts(out, "<tr class=\"gap\"><td colspan=\"6\">&#8943;</td></tr>\n");
		put_line(e, k, line, out);
		gap = false;
		any = true;
	}
	for (size_t i = 0; i < k->place_count; i++)
		put_place(out, k, &k->places[i].line, k->places[i].file, k->places[i].number);
	if (k->elsewhere.instructions)
		put_place(out, k, &k->elsewhere, "(the compiler's own)", 0);
	put_place(out, k, &k->all, "all, every block once", 0);
	gs_buf_puts(out, "</table></section>\n<p>");
	for (int f = 0; f < FAMILY_COUNT; f++)
		if (k->all.families[f])
			gs_buf_printf(out, "<b class=\"%c\">%c</b> %s&emsp;", explain_letter((enum explain_family)f),
				      explain_letter((enum explain_family)f),
				      explain_family_text((enum explain_family)f));
	gs_buf_puts(out, "</p>\n");
}

/* ---- occupancy and notes ---- */

static void put_occupancy_row(const struct explain *e, const struct explain_kernel *k, uint64_t threads, bool chosen,
                              struct gs_buf *out)
{
	struct occupancy o = explain_occupancy(e, k, threads);
	gs_buf_printf(out, "<tr%s><td>%llu</td>", chosen ? " class=\"chosen\"" : "", (unsigned long long)threads);
	if (o.blocks_per_sm)
		gs_buf_printf(out,
			      "<td>%u</td><td>%u</td><td>%.0f%%</td><td class=\"left\"><span class=\"bar\">"
			      "<i style=\"width:%.0f%%\"></i></span></td><td class=\"left\">%s</td></tr>\n",
			      o.blocks_per_sm, o.blocks_per_sm * o.warps_per_block, 100 * o.fraction, 100 * o.fraction,
			      occupancy_limit_name(o.limit));
	else
		gs_buf_puts(out, "<td colspan=\"5\" class=\"left\">does not fit</td></tr>\n");
}

static void put_occupancy(const struct explain *e, const struct explain_kernel *k, struct gs_buf *out)
{
	uint64_t chosen = e->local_threads;
	gs_buf_puts(out,
		    "<section><table>\n<tr><th>local size</th><th>groups/SM</th><th>warps/SM</th><th>occupancy</th>"
		    "<th></th><th class=\"left\">limited by</th></tr>\n");
	for (const uint32_t *size = explain_local_sizes; *size; size++) {
		if (chosen && chosen <= *size) {
			put_occupancy_row(e, k, chosen, true, out);
			if (chosen == *size) {
				chosen = 0;
				continue;
			}
			chosen = 0;
		}
		if (*size <= e->gpu.max_threads_per_block)
			put_occupancy_row(e, k, *size, false, out);
	}
	if (chosen)
		put_occupancy_row(e, k, chosen, true, out);
	gs_buf_puts(out, "</table></section>\n");
}

static void put_notes(const struct explain *e, const struct explain_kernel *k, struct gs_buf *out)
{
	struct gs_buf notes = {0};
	explain_notes(e, k, &notes);
	char *rest = notes.data, *line;
	if (notes.len)
		gs_buf_puts(out, "<ul>\n");
	while ((line = strsep(&rest, "\n")))
		if (*line) {
			gs_buf_puts(out, "<li>");
			gs_buf_html(out, line);
			gs_buf_puts(out, "</li>\n");
		}
	if (notes.len)
		gs_buf_puts(out, "</ul>\n");
	gs_buf_free(&notes);
}

static void put_kernel(const struct explain *e, const struct explain_kernel *k, struct gs_buf *out)
{
	struct gs_buf summary = {0};
	explain_summary(e, k, &summary);
	gs_buf_printf(out, "<h2 id=\"%s\">%s</h2>\n<p>", k->name, k->name); /* an identifier needs no escapes */
	gs_buf_html(out, summary.data ? summary.data : "");
	gs_buf_puts(out, "</p>\n");
	put_source(e, k, out);
	put_occupancy(e, k, out);
	put_notes(e, k, out);
	gs_buf_free(&summary);
}

void explain_html(const struct explain *e, struct gs_buf *out)
{
	gs_buf_puts(out, head);
	gs_buf_puts(out, "<title>");
	gs_buf_html(out, e->source.file);
	gs_buf_puts(out, " on ");
	gs_buf_html(out, e->gpu.title);
	gs_buf_puts(out, "</title>\n");
	gs_buf_puts(out, style);
	gs_buf_puts(out, "</head>\n<body>\n<h1>");
	gs_buf_html(out, e->source.file);
	gs_buf_puts(out, "</h1>\n<p>on ");
	gs_buf_html(out, e->gpu.title);
	gs_buf_printf(
	    out,
	    " (%s, %u SMs, %.0f MHz). Cycles: from the issue of each instruction to that of the next, one warp "
	    "alone, memory at its best, every block run once.</p>\n<nav>",
	    e->gpu.arch, e->gpu.sm_count, e->gpu.clock_mhz);
	for (size_t i = 0; i < e->kernel_count && e->kernel_count > 1; i++)
		gs_buf_printf(out, "<a href=\"#%s\">%s</a>", e->kernels[i].name, e->kernels[i].name);
	gs_buf_puts(out, "</nav>\n");
	for (size_t i = 0; i < e->kernel_count; i++)
		put_kernel(e, &e->kernels[i], out);
	if (e->failures.len) {
		gs_buf_puts(out, "<h2>not analysed</h2>\n<pre>");
		gs_buf_html(out, e->failures.data);
		gs_buf_puts(out, "</pre>\n");
	}
	gs_buf_puts(out, "</body>\n</html>\n");
}
