/* views.h - the views of the lists of a controller.
 */
#pragma once

#include "controller/view/view.h"
#include "protocol/hardware/device_metrics.h"
#include "protocol/message/reply_jobs.h"
#include "protocol/message/reply_nodes.h"

/* Of the structs of replies: sweep_info, job_info, event_info ... */
extern const struct view view_sweeps, view_jobs, view_events, view_streams,
	view_files, view_holders, view_keys, view_tokens, view_audit;

/* A task_info; for pages the whole struct. */
struct task_shown {
	struct task_info info;
	uint64_t devices; /* bits: index on the node */
	size_t node;      /* its number, from 1; 0: not known */
};
extern const struct view view_tasks;

/* How a rank ended: an end_info; for pages the whole struct. at_ms: the start
 * of the job.
 */
struct end_shown {
	struct end_info info;
	uint64_t job;
};
extern const struct view view_ends;

/* A layer that a task's node is pulling. */
struct layer_shown {
	const char *node;
	struct moving_layer layer;
};
extern const struct view view_layers;

/* A node_info; for pages the whole struct. */
struct node_shown {
	struct node_info info;
	size_t number;  /* of its page, from 1 */
	double power_w; /* of its devices; NAN: not known */
};
extern const struct view view_nodes;

/* "up, drained"; "nvidia, 8 H200"; why it, or a device of it, is not used. */
void node_state_words(const struct node_info *node, char *to, size_t size);
void node_hardware_words(const struct node_info *node, char *to, size_t size);
void node_reason_words(const struct node_info *node, char *to, size_t size);

/* A device_info; for pages the whole struct. */
struct device_shown {
	struct device_info info;
	struct device_metrics readings;
};
extern const struct view view_devices;

extern const struct view view_node_tests; /* node_test */

extern const struct view view_readings; /* device_metrics; pages only */
