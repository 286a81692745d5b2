/* Fetches of textures, and accesses to surfaces. Both are named by an object, which is the address of a struct lifted_texture. Those of mipmaps lie
 * behind one another. Where a variable (.texref, .surfref) is named instead, it has the object that is bound to it. */
#include "annotator/opcodes/opcode.h"

#include <stdio.h>
#include <string.h>

struct texture_form {
	const char *word;
	uint32_t dimensions, coordinates; /* coordinates: operands, with the layer first and those that only fill up */
	bool layered, cube; /* a cube is six layers for each of its own */
};
static const struct texture_form forms[] = {{"1d", 1, 1, false, false}, {"2d", 2, 2, false, false}, {"3d", 3, 4, false, false}, {"a1d", 1, 2, true, false},
					    {"a2d", 2, 4, true, false}, {"cube", 2, 4, false, true},    {"acube", 2, 4, true, true}};

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
	else if (w->i->operands[at + 1].kind == PTX_SYMBOL || w->i->operands[at + 1].kind == PTX_ADDRESS)
		opcode_refuse(w, "samplers that are variables are not lifted yet");
	return !w->rc;
}

static void put_object(struct opcode_work *w, const struct ptx_operand *o)
{
	bool variable = o->reg < 0 && o->text;
	opcode_put(w, variable ? "*(__global const ulong *)(" : "");
	opcode_put_place(w, o, SPACE_global);
	opcode_put(w, variable ? ")" : "");
}

bool opcode_put_object(struct opcode_work *w)
{
	uint32_t at = find_object(w);
	if (at < w->i->operand_count)
		put_object(w, &w->i->operands[at]);
	else
		opcode_refuse(w, "its form is not known");
	return !w->rc;
}

/* A direction in a cube: which layer, and where in it. */
static void put_direction(struct opcode_work *w, const struct texture_form *f, const struct ptx_operand *at)
{
	static const char *const parts[] = {"gs_cube_face", ", gs_cube_x", ", gs_cube_y"};
	opcode_put(w, ", 2u, 1u, ");
	if (f->layered) {
		opcode_put(w, "6 * ");
		opcode_put_operand(w, at++, opcode_type_of("s32"));
		opcode_put(w, " + ");
	}
	for (uint32_t part = 0; part < GS_ARRAY_LEN(parts); part++) {
		opcode_put(w, "%s(", parts[part]);
		for (uint32_t d = 0; d < 3; d++) {
			opcode_put(w, d ? ", " : "");
			opcode_put_operand(w, at + d, opcode_type_of("f32"));
		}
		opcode_put(w, ")");
	}
	opcode_put(w, ", 0.0f, 0, 0, 0, 0u");
}

