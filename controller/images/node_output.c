/* node_output.c - keeps the newest output of the nodes of an image order.
 */
#include "controller/images/node_output.h"

#include "protocol/wire/key.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

struct printed {
	char node[KEY_NAME_SIZE];
	char *text;
	TAILQ_ENTRY(printed) entry;
};

struct node_output {
	TAILQ_HEAD(, printed) pieces;
	size_t bytes;
	uint64_t first; /* number of the first piece that is kept */
	uint64_t next;  /* number of the next piece */
};

struct node_output *node_output_new(void)
{
	struct node_output *output = calloc(1, sizeof(*output));

	if (output)
		TAILQ_INIT(&output->pieces);
	return output;
}

static void drop_first(struct node_output *output)
{
	struct printed *printed = TAILQ_FIRST(&output->pieces);

	TAILQ_REMOVE(&output->pieces, printed, entry);
	output->bytes -= strlen(printed->text);
	output->first++;
	free(printed->text);
	free(printed);
}

void node_output_free(struct node_output *output)
{
	while (output && !TAILQ_EMPTY(&output->pieces))
		drop_first(output);
	free(output);
}

void node_output_add(struct node_output *output, const char *node, char *text)
{
	struct printed *printed = calloc(1, sizeof(*printed));

	if (!printed) {
		free(text);
		return;
	}
	snprintf(printed->node, sizeof(printed->node), "%s", node);
	printed->text = text;
	TAILQ_INSERT_TAIL(&output->pieces, printed, entry);
	output->bytes += strlen(text);
	output->next++;
	while (output->bytes > NODE_OUTPUT_MAX)
		drop_first(output);
}

int node_output_describe(const struct node_output *output, uint64_t after,
			 struct image_order_info *to, struct error *err)
{
	uint64_t number = output->first;
	const struct printed *printed;
	size_t bytes = 0;

	to->output = calloc(output->next - number + 1, sizeof(*to->output));
	if (!to->output)
		return error_nomem(err, "output");
	TAILQ_FOREACH(printed, &output->pieces, entry)
	{
		struct image_output *item;

		if (number < after) {
			number++;
			continue;
		}
		bytes += strlen(printed->text);
		if (bytes > NODE_OUTPUT_TOLD && bytes > strlen(printed->text))
			break;
		item = &to->output[to->output_count++];
		if (string_set(&item->node, printed->node, err) < 0 ||
		    string_set(&item->text, printed->text, err) < 0)
			return -1;
		number++;
	}
	to->after = number > after ? number : after;
	return 0;
}
