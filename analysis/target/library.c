/*
 * Replaces libclc's library functions by the target vendor's.
 *
 * If the vendor's library is wanted, a function of mathematics in the table (builtins.def) becomes a call of
 * __gpusim_fn_NAME_TYPE for each element of its arguments. This function has no body. LLVM may merge, hoist and speculate it, as
 * it would do with the vendor's own code. OpenCL C may return a second result through a pointer. It becomes the second element
 * of a structure.
 *
 * Builtins that neither the table nor libclc has stay calls. They lose clang's attribute `convergent`, which would prevent
 * unrolling of the loops around them. Builtins that exchange values between work-items keep it. libclc's functions call LLVM's
 * own (llvm.fabs, llvm.fma, llvm.floor) with that attribute, too. These calls lose it, unless the function itself has it.
 */
#include "analysis/builtins/builtins.h"
#include "analysis/target/internal.h"

#include <ctype.h>
#include <llvm-c/Core.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PARAMETERS = 4 };

static LLVMAttributeRef enum_attribute(LLVMContextRef context, const char *name)
{
	return LLVMCreateEnumAttribute(context, LLVMGetEnumAttributeKindForName(name, strlen(name)), 0);
}

/* Options that relax arithmetic become string attributes. A function without them would lose them for its caller when it is
 * inlined. */
static void copy_string_attributes(LLVMValueRef from, LLVMValueRef to)
{
	unsigned count = LLVMGetAttributeCountAtIndex(from, LLVMAttributeFunctionIndex);
	LLVMAttributeRef *list = calloc(count + 1, sizeof *list);
	if (list)
		LLVMGetAttributesAtIndex(from, LLVMAttributeFunctionIndex, list);
	for (unsigned i = 0; i < count && list; i++)
		if (LLVMIsStringAttribute(list[i]))
			LLVMAddAttributeAtIndex(to, LLVMAttributeFunctionIndex, list[i]);
	free(list);
}

LLVMValueRef target_replacement(LLVMModuleRef module, LLVMValueRef function)
{
	size_t length;
	char name[256];
	LLVMContextRef context = LLVMGetModuleContext(module);
	snprintf(name, sizeof name, "__gpusim_%s", LLVMGetValueName2(function, &length));
	LLVMValueRef body = LLVMAddFunction(module, name, LLVMGlobalGetValueType(function));
	LLVMSetLinkage(body, LLVMInternalLinkage);
	copy_string_attributes(function, body);
	LLVMAddAttributeAtIndex(body, LLVMAttributeFunctionIndex, enum_attribute(context, "alwaysinline"));
	LLVMAddAttributeAtIndex(body, LLVMAttributeFunctionIndex, enum_attribute(context, "nounwind"));
	LLVMAppendBasicBlockInContext(context, body, "");
	LLVMReplaceAllUsesWith(function, body);
	return body;
}

bool target_mangled_name(const char *symbol, char *out, size_t size)
{
	if (strncmp(symbol, "_Z", 2) || !isdigit((unsigned char)symbol[2]))
		return false;
	char *name;
	size_t length = strtoul(symbol + 2, &name, 10);
	if (length >= size || strlen(name) < length)
		return false;
	snprintf(out, size, "%.*s", (int)length, name);
	return true;
}

/* A function of mathematics that will be replaced. */
struct math {
	LLVMContextRef context;
	LLVMValueRef function;             /* the function that is replaced */
	LLVMTypeRef parameters[MAX_PARAMETERS];
	unsigned parameter_count, width;   /* width: elements of vectors, or 1 */
	bool half, has_pointer;            /* the pointer is the last parameter */
	LLVMTypeRef real, second;          /* real: element type of results; second: the type that the pointer points to, or NULL */
	LLVMTypeRef result;                /* element type of the returned value */
	char external[160];
};

static LLVMTypeRef element_of(LLVMTypeRef type)
{
	return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetElementType(type) : type;
}

