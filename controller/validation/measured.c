/* measured.c - the values of a validation, from the rows of its sweep.
 */
#include "controller/validation/measured.h"

#include "controller/report/labels.h"
#include "controller/results/json_object.h"
#include "protocol/base/list.h"
#include "protocol/message/json_get.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void measured_clear(struct measured *measured)
{
	free(measured->values);
	free(measured->failures);
	free(measured->losses);
	free(measured->ran);
	strings_clear(&measured->texts);
	*measured = (struct measured){ 0 };
}

/* A row on its way into the lists. */
struct measuring {
	struct measured *to;
	const char *unit, *group, *cell;
	char test[LABEL_SIZE]; /* what its cell has besides the node */
	bool pairs;
	size_t repeats; /* of its cell, with this one */
	size_t begun;   /* values before the cell */
	size_t losses_begun;
	struct error *err;
};

/* A text that lasts; NULL: ENOMEM. */
static const char *measured_keep(struct measuring *of, const char *text)
{
	struct strings *texts = &of->to->texts;

	return strings_add(texts, text, of->err) < 0
		       ? NULL
		       : texts->items[texts->count - 1];
}

/* A value of this row, or a further one of its cell. */
static int measured_value(struct measuring *of, const char *unit,
			  const char *name, double value)
{
	struct measured *to = of->to;
	struct peer_value *added;
	char test[LABEL_SIZE + 80];

	if (!isfinite(value))
		return 0;
	snprintf(test, sizeof(test), "%s%s%s", of->test, *of->test ? " " : "",
		 name);
	for (size_t i = of->begun; i < to->values_count; i++) {
		struct peer_value *known = &to->values[i];

		if (strcmp(known->test, test) || strcmp(known->unit, unit))
			continue;
		known->value += (value - known->value) / (double)of->repeats;
		return 0;
	}
	added = LIST_ADD(to->values, to->values_count, of->err);
	if (!added)
		return -1;
	*added = (struct peer_value){
		.unit = measured_keep(of, unit),
		.group = of->group,
		.test = measured_keep(of, test),
		/* A device may tell no clock. */
		.cell = strcmp(name, "clock_mhz") ? of->cell : NULL,
		.value = value,
		.threshold = of->pairs ? PEERS_NETWORK : test_threshold(name),
		.less = test_less(name),
		.pair = of->pairs,
		.number = SIZE_MAX,
	};
	return added->unit && added->test ? 0 : -1;
}

static int measured_row_add(struct measuring *of, struct measured_row **list,
			    size_t *count, const char *text)
{
	const char *kept = measured_keep(of, text);
	struct measured_row *added =
		kept ? LIST_ADD(*list, *count, of->err) : NULL;

	if (!added)
		return -1;
	*added = (struct measured_row){ .unit = of->unit,
					.group = of->group,
					.test = of->cell,
					.text = kept };
	return 0;
}

/* A metric "device2_fp32_tflops" is a value of a device. */
static int measured_metric(struct measuring *of, const char *name, double value)
{
	unsigned int device;
	char unit[200];
	int length = 0;

	if (sscanf(name, "device%3u_%n", &device, &length) != 1 || !length ||
	    !name[length])
		return measured_value(of, of->unit, name, value);
	snprintf(unit, sizeof(unit), "%s device %u", of->unit, device);
	return measured_value(of, unit, name + length, value);
}

static int measured_add_devices(struct measuring *of,
				const struct usage_summary *usage)
{
	for (size_t i = 0; usage && i < usage->devices_count; i++) {
		const struct device_usage *device = &usage->devices[i];
		char unit[200];

		snprintf(unit, sizeof(unit), "%s device %u",
			 device->node ? device->node : of->unit,
			 device->device);
		if (measured_value(of, unit, "clock_mhz",
				   device->clock_steady_mhz) < 0)
			return -1;
	}
	return 0;
}

static int measured_add_losses(struct measuring *of, const cJSON *series)
{
	const cJSON *losses = json_get(series, "loss");
	char *text;
	int rc;

	if (!cJSON_GetArraySize(losses))
		return 0;
	text = cJSON_PrintUnformatted(losses);
	for (size_t i = of->losses_begun; text && i < of->to->losses_count; i++)
		if (!strcmp(of->to->losses[i].text, text)) {
			cJSON_free(text);
			return 0;
		}
	rc = text ? measured_row_add(of, &of->to->losses, &of->to->losses_count,
				     text)
		  : error_nomem(of->err, "validation");
	cJSON_free(text);
	return rc;
}

