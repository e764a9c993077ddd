/* snapshot.c - records what all processes of a container do at one moment.
 */
#include "agent/evidence/snapshot.h"

#include "agent/evidence/process_state.h"
#include "protocol/base/clock.h"
#include "protocol/base/strings.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

/* Lists the TCP connections of a process. */

struct sockets;
/* Read the TCP sockets of the process's network namespace, from /proc/PID/net;
 * at most SOCKETS_MAX. NULL: ENOMEM.
 */
#define SOCKETS_MAX 65536
static void sockets_free(struct sockets *);
OWNED_POINTER(struct sockets, sockets_free)

#define FILES_MAX 4096 /* of one process */
#define LINE_MAX_BYTES 512
#define TCP_LISTEN 10

struct endpoint {
	int family;
	struct in6_addr address; /* the first 4 bytes of it with AF_INET */
	uint16_t port;
};

struct tcp_socket {
	uint64_t inode;
	struct endpoint own, peer;
	unsigned int state;
};

struct sockets {
	struct tcp_socket *list; /* by inode; SOCKETS_MAX */
	size_t count;
};

/* Source: Linux net/ipv4/tcp_ipv4.c; include/net/tcp_states.h. */
static const char *const state_names[] = {
	NULL,        "ESTABLISHED", "SYN_SENT",    "SYN_RECV",   "FIN_WAIT1",
	"FIN_WAIT2", "TIME_WAIT",   "CLOSE",       "CLOSE_WAIT", "LAST_ACK",
	"LISTEN",    "CLOSING",     "NEW_SYN_RECV"
};

/* "0100007F:1F90": words of the host's byte order, in hexadecimal. */
static bool sockets_read_endpoint(const char *text, int family,
				  struct endpoint *out)
{
	int words = family == AF_INET ? 1 : 4;
	uint32_t address[4] = { 0 };
	unsigned int port;

	if (strcspn(text, ":") != (size_t)words * 8)
		return false;
	for (int i = 0; i < words; i++)
		if (sscanf(text + (ptrdiff_t)i * 8, "%8" SCNx32, &address[i]) !=
		    1)
			return false;
	if (sscanf(text + (ptrdiff_t)words * 8, ":%4X", &port) != 1)
		return false;
	out->family = family;
	out->port = (uint16_t)port;
	memcpy(&out->address, address, sizeof(address));
	return true;
}

static void read_table(struct sockets *sockets, pid_t pid, const char *name,
		       int family)
{
	char path[64], line[LINE_MAX_BYTES], own[48], peer[48];
	owned_file FILE *file = NULL;

	snprintf(path, sizeof(path), "/proc/%d/net/%s", (int)pid, name);
	file = fopen(path, "re");
	while (file && sockets->count < SOCKETS_MAX &&
	       fgets(line, sizeof(line), file)) {
		struct tcp_socket *socket = &sockets->list[sockets->count];

		if (sscanf(line,
			   " %*d: %47s %47s %X %*s %*s %*s %*d %*d %" SCNu64,
			   own, peer, &socket->state, &socket->inode) == 4 &&
		    sockets_read_endpoint(own, family, &socket->own) &&
		    sockets_read_endpoint(peer, family, &socket->peer))
			sockets->count++;
	}
}

static int by_inode(const void *a, const void *b)
{
	const struct tcp_socket *one = a, *other = b;

	return (one->inode > other->inode) - (one->inode < other->inode);
}

static struct sockets *sockets_read(pid_t pid, struct error *err)
{
	owned(sockets_free) struct sockets *sockets =
		calloc(1, sizeof(*sockets));

	if (!sockets ||
	    !(sockets->list = calloc(SOCKETS_MAX, sizeof(*sockets->list))))
		return error_null(error_nomem(err, "sockets"));
	read_table(sockets, pid, "tcp", AF_INET);
	read_table(sockets, pid, "tcp6", AF_INET6);
	qsort(sockets->list, sockets->count, sizeof(*sockets->list), by_inode);
	return take(sockets);
}

static void sockets_free(struct sockets *sockets)
{
	if (!sockets)
		return;
	free(sockets->list);
	free(sockets);
}

static void sockets_write_endpoint(const struct endpoint *end, char *text,
				   size_t size)
{
	char address[INET6_ADDRSTRLEN] = "?";

	inet_ntop(end->family, &end->address, address, sizeof(address));
	snprintf(text, size, "%s:%u", address, end->port);
}

static int sockets_add_text(const struct tcp_socket *socket,
			    struct strings *list, struct error *err)
{
	size_t states = sizeof(state_names) / sizeof(*state_names);
	char own[80], peer[80];

	sockets_write_endpoint(&socket->own, own, sizeof(own));
	sockets_write_endpoint(&socket->peer, peer, sizeof(peer));
	return strings_printf(list, err, "%s %s %s", own, peer,
			      socket->state && socket->state < states
				      ? state_names[socket->state]
				      : "?");
}

