/* queue.c - queued jobs, in lanes of equal shape.
 */
#include "controller/cluster/queue.h"

#include <stdlib.h>
#include <string.h>

bool queued_before(const struct queued *a, const struct queued *b)
{
	if (a->priority != b->priority)
		return a->priority > b->priority;
	return a->job < b->job;
}

static void sift_up(struct lane *lane, size_t at)
{
	while (at) {
		size_t above = (at - 1) / 2;
		struct queued swap = lane->heap[at];

		if (!queued_before(&lane->heap[at], &lane->heap[above]))
			return;
		lane->heap[at] = lane->heap[above];
		lane->heap[above] = swap;
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
		struct queued swap = lane->heap[at];

		lane->heap[at] = lane->heap[first];
		lane->heap[first] = swap;
		at = first;
	}
}

static void heap_remove(struct lane *lane, size_t at)
{
	lane->heap[at] = lane->heap[--lane->count];
	if (at < lane->count) {
		sift_up(lane, at);
		sift_down(lane, at);
	}
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

void queue_free(struct queue *queue)
{
	if (!queue)
		return;
	for (size_t i = 0; i < queue->count; i++) {
		free((char *)queue->lanes[i].shape.vendor);
		free(queue->lanes[i].heap);
	}
	free(queue->lanes);
	free(queue);
}

static struct lane *lane_find(struct queue *queue, const struct shape *shape)
{
	for (size_t i = 0; i < queue->count; i++) {
		struct shape *other = &queue->lanes[i].shape;

		if (other->nodes == shape->nodes &&
		    other->devices == shape->devices &&
		    other->shared == shape->shared &&
		    !strcmp(other->vendor, shape->vendor))
			return &queue->lanes[i];
	}
	return NULL;
}

static struct lane *lane_add(struct queue *queue, const struct shape *shape)
{
	char *vendor = strdup(shape->vendor);
	struct lane *lane;

	if (!vendor)
		return NULL;
	if (queue->count == queue->room) {
		size_t room = queue->room ? queue->room * 2 : 8;

		lane = realloc(queue->lanes, room * sizeof(*lane));
		if (!lane) {
			free(vendor);
			return NULL;
		}
		queue->lanes = lane;
		queue->room = room;
	}
	lane = &queue->lanes[queue->count++];
	*lane = (struct lane){ .shape = *shape };
	lane->shape.vendor = vendor;
	return lane;
}

int queue_add(struct queue *queue, const struct shape *shape, uint64_t job,
	      int64_t priority, struct error *err)
{
	struct lane *lane = lane_find(queue, shape);

	if (!lane)
		lane = lane_add(queue, shape);
	if (!lane)
		return error_nomem(err, "queue");
	if (lane->count == lane->room) {
		size_t room = lane->room ? lane->room * 2 : 16;
		struct queued *heap = realloc(lane->heap, room * sizeof(*heap));

		if (!heap)
			return error_nomem(err, "queue");
		lane->heap = heap;
		lane->room = room;
	}
	lane->heap[lane->count] = (struct queued){ priority, job };
	sift_up(lane, lane->count++);
	queue->length++;
	return 0;
}

void queue_remove(struct queue *queue, const struct shape *shape, uint64_t job,
		  int64_t priority)
{
	struct lane *lane = lane_find(queue, shape);

	for (size_t i = 0; lane && i < lane->count; i++) {
		if (lane->heap[i].job != job)
			continue;
		heap_remove(lane, i);
		queue->length--;
		return;
	}
}

size_t queue_length(const struct queue *queue)
{
	return queue->length;
}
