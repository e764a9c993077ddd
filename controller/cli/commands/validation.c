/* validation.c - measures nodes with a set, and judges them by their peers.
 */
#include "controller/cli/commands/validation.h"
#include "controller/cli/commands/images.h"
#include "controller/cli/commands/results.h"
#include "controller/cli/input.h"
#include "controller/cli/logins.h"
#include "controller/cli/watch.h"
#include "controller/catalog/catalog.h"
#include "controller/nodes/node.h"
#include "protocol/base/file.h"
#include "protocol/base/list.h"
#include "protocol/message/json_get.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* Of the published peak of a chip that a good one reaches in a product of large
 * matrices: FlagPerf, base/benchmarks, has 75 % and more of its chips; others
 * publish 50 %.
 */
#define FLOOR_SHARE 0.4

#define SETTING_MAX 65536 /* bytes of the list of nodes */
#define NAMES_SHOWN 4     /* of nodes in a note */

void validation_clear(struct validation *of)
{
	acceptance_clear(&of->acceptance);
	pairs_clear(&of->pairs);
	strings_clear(&of->names);
	strings_clear(&of->vendors);
	cJSON_Delete(of->chips);
	cJSON_Delete(of->devices);
	free(of->site);
}

/* Which nodes. */

static bool named_in(const char *list, const char *name)
{
	size_t length = strlen(name);

	for (; list && *list; list += strcspn(list, ","), list += *list == ',')
		if (strcspn(list, ",") == length &&
		    !strncmp(list, name, length))
			return true;
	return false;
}

/* A name that is misspelt would leave its node out, and nobody would know. */
static int validation_check_names(const char *list, const struct rows *nodes,
				  struct error *err)
{
	for (; list && *list;
	     list += strcspn(list, ","), list += *list == ',') {
		size_t length = strcspn(list, ","), i = 0;

		while (i < nodes->count) {
			const struct node_info *node = rows_at(nodes, i);

			if (strlen(node->name) == length &&
			    !strncmp(node->name, list, length))
				break;
			i++;
		}
		if (i == nodes->count)
			return error_set(err, ENOENT,
					 "--nodes: no node '%.*s'; regatta "
					 "nodes lists all",
					 (int)(length < 60 ? length : 60),
					 list);
	}
	return 0;
}

/* Why a node takes no job now; NULL: it does. */
static const char *node_refuses(const struct node_info *node)
{
	return strcmp(node->state, "up") ? node->state
	       : node->drained           ? "drained"
	       : node->leaving           ? "leaving"
	       : node->engine_away       ? "without its engine"
					 : NULL;
}

static const char *node_vendor(const struct node_info *node)
{
	return node->vendor ? node->vendor : "";
}

/* The vendors, each once; borrowed. NULL: ENOMEM. */
static const char *validation_add_vendor(struct validation *of,
					 const char *vendor, struct error *err)
{
	for (size_t i = 0; i < of->vendors.count; i++)
		if (!strcmp(of->vendors.items[i], vendor))
			return of->vendors.items[i];
	return strings_add(&of->vendors, vendor, err) < 0
		       ? NULL
		       : of->vendors.items[of->vendors.count - 1];
}

int validation_take(struct validation *of, const struct node_info *node,
		    struct error *err)
{
	const char *why = node_refuses(node), *vendor;
	struct site_node *place;

	if (why)
		return strings_printf(&of->acceptance.notes, err,
				      "%s is %s: not measured", node->name,
				      why);
	if ((!of->chips && !(of->chips = cJSON_CreateObject())) ||
	    (!of->devices && !(of->devices = cJSON_CreateObject())) ||
	    (node->devices && !cJSON_AddStringToObject(of->devices, node->name,
						       node_vendor(node))))
		return error_nomem(err, "validation");
	if (cJSON_GetArraySize(node->chips) == 1 &&
	    !cJSON_AddStringToObject(of->chips, node->name,
				     node->chips->child->string))
		return error_nomem(err, "validation");
	vendor = validation_add_vendor(of, node_vendor(node), err);
	if (!vendor || strings_add(&of->names, node->name, err) < 0)
		return -1;
	place = LIST_ADD(of->site, of->site_count, err);
	if (!place)
		return -1;
	*place = (struct site_node){ of->names.items[of->names.count - 1],
				     vendor };
	return acceptance_add_node(&of->acceptance, node->name, err);
}

