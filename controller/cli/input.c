/* input.c - reads, checks and submits the sweep file of a command.
 */
#include "controller/cli/input.h"
#include "controller/catalog/descriptions.h"
#include "controller/view/render.h"
#include "controller/cli/workspace.h"

#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CELLS_SHOWN 20
#define KEYS_AT_ONCE 256  /* in one request */
#define SETTING_MAX 65536 /* bytes of one --set */

static int input_parse(struct input *input, struct error *err)
{
	sweep_free(input->sweep);
	input->sweep =
		sweep_parse_at(input->text.data, input->text.size, input->name,
			       input->catalog, input->site, err);
	return input->sweep ? 0 : -1;
}

static int input_check(struct input *input, struct cli *cli,
		       bool optional_catalog, struct error *err)
{
	char images[PATH_MAX];
	bool named = cli->options->images || cli->environment->images;

	if (cli_images(cli, images, err) < 0)
		return optional_catalog && !named ? 0 : -1;
	input->catalog = catalog_load(images, err);
	if (!input->catalog)
		return -1;
	return input_parse(input, err);
}

/* Add --keep-going to the text. It needs a flagperf: block. */
static int add_keep_going(struct input *input, struct error *err)
{
	static const struct document_limits limits = { .layers = true };
	owned(document_free) struct document *document =
		document_parse(input->text.data, input->text.size, input->name,
			       &limits, err);

	if (!document)
		return -1;
	if (!value_get(document_root(document), "flagperf"))
		return error_set(err, EINVAL,
				 "--keep-going: %s has no flagperf: block "
				 "with cases to skip",
				 input->name);
	return buffer_text(&input->text,
			   "\n---\nflagperf: {keep_going: true}\n", err);
}

/* Add to the text that a case is left out, so that the controller leaves it
 * out, too.
 */
static int input_leave_out(struct buffer *text, const char *name,
			   const char *why, struct error *err)
{
	cJSON *inner = cJSON_CreateObject();
	char *line = NULL;
	int rc = -1;

	if (inner && cJSON_AddStringToObject(inner, name, why))
		line = cJSON_PrintUnformatted(inner);
	if (line)
		rc = buffer_printf(text, err,
				   "\n---\nflagperf: {\"without\": %s}\n",
				   line);
	else
		error_nomem(err, "sweep");
	cJSON_free(line);
	cJSON_Delete(inner);
	return rc;
}

/* If the FlagPerf checkout, or a copy (--tree), is on this machine, check that
 * it has the files that the cases need.
 */
static int check_tree(struct input *input, struct cli *cli, struct error *err)
{
	const struct flagperf *flagperf =
		input->sweep ? sweep_flagperf(input->sweep) : NULL;
	const char *folder = cli->options->tree;
	char workspace[PATH_MAX];
	size_t missing = 0;

	if (!flagperf && folder)
		return error_set(err, EINVAL,
				 "--tree: %s has no flagperf: block",
				 input->name);
	if (!flagperf)
		return 0;
	if (!folder && *flagperf_tree(flagperf)) {
		folder = flagperf_tree(flagperf);
		if (access(folder, F_OK))
			return 0; /* the nodes check it */
	} else if (!folder) {
		if (!sweep_workspaces(input->sweep))
			return 0;
		if (workspace_folder(input->sweep, 0, input->name, workspace,
				     err) < 0)
			return -1;
		folder = workspace;
	}
	for (size_t i = 0; flagperf_cell(flagperf, i); i++) {
		struct error why;

		if (flagperf_reason(flagperf, i) ||
		    flagperf_check(flagperf, i, folder, &why) == 0)
			continue;
		if (cli->options->keep_going &&
		    input_leave_out(&input->text, flagperf_case(flagperf, i),
				    why.text, err) < 0)
			return -1;
		/* The last error becomes that of the command. */
		if (!cli->options->keep_going && missing)
			cli_say(cli, "regatta: %s", err->text);
		*err = why;
		missing++;
	}
	if (!missing)
		return 0;
	if (cli->options->keep_going)
		return input_parse(input, err);
	err->code = EINVAL;
	return -1;
}

