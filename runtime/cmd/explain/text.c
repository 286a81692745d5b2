/* What `gpusim explain` prints: at most 100 columns, and colours only if they are wanted; see explain.h. */
#include "runtime/cmd/explain/explain.h"

#include <stdio.h>
#include <string.h>

enum {
	WIDTH = 100,
	MIX_WIDTH = 15,
	BLOCKS_WIDTH = 7,
	LOOP_MARKS = 3,
	SOURCE_COLUMN = 5 + 1 + BLOCKS_WIDTH + 1 + 4 + 1 + MIX_WIDTH + 1 + 6 + 1 + LOOP_MARKS + 1,
	TAB = 4,
	BAR = 24,
};

enum style { PLAIN, BOLD, DIM, RED, GREEN, YELLOW, BLUE, MAGENTA, CYAN };

struct page {
	const struct explain *e;
	bool colours, unicode;
	struct gs_buf *out;
};

static void set_style(const struct page *p, enum style s)
{
	static const char *const codes[] = {"0", "1", "2", "31", "32", "33", "34", "35", "36"};
	if (p->colours)
		gs_buf_printf(p->out, "\033[%sm", codes[s]);
}

static void put_styled(const struct page *p, enum style s, const char *text)
{
	set_style(p, s);
	gs_buf_puts(p->out, text);
	set_style(p, PLAIN);
}

static void put_blanks(const struct page *p, int count)
{
	gs_buf_printf(p->out, "%*s", count > 0 ? count : 0, "");
}

/* Ends a line without the blanks that its columns may have left. */
static void end_line(const struct page *p)
{
	while (p->out->len && p->out->data[p->out->len - 1] == ' ')
		p->out->data[--p->out->len] = 0;
	gs_buf_puts(p->out, "\n");
}

/* Prints text in lines of WIDTH. All lines but the first are indented. */
static void put_wrapped(const struct page *p, const char *text, size_t length, int indent)
{
	int column = indent;
	for (const char *end = text + length; text < end;) {
		const char *blank = memchr(text, ' ', (size_t)(end - text));
		int n = (int)((blank ? blank : end) - text);
		if (column > indent && column + 1 + n > WIDTH) {
			gs_buf_printf(p->out, "\n%*s", indent, "");
			column = indent;
		} else if (column > indent) {
			gs_buf_puts(p->out, " ");
			column++;
		}
		gs_buf_add(p->out, text, (size_t)n);
		column += n;
		text += n + (blank != NULL);
	}
	end_line(p);
}

/* ---- the source ---- */

static enum style family_style(enum explain_family f)
{
	switch (f) {
	case FAMILY_global:
	case FAMILY_shared:
	case FAMILY_private:
	case FAMILY_texture:
	case FAMILY_atomic:
		return YELLOW;
	case FAMILY_fp32:
	case FAMILY_fp64:
	case FAMILY_sfu:
	case FAMILY_tensor:
		return GREEN;
	case FAMILY_int:
	case FAMILY_logic:
		return CYAN;
	case FAMILY_branch:
	case FAMILY_barrier:
		return MAGENTA;
	default:
		return DIM;
	}
}

/* Prints "12I 4G 2M", as much of it as fits. */
static void put_mix(const struct page *p, const struct explain_line *l)
{
	enum explain_family order[FAMILY_COUNT];
	size_t count = explain_mix(l, order);
	int column = 0;
	for (size_t i = 0; i < count; i++) {
		char word[16];
		int n = snprintf(word, sizeof word, "%s%u%c", i ? " " : "", l->families[order[i]],
				 explain_letter(order[i]));
		bool last = i + 1 == count;
		if (column + n > MIX_WIDTH - (last ? 0 : 1)) {
			gs_buf_puts(p->out, "+");
			column++;
			break;
		}
		put_styled(p, family_style(order[i]), word);
		column += n;
	}
	put_blanks(p, MIX_WIDTH - column);
}

static void put_block_list(const struct page *p, const struct explain_line *l)
{
	struct gs_buf text = {0};
	explain_blocks(l, &text);
	if (text.len > BLOCKS_WIDTH)
		gs_buf_printf(p->out, "%.*s+", BLOCKS_WIDTH - 1, text.data);
	else
		gs_buf_printf(p->out, "%-*s", BLOCKS_WIDTH, text.data ? text.data : "");
	gs_buf_free(&text);
}

/* Red for a quarter of all cycles or more, yellow for a tenth. */
static void put_cycles(const struct page *p, const struct explain_kernel *k, const struct explain_line *l)
{
	double share = k->all.cycles > 0 ? l->cycles / k->all.cycles : 0;
	set_style(p, l == &k->all || share < 0.1 ? PLAIN : share < 0.25 ? YELLOW : RED);
	gs_buf_printf(p->out, "%6.0f", l->cycles);
	set_style(p, PLAIN);
}

