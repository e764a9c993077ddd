/* reply_logs.h - replies about output, files and blobs.
 */
#pragma once

#include "protocol/message/reply_jobs.h"

/* Lines from this offset on arrived at this time. */
struct log_time {
	uint64_t offset;
	int64_t time_ms;
};

/* The bytes are the payload. */
struct reply_log_read {
	uint64_t job;
	uint32_t attempt;
	bool final;  /* nothing follows */
	char *state; /* job_state_name() */
	int64_t exit_code;
	struct strings streams;    /* output of ranks */
	struct stream_info *files; /* unless asked for output of a rank */
	size_t files_count;
	struct strings builds; /* output of image builds; present as files */
	int64_t removed_ms;    /* when the output was removed; 0: it is there */
	/* If the request named a stream: */
	char *stream;
	uint64_t offset;        /* of the payload */
	uint64_t size;          /* of the payload */
	uint64_t length;        /* of the stream at present */
	struct log_time *times; /* of the payload's lines, if requested: one
				   entry where the time changes */
	size_t times_count;
};

/* A collected path of a container, as a tar file. */
struct file_info {
	uint32_t rank;
	char *path;
	char *content;  /* its hash; NULL: there is none, text says why */
	uint64_t bytes; /* of the tar file */
	char *text;
};
extern const struct schema file_info_schema;

struct reply_files {
	uint64_t since;
	struct file_info *files;
	size_t files_count;
};

struct reply_blob_put {
	uint64_t length; /* bytes that are stored */
	bool whole;      /* complete, and its hash is right */
};

/* The bytes are the payload. */
struct reply_blob_get {
	uint64_t bytes; /* of the whole blob */
};

extern const struct schema reply_log_read_schema, reply_files_schema,
	reply_blob_put_schema, reply_blob_get_schema;
