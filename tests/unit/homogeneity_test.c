/* homogeneity_test.c - nodes of a gang that differ are told, each with what it
 * has.
 */
#include "controller/jobs/homogeneity.h"
#include "controller/results/remarks.h"

#include "tests/tap.h"
#include "controller/cluster/active_job_internal.h"
#include "controller/nodes/node_internal.h"

#include <stdlib.h>
#include <string.h>

#define NODES 6

struct bed {
	struct gang gang;
	struct task tasks[NODES];
	struct node nodes[NODES];
	struct device_info devices[NODES][2];
};

/* Nodes n0, n1 ... of two A100 each, with driver 1.0. */
static void bed_init(struct bed *bed, uint32_t nodes)
{
	*bed = (struct bed){ .gang = { .tasks = bed->tasks } };
	bed->gang.spec.nodes = nodes;
	for (uint32_t i = 0; i < nodes; i++) {
		struct node *node = &bed->nodes[i];

		snprintf(node->view.name, sizeof(node->view.name), "n%u", i);
		node->view.facts =
			cJSON_Parse("{\"driver\":\"1.0\",\"sdk\":\"7\"}");
		node->view.inventory = bed->devices[i];
		node->view.inventory_count = 2;
		for (int d = 0; d < 2; d++)
			bed->devices[i][d].chip = (char *)"A100";
		bed->tasks[i].hold.node = node;
		bed->tasks[i].rank = i;
		bed->tasks[i].hold.devices = 3;
	}
}

static void bed_clear(struct bed *bed)
{
	for (uint32_t i = 0; i < bed->gang.spec.nodes; i++) {
		cJSON_Delete(bed->nodes[i].view.facts);
		cJSON_Delete(bed->tasks[i].facts);
	}
}
OWNED_VALUE(struct bed, bed_clear)

static void drivers(void)
{
	owned(bed_clear) struct bed bed;
	struct node *odd = NULL;
	char text[400];

	bed_init(&bed, 4);
	ok(gang_alike(&bed.gang, text, sizeof(text), &odd) && !*text && !odd,
	   "nodes that are alike");
	bed.tasks[2].facts = cJSON_Parse("{\"driver\":\"2.0\"}");
	ok(!gang_alike(&bed.gang, text, sizeof(text), &odd),
	   "one has another driver, as its task found");
	is(text, "driver differs: 1.0 (n0, n1, n3); 2.0 (n2)",
	   "each driver is told, with its nodes");
	ok(odd == &bed.nodes[2], "the odd one is the one to be avoided");
	cJSON_DeleteItemFromObject(bed.nodes[0].view.facts, "driver");
	gang_alike(&bed.gang, text, sizeof(text), NULL);
	is(text, "driver differs: 1.0 (n1, n3); 2.0 (n2)",
	   "who does not tell differs from nobody");
}

static void chips(void)
{
	owned(bed_clear) struct bed bed;
	struct node *odd = NULL;
	char text[400], small[30];

	bed_init(&bed, 3);
	bed.devices[1][1].chip = NULL;
	bed.devices[1][1].name = (char *)"Other\033 card";
	ok(!gang_alike(&bed.gang, text, sizeof(text), &odd),
	   "a node has another card beside the first");
	is(text, "chip differs: A100 (n0, n1, n2); Other? card (n1)",
	   "which is told by its name, once for each node");
	ok(odd == &bed.nodes[1], "it is the odd one");
	bed.tasks[1].hold.devices = 1;
	ok(gang_alike(&bed.gang, text, sizeof(text), NULL),
	   "a card that is not held makes no difference");
	bed.nodes[2].view.inventory_count = 0;
	ok(gang_alike(&bed.gang, text, sizeof(text), NULL),
	   "nor a node of which no device is known");
	bed.devices[0][0].chip = (char *)"H800";
	bed.tasks[2].facts = cJSON_Parse("{\"driver\":\"2.0\"}");
	gang_alike(&bed.gang, text, sizeof(text), NULL);
	is(text,
	   "driver differs: 1.0 (n0, n1); 2.0 (n2); chip differs: H800 "
	   "(n0); A100 (n0, n1)",
	   "both are told");
	gang_alike(&bed.gang, small, sizeof(small), NULL);
	is_int((long long)strlen(small), sizeof(small) - 1, "cut to fit");
}

static void warnings(void)
{
	owned(bed_clear) struct bed bed;
	struct result result = { 0 };
	cJSON *list;

	bed_init(&bed, 2);
	bed.tasks[1].facts = cJSON_Parse(
		"{\"driver\":\"1.1\",\"clock\":1,\"warnings\":[\"late\",3]}");
	gang_warnings(&bed.gang, &result.flags, &result.flags_count, NULL);
	list = remarks_sentences(result.flags, result.flags_count);
	is_int(cJSON_GetArraySize(list), 2, "two warnings");
	is(cJSON_GetStringValue(cJSON_GetArrayItem(list, 0)),
	   "driver differs: 1.0 (n0); 1.1 (n1)", "what differs");
	is(cJSON_GetStringValue(cJSON_GetArrayItem(list, 1)), "n1: late",
	   "and what a node was warned of");
	cJSON_Delete(list);
	codec_clear(&result_schema, &result);
}

int main(void)
{
	tap_begin(29);
	drivers();
	chips();
	warnings();
	return tap_done();
}
