/* key.c - the content address of a cell: what its job is, as a hash.
 *
 * The hash is over the fields themselves, not over their JSON: most of the time
 * that a large sweep takes would go into printing numbers.
 */
#include "controller/cell/key.h"
#include "protocol/base/digest.h"

#include <string.h>

static void cell_key_put_number(struct digest *to, uint64_t number)
{
	unsigned char bytes[8];

	for (int i = 0; i < 8; i++)
		bytes[i] = (unsigned char)(number >> 8 * i);
	digest_add(to, bytes, sizeof(bytes));
}

/* The length precedes the text, so that adjacent texts stay apart. */
static void cell_key_put_text(struct digest *to, const char *text)
{
	size_t length = text ? strlen(text) : 0;

	cell_key_put_number(to, length);
	digest_add(to, text ? text : "", length);
}

static void cell_key_put_strings(struct digest *to,
				 const struct strings *strings)
{
	cell_key_put_number(to, strings->count);
	for (size_t i = 0; i < strings->count; i++)
		cell_key_put_text(to, strings->items[i]);
}

static int cell_key_put_json(struct digest *to, const cJSON *json,
			     struct error *err)
{
	char *text = json ? cJSON_PrintUnformatted(json) : NULL;

	if (json && !text)
		return error_nomem(err, "key");
	cell_key_put_text(to, text);
	cJSON_free(text);
	return 0;
}

static int put_fields(struct digest *to, const struct schema *schema,
		      const void *from, struct error *err);

static int cell_key_put_list(struct digest *to, const struct field *field,
			     const char *from, struct error *err)
{
	const char *items = *(const char *const *)(from + field->offset);
	size_t count = *(const size_t *)(from + field->count_offset);

	cell_key_put_number(to, count);
	for (size_t i = 0; i < count; i++)
		if (put_fields(to, field->schema,
			       items + i * field->schema->size, err) < 0)
			return -1;
	return 0;
}

static int cell_key_put_value(struct digest *to, const struct field *field,
			      const char *from, struct error *err)
{
	const void *at = from + field->offset;
	uint64_t bits;

	switch (field->kind) {
	case FIELD_BOOL:
		cell_key_put_number(to, *(const bool *)at);
		return 0;
	case FIELD_U32:
		cell_key_put_number(to, *(const uint32_t *)at);
		return 0;
	case FIELD_U64:
		cell_key_put_number(to, *(const uint64_t *)at);
		return 0;
	case FIELD_I64:
		cell_key_put_number(to, (uint64_t) * (const int64_t *)at);
		return 0;
	case FIELD_DOUBLE:
		memcpy(&bits, at, sizeof(bits));
		cell_key_put_number(to, bits);
		return 0;
	case FIELD_STRING:
		cell_key_put_text(to, *(char *const *)at);
		return 0;
	case FIELD_STRINGS:
		cell_key_put_strings(to, at);
		return 0;
	case FIELD_JSON:
		return cell_key_put_json(to, *(cJSON *const *)at, err);
	case FIELD_STRUCT:
		return put_fields(to, field->schema, at, err);
	case FIELD_LIST:
		return cell_key_put_list(to, field, from, err);
	default:
		break; /* a spec has none of the others */
	}
	return 0;
}

static int put_fields(struct digest *to, const struct schema *schema,
		      const void *from, struct error *err)
{
	for (size_t i = 0; i < schema->count; i++) {
		const struct field *field = &schema->fields[i];

		if (field->optional && codec_field_is_zero(field, from))
			continue;
		cell_key_put_text(to, field->name);
		if (cell_key_put_value(to, field, from, err) < 0)
			return -1;
	}
	cell_key_put_text(to, ""); /* the end of the struct */
	return 0;
}

/* Runs on other nodes are other runs only where nodes are named: "node=n1" is
 * the last label. NULL: it is not there.
 */
static char *named_nodes(char *labels)
{
	char *last = labels ? strrchr(labels, ',') : NULL;

	last = last ? last + 1 : labels;
	return last && !strncmp(last, "node=", 5) ? last : NULL;
}

int spec_key(const struct job_spec *spec, char key[SPEC_KEY_SIZE],
	     struct error *err)
{
	struct job_spec content = *spec; /* borrows everything */
	struct digest to;

	content.sweep = content.cell = content.key = NULL;
	content.values = NULL;
	content.repeat = 0;
	content.priority = 0;
	content.timeout_ms = content.hang_ms = 0;
	content.retries = 0;
	content.measure.spread_percent = 0;
	content.measure.steps = 0; /* the command contains it */
	content.container.recorder_off = false;
	content.about = NULL;
	content.labels = named_nodes(spec->labels);
	content.after_count = 0;
	content.same_nodes = false;
	content.same_driver = content.foreign_allowed = false;
	content.until = (struct until_spec){ 0 };
	content.stop_failures = 0;
	content.stop_share = 0;
	content.stop_never = false;
	content.race = (struct race_spec){ .heat = spec->race.heat };
	digest_init(&to);
	if (put_fields(&to, &job_spec_schema, &content, err) < 0)
		return -1;
	digest_hex(&to, key);
	return 0;
}