static void put_gutter(const struct page *p, const struct explain_kernel *k, const struct explain_line *l)
{
	if (!l->instructions) {
		put_blanks(p, BLOCKS_WIDTH + 1 + 4 + 1 + MIX_WIDTH + 1 + 6);
		return;
	}
	set_style(p, DIM);
	put_block_list(p, l);
	set_style(p, PLAIN);
	gs_buf_printf(p->out, " %4u ", l->instructions);
	put_mix(p, l);
	gs_buf_puts(p->out, " ");
	put_cycles(p, k, l);
}

static void put_loop_marks(const struct page *p, const struct explain_kernel *k, uint32_t line)
{
	const struct explain_range *loop = explain_loop_of(&p->e->source, line);
	bool unrolled = loop && k->unrolled[loop - p->e->source.loops];
	uint32_t marks = !loop ? 0 : loop->depth < LOOP_MARKS ? loop->depth : LOOP_MARKS;
	set_style(p, unrolled ? DIM : BLUE);
	for (uint32_t i = 0; i < marks; i++) {
		bool gone = unrolled && i + 1 == marks;
		gs_buf_puts(p->out, p->unicode ? (gone ? "\u250a" : "\u2502") : gone ? ":" : "|");
	}
	set_style(p, PLAIN);
	put_blanks(p, LOOP_MARKS - (int)marks);
}

/* Prints one line, cut at the right edge. Tabs become blanks, and nothing is printed that could move the cursor. Columns are
 * the first bytes of UTF-8 sequences. */
static void put_source(const struct page *p, const char *text)
{
	int column = 0;
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;
		int n = c == '\t' ? TAB - column % TAB : (c & 0xc0) == 0x80 ? 0 : 1;
		if (n && column + n > WIDTH - SOURCE_COLUMN - (text[1] ? 1 : 0)) {
			put_styled(p, DIM, p->unicode ? "\u2026" : ">");
			return;
		}
		if (c == '\t')
			put_blanks(p, n);
		else
			gs_buf_add(p->out, c < ' ' || c == 127 ? "?" : text, 1);
		column += n;
	}
}

static void put_line(const struct page *p, const struct explain_kernel *k, uint32_t line)
{
	set_style(p, DIM);
	gs_buf_printf(p->out, "%5u ", line);
	set_style(p, PLAIN);
	put_gutter(p, k, &k->lines[line]);
	gs_buf_puts(p->out, " ");
	put_loop_marks(p, k, line);
	gs_buf_puts(p->out, " ");
	put_source(p, p->e->source.lines[line]);
	end_line(p);
}

static void put_place(const struct page *p, const struct explain_kernel *k, const char *name, uint32_t number,
                      const struct explain_line *l)
{
	put_blanks(p, 6);
	put_gutter(p, k, l);
	put_blanks(p, 1 + LOOP_MARKS + 1);
	if (number)
		gs_buf_printf(p->out, "%s:%u", name, number);
	else
		gs_buf_puts(p->out, name);
	end_line(p);
}

static void put_lines(const struct page *p, const struct explain_kernel *k)
{
	bool gap = false, any = false;
	put_styled(p, BOLD, " line blocks  inst mix             cycles     source");
	gs_buf_puts(p->out, "\n");
	for (uint32_t line = 1; line <= p->e->source.line_count; line++) {
		if (!explain_shows(p->e, k, line)) {
			gap = any;
			continue;
		}
		if (gap)
			put_styled(p, DIM, "  ...\n");
		put_line(p, k, line);
		gap = false;
		any = true;
	}
	for (size_t i = 0; i < k->place_count; i++)
		put_place(p, k, k->places[i].file, k->places[i].number, &k->places[i].line);
	if (k->elsewhere.instructions)
		put_place(p, k, "(the compiler's own)", 0, &k->elsewhere);
	put_place(p, k, "all, every block once", 0, &k->all);
}

/* Prints an entry of the legend, on a new line if it does not fit. `width` counts columns, not bytes. */
static void put_entry(const struct page *p, const char *text, int width, int *column)
{
	if (*column + 3 + width > WIDTH) {
		gs_buf_puts(p->out, "\n");
		*column = 0;
	}
	put_blanks(p, *column ? 3 : 6);
	gs_buf_puts(p->out, text);
	*column += (*column ? 3 : 6) + width;
}

