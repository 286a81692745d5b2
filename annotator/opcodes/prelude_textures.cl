/* Textures, as CUDA's programming guide defines their filters and modes. A texture is a struct lifted_texture (runtime/format/lifted.h). */
struct gs_texture {
	ulong address, pitch, slice, curve;
	uint width, height, depth, channels, bits, kind, modes[3], filters, normalised, scaled;
	float border[4];
	uint linear, levels, level_filters;
	float level_bias, least_level, most_level;
	uint layers;
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
GS_INLINE float gs_texture_real(__global struct gs_texture *t, uint raw, uint c)
{
	if (t->curve && c < 3u)
		return ((__global const float *)t->curve)[raw];
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
			out[c] = real && (t->scaled || t->kind == 2u) ? as_uint(gs_texture_real(t, raw, c)) : raw;
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
/* A level of a mipmap, or a place between two of them, whose weight has 8 bits. Textures without levels are what they are. */
static void gs_texture_fetch_level(ulong object, uint dimensions, uint layered, int layer, float fx, float fy, float fz, int ix, int iy, int iz, uint whole,
	float level, uint real, __private uint *out)
{
	__global struct gs_texture *t = (__global struct gs_texture *)object;
	float most = (float)(int)(t->levels - 1u), at = t->levels > 1u ? level + t->level_bias : 0.0f;
	if (t->levels > 1u) {
		most = t->most_level < most ? t->most_level : most;
		at = at > most ? most : at;
		at = at > t->least_level ? at : t->least_level; /* also what is not a number */
		at = at > 0.0f ? at : 0.0f;
	}
	uint fixed = (uint)(at * 256.0f + 0.5f), weight = t->level_filters && real ? fixed & 255u : 0u;
	uint lower = t->level_filters ? fixed >> 8 : (fixed + 128u) >> 8;
	ulong record = object + (ulong)lower * sizeof(struct gs_texture);
	gs_texture_fetch(record, dimensions, layered, layer, fx, fy, fz, ix, iy, iz, whole, real, out);
	if (!weight)
		return;
	uint upper[4];
	gs_texture_fetch(record + sizeof(struct gs_texture), dimensions, layered, layer, fx, fy, fz, ix, iy, iz, whole, real, upper);
	for (uint c = 0; c < 4; c++)
		out[c] = as_uint((float)(((double)as_float(out[c]) * (256u - weight) + (double)as_float(upper[c]) * weight) / 256.0));
}
/* The level at which an element is as large as a step: the larger of the two steps, in elements. */
GS_INLINE float gs_texture_level_of(ulong object, uint dimensions, float ax, float ay, float az, float bx, float by, float bz)
{
	__global struct gs_texture *t = (__global struct gs_texture *)object;
	float w = (float)t->width, h = dimensions > 1 ? (float)t->height : 0.0f, d = dimensions > 2 ? (float)t->depth : 0.0f;
	float a = ax * w * ax * w + ay * h * ay * h + az * d * az * d, b = bx * w * bx * w + by * h * by * h + bz * d * bz * d;
	return 0.5f * log2(a > b ? a : b);
}
/* tld4: one channel of the four elements that a linear filter would take, from the lower left around. */
static void gs_texture_gather(ulong object, uint channel, float fx, float fy, uint real, __private uint *out)
{
	__global struct gs_texture *t = (__global struct gs_texture *)object;
	int x = gs_texture_floor(gs_texture_coordinate(fx, t->width, t->normalised) - 0.5f);
	int y = gs_texture_floor(gs_texture_coordinate(fy, t->height, t->normalised) - 0.5f);
	for (uint k = 0; k < 4; k++) {
		uint texel[4];
		gs_texel(t, 2u, 0u, x + (int)(k == 1u || k == 2u), y + (int)(k < 2u), 0, real, texel);
		out[k] = texel[channel];
	}
}
/* Cubes: six layers, for +x, -x, +y, -y, +z, -z. A direction meets one of them; seams are not filtered across. */
GS_INLINE int gs_cube_face(float x, float y, float z)
{
	float a = __builtin_fabsf(x), b = __builtin_fabsf(y), c = __builtin_fabsf(z);
	return a >= b && a >= c ? (x < 0.0f) : b >= c ? 2 + (y < 0.0f) : 4 + (z < 0.0f);
}
GS_INLINE float gs_cube_x(float x, float y, float z)
{
	int face = gs_cube_face(x, y, z);
	float s = face == 0 ? -z : face == 1 ? z : face == 5 ? -x : x, m = face < 2 ? x : face < 4 ? y : z;
	return 0.5f * (s / __builtin_fabsf(m) + 1.0f);
}
GS_INLINE float gs_cube_y(float x, float y, float z)
{
	int face = gs_cube_face(x, y, z);
	float s = face == 2 ? z : face == 3 ? -z : -y, m = face < 2 ? x : face < 4 ? y : z;
	return 0.5f * (s / __builtin_fabsf(m) + 1.0f);
}
