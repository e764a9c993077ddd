/* node_settings.c - drains, labels and the key of a node, and its row in the
 * store.
 */
#include "controller/nodes/node_internal.h"
#include "controller/store/store.h"
#include "protocol/base/buffer.h"
#include "protocol/base/error.h"
#include "protocol/base/log.h"
#include "protocol/wire/key.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Labels of nodes: key=value texts by which sweeps choose nodes.
 *
 * Key and value contain no blanks and no commas, so that lists of labels need
 * no quotes.
 */

#define LABELS_MAX 64 /* of one node */

static int label_check(const cJSON *label, struct error *err)
{
	const char *value = cJSON_GetStringValue(label);

	if (!name_valid(label->string))
		return error_set(err, EINVAL,
				 "label: '%.80s' is not valid here; expected "
				 "letters, digits, '.', '_' and '-'",
				 label->string);
	if (!strcmp(label->string, "node"))
		return error_set(err, EINVAL,
				 "label: 'node' is not valid here; each node "
				 "has it, with its name");
	if (cJSON_IsNull(label) ||
	    (value && *value && !strpbrk(value, ", \t\n") &&
	     strlen(value) < KEY_NAME_SIZE))
		return 0;
	return error_set(err, EINVAL,
			 "label %s: expected a text of up to %d bytes without "
			 "blanks and commas",
			 label->string, KEY_NAME_SIZE - 1);
}

static int labels_merge_change(cJSON *to, const cJSON *change,
			       struct error *err)
{
	const cJSON *label;

	cJSON_ArrayForEach(label, change) {
		if (label_check(label, err) < 0)
			return -1;
		cJSON_DeleteItemFromObjectCaseSensitive(to, label->string);
		if (cJSON_IsString(label) &&
		    !cJSON_AddStringToObject(to, label->string,
					     label->valuestring))
			return error_nomem(err, "labels");
	}
	if (cJSON_GetArraySize(to) > LABELS_MAX)
		return error_set(err, E2BIG,
				 "labels: a node has %d labels; expected at "
				 "most "
				 "%d",
				 cJSON_GetArraySize(to), LABELS_MAX);
	return 0;
}

/* A new object: `now` (NULL: none) with the texts of `change` set and its nulls
 * removed. NULL with *err set: EINVAL, E2BIG, ENOMEM.
 */
static cJSON *labels_merge(const cJSON *now, const cJSON *change,
			   struct error *err)
{
	cJSON *to = now ? cJSON_Duplicate(now, true) : cJSON_CreateObject();

	if (!to)
		return error_null(error_nomem(err, "labels"));
	if (labels_merge_change(to, change, err) == 0)
		return to;
	cJSON_Delete(to);
	return NULL;
}

/* ",key=value,key=value,", the form of a slot's labels (scheduler.h); NULL:
 * none, or ENOMEM. The caller frees it.
 */
static char *labels_text(const cJSON *labels)
{
	owned(buffer_clear) struct buffer text =
		BUFFER_INIT((size_t)LABELS_MAX * 3 * KEY_NAME_SIZE);
	const cJSON *label;

	cJSON_ArrayForEach(label, labels)
		if (cJSON_IsString(label) &&
		    buffer_printf(&text, NULL, "%s%s=%s,", text.size ? "" : ",",
				  label->string, label->valuestring) < 0)
			return NULL;
	return text.size ? strdup(text.data) : NULL;
}

#define INVENTORY "inventory" /* in the row, beside the facts */
#define HEALTH "health"       /* in its settings */

static bool drained_at(const struct node *node, int64_t now_ms)
{
	return node->view.drain && node->view.drain_from_ms <= now_ms &&
	       (!node->view.drain_until_ms ||
		now_ms < node->view.drain_until_ms);
}

static int64_t node_settings_get_number(const cJSON *object, const char *name)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);

	return cJSON_IsNumber(item) ? (int64_t)item->valuedouble : 0;
}

void node_bind(struct node *node, const char *key, const char *machine)
{
	snprintf(node->view.key, sizeof(node->view.key), "%s", key);
	free(node->view.machine);
	node->view.machine = machine ? strdup(machine) : NULL;
}

static void settings_load(struct node *node, const char *text)
{
	cJSON *settings = codec_parse(text, strlen(text), NULL);
	const cJSON *reason =
		cJSON_GetObjectItemCaseSensitive(settings, "reason");
	const char *key = cJSON_GetStringValue(
		cJSON_GetObjectItemCaseSensitive(settings, "key"));
	const char *machine = cJSON_GetStringValue(
		cJSON_GetObjectItemCaseSensitive(settings, "machine"));
	const cJSON *health;

	node->view.drain_from_ms =
		node_settings_get_number(settings, "from_ms");
	node->view.drain_until_ms =
		node_settings_get_number(settings, "until_ms");
	node->view.until_ms = node_settings_get_number(settings, "leaves_ms");
	if (cJSON_IsString(reason))
		node->view.reason = strdup(reason->valuestring);
	node->view.labels =
		cJSON_DetachItemFromObjectCaseSensitive(settings, "labels");
	node->label_text = labels_text(node->view.labels);
	if (key && machine)
		node_bind(node, key, machine);
	health = cJSON_GetObjectItemCaseSensitive(settings, HEALTH);
	if (health)
		codec_from_other(&node_health_schema, health,
				 &node->view.health, NULL);
	cJSON_Delete(settings);
}

