/* queue.c - queued jobs, in lanes of equal shape.
 */
#include "controller/scheduler/scheduler_internal.h"
#include "protocol/base/list.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Does a run before b? */
static bool queued_before(const struct queued *a, const struct queued *b)
{
	if (a->priority != b->priority)
		return a->priority > b->priority;
	return a->job < b->job;
}

/* Where in the table the search for the job begins. */
static size_t home_of(const struct lane *lane, uint64_t job)
{
	/* The golden ratio: neighbours spread evenly over the high bits. */
	return (job * UINT64_C(0x9e3779b97f4a7c15)) >>
	       (63 - __builtin_ctzll(lane->room));
}

/* The job's entry in the table, or the empty one where it would be. */
static uint32_t *lane_find_place(const struct lane *lane, uint64_t job)
{
	size_t at = home_of(lane, job), mask = 2 * lane->room - 1;

	while (lane->places[at] && lane->heap[lane->places[at] - 1].job != job)
		at = (at + 1) & mask;
	return &lane->places[at];
}

/* Empty an entry; those that were pushed past it come nearer to their home. */
static void place_clear(struct lane *lane, size_t hole)
{
	size_t mask = 2 * lane->room - 1;

	for (size_t at = (hole + 1) & mask; lane->places[at];
	     at = (at + 1) & mask) {
		uint64_t job = lane->heap[lane->places[at] - 1].job;

		if (((at - home_of(lane, job)) & mask) >=
		    ((at - hole) & mask)) {
			lane->places[hole] = lane->places[at];
			hole = at;
		}
	}
	lane->places[hole] = 0;
}

static void lane_swap_entries(struct lane *lane, size_t a, size_t b)
{
	uint32_t *place_a = lane_find_place(lane, lane->heap[a].job);
	uint32_t *place_b = lane_find_place(lane, lane->heap[b].job);
	struct queued swap = lane->heap[a];

	lane->heap[a] = lane->heap[b];
	lane->heap[b] = swap;
	*place_a = (uint32_t)b + 1;
	*place_b = (uint32_t)a + 1;
}

static void sift_up(struct lane *lane, size_t at)
{
	while (at) {
		size_t above = (at - 1) / 2;

		if (!queued_before(&lane->heap[at], &lane->heap[above]))
			return;
		lane_swap_entries(lane, at, above);
		at = above;
	}
}

static void sift_down(struct lane *lane, size_t at)
{
	for (;;) {
		size_t first = at;

		for (size_t below = 2 * at + 1; below <= 2 * at + 2; below++)
			if (below < lane->count &&
			    queued_before(&lane->heap[below],
					  &lane->heap[first]))
				first = below;
		if (first == at)
			return;
		lane_swap_entries(lane, at, first);
		at = first;
	}
}

static void heap_remove(struct lane *lane, size_t at)
{
	size_t last = lane->count - 1;

	if (at != last)
		lane_swap_entries(lane, at, last);
	place_clear(lane, (size_t)(lane_find_place(lane, lane->heap[last].job) -
				   lane->places));
	lane->count--;
	if (at != last) {
		sift_up(lane, at);
		sift_down(lane, at);
	}
}

static int lane_grow(struct lane *lane)
{
	size_t room = lane->room ? lane->room * 2 : 16;
	uint32_t *places = calloc(2 * room, sizeof(*places));
	struct queued *heap =
		places && room <= UINT32_MAX
			? realloc(lane->heap, room * sizeof(*heap))
			: NULL;

	if (!heap) {
		free(places);
		return -1;
	}
	free(lane->places);
	lane->places = places;
	lane->heap = heap;
	lane->room = room;
	for (size_t i = 0; i < lane->count; i++)
		*lane_find_place(lane, heap[i].job) = (uint32_t)i + 1;
	return 0;
}

void lane_pop(struct lane *lane)
{
	heap_remove(lane, 0);
}

struct queue *queue_new(struct error *err)
{
	struct queue *queue = calloc(1, sizeof(*queue));

	if (!queue)
		error_nomem(err, "queue");
	return queue;
}

static void lane_clear(struct lane *lane)
{
	free((char *)lane->shape.vendor);
	free((char *)lane->shape.chip);
	free((char *)lane->shape.labels);
	free((uint32_t *)lane->shape.pins);
	free(lane->heap);
	free(lane->places);
}

void queue_free(struct queue *queue)
{
	if (!queue)
		return;
	for (size_t i = 0; i < queue->count; i++)
		lane_clear(&queue->lanes[i]);
	free(queue->lanes);
	free(queue);
}

