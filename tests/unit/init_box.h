/* init_box.h - regatta-init as a process over a folder that stands for
 * /regatta.
 *
 * Descriptor 9 of each command is a pipe to the test: a line says "ready", its
 * end says that no process is left.
 */
#pragma once

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct box {
	const char *program; /* REGATTA_INIT */
	char root[64];
	char path[400]; /* of box_path() */
	pid_t pid;      /* regatta-init */
	int ready;      /* read end of the command's descriptor 9 */
	bool pid1;      /* run it as PID 1 of a namespace */
	bool nobody;    /* run it as another user */
	cJSON *record;
};

/* REGATTA_INIT, or build/regatta-init. */
const char *box_program(void);

/* Is the program there? Else it says so in TAP. */
bool box_ready_to_go(void);

/* May we run it as PID 1 of a namespace? */
bool box_pid1_allowed(void);

/* The folder is made. */
void box_init(struct box *box);
void box_clear(struct box *box);

/* The path of a name below the folder, until the next call. */
const char *box_path(struct box *box, const char *name);

/* The start file as bytes; size counts the last NUL. */
void box_start_bytes(struct box *box, const void *bytes, size_t size);

/* version=1, then one record a line of `head`, then the shell script. */
void box_script(struct box *box, const char *head, const char *script);

/* Start it. false: that is not allowed here. */
bool box_begin(struct box *box);

/* Wait until the command has said "ready" (one line) `times` times. */
bool box_ready(struct box *box, int times);

/* The exit code of regatta-init, whose record is then in box->record. */
int box_end(struct box *box);
int box_run(struct box *box); /* begin and end */

/* Every holder of descriptor 9 is gone: nothing of the command lives. */
bool box_silent(struct box *box);

/* Of the record: a number, or -1; the error, or NULL. */
long long box_number(const struct box *box, const char *name);
long long box_number_of(const struct box *box, int process, const char *name);
int box_process_count(const struct box *box);
const char *box_error(const struct box *box);
const char *box_note(const struct box *box);