int input_check_jobs(const struct input *input, struct cli *cli,
		     struct error *err)
{
	const struct sweep_totals *totals =
		input->sweep ? sweep_totals(input->sweep) : NULL;
	char cell[CELL_WORDS_BYTES], reason[SWEEP_REASON_BYTES];

	if (!totals || totals->jobs)
		return 0;
	for (size_t i = 0; i < totals->dropped && i < CELLS_SHOWN; i++) {
		if (sweep_drop(input->sweep, i, cell, sizeof(cell), reason,
			       sizeof(reason), err) < 0)
			return -1;
		cli_say(cli, "dropped: %s: %s", cell, reason);
	}
	return error_set(err, EINVAL,
			 "%s: nothing to run: all %zu cells are dropped",
			 input->name, totals->dropped);
}

/* Write "batch.micro=2" as a document that is merged into the sweep file. */
static int write_setting(const char *setting, struct buffer *out,
			 struct error *err)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
	const char *key = setting, *value = strchr(setting, '=');
	int depth = 0;

	if (buffer_text(out, "---\n", err) < 0)
		return -1;
	for (;; key++, depth++) {
		int length = (int)strspn(key, letters);

		if (!value || !length || strchr(setting, '\n') ||
		    (key[length] != '.' && key[length] != '='))
			return error_set(err, EINVAL,
					 "--set: '%.60s' is not valid here; "
					 "expected KEY=VALUE with a key of the "
					 "sweep file, such as image=a:1 or "
					 "batch.micro=2",
					 setting);
		if (buffer_printf(out, err, "%*s%.*s:", 2 * depth, "", length,
				  key) < 0)
			return -1;
		key += length;
		if (*key == '=')
			break;
		if (buffer_text(out, "\n", err) < 0)
			return -1;
	}
	return buffer_printf(out, err, " %s\n", value + 1);
}

/* Add --set to the text, so that the controller gets the sweep that was checked
 * here.
 */
static int add_settings(struct input *input, const struct option_list *set,
			struct error *err)
{
	if (set->count && buffer_text(&input->text, "\n", err) < 0)
		return -1;
	for (size_t i = 0; i < set->count; i++) {
		owned(buffer_clear) struct buffer text =
			BUFFER_INIT(SETTING_MAX);
		owned(document_free) struct document *document = NULL;
		char name[80];

		if (write_setting(set->items[i], &text, err) < 0)
			return -1;
		snprintf(name, sizeof(name), "--set %.*s",
			 (int)strcspn(set->items[i], "="), set->items[i]);
		document =
			document_parse(text.data, text.size, name, NULL, err);
		if (!document ||
		    buffer_append(&input->text, text.data, text.size, err) < 0)
			return -1;
	}
	return 0;
}

/* Refuse a key that is in the matrix, because the matrix takes precedence. */
static int check_settings(const struct input *input,
			  const struct option_list *set, struct error *err)
{
	static const struct document_limits limits = { .layers = true };
	owned(document_free) struct document *document = NULL;
	const struct value *matrix;

	if (!set->count)
		return 0;
	document = document_parse(input->text.data, input->text.size,
				  input->name, &limits, NULL);
	/* input_check() reports errors of the document. */
	matrix = document ? value_get(document_root(document), "matrix") : NULL;
	for (size_t i = 0; i < set->count; i++) {
		const char *word = set->items[i];
		char key[80];

		snprintf(key, sizeof(key), "%.*s", (int)strcspn(word, "="),
			 word);
		if (value_get(matrix, key))
			return error_set(err, EINVAL,
					 "--set %s: the matrix has a list of "
					 "this key, which takes precedence; "
					 "expected %s%s%s",
					 key,
					 strchr(key, '.')
						 ? "a change of the file"
						 : "--set 'matrix.",
					 strchr(key, '.') ? "" : key,
					 strchr(key, '.') ? "" : "=[...]'");
	}
	return 0;
}

