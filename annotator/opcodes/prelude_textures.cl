/* Textures, as CUDA's programming guide defines their filters and modes. A texture is a struct lifted_texture (runtime/format/lifted.h). */
struct gs_texture {
	ulong address, pitch, slice;
	uint width, height, depth, channels, bits, kind, modes[3], filters, normalised, scaled;
	float border[4];
	uint linear, unused;
};
/* The index in a dimension of so many elements; -1: outside. Only normalised coordinates wrap and mirror. */
GS_INLINE int gs_texture_index(int i, int size, uint mode, uint normalised)
{
	if (i >= 0 && i < size)
		return i;
	if (mode == 3u)
		return -1;
	if (!normalised || mode == 1u)
		return i < 0 ? 0 : size - 1;
	int period = mode == 2u ? 2 * size : size, at = i % period;
	at += at < 0 ? period : 0;
	return at < size ? at : period - 1 - at;
}
GS_INLINE uint gs_texture_channel(__global struct gs_texture *t, ulong a, uint c)
{
	uint sign = t->kind == 0u;
	if (t->bits == 8u) {
		uint v = *(__global gs_m8 *)(a + c);
		return sign ? (uint)(int)(char)v : v;
	}
	if (t->bits == 16u) {
		uint v = *(__global gs_m16 *)(a + 2 * c);
		return sign ? (uint)(int)(short)v : v;
	}
	return *(__global gs_m32 *)(a + 4 * c);
}
GS_INLINE float gs_texture_real(__global struct gs_texture *t, uint raw)
{
	if (t->kind == 2u)
		return t->bits == 16u ? gs_f32_of_f16((ushort)raw) : as_float(raw);
	float most = (float)((1u << (t->bits - (t->kind == 0u))) - 1u);
	if (t->kind == 1u)
		return (float)raw / most;
	float v = (float)(int)raw / most;
	return v < -1.0f ? -1.0f : v;
}
GS_INLINE ulong gs_texture_place(__global struct gs_texture *t, int x, int y, int z)
{
	return t->address + (ulong)z * t->slice + (ulong)y * t->pitch + (ulong)x * (t->channels * t->bits / 8u);
}
/* One element, each channel as the bits of a float (real) or of an integer. */
static void gs_texel(__global struct gs_texture *t, uint dimensions, uint layered, int x, int y, int z, uint real, __private uint *out)
{
	x = gs_texture_index(x, (int)t->width, t->linear ? 3u : t->modes[0], t->normalised);
	y = dimensions > 1 ? gs_texture_index(y, (int)t->height, t->modes[1], t->normalised) : 0;
	if (!layered)
		z = dimensions > 2 ? gs_texture_index(z, (int)t->depth, t->modes[2], t->normalised) : 0;
	uint outside = x < 0 || y < 0 || z < 0;
	ulong a = outside ? 0 : gs_texture_place(t, x, y, z);
	for (uint c = 0; c < 4; c++) {
		out[c] = 0;
		if (outside)
			out[c] = t->linear ? 0u : real ? as_uint(t->border[c]) : (uint)t->border[c];
		else if (c < t->channels) {
			uint raw = gs_texture_channel(t, a, c);
			out[c] = real && (t->scaled || t->kind == 2u) ? as_uint(gs_texture_real(t, raw)) : raw;
		}
	}
}
/* A coordinate in elements. */
GS_INLINE float gs_texture_coordinate(float v, uint size, uint normalised)
{
	return normalised ? v * (float)size : v;
}
GS_INLINE int gs_texture_floor(float v) { return v < -2147483000.0f ? -2147483000 : v > 2147483000.0f ? 2147483000 : (int)__builtin_floorf(v); }
/* A coordinate that is filtered has 8 bits after the point. Its whole part is the first of two elements, the rest the weight of the second. */
GS_INLINE int gs_texture_fixed(float v, uint size, uint mode, uint normalised)
{
	int at = v < -8000000.0f ? -2048000000 : v > 8000000.0f ? 2048000000 : (int)__builtin_floorf((v - 0.5f) * 256.0f + 0.5f);
	int last = ((int)size - 1) * 256; /* of modes that keep coordinates inside, it is so before weights are rounded */
	return mode == 3u || (normalised && mode != 1u) ? at : at < 0 ? 0 : at > last ? last : at;
}
GS_INLINE uint gs_texture_part(uint weight, uint part) { return (weight * part + 128u) >> 8; }
/*
 * Weights of the 2, 4 or 8 elements around a place, in 256ths; they have 8 bits, and their sum is 256. So an H200 rounds them: what is at x = 1
 * is divided upwards, what is at x = 0 downwards, first along z, then along y.
 */
