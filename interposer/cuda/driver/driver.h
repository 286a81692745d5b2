/*
 * driver: the entry points of the CUDA driver. Numbers of errors are those of the runtime where both have one (driver_error). A module is a registered
 * binary, and so is a library. A function is a registered function, and so is a kernel. Device addresses are pointers here; on 64-bit machines they are
 * passed in the same way.
 */
#ifndef GPUSIM_INTERPOSER_CUDA_DRIVER_DRIVER_H
#define GPUSIM_INTERPOSER_CUDA_DRIVER_DRIVER_H

#include "interposer/cuda/interposer.h"
#include "interposer/cuda/registration.h"

/* An error number of the runtime as the driver's: it has none below 100 but the first few. */
int driver_error(int error);
/* 0, or the error of a call before cuInit; the second also: of a call without a context. */
int driver_needs_start(void);
int driver_needs_context(void);

/* contexts.c */
struct driver_context;
int driver_init(unsigned flags);
int context_create(struct driver_context **out, unsigned flags, int device);
int context_destroy(struct driver_context *c);
int context_push(struct driver_context *c);
int context_pop(struct driver_context **out);
int context_set(struct driver_context *c);
struct driver_context *context_current(void); /* NULL: there is none */
bool context_exists(const struct driver_context *c);
int context_flags(const struct driver_context *c, unsigned *flags); /* NULL: the current one */
int context_id(const struct driver_context *c, unsigned long long *id);
int context_device(const struct driver_context *c); /* -1: there is no such context */
/* The forms of CUDA 13, which name the context. Callers of before 13 that ask for a name with _v2 first, as Numba does, pass nothing there: what is no
 * context is taken for the current one. */
int context_get_device(int *device, const struct driver_context *c);
int context_synchronize(const struct driver_context *c);
/* From the current context, memory of the other one's device can be reached. They are of the devices, not of contexts: memory belongs to all contexts. */
int context_enable_peer(const struct driver_context *peer, unsigned flags);
int context_disable_peer(const struct driver_context *peer);
int primary_retain(struct driver_context **out, int device);
int primary_release(int device);
int primary_set_flags(int device, unsigned flags);
int primary_state(int device, unsigned *flags, int *active);
int device_name(char *name, int room, int device);
int device_uuid(void *uuid, int device);
int device_memory(size_t *bytes, int device);
int device_capability(int *major, int *minor, int device);

/* modules.c */
int module_load(struct registered_binary **out, const void *image, unsigned registers); /* the most of a thread; 0: as many as it needs */
int module_load_file(struct registered_binary **out, const char *path);
int module_global(void **address, size_t *bytes, struct registered_binary *b, const char *name);
int function_of(struct registered_function **out, struct registered_binary *b, const char *name);
int function_attribute(int *value, int attribute, const void *function);
int function_binary(struct registered_binary **out, const void *function);
/* launch.c */
struct driver_launch_config {
	unsigned grid[3], block[3], dynamic_shared;
	void *stream;
	const struct api_launch_attribute_entry *attributes;
	unsigned attribute_count;
};
int launch_function(const void *function, struct api_size3 grid, struct api_size3 block, unsigned dynamic_shared, void *stream, void **args,
                    void **extra, bool cooperative);
int launch_with_config(const struct driver_launch_config *config, const void *function, void **args, void **extra, void *default_stream);
struct api_launch_config config_of(const struct driver_launch_config *c, void *default_stream); /* the runtime's struct for it */
/* The size of blocks that fills an SM best, and the blocks of that size that fill the GPU. `shared`, if it is not NULL, tells the dynamic shared
 * memory of a block of a size. */
int best_block_size(int *grid, int *block, const void *function, size_t (*shared)(int), size_t dynamic_shared, int limit);
/* link.c */
struct driver_link;
/* registers: the most of a thread, of what is added; 0: those of link_create, or, there, as many as a kernel needs. */
int link_create(struct driver_link **out, unsigned registers);
int link_add(struct driver_link *l, int kind, const void *data, size_t bytes, unsigned registers);
int link_add_file(struct driver_link *l, int kind, const char *path, unsigned registers);
int link_complete(struct driver_link *l, void **image, size_t *bytes);
int link_destroy(struct driver_link *l);

/* memory.c */
struct driver_copy2d {
	struct driver_side2d {
		size_t x, y;
		int kind;
		void *host, *device, *array;
		size_t pitch;
	} from, to;
	size_t width, height;
};
struct driver_copy3d {
	struct driver_side3d {
		size_t x, y, z, level;
		int kind;
		void *host, *device, *array, *reserved;
		size_t pitch, height;
	} from, to;
	size_t width, height, depth;
};
enum { KIND_HOST = 1, KIND_DEVICE = 2, KIND_ARRAY = 3, KIND_UNIFIED = 4 }; /* of memory in these */
int box_of(const struct driver_copy3d *c, struct api_copy3d *out); /* the runtime's struct for it */
int copy_rows(const struct driver_copy2d *c, bool synchronous, void *stream);
/* From the device of one context to that of another. */
int copy_between(void *to, const struct driver_context *to_context, const void *from, const struct driver_context *from_context, size_t bytes, bool synchronous, void *stream);
int copy_box(const struct driver_copy3d *c, bool synchronous, void *stream);
int copy_box_between(const struct driver_copy3d *c, bool synchronous, void *stream); /* has contexts where others have reserved words */
int fill_units(void *to, size_t pitch, unsigned value, unsigned unit, size_t width, size_t height, bool synchronous, void *stream);
int allocation_range(void **begin, size_t *bytes, const void *address);
int pointer_attribute(void *value, int attribute, const void *address);
int pointer_attributes(unsigned count, const int *attributes, void **values, const void *address);