/* One sweep: the set on some nodes. */

static int set_submit(struct validation *of, const char *setting,
		      uint64_t *sweep, struct error *err)
{
	owned(input_clear) struct input input = { 0 };
	owned(answer_clear) struct answer answer = { 0 };
	struct option_list *set = &of->cli->options->set;
	const struct sweep_site site = { of->site, of->site_count };
	char token[33];
	int rc;

	if (set->count == OPTION_LIST_MAX)
		return error_set(err, E2BIG, "--set: too many");
	set->items[set->count++] = setting;
	rc = input_init_at(&input, of->cli, of->file, true, &site, err);
	set->count--;
	token_make(token);
	if (rc < 0 || input_check_jobs(&input, of->cli, err) < 0 ||
	    input_add_descriptions(&input, of->cli, of->client, err) < 0 ||
	    logins_collect(of->cli, of->client, input.sweep, &input.logins,
			   err) < 0 ||
	    input_submit(&input, of->cli, of->client, token, &answer, err) < 0)
		return -1;
	*sweep = ((const struct reply_submit *)answer.reply)->sweep;
	return acceptance_add_sweep(&of->acceptance, *sweep, err);
}

static int set_cancel(struct validation *of, uint64_t sweep)
{
	struct message_cancel message = { .kind = (char *)"sweep",
					  .id = sweep };
	owned(answer_clear) struct answer answer = { 0 };
	struct error why;

	return client_call(of->client, MESSAGE_CANCEL, &message, &answer, &why);
}

/* Run the set on these nodes, "each: [n1, n2]", and add what it measured. */
static int set_measure(struct validation *of, const char *nodes, bool pairs,
		       struct measured *to, struct error *err)
{
	owned(report_rows_clear) struct report_rows rows = { 0 };
	owned(watch_free) struct watch *watch = NULL;
	owned_free char *setting = NULL;
	uint64_t sweep = 0;

	if (asprintf(&setting, "nodes={%s}", nodes) < 0)
		return error_nomem(err, "validation");
	if (set_submit(of, setting, &sweep, err) < 0)
		return -1;
	watch = watch_new(of->cli, of->client, sweep, err);
	if (!watch)
		return -1;
	if (watch_run_until_interrupt(watch, err) < 0) {
		struct error why = *err;

		watch_free(take(watch));
		set_cancel(of, sweep);
		*err = why;
		return -1;
	}
	watch_free(take(watch));
	of->measured_s = time(NULL);
	return results_fetch(of->client, sweep, !pairs, &rows, err) < 0
		       ? -1
		       : measured_add(to, &rows, pairs, err);
}

/* "each: [n1, n2]" of these names. */
static int each_setting(const struct strings *names, struct buffer *to,
			struct error *err)
{
	if (buffer_text(to, "each: [", err) < 0)
		return -1;
	for (size_t i = 0; i < names->count; i++)
		if (buffer_printf(to, err, "%s%s", i ? ", " : "",
				  names->items[i]) < 0)
			return -1;
	return buffer_text(to, "]", err);
}

/* Each node for itself. */

/* Add the node of a unit, "n3 device 2", once. */
static int add_suspect(struct strings *to, const char *unit, struct error *err)
{
	char name[200];

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(unit, " "), unit);
	return strings_has(to, name) ? 0 : strings_add(to, name, err);
}

static int find_suspects(const struct measured *first, struct strings *to,
			 struct error *err)
{
	for (size_t i = 0; i < first->values_count; i++)
		if (first->values[i].verdict != VERDICT_GOOD &&
		    add_suspect(to, first->values[i].unit, err) < 0)
			return -1;
	for (size_t i = 0; i < first->failures_count; i++)
		if (add_suspect(to, first->failures[i].unit, err) < 0)
			return -1;
	for (size_t i = 0; i < first->losses_count; i++)
		if (first->losses[i].differs &&
		    add_suspect(to, first->losses[i].unit, err) < 0)
			return -1;
	return 0;
}

static int pause_over(sd_event_source *source, uint64_t usec, void *arg)
{
	*(bool *)arg = true;
	return 0;
}

