/* pump.h - spool files to byte streams: offsets, credit, starting over.
 *
 * The files in the spool are the truth of what was written, the controller's
 * file lengths are the cursor. In every session the pump sends a stream only
 * after the controller has said how far it has come, and never has more than
 * the session's credit under way unacknowledged. It reads files, so the one
 * who writes them never waits for it, whatever the network does.
 *
 * A command may cut its own output short (> /dev/stderr does). What is in the
 * file then is new: it is sent behind what was sent before, or, after a lost
 * session, behind what had come of that. An agent that is started after that
 * does not know where it began, and may send some of it twice.
 */
#ifndef AGENT_TASKS_PUMP_H
#define AGENT_TASKS_PUMP_H

#include "agent/tasks/spool.h"
#include "protocol/message/message.h"

#include <systemd/sd-event.h>

#define PUMP_FRAME_MAX (256 << 10) /* bytes in one message */
#define PUMP_DELAY_MS 10  /* output that comes within it travels together */
#define PUMP_POLL_MS 1000 /* files are looked at that often in any case */

struct pump;
struct pump_stream;

/* Send one message; -1: not now (the pump tries again at the next wake). */
typedef int pump_send_fn(void *arg, const struct message_log *log,
			 const void *data, size_t size);

struct pump *pump_new(sd_event *loop, struct spool *spool, pump_send_fn *send,
		      void *arg, struct error *err);
void pump_free(struct pump *pump);
OWNED_POINTER(struct pump, pump_free)

/* A session begins, with so much credit; or it is over (credit 0). Either way
 * nothing is sent until each stream's length is heard.
 */
void pump_session(struct pump *pump, uint64_t credit_bytes);

/* Watch a stream of a task; name is copied. fresh: the task was made in this
 * session, so the controller has nothing of it.
 */
struct pump_stream *pump_add(struct pump *pump, const struct task_id *id,
			     enum spool_writer writer, const char *name,
			     bool fresh, struct error *err);
void pump_remove(struct pump_stream *stream);

/* look() is called every PUMP_POLL_MS, and before what was read of the stream
 * is sent. It may add streams, and bound them; it removes none.
 */
typedef void pump_look_fn(void *arg);
void pump_set_look(struct pump_stream *stream, pump_look_fn *look, void *arg);

/* Send nothing behind the file's first `kept` bytes: they are all that stays of
 * it. What the command cut off it after it was sent counts, too. A larger bound
 * than before is ignored.
 */
void pump_bound(struct pump_stream *stream, uint64_t kept);

/* The controller speaks of a stream; one that is not known is ignored. */
void pump_ack(struct pump *pump, const struct message_log_ack *ack);

/* Something may have been written: look within PUMP_DELAY_MS. */
void pump_wake(struct pump *pump);

const char *pump_name(const struct pump_stream *stream);

/* Bytes of the stream that there are to send, as far as the file has come. */
uint64_t pump_size(struct pump_stream *stream);

/* How often the file got shorter. */
uint32_t pump_cuts(const struct pump_stream *stream);

#endif
