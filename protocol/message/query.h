/* query.h - the queries that people send to a controller, and their replies.
 */
#pragma once

#include "protocol/message/codec.h"

enum query_kind {
	QUERY_NONE,
	QUERY_SWEEPS,
	QUERY_SWEEP, /* id; 0: the last one */
	QUERY_TEXT,  /* of sweep id */
	QUERY_JOBS,  /* of sweep id; 0: of all */
	QUERY_JOB,   /* id */
	QUERY_NODES,
	QUERY_NODE,    /* name */
	QUERY_EVENTS,  /* of job id; 0: of all */
	QUERY_RESULTS, /* of sweep id */
	QUERY_SERIES,  /* of sweep id */
	QUERY_KEYS,    /* the keys that may connect */
	QUERY_TOKENS,
	QUERY_AUDIT,
	QUERY_FILES, /* collected files of job id */
	QUERY_IMAGE, /* an image operation. name: its id; after: offset into its
			output; keys: nodes whose images are listed */
	QUERY_WEB,   /* a login address for the web pages */
	QUERY_DESCRIPTIONS, /* hashes of them; keys: "frameworks/NAME", ... */
	QUERY_KINDS
};

/* By kind, from 1 on; NULL ends them. */
extern const char *const query_names[QUERY_KINDS + 1];

/* By kind: the struct that answers it. */
extern const struct schema *const query_replies[QUERY_KINDS];