static int measured_add_row(struct measuring *of, const struct report_row *row)
{
	const struct result *result = row->info.result;
	char words[ROW_NOTE_BYTES];
	const char *reason;

	if (!row_completed(row) || !result) {
		reason = row_reason(row, words);
		return measured_row_add(of, &of->to->failures,
					&of->to->failures_count,
					reason ? reason : "it did not end");
	}
	if (measured_row_add(of, &of->to->ran, &of->to->ran_count, "") < 0 ||
	    measured_value(of, of->unit,
			   row_rate(row).unit == RATE_NONE ? "" : "rate",
			   row_rate(row).unit == RATE_NONE
				   ? (double)NAN
				   : row_rate(row).value) < 0)
		return -1;
	for (size_t i = 0; i < result->metrics_count; i++)
		if (measured_metric(of, result->metrics[i].name,
				    result->metrics[i].number) < 0)
			return -1;
	return measured_add_devices(of, result->usage) < 0
		       ? -1
		       : measured_add_losses(of, row->series);
}

/* What the row ran on: hardware and driver of its first node. */
static void row_group(const struct report_row *row, char *to, size_t size)
{
	const struct provenance *from = row->info.provenance;
	const cJSON *facts = from ? from->environment : NULL;

	snprintf(to, size, "%s %s %s %s",
		 row->info.setup && row->info.setup->vendor
			 ? row->info.setup->vendor
			 : "",
		 json_get_text_or_empty(facts, "accelerator"),
		 from && from->cpu ? from->cpu : "",
		 from && from->driver ? from->driver : "");
}

static void row_unit(const struct report_row *row, char *to, size_t size)
{
	const char *node = row_text(row->info.values, "node");
	const struct provenance *from = row->info.provenance;

	snprintf(to, size, "%s", node ? node : "");
	for (size_t i = 0; !node && from && i < from->nodes.count; i++)
		text_append(to, size, "%s%s", i ? "+" : "",
			    from->nodes.items[i]);
}

/* The words of its cell, but for the node and its vendor. */
static void row_test(const struct report_row *row, char test[LABEL_SIZE])
{
	const char *name = row_cell(row), *word;
	size_t length;

	test[0] = 0;
	while ((length = labels_next(&name, &word)) > 0)
		if (strncmp(word, "node=", 5) != 0 &&
		    strncmp(word, "vendor=", 7) != 0 && strchr(word, '='))
			text_append(test, LABEL_SIZE, "%s%.*s",
				    *test ? " " : "", (int)length, word);
}

int measured_add(struct measured *measured, const struct report_rows *rows,
		 bool pairs, struct error *err)
{
	struct measuring of = { .to = measured, .pairs = pairs, .err = err };
	const char *cell = NULL;

	ROWS_EACH(row, rows)
	{
		char unit[2 * LABEL_SIZE], group[2 * LABEL_SIZE];

		if (cell && !strcmp(cell, row_cell(row))) {
			of.repeats++;
		} else {
			of.repeats = 1;
			of.begun = measured->values_count;
			of.losses_begun = measured->losses_count;
		}
		cell = row_cell(row);
		row_unit(row, unit, sizeof(unit));
		row_group(row, group, sizeof(group));
		row_test(row, of.test);
		of.unit = measured_keep(&of, unit);
		of.group = of.unit ? measured_keep(&of, group) : NULL;
		of.cell = of.group ? measured_keep(&of,
						   *of.test ? of.test : "run")
				   : NULL;
		if (!of.cell || measured_add_row(&of, row) < 0)
			return -1;
	}
	return 0;
}

/* Values of a test that are of this node or its devices. */
static size_t values_of(const struct peer_value *values, size_t count,
			const char *node, const char *test)
{
	size_t length = strlen(node), found = 0;

	for (size_t i = 0; i < count; i++)
		found += !strncmp(values[i].unit, node, length) &&
			 (!values[i].unit[length] ||
			  values[i].unit[length] == ' ') &&
			 !strcmp(values[i].test, test);
	return found;
}