GS_INLINE void gs_texture_divide(__private uint *weights, uint x, uint at, uint bit, uint part)
{
	uint whole = weights[at], low = x ? whole - gs_texture_part(whole, part) : gs_texture_part(whole, 256u - part);
	weights[at] = low;
	weights[at | bit] = whole - low;
}
GS_INLINE void gs_texture_weights(__private uint *weights, uint dimensions, uint x, uint y, uint z)
{
	weights[0] = 256u - x;
	weights[1] = x;
	if (dimensions > 2)
		for (uint k = 0; k < 2; k++)
			gs_texture_divide(weights, k, k, 4u, z);
	if (dimensions > 1)
		for (uint k = 0; k < 8; k++)
			if (!(k & 2u) && (k < 2 || dimensions > 2))
				gs_texture_divide(weights, k & 1u, k, 2u, y);
}
GS_INLINE int gs_texture_layer(__global struct gs_texture *t, int layer)
{
	return (uint)layer < t->depth ? layer : (int)t->depth - 1; /* less than 0 is the last, too */
}
/* A surface's element, by its first byte in a row; 0: outside. (A GPU ends the kernel there, where the opcode says .trap.) */
GS_INLINE ulong gs_surface_place(ulong object, uint bytes, int x, int y, int z, uint clamps)
{
	__global struct gs_texture *t = (__global struct gs_texture *)object;
	int last = (int)(t->width * (t->channels * t->bits / 8u)) - (int)bytes;
	if (clamps) {
		x = x < 0 ? 0 : x > last ? last : x;
		y = gs_texture_index(y, (int)t->height, 1u, 0u);
		z = gs_texture_index(z, (int)t->depth, 1u, 0u);
	}
	uint inside = x >= 0 && x <= last && y >= 0 && (uint)y < t->height && z >= 0 && (uint)z < t->depth;
	return inside ? t->address + (ulong)z * t->slice + (ulong)y * t->pitch + (ulong)x : 0ul;
}
/* Where the first element of a fetch is, for traces. */
static ulong gs_texture_address(ulong object, uint dimensions, uint layered, int layer, float fx, float fy, float fz, int ix, int iy, int iz, uint whole)
{
	__global struct gs_texture *t = (__global struct gs_texture *)object;
	float shift = t->filters && !whole ? 0.5f : 0.0f;
	int x = whole ? ix : gs_texture_floor(gs_texture_coordinate(fx, t->width, t->normalised) - shift);
	int y = whole ? iy : gs_texture_floor(gs_texture_coordinate(fy, t->height, t->normalised) - shift);
	int z = whole ? iz : gs_texture_floor(gs_texture_coordinate(fz, t->depth, t->normalised) - shift);
	x = gs_texture_index(x, (int)t->width, 1u, 0u);
	y = dimensions > 1 ? gs_texture_index(y, (int)t->height, 1u, 0u) : 0;
	z = layered ? gs_texture_layer(t, layer) : dimensions > 2 ? gs_texture_index(z, (int)t->depth, 1u, 0u) : 0;
	return gs_texture_place(t, x, y, z);
}
static void gs_texture_fetch(ulong object, uint dimensions, uint layered, int layer, float fx, float fy, float fz, int ix, int iy, int iz, uint whole,
	uint real, __private uint *out)
{
	__global struct gs_texture *t = (__global struct gs_texture *)object;
	int fixed = layered ? gs_texture_layer(t, layer) : 0;
	if (whole) {
		gs_texel(t, dimensions, layered, ix, iy, layered ? fixed : iz, real, out);
		return;
	}
	fx = gs_texture_coordinate(fx, t->width, t->normalised);
	fy = gs_texture_coordinate(fy, t->height, t->normalised);
	fz = gs_texture_coordinate(fz, t->depth, t->normalised);
	if (!t->filters) {
		gs_texel(t, dimensions, layered, gs_texture_floor(fx), gs_texture_floor(fy), layered ? fixed : gs_texture_floor(fz), real, out);
		return;
	}
	int x = gs_texture_fixed(fx, t->width, t->linear ? 3u : t->modes[0], t->normalised);
	int y = gs_texture_fixed(fy, t->height, t->modes[1], t->normalised);
	int z = gs_texture_fixed(fz, t->depth, t->modes[2], t->normalised);
	uint weights[8];
	double sum[4] = {0, 0, 0, 0};
	gs_texture_weights(weights, dimensions, (uint)x & 255u, (uint)y & 255u, (uint)z & 255u);
	for (uint k = 0; k < 1u << dimensions; k++) {
		uint texel[4];
		if (!weights[k])
			continue;
		gs_texel(t, dimensions, layered, (x >> 8) + (int)(k & 1u), (y >> 8) + (int)(k >> 1 & 1u), layered ? fixed : (z >> 8) + (int)(k >> 2 & 1u), 1u, texel);
		for (uint c = 0; c < 4; c++)
			sum[c] += (double)weights[k] * as_float(texel[c]);
	}
	for (uint c = 0; c < 4; c++)
		out[c] = as_uint((float)(sum[c] / 256.0));
}
