/* drift.c - compares each node with the nodes like it.
 */
#include "controller/nodes/drift.h"
#include "protocol/base/list.h"
#include "protocol/base/printable.h"
#include "protocol/message/json_get.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KINDS_MAX 8 /* different values of a fact that are counted */
#define VALUE_MAX 80
#define DRIFT_IN_USE_MAX 256
#define NEAR 0.02 /* memory of equal machines differs by so much */

/* clang-format off */
static const struct {
	const char *fact;
	const char *member; /* of the object that the fact is; NULL: itself */
	const char *label;
	bool near; /* numbers that differ a little are equal */
} traits[] = {
	{ "driver", NULL, "driver", false },
	{ "sdk", NULL, "SDK", false },
	{ "kernel", NULL, "kernel", false },
	{ "os", NULL, "system", false },
	{ "engine", NULL, "engine", false },
	{ "machine", NULL, "machine", false },
	{ "bios", NULL, "BIOS", false },
	{ "cpu", NULL, "processor", false },
	{ "cpus", NULL, "number of processors", false },
	{ "numa_nodes", NULL, "number of NUMA nodes", false },
	{ "device_numa", NULL, "NUMA nodes of the devices", false },
	{ "pcie_width", NULL, "PCI Express width", false },
	{ "memory_bytes", NULL, "memory in bytes", true },
	{ "governor", NULL, "CPU governor", false },
	{ "hugepages", "total", "number of huge pages", false },
	{ "transparent_hugepages", NULL, "transparent huge pages", false },
	{ "clock", "synchronised", "synchronisation of the clock", false },
	{ "clock", "source", "clock source", false },
	{ "network", NULL, "network", false },
	{ "mtu", NULL, "MTU", false },
	{ "infiniband_firmware", NULL, "InfiniBand firmware", false },
	{ "memlock", NULL, "memlock limit", false },
	{ "shm_bytes", NULL, "shared memory in bytes", true },
};
/* clang-format on */

#define TRAITS (sizeof(traits) / sizeof(traits[0]))

struct kind {
	char value[VALUE_MAX];
	uint32_t nodes;
};

/* Nodes that are alike. */
struct alike {
	char what[VALUE_MAX];
	uint32_t known[TRAITS];
	struct kind kinds[TRAITS][KINDS_MAX];
};

struct drift {
	struct alike **list;
	size_t count;
};

struct drift *drift_new(struct error *err)
{
	struct drift *drift = calloc(1, sizeof(*drift));

	return drift ? drift : error_null(error_nomem(err, "nodes"));
}

void drift_free(struct drift *drift)
{
	if (!drift)
		return;
	for (size_t i = 0; i < drift->count; i++)
		free(drift->list[i]);
	free(drift->list);
	free(drift);
}

/* False: the fact is not known. */
static bool trait_value(const cJSON *facts, size_t trait, char value[VALUE_MAX])
{
	const cJSON *item = json_get(facts, traits[trait].fact);

	if (traits[trait].member)
		item = json_get(item, traits[trait].member);
	if (cJSON_IsString(item))
		snprintf(value, VALUE_MAX, "%s", item->valuestring);
	else if (cJSON_IsNumber(item))
		snprintf(value, VALUE_MAX, "%.15g", item->valuedouble);
	else if (cJSON_IsBool(item))
		snprintf(value, VALUE_MAX, "%s",
			 cJSON_IsTrue(item) ? "yes" : "no");
	else
		return false;
	printable(value, strlen(value));
	return *value;
}

static bool value_equal(size_t trait, const char *a, const char *b)
{
	double x = strtod(a, NULL), y = strtod(b, NULL);

	return !strcmp(a, b) ||
	       (traits[trait].near && fabs(x - y) <= NEAR * fmax(x, y));
}

static void describe(const cJSON *facts, char what[VALUE_MAX])
{
	const cJSON *count = json_get(facts, "accelerators");

	snprintf(what, VALUE_MAX, "%.0f %s",
		 cJSON_IsNumber(count) ? count->valuedouble : 0,
		 json_get_text_or_empty(facts, "accelerator"));
}