/* Wait until the second measurement may begin; Ctrl-C ends the command. */
static int wait_again(struct validation *of, struct error *err)
{
	owned(interrupts_clear) struct interrupts interrupts = { 0 };
	int64_t left = of->measured_s + of->again_s - (int64_t)time(NULL);
	sd_event_source *timer = NULL;
	bool over = left <= 0;
	int rc = 0;

	if (over)
		return 0;
	cli_say(of->cli, "suspects are measured again in %" PRId64 " s", left);
	if (interrupts_client(&interrupts, of->client, err) < 0)
		return -1;
	rc = sd_event_add_time_relative(client_loop(of->client), &timer,
					CLOCK_MONOTONIC,
					(uint64_t)left * 1000000, 100000,
					pause_over, &over);
	if (rc < 0)
		return error_set(err, -rc, "cannot wait");
	while (!over && rc >= 0)
		rc = client_turn(of->client, err);
	sd_event_source_disable_unref(timer);
	return rc < 0 ? -1 : 0;
}

/* What a product of matrices must reach on the device of a unit, "n3 device 2",
 * by its test, "bf16_tflops"; 0: not known.
 */
static double chip_floor(const struct validation *of,
			 const struct catalog *catalog,
			 const struct peer_value *value)
{
	const char *device = strstr(value->unit, " device ");
	const char *word = strrchr(value->test, ' ');
	const char *test = word ? word + 1 : value->test;
	const char *end = strstr(test, "_tflops");
	char node[KEY_NAME_SIZE], precision[24];
	const char *name;
	const struct chip *chip;

	if (!device || !end || end[strlen("_tflops")])
		return 0;
	snprintf(node, sizeof(node), "%.*s", (int)(device - value->unit),
		 value->unit);
	snprintf(precision, sizeof(precision), "%.*s", (int)(end - test), test);
	name = json_get_text(of->chips, node);
	chip = name ? catalog_chip(catalog, NULL, name) : NULL;
	return chip ? FLOOR_SHARE * chip_peak_flops(chip, precision) / 1e12 : 0;
}

static void add_floors(const struct validation *of, struct measured *to)
{
	owned(catalog_free) struct catalog *catalog =
		cli_catalog(of->cli, NULL);

	for (size_t i = 0; catalog && i < to->values_count; i++)
		to->values[i].floor = chip_floor(of, catalog, &to->values[i]);
}

static int validate_each(struct validation *of, const struct strings *names,
			 struct error *err)
{
	owned(measured_clear) struct measured first = { 0 };
	owned(measured_clear) struct measured second = { 0 };
	owned(strings_clear) struct strings suspects = { 0 };
	owned(buffer_clear) struct buffer setting = BUFFER_INIT(SETTING_MAX);

	if (each_setting(names, &setting, err) < 0 ||
	    set_measure(of, setting.data, false, &first, err) < 0)
		return -1;
	add_floors(of, &first);
	if (peers_judge(first.values, first.values_count, err) < 0 ||
	    measured_lacking(&first, err) < 0)
		return -1;
	measured_losses(&first);
	if (find_suspects(&first, &suspects, err) < 0)
		return -1;
	if (suspects.count) {
		buffer_consume(&setting, setting.size);
		if (wait_again(of, err) < 0 ||
		    each_setting(&suspects, &setting, err) < 0 ||
		    set_measure(of, setting.data, false, &second, err) < 0 ||
		    measured_lacking_again(&first, &second, err) < 0)
			return -1;
	}
	return acceptance_add(&of->acceptance, &first,
			      suspects.count ? &second : NULL, err);
}

/* Pairs. */

static int pairs_setting(const struct validation *of, size_t from,
			 struct buffer *to, struct error *err)
{
	if (buffer_text(to, "pairs: [", err) < 0)
		return -1;
	for (size_t i = from; i < of->pairs.count; i++)
		if (buffer_printf(to, err, "%s%s+%s", i > from ? ", " : "",
				  of->names.items[of->pairs.list[i].a],
				  of->names.items[of->pairs.list[i].b]) < 0)
			return -1;
	return buffer_text(to, "]", err);
}

/* The pair of this unit, from `from` on; count: there is none. */
static size_t pair_of(const struct validation *of, size_t from,
		      const char *unit)
{
	const struct pairs *pairs = &of->pairs;

	for (; from < pairs->count; from++) {
		const char *a = of->names.items[pairs->list[from].a];

		if (!strncmp(unit, a, strlen(a)) && unit[strlen(a)] == '+' &&
		    !strcmp(unit + strlen(a) + 1,
			    of->names.items[pairs->list[from].b]))
			break;
	}
	return from;
}

