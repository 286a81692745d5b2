/*
 * What differs between MPI libraries, from their headers: mpi.h of Open MPI 4 and of MPICH 4, whose values Intel MPI and MVAPICH share (the
 * "MPICH ABI compatibility initiative"). Sizes and ranks are asked of the library.
 */
#include "interposer/mpi/mpi.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <string.h>

static struct mpi_library found;
static pthread_once_t find_once = PTHREAD_ONCE_INIT;
static void *handle; /* of a library that is not in the global scope */

/* A module of an interpreter brings MPI along without making it visible to all. */
static int look_at(struct dl_phdr_info *info, size_t size, void *ctx)
{
	const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL, *name = slash ? slash + 1 : info->dlpi_name;
	(void)size;
	(void)ctx;
	if (!name || strncmp(name, "libmpi", 6))
		return 0;
	void *library = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
	if (library && dlsym(library, "PMPI_Init")) {
		handle = library;
		return 1;
	}
	if (library)
		dlclose(library);
	return 0;
}

static void *look_up(const char *name)
{
	void *function = dlsym(RTLD_NEXT, name);
	return function || !handle ? function : dlsym(handle, name);
}

/* A variable of the library; a program may have a copy of it that stands for the library's own. */
static mpi_word variable(const char *name)
{
	void *address = dlsym(RTLD_DEFAULT, name);
	return (mpi_word)(address || !handle ? address : dlsym(handle, name));
}

static void find_library(void)
{
	if (!dlsym(RTLD_NEXT, "PMPI_Init"))
		dl_iterate_phdr(look_at, NULL);
	if (variable("ompi_mpi_comm_world"))
		found = (struct mpi_library){"Open MPI", true, variable("ompi_mpi_comm_world"), variable("ompi_mpi_comm_self"),
		                             variable("ompi_mpi_comm_null"), variable("ompi_request_null"), 0, -2, -1, -1, 0, 1, 24};
	else if (look_up("PMPI_Init"))
		found = (struct mpi_library){"MPICH", false, 0x44000000, 0x44000001, 0x04000000, 0x2c000000, 1, -1, -2, -1, 2, 3, 20};
}

const struct mpi_library *mpi_library(void)
{
	pthread_once(&find_once, find_library);
	return found.name ? &found : NULL;
}

void *mpi_function(const char *name)
{
	return mpi_library() ? look_up(name) : NULL;
}

mpi_word mpi_handle(mpi_word value)
{
	return found.pointers ? value : (mpi_word)(uint32_t)value;
}

mpi_word mpi_handle_at(mpi_word pointer, size_t n)
{
	return found.pointers ? ((const mpi_word *)pointer)[n] : (mpi_word)((const uint32_t *)pointer)[n];
}

typedef int ask_fn(mpi_word of, int *answer);

static int ask(const char *name, mpi_word of, int otherwise)
{
	int answer = otherwise;
	ask_fn *function = (ask_fn *)(uintptr_t)mpi_function(name);
	return function && !function(of, &answer) ? answer : otherwise;
}

int mpi_rank_in(mpi_word comm)
{
	return ask("PMPI_Comm_rank", comm, -1);
}

int mpi_size_of(mpi_word comm)
{
	return ask("PMPI_Comm_size", comm, 0);
}

uint64_t mpi_bytes(mpi_word count, mpi_word type)
{
	int size = (int)count > 0 ? ask("PMPI_Type_size", type, 0) : 0;
	return size > 0 ? (uint64_t)(int)count * (uint64_t)size : 0;
}

int mpi_first_of(mpi_word comm, mpi_word parent)
{
	typedef int group_fn(mpi_word comm, mpi_word *group);
	typedef int free_fn(mpi_word *group);
	typedef int translate_fn(mpi_word from, int count, const int *ranks, mpi_word to, int *answers);
	group_fn *group_of = (group_fn *)(uintptr_t)mpi_function("PMPI_Comm_group");
	free_fn *free_group = (free_fn *)(uintptr_t)mpi_function("PMPI_Group_free");
	translate_fn *translate = (translate_fn *)(uintptr_t)mpi_function("PMPI_Group_translate_ranks");
	mpi_word a = 0, b = 0;
	int first = 0, answer = -1;
	if (!group_of || !free_group || !translate || group_of(comm, &a))
		return -1;
	if (!group_of(parent, &b)) {
		if (translate(a, 1, &first, b, &answer))
			answer = -1;
		free_group(&b);
	}
	free_group(&a);
	return answer;
}
