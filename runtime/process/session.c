/*
 * The processes of a session that a program of ours leads: whether they work, and how long processors have worked for them. A limit in
 * seconds of a clock alone would make results depend on what else the machine does.
 */
#include "runtime/process/session.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct process {
	char state;
	int session;
	unsigned long ticks; /* of it and of children that it has waited for */
};

/* Behind the name, which is in parentheses and may have some: proc(5), /proc/pid/stat, fields 3, 6 and 14 to 17. */
static bool read_process(const char *id, struct process *p)
{
	char path[64], text[1024];
	unsigned long user, system;
	long children_user, children_system;
	snprintf(path, sizeof path, "/proc/%.20s/stat", id);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
	if (fd >= 0)
		close(fd);
	text[length > 0 ? length : 0] = 0;
	const char *end = strrchr(text, ')');
	if (!end || sscanf(end + 1, " %c %*d %*d %d %*d %*d %*u %*u %*u %*u %*u %lu %lu %ld %ld", &p->state, &p->session, &user,
	                   &system, &children_user, &children_system) != 6)
		return false;
	p->ticks = user + system + (unsigned long)(children_user + children_system);
	return true;
}

struct session_work session_look(pid_t leader)
{
	DIR *processes = opendir("/proc");
	struct session_work w = {0, false, false};
	struct process p;
	for (struct dirent *e; processes && (e = readdir(processes));) {
		if (!isdigit((unsigned char)*e->d_name) || !read_process(e->d_name, &p) || p.session != leader)
			continue;
		w.ran_ns += (uint64_t)p.ticks * 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK);
		w.alive |= p.state != 'Z' && p.state != 'X';
		w.at_work |= p.state == 'R' || p.state == 'D';
	}
	if (processes)
		closedir(processes);
	return w;
}
