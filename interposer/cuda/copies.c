/* Copies and fills: their directions, their shapes, and who waits for them. */
#include "interposer/cuda/copies.h"

#include "interposer/cuda/memory.h"
#include "interposer/cuda/registration.h"
#include "interposer/cuda/streams.h"

/* Bytes from the first to the last that are touched. */
static bool span(size_t width, size_t height, size_t depth, size_t pitch, size_t slice, size_t *out)
{
	size_t rows, slices;
	if (__builtin_mul_overflow(height - 1, pitch, &rows) || __builtin_mul_overflow(depth - 1, slice, &slices))
		return false;
	return !__builtin_add_overflow(rows, slices, &rows) && !__builtin_add_overflow(rows, width, out);
}

/* Whether `bytes` from here are there, in memory that the device can use if it must. */
static bool is_usable(const void *address, size_t bytes, bool by_device, enum address_kind *kind)
{
	size_t follow;
	*kind = address_kind_of(address, &follow);
	return address && bytes <= follow && (!by_device || *kind != ADDRESS_PAGEABLE);
}

/* Who waits for a copy. Where the call itself need not wait, it still does if memory of the host is pageable. */
static bool must_wait(bool synchronous, enum cuda_copy_kind kind, enum address_kind to)
{
	switch (kind) {
	case CUDA_WITHIN_DEVICE:
		return false;
	case CUDA_WITHIN_HOST:
		return true;
	case CUDA_TO_HOST:
		return synchronous || to == ADDRESS_PAGEABLE;
	case CUDA_TO_DEVICE:
		break;
	}
	return synchronous;
}

static enum cuda_copy_kind kind_by_addresses(enum address_kind to, enum address_kind from)
{
	bool to_device = to == ADDRESS_DEVICE || to == ADDRESS_MANAGED, from_device = from == ADDRESS_DEVICE || from == ADDRESS_MANAGED;
	return to_device ? from_device ? CUDA_WITHIN_DEVICE : CUDA_TO_DEVICE : from_device ? CUDA_TO_HOST : CUDA_WITHIN_HOST;
}

/* Fills in the kind. The copy is not empty. */
static int check(struct cuda_copy *what, int direction, enum address_kind *to)
{
	static const enum cuda_copy_kind kinds[] = {CUDA_WITHIN_HOST, CUDA_TO_DEVICE, CUDA_TO_HOST, CUDA_WITHIN_DEVICE};
	size_t to_bytes, from_bytes;
	enum address_kind from;
	bool good = span(what->width, what->height, what->depth, what->to_pitch, what->to_slice, &to_bytes) &&
	            span(what->width, what->height, what->depth, what->from_pitch, what->from_slice, &from_bytes);
	bool to_device = direction == API_HOST_TO_DEVICE || direction == API_DEVICE_TO_DEVICE;
	bool from_device = direction == API_DEVICE_TO_HOST || direction == API_DEVICE_TO_DEVICE;
	if (!good || !is_usable(what->to, to_bytes, to_device, to) || !is_usable(what->from, from_bytes, from_device, &from))
		return cudaErrorInvalidValue;
	what->kind = direction == API_BY_ADDRESSES ? kind_by_addresses(*to, from) : kinds[direction];
	return cudaSuccess;
}

/* `synchronous` is what the function's name says. */
static int copy(struct cuda_copy *what, int direction, bool synchronous, void *stream)
{
	struct ordered_command c;
	enum address_kind to;
	if (!what->width || !what->height || !what->depth)
		return stream_exists(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle;
	if (direction < API_HOST_TO_HOST || direction > API_BY_ADDRESSES)
		return cudaErrorInvalidMemcpyDirection;
	int error = check(what, direction, &to);
	if (!error)
		error = ordered_begin(&c, stream, stream_is_capturing(stream) ? synchronous : must_wait(synchronous, what->kind, to), NULL);
	return error ? error : ordered_end(&c, ordered_copy(&c, what), cudaErrorInvalidValue);
}

int copy_line_check(void *to, const void *from, size_t bytes, int direction, struct cuda_copy *out)
{
	enum address_kind kind;
	*out = (struct cuda_copy){.to = to, .from = from, .width = bytes, .height = 1, .depth = 1, .in_turn = true};
	if (direction < API_HOST_TO_HOST || direction > API_BY_ADDRESSES)
		return cudaErrorInvalidMemcpyDirection;
	return bytes ? check(out, direction, &kind) : cudaErrorInvalidValue;
}

static int copy_line(void *to, const void *from, size_t bytes, int direction, bool synchronous, void *stream)
{
	struct cuda_copy what = {.to = to, .from = from, .width = bytes, .height = 1, .depth = 1};
	return copy(&what, direction, synchronous, stream);
}

int hook_cudaMemcpy(void *to, const void *from, size_t bytes, int direction, void *stream)
{
	return copy_line(to, from, bytes, direction, true, stream);
}

int hook_cudaMemcpyAsync(void *to, const void *from, size_t bytes, int direction, void *stream)
{
	return copy_line(to, from, bytes, direction, false, stream);
}

static int copy_peer_line(void *to, int to_device, const void *from, int from_device, size_t bytes, bool synchronous, void *stream)
{
	struct cuda_copy what = {.to = to, .from = from, .width = bytes, .height = 1, .depth = 1, .peer = to_device != from_device,
	                         .to_device = (uint32_t)to_device, .from_device = (uint32_t)from_device};
	return is_device(to_device) && is_device(from_device) ? copy(&what, API_DEVICE_TO_DEVICE, synchronous, stream) : cudaErrorInvalidDevice;
}

int hook_cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes, void *stream)
{
	return copy_peer_line(to, to_device, from, from_device, bytes, true, stream);
}

