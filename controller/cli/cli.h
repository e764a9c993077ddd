/* cli.h - what commands share: their connection, their output, Ctrl-C.
 *
 * A command writes what it was asked for to `out` and its words to `err`. It
 * returns an exit code (protocol/base/program.h), or -1 with an error that
 * cli_run() prints and turns into one.
 */
#ifndef CONTROLLER_CLI_CLI_H
#define CONTROLLER_CLI_CLI_H

#include "controller/cli/calls.h"
#include "controller/cli/options.h"
#include "controller/cli/settings.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdio.h>
#include <systemd/sd-event.h>

#define EXIT_INTERRUPTED 130 /* ended by Ctrl-C, as shells count */

struct cli {
	/* Set by whoever calls cli_run(). */
	FILE *out;
	FILE *err;
	bool out_terminal;
	bool err_terminal;
	const struct environment *environment;
	/* Set by cli_run() (dispatch.h). */
	const char *command;
	struct options *options; /* at the head of the command's own */
	char **args; /* what is no option, without the command itself */
	size_t arg_count;
};

/* A session with the controller of the settings, on a loop of its own. */
struct client *cli_connect(struct cli *cli, struct error *err);

/* The models, frameworks and vendors of the settings. */
struct catalog;
struct catalog *cli_catalog(struct cli *cli, struct error *err);

/* --format is `word`; the first word of a command's formats when not given. */
bool cli_format(const struct cli *cli, const char *word);

/* Connect, and do one request. */
int cli_call(struct cli *cli, enum message_type type, void *message,
	     struct answer *answer, struct error *err);

/* JSON that a command makes: owned(json_free). */
static inline void json_free(cJSON *json)
{
	cJSON_Delete(json);
}
OWNED_POINTER(cJSON, json_free)

/* One line of JSON on `out`: of a tree, of a struct, or of an answer's reply
 * where --format is json.
 */
int cli_print_json(struct cli *cli, const cJSON *json, struct error *err);
int cli_print_struct(struct cli *cli, const struct schema *schema,
		     const void *from, struct error *err);
int cli_print_answer(struct cli *cli, const struct answer *answer,
		     struct error *err);

/* A table on `out`, below its title; nothing where it has no rows. */
struct table;
int cli_print_table(struct cli *cli, const char *title,
		    const struct table *table, struct error *err);

/* A line of words on `err`, escaped. */
void cli_say(struct cli *cli, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

bool cli_out_colour(const struct cli *cli);
bool cli_err_colour(const struct cli *cli);

/* The number of a sweep or job from 1 on; EINVAL names `what`. */
int cli_id(const char *text, const char *what, uint64_t *id, struct error *err);

/* SIGINT, SIGTERM and SIGHUP run fn from the loop instead of killing us. */
struct interrupts {
	sd_event_source *sources[3];
};
int interrupts_init(struct interrupts *interrupts, sd_event *loop,
		    sd_event_signal_handler_t fn, void *arg, struct error *err);
void interrupts_clear(struct interrupts *interrupts);

/* They end what the client waits for. */
int interrupts_client(struct interrupts *interrupts, struct client *client,
		      struct error *err);
OWNED_VALUE(struct interrupts, interrupts_clear)

#endif
