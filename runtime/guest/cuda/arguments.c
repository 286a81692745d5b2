/*
 * The arguments of a launch, as the models see them. An address in an allocation does not depend on where the allocation is: argument a
 * that points into one is (a + 1) << 40 plus its offset there. Traces say the same of the addresses that kernels use
 * (models/trace/trace.h), so each allocation is told once, as memory of the first argument that points to it.
 *
 * Pointers may also be members of structs, and kernels use variables of their module. These allocations follow the arguments, as
 * arguments whose values are not known.
 *
 * A texture or a surface is an argument of its own, an image (models/accesses/image.h), whatever else there is of its memory. One over linear memory is that
 * memory. References (.texref, .surfref) are variables.
 */
#include "runtime/guest/cuda/launches.h"

#include "models/trace/read.h"
#include "runtime/guest/cuda/memory.h"
#include "runtime/guest/launches/launch.h"
#include "runtime/guest/support/memory_log.h"

#include <string.h>

enum { MOST_BASES = 60, MOST_HIDDEN = 16 }; /* a trace tells of 64 */

size_t launch_most_bases(const struct cuda_kernel *k)
{
	size_t most = k->lifted->parameter_count + MOST_HIDDEN;
	return most < MOST_BASES ? most : MOST_BASES;
}

/* Allocations that the kernel may use, in the order of the arguments. */
struct known_memory {
	struct launch_command *command;
	struct launch_record *record;
	size_t hidden; /* arguments after the kernel's own */
	struct {
		struct cuda_allocation allocation;
		size_t argument;
	} list[MOST_BASES];
	size_t count, most, images;
};

/* The argument whose memory the address is in. -1: in none. */
static long argument_of(struct known_memory *m, uint64_t address, size_t argument, uint64_t *offset)
{
	struct cuda_allocation a;
	if (!cuda_find_allocation((const void *)(uintptr_t)address, &a))
		return -1;
	*offset = address - (uint64_t)(uintptr_t)a.address;
	for (size_t i = 0; i < m->count; i++)
		if (m->list[i].allocation.address == a.address)
			return (long)m->list[i].argument;
	if (m->count == m->most)
		return -1;
	m->list[m->count].allocation = a;
	m->list[m->count].argument = argument;
	m->command->bases[2 * m->count] = argument;
	m->command->bases[2 * m->count + 1] = (uint64_t)(uintptr_t)a.address;
	m->record->argument_bytes[argument] = a.bytes;
	m->record->managed |= a.kind == CUDA_MANAGED_MEMORY;
	memory_log_used(a.address, &m->record->argument_memory[argument]);
	m->count++;
	return (long)argument;
}

/* Whether the value is a texture or a surface, which is now told as this argument. */
static bool add_image(struct known_memory *m, uint64_t value, size_t argument)
{
	struct cuda_texture t;
	struct cuda_allocation a;
	uint64_t row_texels, offset;
	if (m->images == m->most || argument + 1 >= TRACE_IMAGE_PLAIN || !texture_find(value, &t))
		return false;
	uint64_t shape = texture_shape(&t, &row_texels);
	const void *memory = (const void *)(uintptr_t)t.level.address;
	if (!shape) {
		size_t count = m->count;
		argument_of(m, t.level.address, argument, &offset);
		return m->count > count;
	}
	for (size_t i = 0; i < m->images; i++)
		if (m->command->images[i].object == value)
			return false;
	m->command->images[m->images++] = (struct lifted_image){value, argument, row_texels};
	m->record->argument_bytes[argument] = shape;
	m->record->argument_values[argument] = shape; /* launches with textures of another shape do something else */
	if (cuda_find_allocation(memory, &a))
		memory_log_used(a.address, &m->record->argument_memory[argument]);
	return true;
}

static void add_argument(struct known_memory *m, size_t index)
{
	const struct lifted_parameter *p = &m->command->kernel->lifted->parameters[index];
	uint64_t value = 0, offset = 0;
	if (p->bytes > sizeof value)
		return;
	memcpy(&value, m->command->parameters + p->offset, p->bytes);
	long of = p->bytes == sizeof value ? argument_of(m, value, index, &offset) : -1;
	m->record->argument_values[index] = of >= 0 ? ((uint64_t)of + 1) << 40 | offset : value;
	m->record->arguments_known[index] = true;
	if (of < 0 && p->bytes == sizeof value)
		add_image(m, value, index);
}

/* Memory that no argument points to by itself. */
static void add_hidden(struct known_memory *m, uint64_t address)
{
	size_t argument = m->command->kernel->lifted->parameter_count + m->hidden, count = m->count;
	uint64_t offset;
	if (m->hidden == MOST_HIDDEN)
		return;
	bool image = argument_of(m, address, argument, &offset) < 0 && add_image(m, address, argument);
	m->hidden += image || m->count > count;
}

static void add_members(struct known_memory *m, const struct lifted_parameter *p)
{
	uint64_t word;
	for (uint32_t at = (p->offset + 7) / 8 * 8; at + sizeof word <= p->offset + p->bytes; at += sizeof word) {
		memcpy(&word, m->command->parameters + at, sizeof word);
		if (word >> 16)
			add_hidden(m, word);
	}
}

/* What references are bound to now. Their variables have eight bytes, as others may. */
static void add_references(struct known_memory *m, const struct cuda_module *module)
{
	uint64_t object;
	for (uint32_t i = 0; i < module->lifted->variable_count && module->variables; i++) {
		const struct lifted_variable *v = &module->lifted->variables[i];
		if (v->bytes != sizeof object)
			continue;
		memcpy(&object, (const uint8_t *)module->variables + v->offset, sizeof object);
		size_t argument = m->command->kernel->lifted->parameter_count + m->hidden;
		m->hidden += object && m->hidden < MOST_HIDDEN && add_image(m, object, argument);
	}
}

struct launch *launch_record_new(struct launch_command *c, const uint32_t block[3], uint64_t dynamic_shared)
{
	const struct lifted_kernel *lifted = c->kernel->lifted;
	struct cuda_module *module = c->kernel->module;
	struct launch *l = launch_new(module->artifact, c->kernel->facts, c->kernel->title, lifted->parameter_count + MOST_HIDDEN);
	if (!l)
		return NULL;
	struct known_memory m = {.command = c, .record = &l->record, .most = launch_most_bases(c->kernel)};
	for (int d = 0; d < 3; d++) {
		l->record.local[d] = block[d];
		l->record.global[d] = c->words.grid[d] * block[d];
	}
	l->record.local_bytes = dynamic_shared;
	l->record.cuda = true;
	for (uint32_t i = 0; i < lifted->parameter_count; i++)
		add_argument(&m, i);
	for (uint32_t i = 0; i < lifted->parameter_count; i++)
		if (lifted->parameters[i].bytes > sizeof(uint64_t))
			add_members(&m, &lifted->parameters[i]);
	if (module->variables)
		add_hidden(&m, (uint64_t)(uintptr_t)module->variables);
	add_references(&m, module);
	l->record.argument_count = lifted->parameter_count + m.hidden;
	c->words.bases = (uint64_t)(uintptr_t)c->bases;
	c->words.base_count = m.count;
	c->words.images = (uint64_t)(uintptr_t)c->images;
	c->words.image_count = m.images;
	return l;
}
