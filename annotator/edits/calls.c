/*
 * The edits of calls. A call of one of the units' functions gets the counters as its last argument. A call of a builtin whose
 * answer depends on the box goes to a box function. Calls of printf go to a macro.
 */
#include "annotator/edits/calls.h"

#include "annotator/edits/box_calls.h"
#include "annotator/source/parse.h"
#include "annotator/source/scan.h"

#include <string.h>

static bool is_printf(CXCursor call)
{
	CXString name = clang_getCursorSpelling(call);
	bool found = !strcmp(clang_getCString(name) ? clang_getCString(name) : "", "printf");
	clang_disposeString(name);
	return found;
}

/* Edits the call of a builtin that depends on the box, or that prints. */
static int edit_builtin_call(struct edit_pass *pass, CXCursor call)
{
	struct parsed_unit *u = pass->unit;
	int function = box_function_of(call);
	bool prints = is_printf(call);
	if (function < 0 && !prints)
		return 0;
	CXSourceRange extent = clang_getCursorExtent(call);
	size_t name = offset_of(clang_getRangeStart(extent)), name_end = scan_word(u->text, u->length, name);
	CXString builtin = clang_getCursorSpelling(call);
	bool named = scan_is_word(u->text, name, name_end, clang_getCString(builtin));
	clang_disposeString(builtin);
	if (!named)
		return refuse(clang_getRangeStart(extent), pass->err, "a call that does not name its function");
	u->prints |= prints;
	u->box_functions |= prints ? 0 : 1u << function;
	struct edit *e = add_edit(pass, prints ? EDIT_PRINT : EDIT_BOX, name, name_end - name);
	if (e)
		e->block = (unsigned)function;
	return pass->result;
}

int edit_callee(struct edit_pass *pass, CXCursor call)
{
	const struct parsed_unit *u = pass->unit;
	const struct function *target = called_function(pass->a, call);
	if (!target)
		return edit_builtin_call(pass, call);
	CXSourceRange extent = clang_getCursorExtent(call);
	size_t name = offset_of(clang_getRangeStart(extent)), close = offset_of(clang_getRangeEnd(extent)) - 1;
	if (!scan_is_word(u->text, name, scan_word(u->text, u->length, name), target->name) || close >= u->length ||
	    u->text[close] != ')')
		return refuse(clang_getRangeStart(extent), pass->err, "a call that does not name its function");
	if (target->kernel && target == pass->function) /* its clone is declared after it */
		return refuse(clang_getRangeStart(extent), pass->err, "a kernel that calls itself");
	if (target->kernel)
		add_edit(pass, EDIT_CALLEE, name, 0);
	return pass->result;
}

int edit_argument(struct edit_pass *pass, CXCursor call)
{
	const struct function *target = called_function(pass->a, call);
	if (!target && box_function_of(call) < 0)
		return 0;
	size_t close = offset_of(clang_getRangeEnd(clang_getCursorExtent(call))) - 1;
	struct edit *e = add_edit(pass, target ? EDIT_ARGUMENT : EDIT_BOX_END, close, 0);
	if (e) {
		e->callee = target;
		e->alone = clang_Cursor_getNumArguments(call) == 0;
	}
	return pass->result;
}
