/* file: a file that a report is written to. */
#ifndef GPUSIM_RUNTIME_REPORT_FILE_H
#define GPUSIM_RUNTIME_REPORT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The application may close our descriptor and get its number for a file of its own. So the descriptor is looked at before each write,
 * and the file is opened anew if it is not ours any more. */
struct report_file {
	const char *prefix, *ending; /* its name; %p in the prefix becomes the number of the process */
	bool grows;   /* nothing that is written changes: it is added to in place */
	char *path;
	char *target; /* the file itself, links followed */
	int fd;       /* the file that is there, locked */
	bool opened, failed; /* once */
	bool fresh;    /* there is no such file yet */
	bool in_place;
	unsigned mode;
	unsigned long long device, inode;
};

/* Keeps what comes before an offset and writes bytes after it, with which the file ends; 0, or -1 with one warning per file. */
int report_write(struct report_file *f, const char *data, size_t length, uint64_t offset);

#endif