int hook_cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t bytes, void *stream)
{
	return copy_peer_line(to, to_device, from, from_device, bytes, false, stream);
}

/* ---- several lines in one call ---- */

/* As an H200's driver: the legacy stream is refused before anything else, and of errors that no copy has, the number is that of none. */
int copy_batch(struct copies b, size_t *failed, void *stream)
{
	enum { IN_ORDER = 1, DURING_THE_CALL, ANY_TIME };
	if (!stream || stream == API_LEGACY_STREAM)
		return cudaErrorInvalidValue;
	if (failed)
		*failed = SIZE_MAX;
	if (!b.to || !b.from || !b.bytes || !b.count || !b.wishes || !b.firsts || !b.wish_count || b.wish_count > b.count || b.firsts[0])
		return cudaErrorInvalidValue;
	for (size_t i = 0; i < b.wish_count; i++)
		if (b.wishes[i].source_read < IN_ORDER || b.wishes[i].source_read > ANY_TIME)
			return cudaErrorInvalidValue;
	for (size_t i = 0, wish = 0; i < b.count; i++) {
		if (wish + 1 < b.wish_count && b.firsts[wish + 1] <= i)
			wish++;
		int error = copy_line(b.to[i], b.from[i], b.bytes[i], API_BY_ADDRESSES, b.wishes[wish].source_read == DURING_THE_CALL, stream);
		if (error && failed)
			*failed = i;
		if (error)
			return error;
	}
	return cudaSuccess;
}

int hook_cudaMemcpyBatchAsync(void *const *to, const void *const *from, const size_t *bytes, size_t count, const struct api_copy_wishes *wishes,
                              const size_t *firsts, size_t wish_count, void *eighth, void *ninth, int version)
{
	bool newest = version >= 13;
	return copy_batch((struct copies){to, from, bytes, count, wishes, firsts, wish_count}, newest ? NULL : eighth, newest ? eighth : ninth);
}

int hook_cudaMemcpyBatchAsync_ptsz(void *const *to, const void *const *from, const size_t *bytes, size_t count, const struct api_copy_wishes *wishes,
                                   const size_t *firsts, size_t wish_count, void *eighth, void *ninth, int version)
{
	void **stream = version >= 13 ? &eighth : &ninth;
	if (!*stream)
		*stream = API_THREAD_STREAM;
	return hook_cudaMemcpyBatchAsync(to, from, bytes, count, wishes, firsts, wish_count, eighth, ninth, version);
}

/* ---- rows ---- */

static int copy_rows(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, int direction,
                     bool synchronous, void *stream)
{
	struct cuda_copy what = {.to = to, .from = from, .width = width, .height = height, .depth = 1, .to_pitch = to_pitch, .from_pitch = from_pitch};
	if (width > to_pitch || width > from_pitch)
		return cudaErrorInvalidPitchValue;
	return copy(&what, direction, synchronous, stream);
}

int hook_cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, int direction,
                      void *stream)
{
	return copy_rows(to, to_pitch, from, from_pitch, width, height, direction, true, stream);
}

int hook_cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, int direction,
                           void *stream)
{
	return copy_rows(to, to_pitch, from, from_pitch, width, height, direction, false, stream);
}

/* ---- boxes ---- */

/* Positions are in bytes, rows and slices. */
static char *place(const struct api_pitched *p, const struct api_position *at)
{
	return (char *)p->address + at->z * p->height * p->pitch + at->y * p->pitch + at->x;
}

