/*
 * Copies of the memory that a launch may write, or read; see shadow.h.
 *
 * For twins, two kinds of memory are copied: buffers that a kernel gets through pointers to __global memory that is not const, and
 * images that a kernel may write. The flag CL_MEM_READ_ONLY of a buffer is not trusted, because drivers let kernels write such
 * buffers. Other memory is copied only for a kernel that may run again. A sub-buffer shares bytes with others, so the whole buffer is
 * copied, and the copy gets the same sub-buffers.
 */
#include "runtime/guest/launches/shadow.h"

#include "runtime/guest/launches/commands.h"
#include "runtime/guest/launches/launch.h"
#include "runtime/guest/driver/simulation.h"
#include "runtime/process/thread.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- what a launch may write, and what it reads ---- */

/* Finds the object of a memory handle, or adds it. */
static int add_object(struct shadow_plan *p, const struct shadowed_object *o, size_t *index, struct gs_error *err)
{
	for (*index = 0; *index < p->object_count; ++*index)
		if (p->objects[*index].original == o->original)
			return 0;
	if (p->object_count == MOST_OBJECTS)
		return gs_fail(err, ENOTSUP, "it takes more memory objects than we copy");
	p->objects[p->object_count++] = *o;
	p->bytes += o->bytes;
	return 0;
}

static size_t image_number(cl_mem image, cl_image_info what)
{
	size_t value = 0;
	cl.clGetImageInfo(image, what, sizeof value, &value, NULL);
	return value;
}

static size_t at_least_one(size_t value)
{
	return value ? value : 1;
}

/* Images are copied whole. The last dimension of an array of images is the number of its images. */
static int plan_image(struct shadow_plan *p, cl_uint index, cl_mem image, cl_mem_object_type type, struct gs_error *err)
{
	struct shadowed_argument a = {.index = index};
	struct shadowed_object o = {.original = image, .image = true};
	size_t layers = image_number(image, CL_IMAGE_ARRAY_SIZE);
	cl_mem parent = NULL;
	cl.clGetMemObjectInfo(image, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof parent, &parent, NULL);
	if (type == CL_MEM_OBJECT_IMAGE1D_BUFFER || parent)
		return gs_fail(err, ENOTSUP, "it writes an image that shares the memory of a buffer");
	o.region[0] = image_number(image, CL_IMAGE_WIDTH);
	o.region[1] = type == CL_MEM_OBJECT_IMAGE1D_ARRAY ? layers : at_least_one(image_number(image, CL_IMAGE_HEIGHT));
	o.region[2] = type == CL_MEM_OBJECT_IMAGE2D_ARRAY ? layers : at_least_one(image_number(image, CL_IMAGE_DEPTH));
	o.bytes = image_number(image, CL_IMAGE_ELEMENT_SIZE) * o.region[0] * o.region[1] * o.region[2];
	int result = add_object(p, &o, &a.object, err);
	if (!result)
		p->arguments[p->argument_count++] = a;
	return result;
}

static int plan_buffer(struct shadow_plan *p, cl_uint index, cl_mem buffer, struct gs_error *err)
{
	struct shadowed_argument a = {.index = index};
	struct shadowed_object o = {.original = buffer};
	cl_mem parent = NULL;
	cl.clGetMemObjectInfo(buffer, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof parent, &parent, NULL);
	if (parent) {
		a.part = true;
		o.original = parent;
		cl.clGetMemObjectInfo(buffer, CL_MEM_OFFSET, sizeof a.region.origin, &a.region.origin, NULL);
		cl.clGetMemObjectInfo(buffer, CL_MEM_SIZE, sizeof a.region.size, &a.region.size, NULL);
	}
	if (cl.clGetMemObjectInfo(o.original, CL_MEM_SIZE, sizeof o.bytes, &o.bytes, NULL) != CL_SUCCESS)
		return gs_fail(err, ENOTSUP, "the driver does not report the size of a buffer");
	int result = add_object(p, &o, &a.object, err);
	if (!result)
		p->arguments[p->argument_count++] = a;
	return result;
}