/* arrays.c */
struct driver_array {
	size_t width, height, depth;
	int format;
	unsigned channels, flags;
};
struct driver_plane { /* of two dimensions */
	size_t width, height;
	int format;
	unsigned channels;
};
int array_create(void **out, const struct driver_array *a);
int mipmap_create(void **out, const struct driver_array *a, unsigned levels);
bool channel_of(int format, unsigned channels, struct api_channel *out); /* the runtime's struct for it; false: there is no such format */
int format_of(const struct api_channel *c, unsigned *channels);            /* the other way round */
int array_describe(struct driver_array *out, void *array);
int array_describe_plane(struct driver_plane *out, void *array);
struct driver_side3d side_of_array(void *array, size_t offset);
struct driver_side3d side_of_host(const void *address);
struct driver_side3d side_of_device(const void *address);
int copy_row(struct driver_side3d to, struct driver_side3d from, size_t bytes, bool synchronous, void *stream);

/* textures.c */
struct driver_resource {
	int kind; /* as the runtime's */
	union {
		void *array;
		struct {
			void *address;
			int format;
			unsigned channels;
			size_t bytes;
		} linear;
		struct {
			void *address;
			int format;
			unsigned channels;
			size_t width, height, pitch;
		} pitched;
		int reserved[32];
	} of;
	unsigned flags;
};
struct driver_texture { /* reserved words follow */
	int modes[3], filter;
	unsigned flags, anisotropy;
	int level_filter;
	float level_bias, least_level, most_level, border[4];
};
int texture_create(uint64_t *out, const struct driver_resource *r, const struct driver_texture *t, const struct api_view *view);
int surface_create(uint64_t *out, const struct driver_resource *r);
/* What an object was made with. */
int texture_resource(struct driver_resource *out, uint64_t object);
int texture_describe(struct driver_texture *out, uint64_t object);

/* references.c */
struct module_reference;
struct reference_setting {
	enum { REFERENCE_MODE, REFERENCE_FILTER, REFERENCE_FLAGS, REFERENCE_FORMAT } what;
	unsigned dimension, value; /* of a format: how many channels */
};
int reference_find(struct module_reference **out, struct registered_binary *b, const char *name);
int reference_set(struct module_reference *t, struct reference_setting s);
/* What was set; of a format, channels get their number as well. Of no array or address, cudaErrorInvalidValue. */
int reference_get(struct module_reference *t, struct reference_setting which, int *value, int *channels);
int reference_get_array(void **array, struct module_reference *t);
int reference_get_address(void **address, struct module_reference *t);
int reference_array(struct module_reference *t, void *array);
int reference_surface(struct module_reference *t, void *array);
int reference_address(size_t *offset, struct module_reference *t, void *address, size_t bytes);
int reference_rows(struct module_reference *t, const struct driver_plane *shape, void *address, size_t pitch);

/* virtual_memory.c: addresses first, memory for them later. */
struct driver_memory_kind {
	int type, handles, location, device;
	void *security;
	unsigned char flags[8];
};
int memory_reserve(void **out, size_t bytes, size_t alignment, void *near);
int memory_unreserve(void *address, size_t bytes);
int memory_create(uint64_t *handle, size_t bytes, const struct driver_memory_kind *kind);
int memory_destroy(uint64_t handle);
int memory_map(void *address, size_t bytes, size_t offset, uint64_t handle);
int memory_unmap(void *address, size_t bytes);
int memory_check_access(const void *address, size_t bytes, const void *list, size_t count);
int memory_access(unsigned long long *flags, const void *location, const void *address);
int memory_granularity(size_t *out, const struct driver_memory_kind *kind);
int memory_kind_of(struct driver_memory_kind *out, uint64_t handle);
int memory_retain(uint64_t *handle, const void *address);

/* graphs.c. Without an executable graph the node itself changes. The second form of a kernel's struct has the last two members too. */
struct driver_kernel_node {
	struct api_kernel_node what;
	void *kernel, *context;
};
struct driver_node {
	int kind, reserved[3];
	union {
		long long words[29];
		struct driver_kernel_node kernel;
		struct {
			int flags, reserved;
			void *context;
			struct driver_copy3d what;
		} copy;
	} of;
	long long reserved_word;
};
int graph_add_kernel(void **node, void *graph, void *const *after, size_t count, const struct driver_kernel_node *p, bool second_form);
int graph_set_kernel(void *exec, void *node, const struct driver_kernel_node *p, bool second_form);
int graph_get_kernel(void *node, struct driver_kernel_node *out, bool second_form);
int graph_add_copy(void **node, void *graph, void *const *after, size_t count, const struct driver_copy3d *p);
int graph_set_copy(void *exec, void *node, const struct driver_copy3d *p);
int graph_get_copy(void *node, struct driver_copy3d *out);
int graph_add_any(void **node, void *graph, void *const *after, size_t count, const struct driver_node *p);
int graph_set_any(void *exec, void *node, const struct driver_node *p);

/* errors */
int error_text(int error, const char **out, bool name);
/* entry.c */
int driver_find(const char *name, void **out, int version, unsigned long long flags, int *status);

#endif
