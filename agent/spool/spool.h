/* spool.h - the folder of each task on the node: its spec, its output, its end.
 *
 * <state>/spool/<job>.<attempt>.<rank>/ (0700) holds
 *
 *	task.json	the task_spec, whole; only the agent uses it
 *	in/start.new	in/ is 0755: what regatta-init is to run (init.h). It
 *			becomes in/start when the command is released
 *	in/secrets	a pipe, while its secrets are on their way
 *	in/hostfile	the gang's nodes, for a command that wants them
 *	in/NAME		the files of the spec
 *	out/		0777: what the container writes (init.h)
 *	work/		the code tree, if the spec has one; mounted in the
 *			container, which owns its files
 *	host/		0700: the agent's own files. host/record: identity of
 *			the file out/exit.json; host/init: that of the process
 *			of regatta-init; host/ended: the end was concluded, and
 *			why the record is not trusted
 *
 * <state>/trash/ holds what is left of removed ones.
 *
 * The spool root is 0700, so only the container's own bind mounts lead here.
 * The container may write anything below out/: links, FIFOs and devices there
 * are refused, and sizes are bounded.
 */
#pragma once

#include "agent/spool/exit_record.h"
#include "protocol/base/error.h"
#include "protocol/base/owned.h"
#include "protocol/message/spec.h"

#include <limits.h>
#include <stdbool.h>
#include <systemd/sd-event.h>

/* Removes what tasks leave, without keeping anybody waiting.
 *
 * A command may leave millions of files, or folders thousands deep. Its node is
 * free when its processes and its container are gone; a child process
 * (regatta-init, agent/init/init.h) removes the files.
 */

/* folder: whose contents are removed. All is borrowed. */
struct trash;
struct trash *trash_new(sd_event *loop, const char *folder,
			const char *init_program, struct error *err);
void trash_free(struct trash *trash); /* the next agent goes on */
OWNED_POINTER(struct trash, trash_free)

/* There is, or may be, something in the folder. NULL is fine. */
void trash_empty(struct trash *trash);

struct task_id {
	uint64_t job;
	uint32_t attempt;
	uint32_t rank;
};

bool task_id_equal(const struct task_id *a, const struct task_id *b);
struct task_id task_spec_id(const struct task_spec *spec);

struct spool;

/* state: absolute path; made if it does not exist. EBUSY: another agent uses
 * it, and still does after two seconds, for which this call waits.
 */
struct spool *spool_new(const char *state, struct error *err);
void spool_free(struct spool *spool);
OWNED_POINTER(struct spool, spool_free)

/* Make the folder. task.json is written last, so a folder without it never had
 * a container. An existing folder is success. It need not survive a power cut,
 * because the container does not either.
 */
int spool_create(struct spool *spool, const struct task_spec *spec,
		 struct error *err);

/* ENOENT: no such folder or no spec in it; EPROTO: it cannot be read. */
int spool_read_spec(struct spool *spool, const struct task_id *id,
		    struct task_spec *spec, struct error *err);

/* The folders of a task: the container reads in/, and writes out/ and work/;
 * host/ is the agent's own.
 */
enum spool_folder { SPOOL_IN, SPOOL_OUT, SPOOL_WORK, SPOOL_HOST };

/* The absolute path of a folder. */
void spool_path(const struct spool *spool, const struct task_id *id,
		enum spool_folder folder, char path[PATH_MAX]);

/* Replace a file as a whole; folder: SPOOL_IN or SPOOL_HOST. */
int spool_write(struct spool *spool, const struct task_id *id,
		enum spool_folder folder, const char *name, const void *data,
		size_t size, struct error *err);

/* Read a file. EINVAL or ELOOP: it is not a regular file; E2BIG: it is longer
 * than the buffer's limit.
 */
int spool_read(struct spool *spool, const struct task_id *id,
	       enum spool_folder folder, const char *name, struct buffer *out,
	       struct error *err);

/* Does the file exist, of whatever kind? in/start.new: the order to start was
 * received; in/start: the command was released; out/started: regatta-init has
 * started; out/exit.json: it ended.
 */
