/* input.c - a sweep file as a command names it: its text, checked here.
 */
#include "controller/cli/input.h"
#include "controller/cli/json.h"
#include "controller/cli/render.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>

#define CELLS_SHOWN 20

static int check(struct input *input, struct cli *cli, bool optional_catalog,
		 struct error *err)
{
	char images[PATH_MAX];
	bool named = cli->options.images || cli->environment->images;

	if (settings_images(cli->environment, &cli->options, images, err) < 0)
		return optional_catalog && !named ? 0 : -1;
	input->catalog = catalog_load(images, err);
	if (!input->catalog)
		return -1;
	input->sweep = sweep_parse(input->text.data, input->text.size,
				   input->name, input->catalog, err);
	return input->sweep ? 0 : -1;
}

int input_check_jobs(const struct input *input, struct cli *cli,
		     struct error *err)
{
	const struct sweep_totals *totals =
		input->sweep ? sweep_totals(input->sweep) : NULL;
	char cell[SWEEP_WORDS_BYTES], reason[SWEEP_REASON_BYTES];

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

int input_init(struct input *input, struct cli *cli, const char *name,
	       bool optional_catalog, struct error *err)
{
	*input = (struct input){ .name = strcmp(name, "-") ? name : "stdin" };
	buffer_init(&input->text, INPUT_MAX);
	if (read_input(name, &input->text, err) < 0 ||
	    check(input, cli, optional_catalog, err) < 0) {
		input_clear(input);
		return -1;
	}
	return 0;
}

void input_clear(struct input *input)
{
	sweep_free(input->sweep);
	catalog_free(input->catalog);
	buffer_clear(&input->text);
	input->sweep = NULL;
	input->catalog = NULL;
}

/* Cells with their reasons, at most CELLS_SHOWN of them. */
static void tell_cells(struct cli *cli, const cJSON *cells, const char *what,
		       const char *where)
{
	int count = cJSON_GetArraySize(cells);
	const cJSON *cell;
	int shown = 0;

	cJSON_ArrayForEach(cell, cells)
	{
		if (shown++ == CELLS_SHOWN) {
			cli_say(cli, "%s: and %d more; %s lists all", what,
				count - CELLS_SHOWN, where);
			break;
		}
		cli_say(cli, "%s: %s: %s", what, json_text(cell, "cell"),
			json_text(cell, "reason"));
	}
}

int input_submit(const struct input *input, struct cli *cli,
		 struct client *client, const char *token, uint64_t *sweep,
		 cJSON **body, struct error *err)
{
	owned(answer_clear) struct answer answer = { 0 };
	struct message_submit submit = { .file = (char *)input->name,
					 .token = (char *)token,
					 .resume = cli->options.take_over };
	char jobs[HUMAN_SIZE], taken[60] = "";
	uint64_t id;

	if (client_call(client, MESSAGE_SUBMIT, &submit, input->text.data,
			input->text.size, 0, &answer, err) < 0)
		return -1;
	id = json_u64(answer.body, "sweep");
	if (!id)
		return error_set(err, EPROTO,
				 "the controller did not say the sweep's "
				 "number");
	tell_cells(cli, json_list(answer.body, "dropped"), "dropped",
		   "regatta plan");
	tell_cells(cli, json_list(answer.body, "waiting"), "waits",
		   "regatta jobs");
	if (cli->options.take_over)
		snprintf(taken, sizeof(taken),
			 ", %llu of them taken over from earlier sweeps",
			 (unsigned long long)json_u64(answer.body, "taken"));
	cli_say(cli, "sweep %llu: %s, %s%s", (unsigned long long)id,
		json_text(answer.body, "name"),
		human_jobs(json_u64(answer.body, "jobs"), jobs), taken);
	*sweep = id;
	if (body)
		*body = take(answer.body);
	return 0;
}

void token_make(char token[33])
{
	unsigned char bytes[16];

	randombytes_buf(bytes, sizeof(bytes));
	sodium_bin2hex(token, 33, bytes, sizeof(bytes));
}
