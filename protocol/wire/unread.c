/* unread.c - counts received bytes that the server has not read yet, and
 * connections from which it has read none, and bounds both.
 */
#include "protocol/wire/unread.h"
#include "protocol/base/loop.h"
#include "protocol/base/program.h"

#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define LOOK_MS 100
#define LOOK_SOON_MS 20     /* while there is much */
#define GROWTH_SHARE 12     /* of what they may have: the growth of this */
			    /* process's memory before a full count */
#define LOOKS_MAX 100       /* without looking at all */
#define DESCRIPTORS 1048576 /* that are looked at */

/* By the number of the descriptor. */
struct connection {
	ino_t inode; /* 0: none */
	uint64_t read;
	uint64_t silent; /* since which one that came; 0: a message was read */
	size_t unread;   /* at the last look at all */
};

struct unread {
	sd_event *loop;
	sd_event_source *timer;
	unread_cut_fn *cut;
	void *arg;
	struct connection *all;
	size_t count;
	int statm;     /* /proc/self/statm */
	size_t lowest; /* bytes of our memory since all were looked at */
	size_t most;   /* what all may have, by then */
	unsigned int looks;
	bool runs;
	uint64_t came;
	size_t silent; /* connections without a message */
	size_t files;  /* that this process may have open */
};

static struct connection *connection_at(struct unread *unread, int fd)
{
	size_t want = (size_t)fd + 1;
	struct connection *all;

	if (fd < 0 || want > DESCRIPTORS)
		return NULL;
	if (want > unread->count) {
		want += want / 2;
		all = reallocarray(unread->all, want, sizeof(*all));
		if (!all)
			return NULL;
		memset(all + unread->count, 0,
		       (want - unread->count) * sizeof(*all));
		unread->all = all;
		unread->count = want;
	}
	return &unread->all[fd];
}

/* Bytes that the kernel gave to libzmq, minus those that were read from it. */
static size_t unread_of(const struct unread *unread, int fd)
{
	const struct connection *one = &unread->all[fd];
	struct tcp_info info = { 0 };
	socklen_t size = sizeof(info);
	int queued = 0;

	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) < 0 ||
	    size < offsetof(struct tcp_info, tcpi_bytes_received) + 8 ||
	    info.tcpi_bytes_received <= one->read ||
	    ioctl(fd, FIONREAD, &queued) < 0)
		return 0;
	if (info.tcpi_bytes_received <= one->read + (uint64_t)queued)
		return 0;
	return info.tcpi_bytes_received - one->read - (uint64_t)queued;
}

/* The result of a full count. */
struct sight {
	size_t sum;  /* of what is unread */
	size_t most; /* what they may have together */
};

/* Connections that are gone are forgotten. */
static struct sight unread_look_at_all(struct unread *unread)
{
	struct sight sight = { .most = UNREAD_MAX };

	unread->runs = false;
	unread->silent = 0;
	for (size_t i = 0; i < unread->count; i++) {
		struct connection *one = &unread->all[i];

		if (!one->inode)
			continue;
		if (socket_inode((int)i) != one->inode) {
			one->inode = 0;
			continue;
		}
		unread->runs = true;
		unread->silent += one->silent > 0;
		one->unread = unread_of(unread, (int)i);
		sight.sum += one->unread;
		sight.most += one->read ? UNREAD_EACH : 0;
	}
	return sight;
}

/* Cut the connections with most unread bytes, until half of the limit is left.
 */
static void cut_most(struct unread *unread, const struct sight *sight)
{
	size_t left = sight->sum;

	while (left > sight->most / 2) {
		struct connection *most = NULL;

		for (size_t i = 0; i < unread->count; i++)
			if (unread->all[i].inode &&
			    (!most || unread->all[i].unread > most->unread))
				most = &unread->all[i];
		if (!most || !most->unread)
			return;
		left -= most->unread;
		most->inode = 0;
		unread->cut(unread->arg, (int)(most - unread->all),
			    most->unread);
	}
}

static int by_coming(const void *a, const void *b)
{
	uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;

	return (one > other) - (one < other);
}

