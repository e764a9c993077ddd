/* straggler.c - which node or device of a gang the others wait for.
 */
#include "controller/results/straggler.h"
#include "controller/results/steady.h"
#include "controller/results/usage_internal.h"

#include <math.h>
#include <stdlib.h>

#define SLICES 16 /* of the time, each of which is looked at for itself */
#define KNOWN_SLICES 4
#define SAME_CLOCK 1.01

/* The mean power and clock of a node or device in each slice; NAN: one was not
 * read.
 */
struct member {
	const struct usage *of;
	int64_t device; /* -1: all of the node */
	size_t devices;
	double power_w[SLICES], clock_mhz[SLICES];
};

struct members {
	struct member *list; /* of all devices */
	size_t count;
	struct usage_span span;
	double *room; /* for the values of all members */
};

static const struct curve *curve_of(const struct usage_device *device,
				    enum reading reading)
{
	for (size_t i = 0; device->curves && i < CURVES; i++)
		if (usage_curve_readings[i] == reading)
			return &device->curves[i];
	return NULL;
}

static double curve_time(const struct curve *curve, uint32_t point)
{
	return (double)curve->from_ms +
	       (2.0 * point + 1) * (double)curve->stretch_ms / 2;
}

/* The mean in each slice of the span; NAN: none. Agents tell the times: they
 * may be any.
 */
static void curve_slice(const struct curve *curve,
			const struct usage_span *span, double to[SLICES])
{
	double sum[SLICES] = { 0 }, count[SLICES] = { 0 };
	double begin = (double)span->from_ms;
	double whole = (double)span->to_ms - begin;

	for (uint32_t i = 0; curve && whole > 0 && i < curve->points; i++) {
		double at = (curve_time(curve, i) - begin) * SLICES / whole;

		if (!(at >= 0 && at < SLICES))
			continue;
		sum[(size_t)at] += curve->sum[i];
		count[(size_t)at] += curve->count[i];
	}
	for (size_t i = 0; i < SLICES; i++)
		to[i] = count[i] > 0 ? sum[i] / count[i] : (double)NAN;
}

/* The later half of the time in which power was read. */
static struct usage_span later_half(const struct usage *const *streams,
				    size_t count)
{
	struct usage_span span = { INT64_MAX, INT64_MIN };

	for (size_t i = 0; i < count; i++)
		for (size_t d = 0; streams[i] && d < streams[i]->devices_count;
		     d++) {
			const struct course *rows =
				&streams[i]->devices[d].power;

			if (!rows->count)
				continue;
			if (rows->first_ms < span.from_ms)
				span.from_ms = rows->first_ms;
			if (rows->last_ms > span.to_ms)
				span.to_ms = rows->last_ms;
		}
	if (span.from_ms < span.to_ms)
		span.from_ms = span.from_ms / 2 + span.to_ms / 2;
	return span;
}

static void member_take(struct members *members, const struct usage *of,
			const struct usage_device *device)
{
	struct member *to = &members->list[members->count++];

	*to = (struct member){ .of = of,
			       .device = device->index,
			       .devices = 1 };
	curve_slice(curve_of(device, READING_POWER_W), &members->span,
		    to->power_w);
	curve_slice(curve_of(device, READING_CLOCK_MHZ), &members->span,
		    to->clock_mhz);
}

/* All devices, which are sorted by their nodes. ENOMEM. */
static int members_take(struct members *members,
			const struct usage *const *streams, size_t count,
			struct error *err)
{
	size_t devices = 0;

	for (size_t i = 0; i < count; i++)
		devices += streams[i] ? streams[i]->devices_count : 0;
	members->list = calloc(devices + 1, sizeof(*members->list));
	members->room = calloc(devices + 1, sizeof(*members->room));
	if (!members->list || !members->room)
		return error_nomem(err, "usage");
	for (size_t i = 0; i < count; i++)
		for (size_t d = 0; streams[i] && d < streams[i]->devices_count;
		     d++)
			member_take(members, streams[i],
				    &streams[i]->devices[d]);
	return 0;
}

static void members_clear(struct members *members)
{
	free(members->list);
	free(members->room);
}
OWNED_VALUE(struct members, members_clear)