static int lacking_add(struct measured *to, const struct measured_row *lacks,
		       struct error *err)
{
	struct measuring of = { .to = to,
				.unit = lacks->unit,
				.group = lacks->group,
				.cell = lacks->test,
				.err = err };
	char text[120];

	snprintf(text, sizeof(text),
		 "its output has %zu such values; that of others like it has "
		 "%zu",
		 lacks->same, lacks->rows);
	if (measured_row_add(&of, &to->failures, &to->failures_count, text) < 0)
		return -1;
	to->failures[to->failures_count - 1].same = lacks->same;
	to->failures[to->failures_count - 1].rows = lacks->rows;
	return 0;
}

static int counts_compare(const void *a, const void *b)
{
	size_t x = *(const size_t *)a, y = *(const size_t *)b;

	return (x > y) - (x < y);
}

static bool row_is_peer(const struct measured_row *row,
			const struct peer_value *value)
{
	return value->cell && !strcmp(row->test, value->cell) &&
	       !strcmp(row->group, value->group);
}

/* Rows that lack one test of these values, all of its group. */
static int lacking_find(struct measured *in, const struct peer_value *values,
			size_t count, size_t *room, struct error *err)
{
	size_t rows = 0;

	for (size_t i = 0; i < in->ran_count; i++)
		if (row_is_peer(&in->ran[i], values))
			room[rows++] = values_of(values, count, in->ran[i].unit,
						 values->test);
	qsort(room, rows, sizeof(*room), counts_compare);
	for (size_t i = 0; rows && i < in->ran_count; i++) {
		struct measured_row lacks = {
			.unit = in->ran[i].unit,
			.group = values->group,
			.test = values->test,
			.same = values_of(values, count, in->ran[i].unit,
					  values->test),
			.rows = room[(rows - 1) / 2],
		};

		if (row_is_peer(&in->ran[i], values) &&
		    lacks.same < lacks.rows && lacking_add(in, &lacks, err) < 0)
			return -1;
	}
	return 0;
}

int measured_lacking(struct measured *measured, struct error *err)
{
	const struct peer_value *values = measured->values;
	owned_free size_t *room =
		calloc(measured->ran_count + 1, sizeof(*room));

	if (!room)
		return error_nomem(err, "validation");
	for (size_t i = 0, end; i < measured->values_count; i = end) {
		for (end = i + 1; end < measured->values_count &&
				  !strcmp(values[i].test, values[end].test) &&
				  !strcmp(values[i].group, values[end].group);)
			end++;
		if (lacking_find(measured, &values[i], end - i, room, err) < 0)
			return -1;
	}
	return 0;
}

int measured_lacking_again(const struct measured *first,
			   struct measured *second, struct error *err)
{
	for (size_t i = 0; i < first->failures_count; i++) {
		struct measured_row lacks = first->failures[i];

		lacks.same = values_of(second->values, second->values_count,
				       lacks.unit, lacks.test);
		if (lacks.same < lacks.rows &&
		    lacking_add(second, &lacks, err) < 0)
			return -1;
	}
	return 0;
}

static bool losses_alike(const struct measured_row *a,
			 const struct measured_row *b)
{
	return !strcmp(a->test, b->test) && !strcmp(a->group, b->group);
}

void measured_losses(struct measured *measured)
{
	for (size_t i = 0; i < measured->losses_count; i++) {
		struct measured_row *of = &measured->losses[i];

		of->same = of->rows = 0;
		for (size_t k = 0; k < measured->losses_count; k++) {
			const struct measured_row *other = &measured->losses[k];

			if (!losses_alike(of, other))
				continue;
			of->rows++;
			of->same += !strcmp(of->text, other->text);
		}
	}
	for (size_t i = 0; i < measured->losses_count; i++) {
		struct measured_row *of = &measured->losses[i];

		of->differs = false;
		for (size_t k = 0; k < measured->losses_count; k++)
			of->differs |=
				losses_alike(of, &measured->losses[k]) &&
				2 * measured->losses[k].same > of->rows &&
				2 * of->same <= of->rows;
	}
}
