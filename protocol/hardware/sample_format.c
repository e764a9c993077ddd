/* sample_format.c - the samples that an agent takes beside a task, as lines
 * of a stream.
 */
#include "protocol/hardware/sample_format.h"
#include "protocol/base/printable.h"
#include "protocol/message/json_get.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS_MAX 32
#define TIME_MAX 1e15 /* ms; the year 33658 */

/* clang-format off */
static const struct schema sample_format_device_schema = SCHEMA(sample_format_device,
	FIELD(sample_format_device, index),
	FIELD_OPTIONAL(sample_format_device, bus_id),
	FIELD_OPTIONAL(sample_format_device, name));

const struct schema sample_format_head_schema = SCHEMA(sample_format_head,
	FIELD(sample_format_head, trace),
	FIELD(sample_format_head, node),
	FIELD(sample_format_head, rank),
	FIELD(sample_format_head, time_ms),
	FIELD(sample_format_head, interval_ms),
	FIELD(sample_format_head, clock),
	FIELD_OPTIONAL(sample_format_head, offset_ms),
	FIELD_OPTIONAL(sample_format_head, round_trip_ms),
	FIELD_OPTIONAL(sample_format_head, tool),
	FIELD_OPTIONAL(sample_format_head, cpus),
	FIELD_MANY(sample_format_head, devices, sample_format_device_schema),
	FIELD(sample_format_head, columns),
	FIELD(sample_format_head, host));

static const char *const host_names[HOST_READINGS] = {
	[HOST_CPU_PCT] = "cpu_pct",
	[HOST_MEM_USED_MIB] = "mem_used_mib",
	[HOST_DISK_READ_MIB_S] = "disk_read_mib_s",
	[HOST_DISK_WRITE_MIB_S] = "disk_write_mib_s",
	[HOST_NET_IN_MIB_S] = "net_in_mib_s",
	[HOST_NET_OUT_MIB_S] = "net_out_mib_s",
	[HOST_CPU_POWER_W] = "cpu_power_w",
	[HOST_POWER_W] = "power_w",
	[HOST_NET_ERRORS] = "net_errors",
	[HOST_NET_RETRANSMITS] = "net_retransmits",
};
/* clang-format on */

void sample_format_stream(uint32_t rank, char name[SAMPLE_FORMAT_STREAM_SIZE])
{
	snprintf(name, SAMPLE_FORMAT_STREAM_SIZE, "samples-%" PRIu32, rank);
}

const char *host_reading_name(enum host_reading reading)
{
	return reading < HOST_READINGS ? host_names[reading] : NULL;
}

/* Writing. */

/* Remove what was appended since the buffer had this size. */
static int undo(struct buffer *out, size_t size)
{
	out->size = size;
	if (out->capacity)
		out->data[size] = 0;
	return -1;
}

static int sample_put_number(struct buffer *out, bool has, double value,
			     struct error *err)
{
	return has && isfinite(value) ? buffer_printf(out, err, ",%.7g", value)
				      : buffer_text(out, ",null", err);
}

int sample_format_put_head(struct buffer *out,
			   const struct sample_format_head *head,
			   unsigned readings, struct error *err)
{
	char *columns[READINGS], *host[HOST_READINGS];
	struct sample_format_head full = *head;
	size_t size = out->size, count = 0;

	for (int i = 0; i < READINGS; i++)
		if (readings & 1U << i)
			columns[count++] =
				(char *)reading_name((enum reading)i);
	for (int i = 0; i < HOST_READINGS; i++)
		host[i] = (char *)host_names[i];
	full.trace = SAMPLE_FORMAT_VERSION;
	full.columns = (struct strings){ columns, count };
	full.host = (struct strings){ host, HOST_READINGS };
	if (codec_encode(&sample_format_head_schema, &full, out, err) < 0 ||
	    buffer_text(out, "\n", err) < 0)
		return undo(out, size);
	return 0;
}

