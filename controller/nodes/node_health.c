/* node_health.c - counts the failures of a node's infrastructure, and says what
 * follows: a pause, and probation.
 */
#include "controller/nodes/node_health.h"

#define HOUR_MS INT64_C(3600000)
#define PAUSE_FIRST_MS INT64_C(120000)
#define PAUSE_GROWS 4

/* NULL: the class is not counted. */
static uint32_t *health_count(struct node_health *health, enum failure failure)
{
	switch (failure) {
	case FAILURE_PREFLIGHT:
		return &health->preflight;
	case FAILURE_IMAGE:
		return &health->image;
	case FAILURE_CREATE:
		return &health->create;
	case FAILURE_NODE_LOST:
		return &health->node_lost;
	default:
		return NULL;
	}
}

uint64_t node_health_failures(const struct node_health *health)
{
	return (uint64_t)health->preflight + health->image + health->create +
	       health->node_lost;
}

static void health_decay(struct node_health *health, int64_t passed_ms)
{
	int64_t hours = passed_ms / HOUR_MS;
	int shift = hours < 0 ? 0 : hours > 31 ? 31 : (int)hours;

	health->preflight >>= shift;
	health->image >>= shift;
	health->create >>= shift;
	health->node_lost >>= shift;
}

int node_health_fail(struct node_health *health, enum failure failure,
		     const char *text, int64_t now_ms, struct error *err)
{
	uint32_t *count = health_count(health, failure);
	int64_t passed_ms = now_ms - health->failed_ms;

	if (!count || (failure == FAILURE_NODE_LOST && *count &&
		       passed_ms >= 0 && passed_ms < HEALTH_EVENT_MS))
		return 0;
	if (string_set(&health->failure, failure_name(failure), err) < 0 ||
	    string_set(&health->text, text, err) < 0)
		return -1;
	health_decay(health, passed_ms);
	*count += *count < UINT32_MAX;
	health->failed_ms = now_ms;
	if (!health->probation_ms &&
	    node_health_failures(health) >= HEALTH_PROBATION)
		health->probation_ms = now_ms;
	return 0;
}

static void health_settle(struct node_health *health)
{
	if (node_health_failures(health) < HEALTH_PROBATION)
		health->probation_ms = 0;
}

bool node_health_forgive(struct node_health *health, enum failure failure)
{
	uint32_t *count = health_count(health, failure);

	if (!count || !*count)
		return false;
	--*count;
	health_settle(health);
	return true;
}

bool node_health_succeed(struct node_health *health, bool ended)
{
	uint64_t was = node_health_failures(health);

	if (!was && !health->probation_ms)
		return false;
	health->preflight = health->image = health->create = 0;
	if (ended)
		health->node_lost = 0;
	health_settle(health);
	return ended || node_health_failures(health) != was;
}

bool node_health_pauses(const struct node_health *health, int64_t now_ms)
{
	uint64_t count = node_health_failures(health);
	int64_t pause_ms = PAUSE_FIRST_MS;

	for (uint64_t i = 1; i < count && pause_ms < HOUR_MS; i++)
		pause_ms *= PAUSE_GROWS;
	if (pause_ms > HOUR_MS)
		pause_ms = HOUR_MS;
	return count && now_ms >= health->failed_ms &&
	       now_ms - health->failed_ms < pause_ms;
}
