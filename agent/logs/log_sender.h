/* log_sender.h - sends the files of a spool to the controller as byte
 * streams.
 *
 * The files in the spool hold the output; the length of the controller's file
 * is the cursor. In every session the log sender sends a stream only after the
 * controller has reported the length that it has. It never has more than the
 * session's credit of bytes unacknowledged. It reads files, so the writing
 * process never waits for the network.
 *
 * A command may truncate its own output (> /dev/stderr does). What it writes
 * then is sent behind the earlier bytes. An agent that is restarted after a
 * truncation does not know where the new bytes began, and may send some twice.
 */
#pragma once

#include "agent/spool/spool.h"
#include "protocol/message/message.h"

#include <systemd/sd-event.h>

#define LOG_SENDER_FRAME_MAX (128 << 10) /* bytes in one message */
#define LOG_SENDER_DELAY_MS 10  /* output within this time is sent together */
#define LOG_SENDER_POLL_MS 1000 /* files are checked as often, at first */

struct log_sender;
struct log_sender_stream;

/* Send one message. -1: not now; the log sender tries again later. */
typedef int log_sender_send_fn(void *arg, const struct message_log *log,
			       const void *data, size_t size);

struct log_sender *log_sender_new(sd_event *loop, struct spool *spool,
				  log_sender_send_fn *send, void *arg,
				  struct error *err);
void log_sender_free(struct log_sender *sender);
OWNED_POINTER(struct log_sender, log_sender_free)

/* A session begins with this credit, or ends (0). Nothing of a stream is sent
 * until its length is known.
 */
void log_sender_session(struct log_sender *sender, uint64_t credit_bytes);

/* Check files at least this often: what nobody wakes the log sender for, such
 * as samples, is sent then.
 */
void log_sender_set_poll(struct log_sender *sender, uint32_t poll_ms);

/* Watch a stream of a task; name is copied. fresh: the task was made in this
 * session, so the controller has nothing of it.
 */
struct log_sender_stream *log_sender_add(struct log_sender *sender,
					 const struct task_id *id,
					 enum spool_folder folder,
					 const char *name, bool fresh,
					 struct error *err);
void log_sender_remove(struct log_sender_stream *stream);

/* look() is called whenever files are checked, and before bytes of the stream
 * are sent. It may add streams and bound them, but not remove any.
 */
typedef void log_sender_look_fn(void *arg);
void log_sender_set_look(struct log_sender_stream *stream,
			 log_sender_look_fn *look, void *arg);

/* Send only the first `kept` bytes of the stream. Bytes that were sent and then
 * truncated by the command count as well. A bound above the present one is
 * ignored.
 */
void log_sender_bound(struct log_sender_stream *stream, uint64_t kept);

/* An acknowledgement of the controller. Unknown streams are ignored. */
void log_sender_ack(struct log_sender *sender,
		    const struct message_log_ack *ack);

/* Something was written that may wait. If the next check is due soon, it is
 * done now instead, so that the loop need not wake up for it.
 */
void log_sender_join(struct log_sender *sender);

/* Something may have been written: check within LOG_SENDER_DELAY_MS. */
void log_sender_wake(struct log_sender *sender);

const char *log_sender_name(const struct log_sender_stream *stream);

/* Bytes of the stream so far, including those sent. */
uint64_t log_sender_size(struct log_sender_stream *stream);

/* How often the file was truncated. */
uint32_t log_sender_cuts(const struct log_sender_stream *stream);
