/* reply_logs.c - replies about output, files and blobs.
 */
#include "protocol/message/reply_logs.h"

/* clang-format off */
static const struct schema log_time_schema = SCHEMA(log_time,
	FIELD(log_time, offset),
	FIELD(log_time, time_ms));

const struct schema reply_log_read_schema = SCHEMA(reply_log_read,
	FIELD(reply_log_read, job),
	FIELD(reply_log_read, attempt),
	FIELD(reply_log_read, final),
	FIELD(reply_log_read, state),
	FIELD(reply_log_read, exit_code),
	FIELD(reply_log_read, streams),
	FIELD_MANY(reply_log_read, files, stream_info_schema),
	FIELD_OPTIONAL(reply_log_read, builds),
	FIELD_OPTIONAL(reply_log_read, removed_ms),
	FIELD_OPTIONAL(reply_log_read, stream),
	FIELD_OPTIONAL(reply_log_read, offset),
	FIELD_OPTIONAL(reply_log_read, size),
	FIELD_OPTIONAL(reply_log_read, length),
	FIELD_MANY(reply_log_read, times, log_time_schema));

const struct schema file_info_schema = SCHEMA(file_info,
	FIELD(file_info, rank),
	FIELD(file_info, path),
	FIELD_NULLABLE(file_info, content),
	FIELD(file_info, bytes),
	FIELD_NULLABLE(file_info, text));

const struct schema reply_files_schema = SCHEMA(reply_files,
	FIELD(reply_files, since),
	FIELD_ROWS(reply_files, files, file_info_schema));

const struct schema reply_blob_put_schema = SCHEMA(reply_blob_put,
	FIELD(reply_blob_put, length),
	FIELD(reply_blob_put, whole));

const struct schema reply_blob_get_schema = SCHEMA(reply_blob_get,
	FIELD(reply_blob_get, bytes));
/* clang-format on */