/* Writes what gs_texture_fetch and gs_texture_address take first: the object, the form, and coordinates as reals and as integers. */
static void put_place(struct opcode_work *w, const struct texture_form *f, bool whole)
{
	uint32_t first = find_object(w);
	if (!check_object(w, f, first))
		return;
	const struct ptx_operand *at = &w->i->operands[first + 1];
	opcode_put(w, "(");
	put_object(w, &w->i->operands[first]);
	if (f->cube) {
		put_direction(w, f, at);
		return;
	}
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

/* The level: as it is given, or of two gradients, which are vectors of 1, 2 or 4 elements. */
static void put_level(struct opcode_work *w, const struct texture_form *f)
{
	uint32_t first = find_object(w), at = first + 1 + f->coordinates, each = f->dimensions == 3 ? 4 : f->dimensions;
	bool gradients = opcode_has(w, "grad");
	opcode_put(w, ", ");
	if (f->cube || at + (gradients ? 2 * each : 1) > w->i->operand_count) {
		opcode_refuse(w, "this kind of texture is not lifted yet");
		return;
	}
	if (!gradients) {
		opcode_put_operand(w, &w->i->operands[at], opcode_type_of("f32"));
		return;
	}
	opcode_put(w, "gs_texture_level_of(");
	put_object(w, &w->i->operands[first]);
	opcode_put(w, ", %uu", f->dimensions);
	for (uint32_t k = 0; k < 6; k++) {
		opcode_put(w, ", ");
		if (k % 3 < f->dimensions)
			opcode_put_operand(w, &w->i->operands[at + k / 3 * each + k % 3], opcode_type_of("f32"));
		else
			opcode_put(w, "0.0f");
	}
	opcode_put(w, ")");
}

static void take_results(struct opcode_work *w, bool real)
{
	for (uint32_t r = 0; r < w->results; r++) {
		char text[32];
		if (w->i->operands[r].reg < 0)
			continue;
		snprintf(text, sizeof text, real ? "as_float(gs_q[%u])" : "gs_q[%u]", r);
		opcode_assign(w, r, opcode_type_of(real ? "f32" : "u32"), text);
	}
	opcode_put(w, "}\n");
}

static bool check_texture(struct opcode_work *w, const struct texture_form *f)
{
	bool good = f && w->type_count == 2 && w->types[0].bits == 32 && w->types[1].bits == 32 && w->results <= 4 && opcode_has(w, "v4");
	if (!good || (f->cube && w->types[1].kind != 'f'))
		opcode_refuse(w, "this kind of texture is not lifted yet");
	return !w->rc;
}

void opcode_write_tex(struct opcode_work *w)
{
	const struct texture_form *f = form_of(w);
	if (!check_texture(w, f))
		return;
	bool real = w->types[0].kind == 'f', levels = opcode_has(w, "level") || opcode_has(w, "grad");
	opcode_put(w, levels ? "{ uint gs_q[4]; gs_texture_fetch_level" : "{ uint gs_q[4]; gs_texture_fetch");
	put_place(w, f, w->types[1].kind != 'f');
	if (levels && !w->rc)
		put_level(w, f);
	opcode_put(w, ", %uu, gs_q);\n", real);
	take_results(w, real);
}

void opcode_write_tld4(struct opcode_work *w)
{
	const struct texture_form *f = form_of(w);
	uint32_t first = find_object(w);
	if (!check_texture(w, f) || !check_object(w, f, first))
		return;
	if (strcmp(f->word, "2d") || w->types[1].kind != 'f') {
		opcode_refuse(w, "this kind of texture is not lifted yet");
		return;
	}
	bool real = w->types[0].kind == 'f';
	opcode_put(w, "{ uint gs_q[4]; gs_texture_gather(");
	put_object(w, &w->i->operands[first]);
	opcode_put(w, ", %uu", opcode_has(w, "g") ? 1 : opcode_has(w, "b") ? 2 : opcode_has(w, "a") ? 3 : 0);
	for (uint32_t d = 0; d < 2; d++) {
		opcode_put(w, ", ");
		opcode_put_operand(w, &w->i->operands[first + 1 + d], opcode_type_of("f32"));
	}
	opcode_put(w, ", %uu, gs_q);\n", real);
	take_results(w, real);
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

/* What a texture or a surface has: its elements in each dimension, and so on. */
void opcode_write_query(struct opcode_work *w)
{
	static const char *const members[] = {"width", "height", "depth", "array_size", "num_mipmap_levels", "normalized_coords", NULL};
	static const char *const texts[] = {"width", "height", "depth", "layers", "levels", "normalised"};
	int which = opcode_which(w, members);
	uint32_t at = find_object(w);
	if (which < 0 || w->results != 1 || w->type.bits != 32 || at >= w->i->operand_count) {
		opcode_refuse(w, "this query is not lifted yet");
		return;
	}
	opcode_open(w, 0, opcode_type_of("u32"));
	opcode_put(w, "((__global struct gs_texture *)(");
	put_object(w, &w->i->operands[at]);
	opcode_put(w, "))->%s", texts[which]);
	opcode_close(w, 0, opcode_type_of("u32"));
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
	put_object(w, &w->i->operands[first]);
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