/* A side of a copy that is an array, as memory. Its positions are in elements. */
static bool enter_array(void **array, struct api_pitched *side, struct api_position *at, size_t *element)
{
	const struct cuda_array_record *a = array_of(*array);
	if (!*array)
		return true;
	if (!a || side->address || (*element && *element != array_element_bytes(a)))
		return false;
	*side = array_memory(a);
	*element = array_element_bytes(a);
	at->x *= *element;
	*array = NULL;
	return true;
}

/* Rows of an array end before its pitch does. How many slices there are, check() knows. */
static bool ends_inside(const void *array, const struct api_pitched *side, const struct api_position *at, const struct api_extent *e)
{
	return !array || (at->x + e->width <= side->width && at->y + e->height <= side->height);
}

static int shape_of_box(const struct api_copy3d *given, struct cuda_copy *out)
{
	struct api_copy3d own, *p = &own;
	size_t element = 0;
	if (!given)
		return cudaErrorInvalidValue;
	own = *given;
	if (!enter_array(&own.from_array, &own.from, &own.from_position, &element) || !enter_array(&own.to_array, &own.to, &own.to_position, &element))
		return cudaErrorInvalidValue;
	own.extent.width *= element ? element : 1;
	const struct api_extent *e = &p->extent;
	if (!p->to.address || !p->from.address || !ends_inside(given->from_array, &p->from, &p->from_position, e) ||
	    !ends_inside(given->to_array, &p->to, &p->to_position, e))
		return cudaErrorInvalidValue;
	bool pitched = p->to_position.x + e->width <= p->to.pitch && p->from_position.x + e->width <= p->from.pitch;
	bool high = e->depth < 2 || (p->to_position.y + e->height <= p->to.height && p->from_position.y + e->height <= p->from.height);
	if (!pitched || !high)
		return pitched ? cudaErrorInvalidValue : cudaErrorInvalidPitchValue;
	*out = (struct cuda_copy){
		.to = place(&p->to, &p->to_position),
		.from = place(&p->from, &p->from_position),
		.width = e->width,
		.height = e->height,
		.depth = e->depth,
		.to_pitch = p->to.pitch,
		.to_slice = p->to.pitch * p->to.height,
		.from_pitch = p->from.pitch,
		.from_slice = p->from.pitch * p->from.height,
	};
	return cudaSuccess;
}

static int copy_box(const struct api_copy3d *p, bool synchronous, void *stream)
{
	struct cuda_copy what;
	int error = shape_of_box(p, &what);
	return error ? error : copy(&what, p->direction, synchronous, stream);
}

int copy_box_check(const struct api_copy3d *p, struct cuda_copy *out)
{
	enum address_kind kind;
	int error = shape_of_box(p, out);
	if (error)
		return error;
	out->in_turn = true;
	if (p->direction < API_HOST_TO_HOST || p->direction > API_BY_ADDRESSES)
		return cudaErrorInvalidMemcpyDirection;
	return out->width && out->height && out->depth ? check(out, p->direction, &kind) : cudaErrorInvalidValue;
}

int hook_cudaMemcpy3D(const struct api_copy3d *what, void *stream)
{
	return copy_box(what, true, stream);
}

int hook_cudaMemcpy3DAsync(const struct api_copy3d *what, void *stream)
{
	return copy_box(what, false, stream);
}

static int copy_peer_box(const struct api_peer_copy3d *p, bool synchronous, void *stream)
{
	if (!p || !is_device(p->from_device) || !is_device(p->to_device))
		return p ? cudaErrorInvalidDevice : cudaErrorInvalidValue;
	struct api_copy3d what = {p->from_array,  p->from_position, p->from,   p->to_array,
	                          p->to_position, p->to,            p->extent, API_DEVICE_TO_DEVICE};
	return copy_box(&what, synchronous, stream);
}

int hook_cudaMemcpy3DPeer(const struct api_peer_copy3d *what, void *stream)
{
	return copy_peer_box(what, true, stream);
}

int hook_cudaMemcpy3DPeerAsync(const struct api_peer_copy3d *what, void *stream)
{
	return copy_peer_box(what, false, stream);
}

/* ---- arrays ---- */

/* x is in bytes here. */
static bool array_place(const void *array, size_t x, size_t y, size_t width, size_t height, struct api_pitched *out)
{
	const struct cuda_array_record *a = array_of(array);
	if (!a)
		return false;
	*out = array_memory(a);
	if (x > out->width || width > out->width - x || y > out->height || height > out->height - y)
		return false;
	out->address = (char *)out->address + y * out->pitch + x;
	return true;
}

