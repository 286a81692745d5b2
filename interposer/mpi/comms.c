/* Numbers for communicators: 0 is the world, 1 this process alone, then those that it made. */
#include "interposer/mpi/mpi.h"

#include <pthread.h>
#include <stdlib.h>

enum { WORLD, SELF, FIRST_MADE };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	mpi_word handle;
	int number;
} *comms;
static size_t count, room;
static int next_number = FIRST_MADE;

int mpi_comm_number(mpi_word comm)
{
	const struct mpi_library *library = mpi_library();
	int number = -1;
	comm = mpi_handle(comm);
	if (comm == library->world || comm == library->self)
		return comm == library->world ? WORLD : SELF;
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < count && number < 0; i++)
		if (comms[i].handle == comm)
			number = comms[i].number;
	pthread_mutex_unlock(&lock);
	return number;
}

int mpi_comm_add(mpi_word comm)
{
	int number = -1;
	pthread_mutex_lock(&lock);
	if (gs_reserve(&comms, count, &room, sizeof *comms)) {
		number = next_number++;
		comms[count].handle = comm;
		comms[count++].number = number;
	}
	pthread_mutex_unlock(&lock);
	return number;
}

void mpi_comm_gone(mpi_word comm)
{
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < count; i++)
		if (comms[i].handle == comm) {
			comms[i] = comms[--count];
			break;
		}
	pthread_mutex_unlock(&lock);
}
