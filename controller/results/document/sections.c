/* sections.c - keeps the matches of rules with `to` in rows until they are
 * printed.
 */
#include "controller/results/document/sections.h"

#include "controller/results/json_object.h"
#include "controller/results/visitor.h"
#include "protocol/base/printable.h"

#include <math.h>
#include <string.h>

#define EVALUATIONS_MAX 4096

struct row {
	double key;
	double rank; /* that printed it; infinite: unknown */
	cJSON *json;
};

struct section {
	const char *name; /* of the rules */
	enum rule_row form;
	struct row *rows;
	size_t count;
	uint64_t matches;
};

struct sections {
	const struct fields *fields; /* of the extract */
	struct section *items;       /* one per rule at most */
	size_t count;
	uint64_t evaluated[EVALUATIONS_MAX];
	size_t evaluated_count;
	bool evaluation; /* there was one since the last step */
};

struct sections *sections_new(struct error *err)
{
	struct sections *sections = calloc(1, sizeof(*sections));

	if (sections)
		sections->items =
			calloc(EXTRACT_RULES_MAX, sizeof(*sections->items));
	if (sections && sections->items)
		return sections;
	free(sections);
	return error_null(error_nomem(err, "log sections"));
}

void sections_free(struct sections *sections)
{
	if (!sections)
		return;
	for (size_t i = 0; i < sections->count; i++) {
		struct section *section = &sections->items[i];

		for (size_t r = 0; r < section->count; r++)
			cJSON_Delete(section->rows[r].json);
		free(section->rows);
	}
	free(sections->items);
	free(sections);
}

static cJSON *value_json(const struct captured_value *value)
{
	char text[SECTION_TEXT_MAX + 1];
	size_t size = value->size;

	if (value->kind == CAPTURED_NUMBER)
		return number_json(value->number);
	if (value->kind == CAPTURED_BOOL)
		return cJSON_CreateBool(value->number != 0);
	if (size > SECTION_TEXT_MAX)
		size = SECTION_TEXT_MAX;
	memcpy(text, value->text, size);
	text[size] = 0;
	printable(text, size);
	return cJSON_CreateString(text);
}

/* Set a member of an object, which may exist. */
static int set_member(cJSON *object, const char *name, cJSON *json)
{
	if (json &&
	    (cJSON_GetObjectItemCaseSensitive(object, name)
		     ? cJSON_ReplaceItemInObjectCaseSensitive(object, name,
							      json)
		     : cJSON_AddItemToObject(object, name, json)))
		return 0;
	cJSON_Delete(json);
	return -1;
}

static int fill_object(const struct sections *sections, cJSON *object,
		       const struct captured *captured)
{
	for (size_t i = 0; i < captured->count; i++) {
		const struct captured_value *value = &captured->values[i];
		const char *name = fields_name(sections->fields, value->field);

		if (set_member(object, name, value_json(value)) < 0)
			return -1;
	}
	return 0;
}

/* Groups that matched nothing are null. */
static int fill_nulls(const struct sections *sections, cJSON *object,
		      const struct rule *rule)
{
	for (size_t i = 0; i < rule->source_count; i++) {
		const struct target *target = rule->sources[i].targets;
		const char *name = fields_name(sections->fields, target->field);

		if (target->form != FORM_FLAG &&
		    !cJSON_HasObjectItem(object, name) &&
		    !cJSON_AddNullToObject(object, name))
			return -1;
	}
	return 0;
}

static int fill_list(cJSON *list, const struct captured *captured)
{
	for (size_t i = 0; i < captured->count; i++) {
		cJSON *json = value_json(&captured->values[i]);

		if (!json || !cJSON_AddItemToArray(list, json))
			return -1;
	}
	return 0;
}

