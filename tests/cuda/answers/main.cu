/* Runs groups of questions, each in a process of its own: all, or those that are named. */
#include "answers.h"

#include <sys/wait.h>
#include <unistd.h>

static void run(const struct group *group)
{
	int status = 0;
	printf("# %s\n", group->name);
	fflush(stdout);
	pid_t child = fork();
	if (!child) {
		alarm(60);
		group->ask();
		fflush(stdout);
		_exit(0);
	}
	waitpid(child, &status, 0);
	if (WIFSIGNALED(status))
		printf("%s ended by signal %d\n", group->name, WTERMSIG(status));
	fflush(stdout);
}

static bool wanted(const char *name, int argc, char **argv)
{
	for (int k = 1; k < argc; k++)
		if (!strcmp(argv[k], name))
			return true;
	return argc < 2;
}

int main(int argc, char **argv)
{
	const struct group *all[] = {device_groups, launch_groups, memory_groups, stream_groups, graph_groups, driver_groups, fault_groups};
	for (const struct group *groups : all)
		for (; groups->name; groups++)
			if (wanted(groups->name, argc, argv))
				run(groups);
	return 0;
}