static bool points_to_int(const char *name)
{
	return !strcmp(name, "frexp") || !strcmp(name, "remquo") || !strcmp(name, "lgamma_r");
}

/* Chooses the table's row. half_sin is sin in NVIDIA's library. Half precision is computed in single precision. */
static bool choose_external(struct math *m, const char *name, const char *type, bool relaxed)
{
	if (!strncmp(name, "half_", 5))
		name += 5;
	snprintf(m->external, sizeof m->external, "__gpusim_fn_relaxed_%s_%s", name, type);
	if (relaxed && builtin_find(m->external))
		return true;
	snprintf(m->external, sizeof m->external, "__gpusim_fn_%s_%s", name, type);
	return builtin_find(m->external) != NULL;
}

static bool describe(struct math *m, LLVMValueRef function, const char *name, bool relaxed)
{
	LLVMTypeRef type = LLVMGlobalGetValueType(function);
	*m = (struct math){.context = LLVMGetTypeContext(type), .function = function,
	                   .parameter_count = LLVMCountParamTypes(type)};
	if (!m->parameter_count || m->parameter_count > MAX_PARAMETERS)
		return false;
	LLVMGetParamTypes(type, m->parameters);
	LLVMTypeKind kind = LLVMGetTypeKind(element_of(m->parameters[0]));
	if (kind != LLVMHalfTypeKind && kind != LLVMFloatTypeKind && kind != LLVMDoubleTypeKind)
		return false;
	m->half = kind == LLVMHalfTypeKind;
	m->width = LLVMGetTypeKind(m->parameters[0]) == LLVMVectorTypeKind ? LLVMGetVectorSize(m->parameters[0]) : 1;
	m->real = kind == LLVMDoubleTypeKind ? LLVMDoubleTypeInContext(m->context) : LLVMFloatTypeInContext(m->context);
	m->result = element_of(LLVMGetReturnType(type));
	m->has_pointer = LLVMGetTypeKind(m->parameters[m->parameter_count - 1]) == LLVMPointerTypeKind;
	if (m->has_pointer)
		m->second = points_to_int(name) ? LLVMInt32TypeInContext(m->context) : m->real;
	return choose_external(m, name, kind == LLVMDoubleTypeKind ? "f64" : "f32", relaxed);
}

static LLVMTypeRef external_element(const struct math *m, LLVMTypeRef type)
{
	LLVMTypeRef element = element_of(type);
	return LLVMGetTypeKind(element) == LLVMHalfTypeKind ? m->real : element;
}

static LLVMTypeRef external_type(const struct math *m)
{
	LLVMTypeRef list[MAX_PARAMETERS], result = external_element(m, m->result);
	unsigned count = m->parameter_count - m->has_pointer;
	for (unsigned i = 0; i < count; i++)
		list[i] = external_element(m, m->parameters[i]);
	if (m->second)
		result = LLVMStructTypeInContext(m->context, (LLVMTypeRef[]){result, m->second}, 2, false);
	return LLVMFunctionType(result, list, count, false);
}

/* memory(none), which is attribute value 0, makes the function pure. speculatable allows hoisting. */
static LLVMValueRef external_function(const struct math *m, LLVMModuleRef module)
{
	static const char *const attributes[] = {"nounwind", "willreturn", "speculatable", "nosync", "nofree", "memory"};
	LLVMValueRef f = LLVMGetNamedFunction(module, m->external);
	if (f)
		return f;
	f = LLVMAddFunction(module, m->external, external_type(m));
	for (size_t i = 0; i < GS_ARRAY_LEN(attributes); i++)
		LLVMAddAttributeAtIndex(f, LLVMAttributeFunctionIndex, enum_attribute(m->context, attributes[i]));
	return f;
}