bool spool_has(struct spool *spool, const struct task_id *id,
	       enum spool_folder folder, const char *name);

/* Release the command: in/start.new becomes in/start. Success if that has been
 * done.
 */
int spool_release(struct spool *spool, const struct task_id *id,
		  struct error *err);

/* Make in/NAME a pipe that holds these bytes, at most 1 MiB, for whoever reads
 * it first, while the returned descriptor is open. No disk holds them. -1 with
 * *err set.
 */
int spool_pipe(struct spool *spool, const struct task_id *id, const char *name,
	       const void *data, size_t size, struct error *err);

/* Milliseconds since the file was written; -1: there is none. */
int64_t spool_age_ms(struct spool *spool, const struct task_id *id,
		     enum spool_folder folder, const char *name);
void spool_forget(struct spool *spool, const struct task_id *id,
		  enum spool_folder folder, const char *name);

/* Call fn for each name in the folder; fn may remove the file. */
typedef void spool_name_fn(void *arg, const char *name);
void spool_names(struct spool *spool, const struct task_id *id,
		 enum spool_folder folder, spool_name_fn *fn, void *arg);

/* The pid of the task's regatta-init while it lives, independent of the engine.
 * 0: it does not live. Before the release that is who locks out/started, as
 * nothing else of the container runs then; -1: it is in another PID namespace.
 * Afterwards a command may lock that file in any process's name: it is the
 * process that spool_note_init() was told of, if that is the same still.
 */
pid_t spool_holder(struct spool *spool, const struct task_id *id);

/* This process was found to be the task's regatta-init. */
int spool_note_init(struct spool *spool, const struct task_id *id, pid_t pid,
		    struct error *err);

/* Make the file that regatta-init will write as its record (out/exit.json.new),
 * and store its identity (host/record). A second call does nothing.
 */
int spool_reserve_record(struct spool *spool, const struct task_id *id,
			 struct error *err);

/* Is out/exit.json the file that was reserved, or was none reserved? */
bool spool_record_is_ours(struct spool *spool, const struct task_id *id);

/* ENOENT: not ended, or ended without a record. EPROTO: the file is not the
 * reserved one, or not a valid record.
 */
int spool_read_exit(struct spool *spool, const struct task_id *id,
		    struct exit_record *record, struct error *err);

/* Open a file for reading. ENOENT; EINVAL or ELOOP: it is not a regular file.
 */
int spool_open_file(struct spool *spool, const struct task_id *id,
		    enum spool_folder folder, const char *name,
		    struct error *err);

/* A file that is needed no longer: free its room. */
void spool_drop_file(struct spool *spool, const struct task_id *id,
		     enum spool_folder folder, const char *name);

/* Open the file of a stream, <stream>.log, for reading: of the container in
 * SPOOL_OUT, of the agent in SPOOL_HOST. ENOENT: it does not exist yet.
 */
int spool_open_stream(struct spool *spool, const struct task_id *id,
		      enum spool_folder folder, const char *stream,
		      struct error *err);

/* Open a stream in SPOOL_HOST for appending; made if it does not exist. */
int spool_append_stream(struct spool *spool, const struct task_id *id,
			const char *stream, struct error *err);

/* Count the files below out/, and the disk space that they take. Counting ends
 * at names_max + 1 names, or SPOOL_DEPTH_MAX folders deep, which is reported as
 * too many names. Files that cannot be read do not count.
 */
#define SPOOL_DEPTH_MAX 16
struct spool_usage {
	uint64_t bytes;
	size_t names;
};
void spool_measure(struct spool *spool, const struct task_id *id,
		   size_t names_max, struct spool_usage *usage);

/* Remove the folder with its contents. A command may leave millions of files:
 * what is not small goes to the trash, and 1 is returned. A missing folder is
 * success.
 */
int spool_remove(struct spool *spool, const struct task_id *id,
		 struct error *err);

/* The path of the trash. */
const char *spool_trash(const struct spool *spool);

/* Call fn for every task's folder. Everything else in the spool is removed. */
typedef void spool_fn(void *arg, const struct task_id *id);
int spool_each(struct spool *spool, spool_fn *fn, void *arg, struct error *err);