static int copy_to_array(void *array, size_t x, size_t y, const void *from, size_t from_pitch, size_t width, size_t height, int direction,
                         bool synchronous, void *stream)
{
	struct api_pitched to;
	if (direction == API_HOST_TO_HOST || direction == API_DEVICE_TO_HOST)
		return cudaErrorInvalidMemcpyDirection;
	return array_place(array, x, y, width, height, &to) ? copy_rows(to.address, to.pitch, from, from_pitch, width, height, direction, synchronous, stream)
	                                                    : cudaErrorInvalidValue;
}

static int copy_from_array(void *to, size_t to_pitch, const void *array, size_t x, size_t y, size_t width, size_t height, int direction,
                           bool synchronous, void *stream)
{
	struct api_pitched from;
	if (direction == API_HOST_TO_HOST || direction == API_HOST_TO_DEVICE)
		return cudaErrorInvalidMemcpyDirection;
	return array_place(array, x, y, width, height, &from)
	           ? copy_rows(to, to_pitch, from.address, from.pitch, width, height, direction, synchronous, stream)
	           : cudaErrorInvalidValue;
}

int hook_cudaMemcpy2DToArray(void *array, size_t x, size_t y, const void *from, size_t from_pitch, size_t width, size_t height, int direction,
                             void *stream)
{
	return copy_to_array(array, x, y, from, from_pitch, width, height, direction, true, stream);
}

int hook_cudaMemcpy2DToArrayAsync(void *array, size_t x, size_t y, const void *from, size_t from_pitch, size_t width, size_t height,
                                  int direction, void *stream)
{
	return copy_to_array(array, x, y, from, from_pitch, width, height, direction, false, stream);
}

int hook_cudaMemcpy2DFromArray(void *to, size_t to_pitch, const void *array, size_t x, size_t y, size_t width, size_t height, int direction,
                               void *stream)
{
	return copy_from_array(to, to_pitch, array, x, y, width, height, direction, true, stream);
}

int hook_cudaMemcpy2DFromArrayAsync(void *to, size_t to_pitch, const void *array, size_t x, size_t y, size_t width, size_t height,
                                    int direction, void *stream)
{
	return copy_from_array(to, to_pitch, array, x, y, width, height, direction, false, stream);
}

/* Bytes that go on in the next row: whole rows, or part of one. */
static bool lines_of(const void *array, size_t x, size_t bytes, size_t *width, size_t *height)
{
	const struct cuda_array_record *a = array_of(array);
	size_t row = a ? array_memory(a).width : 0;
	bool whole = row && !x && bytes % row == 0;
	*width = whole ? row : bytes;
	*height = whole ? bytes / row : 1;
	return a && (whole || bytes <= row);
}

int hook_cudaMemcpyToArray(void *array, size_t x, size_t y, const void *from, size_t bytes, int direction, void *stream)
{
	size_t width, height;
	return lines_of(array, x, bytes, &width, &height) ? copy_to_array(array, x, y, from, width, width, height, direction, true, stream)
	                                                  : cudaErrorInvalidValue;
}

int hook_cudaMemcpyFromArray(void *to, const void *array, size_t x, size_t y, size_t bytes, int direction, void *stream)
{
	size_t width, height;
	return lines_of(array, x, bytes, &width, &height) ? copy_from_array(to, width, array, x, y, width, height, direction, true, stream)
	                                                  : cudaErrorInvalidValue;
}

/* ---- variables ---- */

static int find_part(const void *symbol, size_t bytes, size_t offset, char **out)
{
	void *address;
	size_t size;
	int error = variable_find(symbol, &address, &size);
	if (error)
		return error;
	if (offset > size || bytes > size - offset)
		return cudaErrorInvalidValue;
	*out = (char *)address + offset;
	return cudaSuccess;
}

static int copy_to_symbol(const void *symbol, const void *from, size_t bytes, size_t offset, int direction, bool synchronous, void *stream)
{
	char *to;
	if (direction == API_HOST_TO_HOST || direction == API_DEVICE_TO_HOST)
		return cudaErrorInvalidMemcpyDirection;
	int error = find_part(symbol, bytes, offset, &to);
	return error ? error : copy_line(to, from, bytes, direction, synchronous, stream);
}

