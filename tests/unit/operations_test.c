/* operations_test.c - image operations end when their nodes have said so.
 */
#include "controller/images/operations.h"

#include "controller/effects.h"
#include "controller/images/operation.h"
#include "controller/jobs/jobs.h"
#include "controller/nodes/node_internal.h"
#include "protocol/base/file.h"
#include "protocol/base/loop.h"
#include "tests/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define HEX "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde"
#define SAVE HEX "0"
#define BUILD HEX "1"
#define GC HEX "2"
#define TWICE HEX "3"
#define AWAY HEX "4"
#define LOST HEX "5"
#define PULL HEX "6"

/* Linked with -Wl,--wrap=clock_mono_ms: time that has gone by. */
static int64_t ahead_ms;

int64_t __real_clock_mono_ms(void);
int64_t __wrap_clock_mono_ms(void);

int64_t __wrap_clock_mono_ms(void)
{
	return __real_clock_mono_ms() + ahead_ms;
}

struct bed {
	struct world world;
	struct operations_config config;
	struct operations *operations;
};

static char top[] = "/tmp/carry-test-XXXXXX";

static cJSON *begin(struct bed *bed, enum image_kind kind, const char *id,
		    const char *build, const char *const *names,
		    struct error *err)
{
	const struct image_spec spec = {
		.id = (char *)id,
		.kind = kind,
		.image = (char *)"i:1",
		.build = (char *)build,
	};
	struct reply_image_operation reply = { 0 };
	struct strings nodes = { 0 };
	cJSON *body = NULL;

	for (; names && *names; names++)
		strings_add(&nodes, *names, NULL);
	if (operations_begin(bed->operations, "op", &spec, &nodes, &reply.nodes,
			     err) == 0)
		body = codec_object(&reply_image_operation_schema, &reply, err);
	strings_clear(&nodes);
	strings_clear(&reply.nodes);
	return body;
}

#define NAMES(...)                                                             \
	(const char *const[])                                                  \
	{                                                                      \
		__VA_ARGS__, NULL                                              \
	}

static cJSON *describe(struct bed *bed, const char *name, uint64_t after)
{
	const struct message_query query = { .name = (char *)name,
					     .after = after };

	struct reply_image reply = { 0 };
	cJSON *body = NULL, *image = NULL;

	if (operations_describe(bed->operations, &query, &reply.image, NULL) ==
	    0)
		body = codec_object(&reply_image_schema, &reply, NULL);
	image = cJSON_DetachItemFromObject(body, "image");
	cJSON_Delete(body);
	codec_clear(&reply_image_schema, &reply);
	return image;
}

static bool is_final(struct bed *bed, const char *name)
{
	cJSON *body = describe(bed, name, 0);
	bool final =
		cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(body, "final"));

	cJSON_Delete(body);
	return final;
}

static void report(struct bed *bed, const char *node,
		   const struct message_image_state *state)
{
	const struct schema *schema = message_kinds[MESSAGE_IMAGE_STATE].schema;
	struct message_image_state copy;

	codec_copy(schema, state, &copy, NULL);
	operations_state(bed->operations, node_find(bed->config.nodes, node),
			 &copy);
	codec_clear(schema, &copy);
}

static void says(struct bed *bed, const char *node, const char *id,
		 const char *phase, const char *output)
{
	const struct message_image_state state = {
		.operation = (char *)id,
		.progress.phase = (char *)phase,
		.output = (char *)output,
	};

	report(bed, node, &state);
}

static void test_save(struct bed *bed)
{
	struct error err = { 0 };
	cJSON *body =
		begin(bed, IMAGE_SAVE, SAVE, NULL, NAMES("n1", "n1"), &err);

	is_int(cJSON_GetArraySize(
		       cJSON_GetObjectItemCaseSensitive(body, "nodes")),
	       1, "a node that is named twice is asked once");
	cJSON_Delete(body);
	ok(!is_final(bed, SAVE), "and waited for");
	says(bed, "n2", SAVE, "failed", NULL);
	ok(!is_final(bed, SAVE), "whatever others say");
	says(bed, "n1", SAVE, "failed", NULL);
	ok(is_final(bed, SAVE), "until it has said what came of it");
	body = begin(bed, IMAGE_SAVE, SAVE, NULL, NAMES("n1", "n3"), &err);
	ok(!body && err.code == ENOENT, "a node that is not there: %s",
	   err.text);
	body = begin(bed, IMAGE_SAVE, SAVE, NULL, NAMES("n1", "n1", "n1"),
		     &err);
	ok(!body && err.code == EINVAL, "more names than nodes: %s", err.text);
}

