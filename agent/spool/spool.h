/* spool.h - the folder of each task on the node: its spec, its output, its end.
 *
 * <state>/spool/<job>.<attempt>.<rank>/ (0700) holds
 *
 *	task.json	the task_spec, whole; only the agent uses it
 *	in/start	in/ is 0755: what regatta-init is to run (init.h)
 *	in/hostfile	the gang's nodes, for a command that wants them
 *	in/NAME		the files of the spec
 *	out/		0777: what the container writes (init.h)
 *	host/		0700: what the agent writes beside it; host/record:
 *			which file out/exit.json has to be; host/ended: the
 *			end was concluded, and why the record is not believed
 *
 * The spool root is 0700, so only the container's own bind mounts lead here.
 * Files below out/ are written by strangers: links, FIFOs and devices there
 * are refused, and sizes are bounded.
 */
#ifndef AGENT_SPOOL_SPOOL_H
#define AGENT_SPOOL_SPOOL_H

#include "agent/spool/exit_record.h"
#include "protocol/message/spec.h"

#include <limits.h>
#include <stdbool.h>

struct task_id {
	uint64_t job;
	uint32_t attempt;
	uint32_t rank;
};

bool task_id_equal(const struct task_id *a, const struct task_id *b);
struct task_id task_spec_id(const struct task_spec *spec);

struct spool;

/* state: absolute path, made when it is not there. EBUSY: another agent uses
 * it, and still does after two seconds (for which this call waits).
 */
struct spool *spool_new(const char *state, struct error *err);
void spool_free(struct spool *spool);
OWNED_POINTER(struct spool, spool_free)

/* Make the folder and write its task.json last: a folder without one never had
 * a container. Already there is success. Not made to survive a power cut, which
 * the container does not survive either.
 */
int spool_create(struct spool *spool, const struct task_spec *spec,
		 struct error *err);

/* ENOENT: no such folder or no spec in it; EPROTO: it cannot be read. */
int spool_read_spec(struct spool *spool, const struct task_id *id,
		    struct task_spec *spec, struct error *err);

/* The folders a container gets, as absolute host paths. */
void spool_in_path(const struct spool *spool, const struct task_id *id,
		   char path[PATH_MAX]);
void spool_out_path(const struct spool *spool, const struct task_id *id,
		    char path[PATH_MAX]);

/* Write in/start: records of "key=value", each NUL-terminated. */
int spool_write_start(struct spool *spool, const struct task_id *id,
		      const void *data, size_t size, struct error *err);

/* Write in/<name>, which the container can only read. */
int spool_write_in(struct spool *spool, const struct task_id *id,
		   const char *name, const void *data, size_t size,
		   struct error *err);

/* The files of a task's two folders that others than the above know: what the
 * container only reads, and what it writes.
 */
enum spool_side { SPOOL_IN, SPOOL_OUT };

/* Read out/<name>, which the container wrote: EINVAL, ELOOP or E2BIG, where it
 * is no file, or does not fit.
 */
int spool_read_out(struct spool *spool, const struct task_id *id,
		   const char *name, struct buffer *out, struct error *err);

/* Milliseconds since the file was written; -1: there is none. */
int64_t spool_age_ms(struct spool *spool, const struct task_id *id,
		     enum spool_side side, const char *name);
void spool_forget(struct spool *spool, const struct task_id *id,
		  enum spool_side side, const char *name);

/* Call fn for each name in that folder; it may remove it. */
typedef void spool_name_fn(void *arg, const char *name);
void spool_names(struct spool *spool, const struct task_id *id,
		 enum spool_side side, spool_name_fn *fn, void *arg);

/* in/start is there: the order to start came. */
bool spool_ordered(struct spool *spool, const struct task_id *id);

/* regatta-init began in this folder (out/started). */
bool spool_started(struct spool *spool, const struct task_id *id);

/* The pid of regatta-init in this folder while it lives, whatever the engine
 * knows of it; -1: it lives where it has no number here. 0: it does not live.
 */
pid_t spool_holder(struct spool *spool, const struct task_id *id);

/* Make the file that regatta-init takes for its record (out/exit.json.new), and
 * note which one it is (host/record). Again: nothing.
 */
int spool_reserve_record(struct spool *spool, const struct task_id *id,
			 struct error *err);

/* Is out/exit.json the file that was reserved, or was none reserved? */
bool spool_record_is_ours(struct spool *spool, const struct task_id *id);

/* Is there something of that name? */
bool spool_has_exit(struct spool *spool, const struct task_id *id);

/* ENOENT: not ended, or ended without a record. EPROTO: it is not ours, or not
 * a record.
 */
int spool_read_exit(struct spool *spool, const struct task_id *id,
		    struct exit_record *record, struct error *err);

/* Who writes a stream: the container below out/, or the agent below host/. */
enum spool_writer { SPOOL_CONTAINER, SPOOL_AGENT };

/* Open a stream's file for reading. ENOENT: not there yet. */
int spool_open_stream(struct spool *spool, const struct task_id *id,
		      enum spool_writer writer, const char *stream,
		      struct error *err);

/* Open a stream of the agent's to append to; made when it is not there. */
int spool_append_stream(struct spool *spool, const struct task_id *id,
			const char *stream, struct error *err);

/* A file of the agent's own, host/<name>, replaced as a whole. */
int spool_write_own(struct spool *spool, const struct task_id *id,
		    const char *name, const void *data, size_t size,
		    struct error *err);
int spool_read_own(struct spool *spool, const struct task_id *id,
		   const char *name, struct buffer *out, struct error *err);

/* What lies in the folder, below it, and how much of the disk that takes. It is
 * counted no further than names_max + 1 names or SPOOL_DEPTH_MAX folders deep,
 * which counts as too many names, too. What cannot be read counts as nothing.
 */
#define SPOOL_DEPTH_MAX 16
struct spool_usage {
	uint64_t bytes;
	size_t names;
};
void spool_measure(struct spool *spool, const struct task_id *id,
		   size_t names_max, struct spool_usage *usage);

/* Remove the folder with all that is in it, SPOOL_REMOVE_ENTRIES of that in one
 * call, some 10 ms: a command may leave millions of files. 1: more is left;
 * call again in another turn of the loop. Not there is success.
 */
#define SPOOL_REMOVE_ENTRIES 1000
int spool_remove(struct spool *spool, const struct task_id *id,
		 struct error *err);

/* Call fn for every task's folder; what is no such folder is removed. */
typedef void spool_fn(void *arg, const struct task_id *id);
int spool_each(struct spool *spool, spool_fn *fn, void *arg, struct error *err);

#endif