/* Cut the oldest of those without a message: one in eight. */
static void cut_silent(struct unread *unread, bool few)
{
	owned_free uint64_t *came = NULL;
	size_t found = 0;
	uint64_t last;

	unread_look_at_all(unread);
	if (!unread->silent || (unread->silent <= UNREAD_SILENT_MAX && !few))
		return;
	came = calloc(unread->silent, sizeof(*came));
	if (!came)
		return;
	for (size_t i = 0; i < unread->count; i++)
		if (unread->all[i].inode && unread->all[i].silent)
			came[found++] = unread->all[i].silent;
	qsort(came, found, sizeof(*came), by_coming);
	last = came[found / 8];
	for (size_t i = 0; i < unread->count; i++) {
		struct connection *one = &unread->all[i];

		if (!one->inode || !one->silent || one->silent > last)
			continue;
		one->inode = 0;
		unread->silent--;
		unread->cut(unread->arg, (int)i, 0);
	}
}

static size_t own_memory(const struct unread *unread)
{
	char text[64] = "";
	size_t pages = 0;

	if (pread(unread->statm, text, sizeof(text) - 1, 0) <= 0 ||
	    sscanf(text, "%*u %zu", &pages) != 1)
		return 0;
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* True: there is much. */
static bool unread_look(struct unread *unread)
{
	size_t own = own_memory(unread);
	struct sight sight;

	if (own < unread->lowest)
		unread->lowest = own;
	if (own - unread->lowest < unread->most / GROWTH_SHARE &&
	    ++unread->looks < LOOKS_MAX)
		return false;
	unread->looks = 0;
	sight = unread_look_at_all(unread);
	unread->most = sight.most;
	if (sight.sum <= sight.most / 4) {
		unread->lowest = own;
		return false;
	}
	if (sight.sum > sight.most)
		cut_most(unread, &sight);
	return true;
}

static int unread_look_run(sd_event_source *source, uint64_t usec, void *arg)
{
	struct unread *unread = arg;
	bool much = unread_look(unread);

	if (unread->runs)
		loop_timer(unread->loop, &unread->timer,
			   much ? LOOK_SOON_MS : LOOK_MS, unread_look_run,
			   unread, NULL);
	return 0;
}

void unread_came(struct unread *unread, int fd)
{
	struct connection *one = connection_at(unread, fd);
	ino_t inode = socket_inode(fd);
	bool few; /* descriptors: the lowest free one is taken */

	/* Its first message may have been read already. */
	if (one && one->inode != inode) {
		*one = (struct connection){ .inode = inode,
					    .silent = ++unread->came };
		unread->silent++;
	}
	few = (size_t)fd + UNREAD_DESCRIPTORS_LEFT > unread->files;
	if (one && (few || unread->silent > UNREAD_SILENT_MAX))
		cut_silent(unread, few);
	if (unread->runs)
		return;
	unread->runs = true;
	unread->lowest = own_memory(unread);
	loop_timer(unread->loop, &unread->timer, LOOK_MS, unread_look_run,
		   unread, NULL);
}

void unread_took(struct unread *unread, int fd, ino_t inode,
		 const struct frames *frames)
{
	struct connection *one = inode ? connection_at(unread, fd) : NULL;

	if (!one)
		return;
	if (one->inode != inode)
		*one = (struct connection){ .inode = inode };
	unread->silent -= one->silent > 0;
	one->silent = 0;
	one->read += frames_wire_bytes(frames);
}

struct unread *unread_new(sd_event *loop, unread_cut_fn *cut, void *arg,
			  struct error *err)
{
	owned(unread_free) struct unread *unread = calloc(1, sizeof(*unread));

	if (!unread)
		return error_null(error_nomem(err, "connections"));
	unread->loop = sd_event_ref(loop);
	unread->cut = cut;
	unread->arg = arg;
	unread->files = program_files();
	unread->most = UNREAD_MAX;
	unread->statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	if (unread->statm < 0)
		return error_null(error_errno(err, "/proc/self/statm"));
	return take(unread);
}

void unread_free(struct unread *unread)
{
	if (!unread)
		return;
	loop_source_free(&unread->timer);
	if (unread->statm > 0)
		close(unread->statm);
	sd_event_unref(unread->loop);
	free(unread->all);
	free(unread);
}
