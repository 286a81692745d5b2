/* Special registers. */
#include "annotator/opcodes/opcode.h"

#include <stdlib.h>
#include <string.h>

/* The name without its %, an expression, and the type that PTX gives it. Sorted in the order of strcmp. */
static const struct special_register {
	const char *name, *text, *type;
} specials[] = {
	{"aggr_smem_size", "(GS_SHARED_BYTES)", "u32"},
	{"clock", "(GS_CLOCK)", "u32"},
	{"clock64", "(GS_CLOCK)", "u64"},
	{"clock_hi", "(GS_CLOCK >> 32)", "u32"},
	{"cluster_ctaid.x", "(GS_CTAID_X % GS_CLUSTER_X)", "u32"},
	{"cluster_ctaid.y", "(GS_CTAID_Y % GS_CLUSTER_Y)", "u32"},
	{"cluster_ctaid.z", "(GS_CTAID_Z % GS_CLUSTER_Z)", "u32"},
	{"cluster_ctarank",
	 "(GS_CTAID_X % GS_CLUSTER_X + GS_CLUSTER_X * (GS_CTAID_Y % GS_CLUSTER_Y + GS_CLUSTER_Y * (GS_CTAID_Z % GS_CLUSTER_Z)))", "u32"},
	{"cluster_nctaid.x", "GS_CLUSTER_X", "u32"},
	{"cluster_nctaid.y", "GS_CLUSTER_Y", "u32"},
	{"cluster_nctaid.z", "GS_CLUSTER_Z", "u32"},
	{"cluster_nctarank", "(GS_CLUSTER_X * GS_CLUSTER_Y * GS_CLUSTER_Z)", "u32"},
	{"clusterid.x", "(GS_CTAID_X / GS_CLUSTER_X)", "u32"},
	{"clusterid.y", "(GS_CTAID_Y / GS_CLUSTER_Y)", "u32"},
	{"clusterid.z", "(GS_CTAID_Z / GS_CLUSTER_Z)", "u32"},
	{"ctaid.x", "GS_CTAID_X", "u32"},
	{"ctaid.y", "GS_CTAID_Y", "u32"},
	{"ctaid.z", "GS_CTAID_Z", "u32"},
	{"dynamic_smem_size", "(GS_DYNAMIC_SHARED)", "u32"},
	{"envreg1", "(GS_WORKSPACE >> 32)", "u32"},
	{"envreg2", "(GS_WORKSPACE)", "u32"},
	{"globaltimer", "(GS_CLOCK)", "u64"},
	{"globaltimer_hi", "(GS_CLOCK >> 32)", "u32"},
	{"globaltimer_lo", "(GS_CLOCK)", "u32"},
	{"gridid", "0", "u64"},
	{"is_explicit_cluster", "GS_CLUSTERED", "pred"},
	{"laneid", "l", "u32"},
	{"lanemask_eq", "(1u << l)", "u32"},
	{"lanemask_ge", "(~0u << l)", "u32"},
	{"lanemask_gt", "(~1u << l)", "u32"},
	{"lanemask_le", "(~(~1u << l))", "u32"},
	{"lanemask_lt", "(~(~0u << l))", "u32"},
	{"nclusterid.x", "(GS_NCTAID_X / GS_CLUSTER_X)", "u32"},
	{"nclusterid.y", "(GS_NCTAID_Y / GS_CLUSTER_Y)", "u32"},
	{"nclusterid.z", "(GS_NCTAID_Z / GS_CLUSTER_Z)", "u32"},
	{"nctaid.x", "GS_NCTAID_X", "u32"},
	{"nctaid.y", "GS_NCTAID_Y", "u32"},
	{"nctaid.z", "GS_NCTAID_Z", "u32"},
	{"nsmid", "1", "u32"},
	{"ntid.x", "GS_NTID_X", "u32"},
	{"ntid.y", "GS_NTID_Y", "u32"},
	{"ntid.z", "GS_NTID_Z", "u32"},
	{"nwarpid", "GS_WARPS", "u32"},
	{"smid", "0", "u32"},
	{"tid.x", "GS_TID_X", "u32"},
	{"tid.y", "GS_TID_Y", "u32"},
	{"tid.z", "GS_TID_Z", "u32"},
	{"total_smem_size", "(GS_SHARED_BYTES)", "u32"},
	{"warpid", "GS_WARP", "u32"},
};

static int compare_names(const void *key, const void *row)
{
	return strcmp(key, ((const struct special_register *)row)->name);
}

const char *opcode_special(const char *name, struct opcode_type *type)
{
	if (*name != '%')
		return NULL;
	const struct special_register *s = bsearch(name + 1, specials, GS_ARRAY_LEN(specials), sizeof specials[0], compare_names);
	if (!s && strncmp(name, "%envreg", 7) && strncmp(name, "%pm", 3) && strncmp(name, "%reserved_smem_offset", 21))
		return NULL;
	*type = opcode_type_of(s ? s->type : "u32");
	return s ? s->text : "0";
}
