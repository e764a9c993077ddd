/* sample_internal.h - the layouts, rows and readers of a sampler.
 *
 * Private to sample*.c. sampler_read() (sample.c) makes a struct run for a text
 * and calls the reader of each layout in turn, until one finds a device.
 */
#pragma once

#include "protocol/base/strings.h"
#include "protocol/hardware/expression.h"
#include "protocol/hardware/sample.h"

#include <stdbool.h>

/* The fields of a device: texts, then readings. */
enum sample_field {
	FIELD_DEVICE,
	FIELD_PART,
	FIELD_BUS_ID,
	FIELD_NAME,
	FIELD_UUID,
	FIELD_DRIVER,
	FIELD_PHYSICAL,
	FIELD_READINGS,
	FIELDS = FIELD_READINGS + READINGS
};
const char *field_name(unsigned field);
bool field_named(const char *name, unsigned *field);

struct expressions {
	struct expression **list;
	size_t count;
};

enum separator { SEPARATOR_COMMA, SEPARATOR_BLANKS, SEPARATOR_BAR };

/* Part of a text; borrowed. */
struct sample_text {
	const char *data;
	size_t size;
};

struct run;
typedef int read_fn(struct run *run, struct error *err);

struct layout {
	const char *name; /* borrowed from the document */
	read_fn *read;
	struct expression *when;
	struct expression *from;
	struct expression *until;
	struct expression *row;
	struct expression *units;
	struct expressions all;
	struct expressions device;
	struct expressions more;
	struct expressions group;
	struct expressions fields[FIELDS];
	enum separator separator;
};

struct sampler {
	struct strings na;
	struct layout *layouts;
	size_t count;
};

/* A device while it is read. */
struct row {
	struct device_sample sample;
	char part[SAMPLE_WORD_MAX];
	uint8_t rank[FIELDS]; /* index of the expression that set the field,
				 from 1; 0: not set */
	unsigned more;        /* bit per `more` expression that matched */
};

/* One text being read. */
struct run {
	const struct sampler *sampler;
	const struct layout *layout; /* the one that is tried */
	const char *text;            /* after cleaning; for json */
	size_t size;
	const char *lines; /* the same without its long lines; ends in '\n' */
	size_t lines_size;
	struct row *rows; /* SAMPLE_DEVICES_MAX and one more */
	size_t count;
	size_t keys;         /* set so far */
	struct row all;      /* values for all devices */
	int64_t deadline_us; /* on the thread's clock */
	unsigned calls;
};

/* The run has SAMPLE_TIME_MS from now. */
void run_limit_time(struct run *run);

/* expression_match() with the time limit of the run. */
int run_match(struct run *run, struct expression *expression,
	      struct sample_text text, enum expression_place place,
	      struct error *err);

/* Match any of them; *index is the one that matched. */
int run_match_any(struct run *run, const struct expressions *expressions,
		  struct sample_text text, enum expression_place place,
		  size_t *index, struct error *err);

/* Add a row, a copy of *words if not NULL. NULL: E2BIG. */
struct row *run_row(struct run *run, const struct row *words,
		    struct error *err);

/* Complete the last row: join device and part, and let it replace an earlier
 * row of the same device.
 */
void run_row_end(struct run *run);

/* Set a field from a text, unless an expression of the same or a lower rank has
 * set it; of shares of time of the same rank the largest stays. False: the text
 * holds no value. unit: a text that ends in the unit in
 * brackets, used if no unit follows the number; or NULL.
 */
bool row_put(const struct run *run, struct row *row, unsigned field,
	     unsigned rank, struct sample_text text,
	     const struct sample_text *unit);

/* Set the fields that the named groups of the last match captured. */
void row_put_groups(const struct run *run, struct row *row,
		    const struct expression *expression);

/* Set the field whose expressions match the key. E2BIG: more than
 * SAMPLE_KEYS_MAX keys in a text.
 */
#define SAMPLE_KEYS_MAX 65536
int row_put_key(struct run *run, struct row *row, struct sample_text key,
		struct sample_text value, struct error *err);

/* The text without these characters at both ends. */
struct sample_text text_trim(struct sample_text text, const char *characters);

/* The next line of text[*at..size), without its newline and surrounding blanks.
 * indent is the number of leading blanks. False: no more lines.
 */
struct line {
	struct sample_text text;
	size_t indent;
};
bool line_next(const char *text, size_t size, size_t *at, struct line *line);

/* The readers: sample_lines.c, sample_columns.c, sample_keys.c, sample_json.c.
 */
read_fn lines_read;
read_fn columns_read;
read_fn keys_read;
read_fn json_read;
