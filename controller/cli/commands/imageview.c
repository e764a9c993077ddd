/* imageview.c - begins an image operation and shows its progress.
 */
#include "controller/cli/commands/images.h"

#include "controller/view/render.h"
#include "protocol/base/clock.h"
#include "protocol/base/loop.h"
#include "protocol/base/printable.h"
#include "protocol/base/utf8.h"

#include <errno.h>
#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#define POLL_MS 100
#define DRAW_MS 100
#define COLUMNS_DEFAULT 80
#define AGAIN_MAX 3

void image_view_clear(struct image_view *view)
{
	strings_clear(&view->named);
	strings_clear(&view->nodes);
	loop_source_free(&view->timer);
	interrupts_clear(&view->interrupts);
	if (view->lent)
		client_set_notice(view->client, NULL, NULL);
	else
		client_free(view->client);
	image_view_hide(view);
}

static int split_nodes(const char *text, struct strings *nodes,
		       struct error *err)
{
	while (text && *text) {
		size_t size = strcspn(text, ",");

		if (size &&
		    strings_printf(nodes, err, "%.*s", (int)size, text) < 0)
			return -1;
		text += size + (text[size] == ',');
	}
	return 0;
}

int image_view_init(struct image_view *view, struct cli *cli, const char *nodes,
		    struct error *err)
{
	view->cli = cli;
	if (split_nodes(nodes, &view->named, err) < 0)
		return -1;
	/* An empty --nodes, as of an empty shell variable, is not all nodes. */
	if (nodes && !view->named.count)
		return error_set(err, EINVAL,
				 "--nodes: '%.60s' is not valid here; expected "
				 "names of nodes separated by commas",
				 nodes);
	return 0;
}

void image_view_stage(struct image_view *view, const char *what)
{
	view->what = what;
	view->began_ms = clock_mono_ms();
	view->began_at = 0;
	view->drawn_ms = 0;
}

void image_view_say(struct image_view *view, const char *fmt, ...)
{
	char text[600];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	image_view_hide(view);
	cli_say(view->cli, "%s", text);
}

/* Show a line of progress without control characters, as much as fits. */
static void image_view_show(struct image_view *view, const char *line)
{
	struct winsize size = { 0 };
	size_t columns = COLUMNS_DEFAULT;

	if (!view->cli->err_terminal)
		return;
	if (ioctl(fileno(view->cli->err), TIOCGWINSZ, &size) == 0 &&
	    size.ws_col)
		columns = size.ws_col;
	fprintf(view->cli->err, "\r\033[K%.*s",
		(int)utf8_fit(line, columns - 1), line);
	fflush(view->cli->err);
	view->drawn = true;
}

void image_view_hide(struct image_view *view)
{
	if (view->drawn)
		fputs("\r\033[K", view->cli->err);
	view->drawn = false;
}

void image_view_draw(void *arg, uint64_t bytes, uint64_t total)
{
	struct image_view *view = arg;
	int64_t now = clock_mono_ms(), took = now - view->began_ms;
	struct image_progress progress = { .phase = (char *)view->what,
					   .done_bytes = bytes,
					   .total_bytes = total,
					   .eta_seconds = (double)NAN };
	char detail[200], line[300];

	if (now - view->drawn_ms < DRAW_MS)
		return;
	view->drawn_ms = now;
	if (!view->began_at)
		view->began_at = bytes;
	if (took > 500 && bytes > view->began_at) {
		progress.rate =
			(double)(bytes - view->began_at) * 1000 / (double)took;
		progress.eta_seconds = (double)(total - bytes) / progress.rate;
	}
	transfer_detail(&progress, detail, sizeof(detail));
	snprintf(line, sizeof(line), "%s %s",
		 human_bar(total ? (double)bytes / (double)total : -1).text,
		 detail);
	image_view_show(view, line);
}

/* Waiting for the nodes. */

static int image_view_poll(sd_event_source *source, uint64_t usec, void *arg)
{
	struct image_view *view = arg;

	client_interrupt(view->client);
	return 0;
}

static int image_view_interrupt(sd_event_source *source,
				const struct signalfd_siginfo *info, void *arg)
{
	struct image_view *view = arg;

	view->interrupted = true;
	client_interrupt(view->client);
	return 0;
}

