/* image.c - image load, image save: images without a registry.
 */
#include "controller/cli/commands/commands.h"

#include "controller/cli/display.h"
#include "controller/cli/imagefile.h"
#include "controller/cli/json.h"
#include "controller/cli/render.h"
#include "protocol/file.h"
#include "protocol/loop.h"
#include "protocol/program.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sodium.h>
#include <string.h>

#define POLL_MS 300
#define AWAY_MS 15000 /* out of reach so long: not awaited */
#define BAR 24

/* What is drawn at the foot of a terminal while it takes. */
struct view {
	struct cli *cli;
	struct display *display; /* NULL: no terminal */
	int64_t drawn_ms, began_ms;
	uint64_t began_at;
	const char *what; /* of the stage */
	bool interrupted;
	struct client *client;
	sd_event_source *timer;
};

static void view_clear(struct view *view)
{
	loop_source_free(&view->timer);
	display_free(view->display);
}
OWNED_VALUE(struct view, view_clear)

static int view_init(struct view *view, struct cli *cli, struct error *err)
{
	view->cli = cli;
	if (!cli->err_terminal)
		return 0;
	view->display = display_new(cli->err, err);
	return view->display ? 0 : -1;
}

static void view_stage(struct view *view, const char *what)
{
	view->what = what;
	view->began_ms = clock_mono_ms();
	view->began_at = 0;
	view->drawn_ms = 0;
}

