/* key_values.c - copies the values of a cell's keys into its members. */
#include "controller/cell/key_values.h"
#include "protocol/message/result.h"

#include "controller/cell/keys.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LABEL_MAX 127 /* bytes */
#define FOLLOWS_BYTES 240
#define CONFIDENCE 0.95
#define REPEATS_MAX 10
#define DAY_MS (UINT64_C(24) * 3600 * 1000)

static int key_values_read_text(const struct value *value, size_t max,
				char **out, struct error *err)
{
	const char *text;

	if (value_string(value, max, &text, err) < 0)
		return -1;
	*out = strdup(text);
	return *out ? 0 : error_nomem(err, value_file(value));
}

static int key_values_read_word(const struct value *value,
				const char *const *words, char **out,
				struct error *err)
{
	size_t index;

	if (value_enum(value, words, &index, err) < 0)
		return -1;
	*out = strdup(words[index]);
	return *out ? 0 : error_nomem(err, value_file(value));
}

/* One of two words; *second: it is the second one. */
static int read_choice(const struct value *value, const char *const *words,
		       bool *second, struct error *err)
{
	size_t index;

	if (value_enum(value, words, &index, err) < 0)
		return -1;
	*second = index == 1;
	return 0;
}

/* A duration for a member of 32 bits. */
static int read_grace(const struct value *value, const struct key_rule *rule,
		      uint32_t *grace_ms, struct error *err)
{
	uint64_t ms;

	if (value_duration_ms(value, rule->min, rule->max, &ms, err) < 0)
		return -1;
	*grace_ms = (uint32_t)ms;
	return 0;
}

static int read_patience(const struct value *value, const struct key_rule *rule,
			 uint64_t *ms, struct error *err)
{
	const char *text = value_text(value);

	if (text && !strcmp(text, "off")) {
		*ms = HANG_OFF;
		return 0;
	}
	return value_duration_ms(value, rule->min, rule->max, ms, err);
}

/* Read a key with a member in key_rules[]. */
static int key_values_read_key(const struct value *value, size_t key,
			       struct cell *cell, struct error *err)
{
	const struct key_rule *rule = &key_rules[key];
	void *at = (char *)cell + rule->place;

	switch (rule->type) {
	case TYPE_U32:
		return value_u32(value, (uint32_t)rule->min,
				 (uint32_t)rule->max, at, err);
	case TYPE_U64:
		return value_u64(value, rule->min, rule->max, at, err);
	case TYPE_I64:
		return value_i64(value, -(int64_t)rule->max, (int64_t)rule->max,
				 at, err);
	case TYPE_DOUBLE:
		return value_double(value, (double)rule->min, (double)rule->max,
				    at, err);
	case TYPE_BOOL:
		return value_bool(value, at, err);
	case TYPE_DURATION:
		return value_duration_ms(value, rule->min, rule->max, at, err);
	case TYPE_GRACE:
		return read_grace(value, rule, at, err);
	case TYPE_PATIENCE:
		return read_patience(value, rule, at, err);
	case TYPE_SIZE:
		return value_size_bytes(value, rule->min, rule->max, at, err);
	case TYPE_WORD:
		return key_values_read_word(value, rule->words, at, err);
	case TYPE_CHOICE:
		return read_choice(value, rule->words, at, err);
	case TYPE_TEXT:
		return key_values_read_text(value, rule->max, at, err);
	case TYPE_FILLED:
	case TYPE_OTHER:
		break;
	}
	return 0;
}

static int key_values_read_keys(const struct value *const *values,
				struct cell *cell, struct error *err)
{
	for (size_t key = 0; key < KEYS; key++)
		if (values[key] && key_rules[key].place &&
		    key_values_read_key(values[key], key, cell, err) < 0)
			return -1;
	cell->shape.has_stage = values[KEY_PARALLEL_STAGE] != NULL;
	return 0;
}

