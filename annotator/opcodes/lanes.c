/*
 * Instructions of lanes together. Lanes that execute it together are those of GS_THERE, and of these only the ones that a lane names in its
 * own mask: tiles of a warp execute the same instruction with different masks. With .sync lanes wait until all are there that they name
 * (GS_TOGETHER). What a lane that is not there would give is not defined in PTX. A shuffle gives 0 then: programs that sum up fewer lanes
 * than a warp has rely on it. Lanes that are there can be read by others that do not name them.
 */
#include "annotator/opcodes/opcode.h"

#include <string.h>

/* Gathers operand n of all lanes in an array. Lanes that are off have something there, which nobody uses. */
static void gather(struct opcode_work *w, uint32_t n, struct opcode_type t, const char *name)
{
	opcode_put(w, "%s %s[32]; " EACH " %s[l] = ", opcode_c_type(t), name, name);
	opcode_put_operand(w, opcode_source(w, n), t);
	opcode_put(w, ";\n");
}

/* The lanes that a lane works with, as gs_m. n: which operand names them. */
static void put_members(struct opcode_work *w, uint32_t n, bool sync)
{
	opcode_put(w, "uint gs_m = GS_THERE");
	if (sync) {
		opcode_put(w, " & ");
		opcode_put_operand(w, opcode_source(w, n), opcode_type_of("u32"));
	}
	opcode_put(w, ";\n");
}

/* Whether lanes may differ in a register: what they share has no lane in its name. */
static bool differs(struct opcode_work *w, const struct ptx_operand *o)
{
	struct gs_buf name = {0};
	if (!o || o->kind != PTX_REGISTER)
		return false;
	w->scope->spell(w->scope, o->reg, &name);
	bool lanes = !name.data || strchr(name.data, '[');
	gs_buf_free(&name);
	return lanes;
}

/* Lanes wait for those that operand n names. `keep` is what a lane brings, `take` lets lane l have brought gs_k. */
static void put_together(struct opcode_work *w, uint32_t n, const char *keep, const char *take)
{
	const struct ptx_operand *mask = opcode_source(w, n);
	struct opcode_type u32 = opcode_type_of("u32");
	bool each = differs(w, mask);
	if (!mask)
		return;
	opcode_put(w, "uint gs_n = 0; %s gs_n |= %s", each ? EACH : "", each ? "x >> l & 1u ? " : "");
	opcode_put_operand(w, mask, u32);
	opcode_put(w, "%s;\nGS_TOGETHER(gs_n, %uu, (", each ? " : 0u" : "", (unsigned)(uint32_t)gs_hash(w->i->opcode, strlen(w->i->opcode)));
	opcode_put_operand(w, mask, u32);
	opcode_put(w, "), %s, %s)\n", keep, take);
}

/* Lanes that the mask names and that are read, but do not execute this shuffle now: they are elsewhere and never come, or in another one,
 * with another mask. */
static void put_off(struct opcode_work *w, bool masks)
{
	opcode_put(w, "gs_off |= gs_p ? ");
	opcode_put_operand(w, opcode_source(w, 3), opcode_type_of("u32"));
	opcode_put(w, masks ? " & (gs_w[gs_j & 31] != gs_w[l] ? ~0u : ~GS_THERE) & 1u << (gs_j & 31) : 0u;\n" : " & ~GS_THERE & 1u << (gs_j & 31) : 0u;\n");
}

void opcode_write_shfl(struct opcode_work *w)
{
	static const char *const modes[] = {"up", "down", "bfly", "idx", NULL};
	static const char *const from[] = {"(int)l - (int)gs_b", "(int)(l + gs_b)", "(int)(l ^ gs_b)", "(int)(l & gs_s | gs_b & ~gs_s)"};
	struct opcode_type b32 = opcode_type_of("b32");
	int mode = opcode_which(w, modes);
	if (mode < 0 || w->type.bits != 32 || !w->results || w->results > 2) {
		opcode_refuse(w, "its form is not known");
		return;
	}
	bool sync = opcode_has(w, "sync");
	const struct ptx_operand *members = sync ? opcode_source(w, 3) : NULL;
	bool masks = members && members->kind == PTX_REGISTER;
	opcode_put(w, "{ uint gs_off = 0; ");
	gather(w, 0, b32, "gs_x");
	if (masks)
		gather(w, 3, opcode_type_of("u32"), "gs_w");
	if (sync)
		put_together(w, 3, "gs_x[l]", masks ? "gs_x[l] = (uint)gs_k; gs_w[l] = GS_KEPT_MASK(l)" : "gs_x[l] = (uint)gs_k");
	opcode_expand(w, EACH_ON "\nuint gs_b = $b:u32 & 31u, gs_c = $c:u32, gs_s = gs_c >> 8 & 31u;\n");
	opcode_put(w, "int gs_e = (int)(l & gs_s | gs_c & 31u & ~gs_s), gs_j = %s;\n", from[mode]);
	put_members(w, 3, sync);
	opcode_put(w, "uint gs_p = gs_j %s gs_e, gs_k = gs_p ? (uint)gs_j & 31u : l;\n", mode ? "<=" : ">=");
	if (sync)
		put_off(w, masks);
	opcode_assign(w, 0, b32, "(gs_m | x) >> gs_k & 1u ? gs_x[gs_k] : 0u");
	if (w->results == 2)
		opcode_assign(w, 1, opcode_type_of("pred"), "gs_p");
	opcode_put(w, "}\nGS_ELSEWHERE(gs_off, %u) }\n", w->i->ptx_line);
}

