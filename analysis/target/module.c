/*
 * Turns bitcode into PTX through the LLVM-C API, and keeps the probes.
 *
 * clang marks every call in OpenCL C as convergent. That alone would prevent unrolling of loops around a probe, so the probe
 * calls lose this mark here. The descriptors in llvm.pseudo_probe_desc make the back end write the probes. The pipeline is
 * clang's own -O3.
 */
#include "analysis/target/internal.h"

#include <errno.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/Core.h>
#include <llvm-c/Linker.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <stdlib.h>
#include <string.h>

static int fail_with(struct gs_error *err, const char *what, char *message)
{
	int result = gs_fail(err, EIO, "%s: %s", what, message ? message : "LLVM gives no reason");
	LLVMDisposeMessage(message);
	return result;
}

static int read_module(LLVMContextRef context, const char *file, LLVMModuleRef *out, struct gs_error *err)
{
	LLVMMemoryBufferRef buffer;
	char *message = NULL;
	if (LLVMCreateMemoryBufferWithContentsOfFile(file, &buffer, &message))
		return fail_with(err, "cannot read bitcode", message);
	int failed = LLVMParseBitcodeInContext2(context, buffer, out);
	LLVMDisposeMemoryBuffer(buffer);
	return failed ? gs_fail(err, EIO, "cannot parse bitcode") : 0;
}

static int link_modules(LLVMContextRef context, char *const *files, size_t count, LLVMModuleRef *out,
                        struct gs_error *err)
{
	int result = read_module(context, files[0], out, err);
	for (size_t i = 1; i < count && !result; i++) {
		LLVMModuleRef next;
		result = read_module(context, files[i], &next, err);
		if (!result && LLVMLinkModules2(*out, next))
			result = gs_fail(err, EIO, "the units of the program cannot be linked");
	}
	return result;
}

static bool is_kernel_note(LLVMValueRef node, LLVMValueRef function)
{
	LLVMValueRef parts[3];
	if (LLVMGetMDNodeNumOperands(node) != 3)
		return false;
	LLVMGetMDNodeOperands(node, parts);
	unsigned length;
	const char *word = parts[1] ? LLVMGetMDString(parts[1], &length) : NULL;
	return parts[0] == function && word && length == 6 && !memcmp(word, "kernel", 6);
}

/* The program is complete, so functions that are not kernels become internal. They are removed if no function calls them. Large
 * programs have hundreds of functions, of which a kernel uses ten. clang forbids inlining of kernels. If a kernel calls another
 * kernel, that one must be inlined anyway, because a GPU cannot call a kernel. */
static int hide_helpers(LLVMModuleRef module, bool optimise, struct gs_error *err)
{
	unsigned count = LLVMGetNamedMetadataNumOperands(module, "nvvm.annotations");
	LLVMValueRef *notes = calloc(count + 1, sizeof *notes);
	if (!notes)
		return gs_fail(err, ENOMEM, "out of memory");
	LLVMGetNamedMetadataOperands(module, "nvvm.annotations", notes);
	unsigned noinline = LLVMGetEnumAttributeKindForName("noinline", strlen("noinline"));
	for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
		bool kernel = LLVMIsDeclaration(f);
		for (unsigned i = 0; i < count && !kernel; i++)
			kernel = is_kernel_note(notes[i], f);
		if (!kernel)
			LLVMSetLinkage(f, LLVMInternalLinkage);
		else if (optimise)
			LLVMRemoveEnumAttributeAtIndex(f, LLVMAttributeFunctionIndex, noinline);
	}
	free(notes);
	return 0;
}

static void describe_probe(LLVMModuleRef module, LLVMValueRef call)
{
	LLVMContextRef context = LLVMGetModuleContext(module);
	LLVMValueRef function = LLVMGetBasicBlockParent(LLVMGetInstructionParent(call));
	size_t length;
	const char *name = LLVMGetValueName2(function, &length);
	LLVMTypeRef i64 = LLVMInt64TypeInContext(context);
	LLVMMetadataRef parts[] = {
		LLVMValueAsMetadata(LLVMGetOperand(call, 0)),
		LLVMValueAsMetadata(LLVMConstInt(i64, 0, false)), /* hash of the control flow; it is never compared */
		LLVMMDStringInContext2(context, name, length),
	};
	LLVMMetadataRef node = LLVMMDNodeInContext2(context, parts, 3);
	LLVMAddNamedMetadataOperand(module, "llvm.pseudo_probe_desc", LLVMMetadataAsValue(context, node));
}

