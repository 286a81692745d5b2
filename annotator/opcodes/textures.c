/* Fetches of textures, and accesses to surfaces. Both are named by an object, which is the address of a struct lifted_texture. They have one level only. */
#include "annotator/opcodes/opcode.h"

#include <stdio.h>
#include <string.h>

struct texture_form {
	const char *word;
	uint32_t dimensions, coordinates; /* coordinates: operands, with the layer first and those that only fill up */
	bool layered;
};
static const struct texture_form forms[] = {{"1d", 1, 1, false}, {"2d", 2, 2, false}, {"3d", 3, 4, false}, {"a1d", 1, 2, true}, {"a2d", 2, 4, true}};

static const struct texture_form *form_of(const struct opcode_work *w)
{
	for (size_t i = 0; i < GS_ARRAY_LEN(forms); i++)
		if (opcode_has(w, forms[i].word))
			return &forms[i];
	return NULL;
}

static uint32_t find_object(const struct opcode_work *w)
{
	uint32_t at = 0;
	while (at < w->i->operand_count && w->i->operands[at].kind != PTX_ADDRESS)
		at++;
	return at;
}

/* Whether an object and its coordinates are there. */
static bool check_object(struct opcode_work *w, const struct texture_form *f, uint32_t at)
{
	if (at + f->coordinates >= w->i->operand_count)
		opcode_refuse(w, "its form is not known");
	else if (w->i->operands[at].reg < 0)
		opcode_refuse(w, "textures and surfaces that are variables are not lifted yet");
	return !w->rc;
}

/* Writes what gs_texture_fetch and gs_texture_address take first: the object, the form, and coordinates as reals and as integers. */
static void put_place(struct opcode_work *w, const struct texture_form *f, bool whole)
{
	uint32_t first = find_object(w);
	if (!check_object(w, f, first))
		return;
	const struct ptx_operand *at = &w->i->operands[first + 1];
	opcode_put(w, "(");
	opcode_put_place(w, &w->i->operands[first], SPACE_global);
	opcode_put(w, ", %uu, %uu, ", f->dimensions, f->layered);
	if (f->layered)
		opcode_put_operand(w, at++, opcode_type_of("s32"));
	else
		opcode_put(w, "0");
	for (uint32_t side = 0; side < 2; side++)
		for (uint32_t d = 0; d < 3; d++) {
			opcode_put(w, ", ");
			if (d >= f->dimensions || (side == 1) != whole)
				opcode_put(w, side ? "0" : "0.0f");
			else
				opcode_put_operand(w, at + d, opcode_type_of(whole ? "s32" : "f32"));
		}
	opcode_put(w, ", %uu", whole);
}

void opcode_write_tex(struct opcode_work *w)
{
	const struct texture_form *f = form_of(w);
	if (!f || w->type_count != 2 || w->types[0].bits != 32 || w->types[1].bits != 32 || w->results > 4 || !opcode_has(w, "v4")) {
		opcode_refuse(w, "this kind of texture is not lifted yet");
		return;
	}
	bool real = w->types[0].kind == 'f';
	opcode_put(w, "{ uint gs_q[4]; gs_texture_fetch");
	put_place(w, f, w->types[1].kind != 'f');
	opcode_put(w, ", %uu, gs_q);\n", real);
	for (uint32_t r = 0; r < w->results; r++) {
		char text[32];
		if (w->i->operands[r].reg < 0)
			continue;
		snprintf(text, sizeof text, real ? "as_float(gs_q[%u])" : "gs_q[%u]", r);
		opcode_assign(w, r, opcode_type_of(real ? "f32" : "u32"), text);
	}
	opcode_put(w, "}\n");
}

bool opcode_put_texture_address(struct opcode_work *w)
{
	const struct texture_form *f = form_of(w);
	const char *type = strrchr(w->i->opcode, '.');
	if (!f || !type)
		return false;
	opcode_put(w, "gs_texture_address");
	put_place(w, f, strcmp(type, ".f32") != 0);
	opcode_put(w, ")");
	return !w->rc;
}

/* ---- surfaces ---- */

/* Writes the address of an element: 0 where it is outside and the opcode does not say .clamp. */
static void put_element(struct opcode_work *w, const struct texture_form *f, bool clamps)
{
	uint32_t first = find_object(w);
	if (!check_object(w, f, first))
		return;
	const struct ptx_operand *at = &w->i->operands[first + 1];
	opcode_put(w, "gs_surface_place(");
	opcode_put_place(w, &w->i->operands[first], SPACE_global);
	opcode_put(w, ", %uu, ", w->i->bytes);
	for (uint32_t d = 0; d < 2; d++) {
		if (d < f->dimensions)
			opcode_put_operand(w, at + f->layered + d, opcode_type_of("s32"));
		else
			opcode_put(w, "0");
		opcode_put(w, ", ");
	}
	if (f->layered || f->dimensions > 2)
		opcode_put_operand(w, f->layered ? at : at + 2, opcode_type_of("s32"));
	else
		opcode_put(w, "0");
	opcode_put(w, ", %uu)", clamps);
}

static const struct texture_form *open_surface(struct opcode_work *w)
{
	const struct texture_form *f = form_of(w);
	if (!f || w->type_count != 1 || !opcode_has(w, "b") || (w->i->elements != 1 && w->i->elements != 2 && w->i->elements != 4)) {
		opcode_refuse(w, "this kind of surface is not lifted yet");
		return NULL;
	}
	opcode_put(w, "{ ulong gs_a = ");
	put_element(w, f, opcode_has(w, "clamp"));
	opcode_put(w, ";\n");
	return w->rc ? NULL : f;
}

void opcode_write_suld(struct opcode_work *w)
{
	if (!open_surface(w))
		return;
	if (w->results != w->i->elements)
		opcode_refuse(w, "its form is not known");
	for (uint32_t r = 0; r < w->results; r++) {
		if (w->i->operands[r].reg < 0)
			continue;
		opcode_open(w, r, w->type);
		opcode_put(w, "(gs_a ? *(__global gs_m%u *)(gs_a + %uul) : (gs_m%u)0)", w->type.bits, r * (w->type.bits / 8u), w->type.bits);
		opcode_close(w, r, w->type);
	}
	opcode_put(w, "}\n");
}

void opcode_write_sust(struct opcode_work *w)
{
	const struct texture_form *f = open_surface(w);
	uint32_t first = f ? find_object(w) + 1 + f->coordinates : 0;
	if (!f)
		return;
	if (first + w->i->elements != w->i->operand_count) {
		opcode_refuse(w, "its form is not known");
		return;
	}
	opcode_put(w, "if (gs_a) {\n");
	for (uint32_t e = 0; e < w->i->elements; e++) {
		opcode_put(w, "*(__global gs_m%u *)(gs_a + %uul) = ", w->type.bits, e * (w->type.bits / 8u));
		opcode_put_operand(w, &w->i->operands[first + e], w->type);
		opcode_put(w, ";\n");
	}
	opcode_put(w, "} }\n");
}

bool opcode_put_surface_address(struct opcode_work *w)
{
	const struct texture_form *f = form_of(w);
	if (f)
		put_element(w, f, true);
	return f && !w->rc;
}