static void put_legend(const struct page *p, const struct explain_kernel *k)
{
	int column = 0;
	char entry[64];
	set_style(p, DIM);
	for (int f = 0; f < FAMILY_COUNT; f++)
		if (k->all.families[f]) {
			int n = snprintf(entry, sizeof entry, "%c %s", explain_letter((enum explain_family)f),
			                 explain_family_text((enum explain_family)f));
			put_entry(p, entry, n, &column);
		}
	if (explain_has_loop(p->e, k)) {
		put_entry(p, p->unicode ? "\u2502 loop" : "| loop", 6, &column);
		put_entry(p, p->unicode ? "\u250a unrolled" : ": unrolled", 10, &column);
	}
	set_style(p, PLAIN);
	gs_buf_puts(p->out, "\n");
}

/* ---- occupancy ---- */

static void put_bar(const struct page *p, double fraction)
{
	int full = (int)(fraction * BAR + 0.5);
	set_style(p, fraction >= 0.5 ? GREEN : fraction >= 0.25 ? YELLOW : RED);
	for (int i = 0; i < full; i++)
		gs_buf_puts(p->out, p->unicode ? "\u2588" : "#");
	set_style(p, DIM);
	for (int i = full; i < BAR; i++)
		gs_buf_puts(p->out, p->unicode ? "\u2591" : ".");
	set_style(p, PLAIN);
}

static void put_occupancy_row(const struct page *p, const struct explain_kernel *k, uint64_t threads, bool chosen)
{
	struct occupancy o = explain_occupancy(p->e, k, threads);
	gs_buf_printf(p->out, "%s%11llu ", chosen ? ">" : " ", (unsigned long long)threads);
	if (!o.blocks_per_sm) {
		put_styled(p, RED, "        does not fit");
	} else {
		gs_buf_printf(p->out, "%9u %9u %9.0f%%  ", o.blocks_per_sm, o.blocks_per_sm * o.warps_per_block,
		              100 * o.fraction);
		put_bar(p, o.fraction);
		gs_buf_printf(p->out, "  %s", occupancy_limit_name(o.limit));
	}
	end_line(p);
}

static void put_occupancy(const struct page *p, const struct explain_kernel *k)
{
	uint64_t chosen = p->e->local_threads;
	bool shown = !chosen;
	put_styled(p, BOLD, "  local size groups/SM  warps/SM  occupancy");
	put_blanks(p, BAR - 5 + 2);
	put_styled(p, BOLD, "     limited by");
	gs_buf_puts(p->out, "\n");
	for (const uint32_t *size = explain_local_sizes; *size; size++) {
		if (!shown && chosen <= *size) {
			put_occupancy_row(p, k, chosen, true);
			shown = true;
			if (chosen == *size)
				continue;
		}
		if (*size <= p->e->gpu.max_threads_per_block)
			put_occupancy_row(p, k, *size, false);
	}
	if (!shown)
		put_occupancy_row(p, k, chosen, true);
}

/* ---- everything ---- */

static void put_notes(const struct page *p, const struct explain_kernel *k)
{
	struct gs_buf notes = {0};
	explain_notes(p->e, k, &notes);
	if (notes.len)
		gs_buf_puts(p->out, "\n");
	for (const char *at = notes.data ? notes.data : "", *end; *at; at = end + 1) {
		end = strchr(at, '\n');
		put_styled(p, YELLOW, "  * ");
		put_wrapped(p, at, (size_t)(end - at), 4);
	}
	gs_buf_free(&notes);
}

static void put_kernel(const struct page *p, const struct explain_kernel *k)
{
	struct gs_buf summary = {0};
	explain_summary(p->e, k, &summary);
	gs_buf_puts(p->out, "\n");
	put_styled(p, BOLD, k->name);
	gs_buf_puts(p->out, "\n  ");
	put_wrapped(p, summary.data ? summary.data : "", summary.len, 2);
	gs_buf_puts(p->out, "\n");
	put_lines(p, k);
	put_legend(p, k);
	gs_buf_puts(p->out, "\n");
	put_occupancy(p, k);
	put_notes(p, k);
	gs_buf_free(&summary);
}

void explain_text(const struct explain *e, bool colours, bool unicode, struct gs_buf *out)
{
	struct page p = {.e = e, .colours = colours, .unicode = unicode, .out = out};
	put_styled(&p, BOLD, e->source.file);
	gs_buf_printf(out, " on %s (%s, %u SMs, %.0f MHz)\n", e->gpu.title, e->gpu.arch, e->gpu.sm_count,
		      e->gpu.clock_mhz);
	for (size_t i = 0; i < e->kernel_count; i++)
		put_kernel(&p, &e->kernels[i]);
	for (const char *at = e->failures.data ? e->failures.data : "", *end; *at; at = end + 1) {
		end = strchr(at, '\n');
		put_styled(&p, RED, "\n  not analysed: ");
		put_wrapped(&p, at, (size_t)(end - at), 4);
	}
}