void opcode_write_vote(struct opcode_work *w)
{
	static const char *const modes[] = {"all", "any", "uni", "ballot", NULL};
	static const char *const results[] = {"(gs_v & gs_m) == gs_m", "(gs_v & gs_m) != 0", "(gs_v & gs_m) == gs_m | (gs_v & gs_m) == 0",
					      "gs_v & gs_m"};
	int mode = opcode_which(w, modes);
	if (mode < 0 || w->results != 1) {
		opcode_refuse(w, "its form is not known");
		return;
	}
	opcode_put(w, "{ uint gs_v = 0; " EACH " gs_v |= ((");
	opcode_put_operand(w, opcode_source(w, 0), opcode_type_of("pred"));
	opcode_put(w, ") & 1u) << l;\n"); /* lanes that are off may have anything there */
	if (opcode_has(w, "sync"))
		put_together(w, 1, "gs_v >> l & 1u", "gs_v = gs_v & ~(1u << l) | (uint)gs_k << l");
	opcode_put(w, EACH_ON " ");
	put_members(w, 1, opcode_has(w, "sync"));
	opcode_assign(w, 0, opcode_type_of(mode == 3 ? "b32" : "pred"), results[mode]);
	opcode_put(w, "} }\n");
}

void opcode_write_match(struct opcode_work *w)
{
	bool all = opcode_has(w, "all");
	if ((w->type.bits != 32 && w->type.bits != 64) || !w->results || w->results > 1u + all) {
		opcode_refuse(w, "its form is not known");
		return;
	}
	opcode_put(w, "{ ");
	gather(w, 0, opcode_type_as(w->type, 'u'), "gs_x");
	put_together(w, 1, "gs_x[l]", w->type.bits == 64 ? "gs_x[l] = gs_k" : "gs_x[l] = (uint)gs_k");
	opcode_put(w, EACH_ON " ");
	put_members(w, 1, true);
	opcode_put(w, "uint gs_v = 0; for (uint gs_j = 0; gs_j < 32; gs_j++) gs_v |= (uint)(gs_x[gs_j] == gs_x[l]) << gs_j;\ngs_v &= gs_m;\n");
	opcode_put(w, all ? "uint gs_p = gs_v == gs_m; gs_v = gs_p ? gs_v : 0;\n" : "");
	opcode_assign(w, 0, opcode_type_of("b32"), "gs_v");
	if (w->results == 2)
		opcode_assign(w, 1, opcode_type_of("pred"), "gs_p");
	opcode_put(w, "} }\n");
}

void opcode_write_redux(struct opcode_work *w)
{
	static const char *const names[] = {"add", "min", "max", "and", "or", "xor", NULL};
	static const char *const steps[] = {"+", NULL, NULL, "&", "|", "^"};
	int which = opcode_which(w, names);
	char letter = opcode_type_letter(w->type);
	bool extreme = which == 1 || which == 2;
	if (which < 0 || w->results != 1 || w->type.bits != 32 || !strchr("usbf", letter) || (letter == 'f' && !extreme)) {
		opcode_refuse(w, "its form is not known");
		return;
	}
	struct opcode_type t = extreme ? w->type : opcode_type_as(w->type, 'u');
	opcode_put(w, "{ ");
	gather(w, 0, t, "gs_x");
	put_together(w, 1, letter == 'f' ? "as_uint(gs_x[l])" : "(uint)gs_x[l]", letter == 'f' ? "gs_x[l] = as_float((uint)gs_k)" : "gs_x[l] = (uint)gs_k");
	opcode_put(w, EACH_ON " ");
	put_members(w, 1, true);
	opcode_put(w, "%s gs_v = gs_x[l];\n", opcode_c_type(t));
	opcode_put(w, "for (uint gs_j = 0; gs_j < 32; gs_j++) if (gs_j != l && gs_m >> gs_j & 1u) gs_v = ");
	bool absolute = opcode_has(w, "abs");
	const char *size = absolute ? "fabs" : "", *nan = opcode_has(w, "NaN") ? "_nan" : "";
	if (letter == 'f')
		opcode_put(w, "gs_%s%s_f32(%s(gs_v), %s(gs_x[gs_j]));\n", names[which], nan, size, size);
	else if (extreme)
		opcode_put(w, "%s(gs_v, gs_x[gs_j]);\n", names[which]);
	else
		opcode_put(w, "gs_v %s gs_x[gs_j];\n", steps[which]);
	opcode_assign(w, 0, t, letter == 'f' && absolute ? "fabs(gs_v)" : "gs_v");
	opcode_put(w, "} }\n");
}

void opcode_write_activemask(struct opcode_work *w)
{
	opcode_put(w, EACH_ON " ");
	opcode_assign(w, 0, opcode_type_of("b32"), "x");
	opcode_put(w, "}\n");
}

/* The lane with the lowest number leads. */
void opcode_write_elect(struct opcode_work *w)
{
	if (w->results != 2) {
		opcode_refuse(w, "its form is not known");
		return;
	}
	opcode_put(w, "{ ");
	put_together(w, 0, "0", "");
	opcode_put(w, EACH_ON " ");
	put_members(w, 0, true);
	opcode_put(w, "uint gs_v = gs_m ? 31u - clz(gs_m & (0u - gs_m)) : 0;\n");
	opcode_assign(w, 0, opcode_type_of("b32"), "gs_v");
	opcode_assign(w, 1, opcode_type_of("pred"), "gs_v == l");
	opcode_put(w, "} }\n");
}

void opcode_write_syncwarp(struct opcode_work *w)
{
	opcode_put(w, "{ ");
	put_together(w, 0, "0", "");
	opcode_put(w, "mem_fence(CLK_GLOBAL_MEM_FENCE); }\n");
}
