/* differences.c - what two jobs differ in.
 */
#include "controller/view/differences.h"
#include "controller/view/render.h"

#include <stdio.h>
#include <string.h>

#define PATH_BYTES 200
#define SHOWN_BYTES 400 /* of a value */
#define DEPTH_MAX 16

/* What tells two jobs apart, and no more; or stands elsewhere, too. */
static const char *const left_out[] = {
	"key",
	"owner",
	"sweep",
	"repeat",
	"after",
	"about",
	"attempt",
	"cell_key",
	"hosts",
	"formula",
	"memory_available_bytes",
};

static bool is_left_out(const char *name)
{
	for (size_t i = 0; i < sizeof(left_out) / sizeof(left_out[0]); i++)
		if (!strcmp(left_out[i], name))
			return true;
	return false;
}

void differences_clear(struct differences *differences)
{
	table_clear(&differences->table);
}

static void differences_put(struct table *table, const cJSON *value)
{
	char *printed = NULL;

	const char *text = cJSON_GetStringValue(value);

	if (text) {
		table_cell(table, PLAIN, "%.*s", SHOWN_BYTES, text);
	} else if (!value || cJSON_IsNull(value)) {
		table_cell(table, FAINT, "-");
	} else {
		printed = cJSON_PrintUnformatted(value);
		table_cell(table, PLAIN, "%.*s", SHOWN_BYTES,
			   printed ? printed : "");
	}
	cJSON_free(printed);
}

static void differences_add(struct table *table, const char *path,
			    const cJSON *one, const cJSON *other, int depth);

/* The members of `of`; `first`: of the first job, else only those that the
 * first one lacks.
 */
static void differences_add_members(struct table *table, const char *path,
				    const cJSON *of, const cJSON *to,
				    bool first, int depth)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, of)
	{
		const cJSON *there =
			cJSON_GetObjectItemCaseSensitive(to, item->string);
		char longer[PATH_BYTES];

		if (is_left_out(item->string) || (!first && there))
			continue;
		snprintf(longer, sizeof(longer), "%s%s%s", path,
			 *path ? "." : "", item->string);
		differences_add(table, longer, first ? item : NULL,
				first ? there : item, depth + 1);
	}
}

static void differences_add(struct table *table, const char *path,
			    const cJSON *one, const cJSON *other, int depth)
{
	bool objects = (!one || cJSON_IsObject(one)) &&
		       (!other || cJSON_IsObject(other));

	if (objects && depth < DEPTH_MAX) {
		differences_add_members(table, path, one, other, true, depth);
		differences_add_members(table, path, other, one, false, depth);
	} else if (!one || !other || !cJSON_Compare(one, other, true)) {
		table_text(table, path);
		differences_put(table, one);
		differences_put(table, other);
	}
}

int differences_find(const struct job_info *one, const struct job_info *other,
		     struct differences *differences, struct error *err)
{
	owned(cJSON_Delete) cJSON *origin = NULL, *against = NULL;

	*differences = (struct differences){ 0 };
	differences->columns[0].title = "WHAT";
	snprintf(differences->titles[0], sizeof(differences->titles[0]),
		 "JOB %llu", (unsigned long long)one->job);
	snprintf(differences->titles[1], sizeof(differences->titles[1]),
		 "JOB %llu", (unsigned long long)other->job);
	differences->columns[1].title = differences->titles[0];
	differences->columns[2].title = differences->titles[1];
	differences->table.columns = differences->columns;
	if ((one->provenance &&
	     !(origin = codec_object(&provenance_schema, one->provenance,
				     err))) ||
	    (other->provenance &&
	     !(against = codec_object(&provenance_schema, other->provenance,
				      err))))
		return -1;
	table_text(&differences->table, "rate");
	table_text(&differences->table, job_rate(one).text);
	table_text(&differences->table, job_rate(other).text);
	differences_add(&differences->table, "", one->spec, other->spec, 0);
	differences_add(&differences->table, "", origin, against, 0);
	return 0;
}