static bool may_write(const struct artifact_kernel *facts, size_t index)
{
	enum argument_kind kind = facts->argument_kinds[index];
	return kind == ARGUMENT_GLOBAL || kind == ARGUMENT_WRITE || (kind == ARGUMENT_CONST && facts->hazards & HAZARD_UNCONST);
}

static int plan_argument(struct shadow_plan *p, const struct kernel_arg *a, cl_uint index, struct gs_error *err)
{
	cl_mem mem = NULL;
	cl_mem_object_type type = CL_MEM_OBJECT_BUFFER;
	if (a->kind == ARG_SVM)
		return gs_fail(err, ENOTSUP, "it takes a pointer to shared virtual memory");
	if (a->kind != ARG_VALUE || a->size != sizeof mem)
		return 0;
	memcpy(&mem, a->value, sizeof mem);
	if (!mem)
		return 0;
	if (p->argument_count == MOST_OBJECTS)
		return gs_fail(err, ENOTSUP, "it takes more memory objects than we copy");
	cl.clGetMemObjectInfo(mem, CL_MEM_TYPE, sizeof type, &type, NULL);
	return type == CL_MEM_OBJECT_BUFFER ? plan_buffer(p, index, mem, err) : plan_image(p, index, mem, type, err);
}

/* Whether this memory is among the objects to copy: the kernel only reads it through this argument, but writes it through
 * another. */
static bool is_planned(const struct shadow_plan *p, const struct kernel_arg *a)
{
	cl_mem mem = NULL, parent = NULL;
	if (a->kind != ARG_VALUE || a->size != sizeof mem)
		return false;
	memcpy(&mem, a->value, sizeof mem);
	for (size_t i = 0; i < p->object_count && mem; i++) {
		if (!i)
			cl.clGetMemObjectInfo(mem, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof parent, &parent, NULL);
		if (p->objects[i].original == mem || (parent && p->objects[i].original == parent))
			return true;
	}
	return false;
}

static int plan_read_arguments(struct shadow_plan *p, const struct kernel *k, const struct artifact_kernel *facts, struct gs_error *err)
{
	int result = 0;
	for (size_t i = 0; i < k->arg_count && !result; i++) {
		enum argument_kind kind = facts->argument_kinds[i];
		if ((kind == ARGUMENT_CONST || kind == ARGUMENT_UNWRITTEN) && !may_write(facts, i) && is_planned(p, &k->args[i]))
			result = plan_argument(p, &k->args[i], (cl_uint)i, err);
	}
	return result;
}

int shadow_plan(const struct kernel *k, const struct artifact_kernel *facts, struct shadow_plan *p, struct gs_error *err)
{
	p->object_count = p->argument_count = p->part_count = 0;
	p->bytes = 0;
	if (facts->hazards & HAZARD_ADDRESSES)
		return gs_fail(err, ENOTSUP, "its memory may hold addresses, so it cannot run on copies");
	if (k->info_count)
		return gs_fail(err, ENOTSUP, "it may follow pointers to shared virtual memory");
	for (size_t i = 0; i < k->arg_count; i++) {
		if (i >= facts->arguments || facts->argument_kinds[i] == ARGUMENT_OTHER)
			return gs_fail(err, ENOTSUP, "it takes an argument that we cannot copy");
		if (k->args[i].kind == ARG_SVM || may_write(facts, i)) {
			int result = plan_argument(p, &k->args[i], (cl_uint)i, err);
			if (result)
				return result;
		}
	}
	return plan_read_arguments(p, k, facts, err);
}

static bool has_argument(const struct shadow_plan *p, size_t index)
{
	for (size_t i = 0; i < p->argument_count; i++)
		if (p->arguments[i].index == index)
			return true;
	return false;
}

int shadow_plan_inputs(const struct kernel *k, const struct artifact_kernel *facts, const struct shadow_plan *written, struct shadow_plan *p,
                       struct gs_error *err)
{
	int result = 0;
	p->object_count = p->argument_count = p->part_count = 0;
	p->bytes = 0;
	for (size_t i = 0; i < k->arg_count && !result; i++) {
		enum argument_kind kind = facts->argument_kinds[i];
		if (kind == ARGUMENT_SAMPLER) /* the application may release it, too */
			return gs_fail(err, ENOTSUP, "it takes a sampler, which we cannot copy");
		if (kind != ARGUMENT_VALUE && kind != ARGUMENT_LOCAL && !has_argument(written, i))
			result = plan_argument(p, &k->args[i], (cl_uint)i, err);
	}
	return result;
}