static cJSON *settings_json(const struct node *node)
{
	cJSON *settings = cJSON_CreateObject();

	cJSON_AddNumberToObject(settings, "from_ms",
				(double)node->view.drain_from_ms);
	cJSON_AddNumberToObject(settings, "until_ms",
				(double)node->view.drain_until_ms);
	cJSON_AddNumberToObject(settings, "leaves_ms",
				(double)node->view.until_ms);
	if (node->view.reason)
		cJSON_AddStringToObject(settings, "reason", node->view.reason);
	if (node->view.labels)
		cJSON_AddItemToObject(settings, "labels",
				      cJSON_Duplicate(node->view.labels, true));
	if (node->view.machine) {
		cJSON_AddStringToObject(settings, "key", node->view.key);
		cJSON_AddStringToObject(settings, "machine",
					node->view.machine);
	}
	if (node->view.health.failed_ms)
		cJSON_AddItemToObject(settings, HEALTH,
				      codec_object(&node_health_schema,
						   &node->view.health, NULL));
	return settings;
}

struct loading {
	struct nodes *nodes;
	struct error *err;
};

static int load_row(const struct node_row *row, void *arg)
{
	struct loading *loading = arg;
	struct node *node = node_get(loading->nodes, row->name, loading->err);
	cJSON *inventory;

	if (!node)
		return -1;
	node->view.removed = false;
	node->view.drain = row->drained;
	if (row->settings)
		settings_load(node, row->settings);
	node->view.drained =
		drained_at(node, effects_wall_ms(loading->nodes->effects));
	node->view.seen_ms = row->seen_ms;
	if (row->facts)
		node->view.facts =
			codec_parse(row->facts, strlen(row->facts), NULL);
	inventory = cJSON_DetachItemFromObjectCaseSensitive(node->view.facts,
							    INVENTORY);
	node_devices_load(node, inventory);
	cJSON_Delete(inventory);
	return 0;
}

int node_load(struct nodes *nodes, struct error *err)
{
	struct loading loading = { nodes, err };

	return store_nodes(nodes->store, load_row, &loading, err);
}

int node_save(struct nodes *nodes, const struct node *node, struct error *err)
{
	cJSON *both = node->view.facts ? cJSON_Duplicate(node->view.facts, true)
				       : cJSON_CreateObject();
	char *facts =
		cJSON_AddItemToObject(both, INVENTORY, node_devices_json(node))
			? cJSON_PrintUnformatted(both)
			: NULL;
	cJSON *said = settings_json(node);
	char *settings = cJSON_PrintUnformatted(said);
	struct node_row row = {
		.name = node->view.name,
		.drained = node->view.drain,
		.facts = facts,
		.seen_ms = node->view.seen_ms,
		.settings = settings,
	};
	int rc = store_put_node(nodes->store, &row, err);

	cJSON_Delete(both);
	cJSON_Delete(said);
	cJSON_free(facts);
	cJSON_free(settings);
	return rc;
}

void node_tell(struct nodes *nodes, struct node *node)
{
	node_refresh(nodes, node);
	changes_progress(nodes->changes);
}

/* Set its drain, and store it; reason is moved. */
static int set_drain(struct nodes *nodes, struct node *node, bool drain,
		     int64_t from_ms, int64_t until_ms, char *reason,
		     struct error *err)
{
	const struct node_view was = node->view;

	node->view.drain = drain;
	node->view.drain_from_ms = from_ms;
	node->view.drain_until_ms = until_ms;
	node->view.reason = reason;
	if (node_save(nodes, node, err) < 0) {
		node->view.drain = was.drain;
		node->view.drain_from_ms = was.drain_from_ms;
		node->view.drain_until_ms = was.drain_until_ms;
		node->view.reason = was.reason;
		free(reason);
		return -1;
	}
	free(was.reason);
	node->view.drained = drained_at(node, effects_wall_ms(nodes->effects));
	node_tell(nodes, node);
	return 0;
}

int node_drain(struct nodes *nodes, struct node *node, int64_t from_ms,
	       int64_t until_ms, const char *reason, struct error *err)
{
	int64_t now_ms = effects_wall_ms(nodes->effects);
	char *copy = reason ? strdup(reason) : NULL;

	if (until_ms && (until_ms <= now_ms || until_ms <= from_ms)) {
		free(copy);
		return error_set(err, EINVAL,
				 "until: the time is in the past, or before "
				 "the start");
	}
	if (reason && !copy)
		return error_nomem(err, "node");
	return set_drain(nodes, node, true, from_ms, until_ms, copy, err);
}