/* An error in a line that is not in the file, "FILE:12: ", is that of the
 * option whose document has the line.
 */
static void blame_setting(const struct option_list *set, const char *name,
			  size_t lines, struct error *err)
{
	size_t length = strlen(name), line;
	struct error why = *err;
	char *rest;

	if (strncmp(why.text, name, length) || why.text[length] != ':')
		return;
	line = strtoul(why.text + length + 1, &rest, 10);
	if (line <= lines || strncmp(rest, ": ", 2) != 0)
		return;
	for (size_t i = 0; i < set->count; i++) {
		size_t key = strcspn(set->items[i], "=");

		lines += 2; /* "---", and a line for each name of the key */
		for (size_t at = 0; at < key; at++)
			lines += set->items[i][at] == '.';
		if (line <= lines) {
			error_set(err, why.code, "--set %.60s: %s",
				  set->items[i], rest + 2);
			return;
		}
	}
}

static size_t input_count_lines(const struct buffer *text)
{
	size_t lines = 1;

	for (size_t i = 0; i < text->size; i++)
		lines += text->data[i] == '\n';
	return lines;
}

int input_init(struct input *input, struct cli *cli, const char *name,
	       bool optional_catalog, struct error *err)
{
	return input_init_at(input, cli, name, optional_catalog, NULL, err);
}

int input_init_at(struct input *input, struct cli *cli, const char *name,
		  bool optional_catalog, const struct sweep_site *site,
		  struct error *err)
{
	const struct option_list *set = &cli->options->set;
	struct error why;
	size_t lines;

	*input = (struct input){ .name = strcmp(name, "-") ? name : "stdin",
				 .site = site };
	buffer_init(&input->text, INPUT_MAX);
	if (read_input(name, &input->text, &why) < 0) {
		error_set(err, why.code,
			  "%s; expected a sweep file, or - for "
			  "standard input",
			  why.text);
	} else {
		lines = input_count_lines(&input->text);
		if (add_settings(input, set, err) == 0 &&
		    check_settings(input, set, err) == 0 &&
		    (!cli->options->keep_going ||
		     add_keep_going(input, err) == 0) &&
		    input_check(input, cli, optional_catalog, err) == 0 &&
		    check_tree(input, cli, err) == 0)
			return 0;
		blame_setting(set, input->name, lines, err);
	}
	input_clear(input);
	return -1;
}

void input_clear(struct input *input)
{
	sweep_free(input->sweep);
	catalog_free(input->catalog);
	buffer_clear(&input->text);
	logins_clear(&input->logins);
	input->sweep = NULL;
	input->catalog = NULL;
}

/* Print cells with their reasons, at most CELLS_SHOWN. */
static void tell_cells(struct cli *cli, const struct cell_note *cells,
		       size_t count, const char *what, const char *where)
{
	for (size_t i = 0; i < count && i < CELLS_SHOWN; i++)
		cli_say(cli, "%s: %s: %s", what, cells[i].cell,
			cells[i].reason);
	if (count > CELLS_SHOWN)
		cli_say(cli, "%s: and %zu more; %s lists all", what,
			count - CELLS_SHOWN, where);
}

/* Descriptions of the local images folder. */

/* The kind and the name of a key: "models/NAME". */
static const char *input_split_key(const char *key, enum catalog_kind *kind)
{
	const char *slash = strchr(key, '/');

	*kind = CATALOG_MODEL;
	while (strncmp(descriptions_kind(*kind), key, (size_t)(slash - key)) !=
	       0)
		++*kind;
	return slash + 1;
}

static int add_if_other(const struct input *input, struct cli *cli,
			const char *key, const char *hash, cJSON **described,
			struct error *err)
{
	enum catalog_kind kind;
	const char *name = input_split_key(key, &kind);
	owned_free char *text = descriptions_text(input->catalog, kind, name);
	char ours[65];

	if (!text)
		return error_nomem(err, key);
	catalog_hash(text, strlen(text), ours);
	if (!strcmp(ours, hash))
		return 0;
	cli_say(cli, "sending %s: the controller has %s", key,
		*hash ? "another" : "none");
	return descriptions_put(described, kind, name, text, err);
}