/* Half a minute, as the controller's loop sees it. */
static void time_passes(struct bed *bed)
{
	for (int i = 0; i < 60; i++) {
		ahead_ms += 500;
		operations_tick(bed->operations);
	}
}

static void test_save_away(struct bed *bed)
{
	struct message_image_state state = { .operation = (char *)AWAY,
					     .progress.phase = (char *)"ready",
					     .content = (char *)HEX "f",
					     .progress.total_bytes = 1000 };
	struct error err = { 0 };
	cJSON *body;

	cJSON_Delete(
		begin(bed, IMAGE_SAVE, AWAY, NULL, NAMES("n1", "n2"), &err));
	report(bed, "n1", &state);
	operations_tick(bed->operations);
	ok(!is_final(bed, AWAY),
	   "a node that is away with what it saved may come back");
	time_passes(bed);
	body = describe(bed, AWAY, 0);
	ok(cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(body, "content")),
	   "or not: then it is not waited for");
	cJSON_Delete(body);
	time_passes(bed);
	ok(is_final(bed, AWAY), "and nobody has it when all are away");
}

static void test_save_lost(struct bed *bed)
{
	struct message_image_state state = { .operation = (char *)LOST,
					     .progress.phase = (char *)"ready",
					     .content = (char *)HEX "f",
					     .progress.total_bytes =
						     BLOB_BYTES_MAX + 1 };
	struct node *node = node_find(bed->config.nodes, "n1");
	struct error err = { 0 };

	cJSON_Delete(begin(bed, IMAGE_SAVE, LOST, NULL, NAMES("n1"), &err));
	node->peer = (void *)bed; /* it is only looked whether it is there */
	report(bed, "n1", &state);
	operations_tick(bed->operations);
	operations_tick(bed->operations);
	node->peer = NULL;
	ok(is_final(bed, LOST), "what cannot be got is not asked for again");
}

static void test_refusals(struct bed *bed)
{
	struct error err = { 0 };

	ok(!begin(bed, IMAGE_PRUNE, "../x", NULL, NAMES("n1"), &err) &&
		   err.code == EINVAL,
	   "an id that is none: %s", err.text);
	ok(!begin(bed, IMAGE_PRUNE, SAVE, NULL, NAMES("n1"), &err) &&
		   err.code == EEXIST,
	   "an id that another kind has: %s", err.text);
	ok(!begin(bed, IMAGE_PRUNE, GC, NULL, NULL, &err) && err.code == ENOENT,
	   "nobody to do it: %s", err.text);
}

/* Is the nth node of it in this phase, with this text? */
static bool said_of(struct bed *bed, const char *id, int nth, const char *phase,
		    const char *text)
{
	cJSON *body = describe(bed, id, 0);
	const cJSON *node =
		cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(body,
								    "nodes"),
				   nth);
	const char *told = cJSON_GetStringValue(
		cJSON_GetObjectItemCaseSensitive(node, "text"));
	bool same = !strcmp(cJSON_GetStringValue(
				    cJSON_GetObjectItemCaseSensitive(node,
								     "phase")),
			    phase) &&
		    !told == !text && (!text || !strcmp(told, text));

	cJSON_Delete(body);
	return same;
}

/* "n1:one|n2:two|": what was printed from `after` on. */
static const char *printed(struct bed *bed, uint64_t *after)
{
	static char text[200];
	cJSON *body = describe(bed, BUILD, *after);
	const cJSON *piece;

	text[0] = 0;
	cJSON_ArrayForEach(piece,
			   cJSON_GetObjectItemCaseSensitive(body, "output")) {
		size_t used = strlen(text);

		snprintf(text + used, sizeof(text) - used, "%s:%.20s|",
			 cJSON_GetStringValue(
				 cJSON_GetObjectItemCaseSensitive(piece,
								  "node")),
			 cJSON_GetStringValue(
				 cJSON_GetObjectItemCaseSensitive(piece,
								  "text")));
	}
	*after = (uint64_t)cJSON_GetObjectItemCaseSensitive(body, "after")
			 ->valuedouble;
	cJSON_Delete(body);
	return text;
}

