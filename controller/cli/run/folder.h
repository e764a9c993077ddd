/* folder.h - the folder of `regatta run`: keys, state and results of one sweep.
 *
 *	sweep.yaml		the sweep as it was when the run began
 *	choices.json		engine, images folder and credentials file
 *				that the run began with
 *	cluster			label of its containers: run-<32 hex digits>
 *	keys/			controller.key, agent.key, operator.key,
 *				authorized
 *	controller/, agent/	state of the two daemons
 *	controller.log, agent.log	what they say
 *	endpoint		where the controller listens
 *	report.md, report.csv, report.json	the results
 *	files/<job>/		what was collected
 *
 * Two locks keep runs apart (flock(2)): on the folder itself, held by the
 * command; on keys/, held by it and its daemons, which may outlive it by the
 * time that they need to remove their containers.
 */
#ifndef CONTROLLER_CLI_RUN_FOLDER_H
#define CONTROLLER_CLI_RUN_FOLDER_H

#include "protocol/base/buffer.h"
#include "protocol/base/error.h"
#include "protocol/base/strings.h"
#include "protocol/wire/key.h"

#include <cjson/cJSON.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#define FOLDER_PATH_MAX 3000 /* bytes of its path */

struct folder {
	char path[FOLDER_PATH_MAX + 1]; /* absolute */
	int lock;                       /* close-on-exec */
	int daemons_lock;               /* for the daemons to inherit */
	char cluster[64];
	struct key controller;
	struct key agent;
	struct key operator;
};

/* regatta-COMMAND-SWEEP-DATE-TIME, by the local clock. */
#define FOLDER_NAME_SIZE 128
char *folder_name(const char *command, const char *sweep,
		  char name[FOLDER_NAME_SIZE]);

/* Make a new folder and fill it. name: NULL, or what was asked for; sweep: its
 * name, for the default ./regatta-run-SWEEP-DATE-TIME. EEXIST: there was a run
 * in it already.
 */
int folder_make(struct folder *folder, const char *name, const char *sweep,
		const struct buffer *text, struct error *err);

/* Take up the folder of an earlier run; its sweep's text goes to *text, which
 * is read before anything is changed. ENOENT: no run was ever in it; EINVAL:
 * another command is at work in it. Waits for the daemons of the earlier run to
 * end; wait() is called once before that.
 */
int folder_resume(struct folder *folder, const char *name, struct buffer *text,
		  void (*wait)(void *arg), void *arg, struct error *err);

/* Open the folder of an earlier run to read what is stored in it. wait() is
 * called once where daemons of that run still clean up, and their end is
 * awaited. Returns 1 when a run is at work in it at this moment: *endpoint is
 * where its controller listens; 0 when there is none and the folder is locked;
 * ENOENT: no run was ever in it; EAGAIN: its controller does not listen yet.
 */
int folder_open(struct folder *folder, const char *name, char endpoint[256],
		void (*wait)(void *arg), void *arg, struct error *err);

/* Texts by name that the next run in the folder is to know. *choices: the
 * caller deletes it; an empty object where nothing was saved.
 */
int folder_save_choices(const struct folder *folder, const cJSON *choices,
			struct error *err);
int folder_choices(const struct folder *folder, cJSON **choices,
		   struct error *err);

/* ENOSPC: its disk has less free than FOLDER_ROOM. */
#define FOLDER_ROOM ((uint64_t)64 << 20)
int folder_check_room(const struct folder *folder, struct error *err);

/* Where the controller listens that is at work in it. EAGAIN: nowhere yet. */
int folder_endpoint(const struct folder *folder, char endpoint[256],
		    struct error *err);

/* Allocations of Slurm, several of which may share a folder: one leads.
 *
 *	keys/NODE.key		of the agent on each node
 *	outcome			the exit code, once the sweep has ended
 *	again			asks the next one that leads for what failed
 */

/* Join the run of that folder, which is made if need be: text is its sweep,
 * unless it has one. 1: this one leads, and holds the locks; 0: another does.
 */
int folder_join(struct folder *folder, const char *name,
		const struct buffer *text, void (*wait)(void *arg), void *arg,
		struct error *err);
/* Lead from now on, if nobody does. */
int folder_lead(struct folder *folder, void (*wait)(void *arg), void *arg,
		struct error *err);

/* The key of a node, which is made if it is not there. EINVAL: a name that no
 * key can have.
 */
int folder_agent_key(const struct folder *folder, const char *node,
		     struct key *key, struct error *err);
/* Let in the agents of these nodes and the operator alone. */
int folder_add_agents(const struct folder *folder, const struct strings *nodes,
		      struct error *err);

/* -1: the sweep has not ended. */
int folder_outcome(const struct folder *folder);
int folder_set_outcome(const struct folder *folder, int code,
		       struct error *err);
/* It goes on, with what failed, too; did somebody say so? That is asked once.
 */
int folder_begin_again(const char *folder, struct error *err);
bool folder_take_again(const struct folder *folder);

void folder_clear(struct folder *folder); /* the files stay */
OWNED_VALUE(struct folder, folder_clear)

/* The path of a file in it. */
char *folder_file(const struct folder *folder, const char *name,
		  char path[PATH_MAX]);

#endif