/* Judge all pairs so far. The rate of a pair is its worst share of a median; a
 * pair that failed has none, and is slow.
 */
static int pairs_mark(struct validation *of, struct measured *all,
		      struct error *err)
{
	struct pairs *pairs = &of->pairs;

	if (peers_judge(all->values, all->values_count, err) < 0)
		return -1;
	for (size_t i = 0; i < pairs->count; i++) {
		pairs->list[i].rate = NAN;
		pairs->list[i].slow = false;
	}
	for (size_t i = 0; i < all->values_count; i++) {
		const struct peer_value *value = &all->values[i];
		struct node_pair *pair = &pairs->list[value->number];

		if (value->number >= pairs->count)
			continue;
		pair->rate = fmin(pair->rate, 1 - value->worse);
		pair->slow |= value->verdict != VERDICT_GOOD;
	}
	for (size_t i = 0; i < pairs->count; i++)
		pairs->list[i].slow |= isnan(pairs->list[i].rate);
	return 0;
}

static int pairs_measure(struct validation *of, size_t from,
			 struct measured *all, struct error *err)
{
	owned(buffer_clear) struct buffer setting = BUFFER_INIT(SETTING_MAX);

	if (pairs_setting(of, from, &setting, err) < 0)
		return -1;
	if (set_measure(of, setting.data, true, all, err) < 0)
		return -1;
	/* Those of this sweep: peers_judge() has sorted the others. */
	for (size_t i = 0; i < all->values_count; i++)
		if (all->values[i].number == SIZE_MAX)
			all->values[i].number =
				pair_of(of, from, all->values[i].unit);
	return pairs_mark(of, all, err);
}

static int validate_pairs(struct validation *of, bool tournament,
			  struct error *err)
{
	owned(measured_clear) struct measured all = { 0 };
	size_t from = 0;

	if (of->vendors.count > 1)
		return error_set(err, EINVAL,
				 "nodes of %s and %s do not make pairs; choose "
				 "those of one vendor with --nodes",
				 of->vendors.items[0], of->vendors.items[1]);
	if (of->names.count < 2)
		return error_set(err, EINVAL,
				 "pairs of one node are not valid here; "
				 "expected two nodes or more");
	if (pairs_init(&of->pairs, (uint32_t)of->names.count,
		       (uint64_t)time(NULL), err) < 0 ||
	    (tournament && pairs_tournament(&of->pairs, err) < 0))
		return -1;
	if (!tournament)
		pairs_next(&of->pairs);
	do {
		if (pairs_measure(of, from, &all, err) < 0)
			return -1;
		from = of->pairs.count;
	} while (pairs_next(&of->pairs));
	return acceptance_add_pairs(&of->acceptance, &of->pairs, &of->names,
				    err);
}

/* Which set. */

/* A file, or the name of one in the folder of images. */
static int set_find(struct validation *of, const char *word, struct error *err)
{
	char images[PATH_MAX];
	struct stat st;
	int length;

	if (strpbrk(word, "/.")) {
		length = snprintf(of->file, sizeof(of->file), "%s", word);
	} else {
		if (cli_images(of->cli, images, err) < 0)
			return -1;
		length = snprintf(of->file, sizeof(of->file),
				  "%.4000s/validation/%s.yaml", images, word);
	}
	if (length >= (int)sizeof(of->file) || stat(of->file, &st))
		return error_set(err, ENOENT,
				 "'%.80s' is not valid here; expected quick, "
				 "pairs, soak, devices, soak-devices, vendor, "
				 "tools, network, flagperf, full, or the file "
				 "of a set (no %.100s)",
				 word, of->file);
	return 0;
}

static struct document *set_read(struct validation *of, const char *word,
				 struct error *err)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(INPUT_MAX);

	if (set_find(of, word, err) < 0 ||
	    file_read_any(of->file, &text, err) < 0)
		return NULL;
	return document_parse(text.data, text.size, of->file, NULL, err);
}

/* Does the set measure pairs of nodes? -1: neither pairs nor each node. */
static int set_is_pairs(struct validation *of, const char *word,
			struct error *err)
{
	owned(document_free) struct document *document =
		set_read(of, word, err);
	const struct value *nodes;

