/* cli.c - functions that commands share: connection, output, Ctrl-C.
 */
#include "controller/cli/cli.h"

#include "controller/catalog/catalog.h"
#include "controller/report/labels.h"
#include "protocol/base/file.h"
#include "protocol/base/printable_json.h"
#include "protocol/base/utf8.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static void say_notice(void *arg, const char *text)
{
	cli_say(arg, "%s", text);
}

struct client *cli_connect(struct cli *cli, struct error *err)
{
	struct connection connection;
	struct client *client;
	sd_event *loop = NULL;
	int rc;

	if (settings_connection(cli->environment, cli->options, &connection,
				err) < 0)
		return NULL;
	rc = sd_event_new(&loop);
	if (rc < 0) {
		error_set(err, -rc, "cannot create the event loop");
		return NULL;
	}
	client = client_new(loop, &connection, err);
	sd_event_unref(loop);
	if (client && cli->err_terminal)
		client_set_notice(client, say_notice, cli);
	return client;
}

int cli_call(struct cli *cli, enum message_type type, void *message,
	     struct answer *answer, struct error *err)
{
	owned(client_free) struct client *client = cli_connect(cli, err);

	return client ? client_call(client, type, message, answer, err) : -1;
}

int cli_images(const struct cli *cli, char path[PATH_MAX], struct error *err)
{
	return settings_images(cli->environment, cli->options, path, err);
}

struct catalog *cli_catalog(struct cli *cli, struct error *err)
{
	char images[PATH_MAX];

	return cli_images(cli, images, err) < 0 ? NULL
						: catalog_load(images, err);
}

int cli_check_output(const char *path, bool replace, struct error *err)
{
	if (file_check_replaced(path, err) < 0)
		return -1;
	return replace || access(path, F_OK) < 0
		       ? 0
		       : error_set(err, EEXIST,
				   "%s exists; name another file, or replace "
				   "it with --replace",
				   path);
}

bool cli_format(const struct cli *cli, const char *word)
{
	return cli->options->format && !strcmp(cli->options->format, word);
}

int cli_print_json_text(struct cli *cli, const char *json, struct error *err)
{
	owned(buffer_clear) struct buffer out = BUFFER_INIT(SIZE_MAX / 2);

	if (printable_json(&out, json, err) < 0)
		return -1;
	fprintf(cli->out, "%s\n", out.data);
	return 0;
}

int cli_print_json(struct cli *cli, const cJSON *json, struct error *err)
{
	char *text = cJSON_PrintUnformatted(json);
	int rc = text ? cli_print_json_text(cli, text, err)
		      : error_nomem(err, "output");

	cJSON_free(text);
	return rc;
}

int cli_print_list(struct cli *cli, const char *name, cJSON *list,
		   struct error *err)
{
	owned(cJSON_Delete) cJSON *object = cJSON_CreateObject();

	if (!cJSON_AddItemToObject(object, name, list)) {
		cJSON_Delete(list);
		return error_nomem(err, "output");
	}
	return cli_print_json(cli, object, err);
}

int cli_print_struct(struct cli *cli, const struct schema *schema,
		     const void *from, struct error *err)
{
	owned(cJSON_Delete) cJSON *json = codec_object(schema, from, err);

	return json ? cli_print_json(cli, json, err) : -1;
}

int cli_print_structs(struct cli *cli, const struct schema *schema,
		      const void *from, size_t count, struct error *err)
{
	owned(cJSON_Delete) cJSON *list = cJSON_CreateArray();

	for (size_t i = 0; list && i < count; i++) {
		cJSON *item =
			codec_object(schema,
				     (const char *)from + i * schema->size,
				     err);

		if (!item)
			return -1;
		cJSON_AddItemToArray(list, item);
	}
	return list ? cli_print_json(cli, list, err) : error_nomem(err, "list");
}

int cli_print_answer(struct cli *cli, const struct answer *answer,
		     struct error *err)
{
	return cli_format(cli, "json") ? cli_print_struct(cli, answer->schema,
							  answer->reply, err)
				       : 0;
}

size_t cli_out_width(const struct cli *cli)
{
	struct winsize size;

	return ioctl(fileno(cli->out), TIOCGWINSZ, &size) == 0 ? size.ws_col
							       : 0;
}

