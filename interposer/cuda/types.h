/*
 * types: the structs and numbers of the CUDA runtime's binary interface, as far as we read or write them.
 *
 * No header of CUDA is used or needed. Structs that an application passes have the documented members in their order; names are ours.
 * The sizes and offsets are checked against CUDA's own header where one is found (tests/cuda).
 */
#ifndef GPUSIM_INTERPOSER_CUDA_TYPES_H
#define GPUSIM_INTERPOSER_CUDA_TYPES_H

#include <stddef.h>
#include <stdint.h>

/* Error numbers: cudaSuccess, cudaErrorInvalidValue, ... */
enum api_error {
#define ERROR(number, name, text) name = number,
#include "interposer/cuda/errors.def"
#undef ERROR
};

/* Streams that have a number instead of a pointer. 0 is the legacy stream, or that of the thread for functions called *_ptsz. */
#define API_LEGACY_STREAM ((void *)1)
#define API_THREAD_STREAM ((void *)2)

enum api_copy_direction { API_HOST_TO_HOST, API_HOST_TO_DEVICE, API_DEVICE_TO_HOST, API_DEVICE_TO_DEVICE, API_BY_ADDRESSES };
enum api_memory_type { API_MEMORY_UNKNOWN, API_MEMORY_HOST, API_MEMORY_DEVICE, API_MEMORY_MANAGED };
enum { API_STREAM_NON_BLOCKING = 1 };
enum { API_EVENT_BLOCKING = 1, API_EVENT_NO_TIMING = 2, API_EVENT_INTERPROCESS = 4, API_EVENT_FLAGS = 7 };
enum { API_HOST_ALLOC_FLAGS = 7, API_HOST_MAPPED = 2, API_HOST_REGISTER_FLAGS = 15 };
enum { API_ATTACH_GLOBAL = 1, API_ATTACH_HOST = 2, API_ATTACH_SINGLE = 4 };
enum { API_DEVICE_FLAGS = 0xff, API_DEVICE_SCHEDULE = 7, API_DEVICE_MAP_HOST = 8 };
enum api_function_attribute { API_DYNAMIC_SHARED = 8, API_SHARED_CARVEOUT = 9, API_LARGE_CLUSTERS = 14, API_CLUSTER_POLICY = 15, API_FUNCTION_ATTRIBUTES = 16 };
enum api_launch_attribute { API_LAUNCH_COOPERATIVE = 2, API_LAUNCH_CLUSTER = 4 };

struct api_size3 { /* dim3 */
	unsigned x, y, z;
};

struct api_extent {
	size_t width, height, depth;
};

struct api_position {
	size_t x, y, z;
};

struct api_pitched {
	void *address;
	size_t pitch, width, height;
};

struct api_copy3d {
	void *from_array;
	struct api_position from_position;
	struct api_pitched from;
	void *to_array;
	struct api_position to_position;
	struct api_pitched to;
	struct api_extent extent;
	int direction;
};

struct api_peer_copy3d {
	void *from_array;
	struct api_position from_position;
	struct api_pitched from;
	int from_device;
	void *to_array;
	struct api_position to_position;
	struct api_pitched to;
	int to_device;
	struct api_extent extent;
};

/* Wishes for some copies of a batch. */
struct api_copy_wishes {
	int source_read; /* when: in the stream's order, during the call, or at any time */
	int hints[4];
	unsigned flags;
};

struct api_channel {
	int x, y, z, w, kind;
};

enum api_resource_kind { API_RESOURCE_ARRAY, API_RESOURCE_MIPMAPS, API_RESOURCE_LINEAR, API_RESOURCE_PITCHED };
struct api_resource {
	int kind;
	union {
		void *array;
		struct {
			void *address;
			struct api_channel channel;
			size_t bytes;
		} linear;
		struct {
			void *address;
			struct api_channel channel;
			size_t width, height, pitch;
		} pitched;
	} of;
};

/* CUDA 12 has one more member, about cubes. */
struct api_texture {
	int modes[3], filter, read_mode, srgb;
	float border[4];
	int normalised;
	unsigned anisotropy;
	int level_filter;
	float level_bias, least_level, most_level;
	int no_trilinear;
};

/* Of a texture: how it looks at its array. The driver has the same struct; reserved words follow. */
struct api_view {
	int format;
	size_t width, height, depth;
	unsigned first_level, last_level, first_layer, last_layer;
};

/* textureReference of CUDA 11 and before; reserved words follow. */
struct api_texture_reference {
	int normalised, filter, modes[3];
	struct api_channel channel;
	int srgb;
	unsigned anisotropy;
	int level_filter;
	float level_bias, least_level, most_level;
	int no_trilinear;
};

/* Since CUDA 13 followed by reserved words, which we leave alone. */
struct api_pointer_attributes {
	int type, device;
	void *device_address, *host_address;
};

/* The first ten are in all versions since 11. Those after are of 12 and later. */
struct api_function_attributes {
	size_t shared_bytes, const_bytes, local_bytes;
	int max_threads, registers, ptx_version, binary_version, cached_in_l1, max_dynamic_shared, carveout;
	int cluster_required, cluster[3], cluster_policy, non_portable_cluster;
};

union api_attribute_value {
	char bytes[64];
	int number;
	unsigned size[3];
};

struct api_launch_attribute_entry {
	int id, padding;
	union api_attribute_value value;
};

struct api_launch_config {
	struct api_size3 grid, block;
	size_t dynamic_shared;
	void *stream;
	const struct api_launch_attribute_entry *attributes;
	unsigned attribute_count;
};

struct api_kernel_node {
	void *function;
	struct api_size3 grid, block;
	unsigned dynamic_shared;
	void **args, **extra;
};

struct api_fill_node {
	void *to;
	size_t pitch;
	unsigned value, unit;
	size_t width, height;
};

struct api_host_node {
	void (*function)(void *);
	void *data;
};

/* Parameters of a node of any kind. */
struct api_node {
	int kind, reserved[3];
	union {
		long long words[29];
		struct api_kernel_node kernel;
		struct {
			int flags, reserved[3];
			struct api_copy3d what;
		} copy;
		struct api_fill_node fill;
		struct api_host_node host;
		struct {
			void *graph;
			int ownership; /* 0: the node gets a copy */
		} child;
		void *event;
	} of;
	long long reserved_word;
};

/* Since CUDA 12. Before, the two are parameters of their own. */
struct api_update_result {
	int result;
	void *node, *from;
};
enum api_update { API_UPDATE_DONE, API_UPDATE_ERROR, API_UPDATE_OTHER_EDGES, API_UPDATE_OTHER_KIND };

struct api_instantiate {
	unsigned long long flags;
	void *stream, *node;
	int result;
};

struct api_location {
	int type, id;
};

/* A graph's node that allocates. */
struct api_allocation_node {
	char pool[88]; /* what kind of memory */
	const void *access;
	size_t access_count, bytes;
	void *address;
};

#endif
