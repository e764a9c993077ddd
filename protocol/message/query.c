/* query.c - the queries that people send to a controller, and their replies.
 */
#include "protocol/message/query.h"
#include "protocol/message/reply_access.h"
#include "protocol/message/reply_images.h"
#include "protocol/message/reply_jobs.h"
#include "protocol/message/reply_logs.h"
#include "protocol/message/reply_nodes.h"
#include "protocol/message/reply_sweeps.h"

/* clang-format off */
const char *const query_names[QUERY_KINDS + 1] = {
	[QUERY_NONE] = "",
	[QUERY_SWEEPS] = "sweeps",
	[QUERY_SWEEP] = "sweep",
	[QUERY_TEXT] = "text",
	[QUERY_JOBS] = "jobs",
	[QUERY_JOB] = "job",
	[QUERY_NODES] = "nodes",
	[QUERY_NODE] = "node",
	[QUERY_EVENTS] = "events",
	[QUERY_RESULTS] = "results",
	[QUERY_SERIES] = "series",
	[QUERY_KEYS] = "keys",
	[QUERY_TOKENS] = "tokens",
	[QUERY_AUDIT] = "audit",
	[QUERY_FILES] = "files",
	[QUERY_IMAGE] = "image",
	[QUERY_WEB] = "web",
	[QUERY_DESCRIPTIONS] = "descriptions",
};

const struct schema *const query_replies[QUERY_KINDS] = {
	[QUERY_SWEEPS] = &reply_sweeps_schema,
	[QUERY_SWEEP] = &reply_sweep_schema,
	[QUERY_TEXT] = &reply_text_schema,
	[QUERY_JOBS] = &reply_jobs_schema,
	[QUERY_JOB] = &reply_job_schema,
	[QUERY_NODES] = &reply_nodes_schema,
	[QUERY_NODE] = &reply_node_schema,
	[QUERY_EVENTS] = &reply_events_schema,
	[QUERY_RESULTS] = &reply_results_schema,
	[QUERY_SERIES] = &reply_series_schema,
	[QUERY_KEYS] = &reply_keys_schema,
	[QUERY_TOKENS] = &reply_tokens_schema,
	[QUERY_AUDIT] = &reply_audit_schema,
	[QUERY_FILES] = &reply_files_schema,
	[QUERY_IMAGE] = &reply_image_schema,
	[QUERY_WEB] = &reply_web_schema,
	[QUERY_DESCRIPTIONS] = &reply_descriptions_schema,
};
/* clang-format on */
