/*
 * Places of blocks in the files that the user wrote.
 *
 * Preprocessing keeps most lines but few columns: macros are replaced, comments and rows of blanks disappear. So if the line of some
 * block is not what the user wrote, the user's files are parsed, too. Both trees have the same tokens, and are walked side by side.
 * What a macro produced is at the macro's name. What came from a macro's argument is at the argument. What ends inside of a macro
 * ends where the macro's name or arguments end.
 */
#include "annotator/source/origins.h"

#include "annotator/source/array.h"
#include "annotator/source/cursors.h"
#include "annotator/source/parse.h"
#include "annotator/source/scan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A cursor begins or ends at `at` in the unit's text, and at `origin` in the user's file. */
struct origin_point {
	size_t at;
	bool end;
	CXSourceLocation origin;
};

struct origins {
	struct origin_point *points;
	size_t count;
	bool failed;
};

/* ---- whether there is anything to do ---- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Whether the lines are the same up to a column. The preprocessor writes a space for any blank. */
static bool is_same_line(const char *ours, const char *theirs, size_t length, size_t left)
{
	if (length > left)
		return false;
	for (size_t i = 0; i < length; i++)
		if (ours[i] != theirs[i] && !(is_blank(ours[i]) && is_blank(theirs[i])))
			return false;
	return true;
}

static size_t line_begin(const char *text, size_t at)
{
	while (at && text[at - 1] != '\n')
		at--;
	return at;
}

static bool is_as_written(const struct parsed_unit *u, size_t at, unsigned line, const size_t *lines, size_t line_count,
                          const struct gs_buf *written)
{
	size_t begin = line_begin(u->text, at);
	return line < line_count && is_same_line(u->text + begin, written->data + lines[line], at - begin, written->len - lines[line]);
}

/* Where the lines of the user's source begin, from 1 on. The first line of the file is not the user's. */
static size_t *find_lines(const struct gs_buf *written, size_t *count)
{
	size_t *lines = NULL, *line = array_grow(&lines, count, sizeof *lines);
	for (size_t i = 0; line && i < written->len; i++)
		if (written->data[i] == '\n' && (line = array_grow(&lines, count, sizeof *lines)))
			*line = i + 1;
	if (line)
		return lines;
	free(lines);
	return NULL;
}

/* Whether some block has another place in the user's source. Blocks of other files are compared with it, too: they differ. */
static bool moves_blocks(const struct annotation *a, size_t unit, const struct gs_buf *written)
{
	size_t count = 0, *lines = find_lines(written, &count);
	bool same = lines;
	for (size_t i = 0; i < a->block_count && same; i++) {
		const struct block *b = &a->blocks[i];
		same = b->unit != unit || (is_as_written(&a->units[unit], b->at, b->place.line, lines, count, written) &&
		                           is_as_written(&a->units[unit], b->end_at, b->end.line, lines, count, written));
	}
	free(lines);
	return !same;
}

/* ---- both trees ---- */

static void add_point(struct origins *o, CXSourceLocation ours, CXSourceLocation theirs, bool end)
{
	struct origin_point *p = array_grow(&o->points, &o->count, sizeof *p);
	if (p)
		*p = (struct origin_point){.at = offset_of(ours), .end = end, .origin = theirs};
	o->failed |= !p;
}

static void walk_both(struct origins *o, CXCursor ours, CXCursor theirs)
{
	CXSourceRange our_range = clang_getCursorExtent(ours), their_range = clang_getCursorExtent(theirs);
	if (clang_getCursorKind(ours) != clang_getCursorKind(theirs) || clang_Range_isNull(our_range) || clang_Range_isNull(their_range))
		return;
	add_point(o, clang_getRangeStart(our_range), clang_getRangeStart(their_range), false);
	add_point(o, clang_getCursorLocation(ours), clang_getCursorLocation(theirs), false); /* a function's block begins at its name */
	add_point(o, clang_getRangeEnd(our_range), clang_getRangeEnd(their_range), true);
	struct children c = children_of(ours), d = children_of(theirs);
	for (size_t i = 0; i < c.count && c.count == d.count && !o->failed; i++)
		walk_both(o, c.items[i], d.items[i]);
	o->failed |= c.failed || d.failed;
	free(c.items);
	free(d.items);
}

static bool is_same_function(CXCursor a, CXCursor b)
{
	CXString x = clang_getCursorSpelling(a), y = clang_getCursorSpelling(b);
	bool same = !strcmp(clang_getCString(x), clang_getCString(y));
	clang_disposeString(x);
	clang_disposeString(y);
	return same;
}

static size_t next_definition(const struct children *c, size_t i)
{
	while (i < c->count && (clang_getCursorKind(c->items[i]) != CXCursor_FunctionDecl || !clang_isCursorDefinition(c->items[i])))
		i++;
	return i;
}