/* ---- the copies ---- */

struct copy {
	size_t bytes;
	bool image;
	size_t region[3];
	struct counter_buffer *buffers[COPY_KINDS]; /* for a buffer */
	cl_mem images[COPY_KINDS];                  /* for an image */
};

struct shadow {
	atomic_int refs;
	struct context_pool *pool;
	cl_device_id device;
	cl_command_queue queue; /* only compared, never used */
	bool in_order;
	unsigned kinds; /* a bit for each of enum copy_of */
	uint64_t image_bytes; /* of its images, within the bound */
	size_t count;
	struct copy copies[];
};

struct shadow *shadow_retain(struct shadow *s)
{
	s->refs++;
	return s;
}

void shadow_release(struct shadow *s)
{
	if (!s || --s->refs)
		return;
	for (size_t i = 0; i < s->count; i++)
		for (int which = 0; which < COPY_KINDS; which++) {
			if (s->copies[i].buffers[which])
				buffer_give_back(s->copies[i].buffers[which], 0);
			if (s->copies[i].images[which])
				cl.clReleaseMemObject(s->copies[i].images[which]);
		}
	shadow_memory_back(s->image_bytes);
	pool_unref(s->pool);
	free(s);
}

static cl_mem image_like(cl_context context, cl_mem original)
{
	cl_image_format format = {0};
	cl_image_desc desc = {0};
	cl_int code;
	if (!cl.clCreateImage || cl.clGetImageInfo(original, CL_IMAGE_FORMAT, sizeof format, &format, NULL) != CL_SUCCESS)
		return NULL;
	cl.clGetMemObjectInfo(original, CL_MEM_TYPE, sizeof desc.image_type, &desc.image_type, NULL);
	desc.image_width = image_number(original, CL_IMAGE_WIDTH);
	desc.image_height = image_number(original, CL_IMAGE_HEIGHT);
	desc.image_depth = image_number(original, CL_IMAGE_DEPTH);
	desc.image_array_size = image_number(original, CL_IMAGE_ARRAY_SIZE);
	cl.clGetImageInfo(original, CL_IMAGE_NUM_MIP_LEVELS, sizeof desc.num_mip_levels, &desc.num_mip_levels, NULL);
	return cl.clCreateImage(context, CL_MEM_READ_WRITE, &format, &desc, NULL, &code);
}

/* Makes one kind of copy of one object. */
static bool take_copy(struct shadow *s, struct copy *c, const struct shadowed_object *o, int which)
{
	if (!o->image) {
		c->buffers[which] = buffer_take(s->pool, s->device, SHADOW_BUFFER, (o->bytes + 7) / 8);
		return c->buffers[which];
	}
	if (!shadow_memory_take(o->bytes))
		return false;
	s->image_bytes += o->bytes;
	c->images[which] = image_like(pool_context(s->pool), o->original);
	return c->images[which];
}

static bool can_share(const struct shadow *before, const struct request *r, cl_device_id device, const struct shadow_plan *plan)
{
	if (!before || before->kinds != 1U << COPY_FOR_TWIN || !before->in_order || before->queue != r->queue || before->device != device ||
	    before->count != plan->object_count)
		return false;
	for (size_t i = 0; i < plan->object_count; i++)
		if (before->copies[i].image || plan->objects[i].image || before->copies[i].bytes != plan->objects[i].bytes)
			return false;
	return true;
}