/* Wait for POLL_MS. */
static int wait_a_little(struct image_view *view, struct error *err)
{
	struct error why = { 0 };

	if (loop_timer(client_loop(view->client), &view->timer, POLL_MS,
		       image_view_poll, view, err) < 0)
		return -1;
	while (client_turn(view->client, &why) == 0)
		;
	if (view->interrupted)
		return error_set(err, EINTR, "interrupted; the nodes continue");
	if (why.code == EINTR)
		return 0;
	*err = why;
	return -1;
}

struct image_operation_info *image_answer(const struct answer *answer)
{
	return &((struct reply_image *)answer->reply)->image;
}

bool image_node_ready(const struct image_node *node)
{
	return !strcmp(node->progress.phase, "ready");
}

static bool image_node_final(const struct image_node *node)
{
	return image_node_ready(node) ||
	       !strcmp(node->progress.phase, "failed");
}

const char *image_node_text(const struct image_node *node)
{
	return node->text ? node->text : "";
}

struct sums {
	size_t ready, final;
	const struct image_node *last; /* that has most left; NULL: none */
};

static double image_node_fraction(const struct image_node *node)
{
	return node->progress.total_bytes && !node->progress.partial
		       ? (double)node->progress.done_bytes /
				 (double)node->progress.total_bytes
		       : -1;
}

static struct sums sums_compute(const struct image_operation_info *image)
{
	struct sums sums = { 0 };

	for (size_t i = 0; i < image->nodes_count; i++) {
		const struct image_node *node = &image->nodes[i];
		bool final = image_node_final(node);

		sums.ready += image_node_ready(node);
		sums.final += final;
		if (!final &&
		    (!sums.last || image_node_fraction(node) <
					   image_node_fraction(sums.last)))
			sums.last = node;
	}
	return sums;
}

/* "1 of 3 nodes ready; n2 [###.......] pulling 35%, 20s left" */
static void draw_nodes(struct image_view *view, const struct sums *sums,
		       size_t count)
{
	const struct image_node *node = sums->last;
	char name[2 * KEY_NAME_SIZE], detail[200], line[400];

	if (!node)
		return;
	transfer_detail(&node->progress, detail, sizeof(detail));
	snprintf(line, sizeof(line), "%zu of %zu nodes ready; %s %s %s",
		 sums->ready, count, escape(node->name, name, sizeof(name)),
		 human_bar(image_node_fraction(node)).text, detail);
	image_view_show(view, line);
}

/* Nodes send whole lines; engines colour the standard error of a command. */
static void image_view_print(struct image_view *view,
			     const struct image_output *output)
{
	char *line = output->text, *end;

	for (; *line; line = end) {
		end = line + strcspn(line, "\r\n");
		if (*end)
			*end++ = 0;
		uncolour(line);
		if (*line)
			image_view_say(view, "%s | %s", output->node, line);
	}
}

/* n2 comes before n10. */
static int image_node_compare(const void *a, const void *b)
{
	return strverscmp(((const struct image_node *)a)->name,
			  ((const struct image_node *)b)->name);
}

/* Remove nodes that only another user asked for. */
static void keep_ours(const struct image_view *view,
		      struct image_operation_info *image)
{
	size_t kept = 0;

	for (size_t i = 0; i < image->nodes_count; i++) {
		struct image_node node = image->nodes[i];

		if (!strings_has(&view->nodes, node.name))
			continue;
		image->nodes[i] = image->nodes[kept];
		image->nodes[kept++] = node;
	}
	while (image->nodes_count > kept)
		codec_clear(&image_node_schema,
			    &image->nodes[--image->nodes_count]);
	if (kept)
		qsort(image->nodes, kept, sizeof(*image->nodes),
		      image_node_compare);
}

/* Ask; more: there is output that did not fit the answer. */
static int image_view_ask(struct image_view *view, struct message_query *query,
			  struct answer *answer, bool *more, struct error *err)
{
	struct image_operation_info *image;

	answer_clear(answer);
	query->request = 0;
	if (client_query(view->client, query, answer, err) < 0)
		return -1;
	image = image_answer(answer);
	keep_ours(view, image);
	for (size_t i = 0; i < image->output_count; i++)
		image_view_print(view, &image->output[i]);
	*more = image->after != query->after;
	query->after = image->after;
	return 0;
}

static int watch_operation(struct image_view *view, const char *id, bool lasts,
			   struct answer *answer, struct error *err)
{
	struct message_query query = { .what = QUERY_IMAGE,
				       .name = (char *)id };