static struct alike *drift_find(const struct drift *drift, const cJSON *facts)
{
	char what[VALUE_MAX];

	describe(facts, what);
	for (size_t i = 0; i < drift->count; i++)
		if (!strcmp(drift->list[i]->what, what))
			return drift->list[i];
	return NULL;
}

static struct alike *drift_grow(struct drift *drift, const cJSON *facts)
{
	struct alike *alike = calloc(1, sizeof(*alike));
	struct alike **added =
		alike ? LIST_ADD(drift->list, drift->count, NULL) : NULL;

	if (!added) {
		free(alike);
		return NULL;
	}
	describe(facts, alike->what);
	*added = alike;
	return alike;
}

int drift_add(struct drift *drift, const cJSON *facts, struct error *err)
{
	struct alike *alike = facts ? drift_find(drift, facts) : NULL;

	if (!facts)
		return 0;
	if (!alike && !(alike = drift_grow(drift, facts)))
		return error_nomem(err, "nodes");
	for (size_t t = 0; t < TRAITS; t++) {
		struct kind *kinds = alike->kinds[t];
		char value[VALUE_MAX];
		size_t k = 0;

		if (!trait_value(facts, t, value))
			continue;
		alike->known[t]++;
		while (k < KINDS_MAX && kinds[k].nodes &&
		       !value_equal(t, kinds[k].value, value))
			k++;
		if (k == KINDS_MAX)
			continue;
		if (!kinds[k].nodes++)
			snprintf(kinds[k].value, VALUE_MAX, "%s", value);
	}
	return 0;
}

/* The value that more than half of the nodes have; NULL: there is none. */
static const struct kind *common_kind(const struct alike *alike, size_t trait)
{
	for (size_t k = 0; k < KINDS_MAX; k++)
		if (alike->known[trait] >= DRIFT_LEAST &&
		    2 * alike->kinds[trait][k].nodes > alike->known[trait])
			return &alike->kinds[trait][k];
	return NULL;
}

/* What is told whatever other nodes have. */
static int tell_alone(const cJSON *facts, struct strings *to, struct error *err)
{
	const cJSON *pending = json_get(facts, "remap_pending");
	const cJSON *tool_ms = json_get(facts, "tool_ms");
	const cJSON *apart = json_get(facts, "clock_apart_s");
	char in_use[DRIFT_IN_USE_MAX];

	if (cJSON_IsNumber(pending) && pending->valuedouble > 0 &&
	    strings_printf(to, err,
			   "memory of %.0f devices waits for a reset to be "
			   "repaired",
			   pending->valuedouble) < 0)
		return -1;
	if (cJSON_IsNumber(tool_ms) && tool_ms->valuedouble > DRIFT_TOOL_MS &&
	    strings_printf(to, err, "the vendor's tool takes %.1f s",
			   tool_ms->valuedouble / 1000) < 0)
		return -1;
	if (cJSON_IsNumber(apart) && apart->valuedouble != 0 &&
	    strings_printf(to, err, "its clock is %.0f s %s the controller's",
			   fabs(apart->valuedouble),
			   apart->valuedouble < 0 ? "ahead of" : "behind") < 0)
		return -1;
	snprintf(in_use, sizeof(in_use), "%s",
		 json_get_text_or_empty(facts, "in_use"));
	printable(in_use, strlen(in_use));
	return *in_use ? strings_printf(to, err, "the devices are in use: %s",
					in_use)
		       : 0;
}

int drift_tell(const struct drift *drift, const cJSON *facts,
	       struct strings *to, struct error *err)
{
	const struct alike *alike = facts ? drift_find(drift, facts) : NULL;

	for (size_t t = 0; alike && t < TRAITS; t++) {
		const struct kind *common = common_kind(alike, t);
		char value[VALUE_MAX];

		if (!common || !trait_value(facts, t, value) ||
		    value_equal(t, common->value, value))
			continue;
		if (strings_printf(to, err,
				   "%s: %s, but %s on %u of %u like it",
				   traits[t].label, value, common->value,
				   common->nodes, alike->known[t]) < 0)
			return -1;
	}
	return facts ? tell_alone(facts, to, err) : 0;
}