/* The value at the field named "value", under the name at "key". */
static int fill_entry(const struct sections *sections, cJSON *object,
		      const struct captured *captured)
{
	const struct captured_value *key = NULL, *value = NULL;
	char name[SECTION_TEXT_MAX + 1];

	for (size_t i = 0; i < captured->count; i++) {
		const struct captured_value *one = &captured->values[i];
		const char *field = fields_name(sections->fields, one->field);

		if (!strcmp(field, "key") && one->kind == CAPTURED_TEXT)
			key = one;
		else if (!strcmp(field, "value"))
			value = one;
	}
	if (!key || !value || key->size > SECTION_TEXT_MAX ||
	    cJSON_GetArraySize(object) >= FIELDS_MAX)
		return 0;
	memcpy(name, key->text, key->size);
	name[key->size] = 0;
	printable(name, key->size);
	return set_member(object, name, value_json(value));
}

static struct section *find(const struct sections *sections, const char *name)
{
	for (size_t i = 0; i < sections->count; i++)
		if (!strcmp(sections->items[i].name, name))
			return &sections->items[i];
	return NULL;
}

static struct section *section_of(struct sections *sections,
				  const struct rule *rule)
{
	struct section *section = find(sections, rule->to);

	if (section || sections->count == EXTRACT_RULES_MAX)
		return section;
	section = &sections->items[sections->count++];
	section->name = rule->to;
	section->form = rule->row;
	return section;
}