static int ask_hashes(const struct input *input, struct cli *cli,
		      struct client *client, const struct strings *keys,
		      size_t at, cJSON **described, struct error *err)
{
	owned(answer_clear) struct answer answer = { 0 };
	size_t count = keys->count - at;
	struct message_query query = {
		.what = QUERY_DESCRIPTIONS,
		.keys = { keys->items + at,
			  count < KEYS_AT_ONCE ? count : KEYS_AT_ONCE },
	};
	const struct reply_descriptions *reply;

	if (client_query(client, &query, &answer, err) < 0)
		return -1;
	reply = answer.reply;
	for (size_t i = 0; i < query.keys.count; i++)
		if (add_if_other(input, cli, keys->items[at + i],
				 i < reply->hashes.count
					 ? reply->hashes.items[i]
					 : "",
				 described, err) < 0)
			return -1;
	return 0;
}

/* The controller reads them as a key of the sweep. */
static int add_described(struct input *input, const cJSON *described,
			 struct error *err)
{
	char *text = cJSON_PrintUnformatted(described);
	int rc = text ? buffer_printf(&input->text, err,
				      "\n---\ndescriptions: %s\n", text)
		      : error_nomem(err, "sweep");

	cJSON_free(text);
	return rc;
}

int input_add_descriptions(struct input *input, struct cli *cli,
			   struct client *client, struct error *err)
{
	owned(strings_clear) struct strings keys = { 0 };
	cJSON *described = NULL;
	int rc = 0;

	if (!input->sweep)
		return 0;
	if (sweep_uses(input->sweep, &keys, err) < 0)
		return -1;
	for (size_t at = 0; at < keys.count && rc == 0; at += KEYS_AT_ONCE)
		rc = ask_hashes(input, cli, client, &keys, at, &described, err);
	if (rc == 0 && described)
		rc = add_described(input, described, err);
	cJSON_Delete(described);
	return rc;
}

/* Submitting. */

static void submit_clear(struct message_submit *submit)
{
	/* The other members are borrowed. */
	for (size_t i = 0; i < submit->workspaces_count; i++) {
		free(submit->workspaces[i].path);
		free(submit->workspaces[i].content);
	}
	free(submit->workspaces);
}
OWNED_VALUE(struct message_submit, submit_clear)

int input_submit(const struct input *input, struct cli *cli,
		 struct client *client, const char *token,
		 struct answer *answer, struct error *err)
{
	owned(submit_clear) struct message_submit submit = {
		.file = (char *)input->name,
		.token = (char *)token,
		.resume = input->take_over,
		.logins = input->logins.items,
		.logins_count = input->logins.count,
	};
	const struct reply_submit *reply;
	char taken[60] = "";

	if (input->sweep && workspaces_send(input->sweep, input->name, cli,
					    client, &submit, err) < 0)
		return -1;
	if (client_call_with(client, MESSAGE_SUBMIT, &submit, input->text.data,
			     input->text.size, 0, answer, err) < 0)
		return -1;
	reply = answer->reply;
	if (!reply->sweep)
		return error_set(err, EPROTO,
				 "the controller's answer has no sweep number");
	tell_cells(cli, reply->dropped, reply->dropped_count, "dropped",
		   "regatta plan");
	tell_cells(cli, reply->waiting, reply->waiting_count, "waits",
		   "regatta jobs");
	if (input->take_over)
		snprintf(taken, sizeof(taken),
			 ", %llu of them taken over from earlier sweeps",
			 (unsigned long long)reply->taken);
	cli_say(cli, "sweep %llu: %s, %s%s", (unsigned long long)reply->sweep,
		reply->name, human_jobs(reply->jobs).text, taken);
	return 0;
}

void token_make(char token[33])
{
	unsigned char bytes[16];

	randombytes_buf(bytes, sizeof(bytes));
	sodium_bin2hex(token, 33, bytes, sizeof(bytes));
}