	if (!document)
		return -1;
	nodes = value_get(document_root(document), "nodes");
	if (nodes && (!strcmp(value_text(nodes), "pairs") ||
		      !strcmp(value_text(nodes), "each")))
		return !strcmp(value_text(nodes), "pairs");
	return error_set(err, EINVAL,
			 "%s: nodes: expected each or pairs in a set for "
			 "validation",
			 of->file);
}

static int strings_compare(const void *a, const void *b)
{
	return strverscmp(*(char *const *)a, *(char *const *)b);
}

/* A set that names a vendor measures its nodes only. */
static int set_vendor(struct validation *of, const char *set,
		      char vendor[KEY_NAME_SIZE], struct error *err)
{
	owned(document_free) struct document *document = NULL;
	const struct value *wanted;

	vendor[0] = 0;
	if (!strcmp(set, "full"))
		return 0;
	document = set_read(of, set, err);
	if (!document)
		return -1;
	wanted = value_get(document_root(document), "vendor");
	snprintf(vendor, KEY_NAME_SIZE, "%s", wanted ? value_text(wanted) : "");
	return 0;
}

int validation_choose(struct validation *of, const char *set, const char *names,
		      struct error *err)
{
	owned(rows_clear) struct rows rows = { 0 };
	char vendor[KEY_NAME_SIZE];

	if (set_vendor(of, set, vendor, err) < 0)
		return -1;
	if (client_rows(of->client, QUERY_NODES, 0, NULL, &rows, err) < 0 ||
	    validation_check_names(names, &rows, err) < 0)
		return -1;
	for (size_t i = 0; i < rows.count; i++) {
		const struct node_info *node = rows_at(&rows, i);

		if ((!names || named_in(names, node->name)) &&
		    (!*vendor || !strcmp(node_vendor(node), vendor)) &&
		    validation_take(of, node, err) < 0)
			return -1;
	}
	if (!of->names.count)
		return error_set(err, EINVAL,
				 "no node to measure; regatta nodes lists "
				 "them");
	qsort(of->names.items, of->names.count, sizeof(char *),
	      strings_compare);
	return 0;
}

static int validate_set(struct validation *of, const char *word,
			bool tournament, struct error *err)
{
	int pairs = set_is_pairs(of, word, err);

	if (pairs < 0)
		return -1;
	return pairs ? validate_pairs(of, tournament, err)
		     : validate_each(of, &of->names, err);
}

/* The accelerators of quick, whose program needs another image than that of the
 * processors. It is not fetched in a minute.
 */

/* The image of the set devices for a vendor; NULL: there is none. */
static char *devices_image(struct validation *of, const char *vendor)
{
	owned(input_clear) struct input input = { 0 };
	owned(job_spec_clear) struct job_spec spec = { 0 };
	owned_free char *setting = NULL;
	struct option_list *set = &of->cli->options->set;
	struct error why;
	int rc;

	if (asprintf(&setting, "vendor=%s", vendor) < 0)
		return NULL;
	set->items[set->count++] = "nodes=1";
	set->items[set->count++] = setting;
	rc = input_init(&input, of->cli, of->file, false, &why);
	set->count -= 2;
	if (rc < 0 || sweep_job(input.sweep, 0, &spec, &why) < 0)
		return NULL;
	return take(spec.container.image);
}

static bool node_has_image(const struct image_operation_info *images,
			   const char *node, const char *image)
{
	for (size_t i = 0; i < images->nodes_count; i++) {
		const struct image_node *of = &images->nodes[i];

		for (size_t k = 0; k < of->images_count; k++)
			if (!strcmp(of->name, node) &&
			    image_info_is(&of->images[k], image))
				return true;
	}
	return false;
}

/* "n1, n2, n3 and 5 more: accelerators not measured: WHY". */
static int note_unmeasured(struct validation *of, const struct strings *names,
			   const char *why, struct error *err)
{
	char text[400] = "";

	for (size_t i = 0; i < names->count && i < NAMES_SHOWN; i++)
		text_append(text, sizeof(text), "%s%.40s", i ? ", " : "",
			    names->items[i]);
	if (names->count > NAMES_SHOWN)
		text_append(text, sizeof(text), " and %zu more",
			    names->count - NAMES_SHOWN);
	return strings_printf(&of->acceptance.notes, err,
			      "%s: accelerators not measured: %s", text, why);
}