static int sample_put_device(struct buffer *out, uint32_t index,
			     unsigned readings, const struct device_sample *row,
			     bool first, struct error *err)
{
	if (buffer_printf(out, err, "%s[%u", first ? "" : ",", index) < 0)
		return -1;
	for (int i = 0; i < READINGS; i++)
		if (readings & 1U << i &&
		    sample_put_number(out, row->has & 1U << i, row->value[i],
				      err) < 0)
			return -1;
	return buffer_text(out, "]", err);
}

int sample_format_put_devices(struct buffer *out, int64_t time_ms,
			      unsigned readings, const uint32_t *indices,
			      const struct device_sample *const *rows,
			      size_t count, struct error *err)
{
	size_t size = out->size;
	bool first = true;

	if (buffer_printf(out, err, "{\"t\":%" PRId64 ",\"d\":[", time_ms) < 0)
		return undo(out, size);
	for (size_t i = 0; i < count; i++) {
		if (!rows[i])
			continue;
		if (sample_put_device(out, indices[i], readings, rows[i], first,
				      err) < 0)
			return undo(out, size);
		first = false;
	}
	return buffer_text(out, "]}\n", err) < 0 ? undo(out, size) : 0;
}

int sample_format_put_host(struct buffer *out, int64_t time_ms,
			   const struct host_usage_sample *sample,
			   struct error *err)
{
	size_t size = out->size, from;

	if (buffer_printf(out, err, "{\"t\":%" PRId64 ",\"h\":[", time_ms) < 0)
		return undo(out, size);
	from = out->size;
	for (int i = 0; i < HOST_READINGS; i++)
		if (sample_put_number(out, sample->has & 1U << i,
				      sample->value[i], err) < 0)
			return undo(out, size);
	if (buffer_text(out, "]}\n", err) < 0)
		return undo(out, size);
	out->data[from] = ' '; /* a comma before the first */
	return 0;
}

int sample_format_put_error(struct buffer *out, int64_t time_ms,
			    const char *text, struct error *err)
{
	char cut[SAMPLE_FORMAT_TEXT_MAX + 1];
	owned_free char *json = NULL;
	cJSON *string;

	snprintf(cut, sizeof(cut), "%s", text);
	printable(cut, strlen(cut));
	string = cJSON_CreateString(cut);
	json = string ? cJSON_PrintUnformatted(string) : NULL;
	cJSON_Delete(string);
	if (!json)
		return error_nomem(err, "samples");
	return buffer_printf(out, err, "{\"t\":%" PRId64 ",\"error\":%s}\n",
			     time_ms, json);
}

/* Reading. */

void sample_format_line_clear(struct sample_format_line *line)
{
	codec_clear(&sample_format_head_schema, &line->head);
	free(line->points);
	free(line->text);
	*line = (struct sample_format_line){ 0 };
}

static int read_head(struct sample_format_columns *columns, const cJSON *object,
		     struct sample_format_line *line, struct error *err)
{
	struct sample_format_head *head = &line->head;
	struct sample_format_columns found = { .known = true };

	if (codec_from_object(&sample_format_head_schema, object, head, err) <
	    0)
		return -1;
	if (head->trace != SAMPLE_FORMAT_VERSION || head->interval_ms == 0)
		return error_set(err, EPROTO,
				 "samples: version %u and interval %u ms are "
				 "not "
				 "valid here; expected version %d and more "
				 "than 0 ms",
				 head->trace, head->interval_ms,
				 SAMPLE_FORMAT_VERSION);
	for (size_t i = 0; i < head->columns.count && i < COLUMNS_MAX; i++)
		for (int reading = 0; reading < READINGS; reading++)
			if (!strcmp(head->columns.items[i],
				    reading_name((enum reading)reading)))
				found.device[i] = reading + 1;
	for (size_t i = 0; i < head->host.count && i < COLUMNS_MAX; i++)
		for (int reading = 0; reading < HOST_READINGS; reading++)
			if (!strcmp(head->host.items[i], host_names[reading]))
				found.host[i] = reading + 1;
	*columns = found;
	line->kind = SAMPLE_FORMAT_HEAD;
	line->time_ms = head->time_ms;
	return 0;
}