static const struct tcp_socket *open_socket(const struct sockets *sockets,
					    int folder, const char *name)
{
	struct tcp_socket key = { 0 };
	char target[64];
	ssize_t n = readlinkat(folder, name, target, sizeof(target) - 1);

	if (n <= 0)
		return NULL;
	target[n] = 0;
	if (sscanf(target, "socket:[%" SCNu64 "]", &key.inode) != 1)
		return NULL;
	return bsearch(&key, sockets->list, sockets->count,
		       sizeof(*sockets->list), by_inode);
}

/* Append the sockets that the process has open, at most max, without listening
 * ones: "OWN_HOST:PORT PEER_HOST:PORT STATE".
 */
static int sockets_of(const struct sockets *sockets, pid_t pid, size_t max,
		      struct strings *list, struct error *err)
{
	size_t most = list->count + max;
	const struct dirent *file;
	char path[64];
	DIR *folder;
	int rc = 0;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	folder = opendir(path);
	for (int i = 0; folder && rc == 0 && i < FILES_MAX &&
			list->count < most && (file = readdir(folder));
	     i++) {
		const struct tcp_socket *socket =
			open_socket(sockets, dirfd(folder), file->d_name);

		if (socket && socket->state != TCP_LISTEN)
			rc = sockets_add_text(socket, list, err);
	}
	if (folder)
		closedir(folder);
	return rc;
}

static int write_process(const struct ranked_process *process,
			 const struct process_state *now, int64_t watched_ms,
			 uint64_t round, const struct sockets *sockets,
			 struct buffer *line, struct error *err)
{
	uint64_t used_ms = now->cpu_ms - process->state.cpu_ms;
	char state[2] = { now->state, 0 };
	owned(evidence_clear) struct evidence evidence = {
		.round = round,
		.pid = (uint64_t)now->pid,
		.rank = process->rank,
		.leads = process->leads,
		.state = strdup(state),
		.cpu_ms = now->cpu_ms,
		.busy_percent =
			(uint32_t)(used_ms * 100 / (uint64_t)(watched_ms + 1)),
		.threads = now->threads,
	};

	if (process_observe(now->pid, &evidence, err) < 0 ||
	    sockets_of(sockets, now->pid, EVIDENCE_SOCKETS_MAX,
		       &evidence.sockets, err) < 0)
		return -1;
	return evidence_write(&evidence, line, err);
}

static int snapshot_write_all(const struct ranked_process *list, size_t count,
			      int64_t watched_ms, uint64_t round,
			      const struct sockets *sockets, FILE *out,
			      struct error *err)
{
	owned(buffer_clear) struct buffer line = BUFFER_INIT(EVIDENCE_LINE_MAX);

	for (size_t i = 0; i < count; i++) {
		struct process_state now;

		if (!process_state_read(list[i].state.pid, &now))
			continue;
		buffer_clear(&line);
		if (write_process(&list[i], &now, watched_ms, round, sockets,
				  &line, err) < 0)
			return -1;
		if (fwrite(line.data, 1, line.size, out) != line.size)
			return error_errno(err, "evidence");
	}
	return fflush(out) ? error_errno(err, "evidence") : 0;
}

/* Write a line of protocol/message/evidence.h for each descendant of root,
 * which is regatta-init. first_rank: as for process_ranks().
 */
static int snapshot_write(pid_t root, int64_t first_rank, uint64_t round,
			  FILE *out, struct error *err)
{
	static const struct timespec pause = { 0, SNAPSHOT_BUSY_MS * 1000000L };
	owned_free struct ranked_process *list =
		calloc(EVIDENCE_PROCESSES_MAX, sizeof(*list));
	owned(sockets_free) struct sockets *sockets = sockets_read(root, err);
	int64_t begun_ms = clock_mono_ms();
	size_t left_out, count;

	if (!list || !sockets)
		return error_nomem(err, "evidence");
	count = process_ranks(root, first_rank, list, EVIDENCE_PROCESSES_MAX,
			      &left_out);
	nanosleep(&pause, NULL);
	if (left_out)
		fprintf(stderr, "%zu processes are omitted\n", left_out);
	return snapshot_write_all(list, count, clock_mono_ms() - begun_ms,
				  round, sockets, out, err);
}

int snapshot_main(int argc, char **argv, struct error *err)
{
	if (argc != 3)
		return error_set(err, EINVAL,
				 SNAPSHOT_WORD ": %d arguments; expected 3: "
					       "PID FIRST_RANK ROUND",
				 argc);
	return snapshot_write((pid_t)strtol(argv[0], NULL, 10),
			      strtoll(argv[1], NULL, 10),
			      strtoull(argv[2], NULL, 10), stdout, err);
}
