/* bytes.h - counts lines, control bytes and invalid UTF-8 of a log.
 */
#ifndef CONTROLLER_RESULTS_DOCUMENT_BYTES_H
#define CONTROLLER_RESULTS_DOCUMENT_BYTES_H

#include "protocol/base/utf8.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zero: the start of a log. */
struct log_bytes {
	uint64_t bytes;
	uint64_t lf;
	uint64_t cr;
	uint64_t escapes; /* ESC bytes */
	uint64_t nul;
	uint64_t line;    /* bytes since the last LF */
	uint64_t longest; /* between two LF */
	bool invalid_utf8;
	struct utf8 utf8; /* the decoder's state */
};

/* Count the next bytes; pieces may have any size. */
void log_bytes_take(struct log_bytes *log, const char *data, size_t size);

/* {"bytes", "lf", "cr", "ansi_escapes", "nul_bytes", "invalid_utf8",
 * "longest_lf_line_bytes", "unterminated_tail"}; NULL: no memory.
 */
cJSON *log_bytes_json(const struct log_bytes *log);

#endif
