/*
 * Runs a program so that the application does not notice.
 *
 * A child from posix_spawn would send SIGCHLD to the application and turn up in its wait(). So the program is a grandchild. A first
 * process, the keeper, shares our memory and has no exit signal. It starts the second one, which runs the program, and waits for it. The
 * program has ended when the pipe on its stderr closes. The kernel ends the keeper with the thread that started it, and the program with
 * the keeper: so the program never outlives the application, not even when it is stopped and the application is killed. Until exec both
 * processes make bare system calls only. A function of the C library, or a sanitizer's version of it, would change the state of the
 * thread whose memory they share.
 */
#include "runtime/process/spawn.h"

#include "runtime/process/session.h"
#include "runtime/process/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STACK_BYTES = 64 * 1024, ASK_MS = 200 };

struct spawn {
	const char *path;
	char *const *argv, *const *environment;
	int stderr_fd;
	char *stacks; /* of the keeper and the grandchild; NULL: there is no keeper */
	pid_t keeper;
	/* Written through the shared memory: */
	volatile pid_t pid; /* of the grandchild */
	volatile int failure;
	atomic_uint started; /* a futex: whether it runs is known */
};

#ifdef __SANITIZE_THREAD__

/* ThreadSanitizer does not survive a process that shares the memory of one of its threads. Tests with it do without
 * the privacy. */
static int start_program(struct spawn *s)
{
	posix_spawn_file_actions_t actions;
	pid_t pid;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, s->stderr_fd, 2);
	int failure = posix_spawn(&pid, s->path, &actions, NULL, s->argv, s->environment);
	posix_spawn_file_actions_destroy(&actions);
	s->pid = pid;
	return -failure;
}

static void end_keeper(struct spawn *s)
{
	(void)s;
}

#else

#define BARE __attribute__((no_sanitize("address", "thread", "undefined")))

/* Every signal to its default and none blocked. All zero is SIG_DFL and an empty mask, whatever the layout. */
BARE static void reset_signals(void)
{
	static const char zeroes[256];
	enum { KERNEL_SIGSET_BYTES = 8 };
	for (int sig = 1; sig < NSIG; sig++)
		syscall(SYS_rt_sigaction, sig, zeroes, NULL, KERNEL_SIGSET_BYTES);
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, zeroes, NULL, KERNEL_SIGSET_BYTES);
}

BARE static int run_program(void *data)
{
	struct spawn *s = data;
	syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	syscall(SYS_setsid);
	long null = syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR);
	if (null >= 0 && syscall(SYS_dup3, null, 0, 0) >= 0 && syscall(SYS_dup3, null, 1, 0) >= 0 &&
	    syscall(SYS_dup3, s->stderr_fd, 2, 0) >= 0) {
		if (syscall(SYS_close_range, 3u, ~0u, 0u) < 0)
			for (int fd = 3; fd < 4096; fd++)
				syscall(SYS_close, fd);
		reset_signals();
		syscall(SYS_execve, s->path, s->argv, s->environment);
	}
	s->failure = errno;
	syscall(SYS_exit_group, 127);
	return 0;
}

