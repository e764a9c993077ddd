/* evidence.c - what the processes of a task do, as its agent observed it.
 */
#include "protocol/message/evidence.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
const struct schema evidence_schema = SCHEMA(evidence,
	FIELD(evidence, round),
	FIELD_OPTIONAL(evidence, pid),
	FIELD_OPTIONAL(evidence, rank),
	FIELD_OPTIONAL(evidence, leads),
	FIELD_OPTIONAL(evidence, command),
	FIELD_OPTIONAL(evidence, state),
	FIELD_OPTIONAL(evidence, waits),
	FIELD_OPTIONAL(evidence, stack),
	FIELD_OPTIONAL(evidence, cpu_ms),
	FIELD_OPTIONAL(evidence, busy_percent),
	FIELD_OPTIONAL(evidence, threads),
	FIELD_OPTIONAL(evidence, written_bytes),
	FIELD_OPTIONAL(evidence, sockets),
	FIELD_OPTIONAL(evidence, tool),
	FIELD_OPTIONAL(evidence, asked_ms),
	FIELD_OPTIONAL(evidence, text),
	FIELD_OPTIONAL(evidence, end));
/* clang-format on */

void evidence_clear(struct evidence *evidence)
{
	codec_clear(&evidence_schema, evidence);
}

void evidence_stream(uint32_t rank, char name[EVIDENCE_STREAM_SIZE])
{
	snprintf(name, EVIDENCE_STREAM_SIZE, "evidence-%u", rank);
}

bool evidence_is_stream(uint32_t rank, const char *name)
{
	char own[EVIDENCE_STREAM_SIZE];

	evidence_stream(rank, own);
	return !strcmp(own, name);
}

int64_t evidence_dump_rank(const char *stream)
{
	const char *at = strstr(stream, EVIDENCE_DUMP);
	char *end;
	long long rank;

	if (!at || !isdigit((unsigned char)at[strlen(EVIDENCE_DUMP)]))
		return -1;
	rank = strtoll(at + strlen(EVIDENCE_DUMP), &end, 10);
	return *end && *end != '-' ? -1 : rank;
}

int evidence_write(const struct evidence *evidence, struct buffer *out,
		   struct error *err)
{
	if (codec_encode(&evidence_schema, evidence, out, err) < 0)
		return -1;
	return buffer_text(out, "\n", err);
}

int evidence_read(const char *line, size_t size, struct evidence *evidence,
		  struct error *err)
{
	return codec_decode(&evidence_schema, line, size, evidence, err);
}
