/* Parsing with libclang, its errors, and places in the user's files. */
#include "annotator/source/parse.h"

#include "annotator/source/scan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

unsigned offset_of(CXSourceLocation location)
{
	unsigned offset;
	clang_getFileLocation(location, NULL, NULL, NULL, &offset);
	return offset;
}

int place_of(struct annotation *a, CXSourceLocation location, struct source_place *out)
{
	CXString file;
	clang_getPresumedLocation(location, &file, &out->line, &out->column);
	const char *name = clang_getCString(file);
	out->file = keep_string(a, name ? name : "");
	clang_disposeString(file);
	return out->file ? 0 : -ENOMEM;
}

int refuse(CXSourceLocation location, struct gs_error *err, const char *what)
{
	CXString file;
	unsigned line, column;
	clang_getPresumedLocation(location, &file, &line, &column);
	const char *name = clang_getCString(file);
	int result = gs_fail(err, ENOTSUP, "%s:%u:%u: %s", name ? name : "", line, column, what);
	clang_disposeString(file);
	return result;
}

/* Reports the first error of the compiler, if there is one. */
static int check_diagnostics(CXTranslationUnit tu, struct gs_error *err)
{
	int result = 0;
	for (unsigned i = 0; i < clang_getNumDiagnostics(tu) && !result; i++) {
		CXDiagnostic diagnostic = clang_getDiagnostic(tu, i);
		if (clang_getDiagnosticSeverity(diagnostic) >= CXDiagnostic_Error) {
			CXString text = clang_getDiagnosticSpelling(diagnostic);
			refuse(clang_getDiagnosticLocation(diagnostic), err, clang_getCString(text));
			result = -EINVAL;
			clang_disposeString(text);
		}
		clang_disposeDiagnostic(diagnostic);
	}
	return result;
}

/*
 * The units get different file names: by these libclang distinguishes the static functions of one unit from those of another.
 * Clang itself limits the recursion of the parser.
 */
int parse_unit(struct annotation *a, const struct annotator_unit *source, size_t index, struct gs_error *err)
{
	struct parsed_unit *u = &a->units[index];
	char name[48];
	int count = 0;
	u->text = malloc(source->length + 1);
	if (!u->text)
		return gs_fail(err, ENOMEM, "out of memory");
	memcpy(u->text, source->text, source->length);
	u->text[source->length] = 0;
	u->length = source->length;
	scan_replace_digraphs(u->text, u->length);
	u->inner_statements = scan_has_inner_statements(u->text, u->length);
	snprintf(name, sizeof name, "__gpusim_unit_%zu.cl", index);
	while (source->clang_args[count])
		count++;
	struct CXUnsavedFile unsaved = {.Filename = name, .Contents = u->text, .Length = u->length};
	enum CXErrorCode code = clang_parseTranslationUnit2(a->index, name, source->clang_args, count, &unsaved, 1,
	                                                    CXTranslationUnit_KeepGoing, &u->tu);
	if (code)
		return gs_fail(err, EIO, "the parser failed (%s)",
		               code == CXError_Crashed ? "crashed" : "libclang error");
	u->file = clang_getFile(u->tu, name);
	return check_diagnostics(u->tu, err);
}
