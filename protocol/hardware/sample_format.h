/* sample_format.h - writes and reads the stream of device and host samples of a
 * task.
 *
 * The stream `samples-<node rank>` of a job holds one JSON object per line:
 *
 *	{"trace": 1, "node": "n1", "rank": 0, "time_ms": 1790000000000,
 *	 "interval_ms": 1000,		the sampling interval
 *	 "clock": true,			the controller's clock is known
 *	 "offset_ms": -3,		and is this far ahead of the node's,
 *	 "round_trip_ms": 1,		measured by an exchange of this duration
 *	 "tool": "nvidia-smi", "cpus": "0-3",	the tool and the CPUs it runs on
 *	 "devices": [{"index": 0, "bus_id": "0000:0e:00.0", "name": "..."}],
 *	 "columns": ["temp_c", "power_w", ...],	reading_name()
 *	 "host": ["cpu_pct", ...]}		host_reading_name()
 *	{"t": 1790000000990, "d": [[0, 45, 220.5, null], [1, ...]]}
 *	{"t": 1790000001000, "h": [3.5, 10240, ...]}
 *	{"t": 1790000001000, "error": "nvidia-smi: no end within 5000 ms: ..."}
 *
 * A line with "trace" comes first, and again whenever a value in it changes
 * (another agent, another interval, a better clock measurement). In a line with
 * "d" each list is a device's index and its readings in the order of `columns`;
 * "h" is in the order of `host`. null means that a value could not be read.
 * Times are wall clock times of the controller if its clock is known, else of
 * the node; for devices they are the middle of the tool's run. The reader does
 * not trust its input: a line of any other form is EPROTO.
 */
#pragma once

#include "protocol/hardware/sample.h"
#include "protocol/message/codec.h"

#define SAMPLE_FORMAT_VERSION 1
#define SAMPLE_FORMAT_LINE_MAX 131072 /* bytes of a valid line */
#define SAMPLE_FORMAT_TEXT_MAX 400    /* bytes of an error */

#define SAMPLE_FORMAT_STREAM_SIZE 24

/* "samples-3": the stream of the task on this node rank. */
void sample_format_stream(uint32_t rank, char name[SAMPLE_FORMAT_STREAM_SIZE]);

enum host_reading {
	HOST_CPU_PCT, /* of all processors together */
	HOST_MEM_USED_MIB,
	HOST_DISK_READ_MIB_S, /* of whole disks */
	HOST_DISK_WRITE_MIB_S,
	HOST_NET_IN_MIB_S, /* of physical interfaces and RDMA */
	HOST_NET_OUT_MIB_S,
	HOST_CPU_POWER_W, /* RAPL packages */
	HOST_POWER_W,     /* of the whole machine, by its IPMI */
	HOST_NET_ERRORS,  /* since the machine was started, as the next ones */
	HOST_NET_RETRANSMITS, /* packets that RDMA sent again */
	HOST_READINGS
};

/* "cpu_pct" ...; NULL when out of range. */
const char *host_reading_name(enum host_reading reading);

struct host_usage_sample {
	double value[HOST_READINGS];
	unsigned has; /* bit 1 << HOST_... */
};

struct sample_format_device {
	uint32_t index; /* on the node */
	char *bus_id;   /* or NULL */
	char *name;     /* or NULL */
};

struct sample_format_head {
	uint32_t trace; /* SAMPLE_FORMAT_VERSION */
	char *node;
	uint32_t rank;
	int64_t time_ms;
	uint32_t interval_ms;
	bool clock;
	int64_t offset_ms;
	int64_t round_trip_ms;
	char *tool; /* NULL: no device is sampled */
	char *cpus; /* NULL: those of the agent */
	struct sample_format_device *devices;
	size_t devices_count;
	struct strings columns; /* of the devices */
	struct strings host;
};
extern const struct schema sample_format_head_schema;

/* Append one line. ENOMEM, E2BIG: the buffer is unchanged. trace, columns and
 * host of the head are filled in. readings: bit 1 << READING_... for each
 * column, in a head and in the lines after it.
 */
#define SAMPLE_FORMAT_ALL ((1U << READINGS) - 1)
int sample_format_put_head(struct buffer *out,
			   const struct sample_format_head *head,
			   unsigned readings, struct error *err);
/* rows[i] holds the readings of the device with index indices[i]; NULL: none.
 */
int sample_format_put_devices(struct buffer *out, int64_t time_ms,
			      unsigned readings, const uint32_t *indices,
			      const struct device_sample *const *rows,
			      size_t count, struct error *err);
int sample_format_put_host(struct buffer *out, int64_t time_ms,
			   const struct host_usage_sample *sample,
			   struct error *err);
/* The text is made printable and cut to SAMPLE_FORMAT_TEXT_MAX. */
int sample_format_put_error(struct buffer *out, int64_t time_ms,
			    const char *text, struct error *err);

enum sample_format_kind {
	SAMPLE_FORMAT_HEAD,
	SAMPLE_FORMAT_DEVICES,
	SAMPLE_FORMAT_HOST,
	SAMPLE_FORMAT_ERROR
};

struct sample_format_point {
	uint32_t index;
	double value[READINGS];
	unsigned has;
};

/* One line, read. */
struct sample_format_line {
	enum sample_format_kind kind;
	int64_t time_ms;
	struct sample_format_head head;
	struct sample_format_point *points;
	size_t count;
	struct host_usage_sample host;
	char *text;
};
void sample_format_line_clear(struct sample_format_line *line);
OWNED_VALUE(struct sample_format_line, sample_format_line_clear)

/* The meaning of the columns, from the last head. All zero: no head yet. */
struct sample_format_columns {
	int device[32]; /* reading + 1; 0: an unknown column */
	int host[32];
	bool known;
};

/* Read one line, without its newline. *columns carries the last head from line
 * to line. EPROTO: not a line of this format; *line is then empty.
 */
int sample_format_read(struct sample_format_columns *columns, const char *text,
		       size_t size, struct sample_format_line *line,
		       struct error *err);
