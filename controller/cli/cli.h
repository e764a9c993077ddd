/* cli.h - functions that commands share: connection, output, Ctrl-C.
 *
 * A command writes its result to `out` and messages to `err`. It returns an
 * exit code (protocol/base/program.h), or -1 with an error, which cli_run()
 * prints and converts to an exit code.
 */
#pragma once

#include "controller/cli/client.h"
#include "controller/cli/settings.h"
#include "controller/report/table.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdio.h>
#include <systemd/sd-event.h>

#define EXIT_INTERRUPTED 130 /* ended by Ctrl-C: 128 + SIGINT, as in shells */

struct cli {
	/* Set by the caller of cli_run(). */
	FILE *out;
	FILE *err;
	bool out_terminal;
	bool err_terminal;
	const struct environment *environment;
	/* Set by cli_run() (dispatch.h). */
	struct options *options; /* those that commands share */
	void *given; /* all options of the command: its own struct, which begins
			with *options */
	char **args; /* the other words, without the command itself */
	size_t arg_count;
};

/* Connect to the controller of the settings, on a new event loop. */
struct client *cli_connect(struct cli *cli, struct error *err);

/* settings_images() for this command line. */
int cli_images(const struct cli *cli, char path[PATH_MAX], struct error *err);

/* Load the catalog of models, frameworks and vendors in that folder. */
struct catalog;
struct catalog *cli_catalog(struct cli *cli, struct error *err);

/* May a command write this file? One that exists only with --replace. */
int cli_check_output(const char *path, bool replace, struct error *err);

/* Is --format `word`? The default is the first of the command's formats. */
bool cli_format(const struct cli *cli, const char *word);

/* Connect, and make one request. */
int cli_call(struct cli *cli, enum message_type type, void *message,
	     struct answer *answer, struct error *err);

/* Make a request about the second word, and print "WORD done", or JSON. */
int cli_order(struct cli *cli, enum message_type type, void *message,
	      const char *done, struct error *err);

/* Print one line of JSON on `out`, harmless for a terminal (printable_json()):
 * a tree, a text, a struct, or the reply of an answer.
 */
int cli_print_json(struct cli *cli, const cJSON *json, struct error *err);
int cli_print_json_text(struct cli *cli, const char *json, struct error *err);
/* {"NAME": list}; the list is owned. */
int cli_print_list(struct cli *cli, const char *name, cJSON *list,
		   struct error *err);
int cli_print_struct(struct cli *cli, const struct schema *schema,
		     const void *from, struct error *err);
/* The same of `count` structs, one behind the other, as a list. */
int cli_print_structs(struct cli *cli, const struct schema *schema,
		      const void *from, size_t count, struct error *err);
int cli_print_answer(struct cli *cli, const struct answer *answer,
		     struct error *err);

/* Columns of the terminal that `out` is; 0: it is none. */
size_t cli_out_width(const struct cli *cli);

/* Print title and table on `out`; nothing if the table has no rows. On a
 * terminal the table is narrowed (table_narrow()), and the columns that are
 * left out are named below it; droppable NULL: nothing is cut or left out, and
 * only the last column is folded.
 */
int cli_print_table(struct cli *cli, const char *title, struct table *table,
		    const char *const *droppable, struct error *err);

/* "all: a=1 b=2" on `out`: words of a cell's name (labels.h), escaped, in as
 * many lines as the terminal needs.
 */
void cli_print_words(struct cli *cli, const char *head, const char *words);

/* Print one line on `err`, escaped. */
void cli_say(struct cli *cli, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

bool cli_out_colour(const struct cli *cli);
bool cli_err_colour(const struct cli *cli);

/* Parse the number of a sweep or job, from 1 on. EINVAL: the text names `what`.
 */
int cli_id(const char *text, const char *what, uint64_t *id, struct error *err);

/* SIGINT, SIGTERM and SIGHUP run fn from the loop instead of ending the
 * program. If an outer one of this loop has them already, they stay its own.
 */
struct interrupts {
	sd_event_source *sources[3];
};
int interrupts_init(struct interrupts *interrupts, sd_event *loop,
		    sd_event_signal_handler_t fn, void *arg, struct error *err);
void interrupts_clear(struct interrupts *interrupts);

/* Such a signal calls client_interrupt(). */
int interrupts_client(struct interrupts *interrupts, struct client *client,
		      struct error *err);
OWNED_VALUE(struct interrupts, interrupts_clear)