BARE static int run_keeper(void *data)
{
	struct spawn *s = data;
	syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	pid_t pid = clone(run_program, s->stacks + 2 * STACK_BYTES, CLONE_VM | CLONE_VFORK, s);
	if (pid < 0)
		s->failure = errno;
	s->pid = pid;
	s->started = 1;
	syscall(SYS_futex, &s->started, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
	/* Nothing of the application's stays open or busy because of this process. */
	if (syscall(SYS_close_range, 0u, ~0u, 0u) < 0)
		for (int fd = 0; fd < 4096; fd++)
			syscall(SYS_close, fd);
	syscall(SYS_chdir, "/");
	if (pid > 0)
		syscall(SYS_wait4, pid, NULL, __WALL, NULL);
	syscall(SYS_exit_group, 0);
	return 0;
}

static void end_keeper(struct spawn *s)
{
	enum { PATIENCE_NS = 1000000000, LOOK_US = 200, LOOK_MOST_US = 20000 };
	uint64_t begin = clock_ns();
	int status;
	pid_t ended = 0;
	/* A program that has closed its stderr may still run. */
	for (useconds_t pause = LOOK_US; (ended = waitpid(s->keeper, &status, __WCLONE | WNOHANG)) == 0 || (ended < 0 && errno == EINTR);) {
		if (s->pid > 0 && clock_ns() - begin > PATIENCE_NS)
			kill(-s->pid, SIGKILL);
		usleep(pause);
		pause = pause < LOOK_MOST_US ? pause * 2 : pause;
	}
	munmap(s->stacks, 2 * STACK_BYTES);
}

/* Starts both; the descriptors are the caller's. */
static int start_program(struct spawn *s)
{
	s->stacks = mmap(NULL, 2 * STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	if (s->stacks == MAP_FAILED)
		return -errno;
	sigset_t all, before;
	int cancel;
	sigfillset(&all);
	/* With every signal blocked no handler can run in a process that shares the guest's memory. */
	pthread_sigmask(SIG_BLOCK, &all, &before);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	s->keeper = clone(run_keeper, s->stacks + STACK_BYTES, CLONE_VM, s);
	int failure = s->keeper < 0 ? errno : 0;
	while (!failure && !s->started)
		syscall(SYS_futex, &s->started, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
	failure = failure ? failure : s->failure;
	if (s->keeper < 0)
		munmap(s->stacks, 2 * STACK_BYTES);
	else if (failure)
		end_keeper(s);
	pthread_setcancelstate(cancel, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -failure;
}

#endif

/* A program and the time that it has. */
struct limit {
	pid_t pid;
	unsigned timeout_s;
	uint64_t deadline_ns;
};

enum outlook { GOES_ON, OVER, ENDED };

/* Processes that would run if the machine let them have longer, until processors have worked as long for them. */
static enum outlook look_at_session(struct limit *l)
{
	enum { LOOKS = 20, EVERY_US = 10000 };
	struct session_work work = {0, true, false};
	if (clock_ns() < l->deadline_ns)
		return GOES_ON;
	for (int i = 0; i < LOOKS && work.alive && !work.at_work; i++) {
		if (i)
			usleep(EVERY_US);
		work = session_look(l->pid);
	}
	if (!work.alive)
		return ENDED;
	if (!work.at_work || work.ran_ns >= (uint64_t)l->timeout_s * 1000000000u)
		return OVER;
	l->deadline_ns = clock_ns() + ASK_MS * 1000000u;
	return GOES_ON;
}

static int end_session(enum outlook why, pid_t pid)
{
	if (why == ENDED)
		return 0;
	kill(-pid, SIGKILL);
	return -ETIMEDOUT;
}

static int wait_without_pipe(struct limit *l)
{
	while (!kill(l->pid, 0) || errno != ESRCH) {
		enum outlook now = look_at_session(l);
		if (now != GOES_ON)
			return end_session(now, l->pid);
		usleep(10000);
	}
	return 0;
}

/*
 * Reads until the program has ended, or the time is up and every process of its session is ended. The pipe's
 * closing says so, unless the guest forked just then and holds a copy of it: so the process is asked for as well.
 */
static int listen_until_end(int fd, pid_t pid, unsigned timeout_s, struct gs_buf *said)
{
	struct limit limit = {pid, timeout_s, clock_ns() + (uint64_t)timeout_s * 1000000000u};
	char chunk[1024];
	struct stat pipe_stat, s;
	fstat(fd, &pipe_stat);
	for (;;) {
		/* An application that closes all descriptors may have got our number for a file of its own. */
		if (fstat(fd, &s) || s.st_ino != pipe_stat.st_ino || s.st_dev != pipe_stat.st_dev)
			return wait_without_pipe(&limit);
		struct pollfd p = {.fd = fd, .events = POLLIN};
		int ready = poll(&p, 1, ASK_MS);
		if (ready < 0 && errno == EINTR)
			continue;
		if (ready <= 0 && kill(pid, 0) < 0 && errno == ESRCH)
			return 0;
		ssize_t n = ready > 0 ? read(fd, chunk, sizeof chunk) : -1;
		if (ready > 0 && (n == 0 || (n < 0 && errno != EINTR)))
			return 0;
		if (n > 0 && said->len < 4096)
			gs_buf_add(said, chunk, (size_t)n);
		enum outlook now = look_at_session(&limit);
		if (now != GOES_ON)
			return end_session(now, pid);
	}
}

int run_apart(const char *path, char *const *argv, char *const *environment, unsigned timeout_s, struct gs_buf *said,
              struct gs_error *err)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) < 0)
		return gs_fail(err, errno, "cannot start %s: %s", path, strerror(errno));
	struct spawn s = {.path = path, .argv = argv, .environment = environment, .stderr_fd = ends[1]};
	int result = start_program(&s);
	bool runs = !result;
	close(ends[1]);
	if (result)
		gs_fail(err, -result, "cannot start %s: %s", path, strerror(-result));
	else if ((result = listen_until_end(ends[0], s.pid, timeout_s, said)))
		gs_fail(err, -result, "gpusim-cc took longer than %u s and was stopped (GPUSIM_CC_TIMEOUT)", timeout_s);
	if (runs)
		end_keeper(&s);
	close(ends[0]);
	return result;
}
