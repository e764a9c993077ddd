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
	char words[SHOWN_BYTES + 1];

	if (!value) {
		table_cell(table, FAINT, "-");
	} else if (cJSON_IsNumber(value)) {
		/* Rounded, two that differ may look the same. */
		table_cell(table, PLAIN, "%.15g", value->valuedouble);
	} else {
		json_words(value, words, sizeof(words));
		table_text(table, words);
	}
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

	cJSON_ArrayForEach(item, of) {
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
	bool objects;

	one = cJSON_IsNull(one) ? NULL : one;
	other = cJSON_IsNull(other) ? NULL : other;
	objects = (!one || cJSON_IsObject(one)) &&
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

/* Bytes of the line's name, and of the line. */
static size_t package_name(const char *line)
{
	return strcspn(line, " \n");
}

static size_t package_line(const char *line)
{
	return strcspn(line, "\n");
}

static void put_version(struct table *table, const char *line)
{
	size_t name = package_name(line);
	size_t size = package_line(line += name + (line[name] == ' '));

	table_cell(table, PLAIN, "%.*s",
		   size > SHOWN_BYTES ? SHOWN_BYTES : (int)size, line);
}

static const char *package_next(const char *line)
{
	line += package_line(line);
	return *line ? line + 1 : line;
}

/* <0: the first comes before the second, by name; an end comes last. */
static int packages_order(const char *one, const char *other)
{
	size_t a = package_name(one), b = package_name(other);
	int order;

	if (!*one || !*other)
		return !*one - !*other;
	order = memcmp(one, other, a < b ? a : b);
	return order ? order : (a > b) - (a < b);
}

/* Both lists are sorted. */
static void differences_add_packages(struct table *table, const char *one,
				     const char *other)
{
	while (*one || *other) {
		int order = packages_order(one, other);
		const char *line = order <= 0 ? one : other;
		size_t size = package_line(line);

		if (order || size != package_line(other) ||
		    memcmp(one, other, size) != 0) {
			table_cell(table, PLAIN, "package %.*s",
				   (int)(package_name(line) > PATH_BYTES
						 ? PATH_BYTES
						 : package_name(line)),
				   line);
			if (order <= 0)
				put_version(table, one);
			else
				table_text(table, "-");
			if (order >= 0)
				put_version(table, other);
			else
				table_text(table, "-");
		}
		one = order <= 0 ? package_next(one) : one;
		other = order >= 0 ? package_next(other) : other;
	}
}

int differences_find(const struct job_info *one, const struct job_info *other,
		     const char *const packages[2],
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
	if (*packages[0] && *packages[1])
		differences_add_packages(&differences->table, packages[0],
					 packages[1]);
	return 0;
}