static void prepare_probes(LLVMModuleRef module)
{
	LLVMValueRef probe = LLVMGetNamedFunction(module, "llvm.pseudoprobe");
	unsigned convergent = LLVMGetEnumAttributeKindForName("convergent", strlen("convergent"));
	uint64_t last = 0;
	if (!probe)
		return;
	LLVMRemoveEnumAttributeAtIndex(probe, LLVMAttributeFunctionIndex, convergent);
	for (LLVMUseRef use = LLVMGetFirstUse(probe); use; use = LLVMGetNextUse(use)) {
		LLVMValueRef call = LLVMGetUser(use);
		if (!LLVMIsACallInst(call))
			continue;
		LLVMRemoveCallSiteEnumAttribute(call, LLVMAttributeFunctionIndex, convergent);
		uint64_t guid = LLVMConstIntGetZExtValue(LLVMGetOperand(call, 0));
		if (guid != last) /* uses are sorted by function; a second descriptor is harmless */
			describe_probe(module, call);
		last = guid;
	}
}

static int create_machine(const struct target_arch *arch, bool optimise, LLVMTargetMachineRef *out,
                          struct gs_error *err)
{
	LLVMTargetRef target;
	char *message = NULL;
	LLVMInitializeNVPTXTargetInfo();
	LLVMInitializeNVPTXTarget();
	LLVMInitializeNVPTXTargetMC();
	LLVMInitializeNVPTXAsmPrinter();
	if (LLVMGetTargetFromTriple(TARGET_TRIPLE, &target, &message))
		return fail_with(err, "no NVPTX back end", message);
	*out = LLVMCreateTargetMachine(target, TARGET_TRIPLE, arch->cpu, arch->feature,
	                               optimise ? LLVMCodeGenLevelAggressive : LLVMCodeGenLevelNone, LLVMRelocDefault,
	                               LLVMCodeModelDefault);
	return *out ? 0 : gs_fail(err, EIO, "no NVPTX target machine for %s", arch->cpu);
}

static int optimise_module(LLVMModuleRef module, LLVMTargetMachineRef machine, bool optimise, struct gs_error *err)
{
	LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
	LLVMPassBuilderOptionsSetLoopUnrolling(options, true);
	LLVMPassBuilderOptionsSetLoopVectorization(options, true);
	LLVMPassBuilderOptionsSetLoopInterleaving(options, true);
	LLVMPassBuilderOptionsSetSLPVectorization(options, true);
	LLVMErrorRef error = LLVMRunPasses(module, optimise ? "default<O3>" : "default<O0>", machine, options);
	LLVMDisposePassBuilderOptions(options);
	if (!error)
		return 0;
	char *message = LLVMGetErrorMessage(error);
	int result = gs_fail(err, EIO, "optimising failed: %s", message);
	LLVMDisposeErrorMessage(message);
	return result;
}

/* Removes labels for a debugger ($L__tmp1:). LLVM also writes them into the middle of a call, where assemblers reject them. The
 * same holds for .loc there. */
static void add_without_labels(struct gs_buf *out, const char *text, size_t length)
{
	bool in_call = false;
	for (const char *line = text, *stop = text + length, *end; line < stop; line = end) {
		end = memchr(line, '\n', (size_t)(stop - line));
		end = end ? end + 1 : stop;
		const char *word = line;
		while (word < end && (*word == ' ' || *word == '\t'))
			word++;
		size_t left = (size_t)(end - word);
		in_call |= left > 4 && !memcmp(word, "call", 4) && (word[4] == '.' || word[4] == ' ');
		bool label = left > 7 && !memcmp(word, "$L__tmp", 7);
		if (!label && !(in_call && left > 4 && !memcmp(word, ".loc", 4)))
			gs_buf_add(out, line, (size_t)(end - line));
		in_call &= !memchr(line, ';', (size_t)(end - line));
	}
}

static int emit_ptx(LLVMModuleRef module, LLVMTargetMachineRef machine, struct gs_buf *ptx, struct gs_error *err)
{
	LLVMMemoryBufferRef text;
	char *message = NULL;
	if (LLVMTargetMachineEmitToMemoryBuffer(machine, module, LLVMAssemblyFile, &message, &text))
		return fail_with(err, "no PTX", message);
	add_without_labels(ptx, LLVMGetBufferStart(text), LLVMGetBufferSize(text));
	LLVMDisposeMemoryBuffer(text);
	return ptx->failed ? gs_fail(err, ENOMEM, "out of memory") : 0;
}

/*
 * Chooses the precision of division and square root. In single precision, NVIDIA's OpenCL uses div.full and sqrt.approx, unless
 * the program asks for correct rounding. They stay within the 2.5 and 3 ulp that OpenCL C allows. LLVM rounds correctly by
 * default. If arithmetic is relaxed, LLVM itself uses div.approx.
 */
