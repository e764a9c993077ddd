/* query_replies_test.c - answers fit into messages, however much is asked for.
 */
#include "controller/api/api.h"

#include "controller/cluster/active_job.h"
#include "controller/effects.h"
#include "controller/nodes/lemons.h"
#include "controller/nodes/node_internal.h"
#include "controller/store/store.h"
#include "protocol/base/file.h"
#include "tests/tap.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define NODES 1500
#define JOBS 300
#define WORDS 20000 /* bytes in each row */

static char words[WORDS + 1];

static cJSON *words_object(void)
{
	cJSON *object = cJSON_CreateObject();

	cJSON_AddStringToObject(object, "words", words);
	return object;
}

static void add_nodes(const struct api *api)
{
	char name[16];

	for (int i = 0; i < NODES; i++) {
		struct node *node;

		snprintf(name, sizeof(name), "n%d", i);
		node = node_get(api->nodes, name, NULL);
		node->view.removed = false;
		node->view.facts = words_object();
	}
}

static void add_jobs(const struct api *api)
{
	cJSON *result = cJSON_CreateObject();
	char *json;
	struct sweep_row sweep = { .id = store_next_sweep(api->store),
				   .name = "s",
				   .client = "c t",
				   .text = "x" };

	cJSON_AddItemToObject(result, "result", words_object());
	json = cJSON_PrintUnformatted(result);
	store_put_sweep(api->store, &sweep, NULL);
	for (int i = 0; i < JOBS; i++) {
		struct job_row job = {
			.id = store_next_job(api->store),
			.sweep = sweep.id,
			.key = "k",
			.spec = "{\"cell\":\"c\",\"nodes\":1}",
			.state = JOB_COMPLETED,
			.attempt = 1,
			.first_attempt = 1,
		};
		struct result_row row = {
			.job = job.id,
			.sweep = sweep.id,
			.attempt = 1,
			.json = json,
		};

		store_put_job(api->store, &job, NULL);
		store_put_result(api->store, &row, NULL);
	}
	cJSON_free(json);
	cJSON_Delete(result);
	is_int(store_commit(api->store, NULL), 0, "jobs with results");
}

/* Ask page by page, as the command line does; how many rows there were. */
static int ask_all(const struct api *api, struct message_query query,
		   const char *list, bool *fit)
{
	bool more = true;
	int rows = 0;

	*fit = true;
	while (more) {
		struct api_request request = {
			.api = api,
			.message = &query,
		};
		owned(api_reply_clear) struct api_reply reply = { 0 };
		int rc = api_answer(&request, MESSAGE_QUERY, &reply, NULL);
		cJSON *body =
			rc < 0 ? NULL
			       : codec_object(reply.schema, reply.data, NULL);
		const cJSON *page =
			cJSON_GetObjectItemCaseSensitive(body, list);
		int count = cJSON_GetArraySize(page);
		char *text = cJSON_PrintUnformatted(body);

		*fit &= strlen(text) + 100 < MESSAGE_REPLY_MAX;
		more = count &&
		       cJSON_IsTrue(
			       cJSON_GetObjectItemCaseSensitive(body, "more"));
		rows += count;
		query.after += (uint64_t)count;
		cJSON_free(text);
		cJSON_Delete(body);
	}
	return rows;
}

int main(void)
{
	char top[] = "/tmp/questions-test-XXXXXX";
	struct world world = { 0 };
	struct changes changes = { 0 };
	struct api api = { .changes = &changes };
	bool fit;

	tap_begin(60);
	if (!mkdtemp(top))
		return 1;
	memset(words, 'w', WORDS);
	effects_connect(&world);
	api.store = store_new(top, NULL);
	api.nodes = nodes_new(&world.effects, api.store, &changes, NULL);
	api.lemons = lemons_new(NULL);
	api.table = job_table_new(NULL);
	add_nodes(&api);
	add_jobs(&api);
	is_int(ask_all(&api, (struct message_query){ .what = QUERY_NODES },
		       "nodes", &fit),
	       NODES, "all nodes are listed, page by page");
	ok(fit, "each page fits into a message, whatever nodes say");
	is_int(ask_all(&api,
		       (struct message_query){ .what = QUERY_RESULTS, .id = 1 },
		       "rows", &fit),
	       JOBS, "all results are listed");
	ok(fit, "each page fits into a message, however large they are");
	nodes_free(api.nodes);
	lemons_free(api.lemons);
	job_table_free(api.table);
	store_free(api.store);
	file_remove_tree(AT_FDCWD, top, NULL);
	return tap_done();
}
