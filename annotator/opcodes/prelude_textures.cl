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
GS_INLINE float gs_texture_coordinate(float v, uint size, uint mode, uint normalised)
{
	if (!normalised)
		return v;
	float whole = __builtin_floorf(v);
	if (mode == 0u)
		v -= whole;
	else if (mode == 2u)
		v = (int)whole & 1 ? 1.0f - (v - whole) : v - whole;
	return v * (float)size;
}
GS_INLINE int gs_texture_floor(float v) { return v < -2147483000.0f ? -2147483000 : v > 2147483000.0f ? 2147483000 : (int)__builtin_floorf(v); }
/* The weight of the second of two elements has 8 bits after the point. */
GS_INLINE float gs_texture_weight(float v) { return __builtin_floorf((v - __builtin_floorf(v)) * 256.0f + 0.5f) / 256.0f; }
GS_INLINE int gs_texture_layer(__global struct gs_texture *t, int layer)
{
	return layer < 0 ? 0 : layer >= (int)t->depth ? (int)t->depth - 1 : layer;
}
/* Where the first element of a fetch is, for traces. */
static ulong gs_texture_address(ulong object, uint dimensions, uint layered, int layer, float fx, float fy, float fz, int ix, int iy, int iz, uint whole)
{
	__global struct gs_texture *t = (__global struct gs_texture *)object;
	float shift = t->filters && !whole ? 0.5f : 0.0f;
	int x = whole ? ix : gs_texture_floor(gs_texture_coordinate(fx, t->width, t->modes[0], t->normalised) - shift);
	int y = whole ? iy : gs_texture_floor(gs_texture_coordinate(fy, t->height, t->modes[1], t->normalised) - shift);
	int z = whole ? iz : gs_texture_floor(gs_texture_coordinate(fz, t->depth, t->modes[2], t->normalised) - shift);
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
	fx = gs_texture_coordinate(fx, t->width, t->modes[0], t->normalised);
	fy = gs_texture_coordinate(fy, t->height, t->modes[1], t->normalised);
	fz = gs_texture_coordinate(fz, t->depth, t->modes[2], t->normalised);
	if (!t->filters) {
		gs_texel(t, dimensions, layered, gs_texture_floor(fx), gs_texture_floor(fy), layered ? fixed : gs_texture_floor(fz), real, out);
		return;
	}
	float sum[4] = {0, 0, 0, 0}, wx = gs_texture_weight(fx - 0.5f), wy = gs_texture_weight(fy - 0.5f), wz = gs_texture_weight(fz - 0.5f);
	int x = gs_texture_floor(fx - 0.5f), y = gs_texture_floor(fy - 0.5f), z = gs_texture_floor(fz - 0.5f);
	uint corners = 1u << dimensions;
	for (uint k = 0; k < corners; k++) {
		uint texel[4];
		float weight = (k & 1u ? wx : 1.0f - wx) * (dimensions < 2 ? 1.0f : k & 2u ? wy : 1.0f - wy) * (dimensions < 3 ? 1.0f : k & 4u ? wz : 1.0f - wz);
		gs_texel(t, dimensions, layered, x + (int)(k & 1u), y + (int)(k >> 1 & 1u), layered ? fixed : z + (int)(k >> 2 & 1u), 1u, texel);
		for (uint c = 0; c < 4; c++)
			sum[c] += weight * as_float(texel[c]);
	}
	for (uint c = 0; c < 4; c++)
		out[c] = as_uint(sum[c]);
}