	for (;;) {
		const struct image_operation_info *image;
		struct sums sums;
		bool more;

		if (image_view_ask(view, &query, answer, &more, err) < 0)
			return -1;
		image = image_answer(answer);
		sums = sums_compute(image);
		draw_nodes(view, &sums, image->nodes_count);
		if (more)
			continue;
		if (image->final || (lasts && sums.final == image->nodes_count))
			return 0;
		if (wait_a_little(view, err) < 0)
			return -1;
	}
}

static void image_view_notice(void *arg, const char *text)
{
	struct image_view *view = arg;

	view->lost = true;
	image_view_say(view, "%s", text);
}

int image_view_connect(struct image_view *view, struct error *err)
{
	if (!view->client)
		view->client = cli_connect(view->cli, err);
	if (!view->client)
		return -1;
	client_set_patient(view->client, image_view_notice, view);
	return interrupts_init(&view->interrupts, client_loop(view->client),
			       image_view_interrupt, view, err);
}

void image_operation_named(char id[BLOB_HASH_SIZE], const char *a,
			   const char *b)
{
	unsigned char hash[crypto_hash_sha256_BYTES];
	crypto_hash_sha256_state state;

	crypto_hash_sha256_init(&state);
	crypto_hash_sha256_update(&state, (const unsigned char *)a,
				  strlen(a) + 1);
	crypto_hash_sha256_update(&state, (const unsigned char *)b, strlen(b));
	crypto_hash_sha256_final(&state, hash);
	sodium_bin2hex(id, BLOB_HASH_SIZE, hash, sizeof(hash));
}

/* Nodes that have it already are those to send it to again. */
int image_view_send(struct image_view *view, struct image_spec *spec,
		    struct error *err)
{
	struct message_image_operation message = {
		.spec = *spec,
		.nodes = view->nodes.count ? view->nodes
			 : view->only      ? *view->only
					   : view->named,
	};
	struct message_image_list list = { .operation = spec->id,
					   .nodes = message.nodes };
	bool lists = spec->kind == IMAGE_LIST;
	owned(answer_clear) struct answer answer = { 0 };
	struct reply_image_operation *reply;

	if (client_call(view->client,
			lists ? MESSAGE_IMAGE_LIST : MESSAGE_IMAGE_OPERATION,
			lists ? (void *)&list : &message, &answer, err) < 0)
		return -1;
	reply = answer.reply;
	strings_clear(&view->nodes);
	view->nodes = reply->nodes;
	reply->nodes = (struct strings){ 0 };
	return 0;
}

int image_view_watch(struct image_view *view, struct image_spec *spec,
		     struct answer *answer, struct error *err)
{
	bool lasts = spec->kind == IMAGE_ENSURE || spec->kind == IMAGE_LOAD;
	int rc = watch_operation(view, spec->id, lasts, answer, err);

	for (int i = 0; rc < 0 && err->code == ENOENT && lasts && i < AGAIN_MAX;
	     i++) {
		rc = image_view_send(view, spec, err);
		if (rc == 0)
			rc = watch_operation(view, spec->id, lasts, answer,
					     err);
	}
	if (rc < 0 && err->code == EINTR && lasts)
		error_set(err, EINTR,
			  "interrupted; the nodes continue, and the "
			  "same command shows them again");
	return rc;
}

int image_view_run(struct image_view *view, struct image_spec *spec,
		   struct answer *answer, struct error *err)
{
	unsigned char random[32];

	if (!spec->id) {
		randombytes_buf(random, sizeof(random));
		sodium_bin2hex(view->id, sizeof(view->id), random,
			       sizeof(random));
		spec->id = view->id;
	}
	strings_clear(&view->nodes);
	return image_view_send(view, spec, err) < 0
		       ? -1
		       : image_view_watch(view, spec, answer, err);
}

size_t image_view_tell(struct image_view *view,
		       const struct image_operation_info *image, bool made)
{
	size_t lacking = 0;

	for (size_t i = 0; i < image->nodes_count; i++) {
		const struct image_node *node = &image->nodes[i];
		const char *text = image_node_text(node);

		lacking += !image_node_ready(node);
		if (!image_node_ready(node))
			image_view_say(view, "%s: %s", node->name, text);
		else if (made)
			image_view_say(view, "%s: %s, %s", node->name, text,
				       human_bytes(node->progress.total_bytes)
					       .text);
	}
	return lacking;
}

int image_view_end(struct image_view *view,
		   const struct image_operation_info *image, int code,
		   struct error *err)
{
	return cli_format(view->cli, "json") &&
			       cli_print_struct(view->cli,
						&image_operation_info_schema,
						image, err) < 0
		       ? -1
		       : code;
}
