/* unread.h - counts received bytes that the server has not read yet, and
 * connections from which it has read none, and bounds both.
 *
 * libzmq limits whole messages (ZMQ_RCVHWM), not bytes, and accepts any number
 * of frames of a message that does not end. This module counts the bytes that
 * the kernel received on each connection, minus those that were read. All
 * connections together may have UNREAD_MAX, and UNREAD_EACH more for each that
 * has sent a message before. When they have more, those with most are cut until
 * half of that is left. libzmq then releases their memory.
 *
 * Whoever has no key may connect, too, and libzmq keeps a connection that says
 * nothing for 30 seconds (ZMQ_HANDSHAKE_IVL). Of those without a message,
 * UNREAD_SILENT_MAX may be open, and fewer where descriptors run out; the
 * oldest are cut first.
 *
 * The count of bytes is checked ten times a second, and in full only when the
 * memory of this process has grown. Connections that are not TCP are not
 * counted.
 */
#pragma once

#include "protocol/base/error.h"
#include "protocol/base/owned.h"
#include "protocol/wire/frame.h"

#include <sys/types.h>
#include <systemd/sd-event.h>

#define UNREAD_MAX                                                             \
	(48 << 20) /* with what arrives between two checks, less               \
		      than 64 MiB */
/* For each of thousands of agents that wait for their turn: the unacknowledged
 * bytes that each may send (LOG_INGEST_CREDIT_MIN).
 */
#define UNREAD_EACH (64 << 10)

#define UNREAD_DESCRIPTORS_LEFT 400 /* for logs, the store, web pages */
/* 10,000 agents may come at once; libzmq needs some 20 KiB for each. */
#define UNREAD_SILENT_MAX 16384

/* Cut this connection, which has so many unread bytes; 0: it is silent. */
typedef void unread_cut_fn(void *arg, int fd, size_t bytes);

struct unread;
struct unread *unread_new(sd_event *loop, unread_cut_fn *cut, void *arg,
			  struct error *err);
void unread_free(struct unread *unread);
OWNED_POINTER(struct unread, unread_free)

/* A connection was accepted. */
void unread_came(struct unread *unread, int fd);
/* These frames were read from it; inode: of fd, as it was then. */
void unread_took(struct unread *unread, int fd, ino_t inode,
		 const struct frames *frames);