static int copy_from_symbol(void *to, const void *symbol, size_t bytes, size_t offset, int direction, bool synchronous, void *stream)
{
	char *from;
	if (direction == API_HOST_TO_HOST || direction == API_HOST_TO_DEVICE)
		return cudaErrorInvalidMemcpyDirection;
	int error = find_part(symbol, bytes, offset, &from);
	return error ? error : copy_line(to, from, bytes, direction, synchronous, stream);
}

int hook_cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset, int direction, void *stream)
{
	return copy_to_symbol(symbol, from, bytes, offset, direction, true, stream);
}

int hook_cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes, size_t offset, int direction, void *stream)
{
	return copy_to_symbol(symbol, from, bytes, offset, direction, false, stream);
}

int hook_cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset, int direction, void *stream)
{
	return copy_from_symbol(to, symbol, bytes, offset, direction, true, stream);
}

int hook_cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes, size_t offset, int direction, void *stream)
{
	return copy_from_symbol(to, symbol, bytes, offset, direction, false, stream);
}

int hook_cudaGetSymbolAddress(void **out, const void *symbol)
{
	size_t bytes;
	return out ? variable_find(symbol, out, &bytes) : cudaErrorInvalidValue;
}

int hook_cudaGetSymbolSize(size_t *out, const void *symbol)
{
	void *address;
	return out ? variable_find(symbol, &address, out) : cudaErrorInvalidValue;
}

/* ---- fills ---- */

static int check_fill(struct cuda_copy *shape, enum address_kind *kind)
{
	size_t bytes;
	if (!span(shape->width, shape->height, shape->depth, shape->to_pitch, shape->to_slice, &bytes))
		return cudaErrorInvalidValue;
	shape->kind = CUDA_WITHIN_DEVICE;
	return is_usable(shape->to, bytes, true, kind) ? cudaSuccess : cudaErrorInvalidValue;
}

int fill_check(struct cuda_copy *shape)
{
	enum address_kind kind;
	return shape->width && shape->height && shape->depth ? check_fill(shape, &kind) : cudaErrorInvalidValue;
}

/* Every byte becomes the low byte of `value`. The caller waits if the host can see the memory. */
static int fill(struct cuda_copy *shape, int value, bool synchronous, void *stream)
{
	struct ordered_command c;
	enum address_kind kind;
	if (!shape->width || !shape->height || !shape->depth)
		return stream_exists(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle;
	int error = check_fill(shape, &kind);
	if (!error)
		error = ordered_begin(&c, stream, synchronous && kind != ADDRESS_DEVICE, NULL);
	return error ? error : ordered_end(&c, ordered_fill(&c, shape, (uint8_t)value, 1), cudaErrorInvalidValue);
}

static int fill_line(void *to, int value, size_t bytes, bool synchronous, void *stream)
{
	struct cuda_copy shape = {.to = to, .width = bytes, .height = 1, .depth = 1};
	return fill(&shape, value, synchronous, stream);
}

static int fill_rows(void *to, size_t pitch, int value, size_t width, size_t height, bool synchronous, void *stream)
{
	struct cuda_copy shape = {.to = to, .width = width, .height = height, .depth = 1, .to_pitch = pitch};
	return width > pitch && height > 1 ? cudaErrorInvalidValue : fill(&shape, value, synchronous, stream);
}

static int fill_box(struct api_pitched to, int value, struct api_extent extent, bool synchronous, void *stream)
{
	struct cuda_copy shape = {.to = to.address,
	                          .width = extent.width,
	                          .height = extent.height,
	                          .depth = extent.depth,
	                          .to_pitch = to.pitch,
	                          .to_slice = to.pitch * to.height};
	if (extent.width > to.pitch || (extent.depth > 1 && extent.height > to.height))
		return cudaErrorInvalidValue;
	return fill(&shape, value, synchronous, stream);
}

int hook_cudaMemset(void *to, int value, size_t bytes, void *stream)
{
	return fill_line(to, value, bytes, true, stream);
}

int hook_cudaMemsetAsync(void *to, int value, size_t bytes, void *stream)
{
	return fill_line(to, value, bytes, false, stream);
}

int hook_cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height, void *stream)
{
	return fill_rows(to, pitch, value, width, height, true, stream);
}

int hook_cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height, void *stream)
{
	return fill_rows(to, pitch, value, width, height, false, stream);
}

int hook_cudaMemset3D(struct api_pitched to, int value, struct api_extent extent, void *stream)
{
	return fill_box(to, value, extent, true, stream);
}

int hook_cudaMemset3DAsync(struct api_pitched to, int value, struct api_extent extent, void *stream)
{
	return fill_box(to, value, extent, false, stream);
}
