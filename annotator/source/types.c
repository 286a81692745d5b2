#include "annotator/source/types.h"

#include "annotator/source/scan.h"

#include <stdlib.h>
#include <string.h>

/*
 * A pointer that names no address space is generic if the device has a generic space, else private. The parser assumes that OpenCL C
 * 2.0 has it. A device of version 3.0 need not have it, and then does not know the word.
 */
static void leave_out_generic(char *type)
{
	size_t length = strlen(type);
	for (size_t at = 0; at < length;) {
		size_t end = scan_word(type, length, at);
		if (scan_is_word(type, at, end, "__generic")) {
			memmove(type + at, type + end, length - end + 1);
			length -= end - at;
		} else {
			at = end > at ? end : at + 1;
		}
	}
}

char *spell_type(CXType type)
{
	CXString spelling = clang_getTypeSpelling(type);
	const char *s = clang_getCString(spelling);
	char *copy = s && !strstr(s, "unnamed") && !strstr(s, "anonymous") ? strdup(s) : NULL;
	clang_disposeString(spelling);
	if (copy)
		leave_out_generic(copy);
	return copy;
}

/* libclang returns clang's own numbers of address spaces (enum LangAS). In OpenCL C, 0 is private. */
enum code_space space_of(CXType type)
{
	enum { AS_DEFAULT, AS_GLOBAL, AS_LOCAL, AS_CONSTANT, AS_PRIVATE, AS_GENERIC };
	if (type.kind == CXType_Invalid)
		return SPACE_none;
	switch (clang_getAddressSpace(type)) {
	case AS_DEFAULT:
	case AS_PRIVATE:
		return SPACE_local;
	case AS_GLOBAL:
		return SPACE_global;
	case AS_LOCAL:
		return SPACE_shared;
	case AS_CONSTANT:
		return SPACE_const;
	case AS_GENERIC:
		return SPACE_generic;
	default:
		return SPACE_none;
	}
}