static struct shadow *shadow_new(struct context_pool *pool, const struct request *r, cl_device_id device, const struct shadow_plan *plan,
                                 unsigned kinds)
{
	struct shadow *s = calloc(1, sizeof *s + plan->object_count * sizeof *s->copies);
	bool complete = s;
	if (!s)
		return NULL;
	*s = (struct shadow){.refs = 1, .pool = pool_retain(pool), .device = device, .queue = r->queue, .kinds = kinds};
	s->in_order = !(r->properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
	for (; complete && s->count < plan->object_count; s->count++) {
		const struct shadowed_object *o = &plan->objects[s->count];
		struct copy *c = &s->copies[s->count];
		c->bytes = o->bytes;
		c->image = o->image;
		memcpy(c->region, o->region, sizeof c->region);
		for (int which = 0; complete && which < COPY_KINDS; which++)
			complete = !(kinds & 1U << which) || take_copy(s, c, o, which);
	}
	if (complete)
		return s;
	shadow_release(s);
	return NULL;
}

/* ---- copies that the next launches may share ---- */

static pthread_mutex_t recent_lock = PTHREAD_MUTEX_INITIALIZER;
static struct shadow *recent[4]; /* the latest first; each holds a reference */

static struct shadow *find_recent(const struct request *r, cl_device_id device, const struct shadow_plan *plan)
{
	struct shadow *found = NULL;
	pthread_mutex_lock(&recent_lock);
	for (size_t i = 0; i < GS_ARRAY_LEN(recent) && !found; i++)
		if (can_share(recent[i], r, device, plan))
			found = shadow_retain(recent[i]);
	pthread_mutex_unlock(&recent_lock);
	return found;
}

static void keep_for_next(struct shadow *s)
{
	pthread_mutex_lock(&recent_lock);
	struct shadow *oldest = recent[GS_ARRAY_LEN(recent) - 1];
	memmove(recent + 1, recent, sizeof recent - sizeof *recent);
	recent[0] = shadow_retain(s);
	pthread_mutex_unlock(&recent_lock);
	shadow_release(oldest);
}

void shadow_forget(const struct context_pool *pool)
{
	struct shadow *gone[GS_ARRAY_LEN(recent)] = {0};
	pthread_mutex_lock(&recent_lock);
	for (size_t i = 0; i < GS_ARRAY_LEN(recent); i++)
		if (recent[i] && (!pool || recent[i]->pool == pool)) {
			gone[i] = recent[i];
			recent[i] = NULL;
		}
	pthread_mutex_unlock(&recent_lock);
	for (size_t i = 0; i < GS_ARRAY_LEN(gone); i++)
		shadow_release(gone[i]);
}

/* Makes room if need be: other copies may be kept only for later launches. */
static struct shadow *shadow_make(struct context_pool *pool, const struct request *r, cl_device_id device, const struct shadow_plan *plan,
                                  unsigned kinds)
{
	struct shadow *s = shadow_new(pool, r, device, plan, kinds);
	if (s)
		return s;
	shadow_forget(NULL);
	return shadow_new(pool, r, device, plan, kinds);
}

struct shadow *shadow_take(struct context_pool *pool, const struct request *r, cl_device_id device, const struct shadow_plan *plan,
                           bool verify)
{
	struct shadow *s = verify ? NULL : find_recent(r, device, plan);
	if (s)
		return s;
	s = shadow_make(pool, r, device, plan, verify ? (1U << COPY_KINDS) - 1 : 1U << COPY_FOR_TWIN);
	if (s && !verify)
		keep_for_next(s);
	return s;
}

struct shadow *shadow_take_inputs(struct context_pool *pool, const struct request *r, cl_device_id device, const struct shadow_plan *plan)
{
	return shadow_make(pool, r, device, plan, 1U << COPY_BEFORE);
}

static cl_mem memory_of(const struct copy *c, enum copy_of which)
{
	return c->image ? c->images[which] : c->buffers[which]->mem;
}

cl_int shadow_copy(struct shadow *s, enum copy_of which, const struct shadow_plan *plan, struct commands *c)
{
	static const size_t origin[3];
	cl_int code = CL_SUCCESS;
	for (size_t i = 0; i < s->count && code == CL_SUCCESS; i++) {
		const struct shadowed_object *o = &plan->objects[i];
		const cl_event *wait;
		cl_uint wait_count = commands_wait(c, &wait);
		cl_event event;
		cl_mem to = memory_of(&s->copies[i], which);
		if (!o->bytes)
			continue;
		code = o->image ? cl.clEnqueueCopyImage(c->request->queue, o->original, to, origin, origin, o->region, wait_count, wait, &event)
		                : cl.clEnqueueCopyBuffer(c->request->queue, o->original, to, 0, 0, o->bytes, wait_count, wait, &event);
		if (code == CL_SUCCESS)
			commands_done(c, event);
	}
	return code;
}

cl_int shadow_set(struct shadow *s, enum copy_of which, struct shadow_plan *plan, cl_kernel kernel)
{
	cl_int code = CL_SUCCESS;
	for (size_t i = 0; i < plan->argument_count && code == CL_SUCCESS; i++) {
		const struct shadowed_argument *a = &plan->arguments[i];
		cl_mem mem = memory_of(&s->copies[a->object], which);
		if (a->part) {
			mem = cl.clCreateSubBuffer(mem, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &a->region, &code);
			if (!mem)
				return code;
			plan->parts[plan->part_count++] = mem;
		}
		code = cl.clSetKernelArg(kernel, a->index, sizeof mem, &mem);
	}
	return code;
}

void shadow_enqueued(struct shadow_plan *plan)
{
	while (plan->part_count)
		cl.clReleaseMemObject(plan->parts[--plan->part_count]);
}

/* Copying 4 bytes takes about a nanosecond. Copies may take a quarter of a second plus an eighth of the time that the program has run; for
 * first launches, two seconds plus a third. */
bool shadow_affordable(uint64_t bytes, bool first)
{
	static atomic_uint_fast64_t copied_bytes;
	enum { BYTES_PER_NS = 4 };
	const uint64_t free_ns = first ? UINT64_C(2000000000) : UINT64_C(250000000);
	if (copied_bytes / BYTES_PER_NS > free_ns + (clock_ns() - simulation.start_ns) / (first ? 3 : 8))
		return false;
	copied_bytes += bytes;
	return true;
}

/* ---- comparing ---- */

enum { PIECE_BYTES = 16 << 20 };

/* A range of a buffer's bytes. They are read into `room` unless they already are in our memory. */
static const void *buffer_bytes(struct counter_buffer *b, size_t offset, size_t bytes, void *room)
{
	if (b->shared)
		return (const char *)b->words + offset;
	return buffer_read(b, offset, bytes, room) ? NULL : room;
}

static int same_buffers(struct counter_buffer *a, struct counter_buffer *b, size_t bytes)
{
	char *rooms = a->shared && b->shared ? NULL : malloc(2 * PIECE_BYTES);
	int same = rooms || (a->shared && b->shared) ? 1 : -1;
	for (size_t at = 0; at < bytes && same > 0; at += PIECE_BYTES) {
		size_t piece = bytes - at < PIECE_BYTES ? bytes - at : PIECE_BYTES;
		const void *x = buffer_bytes(a, at, piece, rooms), *y = buffer_bytes(b, at, piece, rooms ? rooms + PIECE_BYTES : NULL);
		same = x && y ? !memcmp(x, y, piece) : -1;
	}
	free(rooms);
	return same;
}

static int same_images(struct shadow *s, const struct copy *c, enum copy_of a, enum copy_of b)
{
	static const size_t origin[3];
	cl_command_queue queue = pool_queue(s->pool, s->device);
	char *x = malloc(c->bytes), *y = malloc(c->bytes);
	int same = -1;
	if (queue && x && y &&
	    cl.clEnqueueReadImage(queue, c->images[a], CL_TRUE, origin, c->region, 0, 0, x, 0, NULL, NULL) == CL_SUCCESS &&
	    cl.clEnqueueReadImage(queue, c->images[b], CL_TRUE, origin, c->region, 0, 0, y, 0, NULL, NULL) == CL_SUCCESS)
		same = !memcmp(x, y, c->bytes);
	free(x);
	free(y);
	return same;
}

int shadow_same(struct shadow *s, enum copy_of a, enum copy_of b)
{
	int same = 1;
	for (size_t i = 0; i < s->count && same > 0; i++) {
		struct copy *c = &s->copies[i];
		same = c->image ? same_images(s, c, a, b) : same_buffers(c->buffers[a], c->buffers[b], c->bytes);
	}
	return same;
}
