/* pod.c - regatta-init in a pod of Kubernetes.
 *
 * A tool's standard input and outputs travel through a socket in the shared
 * volume, so what it prints goes straight to the agent. It ends when the one
 * who asked for it is gone.
 */
#include "agent/init/pod.h"
#include "agent/init/init.h"
#include "agent/init/seccomp_filter.h"
#include "protocol/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	EXIT_TOOL = 125,
	WORDS_MAX = 256,
	BYTES_MAX = 65536,
	FDS = 3,
	WAIT_US = 20000
};

int pod_install(const char *folder, struct error *err)
{
	/* The tool is the last one: what is there is complete. */
	static const char *const names[] = { "ssh", "scp", "regatta-init",
					     INIT_TOOL };
	owned(buffer_clear) struct buffer program = BUFFER_INIT(64 << 20);
	char path[PATH_MAX];

	umask(0);
	snprintf(path, sizeof(path), "%s/work", folder);
	if (file_make_folders(path, 0777, err) < 0 ||
	    file_read_any("/proc/self/exe", &program, err) < 0)
		return -1;
	snprintf(path, sizeof(path), "%s/bin", folder);
	if (file_make_folders(path, 0755, err) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/bin/%s", folder, names[i]);
		if (file_write(AT_FDCWD, path, program.data, program.size, 0755,
			       0, err) < 0)
			return -1;
	}
	return 0;
}

/* The socket in a folder whose path may be longer than an address. */
static int pod_socket(const char *folder, struct sockaddr_un *address)
{
	owned_fd int at = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);

	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (at < 0)
		return -1;
	snprintf(address->sun_path, sizeof(address->sun_path),
		 "/proc/self/fd/%d/" INIT_TOOL, at);
	take_fd(&at); /* as long as this process */
	return socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
}

/* The one who serves. */

/* Receive the words of a command and its descriptors. */
static bool pod_tool_receive(int fd, char *words[WORDS_MAX + 1], int fds[FDS])
{
	static char bytes[BYTES_MAX + 1];
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int) * FDS)];
	} control;
	struct iovec text = { bytes, BYTES_MAX };
	struct msghdr message = { .msg_iov = &text,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = sizeof(control) };
	ssize_t size = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
	const struct cmsghdr *head = CMSG_FIRSTHDR(&message);
	size_t count = 0;

	if (size <= 0 || bytes[size - 1] ||
	    message.msg_flags & (MSG_TRUNC | MSG_CTRUNC) || !head ||
	    head->cmsg_len != CMSG_LEN(sizeof(int) * FDS))
		return false;
	memcpy(fds, CMSG_DATA(head), sizeof(int) * FDS);
	for (char *at = bytes; at < bytes + size && count < WORDS_MAX;
	     at += strlen(at) + 1)
		words[count++] = at;
	words[count] = NULL;
	return true;
}

static _Noreturn void pod_tool_exec(char **words, const int fds[FDS])
{
	setsid();
	for (int i = 0; i < FDS; i++)
		if (dup2(fds[i], i) < 0)
			_exit(EXIT_TOOL);
	setenv("LC_ALL", "C", 1);
	for (; *words && strchr(*words, '='); words++)
		putenv(*words);
	if (!*words || seccomp_filter_install(NULL) < 0)
		_exit(EXIT_TOOL);
	execvp(words[0], words);
	dprintf(2, "cannot be executed: %m\n");
	_exit(errno == ENOENT || errno == ENOTDIR ? 127 : 126);
}

/* Run one command for the one at the other end of fd. */
static _Noreturn void pod_tool_serve(int fd)
{
	char *words[WORDS_MAX + 1];
	int fds[FDS], status = 0;
	unsigned char code = EXIT_TOOL;
	pid_t pid = pod_tool_receive(fd, words, fds) ? fork() : -1;
	struct pollfd ends[2] = { { .fd = fd, .events = POLLIN } };

	if (!pid)
		pod_tool_exec(words, fds);
	if (pid > 0) {
		ends[1] = (struct pollfd){ .fd = (int)syscall(SYS_pidfd_open,
							      pid, 0),
					   .events = POLLIN };
		poll(ends, 2, -1);
		kill(-pid, SIGKILL);
		kill(pid, SIGKILL); /* it may not lead its group yet */
		waitpid(pid, &status, 0);
		code = (unsigned char)(WIFSIGNALED(status)
					       ? 128 + WTERMSIG(status)
					       : WEXITSTATUS(status));
	}
	send(fd, &code, 1, MSG_NOSIGNAL);
	_exit(0);
}

