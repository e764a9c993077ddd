/* log_sender.h - sends the files of a spool to the controller as byte
 * streams.
 *
 * The files in the spool are the truth of what was written, the controller's
 * file lengths are the cursor. In every session the log sender sends a stream
 * only after the controller has said how far it has come, and never has more
 * than the session's credit under way unacknowledged. It reads files, so the
 * one who writes them never waits for it, whatever the network does.
 *
 * A command may cut its own output short (> /dev/stderr does). What is in the
 * file then is new: it is sent behind what was sent before, or, after a lost
 * session, behind what had come of that. An agent that is started after that
 * does not know where it began, and may send some of it twice.
 */
#ifndef AGENT_LOGS_LOG_SENDER_H
#define AGENT_LOGS_LOG_SENDER_H

#include "agent/spool/spool.h"
#include "protocol/message/message.h"

#include <systemd/sd-event.h>

#define LOG_SENDER_FRAME_MAX (256 << 10) /* bytes in one message */
#define LOG_SENDER_DELAY_MS                                                    \
	10 /* output that comes within it travels together */
#define LOG_SENDER_POLL_MS                                                     \
	1000 /* files are looked at that often in any case                     \
	      */

struct log_sender;
struct log_sender_stream;

/* Send one message; -1: not now (the log sender tries again at the next wake).
 */
typedef int log_sender_send_fn(void *arg, const struct message_log *log,
			       const void *data, size_t size);

struct log_sender *log_sender_new(sd_event *loop, struct spool *spool,
				  log_sender_send_fn *send, void *arg,
				  struct error *err);
void log_sender_free(struct log_sender *sender);
OWNED_POINTER(struct log_sender, log_sender_free)

/* A session begins, with so much credit; or it is over (credit 0). Either way
 * nothing is sent until each stream's length is heard.
 */
void log_sender_session(struct log_sender *sender, uint64_t credit_bytes);

/* Watch a stream of a task; name is copied. fresh: the task was made in this
 * session, so the controller has nothing of it.
 */
struct log_sender_stream *log_sender_add(struct log_sender *sender,
					 const struct task_id *id,
					 enum spool_writer writer,
					 const char *name, bool fresh,
					 struct error *err);
void log_sender_remove(struct log_sender_stream *stream);

/* look() is called every LOG_SENDER_POLL_MS, and before what was read of the
 * stream is sent. It may add streams, and bound them; it removes none.
 */
typedef void log_sender_look_fn(void *arg);
void log_sender_set_look(struct log_sender_stream *stream,
			 log_sender_look_fn *look, void *arg);

/* Send nothing behind the file's first `kept` bytes: they are all that stays of
 * it. What the command cut off it after it was sent counts, too. A larger bound
 * than before is ignored.
 */
void log_sender_bound(struct log_sender_stream *stream, uint64_t kept);

/* The controller speaks of a stream; one that is not known is ignored. */
void log_sender_ack(struct log_sender *sender,
		    const struct message_log_ack *ack);

/* Something may have been written: look within LOG_SENDER_DELAY_MS. */
void log_sender_wake(struct log_sender *sender);

const char *log_sender_name(const struct log_sender_stream *stream);

/* Bytes of the stream that there are to send, as far as the file has come. */
uint64_t log_sender_size(struct log_sender_stream *stream);

/* How often the file got shorter. */
uint32_t log_sender_cuts(const struct log_sender_stream *stream);

#endif