static void test_build(struct bed *bed)
{
	const char *folder = "vendors/v/f";
	uint64_t after = 0, zero = 0;
	struct error err;
	char *large;

	cJSON_Delete(begin(bed, IMAGE_ENSURE, BUILD, folder, NAMES("n1", "n2"),
			   &err));
	ok(!is_final(bed, BUILD),
	   "a build waits a while for nodes that are away");
	says(bed, "n1", BUILD, "building", "one");
	says(bed, "n2", BUILD, "building", "two");
	is(printed(bed, &after), "n1:one|n2:two|", "what it prints is told");
	is(printed(bed, &after), "", "once");
	says(bed, "n1", BUILD, "building", "three");
	cJSON_Delete(begin(bed, IMAGE_ENSURE, BUILD, folder, NAMES("n2", "n1"),
			   &err));
	is(printed(bed, &after), "n1:three|",
	   "asked for again it goes on where it was");
	is(printed(bed, &zero), "n1:one|n2:two|n1:three|",
	   "and whoever comes later sees all");
	large = malloc(OPERATION_REPLY_MAX);
	memset(large, 'x', OPERATION_REPLY_MAX - 1);
	large[OPERATION_REPLY_MAX - 1] = 0;
	for (int i = 0; i < 5; i++)
		says(bed, "n1", BUILD, "building", large);
	free(large);
	zero = 0;
	is(printed(bed, &zero), "n1:xxxxxxxxxxxxxxxxxxxx|",
	   "of much output the oldest goes, and a piece is told at a time");
	ok(zero > 3, "that which was left out is counted");
	says(bed, "n1", BUILD, "ready", NULL);
	ok(!is_final(bed, BUILD), "one that is done leaves the other");
	time_passes(bed);
	ok(is_final(bed, BUILD), "which is not for ever");
	ok(said_of(bed, BUILD, 0, "ready", NULL) &&
		   said_of(bed, BUILD, 1, "failed",
			   "not reachable; the same command does the rest"),
	   "and named");
	cJSON_Delete(begin(bed, IMAGE_ENSURE, BUILD, folder, NAMES("n1", "n2"),
			   &err));
	says(bed, "n2", BUILD, "ready", NULL);
	says(bed, "n1", BUILD, "ready", NULL);
	ok(is_final(bed, BUILD) && said_of(bed, BUILD, 1, "ready", NULL),
	   "the same again does the rest");
}

/* Of the nodes of the operation, "n1:waiting|n2:ready|". */
static const char *phases(struct bed *bed, const char *name)
{
	static char text[200];
	cJSON *body = describe(bed, name, 0);
	const cJSON *node;

	text[0] = 0;
	cJSON_ArrayForEach(node,
			   cJSON_GetObjectItemCaseSensitive(body, "nodes")) {
		size_t used = strlen(text);

		snprintf(text + used, sizeof(text) - used, "%s:%s|",
			 cJSON_GetStringValue(
				 cJSON_GetObjectItemCaseSensitive(node,
								  "name")),
			 cJSON_GetStringValue(
				 cJSON_GetObjectItemCaseSensitive(node,
								  "phase")));
	}
	cJSON_Delete(body);
	return text;
}

static void test_twice(struct bed *bed)
{
	const char *folder = "vendors/v/f";
	struct error err;
	cJSON *body;

	cJSON_Delete(
		begin(bed, IMAGE_ENSURE, TWICE, folder, NAMES("n1"), &err));
	body = begin(bed, IMAGE_ENSURE, TWICE, folder, NAMES("n2"), &err);
	is(phases(bed, TWICE), "n1:waiting|n2:waiting|",
	   "the same for another node leaves the first one its own");
	is_int(cJSON_GetArraySize(
		       cJSON_GetObjectItemCaseSensitive(body, "nodes")),
	       1, "and whoever asks is told of his own");
	cJSON_Delete(body);
	says(bed, "n1", TWICE, "failed", NULL);
	cJSON_Delete(
		begin(bed, IMAGE_ENSURE, TWICE, folder, NAMES("n1"), &err));
	is(phases(bed, TWICE), "n1:waiting|n2:waiting|",
	   "for one that had failed it begins anew");
	says(bed, "n1", TWICE, "ready", NULL);
	says(bed, "n2", TWICE, "ready", NULL);
	ok(is_final(bed, TWICE), "until both are done");
}

