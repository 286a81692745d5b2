#include "annotator/edits/box_calls.h"

#include <string.h>

int box_function_of(CXCursor call)
{
	static const char *const builtins[BOX_FUNCTION_COUNT] = {
		[BOX_GROUP_ID] = "get_group_id",
		[BOX_NUM_GROUPS] = "get_num_groups",
		[BOX_GLOBAL_SIZE] = "get_global_size",
		[BOX_GLOBAL_OFFSET] = "get_global_offset",
		[BOX_GLOBAL_LINEAR_ID] = "get_global_linear_id",
	};
	CXString name = clang_getCursorSpelling(call);
	const char *s = clang_getCString(name);
	int found = -1;
	for (int i = 0; s && i < BOX_FUNCTION_COUNT; i++)
		if (!strcmp(s, builtins[i]))
			found = i;
	clang_disposeString(name);
	return found;
}
