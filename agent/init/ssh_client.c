/* ssh_client.c - ssh and scp in the container of a job that asks for them. */
#include "agent/init/ssh_client.h"
#include "agent/init/init.h"
#include "protocol/base/clock.h"
#include "protocol/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { NOT_RUN = 255, LOOK_MS = 20 };

struct request {
	char bytes[INIT_SSH_REQUEST_MAX];
	size_t size;
};

static int ssh_client_refuse(const char *name, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static int ssh_client_refuse(const char *name, const char *fmt, ...)
{
	char text[400];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	dprintf(2, "%s: %s\n", name, text);
	return NOT_RUN;
}

static bool request_add_bytes(struct request *request, const char *text,
			      size_t size)
{
	if (size > sizeof(request->bytes) - request->size)
		return false;
	memcpy(request->bytes + request->size, text, size);
	request->size += size;
	return true;
}

static bool request_add_text(struct request *request, const char *text)
{
	return request_add_bytes(request, text, strlen(text));
}

static bool request_add_host(struct request *request, const char *host)
{
	const char *user = strrchr(host, '@');

	return request_add_text(request, "host=") &&
	       request_add_text(request, user ? user + 1 : host) &&
	       request_add_bytes(request, "", 1);
}

/* Read fd to its end; 1: more than fits. */
static int add_input(struct request *request, int fd)
{
	char more;
	ssize_t got;

	for (;;) {
		size_t room = sizeof(request->bytes) - request->size;

		got = room ? read(fd, request->bytes + request->size, room)
			   : read(fd, &more, 1);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got < 0 ? -1 : 0;
		if (!room)
			return 1;
		request->size += (size_t)got;
	}
}

/* Ids are in the order of time. The pid tells apart requests of the same
 * moment.
 */
static void make_id(char id[33])
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	snprintf(id, 33, "%016" PRIx64 "%08x",
		 (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec,
		 (unsigned int)getpid());
}

static void ssh_client_print(int fd, const char *bytes, size_t size)
{
	while (size) {
		ssize_t put = write(fd, bytes, size);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return;
		bytes += put;
		size -= (size_t)put;
	}
}

/* Print the output of the command; returns its exit code. */
static int ssh_answer_print(const char *name, char *answer, size_t size)
{
	char *second = memchr(answer, 0, size), *output;
	unsigned long code, bytes;

	second = second ? second + 1 : answer + size;
	output = memchr(second, 0, (size_t)(answer + size - second));
	if (!output++ || sscanf(answer, "exit=%lu", &code) != 1 ||
	    sscanf(second, "stdout=%lu", &bytes) != 1 ||
	    bytes > (size_t)(answer + size - output))
		return ssh_client_refuse(name, "the answer cannot be read");
	ssh_client_print(1, output, bytes);
	ssh_client_print(2, output + bytes,
			 (size_t)(answer + size - output) - bytes);
	return code > NOT_RUN ? NOT_RUN : (int)code;
}

/* Wait for the answer, without a time limit: the end of the task ends this
 * process. deadline_ms: when to continue in the background; 0: never.
 */
static int await(const char *name, const char *path, int64_t deadline_ms)
{
	static char answer[INIT_SSH_ANSWER_MAX + 1];
	size_t size = 0;
	ssize_t got;
	int fd;

	while ((fd = open(path, O_RDONLY | O_CLOEXEC)) < 0) {
		const struct timespec pause = { 0, LOOK_MS * 1000000L };

		if (deadline_ms && clock_mono_ms() > deadline_ms) {
			if (fork() > 0)
				return 0;
			deadline_ms = 0;
		}
		nanosleep(&pause, NULL);
	}
	while ((got = read(fd, answer + size, INIT_SSH_ANSWER_MAX - size)) > 0)
		size += (size_t)got;
	close(fd);
	return ssh_answer_print(name, answer, size);
}

static int hand_over(const char *name, const struct request *request,
		     bool background)
{
	char id[33], asked[PATH_MAX], answer[PATH_MAX];
	struct error err;
	int code;

	make_id(id);
	snprintf(asked, sizeof(asked), INIT_OUT "/ssh-%s.request", id);
	snprintf(answer, sizeof(answer), INIT_IN "/ssh-%s.answer", id);
	if (file_write(AT_FDCWD, asked, request->bytes, request->size, 0644, 0,
		       &err) < 0)
		return ssh_client_refuse(name, "%s", err.text);
	code = await(name, answer,
		     background ? clock_mono_ms() + SSH_CLIENT_BACKGROUND_MS
				: 0);
	/* In the background the child still waits for the answer. */
	if (access(answer, F_OK) == 0)
		unlink(asked);
	return code;
}

static int too_much(const char *name)
{
	return ssh_client_refuse(name,
				 "command and input of more than %d bytes",
				 INIT_SSH_REQUEST_MAX);
}

static int run_ssh(int argc, char **argv, struct request *request)
{
	bool background = false, input = true;
	const char *host = NULL;
	int option;

	while ((option = getopt(argc, argv,
				"+46AaCfGgKkMNnqsTtVvXxYyB:b:c:D:E:e:F:I:i:J:"
				"L:l:m:O:o:P:p:Q:R:S:W:w:")) >= 0) {
		if (option == '?')
			return NOT_RUN;
		background |= option == 'f';
		input &= option != 'f' && option != 'n';
	}
	if (optind < argc)
		host = argv[optind++];
	/* Options may follow the host, too. */
	if (host && optind < argc && argv[optind][0] == '-') {
		argv[optind - 1] = argv[0];
		argv += optind - 1;
		argc -= optind - 1;
		optind = 0;
		while ((option = getopt(argc, argv, "+fnqTtxi:l:o:p:")) >= 0) {
			background |= option == 'f';
			input &= option != 'f' && option != 'n';
		}
	}
	if (!host || optind == argc)
		return ssh_client_refuse("ssh", "missing host or command; an "
						"interactive "
						"shell is not available");
	if (!request_add_host(request, host) ||
	    !request_add_text(request, "command="))
		return too_much("ssh");
	for (int i = optind; i < argc; i++)
		if (!request_add_text(request, argv[i]) ||
		    (i + 1 < argc && !request_add_bytes(request, " ", 1)))
			return too_much("ssh");
	if (!request_add_bytes(request, "", 1))
		return too_much("ssh");
	if (input && add_input(request, 0) > 0)
		return too_much("ssh");
	return hand_over("ssh", request, background);
}

/* Quoted for a shell. */
static bool request_add_quoted(struct request *request, const char *text)
{
	bool fits = request_add_bytes(request, "'", 1);

	for (; *text; text++)
		fits = fits &&
		       (*text == '\'' ? request_add_text(request, "'\\''")
				      : request_add_bytes(request, text, 1));
	return fits && request_add_bytes(request, "'", 1);
}

/* The colon of HOST:PATH; NULL: a local path. */
static char *remote_path(char *word)
{
	char *colon = strchr(word, ':');

	return colon && !memchr(word, '/', (size_t)(colon - word)) ? colon
								   : NULL;
}

static int run_scp(int argc, char **argv, struct request *request)
{
	char *from, *to, *name, mode[16];
	struct stat stat;
	int option, fd, rc;

	while ((option = getopt(argc, argv,
				"346ABCOpqRrsTvc:D:F:i:J:l:o:P:S:"
				"X:")) >= 0)
		if (option == '?')
			return NOT_RUN;
	if (argc - optind != 2 || remote_path(argv[optind]) ||
	    !(to = remote_path(argv[optind + 1])))
		return ssh_client_refuse("scp",
					 "expected FILE HOST:PATH, one file to "
					 "another node");
	from = argv[optind];
	*to++ = 0;
	name = strrchr(from, '/');
	name = name ? name + 1 : from;
	fd = open(from, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &stat) < 0)
		return ssh_client_refuse("scp", "%s: %s", from,
					 strerror(errno));
	if (!S_ISREG(stat.st_mode)) {
		close(fd);
		return ssh_client_refuse("scp",
					 "%s: not a regular file; folders are "
					 "not "
					 "copied",
					 from);
	}
	snprintf(mode, sizeof(mode), "%o", stat.st_mode & 0777);
	rc = !request_add_host(request, argv[optind + 1]) ||
	     !request_add_text(request, "command=to=") ||
	     !request_add_quoted(request, *to ? to : ".") ||
	     !request_add_text(request, "; [ ! -d \"$to\" ] || to=\"$to\"/") ||
	     !request_add_quoted(request, name) ||
	     !request_add_text(request, "; cat >\"$to\" && chmod ") ||
	     !request_add_text(request, mode) ||
	     !request_add_text(request, " \"$to\"") ||
	     !request_add_bytes(request, "", 1) || add_input(request, fd) > 0;
	close(fd);
	return rc ? too_much("scp") : hand_over("scp", request, false);
}

int ssh_client_main(int argc, char **argv)
{
	static struct request request;
	const char *slash = strrchr(argv[0], '/');
	const char *name = slash ? slash + 1 : argv[0];

	if (!strcmp(name, "ssh"))
		return run_ssh(argc, argv, &request);
	if (!strcmp(name, "scp"))
		return run_scp(argc, argv, &request);
	return -1;
}