static LLVMValueRef argument(const struct math *m, LLVMBuilderRef b, LLVMValueRef body, unsigned i, unsigned lane)
{
	LLVMValueRef value = LLVMGetParam(body, i);
	LLVMTypeRef wanted = external_element(m, m->parameters[i]);
	if (LLVMGetTypeKind(m->parameters[i]) == LLVMVectorTypeKind)
		value = LLVMBuildExtractElement(
		    b, value, LLVMConstInt(LLVMInt32TypeInContext(m->context), lane, false), "");
	return LLVMTypeOf(value) == wanted ? value : LLVMBuildFPExt(b, value, wanted, "");
}

/* Sets element `lane` of *all to `value`. Without vectors, *all becomes `value`. */
static void set_lane(const struct math *m, LLVMBuilderRef b, LLVMValueRef *all, LLVMValueRef value, unsigned lane,
                     bool narrow)
{
	if (narrow)
		value = LLVMBuildFPTrunc(b, value, LLVMHalfTypeInContext(m->context), "");
	if (m->width == 1) {
		*all = value;
		return;
	}
	if (!*all)
		*all = LLVMGetPoison(LLVMVectorType(LLVMTypeOf(value), m->width));
	*all = LLVMBuildInsertElement(b, *all, value, LLVMConstInt(LLVMInt32TypeInContext(m->context), lane, false), "");
}

static void replace_math(const struct math *m, LLVMModuleRef module)
{
	LLVMValueRef external = external_function(m, module), body = target_replacement(module, m->function);
	LLVMBuilderRef b = LLVMCreateBuilderInContext(m->context);
	LLVMValueRef first = NULL, second = NULL, arguments[MAX_PARAMETERS];
	unsigned count = m->parameter_count - m->has_pointer;
	LLVMPositionBuilderAtEnd(b, LLVMGetLastBasicBlock(body));
	for (unsigned lane = 0; lane < m->width; lane++) {
		for (unsigned i = 0; i < count; i++)
			arguments[i] = argument(m, b, body, i, lane);
		LLVMValueRef value = LLVMBuildCall2(b, external_type(m), external, arguments, count, "");
		bool narrow = LLVMGetTypeKind(m->result) == LLVMHalfTypeKind;
		set_lane(m, b, &first, m->second ? LLVMBuildExtractValue(b, value, 0, "") : value, lane, narrow);
		if (m->second)
			set_lane(m, b, &second, LLVMBuildExtractValue(b, value, 1, ""), lane,
			         m->half && m->second == m->real);
	}
	if (second)
		LLVMBuildStore(b, second, LLVMGetParam(body, count));
	LLVMBuildRet(b, first);
	LLVMDisposeBuilder(b);
}

static bool exchanges_values(const char *name)
{
	static const char *const parts[] = {"work_group_", "sub_group_", "barrier", "wait_group_events", "enqueue"};
	for (size_t i = 0; i < GS_ARRAY_LEN(parts); i++)
		if (strstr(name, parts[i]))
			return true;
	return false;
}

static unsigned convergence(void)
{
	return LLVMGetEnumAttributeKindForName("convergent", strlen("convergent"));
}

static void forget_convergence(LLVMValueRef function)
{
	unsigned convergent = convergence();
	LLVMRemoveEnumAttributeAtIndex(function, LLVMAttributeFunctionIndex, convergent);
	for (LLVMUseRef use = LLVMGetFirstUse(function); use; use = LLVMGetNextUse(use))
		if (LLVMIsACallInst(LLVMGetUser(use)))
			LLVMRemoveCallSiteEnumAttribute(LLVMGetUser(use), LLVMAttributeFunctionIndex, convergent);
}

/* LLVM's own functions say themselves whether they are convergent: barriers are, llvm.fabs is not. */
static bool is_plain_intrinsic(LLVMValueRef function)
{
	return LLVMGetIntrinsicID(function) &&
	       !LLVMGetEnumAttributeAtIndex(function, LLVMAttributeFunctionIndex, convergence());
}

/* Whether a function comes from libclc. clang makes these functions internal. A program's own function of the same name is
 * external. */