/* The index of the key's row, or where it has to be inserted. */
static size_t place_of(const struct section *section, double key)
{
	size_t low = 0, high = section->count;

	if (high && section->rows[high - 1].key < key)
		return high;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (section->rows[middle].key < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* A new row at its place, or NULL: no memory. */
static struct row *insert(struct section *section, size_t place, double key,
			  cJSON *json)
{
	struct row *rows = section->rows;
	size_t count = section->count;

	if (!(count & (count - 1)))
		rows = realloc(rows, (count ? count * 2 : 1) * sizeof(*rows));
	if (rows)
		section->rows = rows;
	if (!rows || !json) {
		cJSON_Delete(json);
		return NULL;
	}
	memmove(rows + place + 1, rows + place,
		(count - place) * sizeof(*rows));
	rows[place] =
		(struct row){ .key = key, .rank = INFINITY, .json = json };
	section->count++;
	return &rows[place];
}

/* Find or add the row of the match: 1; 0: none; -1: no memory. */
static int find_row(struct section *section, const struct captured *captured,
		    struct row **row)
{
	const struct rule *rule = captured->rule;
	const struct captured_value *key =
		captured_find(captured, rule->row_field);
	bool list = rule->row == ROW_LIST || rule->row == ROW_VALUE ||
		    rule->row == ROW_LATEST;
	size_t place = section->count;
	double number = (double)section->count;

	if (rule->row == ROW_BY) {
		/* A match without a key gets its own row. */
		number = key && key->kind == CAPTURED_NUMBER &&
					 isfinite(key->number)
				 ? key->number
				 : INFINITY;
		place = place_of(section, number);
		*row = place < section->count ? &section->rows[place] : NULL;
		if (*row && (*row)->key == number && number < INFINITY)
			return 1;
	} else if (rule->row != ROW_NEW && rule->row != ROW_LIST &&
		   rule->row != ROW_VALUE) {
		if (section->count) {
			*row = &section->rows[section->count - 1];
			return 1;
		}
		if (rule->row == ROW_LAST)
			return 0;
	}
	if (section->count == SECTION_ROWS_MAX)
		return 0;
	*row = insert(section, place, number,
		      list ? cJSON_CreateArray() : cJSON_CreateObject());
	return *row ? 1 : -1;
}

static int take_row(const struct sections *sections, struct section *section,
		    const struct captured *captured)
{
	const struct captured_value *rank =
		captured_find(captured, RECORD_RANK);
	enum rule_row form = captured->rule->row;
	struct row *row = NULL;
	int rc = find_row(section, captured, &row);

	if (rc < 1)
		return rc;
	if (rank && rank->number > row->rank)
		return 0;
	if (rank)
		row->rank = rank->number;
	if (form == ROW_LATEST) {
		cJSON *list = cJSON_CreateArray();

		if (!list)
			return -1;
		cJSON_Delete(row->json);
		row->json = list;
	}
	if (form == ROW_LIST || form == ROW_LATEST || form == ROW_VALUE)
		return fill_list(row->json, captured);
	if (form == ROW_ENTRY)
		return fill_entry(sections, row->json, captured);
	if (fill_object(sections, row->json, captured) < 0)
		return -1;
	return form == ROW_NEW && captured->rule->kind == RULE_MATCH
		       ? fill_nulls(sections, row->json, captured->rule)
		       : 0;
}

/* Remember the first step after an evaluation. */
static void note_evaluation(struct sections *sections,
			    const struct captured *captured)
{
	const char *to = captured->rule->to;
	const struct captured_value *step =
		captured_find(captured, RECORD_STEP);

	if (to && (!strcmp(to, "eval") || !strcmp(to, "validation")))
		sections->evaluation = true;
	if (to || !step || !sections->evaluation)
		return;
	sections->evaluation = false;
	if (sections->evaluated_count < EVALUATIONS_MAX)
		sections->evaluated[sections->evaluated_count++] =
			(uint64_t)step->number;
}

static int take_match(const struct captured *captured, void *arg)
{
	struct sections *sections = arg;
	struct section *section;

	note_evaluation(sections, captured);
	if (!captured->rule->to)
		return 0;
	section = section_of(sections, captured->rule);
	if (!section)
		return 0;
	section->matches++;
	return captured->rule->row == ROW_COUNT
		       ? 0
		       : take_row(sections, section, captured);
}

void sections_listen(struct sections *sections, struct extract *extract)
{
	sections->fields = extract_fields(extract);
	extract_visit(extract, take_match, sections);
}

bool sections_empty(const struct sections *sections)
{
	return !sections->count;
}

size_t section_count(const struct sections *sections, const char *name)
{
	const struct section *section = find(sections, name);

	return section ? section->count : 0;
}

const cJSON *section_row(const struct sections *sections, const char *name,
			 size_t row, double *key)
{
	const struct section *section = find(sections, name);

	if (!section || row >= section->count)
		return NULL;
	if (key)
		*key = section->rows[row].key;
	return section->rows[row].json;
}

bool sections_evaluated(const struct sections *sections, uint64_t step)
{
	for (size_t i = 0; i < sections->evaluated_count; i++)
		if (sections->evaluated[i] == step)
			return true;
	return false;
}

/* One value, one list or map, or a list of the rows. */
static cJSON *section_json(const struct section *section)
{
	cJSON *list;

	if (section->form == ROW_COUNT)
		return cJSON_CreateNumber((double)section->matches);
	if (section->form == ROW_ONE || section->form == ROW_ENTRY ||
	    section->form == ROW_LATEST)
		return section->count
			       ? cJSON_Duplicate(section->rows[0].json, true)
			       : cJSON_CreateNull();
	list = cJSON_CreateArray();
	for (size_t i = 0; list && i < section->count; i++) {
		const cJSON *json = section->rows[i].json;

		/* Leave out rows with only a key. */
		if (section->form == ROW_BY && cJSON_GetArraySize(json) < 2)
			continue;
		if (section->form == ROW_VALUE)
			json = json->child;
		if (json)
			cJSON_AddItemToArray(list, cJSON_Duplicate(json, true));
	}
	return list;
}

int sections_print(const struct sections *sections, cJSON *object)
{
	for (size_t i = 0; i < sections->count; i++) {
		cJSON *json = section_json(&sections->items[i]);

		if (!json ||
		    !cJSON_AddItemToObject(object, sections->items[i].name,
					   json)) {
			cJSON_Delete(json);
			return -1;
		}
	}
	return 0;
}
