/*
 * Makes atomics, fences and barriers that libclc lacks: those of 64 bits and those of OpenCL C 2.0. They become LLVM's own
 * instructions, so that the PTX shows them as memory accesses like any other.
 *
 * Memory orders are treated as relaxed. Functions that are sequentially consistent by name get a fence before them:
 * atomic_fetch_add, but not atomic_fetch_add_explicit. The order of the latter is mostly relaxed, and it is not a constant
 * before optimisation.
 */
#include "analysis/target/internal.h"

#include <llvm-c/Core.h>
#include <stdio.h>
#include <string.h>

struct atomic {
	LLVMModuleRef module;
	LLVMContextRef context;
	LLVMBuilderRef builder;
	LLVMValueRef body;
	LLVMTypeRef type, result; /* type of the value; type that the function returns */
	bool real, is_unsigned, fences;
};

static LLVMValueRef build_rmw(const struct atomic *a, LLVMAtomicRMWBinOp op, LLVMValueRef value)
{
	return LLVMBuildAtomicRMW(a->builder, op, LLVMGetParam(a->body, 0), value, LLVMAtomicOrderingMonotonic, false);
}

/* The exchange works on integers, so a floating-point value is converted to its bits. */
static LLVMValueRef build_compare_exchange(const struct atomic *a, LLVMValueRef expected, LLVMValueRef desired)
{
	LLVMTypeRef bits = a->type;
	if (a->real)
		bits = LLVMGetTypeKind(a->type) == LLVMDoubleTypeKind ? LLVMInt64TypeInContext(a->context)
		                                                      : LLVMInt32TypeInContext(a->context);
	return LLVMBuildAtomicCmpXchg(a->builder, LLVMGetParam(a->body, 0), LLVMBuildBitCast(a->builder, expected, bits, ""),
	                              LLVMBuildBitCast(a->builder, desired, bits, ""), LLVMAtomicOrderingMonotonic,
	                              LLVMAtomicOrderingMonotonic, false);
}

/* OpenCL C 1.x: returns the old value. */
static LLVMValueRef build_cmpxchg(const struct atomic *a)
{
	LLVMValueRef pair = build_compare_exchange(a, LLVMGetParam(a->body, 1), LLVMGetParam(a->body, 2));
	return LLVMBuildExtractValue(a->builder, pair, 0, "");
}

/* OpenCL C 2.0: stores the old value to *expected and returns whether it was the expected one. */
static LLVMValueRef build_compare_exchange_2(const struct atomic *a)
{
	LLVMValueRef expected = LLVMGetParam(a->body, 1);
	LLVMValueRef pair = build_compare_exchange(a, LLVMBuildLoad2(a->builder, a->type, expected, ""),
	                                           LLVMGetParam(a->body, 2));
	LLVMBuildStore(a->builder, LLVMBuildExtractValue(a->builder, pair, 0, ""), expected);
	return LLVMBuildExtractValue(a->builder, pair, 1, "");
}

static LLVMValueRef build_load(const struct atomic *a)
{
	LLVMValueRef load = LLVMBuildLoad2(a->builder, a->result, LLVMGetParam(a->body, 0), "");
	LLVMSetVolatile(load, true);
	return load;
}

static void build_store(const struct atomic *a, LLVMValueRef value)
{
	LLVMSetVolatile(LLVMBuildStore(a->builder, value, LLVMGetParam(a->body, 0)), true);
}

static bool operation_of(const struct atomic *a, const char *name, LLVMAtomicRMWBinOp *out)
{
	const struct {
		const char *name;
		LLVMAtomicRMWBinOp integer, real;
	} list[] = {
		{"add", LLVMAtomicRMWBinOpAdd, LLVMAtomicRMWBinOpFAdd},
		{"sub", LLVMAtomicRMWBinOpSub, LLVMAtomicRMWBinOpFSub},
		{"min", a->is_unsigned ? LLVMAtomicRMWBinOpUMin : LLVMAtomicRMWBinOpMin, LLVMAtomicRMWBinOpFMin},
		{"max", a->is_unsigned ? LLVMAtomicRMWBinOpUMax : LLVMAtomicRMWBinOpMax, LLVMAtomicRMWBinOpFMax},
		{"and", LLVMAtomicRMWBinOpAnd, LLVMAtomicRMWBinOpAnd},
		{"or", LLVMAtomicRMWBinOpOr, LLVMAtomicRMWBinOpOr},
		{"xor", LLVMAtomicRMWBinOpXor, LLVMAtomicRMWBinOpXor},
		{"xchg", LLVMAtomicRMWBinOpXchg, LLVMAtomicRMWBinOpXchg},
		{"exchange", LLVMAtomicRMWBinOpXchg, LLVMAtomicRMWBinOpXchg},
	};
	for (size_t i = 0; i < GS_ARRAY_LEN(list); i++)
		if (!strcmp(name, list[i].name)) {
			*out = a->real ? list[i].real : list[i].integer;
			return true;
		}
	return false;
}

static void build_intrinsic(const struct atomic *a, const char *name)
{
	LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(a->context), NULL, 0, false);
	unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
	LLVMBuildCall2(a->builder, type, LLVMGetIntrinsicDeclaration(a->module, id, NULL, 0), NULL, 0, "");
}

/* LLVM's back end does not support LLVM's own fence. */
static void build_fence(const struct atomic *a)
{
	build_intrinsic(a, "llvm.nvvm.membar.gl");
}

/* The value that the function returns. NULL: the function is not known here, or it returns no value. *known is set for the
 * latter. */