static void view_say(struct view *view, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static void view_say(struct view *view, const char *fmt, ...)
{
	char text[600], clean[1200];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (view->display)
		display_line(view->display, escape(text, clean, sizeof(clean)));
	else
		cli_say(view->cli, "%s", text);
}

/* "sending  [#######-----] 1.2 of 3.4 GiB, 110 MiB/s, 20s left". A
 * transfer_progress_fn and an image_file_progress_fn.
 */
static void view_draw(void *arg, uint64_t bytes, uint64_t total)
{
	struct view *view = arg;
	int64_t now = clock_mono_ms(), took = now - view->began_ms;
	char done[HUMAN_SIZE], all[HUMAN_SIZE], rate[HUMAN_SIZE],
		left[HUMAN_SIZE], bar[BAR + 1], line[300];
	const char *lines[1] = { line };
	uint64_t speed;
	int full;

	if (!view->display || now - view->drawn_ms < 100)
		return;
	view->drawn_ms = now;
	if (!view->began_at)
		view->began_at = bytes;
	speed = took > 500 ? (bytes - view->began_at) * 1000 / (uint64_t)took
			   : 0;
	full = total ? (int)((double)bytes / (double)total * BAR) : 0;
	memset(bar, '-', BAR);
	memset(bar, '#', (size_t)(full < BAR ? full : BAR));
	bar[BAR] = 0;
	if (speed)
		snprintf(line, sizeof(line), "%s [%s] %s of %s, %s/s, %s left",
			 view->what, bar, human_bytes(bytes, done),
			 human_bytes(total, all), human_bytes(speed, rate),
			 human_time((int64_t)((total - bytes) * 1000 / speed),
				    left));
	else
		snprintf(line, sizeof(line), "%s [%s] %s of %s", view->what,
			 bar, human_bytes(bytes, done),
			 human_bytes(total, all));
	display_draw(view->display, lines, 1);
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

/* Waiting for the nodes. */

static int poll_run(sd_event_source *source, uint64_t usec, void *arg)
{
	struct view *view = arg;

	client_interrupt(view->client);
	return 0;
}

static int on_interrupt(sd_event_source *source,
			const struct signalfd_siginfo *info, void *arg)
{
	struct view *view = arg;

	view->interrupted = true;
	client_interrupt(view->client);
	return 0;
}

/* Let some time go by. */
static int wait_a_little(struct view *view, struct error *err)
{
	struct error why = { 0 };

	if (loop_timer(client_loop(view->client), &view->timer, POLL_MS,
		       poll_run, view, err) < 0)
		return -1;
	while (client_turn(view->client, &why) == 0)
		;
	if (view->interrupted)
		return error_set(err, EINTR, "interrupted; it goes on there");
	if (why.code == EINTR)
		return 0;
	*err = why;
	return -1;
}

static bool is_final(const cJSON *node)
{
	return !strcmp(json_text(node, "phase"), "ready") ||
	       !strcmp(json_text(node, "phase"), "failed");
}

struct sums {
	uint64_t done, total;
	size_t nodes, final, away;
};

static struct sums sum_up(const cJSON *image)
{
	struct sums sums = { 0 };
	uint64_t one = 0;
	const cJSON *node;

	cJSON_ArrayForEach(node, json_list(image, "nodes"))
	{
		uint64_t total = json_u64(node, "total_bytes");

		sums.nodes++;
		sums.final += is_final(node);
		sums.away += !is_final(node) && !json_bool(node, "up");
		sums.done += json_u64(node, "done_bytes");
		one = total > one ? total : one;
	}
	sums.total = one * sums.nodes;
	return sums;
}

/* Until all nodes are done, or those that are not are out of reach. */
static int watch_order(struct view *view, const char *order,
		       struct answer *answer, struct error *err)
{
	struct message_query query = { .what = (char *)"image",
				       .name = (char *)order };
	int64_t away_ms = 0;
	struct sums sums = { 0 };

	for (;;) {
		const cJSON *image;
		bool away;

		answer_clear(answer);
		query.request = 0;
		if (client_query(view->client, &query, answer, err) < 0)
			return -1;
		image = json_get(answer->body, "image");
		sums = sum_up(image);
		view_draw(view, sums.done, sums.total);
		if (json_bool(image, "final"))
			return 0;
		away = sums.away && sums.final + sums.away == sums.nodes;
		if (!away)
			away_ms = 0;
		else if (!away_ms)
			away_ms = clock_mono_ms();
		else if (clock_mono_ms() - away_ms > AWAY_MS)
			return 0;
		if (wait_a_little(view, err) < 0)
			return -1;
	}
}

static void ignore_notice(void *arg, const char *text)
{
	view_say(arg, "%s", text);
}

static int send_order(struct view *view, const char *what, const char *order,
		      const char *image, struct error *err)
{
	struct message_image_order message = {
		.what = (char *)what,
		.order = (char *)order,
		.image = (char *)image,
	};
	owned(answer_clear) struct answer answer = { 0 };
	int rc = split_nodes(view->cli->options.nodes, &message.nodes, err);

	if (rc == 0)
		rc = client_call(view->client, MESSAGE_IMAGE_ORDER, &message,
				 NULL, 0, 0, &answer, err);
	strings_clear(&message.nodes);
	return rc;
}

/* load */

static int tell_nodes(struct view *view, const cJSON *image)
{
	size_t ready = 0, count = 0;
	const cJSON *node;

	cJSON_ArrayForEach(node, json_list(image, "nodes"))
	{
		const char *name = json_text(node, "name");

		count++;
		if (!strcmp(json_text(node, "phase"), "ready"))
			ready++;
		else if (is_final(node))
			view_say(view, "%s: %s", name, json_text(node, "text"));
		else
			view_say(view,
				 "%s: out of reach; it gets the image when it "
				 "is back",
				 name);
	}
	view_say(view, "%s: on %zu of %zu nodes", json_text(image, "image"),
		 ready, count);
	return ready == count ? EXIT_GOOD : EXIT_WORK_FAILED;
}

static void name_of(const struct recipe *recipe, char *name, size_t size)
{
	const struct recipe_image *image = &recipe->images[0];

	snprintf(name, size, "%s%s",
		 image->tags.count ? image->tags.items[0] : image->id,
		 recipe->images_count > 1 ? " and others" : "");
}

static int load(struct cli *cli, struct error *err)
{
	owned(image_file_free) struct image_file *file = NULL;
	owned(client_free) struct client *client = NULL;
	owned(interrupts_clear) struct interrupts interrupts = { 0 };
	owned(answer_clear) struct answer answer = { 0 };
	owned(view_clear) struct view view = { 0 };
	char order[CONTENT_HASH_SIZE], name[300];
	const cJSON *image;
	int code;

	if (view_init(&view, cli, err) < 0)
		return -1;
	view_stage(&view, "reading");
	file = image_file_open(cli->args[1], view_draw, &view, err);
	if (!file)
		return -1;
	client = view.client = cli_connect(cli, err);
	if (!client)
		return -1;
	view_stage(&view, "sending");
	if (image_file_send(file, client, view_draw, &view, order, err) < 0)
		return -1;
	name_of(image_file_recipe(file), name, sizeof(name));
	view_stage(&view, "nodes  ");
	client_set_patient(client, ignore_notice, &view);
	if (interrupts_init(&interrupts, client_loop(client), on_interrupt,
			    &view, err) < 0 ||
	    send_order(&view, "load", order, name, err) < 0 ||
	    watch_order(&view, order, &answer, err) < 0)
		return -1;
	image = json_get(answer.body, "image");
	code = tell_nodes(&view, image);
	if (cli_format(cli, "json") && cli_print_json(cli, image, err) < 0)
		return -1;
	return code;
}

/* save */

static bool ends_with(const char *text, const char *end)
{
	size_t size = strlen(text), length = strlen(end);

	return size > length && !strcmp(text + size - length, end);
}

/* Copy the tar file, packed as the name says. */
static int pack_file(int from, int to, const char *name, struct error *err)
{
	struct archive *out = archive_write_new();
	struct archive_entry *entry = archive_entry_new();
	owned_free char *piece = malloc(1 << 18);
	ssize_t got = 1;
	int rc = ARCHIVE_FATAL;

	if (out && entry && piece) {
		rc = archive_write_set_format_raw(out);
		if (rc == ARCHIVE_OK && ends_with(name, ".zst"))
			rc = archive_write_add_filter_zstd(out);
		else if (rc == ARCHIVE_OK && ends_with(name, ".gz"))
			rc = archive_write_add_filter_gzip(out);
		if (rc == ARCHIVE_OK)
			rc = archive_write_open_fd(out, to);
		archive_entry_set_filetype(entry, AE_IFREG);
		archive_entry_set_pathname(entry, "image");
		if (rc == ARCHIVE_OK)
			rc = archive_write_header(out, entry);
	}
	while (rc == ARCHIVE_OK && (got = read(from, piece, 1 << 18)) > 0)
		if (archive_write_data(out, piece, (size_t)got) != got)
			rc = ARCHIVE_FATAL;
	if (rc == ARCHIVE_OK && got == 0)
		rc = archive_write_close(out);
	if (rc != ARCHIVE_OK || got < 0)
		error_set(err, EIO, "%s: %s", name,
			  out && archive_error_string(out)
				  ? archive_error_string(out)
				  : strerror(errno));
	archive_entry_free(entry);
	archive_write_free(out);
	return rc != ARCHIVE_OK || got < 0 ? -1 : 0;
}

static int fetch_saved(struct view *view, const char *hash, const char *name,
		       struct error *err)
{
	char path[PATH_MAX], plain[PATH_MAX];
	bool packed = ends_with(name, ".zst") || ends_with(name, ".gz");
	owned_fd int to = -1, from = -1;
	int rc;

	if (snprintf(path, sizeof(path), "%s.part", name) >= PATH_MAX ||
	    snprintf(plain, sizeof(plain), "%s.tar.part", name) >= PATH_MAX)
		return error_set(err, ENAMETOOLONG, "%.100s", name);
	to = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (to < 0)
		return error_errno(err, "%s", path);
	from = packed ? open(plain, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC,
			     0600)
		      : dup(to);
	if (from < 0)
		return error_errno(err, "%s", plain);
	unlink(plain);
	rc = transfer_get(view->client, hash, from, view_draw, view, err);
	if (rc == 0 && packed) {
		lseek(from, 0, SEEK_SET);
		rc = pack_file(from, to, name, err);
	}
	if (rc == 0 && rename(path, name) < 0)
		rc = error_errno(err, "%s", name);
	if (rc < 0)
		unlink(path);
	return rc;
}

static int save(struct cli *cli, struct error *err)
{
	owned(client_free) struct client *client = cli_connect(cli, err);
	owned(interrupts_clear) struct interrupts interrupts = { 0 };
	owned(answer_clear) struct answer answer = { 0 };
	owned(view_clear) struct view view = { 0 };
	char order[CONTENT_HASH_SIZE], size[HUMAN_SIZE];
	unsigned char random[32];
	const cJSON *image, *node;
	const char *content;

	if (!client || view_init(&view, cli, err) < 0)
		return -1;
	view.client = client;
	randombytes_buf(random, sizeof(random));
	sodium_bin2hex(order, sizeof(order), random, sizeof(random));
	view_stage(&view, "node   ");
	client_set_patient(client, ignore_notice, &view);
	if (interrupts_init(&interrupts, client_loop(client), on_interrupt,
			    &view, err) < 0 ||
	    send_order(&view, "save", order, cli->args[1], err) < 0 ||
	    watch_order(&view, order, &answer, err) < 0)
		return -1;
	image = json_get(answer.body, "image");
	content = json_text(image, "content");
	if (!*content) {
		cJSON_ArrayForEach(node, json_list(image, "nodes"))
		{
			view_say(&view, "%s: %s", json_text(node, "name"),
				 *json_text(node, "text")
					 ? json_text(node, "text")
					 : json_text(node, "phase"));
		}
		return error_set(err, EIO, "%s was not saved: no node has it",
				 cli->args[1]);
	}
	view_stage(&view, "getting");
	if (fetch_saved(&view, content, cli->args[2], err) < 0)
		return -1;
	view_say(&view, "%s: %s, to %s", cli->args[1],
		 human_bytes(json_u64(image, "bytes"), size), cli->args[2]);
	return EXIT_GOOD;
}

int command_image(struct cli *cli, struct error *err)
{
	static const struct {
		const char *name;
		size_t args;
		const char *usage;
		command_fn *fn;
	} actions[] = {
		{ "load", 2, "load FILE", load },
		{ "save", 3, "save IMAGE FILE", save },
	};

	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
		if (strcmp(cli->args[0], actions[i].name) != 0)
			continue;
		if (cli->arg_count == actions[i].args)
			return actions[i].fn(cli, err);
		return error_set(err, EINVAL, "image: allowed is: image %s",
				 actions[i].usage);
	}
	return error_set(err, EINVAL,
			 "image: found '%.60s', allowed: load, "
			 "save",
			 cli->args[0]);
}