static int compare_labels(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* "key=value", as `regatta node label` takes it. */
static int key_values_read_label(const struct value *value, const char **label,
				 struct error *err)
{
	const char *text, *equals;

	if (value_string(value, LABEL_MAX, &text, err) < 0)
		return -1;
	equals = strchr(text, '=');
	if (equals && equals != text && equals[1] && !strpbrk(text, ", \t\n")) {
		*label = text;
		return 0;
	}
	return value_invalid(value, err, "a node label, key=value");
}

/* `node: n1+n2` becomes the label that every node has. */
static int read_node_names(const struct value *value, struct job_spec *spec,
			   struct error *err)
{
	owned_free char *label = NULL;
	const char *names;

	if (!value)
		return 0;
	if (value_string(value, key_rules[KEY_NODE].max, &names, err) < 0)
		return -1;
	if (!text_is_of(names, key_rules[KEY_NODE].max,
			ASCII_LETTERS ASCII_DIGITS "._-+"))
		return value_invalid(value, err,
				     "names of nodes, with + between them");
	if (asprintf(&label, "%s%snode=%s", spec->labels ? spec->labels : "",
		     spec->labels ? "," : "", names) < 0)
		return error_nomem(err, "node");
	return string_set(&spec->labels, label, err);
}

/* One label or a list of them, to one text in their order. */
static int read_labels(const struct value *value, struct job_spec *spec,
		       struct error *err)
{
	const struct key_rule *rule = &key_rules[KEY_LABELS];
	const char *labels[KEY_LABELS_MAX];
	char text[KEY_LABELS_MAX * (LABEL_MAX + 1)] = "";
	size_t count = 1, used = 0;

	if (!value)
		return 0;
	if (value_kind(value) == VALUE_LIST)
		count = value_count(value);
	if (!count || count > rule->max)
		return value_error(value, err,
				   "%zu labels; expected 1 to %" PRIu64, count,
				   rule->max);
	for (size_t i = 0; i < count; i++)
		if (key_values_read_label(value_kind(value) == VALUE_LIST
						  ? value_at(value, i)
						  : value,
					  &labels[i], err) < 0)
			return -1;
	qsort(labels, count, sizeof(labels[0]), compare_labels);
	for (size_t i = 0; i < count; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "%s%s", i ? "," : "", labels[i]);
	return string_set(&spec->labels, text, err);
}

/* The layers of each pipeline stage. */
static int read_split(const struct value *list, struct parallel_layout *shape,
		      struct error *err)
{
	const struct key_rule *rule = &key_rules[KEY_PARALLEL_SPLIT];

	if (!list)
		return 0;
	if (value_expect(list, VALUE_LIST, err) < 0)
		return -1;
	if (!value_count(list) || value_count(list) > rule->max)
		return value_invalid(list, err,
				     "the layers of 1 to %" PRIu64 " stages",
				     rule->max);
	for (size_t i = 0; i < value_count(list); i++) {
		uint32_t layers;

		if (value_u32(value_at(list, i), (uint32_t)rule->min,
			      (uint32_t)rule->max, &layers, err) < 0)
			return -1;
		shape->split_layers += layers;
		shape->split_stages++;
	}
	return 0;
}

static int read_until(const struct value *const *values,
		      struct until_spec *until, struct error *err)
{
	const struct value *confidence = values[KEY_UNTIL_CONFIDENCE];
	const struct value *width = values[KEY_UNTIL_WIDTH];
	const struct value *max = values[KEY_UNTIL_MAX];

	if (!width && (confidence || max))
		return value_error(confidence ? confidence : max, err,
				   "missing width (expected the precision of "
				   "the rate, until: {width: 1%%})");
	if (!width)
		return 0;
	until->confidence = CONFIDENCE;
	until->max = REPEATS_MAX;
	if (value_share(width, &until->width, err) < 0 ||
	    (confidence && value_double(confidence, 0.5, 0.999,
					&until->confidence, err) < 0) ||
	    (max && value_u32(max, (uint32_t)key_rules[KEY_UNTIL_MAX].min,
			      (uint32_t)key_rules[KEY_UNTIL_MAX].max,
			      &until->max, err) < 0))
		return -1;
	return 0;
}

static int read_stop(const struct value *value, struct job_spec *spec,
		     struct error *err)
{
	if (!value)
		return 0;
	spec->stop_never = !strcmp(value_text(value), "off");
	if (spec->stop_never)
		return 0;
	return strchr(value_text(value), '%')
		       ? value_share(value, &spec->stop_share, err)
		       : value_u32(value,
				   (uint32_t)key_rules[KEY_STOP_AFTER].min,
				   (uint32_t)key_rules[KEY_STOP_AFTER].max,
				   &spec->stop_failures, err);
}

static int read_after(const struct value *const *values, struct job_spec *spec,
		      struct error *err)
{
	const struct value *after = values[KEY_AFTER];
	char words[FOLLOWS_BYTES] = "";
	size_t used = 0;

	if (!after)
		return 0;
	if (!value_count(after))
		return value_invalid(after, err, "values of other cells");
	for (size_t i = 0; i < value_count(after) && used < sizeof(words); i++)
		used += (size_t)snprintf(words + used, sizeof(words) - used,
					 "%s%s=%s", i ? " " : "",
					 value_key(after, i),
					 value_text(value_at(after, i)));
	spec->same_nodes = true;
	if (values[KEY_SAME_NODES] &&
	    value_bool(values[KEY_SAME_NODES], &spec->same_nodes, err) < 0)
		return -1;
	return string_set(&spec->follows, words, err);
}

/* Its nodes must be accepted: a label with seconds, before the submission. */
static int read_preflight(const struct value *max_age, struct cell *cell,
			  struct error *err)
{
	owned_free char *was = NULL;
	uint64_t age_ms = DAY_MS;

	if (max_age && !cell->preflight)
		return value_error(max_age, err,
				   "missing set (expected the validation of "
				   "the nodes, preflight: {set: quick})");
	if (!cell->preflight)
		return 0;
	if (max_age &&
	    value_duration_ms(max_age, 1000, 365 * DAY_MS, &age_ms, err) < 0)
		return -1;
	was = take(cell->spec.labels);
	return asprintf(&cell->spec.labels, ACCEPTED_LABEL "=-%" PRIu64 "%s%s",
			age_ms / 1000, was ? "," : "", was ? was : "") < 0
		       ? error_nomem(err, "preflight")
		       : 0;
}

/* The keys that key_values_read_key() cannot read. */
static int read_others(const struct value *const *values, struct cell *cell,
		       struct error *err)
{
	const struct value *ipc = values[KEY_IPC];
	const struct value *processes = values[KEY_PROCESSES];

	/* NULL is the default of engines, "private". */
	if (ipc && strcmp(value_text(ipc), key_rules[KEY_IPC].fallback) != 0 &&
	    key_values_read_word(ipc, key_rules[KEY_IPC].words,
				 &cell->spec.container.ipc, err) < 0)
		return -1;
	if (read_split(values[KEY_PARALLEL_SPLIT], &cell->shape, err) < 0 ||
	    read_labels(values[KEY_LABELS], &cell->spec, err) < 0 ||
	    read_node_names(values[KEY_NODE], &cell->spec, err) < 0 ||
	    read_until(values, &cell->spec.until, err) < 0 ||
	    read_stop(values[KEY_STOP_AFTER], &cell->spec, err) < 0 ||
	    read_preflight(values[KEY_PREFLIGHT_MAX_AGE], cell, err) < 0 ||
	    read_after(values, &cell->spec, err) < 0)
		return -1;
	if (!processes)
		return 0;
	if (!strcmp(value_text(processes), "device")) {
		cell->shape.processes =
			cell->shape.devices ? cell->shape.devices : 1;
		if (cell->shape.processes <= key_rules[KEY_PROCESSES].max)
			return 0;
		return value_error(processes, err,
				   "\"device\" with %u devices is not valid "
				   "here; expected %" PRIu64 " processes",
				   cell->shape.devices,
				   key_rules[KEY_PROCESSES].max);
	}
	return value_u32(processes, (uint32_t)key_rules[KEY_PROCESSES].min,
			 (uint32_t)key_rules[KEY_PROCESSES].max,
			 &cell->shape.processes, err);
}

int key_values_read(const struct value *const *values, struct cell *cell,
		    struct error *err)
{
	if (key_values_read_keys(values, cell, err) < 0)
		return -1;
	return read_others(values, cell, err);
}