static LLVMValueRef build(const struct atomic *a, const char *name, bool *known)
{
	LLVMTypeRef int32 = LLVMInt32TypeInContext(a->context);
	LLVMAtomicRMWBinOp op;
	*known = true;
	if (a->fences)
		build_fence(a);
	if (!strcmp(name, "inc") || !strcmp(name, "dec"))
		return build_rmw(a, *name == 'i' ? LLVMAtomicRMWBinOpAdd : LLVMAtomicRMWBinOpSub,
		                 LLVMConstInt(a->result, 1, false));
	if (operation_of(a, name, &op))
		return build_rmw(a, op, LLVMGetParam(a->body, 1));
	if (!strcmp(name, "cmpxchg"))
		return build_cmpxchg(a);
	if (!strncmp(name, "compare_exchange_", 17))
		return build_compare_exchange_2(a);
	if (!strcmp(name, "load"))
		return build_load(a);
	if (!strcmp(name, "flag_test_and_set"))
		return LLVMBuildIsNotNull(a->builder, build_rmw(a, LLVMAtomicRMWBinOpXchg, LLVMConstInt(int32, 1, false)), "");
	if (!strcmp(name, "store") || !strcmp(name, "init"))
		build_store(a, LLVMGetParam(a->body, 1));
	else if (!strcmp(name, "flag_clear"))
		build_store(a, LLVMConstInt(int32, 0, false));
	else if (!strcmp(name, "work_item_fence"))
		build_fence(a);
	else if (!strcmp(name, "work_group_barrier"))
		build_intrinsic(a, "llvm.nvvm.barrier0");
	else
		*known = false;
	return NULL;
}

/* "add" for atom_add, atomic_fetch_add and atomic_fetch_add_explicit. False: none of these. */
static bool base_name(const char *name, char *out, size_t size)
{
	snprintf(out, size, "%s", name);
	if (!strcmp(name, "work_group_barrier"))
		return true;
	const char *rest = !strncmp(name, "atomic_", 7) ? name + 7 : !strncmp(name, "atom_", 5) ? name + 5 : NULL;
	if (!rest)
		return false;
	snprintf(out, size, "%s", rest + (strncmp(rest, "fetch_", 6) ? 0 : 6));
	char *suffix = strstr(out, "_explicit");
	if (suffix)
		*suffix = 0;
	return true;
}

/* The last type that is not an order or a scope is the type of the value. j and m are uint and ulong. */
static bool is_unsigned(const char *symbol)
{
	const char *end = strstr(symbol, "12memory_order");
	char last = end ? end[-1] : symbol[strlen(symbol) - 1];
	return last == 'j' || last == 'm';
}

static bool describe(struct atomic *a, LLVMValueRef function, const char *symbol, const char *name)
{
	LLVMTypeRef type = LLVMGlobalGetValueType(function), parameters[8];
	unsigned count = LLVMCountParamTypes(type);
	bool takes_expected = strstr(name, "compare_exchange") != NULL;
	if (!count || count > GS_ARRAY_LEN(parameters))
		return false;
	LLVMGetParamTypes(type, parameters);
	a->result = LLVMGetReturnType(type);
	a->type = count > 1u + takes_expected ? parameters[1 + takes_expected] : a->result;
	LLVMTypeKind kind = LLVMGetTypeKind(a->type);
	a->real = kind == LLVMFloatTypeKind || kind == LLVMDoubleTypeKind;
	a->is_unsigned = is_unsigned(symbol);
	/* The old names are relaxed. The new names are sequentially consistent if they do not take an order. */
	a->fences = (strstr(name, "_fetch_") || strstr(name, "exchange") || !strncmp(name, "atomic_flag_", 12) ||
	             !strcmp(name, "atomic_load") || !strcmp(name, "atomic_store")) &&
	            !strstr(name, "_explicit");
	return kind != LLVMHalfTypeKind;
}

/* 64-bit addition and exchange exist since compute capability 1.2, but LLVM makes loops of them before sm_32. */
static bool would_loop(const struct atomic *a, const char *base, const struct target_arch *arch)
{
	static const char *const names[] = {"add", "sub", "inc", "dec", "xchg", "exchange"};
	if (arch->number >= 32 || LLVMGetTypeKind(a->type) != LLVMIntegerTypeKind || LLVMGetIntTypeWidth(a->type) < 64)
		return false;
	for (size_t i = 0; i < GS_ARRAY_LEN(names); i++)
		if (!strcmp(base, names[i]))
			return true;
	return false;
}

bool target_atomic(LLVMModuleRef module, LLVMValueRef function, const char *symbol, const char *name,
                   const struct target_arch *arch)
{
	struct atomic a = {.module = module, .context = LLVMGetModuleContext(module)};
	char base[64];
	bool known = false;
	if (!base_name(name, base, sizeof base) || !describe(&a, function, symbol, name) || would_loop(&a, base, arch))
		return false;
	a.body = target_replacement(module, function);
	a.builder = LLVMCreateBuilderInContext(a.context);
	LLVMPositionBuilderAtEnd(a.builder, LLVMGetLastBasicBlock(a.body));
	LLVMValueRef value = build(&a, base, &known);
	if (value)
		LLVMBuildRet(a.builder, value);
	else
		LLVMBuildRetVoid(a.builder);
	LLVMDisposeBuilder(a.builder);
	if (!known) {
		LLVMReplaceAllUsesWith(a.body, function);
		LLVMDeleteFunction(a.body);
	}
	return known;
}
