/* folder.h - manages the folder of `regatta run`: keys, state and results of
 * one sweep.
 *
 *	sweep.yaml		the sweep file at the start of the run
 *	choices.json		engine, images folder and credentials file
 *				at the start of the run
 *	cluster			label of its containers: run-<32 hex digits>
 *	keys/			controller.key, agent.key, operator.key,
 *				authorized
 *	controller/, agent/	state of the two daemons
 *	controller.log, agent.log	their logs
 *	endpoint		the controller's address
 *	report.md, report.csv, report.json	the results
 *	files/<job>/		collected files
 *
 * Two locks (flock(2)) allow one run at a time: the folder itself is locked by
 * the command; keys/ is locked by the command and its daemons, which may live
 * longer while they remove their containers.
 */
#pragma once

#include "controller/cli/cli.h"
#include "protocol/wire/key.h"

#define FOLDER_PATH_MAX 3000 /* bytes of its path */

struct folder {
	char path[FOLDER_PATH_MAX + 1]; /* absolute */
	int lock;                       /* close-on-exec */
	int daemons_lock;               /* inherited by the daemons */
	char cluster[64];
	struct key controller;
	struct key agent;
	struct key operator;
};

/* regatta-COMMAND-SWEEP-DATE-TIME, by the local clock. */
#define FOLDER_NAME_SIZE 128
char *folder_name(const char *command, const char *sweep,
		  char name[FOLDER_NAME_SIZE]);

/* Make a new folder and fill it. name: its path, or NULL for
 * ./regatta-run-SWEEP-DATE-TIME with the name of the sweep. EEXIST: the folder
 * already has a run.
 */
int folder_make(struct folder *folder, const char *name, const char *sweep,
		const struct buffer *text, struct error *err);

/* The daemons of an earlier run may still remove its containers. Calls that get
 * a cli wait for their end, after a message to the user.
 */

/* Lock the folder of an earlier run and read its sweep file to *text, before
 * anything is changed. ENOENT: the folder has no run; EINVAL: another command
 * uses it.
 */
int folder_resume(struct folder *folder, struct cli *cli, const char *name,
		  struct buffer *text, struct error *err);

/* Open the folder of an earlier run to read it. Returns 1: a run uses the
 * folder now, and *endpoint is its controller's address; 0: none does, and the
 * folder is locked. ENOENT: the folder has no run; EAGAIN: its controller does
 * not listen yet.
 */
int folder_open(struct folder *folder, struct cli *cli, const char *name,
		char endpoint[256], struct error *err);

/* The folder of the last run in the present folder; false: there is none. */
bool folder_last(char name[NAME_MAX + 1]);

/* Save and load texts by name for the next run in the folder. The caller
 * deletes *choices, which is an empty object if nothing was saved.
 */
int folder_save_choices(const struct folder *folder, const cJSON *choices,
			struct error *err);
int folder_choices(const struct folder *folder, cJSON **choices,
		   struct error *err);

/* ENOSPC: the folder's disk has less than FOLDER_ROOM bytes free. */
#define FOLDER_ROOM ((uint64_t)64 << 20)
int folder_check_room(const struct folder *folder, struct error *err);

/* Where a controller listens whose peers are all on this machine. False: the
 * path is too long for a unix socket, or an endpoint cannot contain it.
 */
bool folder_socket(const struct folder *folder, char endpoint[256]);

/* The address of the folder's controller. EAGAIN: it does not listen yet. */
int folder_endpoint(const struct folder *folder, char endpoint[256],
		    struct error *err);

/* Several Slurm allocations may share a folder; one of them leads.
 *
 *	keys/NODE.key		the key of the agent on each node
 *	outcome			the exit code, once the sweep has ended
 *	again			tells the next leader to repeat failed jobs
 */

/* Join the run of a folder. If the folder does not exist, it is made with
 * `text` as its sweep file. 1: this allocation leads and holds the locks; 0:
 * another leads.
 */
int folder_join(struct folder *folder, struct cli *cli, const char *name,
		const struct buffer *text, struct error *err);
/* Try to lead: 1: this allocation leads now; 0: another does. */
int folder_lead(struct folder *folder, struct cli *cli, struct error *err);

/* Read or make the key of a node. EINVAL: the name is not valid for a key. */
int folder_agent_key(const struct folder *folder, const char *node,
		     struct key *key, struct error *err);
/* Authorize only the operator and the agents of these nodes. */
int folder_add_agents(const struct folder *folder, const struct strings *nodes,
		      struct error *err);

/* The exit code of the sweep; -1: it has not ended. */
int folder_outcome(const struct folder *folder);
int folder_set_outcome(const struct folder *folder, int code,
		       struct error *err);
/* Ask the next leader to repeat failed jobs; folder_take_again() reads and
 * removes that request.
 */
int folder_begin_again(const char *folder, struct error *err);
bool folder_take_again(const struct folder *folder);

void folder_clear(struct folder *folder); /* does not remove files */
OWNED_VALUE(struct folder, folder_clear)

/* The path of a file in the folder. Returns path. */
char *folder_file(const struct folder *folder, const char *name,
		  char path[PATH_MAX]);