void queue_trim(struct queue *queue)
{
	for (size_t i = queue->count; i-- > 0;) {
		struct lane *lane = &queue->lanes[i];

		if (!lane->shape.pins || lane->count)
			continue;
		lane_clear(lane);
		*lane = queue->lanes[--queue->count];
	}
}

static bool lane_text_matches(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static bool same_pins(const struct shape *a, const struct shape *b)
{
	return a->pins_count == b->pins_count && !a->pins == !b->pins &&
	       (!a->pins ||
		!memcmp(a->pins, b->pins, a->pins_count * sizeof(*a->pins)));
}

static struct lane *lane_find(struct queue *queue, const struct shape *shape)
{
	for (size_t i = 0; i < queue->count; i++) {
		struct shape *other = &queue->lanes[i].shape;

		if (other->nodes == shape->nodes &&
		    other->devices == shape->devices &&
		    other->shared == shape->shared && same_pins(other, shape) &&
		    lane_text_matches(other->vendor, shape->vendor) &&
		    lane_text_matches(other->chip, shape->chip) &&
		    lane_text_matches(other->labels, shape->labels))
			return &queue->lanes[i];
	}
	return NULL;
}

static struct lane *lane_add(struct queue *queue, const struct shape *shape)
{
	owned_free char *vendor = strdup(shape->vendor);
	owned_free char *chip = shape->chip ? strdup(shape->chip) : NULL;
	owned_free char *labels = shape->labels ? strdup(shape->labels) : NULL;
	size_t bytes = shape->pins_count * sizeof(*shape->pins);
	owned_free uint32_t *pins = shape->pins ? malloc(bytes + 1) : NULL;
	struct lane *lane;

	if (!vendor || (shape->chip && !chip) || (shape->labels && !labels) ||
	    (shape->pins && !pins))
		return NULL;
	if (pins)
		memcpy(pins, shape->pins, bytes);
	lane = LIST_ADD(queue->lanes, queue->count, NULL);
	if (!lane)
		return NULL;
	lane->shape = *shape;
	lane->shape.vendor = take(vendor);
	lane->shape.chip = take(chip);
	lane->shape.labels = take(labels);
	lane->shape.pins = take(pins);
	return lane;
}

int queue_add(struct queue *queue, const struct shape *shape, uint64_t job,
	      int64_t priority, struct error *err)
{
	struct lane *lane = lane_find(queue, shape);
	uint32_t *place;

	if (!lane)
		lane = lane_add(queue, shape);
	if (!lane)
		return error_nomem(err, "queue");
	if (lane->count == lane->room && lane_grow(lane) < 0)
		return error_nomem(err, "queue");
	place = lane_find_place(lane, job);
	if (*place)
		return error_set(err, EEXIST, "job %" PRIu64 " is queued", job);
	lane->heap[lane->count] = (struct queued){ priority, job };
	*place = (uint32_t)lane->count + 1;
	sift_up(lane, lane->count++);
	queue->length++;
	return 0;
}

void queue_remove(struct queue *queue, const struct shape *shape, uint64_t job)
{
	struct lane *lane = lane_find(queue, shape);
	const uint32_t *place =
		lane && lane->room ? lane_find_place(lane, job) : NULL;

	if (!place || !*place)
		return;
	heap_remove(lane, *place - 1);
	queue->length--;
}

size_t queue_length(const struct queue *queue)
{
	return queue->length;
}

static bool lane_before(const struct lane *a, const struct lane *b)
{
	return queued_before(&a->heap[0], &b->heap[0]);
}

static void lanes_swap(struct lanes *lanes, size_t a, size_t b)
{
	struct lane *swap = lanes->heap[a];

	lanes->heap[a] = lanes->heap[b];
	lanes->heap[b] = swap;
}

void lanes_push(struct lanes *lanes, struct lane *lane)
{
	struct lane **heap = lanes->heap;
	size_t i = lanes->count;

	if (!lane->count)
		return;
	heap[lanes->count++] = lane;
	for (; i && lane_before(heap[i], heap[(i - 1) / 2]); i = (i - 1) / 2)
		lanes_swap(lanes, i, (i - 1) / 2);
}

struct lane *lanes_pop(struct lanes *lanes)
{
	struct lane **heap = lanes->heap, *top = heap[0];
	size_t i = 0;

	heap[0] = heap[--lanes->count];
	for (;;) {
		size_t first = i;

		for (size_t below = 2 * i + 1; below <= 2 * i + 2; below++)
			if (below < lanes->count &&
			    lane_before(heap[below], heap[first]))
				first = below;
		if (first == i)
			return top;
		lanes_swap(lanes, first, i);
		i = first;
	}
}