static void walk_units(struct origins *o, CXTranslationUnit ours, CXTranslationUnit theirs)
{
	struct children c = children_of(clang_getTranslationUnitCursor(ours)), d = children_of(clang_getTranslationUnitCursor(theirs));
	size_t i = next_definition(&c, 0), j = next_definition(&d, 0);
	while (i < c.count && j < d.count && is_same_function(c.items[i], d.items[j])) {
		walk_both(o, c.items[i], d.items[j]);
		i = next_definition(&c, i + 1);
		j = next_definition(&d, j + 1);
	}
	free(c.items);
	free(d.items);
}

/* ---- places from points ---- */

static int compare_points(const void *a, const void *b)
{
	const struct origin_point *x = a, *y = b;
	return x->at != y->at ? (x->at > y->at) - (x->at < y->at) : x->end - y->end;
}

/* The point at `at`. There may be two, where one thing ends and another begins: prefers the one that is asked for. */
static const struct origin_point *find_point(const struct origins *o, size_t at, bool end)
{
	struct origin_point key = {.at = at, .end = end};
	const struct origin_point *p = bsearch(&key, o->points, o->count, sizeof *o->points, compare_points);
	key.end = !end;
	return p ? p : bsearch(&key, o->points, o->count, sizeof *o->points, compare_points);
}

/* The place after the name of the macro at `at`, and after its arguments if there are some. */
static unsigned after_macro(CXTranslationUnit tu, CXFile file, unsigned at)
{
	size_t length;
	const char *text = clang_getFileContents(tu, file, &length);
	size_t end = text ? scan_word(text, length, at) : at;
	size_t close = end < length && text[end] == '(' ? scan_closing(text, length, end) : length;
	return (unsigned)(close < length ? close + 1 : end);
}

/* libclang puts everything inside of a macro where the macro's name begins, even its end. */
static CXSourceLocation origin_of(CXTranslationUnit tu, const struct origin_point *p)
{
	CXFile file, spelled, expanded;
	unsigned at, spelled_at, expanded_at;
	clang_getFileLocation(p->origin, &file, NULL, NULL, &at);
	clang_getSpellingLocation(p->origin, &spelled, NULL, NULL, &spelled_at);
	clang_getExpansionLocation(p->origin, &expanded, NULL, NULL, &expanded_at);
	if (!file)
		return clang_getNullLocation();
	if (p->end && clang_File_isEqual(file, expanded) && at == expanded_at && (!clang_File_isEqual(file, spelled) || at != spelled_at))
		at = after_macro(tu, file, at);
	return clang_getLocationForOffset(tu, file, at);
}

static int set_place(struct annotation *a, CXTranslationUnit tu, const struct origin_point *p, const char *folder,
                     struct source_place *out)
{
	CXSourceLocation origin = p ? origin_of(tu, p) : clang_getNullLocation();
	size_t length = strlen(folder);
	struct source_place place;
	if (clang_equalLocations(origin, clang_getNullLocation()))
		return 0;
	if (place_of(a, origin, &place))
		return -ENOMEM;
	if (!strncmp(place.file, folder, length) && place.file[length] == '/')
		place.file += length + 1;
	*out = place;
	return 0;
}

static int set_places(struct annotation *a, size_t unit, struct origins *o, CXTranslationUnit tu, const char *folder)
{
	int result = 0;
	if (o->count)
		qsort(o->points, o->count, sizeof *o->points, compare_points);
	for (size_t i = 0; i < a->block_count && o->count && !result; i++) {
		struct block *b = &a->blocks[i];
		if (b->unit == unit && (set_place(a, tu, find_point(o, b->at, false), folder, &b->place) ||
		                        set_place(a, tu, find_point(o, b->end_at, true), folder, &b->end)))
			result = -ENOMEM;
	}
	return result;
}

int find_origins(struct annotation *a, size_t unit, const struct annotator_original *original, struct gs_error *err)
{
	CXTranslationUnit tu = NULL;
	struct gs_buf written = {0};
	struct origins o = {0};
	int count = 0, result = 0;
	while (original->clang_args[count])
		count++;
	if (!gs_read_file(original->path, &written, NULL) && moves_blocks(a, unit, &written) &&
	    !clang_parseTranslationUnit2(a->index, original->path, original->clang_args, count, NULL, 0, CXTranslationUnit_KeepGoing, &tu)) {
		walk_units(&o, a->units[unit].tu, tu);
		result = o.failed ? -ENOMEM : set_places(a, unit, &o, tu, original->folder);
	}
	if (tu)
		clang_disposeTranslationUnit(tu);
	free(o.points);
	gs_buf_free(&written);
	return result ? gs_fail(err, ENOMEM, "out of memory") : 0;
}