static void test_gc(struct bed *bed)
{
	struct image_operation_info reply = { 0 };
	struct error err;

	cJSON_Delete(begin(bed, IMAGE_PRUNE, GC, NULL, NAMES("n1"), &err));
	ok(is_final(bed, GC),
	   "what is quick fails at once where a node is out of reach");
	ok(said_of(bed, GC, 0, "failed", "not reachable"), "and says so");
	ok(operations_describe(bed->operations,
			       &(struct message_query){ .name = (char *)"x" },
			       &reply, &err) < 0 &&
		   err.code == ENOENT,
	   "one that nobody began: %s", err.text);
}

/* A member of what is told of the only node; -1: it is not there. */
static double of_node(struct bed *bed, const char *name)
{
	cJSON *body = describe(bed, PULL, 0);
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(
		cJSON_GetObjectItemCaseSensitive(body, "nodes")->child, name);
	double value = cJSON_IsNumber(item) ? item->valuedouble
		       : cJSON_IsBool(item) ? cJSON_IsTrue(item)
					    : -1;

	cJSON_Delete(body);
	return value;
}

static void test_pull(struct bed *bed)
{
	struct message_image_state state = {
		.operation = (char *)PULL,
		.progress.phase = (char *)"pulling",
		.progress.done_bytes = 400,
		.progress.total_bytes = 1000,
		.progress.partial = true,
		.progress.rate = 100,
		.progress.layers = 1,
		.progress.layers_total = 3,
		.progress.tries = 1,
	};
	struct error err = { 0 };

	cJSON_Delete(begin(bed, IMAGE_ENSURE, PULL, NULL, NAMES("n1"), &err));
	ok(of_node(bed, "layers") < 0, "of nothing there is no progress");
	report(bed, "n1", &state);
	ok(of_node(bed, "layers") == 1 && of_node(bed, "layers_total") == 3 &&
		   of_node(bed, "rate") == 100,
	   "how far a pull is, is told");
	ok(of_node(bed, "eta_seconds") < 0 && of_node(bed, "partial") == 1,
	   "not how long it takes while sizes are not known");
	state.progress.partial = false;
	report(bed, "n1", &state);
	is_int((long long)of_node(bed, "eta_seconds"), 6, "but then");
	ahead_ms += 7000;
	report(bed, "n1", &state);
	ok(of_node(bed, "silent_seconds") >= 7 && of_node(bed, "rate") < 0 &&
		   of_node(bed, "eta_seconds") < 0,
	   "one that stands still has no rate");
	state.progress.done_bytes = 500;
	report(bed, "n1", &state);
	ok(of_node(bed, "silent_seconds") < 0 && of_node(bed, "rate") == 100,
	   "until it goes on");
	says(bed, "n1", PULL, "ready", NULL);
	ok(is_final(bed, PULL), "and is over");
}

int main(void)
{
	struct bed bed = { 0 };
	struct operations_config *config = &bed.config;
	struct changes changes = { 0 };
	struct jobs_config jobs_config = { .effects = &bed.world.effects,
					   .changes = &changes };
	struct blob_service_config blobs = { 0 };
	struct jobs *jobs;
	struct jobs_parts parts;
	struct error err = { 0 };

	tap_begin(60);
	if (!mkdtemp(top) || sd_event_new(&bed.world.loop) < 0)
		return 1;
	effects_connect(&bed.world);
	jobs = jobs_new(&jobs_config, &err);
	if (!jobs)
		return 1;
	parts = jobs_parts(jobs);
	blobs.loop = bed.world.loop;
	blobs.nodes = config->nodes = parts.nodes;
	config->images = parts.images;
	config->logins = parts.logins;
	config->changes = &changes;
	config->blobs = blob_service_new(&blobs, top, &err);
	config->fetches = config->blobs
				  ? artifact_fetches_new(bed.world.loop,
							 config->blobs, &err)
				  : NULL;
	bed.operations = config->fetches ? operations_new(config, &err) : NULL;
	if (!bed.operations)
		return 1;
	node_get(parts.nodes, "n1", NULL);
	node_get(parts.nodes, "n2", NULL);
	test_save(&bed);
	test_save_away(&bed);
	test_save_lost(&bed);
	test_refusals(&bed);
	test_build(&bed);
	test_twice(&bed);
	test_gc(&bed);
	test_pull(&bed);
	operations_free(bed.operations);
	artifact_fetches_free(config->fetches);
	blob_service_free(config->blobs);
	jobs_free(jobs);
	sd_event_unref(bed.world.loop);
	file_remove_tree(AT_FDCWD, top, NULL);
	return tap_done();
}
