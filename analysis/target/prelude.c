/*
 * The native_ functions, written as the approximate instructions that they stand for. With libclc they would become intrinsics
 * that the NVPTX back end cannot compile. They are macros, because clang already has builtins of these names.
 */
#include "analysis/target/internal.h"

#define VECTORS(name)                                                                              \
	"__gpusim_vec2(" name ")__gpusim_vec3(" name ")__gpusim_vec4(" name ")__gpusim_vec8(" name \
	")__gpusim_vec16(" name ")"

#define UNARY(name, expression)                                              \
	"__gpusim_fn(float) __gpusim_" name "(float x) { return " expression \
	"; }\n" VECTORS(name) "\n"                                           \
			      "#define " name " __gpusim_" name "\n"

const char target_prelude[] =
	/* OpenCL C 1.0 and 1.1 have no `static`. */
	"#define __gpusim_fn(type) inline type __attribute__((overloadable, always_inline, internal_linkage, nodebug))\n"
	"#define __gpusim_vec2(f) __gpusim_fn(float2) __gpusim_##f(float2 x) "
	"{ return (float2)(__gpusim_##f(x.x), __gpusim_##f(x.y)); }\n"
	"#define __gpusim_vec3(f) __gpusim_fn(float3) __gpusim_##f(float3 x) "
	"{ return (float3)(__gpusim_##f(x.xy), __gpusim_##f(x.z)); }\n"
	"#define __gpusim_vec4(f) __gpusim_fn(float4) __gpusim_##f(float4 x) "
	"{ return (float4)(__gpusim_##f(x.lo), __gpusim_##f(x.hi)); }\n"
	"#define __gpusim_vec8(f) __gpusim_fn(float8) __gpusim_##f(float8 x) "
	"{ return (float8)(__gpusim_##f(x.lo), __gpusim_##f(x.hi)); }\n"
	"#define __gpusim_vec16(f) __gpusim_fn(float16) __gpusim_##f(float16 x) "
	"{ return (float16)(__gpusim_##f(x.lo), __gpusim_##f(x.hi)); }\n"
	UNARY("native_sin", "__nvvm_sin_approx_f(x)")
	UNARY("native_cos", "__nvvm_cos_approx_f(x)")
	UNARY("native_tan", "__nvvm_div_approx_f(__nvvm_sin_approx_f(x), __nvvm_cos_approx_f(x))")
	UNARY("native_exp2", "__nvvm_ex2_approx_f(x)")
	UNARY("native_exp", "__nvvm_ex2_approx_f(x * 1.44269504f)")
	UNARY("native_exp10", "__nvvm_ex2_approx_f(x * 3.32192809f)")
	UNARY("native_log2", "__nvvm_lg2_approx_f(x)")
	UNARY("native_log", "__nvvm_lg2_approx_f(x) * 0.69314718f")
	UNARY("native_log10", "__nvvm_lg2_approx_f(x) * 0.30103000f")
	UNARY("native_sqrt", "__nvvm_sqrt_approx_f(x)")
	UNARY("native_rsqrt", "__nvvm_rsqrt_approx_f(x)")
	UNARY("native_recip", "__nvvm_rcp_approx_ftz_f(x)")
	"#define native_divide(x, y) ((x) * native_recip(y))\n"
	"#define native_powr(x, y) native_exp2((y) * native_log2(x))\n";
