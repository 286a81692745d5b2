/*
 * Finds the pointers that a kernel only reads through, as the optimiser knows them. The compile for a target ends in a child
 * process that returns only PTX. So this knowledge goes into the PTX, as one comment for each kernel: // only read by NAME: 0 2
 */
#include "analysis/target/internal.h"

#include <llvm-c/Core.h>
#include <stdlib.h>
#include <string.h>

static const char title[] = "// only read by ";

static bool is_only_read(LLVMValueRef function, unsigned parameter)
{
	static const char *const names[] = {"readonly", "readnone"};
	if (LLVMGetTypeKind(LLVMTypeOf(LLVMGetParam(function, parameter))) != LLVMPointerTypeKind)
		return false;
	for (size_t i = 0; i < GS_ARRAY_LEN(names); i++)
		if (LLVMGetEnumAttributeAtIndex(function, parameter + 1, LLVMGetEnumAttributeKindForName(names[i], strlen(names[i]))))
			return true;
	return false;
}

void target_write_only_read(LLVMModuleRef module, struct gs_buf *ptx)
{
	for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
		size_t length;
		if (LLVMIsDeclaration(f) || LLVMGetLinkage(f) != LLVMExternalLinkage)
			continue;
		gs_buf_printf(ptx, "%s%s:", title, LLVMGetValueName2(f, &length));
		for (unsigned i = 0; i < LLVMCountParams(f); i++)
			if (is_only_read(f, i))
				gs_buf_printf(ptx, " %u", i);
		gs_buf_puts(ptx, "\n");
	}
}

bool target_only_reads(const char *ptx, const char *kernel, unsigned parameter)
{
	size_t length = strlen(kernel);
	for (const char *line = ptx ? ptx : ""; (line = strstr(line, title));) {
		line += sizeof title - 1;
		if (strncmp(line, kernel, length) || line[length] != ':')
			continue;
		for (const char *at = line + length + 1; *at == ' ';) {
			char *end;
			if (strtoul(at, &end, 10) == parameter)
				return true;
			at = end;
		}
		return false;
	}
	return false;
}