int node_undrain(struct nodes *nodes, struct node *node, struct error *err)
{
	struct node_health was = node->view.health;

	node->view.health = (struct node_health){ 0 };
	if (set_drain(nodes, node, false, 0, 0, NULL, err) < 0) {
		node->view.health = was;
		return -1;
	}
	codec_clear(&node_health_schema, &was);
	return 0;
}

void node_settle(struct nodes *nodes, struct node *node, int64_t now_ms)
{
	bool drained = drained_at(node, now_ms);
	bool pauses = node_health_pauses(&node->view.health, now_ms);

	if (drained == node->view.drained &&
	    pauses == node_slot(nodes, node)->paused)
		return;
	node->view.drained = drained;
	node_tell(nodes, node);
}

/* Health. */

static void health_log(const struct node *node, bool was_on_probation)
{
	const struct node_health *health = &node->view.health;

	if (health->probation_ms && !was_on_probation)
		log_warning("node=%s is on probation: %s: %s", node_name(node),
			    health->failure, health->text ? health->text : "");
	else if (!health->probation_ms && was_on_probation)
		log_info("node=%s is not on probation any more",
			 node_name(node));
}

/* Its health is now this one, which is moved, if that can be stored. */
static void health_store(struct nodes *nodes, struct node *node,
			 struct node_health *now)
{
	struct node_health was = node->view.health;

	node->view.health = *now;
	if (node->view.removed || node_save(nodes, node, NULL) < 0) {
		node->view.health = was;
		codec_clear(&node_health_schema, now);
		return;
	}
	health_log(node, was.probation_ms);
	codec_clear(&node_health_schema, &was);
	node_tell(nodes, node);
}

bool node_lost_task(struct node *node, uint64_t sweep)
{
	bool other = node->lost_sweep && node->lost_sweep != sweep;

	node->lost_sweep = sweep;
	return other || node->view.engine_away.text;
}

void node_failed(struct nodes *nodes, struct node *node, enum failure failure,
		 const char *text)
{
	struct node_health health;

	if (codec_copy(&node_health_schema, &node->view.health, &health, NULL) <
	    0)
		return;
	if (node_health_fail(&health, failure, text,
			     effects_wall_ms(nodes->effects), NULL) < 0)
		codec_clear(&node_health_schema, &health);
	else
		health_store(nodes, node, &health);
}

void node_forgiven(struct nodes *nodes, struct node *node, enum failure failure)
{
	struct node_health health;

	if (codec_copy(&node_health_schema, &node->view.health, &health, NULL) <
	    0)
		return;
	if (node_health_forgive(&health, failure))
		health_store(nodes, node, &health);
	else
		codec_clear(&node_health_schema, &health);
}

void node_succeeded(struct nodes *nodes, struct node *node, bool ended)
{
	struct node_health health;

	if (ended)
		node->lost_sweep = 0;
	if (!node_health_failures(&node->view.health) ||
	    codec_copy(&node_health_schema, &node->view.health, &health, NULL) <
		    0)
		return;
	if (node_health_succeed(&health, ended))
		health_store(nodes, node, &health);
	else
		codec_clear(&node_health_schema, &health);
}

int node_label(struct nodes *nodes, struct node *node, const cJSON *labels,
	       struct error *err)
{
	cJSON *was = node->view.labels, *now = labels_merge(was, labels, err);

	if (!now)
		return -1;
	node->view.labels = now;
	if (node_save(nodes, node, err) < 0) {
		node->view.labels = was;
		cJSON_Delete(now);
		return -1;
	}
	cJSON_Delete(was);
	/* Without memory it has none, so that no job runs there wrongly. */
	free(node->label_text);
	node->label_text = labels_text(now);
	node_tell(nodes, node);
	return 0;
}

int64_t node_label_ms(const struct node *node, const char *label)
{
	const char *text = cJSON_GetStringValue(
		cJSON_GetObjectItemCaseSensitive(node->view.labels, label));

	return text ? strtoll(text, NULL, 10) * 1000 : 0;
}

int node_remove(struct nodes *nodes, struct node *node, struct error *err)
{
	if (store_remove_node(nodes->store, node->view.name, err) < 0)
		return -1;
	node->view.removed = true;
	free(node->view.reason);
	node->view.reason = NULL;
	node->view.drain = node->view.drained = false;
	codec_clear(&node_health_schema, &node->view.health);
	node_bind(node, "", NULL);
	cJSON_Delete(node->view.labels);
	node->view.labels = NULL;
	free(node->label_text);
	node->label_text = NULL;
	/* No job waits for it any more. */
	node_slot(nodes, node)->devices = 0;
	node_refresh(nodes, node);
	return 0;
}