/* Add the vendor's nodes that have the image to `to`. */
static int validation_choose_devices(struct validation *of, const char *vendor,
				     const struct image_operation_info *images,
				     struct strings *to, struct error *err)
{
	owned(strings_clear) struct strings others = { 0 };
	owned_free char *image = devices_image(of, vendor);
	char why[300];

	for (size_t i = 0; i < of->names.count; i++) {
		const char *node = of->names.items[i];
		const char *is = json_get_text(of->devices, node);

		if (is && !strcmp(is, vendor) &&
		    strings_add(image && node_has_image(images, node, image)
					? to
					: &others,
				node, err) < 0)
			return -1;
	}
	if (image)
		snprintf(why, sizeof(why),
			 "without %.200s; regatta validate devices gets it",
			 image);
	else
		snprintf(why, sizeof(why),
			 "the profile of %.60s names no image of PyTorch for "
			 "regatta validate devices",
			 vendor);
	return others.count ? note_unmeasured(of, &others, why, err) : 0;
}

static int ask_images(struct validation *of, struct image_view *view,
		      struct answer *answer, struct error *err)
{
	owned(buffer_clear) struct buffer names = BUFFER_INIT(SETTING_MAX);

	for (const cJSON *at = of->devices->child; at; at = at->next)
		if (buffer_printf(&names, err, "%s%s", names.size ? "," : "",
				  at->string) < 0)
			return -1;
	return images_ask(view, of->cli, names.data, answer, err);
}

static int measure_devices(struct validation *of, struct error *err)
{
	owned(image_view_clear) struct image_view view = { .client = of->client,
							   .lent = true };
	owned(answer_clear) struct answer answer = { 0 };
	owned(strings_clear) struct strings names = { 0 };
	struct error why = { 0 };

	if (set_find(of, "devices", err) < 0 ||
	    ask_images(of, &view, &answer, err) < 0)
		return -1;
	for (size_t i = 0; i < of->vendors.count; i++)
		if (validation_choose_devices(of, of->vendors.items[i],
					      image_answer(&answer), &names,
					      err) < 0)
			return -1;
	if (!names.count || validate_each(of, &names, &why) == 0)
		return 0;
	/* Such as a policy that forbids the image. */
	if (why.code != EINVAL && why.code != ENOENT && why.code != EPERM)
		return error_set(err, why.code, "%s", why.text);
	return note_unmeasured(of, &names, why.text, err);
}

/* The options --set are those of quick. */
static int validate_quick(struct validation *of, struct error *err)
{
	struct option_list kept = of->cli->options->set;
	int rc;

	if (validate_set(of, "quick", false, err) < 0)
		return -1;
	if (!cJSON_GetArraySize(of->devices))
		return 0;
	of->cli->options->set.count = 0;
	rc = measure_devices(of, err);
	of->cli->options->set = kept;
	return rc;
}

int validation_run(struct validation *of, const char *set, bool tournament,
		   struct error *err)
{
	if (string_set(&of->acceptance.set, set, err) < 0)
		return -1;
	if (strcmp(set, "quick") != 0 && strcmp(set, "full") != 0)
		return validate_set(of, set, tournament, err);
	if (validate_quick(of, err) < 0)
		return -1;
	if (!strcmp(set, "quick"))
		return 0;
	return of->names.count > 1
		       ? validate_set(of, "pairs",
				      of->names.count <= PAIRS_TOURNAMENT, err)
		       : 0;
}

int validation_label(struct validation *of, struct error *err)
{
	for (size_t i = 0; i < of->names.count; i++) {
		owned(cJSON_Delete) cJSON *labels = cJSON_CreateObject();
		owned(answer_clear) struct answer answer = { 0 };
		struct message_label message = { .node = of->names.items[i],
						 .labels = labels };
		char now[24];
		bool good;

		snprintf(now, sizeof(now), "%" PRId64, of->measured_s);
		good = acceptance_of(&of->acceptance, message.node) ==
		       VERDICT_GOOD;
		cJSON_AddStringToObject(labels,
					good ? ACCEPTED_LABEL : REJECTED_LABEL,
					now);
		cJSON_AddNullToObject(labels,
				      good ? REJECTED_LABEL : ACCEPTED_LABEL);
		if (client_call(of->client, MESSAGE_LABEL, &message, &answer,
				err) < 0)
			return -1;
	}
	return 0;
}