int cli_order(struct cli *cli, enum message_type type, void *message,
	      const char *done, struct error *err)
{
	owned(answer_clear) struct answer answer = { 0 };

	if (cli_call(cli, type, message, &answer, err) < 0)
		return -1;
	cli_say(cli, "%s %s", cli->args[1], done);
	return cli_print_answer(cli, &answer, err);
}

int cli_print_table(struct cli *cli, const char *title, struct table *table,
		    const char *const *droppable, struct error *err)
{
	size_t width = cli_out_width(cli);
	char titles[200], line[240];

	if (!table_rows(table))
		return 0;
	if (width && droppable)
		table_narrow(table, width, width / 4, droppable);
	table->fold = width;
	fputs(title, cli->out);
	if (table_print(table, cli->out, cli_out_colour(cli), err) < 0)
		return -1;
	if (!*table_left_out(table, titles, sizeof(titles)))
		return 0;
	snprintf(line, sizeof(line), "(a wider terminal shows %s)", titles);
	fold_words(cli->out, line, 0, width, NULL);
	fputc('\n', cli->out);
	return 0;
}

void cli_print_words(struct cli *cli, const char *head, const char *words)
{
	fputs(head, cli->out);
	fold_words(cli->out, words, strlen(head), cli_out_width(cli),
		   labels_word);
	fputc('\n', cli->out);
}

void cli_say(struct cli *cli, const char *fmt, ...)
{
	char text[1000], clean[2000];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	fprintf(cli->err, "%s\n", escape(text, clean, sizeof(clean)));
	fflush(cli->err);
}

static bool may_colour(const struct cli *cli)
{
	const char *no_color = cli->environment->no_color;

	return !no_color || !*no_color;
}

bool cli_out_colour(const struct cli *cli)
{
	return cli->out_terminal && may_colour(cli);
}

bool cli_err_colour(const struct cli *cli)
{
	return cli->err_terminal && may_colour(cli);
}

int cli_id(const char *text, const char *what, uint64_t *id, struct error *err)
{
	char *end = NULL;
	unsigned long long number = 0;

	errno = 0;
	if (text[0] >= '0' && text[0] <= '9')
		number = strtoull(text, &end, 10);
	if (!end || *end || errno || !number)
		return error_set(err, EINVAL,
				 "%s: '%.60s' is not valid here; expected the "
				 "number of a %s; regatta %ss lists them",
				 what, text, what, what);
	*id = number;
	return 0;
}

static const int interrupt_signals[] = { SIGINT, SIGTERM, SIGHUP };
#define INTERRUPTS 3

static void mask_interrupts(int how)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < INTERRUPTS; i++)
		sigaddset(&set, interrupt_signals[i]);
	sigprocmask(how, &set, NULL);
}

int interrupts_init(struct interrupts *interrupts, sd_event *loop,
		    sd_event_signal_handler_t fn, void *arg, struct error *err)
{
	int rc = 0;

	*interrupts = (struct interrupts){ 0 };
	mask_interrupts(SIG_BLOCK);
	for (size_t i = 0; i < INTERRUPTS && rc >= 0; i++)
		rc = sd_event_add_signal(loop, &interrupts->sources[i],
					 interrupt_signals[i], fn, arg);
	if (rc == -EBUSY && !interrupts->sources[0])
		return 0;
	if (rc < 0) {
		interrupts_clear(interrupts);
		return error_set(err, -rc, "cannot watch signals");
	}
	return 0;
}

static int cli_interrupt(sd_event_source *source,
			 const struct signalfd_siginfo *info, void *arg)
{
	client_interrupt(arg);
	return 0;
}

int interrupts_client(struct interrupts *interrupts, struct client *client,
		      struct error *err)
{
	return interrupts_init(interrupts, client_loop(client), cli_interrupt,
			       client, err);
}

void interrupts_clear(struct interrupts *interrupts)
{
	if (!interrupts->sources[0])
		return;
	for (size_t i = 0; i < INTERRUPTS; i++)
		interrupts->sources[i] =
			sd_event_source_disable_unref(interrupts->sources[i]);
	mask_interrupts(SIG_UNBLOCK);
}