static void pod_tool_accept(int listener)
{
	owned_fd int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	struct ucred peer = { .uid = (uid_t)-1 };
	socklen_t size = sizeof(peer);
	sigset_t none;

	/* A command may give up rights, and must not find them here. */
	if (fd < 0 ||
	    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0 ||
	    (peer.uid && peer.uid != geteuid()) || fork() != 0)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	pod_tool_serve(fd);
}

static _Noreturn void pod_tools_serve(int listener, int signals, pid_t init,
				      const char *out)
{
	struct pollfd ends[] = { { .fd = listener, .events = POLLIN },
				 { .fd = signals, .events = POLLIN } };

	for (;;) {
		struct signalfd_siginfo info = { 0 };
		int status;
		pid_t pid;

		poll(ends, 2, -1);
		if (ends[0].revents)
			pod_tool_accept(listener);
		if (!ends[1].revents ||
		    read(signals, &info, sizeof(info)) != sizeof(info))
			continue;
		if (info.ssi_signo == SIGTERM && access(out, F_OK) < 0)
			kill(init, SIGTERM);
		while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
			if (pid == init)
				_exit(WIFSIGNALED(status)
					      ? 128 + WTERMSIG(status)
					      : WEXITSTATUS(status));
	}
}

int pod_split(const char *folder, const char *out, struct error *err)
{
	struct sockaddr_un address;
	owned_fd int listener = pod_socket(folder, &address);
	owned_fd int signals = -1;
	sigset_t set, before;
	pid_t parent = getpid(), pid;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, &before);
	signals = signalfd(-1, &set, SFD_CLOEXEC);
	if (listener < 0 || signals < 0 ||
	    bind(listener, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    chmod(address.sun_path, 0777) < 0 || listen(listener, 64) < 0)
		return error_errno(err, "%.150s/" INIT_TOOL, folder);
	pid = fork();
	if (pid < 0)
		return error_errno(err, "fork");
	if (pid > 0)
		pod_tools_serve(listener, signals, pid, out);
	sigprocmask(SIG_SETMASK, &before, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_TOOL);
	return 0;
}

/* The one who asks. */

/* Send the words, with our own descriptors 0, 1 and 2. */
static int pod_tool_send(int fd, int argc, char **argv)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int) * FDS)];
	} control = { .head = { .cmsg_level = SOL_SOCKET,
				.cmsg_type = SCM_RIGHTS,
				.cmsg_len = CMSG_LEN(sizeof(int) * FDS) } };
	/* They stand one behind the other, each with its end. */
	size_t size =
		(size_t)(argv[argc - 1] + strlen(argv[argc - 1]) + 1 - argv[0]);
	struct iovec text = { argv[0], size };
	const struct msghdr message = { .msg_iov = &text,
					.msg_iovlen = 1,
					.msg_control = &control,
					.msg_controllen = sizeof(control) };

	memcpy(CMSG_DATA(&control.head), (const int[FDS]){ 0, 1, 2 },
	       sizeof(int) * FDS);
	return size <= BYTES_MAX && sendmsg(fd, &message, MSG_NOSIGNAL) > 0
		       ? 0
		       : -1;
}

int pod_tool_main(int argc, char **argv)
{
	const char *slash = strrchr(argv[0], '/');
	struct sockaddr_un address;
	unsigned char code;
	char folder[PATH_MAX];
	int fd;

	if (!slash || strcmp(slash + 1, INIT_TOOL) != 0)
		return -1;
	/* The command sees this process, too, of the agent's container. */
	prctl(PR_SET_DUMPABLE, 0);
	snprintf(folder, sizeof(folder), "%.*s/..", (int)(slash - argv[0]),
		 argv[0]);
	fd = pod_socket(folder, &address);
	while (fd >= 0 &&
	       connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		if (errno != ENOENT && errno != ECONNREFUSED)
			return EXIT_TOOL;
		usleep(WAIT_US);
	}
	return argc > 1 && pod_tool_send(fd, argc - 1, argv + 1) == 0 &&
			       read(fd, &code, 1) == 1
		       ? code
		       : EXIT_TOOL;
}