static bool is_of_library(LLVMValueRef function)
{
	return LLVMIsDeclaration(function) || LLVMGetLinkage(function) == LLVMInternalLinkage;
}

/* The type as which a value can be passed. Two bytes become a short. Other types stay. */
static LLVMTypeRef passable(LLVMTypeRef type)
{
	LLVMContextRef context = LLVMGetTypeContext(type);
	bool two_bytes = LLVMGetTypeKind(type) == LLVMVectorTypeKind && LLVMGetVectorSize(type) == 2 &&
	                 LLVMGetElementType(type) == LLVMInt8TypeInContext(context);
	return two_bytes ? LLVMInt16TypeInContext(context) : type;
}

/* The type of a function with parameters that LLVM can pass. It is the same type if nothing needs to change. */
static LLVMTypeRef passable_function(LLVMTypeRef type, LLVMTypeRef *parameters, unsigned count)
{
	LLVMTypeRef result = passable(LLVMGetReturnType(type));
	bool same = result == LLVMGetReturnType(type);
	LLVMGetParamTypes(type, parameters);
	for (unsigned i = 0; i < count; i++) {
		same &= passable(parameters[i]) == parameters[i];
		parameters[i] = passable(parameters[i]);
	}
	return same ? type : LLVMFunctionType(result, parameters, count, false);
}

/* LLVM's back end cannot pass a char2 to a function. Such calls pass its bits instead. */
static void pass_bytes_as_shorts(LLVMModuleRef module, LLVMValueRef function)
{
	LLVMTypeRef type = LLVMGlobalGetValueType(function), parameters[MAX_PARAMETERS];
	LLVMValueRef arguments[MAX_PARAMETERS];
	unsigned count = LLVMCountParamTypes(type);
	if (LLVMIsFunctionVarArg(type) || count > MAX_PARAMETERS)
		return;
	LLVMTypeRef changed = passable_function(type, parameters, count);
	if (changed == type)
		return;
	size_t length;
	char name[256];
	snprintf(name, sizeof name, "%s", LLVMGetValueName2(function, &length));
	LLVMValueRef body = target_replacement(module, function);
	LLVMSetValueName2(function, "", 0);
	LLVMValueRef external = LLVMAddFunction(module, name, changed);
	LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
	LLVMPositionBuilderAtEnd(b, LLVMGetLastBasicBlock(body));
	for (unsigned i = 0; i < count; i++)
		arguments[i] = LLVMBuildBitCast(b, LLVMGetParam(body, i), parameters[i], "");
	LLVMValueRef value = LLVMBuildCall2(b, changed, external, arguments, count, "");
	if (LLVMGetTypeKind(LLVMGetReturnType(type)) == LLVMVoidTypeKind)
		LLVMBuildRetVoid(b);
	else
		LLVMBuildRet(b, LLVMBuildBitCast(b, value, LLVMGetReturnType(type), ""));
	LLVMDisposeBuilder(b);
}

static void keep_call(LLVMModuleRef module, LLVMValueRef function, const char *name)
{
	if (!exchanges_values(name))
		forget_convergence(function);
	pass_bytes_as_shorts(module, function);
}

void target_library(LLVMModuleRef module, const struct target_arch *arch, bool relaxed)
{
	LLVMValueRef next;
	for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = next) {
		char name[128];
		size_t length;
		struct math m;
		const char *symbol = LLVMGetValueName2(f, &length);
		next = LLVMGetNextFunction(f);
		if (is_plain_intrinsic(f))
			forget_convergence(f);
		if (!target_mangled_name(symbol, name, sizeof name))
			continue;
		if (arch->vendor && is_of_library(f) && describe(&m, f, name, relaxed))
			replace_math(&m, module);
		else if (LLVMIsDeclaration(f) && !target_atomic(module, f, symbol, name, arch))
			keep_call(module, f, name);
	}
}
