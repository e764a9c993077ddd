/* unread_test.c - whose unread bytes are too many, and that a crowd's are not.
 */
#include "protocol/wire/unread.h"
#include "tests/tap.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define CROWD 200
#define PIECE ((size_t)16 << 10)
#define EACH (17 * PIECE) /* of a crowd: more than UNREAD_MAX together */
#define LOOKS 5
#define GROWTH (16 << 20) /* of this process, for which it looks */

_Static_assert((size_t)CROWD *EACH > UNREAD_MAX, "too much of strangers");
_Static_assert((size_t)CROWD *EACH < UNREAD_MAX + (size_t)CROWD * UNREAD_EACH,
	       "not of peers");

struct crowd {
	sd_event *loop;
	struct unread *unread;
	int listener;
	int near[CROWD], far[CROWD];
	size_t received;
	int cuts, first; /* how many, and who was the first */
	bool is_cut[CROWD];
	char *grown;
};

static void cut(void *arg, int fd, size_t bytes)
{
	struct crowd *crowd = arg;

	for (int i = 0; i < CROWD; i++)
		if (crowd->near[i] == fd) {
			crowd->is_cut[i] = true;
			if (!crowd->cuts)
				crowd->first = i;
		}
	crowd->cuts++;
	crowd->received -= bytes;
}

/* What libzmq does: it takes from the kernel what the server does not read. */
static void receive(struct crowd *crowd, int i, size_t size)
{
	static char piece[PIECE];

	for (size_t left = size; left; left -= sizeof(piece))
		if (write(crowd->far[i], piece, sizeof(piece)) !=
			    sizeof(piece) ||
		    recv(crowd->near[i], piece, sizeof(piece), MSG_WAITALL) !=
			    sizeof(piece))
			abort();
	crowd->received += size;
}

/* The server reads a message of it, without content. */
static void hear(struct crowd *crowd, int i)
{
	owned(frames_clear) struct frames frames;
	struct stat st;

	frames_init(&frames);
	if (fstat(crowd->near[i], &st) < 0)
		abort();
	unread_took(crowd->unread, crowd->near[i], st.st_ino, &frames);
}

static void join(struct crowd *crowd, int i)
{
	struct sockaddr_in address;
	socklen_t size = sizeof(address);

	crowd->far[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (getsockname(crowd->listener, (struct sockaddr *)&address, &size) <
		    0 ||
	    connect(crowd->far[i], (struct sockaddr *)&address, size) < 0)
		abort();
	crowd->near[i] = accept4(crowd->listener, NULL, NULL, SOCK_CLOEXEC);
	unread_came(crowd->unread, crowd->near[i]);
}

/* said: each says something as it comes. */
static void crowd_init(struct crowd *crowd, bool said)
{
	struct sockaddr_in any = { .sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	*crowd = (struct crowd){ .first = -1 };
	crowd->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (sd_event_new(&crowd->loop) < 0 ||
	    bind(crowd->listener, (struct sockaddr *)&any, sizeof(any)) < 0 ||
	    listen(crowd->listener, 1) < 0)
		abort();
	crowd->unread = unread_new(crowd->loop, cut, crowd, NULL);
	for (int i = 0; i < CROWD; i++) {
		join(crowd, i);
		if (said)
			hear(crowd, i);
	}
	crowd->grown = malloc(GROWTH);
	memset(crowd->grown, 1, GROWTH);
}

static void crowd_clear(struct crowd *crowd)
{
	unread_free(crowd->unread);
	for (int i = 0; i < CROWD; i++) {
		close(crowd->near[i]);
		close(crowd->far[i]);
	}
	close(crowd->listener);
	sd_event_unref(crowd->loop);
	free(crowd->grown);
}
OWNED_VALUE(struct crowd, crowd_clear)

/* Its timer is all that the loop has. */
static void look(struct crowd *crowd)
{
	sd_event_run(crowd->loop, UINT64_MAX);
}

static void strangers(void)
{
	owned(crowd_clear) struct crowd crowd;

	crowd_init(&crowd, false);
	for (int i = 0; i < CROWD; i++)
		receive(&crowd, i, EACH);
	while (!crowd.cuts)
		look(&crowd);
	ok(crowd.received <= UNREAD_MAX / 2, "half is left to strangers");
	ok(crowd.received > UNREAD_MAX / 2 - EACH, "and no less");
}

static void peers(void)
{
	owned(crowd_clear) struct crowd crowd;

	crowd_init(&crowd, true);
	for (int i = 0; i < CROWD; i++)
		receive(&crowd, i, EACH);
	for (int i = 0; i < LOOKS; i++)
		look(&crowd);
	is_int(crowd.cuts, 0, "peers may have as much");
	receive(&crowd, 7, (size_t)CROWD * UNREAD_EACH);
	while (!crowd.cuts)
		look(&crowd);
	is_int(crowd.first, 7, "who has most is cut first");
}

/* In a process that may have few descriptors open. */
static void silent(bool said)
{
	struct rlimit was;
	owned(crowd_clear) struct crowd crowd;

	getrlimit(RLIMIT_NOFILE, &was);
	setrlimit(RLIMIT_NOFILE,
		  &(struct rlimit){ UNREAD_DESCRIPTORS_LEFT + CROWD,
				    was.rlim_max });
	crowd_init(&crowd, said);
	setrlimit(RLIMIT_NOFILE, &was);
	if (said) {
		ok(crowd.cuts && !crowd.is_cut[0] && !crowd.is_cut[CROWD / 4],
		   "who said something is not cut, but who comes last");
		return;
	}
	is_int(crowd.first, 0, "who says nothing is cut, the oldest first");
	ok(crowd.cuts < CROWD && !crowd.is_cut[CROWD - 1], "the newest is not");
}

int main(void)
{
	tap_begin(60);
	strangers();
	peers();
	silent(false);
	silent(true);
	return tap_done();
}
