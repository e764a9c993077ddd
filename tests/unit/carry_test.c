/* carry_test.c - orders to carry images end when their nodes have said so.
 */
#include "controller/content/carry.h"

#include "controller/cluster/node.h"
#include "protocol/file.h"
#include "tests/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define ORDER "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static cJSON *order(struct cluster *cluster, const char *const *names,
		    struct error *err)
{
	struct message_image_order message = { .what = (char *)"save",
					       .order = (char *)ORDER,
					       .image = (char *)"i:1" };
	cJSON *body;

	for (; *names; names++)
		strings_add(&message.nodes, *names, NULL);
	body = carry_order(cluster, "op", &message, err);
	strings_clear(&message.nodes);
	return body;
}

static bool is_final(struct cluster *cluster)
{
	const struct message_query query = { .name = (char *)ORDER };
	cJSON *body = carry_describe(cluster, &query, NULL);
	bool final =
		cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(body, "final"));

	cJSON_Delete(body);
	return final;
}

static void failed(struct cluster *cluster, const char *name)
{
	struct message_image_state state = { .order = (char *)ORDER,
					     .phase = (char *)"failed" };

	carry_state(cluster, node_find(cluster, name), &state);
}

int main(void)
{
	char top[] = "/tmp/carry-test-XXXXXX";
	struct cluster cluster = { 0 };
	struct error err = { 0 };
	cJSON *body;

	tap_begin(60);
	if (!mkdtemp(top) || sd_event_new(&cluster.loop) < 0)
		return 1;
	TAILQ_INIT(&cluster.gangs);
	if (stock_open(&cluster, top, &err) < 0 ||
	    carry_open(&cluster, top, &err) < 0)
		return 1;
	node_get(&cluster, "n1", NULL);
	node_get(&cluster, "n2", NULL);
	body = order(&cluster, (const char *const[]){ "n1", "n1", NULL }, &err);
	is_int(cJSON_GetArraySize(
		       cJSON_GetObjectItemCaseSensitive(body, "nodes")),
	       1, "a node that is named twice is asked once");
	cJSON_Delete(body);
	ok(!is_final(&cluster), "and waited for");
	failed(&cluster, "n2");
	ok(!is_final(&cluster), "whatever others say");
	failed(&cluster, "n1");
	ok(is_final(&cluster), "until it has said what came of it");
	body = order(&cluster, (const char *const[]){ "n1", "n3", NULL }, &err);
	ok(!body && err.code == ENOENT, "a node that is not there: %s",
	   err.text);
	body = order(&cluster, (const char *const[]){ "n1", "n1", "n1", NULL },
		     &err);
	ok(!body && err.code == EINVAL, "more names than nodes: %s", err.text);
	carry_close(&cluster);
	stock_close(&cluster);
	node_free_all(&cluster);
	sd_event_unref(cluster.loop);
	file_remove_tree(AT_FDCWD, top, NULL);
	return tap_done();
}