/* The devices of each node as one member. */
static void members_join(struct members *members)
{
	size_t count = 0;

	for (size_t i = 0; i < members->count; i++) {
		const struct member *from = &members->list[i];
		struct member *to = &members->list[count ? count - 1 : 0];

		if (!count || to->of != from->of) {
			members->list[count] = *from;
			members->list[count++].device = -1;
			continue;
		}
		to->devices++;
		for (size_t s = 0; s < SLICES; s++) {
			double share = 1 / (double)to->devices;

			to->power_w[s] +=
				(from->power_w[s] - to->power_w[s]) * share;
			to->clock_mhz[s] +=
				(from->clock_mhz[s] - to->clock_mhz[s]) * share;
		}
	}
	members->count = count;
}

/* The median of all members but one in a slice: of their power or clock. NAN:
 * one was not read.
 */
static double peers_median(const struct members *members, size_t but,
			   size_t slice, bool power)
{
	size_t count = 0;

	for (size_t i = 0; i < members->count; i++) {
		const struct member *of = &members->list[i];
		double value =
			power ? of->power_w[slice] : of->clock_mhz[slice];

		if (isnan(value))
			return NAN;
		if (i != but)
			members->room[count++] = value;
	}
	sort_values(members->room, count);
	return quantile(members->room, count, 0.5);
}

static double power_sum(const struct member *of)
{
	double sum = 0;

	for (size_t i = 0; i < SLICES; i++)
		sum += isnan(of->power_w[i]) ? 0 : of->power_w[i];
	return sum;
}

/* What the member that draws most did; numbers are sums of `slow` slices. */
struct lead {
	size_t member, known, slow;
	double more, slower;
};

static struct lead members_lead(const struct members *members)
{
	struct lead lead = { 0 };
	const struct member *most;

	for (size_t i = 1; i < members->count; i++)
		if (power_sum(&members->list[i]) >
		    power_sum(&members->list[lead.member]))
			lead.member = i;
	most = &members->list[lead.member];
	for (size_t i = 0; i < SLICES; i++) {
		double power = peers_median(members, lead.member, i, true);
		double clock = peers_median(members, lead.member, i, false);
		double own = most->power_w[i];

		if (isnan(power) || isnan(clock))
			continue;
		lead.known++;
		if (own < power * (1 + STRAGGLER_POWER_PCT / 100.0) ||
		    most->clock_mhz[i] > clock * SAME_CLOCK)
			continue;
		lead.slow++;
		lead.more += own / power - 1;
		lead.slower += 1 - power / own;
	}
	return lead;
}

/* 1: there is one. */
static int straggler_make(const struct members *members, struct straggler **to,
			  struct error *err)
{
	const struct member *of;
	struct straggler *made;
	const char *node;
	struct lead lead;
	char who[160];

	if (members->count <= STRAGGLER_PEERS)
		return 0;
	lead = members_lead(members);
	if (lead.known < KNOWN_SLICES ||
	    100 * lead.slow < STRAGGLER_SHARE_PCT * lead.known)
		return 0;
	of = &members->list[lead.member];
	node = of->of ? of->of->head.node : NULL;
	made = *to = calloc(1, sizeof(*made));
	if (!made)
		return error_nomem(err, "usage");
	made->rank = of->of->head.rank;
	made->peers = members->count - 1;
	made->slower_pct = 100 * lead.slower / (double)lead.slow;
	made->power_pct = 100 * lead.more / (double)lead.slow;
	made->time_pct = 100 * (double)lead.slow / (double)lead.known;
	snprintf(who, sizeof(who), "%.100s", node ? node : "?");
	if (of->device >= 0)
		text_append(who, sizeof(who), " device %lld",
			    (long long)of->device);
	return string_set(&made->who, who, err) < 0 ? -1 : 1;
}

int straggler_find(const struct usage *const *streams, size_t count,
		   const struct usage_span *span, struct straggler **to,
		   struct error *err)
{
	owned(members_clear) struct members devices = { 0 };
	owned(members_clear) struct members nodes = { 0 };
	int rc;

	devices.span = nodes.span = span ? *span : later_half(streams, count);
	if (members_take(&devices, streams, count, err) < 0 ||
	    members_take(&nodes, streams, count, err) < 0)
		return -1;
	members_join(&nodes);
	rc = straggler_make(&nodes, to, err);
	if (rc == 0)
		rc = straggler_make(&devices, to, err);
	if (rc < 0 && *to) {
		codec_clear(&straggler_schema, *to);
		free(take(*to));
	}
	return rc < 0 ? -1 : 0;
}