/* Store the numbers of a list as values, by the meaning of their columns. */
static void sample_format_read_numbers(const cJSON *item, const int *columns,
				       double *values, unsigned *has)
{
	for (size_t i = 0; item && i < COLUMNS_MAX; item = item->next, i++) {
		int place = columns[i] - 1;

		if (place < 0 || !cJSON_IsNumber(item))
			continue;
		values[place] = item->valuedouble;
		*has |= 1U << place;
	}
}

static int
sample_format_read_devices(const struct sample_format_columns *columns,
			   const cJSON *list, struct sample_format_line *line,
			   struct error *err)
{
	int count = cJSON_GetArraySize(list);
	const cJSON *item;

	if (count > SAMPLE_DEVICES_MAX)
		return error_set(err, EPROTO,
				 "samples: %d devices; expected at most %d",
				 count, SAMPLE_DEVICES_MAX);
	line->points = calloc((size_t)count + 1, sizeof(*line->points));
	if (!line->points)
		return error_nomem(err, "samples");
	cJSON_ArrayForEach(item, list) {
		struct sample_format_point *point = &line->points[line->count];
		const cJSON *index = cJSON_GetArrayItem(item, 0);

		if (!cJSON_IsNumber(index) || index->valuedouble < 0 ||
		    index->valuedouble > UINT32_MAX)
			return error_set(err, EPROTO,
					 "samples: a device has no index");
		point->index = (uint32_t)index->valuedouble;
		sample_format_read_numbers(index->next, columns->device,
					   point->value, &point->has);
		line->count++;
	}
	line->kind = SAMPLE_FORMAT_DEVICES;
	return 0;
}

static int sample_format_read_point(const struct sample_format_columns *columns,
				    const cJSON *object,
				    struct sample_format_line *line,
				    struct error *err)
{
	const cJSON *time = json_get(object, "t");
	const cJSON *list = json_get(object, "d");
	const cJSON *host = json_get(object, "h");
	const char *text = json_get_text(object, "error");

	if (!columns->known)
		return error_set(err, EPROTO, "samples: the header is missing");
	if (!cJSON_IsNumber(time) || !(time->valuedouble >= 0) ||
	    !(time->valuedouble < TIME_MAX))
		return error_set(err, EPROTO, "samples: a line has no time");
	line->time_ms = (int64_t)time->valuedouble;
	if (cJSON_IsArray(list))
		return sample_format_read_devices(columns, list, line, err);
	if (cJSON_IsArray(host)) {
		line->kind = SAMPLE_FORMAT_HOST;
		sample_format_read_numbers(host->child, columns->host,
					   line->host.value, &line->host.has);
		return 0;
	}
	if (!text)
		return error_set(err, EPROTO,
				 "samples: an unknown kind of line");
	line->kind = SAMPLE_FORMAT_ERROR;
	line->text = strndup(text, SAMPLE_FORMAT_TEXT_MAX);
	if (!line->text)
		return error_nomem(err, "samples");
	printable(line->text, strlen(line->text));
	return 0;
}

int sample_format_read(struct sample_format_columns *columns, const char *text,
		       size_t size, struct sample_format_line *line,
		       struct error *err)
{
	cJSON *object;
	int rc;

	*line = (struct sample_format_line){ 0 };
	if (size > SAMPLE_FORMAT_LINE_MAX)
		return error_set(err, EPROTO,
				 "samples: a line of %zu bytes; expected at "
				 "most %d",
				 size, SAMPLE_FORMAT_LINE_MAX);
	object = codec_parse(text, size, err);
	if (!object)
		return -1;
	rc = cJSON_HasObjectItem(object, "trace")
		     ? read_head(columns, object, line, err)
		     : sample_format_read_point(columns, object, line, err);
	cJSON_Delete(object);
	if (rc < 0)
		sample_format_line_clear(line);
	return rc;
}
