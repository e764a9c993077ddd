/* bytes.c - counts lines, control bytes and invalid UTF-8 of a log.
 */
#include "controller/results/document/bytes.h"

/* Without branches, which would be mispredicted in binary data. */
static void count_controls(struct log_bytes *log, const char *data, size_t size)
{
	uint64_t cr = 0, escapes = 0, nul = 0;

	for (size_t i = 0; i < size; i++) {
		cr += data[i] == '\r';
		escapes += data[i] == '\033';
		nul += data[i] == 0;
	}
	log->cr += cr;
	log->escapes += escapes;
	log->nul += nul;
}

static void count_lines(struct log_bytes *log, const char *data, size_t size)
{
	uint64_t line = log->line;

	for (size_t i = 0; i < size; i++) {
		line++;
		if (data[i] != '\n')
			continue;
		log->lf++;
		if (--line > log->longest)
			log->longest = line;
		line = 0;
	}
	log->line = line;
}

void log_bytes_take(struct log_bytes *log, const char *data, size_t size)
{
	log->bytes += size;
	count_controls(log, data, size);
	count_lines(log, data, size);
	/* One invalid byte is enough. */
	for (size_t i = 0; i < size && !log->invalid_utf8; i++)
		if ((uint8_t)data[i] >= 0x80 || log->utf8.more)
			log->invalid_utf8 =
				!utf8_take(&log->utf8, (uint8_t)data[i]);
}

cJSON *log_bytes_json(const struct log_bytes *log)
{
	cJSON *object = cJSON_CreateObject();
	uint64_t longest = log->line > log->longest ? log->line : log->longest;

	cJSON_AddNumberToObject(object, "bytes", (double)log->bytes);
	cJSON_AddNumberToObject(object, "lf", (double)log->lf);
	cJSON_AddNumberToObject(object, "cr", (double)log->cr);
	cJSON_AddNumberToObject(object, "ansi_escapes", (double)log->escapes);
	cJSON_AddNumberToObject(object, "nul_bytes", (double)log->nul);
	cJSON_AddBoolToObject(object, "invalid_utf8",
			      log->invalid_utf8 || log->utf8.more);
	cJSON_AddNumberToObject(object, "longest_lf_line_bytes",
				(double)longest);
	if (cJSON_AddBoolToObject(object, "unterminated_tail", log->line > 0))
		return object;
	cJSON_Delete(object);
	return NULL;
}