static void choose_precision(LLVMModuleRef module, const struct target_arch *arch,
                             const struct target_settings *settings)
{
	static const char *const arguments[] = {"gpusim-cc", "-nvptx-prec-divf32=1"};
	static const char approximate[] = "llvm.nvvm.sqrt.approx.f";
	if (!arch->vendor || settings->correctly_rounded)
		return;
	if (!settings->relaxed)
		LLVMParseCommandLineOptions(GS_ARRAY_LEN(arguments), arguments, NULL);
	LLVMValueRef root = LLVMGetNamedFunction(module, "llvm.sqrt.f32");
	unsigned id = LLVMLookupIntrinsicID(approximate, strlen(approximate));
	if (root)
		LLVMReplaceAllUsesWith(root, LLVMGetIntrinsicDeclaration(module, id, NULL, 0));
}

/* clang ignores -cl-denorms-are-zero for NVPTX. NVIDIA's OpenCL flushes denormals also if arithmetic is relaxed. */
static void choose_denormals(LLVMModuleRef module, const struct target_arch *arch,
                             const struct target_settings *settings)
{
	static const char name[] = "denormal-fp-math-f32", value[] = "preserve-sign,preserve-sign";
	if (!settings->flushes_denormals && !(arch->vendor && settings->relaxed))
		return;
	for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
		if (!LLVMIsDeclaration(f))
			LLVMAddTargetDependentFunctionAttr(f, name, value);
}

/*
 * Vectors are loaded whole, as NVIDIA's front end does. LLVM would load only the elements that are read: of a float4 whose last
 * element is not used, a float2 and a float.
 */
static void keep_vectors(const struct target_arch *arch)
{
	static const char *const arguments[] = {"gpusim-cc", "-disable-vector-combine"};
	if (arch->vendor && arch->machine)
		LLVMParseCommandLineOptions(GS_ARRAY_LEN(arguments), arguments, NULL);
}

/*
 * Chooses how loops are unrolled. If the length of a loop is not known, NVIDIA's front end unrolls it by 4, unless the result is
 * too long. It leaves the rest to the assembler. In its PTX of the suite, it unrolls every countable loop up to nbody's (25
 * instructions), but not matmul_tiled's (70 instructions). LLVM for NVPTX decides by size alone: up to 8 times, and up to a
 * quarter of clang's usual threshold.
 */
static void choose_unrolling(LLVMModuleRef module, const struct target_arch *arch)
{
	static const char *const arguments[] = {"gpusim-cc", "-unroll-max-count=4", "-unroll-partial-threshold=200"};
	static const char barrier[] = "llvm.nvvm.barrier0";
	LLVMValueRef function = LLVMGetNamedFunction(module, barrier);
	unsigned convergent = LLVMGetEnumAttributeKindForName("convergent", strlen("convergent"));
	if (!arch->vendor || !arch->machine)
		return;
	LLVMParseCommandLineOptions(GS_ARRAY_LEN(arguments), arguments, NULL);
	if (function)
		LLVMRemoveEnumAttributeAtIndex(function, LLVMAttributeFunctionIndex, convergent);
	for (LLVMUseRef use = function ? LLVMGetFirstUse(function) : NULL; use; use = LLVMGetNextUse(use))
		if (LLVMIsACallInst(LLVMGetUser(use)))
			LLVMRemoveCallSiteEnumAttribute(LLVMGetUser(use), LLVMAttributeFunctionIndex, convergent);
}

int target_module_ptx(char *const *files, size_t count, const struct target_arch *arch,
                      const struct target_settings *settings, struct gs_buf *ptx, struct gs_error *err)
{
	LLVMContextRef context = LLVMContextCreate();
	LLVMModuleRef module = NULL;
	LLVMTargetMachineRef machine = NULL;
	int result = link_modules(context, files, count, &module, err);
	if (!result) {
		target_library(module, arch, settings->relaxed);
		result = hide_helpers(module, settings->optimise, err);
	}
	if (!result) {
		choose_precision(module, arch, settings);
		choose_denormals(module, arch, settings);
		keep_vectors(arch);
		choose_unrolling(module, arch);
		result = create_machine(arch, settings->optimise, &machine, err);
	}
	if (!result) {
		prepare_probes(module);
		result = optimise_module(module, machine, settings->optimise, err);
	}
	if (!result)
		result = emit_ptx(module, machine, ptx, err);
	if (!result)
		target_write_only_read(module, ptx);
	if (machine)
		LLVMDisposeTargetMachine(machine);
	if (module)
		LLVMDisposeModule(module);
	LLVMContextDispose(context);
	return result;
}
