/* homogeneity.c - compares the nodes of a gang, and collects their warnings.
 */
#include "controller/jobs/homogeneity.h"
#include "controller/cluster/active_job.h"
#include "controller/cluster/active_job_internal.h"
#include "controller/nodes/node.h"
#include "controller/results/remarks.h"
#include "protocol/base/printable.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define KINDS_MAX 8   /* different values in a sentence */
#define NAMES_MAX 200 /* bytes of the names of one value's nodes */
#define WORDS_MAX 400

const cJSON *task_fact(const struct task *task, const char *name)
{
	const cJSON *fact = cJSON_GetObjectItemCaseSensitive(task->facts, name);

	return fact ? fact
		    : cJSON_GetObjectItemCaseSensitive(node_view(
							       task_node(task))
							       ->facts,
						       name);
}

/* A value of the task's node, or of its device i. NULL: unknown, or the task
 * does not hold the device.
 */
typedef const char *trait_fn(const struct task *task, size_t i);

static const char *driver_of(const struct task *task, size_t i)
{
	return i ? NULL : cJSON_GetStringValue(task_fact(task, "driver"));
}

static const char *task_chip(const struct task *task, size_t i)
{
	const struct device_info *device;

	if (i >= node_view(task_node(task))->inventory_count ||
	    !(task_devices(task) >> i & 1))
		return NULL;
	device = &node_view(task_node(task))->inventory[i];
	return device->chip ? device->chip : device->name;
}

static const struct {
	const char *name;
	trait_fn *of;
	enum remark_code code;
} traits[] = {
	{ "driver", driver_of, REMARK_DRIVERS_DIFFER },
	{ "chip", task_chip, REMARK_CHIPS_DIFFER },
};

#define TRAITS (sizeof(traits) / sizeof(traits[0]))

/* The nodes that have one value. */
struct kind {
	const char *value;
	char names[NAMES_MAX];
	uint32_t count;
	struct node *first, *last;
};

static void kind_add_node(struct kind *kind, struct node *node)
{
	size_t used = strlen(kind->names);

	if (kind->last == node)
		return;
	kind->last = node;
	if (used + strlen(node_name(node)) + 8 < NAMES_MAX)
		snprintf(kind->names + used, NAMES_MAX - used, "%s%s",
			 kind->count ? ", " : "", node_name(node));
	else if (used && kind->names[used - 1] != '.')
		snprintf(kind->names + used, NAMES_MAX - used, " ...");
	kind->count++;
}

static size_t sort_out(const struct gang *gang, trait_fn *of,
		       struct kind kinds[KINDS_MAX])
{
	size_t count = 0;

	for (uint32_t r = 0; r < gang->spec.nodes; r++)
		for (size_t i = 0; i < DEVICES_MAX; i++) {
			const struct task *task = &gang->tasks[r];
			const char *value = of(task, i);
			size_t k = 0;

			while (value && k < count &&
			       strcmp(kinds[k].value, value) != 0)
				k++;
			if (!value || k == KINDS_MAX)
				continue;
			if (k == count)
				kinds[count++] = (struct kind){
					.value = value, .first = task_node(task)
				};
			kind_add_node(&kinds[k], task_node(task));
		}
	return count;
}

/* "535.1 (n1, n2); 550.2 (n3)" */
static void kinds_append(const struct kind *kinds, size_t count, char *text,
			 size_t size)
{
	for (size_t k = 0; k < count; k++)
		text_append(text, size, "%s%.100s (%s)", k ? "; " : "",
			    kinds[k].value, kinds[k].names);
	printable(text, strlen(text));
}

static struct node *odd_one(const struct kind *kinds, size_t count)
{
	size_t least = 0;

	for (size_t k = 1; k < count; k++)
		if (kinds[k].count <= kinds[least].count)
			least = k;
	return kinds[least].first;
}

bool gang_alike(const struct gang *gang, char *text, size_t size,
		struct node **odd)
{
	bool alike = true;

	text[0] = 0;
	for (size_t t = 0; t < TRAITS; t++) {
		struct kind kinds[KINDS_MAX] = { 0 };
		size_t count = sort_out(gang, traits[t].of, kinds);

		if (count < 2)
			continue;
		text_append(text, size, "%s%s differs: ", *text ? "; " : "",
			    traits[t].name);
		kinds_append(kinds, count, text, size);
		if (alike && odd)
			*odd = odd_one(kinds, count);
		alike = false;
	}
	return alike;
}

static int add_differences(const struct gang *gang, struct remark **list,
			   size_t *count, struct error *err)
{
	for (size_t t = 0; t < TRAITS; t++) {
		struct kind kinds[KINDS_MAX] = { 0 };
		size_t different = sort_out(gang, traits[t].of, kinds);
		char text[WORDS_MAX] = "";
		struct remark_said said = { .code = traits[t].code,
					    .words = { text } };

		if (different < 2)
			continue;
		kinds_append(kinds, different, text, sizeof(text));
		if (remark_add(list, count, &said, err) < 0)
			return -1;
	}
	return 0;
}

int gang_warnings(const struct gang *gang, struct remark **list, size_t *count,
		  struct error *err)
{
	const cJSON *warning;
	char text[WORDS_MAX];

	if (add_differences(gang, list, count, err) < 0)
		return -1;
	for (uint32_t i = 0; i < gang->spec.nodes; i++) {
		const struct task *task = &gang->tasks[i];
		const char *node = node_name(task_node(task));

		cJSON_ArrayForEach(warning, cJSON_GetObjectItemCaseSensitive(
						    task->facts, "warnings")) {
			if (!cJSON_IsString(warning))
				continue;
			snprintf(text, sizeof(text), "%.300s",
				 warning->valuestring);
			printable(text, strlen(text));
			if (remark_add(list, count,
				       SAID(NODE, .words = { node, text }),
				       err) < 0)
				return -1;
		}
	}
	return 0;
}
