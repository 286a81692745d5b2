/*
 * The names that a text declares at file scope. A second text that declares the same names can follow it in one program: macros
 * rename every identifier of the second that is one of them.
 *
 * That keeps the meaning unless such an identifier also names something of the language: a function of the library, of which the
 * text defines an overload, or an element of a vector. The parser finds that out: in a text that declares nothing, a name is
 * undeclared, or else it belongs to the language.
 */
#include "annotator/annotator.h"
#include "annotator/source/scan.h"

#include <clang-c/Index.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct name_list {
	char **names;
	size_t count;
	bool failed;
};

static void add_name(struct name_list *list, const char *name)
{
	if (!*name || name[scan_word(name, strlen(name), 0)]) /* libclang describes what has no name */
		return;
	for (size_t i = 0; i < list->count; i++)
		if (!strcmp(list->names[i], name))
			return;
	char **grown = realloc(list->names, (list->count + 1) * sizeof *grown);
	if (grown)
		list->names = grown;
	if (!grown || !(grown[list->count] = strdup(name)))
		list->failed = true;
	else
		list->count++;
}

static void free_names(struct name_list *list)
{
	while (list->count)
		free(list->names[--list->count]);
	free(list->names);
}

/* Tags and constants that are declared inside of a type have file scope, too. */
static enum CXChildVisitResult visit_declaration(CXCursor c, CXCursor parent, CXClientData data)
{
	(void)parent;
	enum CXCursorKind kind = clang_getCursorKind(c);
	bool is_type = kind == CXCursor_StructDecl || kind == CXCursor_UnionDecl || kind == CXCursor_EnumDecl;
	if (!clang_Location_isFromMainFile(clang_getCursorLocation(c)))
		return CXChildVisit_Continue;
	if (is_type || kind == CXCursor_FunctionDecl || kind == CXCursor_VarDecl || kind == CXCursor_TypedefDecl ||
	    kind == CXCursor_EnumConstantDecl) {
		CXString name = clang_getCursorSpelling(c);
		add_name(data, clang_getCString(name) ? clang_getCString(name) : "");
		clang_disposeString(name);
	}
	return is_type || kind == CXCursor_FieldDecl ? CXChildVisit_Recurse : CXChildVisit_Continue;
}

static bool is_part_of_vector(const char *name)
{
	static const char *const halves[] = {"lo", "hi", "even", "odd"};
	for (size_t i = 0; i < GS_ARRAY_LEN(halves); i++)
		if (!strcmp(name, halves[i]))
			return true;
	return !name[strspn(name, "xyzwrgba")] || ((*name == 's' || *name == 'S') && !name[1 + strspn(name + 1, "0123456789abcdefABCDEF")]);
}

static int parse_text(const struct annotator_unit *source, CXTranslationUnit *tu, CXIndex index)
{
	static const char name[] = "__gpusim_names.cl";
	struct CXUnsavedFile unsaved = {.Filename = name, .Contents = source->text, .Length = source->length};
	const char *args[64];
	int count = 0;
	while (source->clang_args[count] && count < (int)GS_ARRAY_LEN(args) - 1) {
		args[count] = source->clang_args[count];
		count++;
	}
	if (source->clang_args[count])
		return -ENOTSUP;
	args[count++] = "-ferror-limit=0";
	return clang_parseTranslationUnit2(index, name, args, count, &unsaved, 1, CXTranslationUnit_KeepGoing, tu) ? -EIO : 0;
}

static int find_names(const struct annotator_unit *source, CXIndex index, struct name_list *list)
{
	CXTranslationUnit tu = NULL;
	int result = parse_text(source, &tu, index);
	for (unsigned i = 0; !result && i < clang_getNumDiagnostics(tu); i++) {
		CXDiagnostic d = clang_getDiagnostic(tu, i);
		if (clang_getDiagnosticSeverity(d) >= CXDiagnostic_Error)
			result = -ENOTSUP;
		clang_disposeDiagnostic(d);
	}
	if (!result)
		clang_visitChildren(clang_getTranslationUnitCursor(tu), visit_declaration, list);
	if (tu)
		clang_disposeTranslationUnit(tu);
	return result ? result : list->failed ? -ENOMEM : 0;
}

/* The number of lines with a name that is not declared. */
static size_t count_undeclared(CXTranslationUnit tu)
{
	static const char undeclared[] = "use of undeclared identifier";
	size_t count = 0;
	unsigned last = 0;
	for (unsigned i = 0; i < clang_getNumDiagnostics(tu); i++) {
		CXDiagnostic d = clang_getDiagnostic(tu, i);
		CXString text = clang_getDiagnosticSpelling(d);
		unsigned line = 0;
		clang_getFileLocation(clang_getDiagnosticLocation(d), NULL, &line, NULL, NULL);
		if (line != last && !strncmp(clang_getCString(text), undeclared, sizeof undeclared - 1)) {
			count++;
			last = line;
		}
		clang_disposeString(text);
		clang_disposeDiagnostic(d);
	}
	return count;
}

/* Writes a line for each name. There has to be an error in each: else the language has the name. */
static int check_language(const struct annotator_unit *like, CXIndex index, const struct name_list *list)
{
	struct gs_buf text = {0};
	CXTranslationUnit tu = NULL;
	for (size_t i = 0; i < list->count; i++)
		gs_buf_printf(&text, "void __gpusim_name_%zu(void) { (void)(%s); }\n", i, list->names[i]);
	struct annotator_unit lines = {.text = text.data, .length = text.len, .clang_args = like->clang_args};
	int result = text.failed ? -ENOMEM : parse_text(&lines, &tu, index);
	if (!result && count_undeclared(tu) != list->count)
		result = -ENOTSUP;
	if (tu)
		clang_disposeTranslationUnit(tu);
	gs_buf_free(&text);
	return result;
}

int annotator_file_names(const struct annotator_unit *source, struct gs_buf *out)
{
	CXIndex index = clang_createIndex(0, 0);
	struct name_list list = {0};
	int result = index ? find_names(source, index, &list) : -ENOMEM;
	for (size_t i = 0; i < list.count && !result; i++)
		if (is_part_of_vector(list.names[i]))
			result = -ENOTSUP;
	if (!result && list.count)
		result = check_language(source, index, &list);
	for (size_t i = 0; i < list.count && !result; i++)
		gs_buf_printf(out, "%s\n", list.names[i]);
	free_names(&list);
	if (index)
		clang_disposeIndex(index);
	return result ? result : out->failed ? -ENOMEM : 0;
}
