/* origins.c - writes the provenance of all rows: each value once. */
#include "controller/report/origins.h"

#include "controller/report/translations.h"

#include "protocol/base/list.h"
#include "protocol/base/owned.h"
#include "protocol/base/strings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_BYTES 200 /* longer paths are cut */
#define PATHS_MAX 1000 /* further members are left out */
#define JOBS_NAMED 12  /* of a value; further ones are counted */

/* A value, and the jobs that have it. */
struct origin_value {
	char *text;
	uint64_t jobs[JOBS_NAMED], last;
	size_t count;
};

struct origin_path {
	char path[PATH_BYTES];
	struct origin_value *values;
	size_t count;
};

struct origins {
	struct origin_path *paths;
	size_t count;
	size_t next; /* where the next member probably is */
	size_t jobs;
};

static void origins_clear(struct origins *origins)
{
	for (size_t i = 0; i < origins->count; i++) {
		for (size_t k = 0; k < origins->paths[i].count; k++)
			free(origins->paths[i].values[k].text);
		free(origins->paths[i].values);
	}
	free(origins->paths);
}
OWNED_VALUE(struct origins, origins_clear)

/* Members come in the same order in each row; a new one stands behind the
 * member before it. NULL: there are too many.
 */
static struct origin_path *origin_path(struct origins *origins,
				       const char *path)
{
	struct origin_path *at;

	for (size_t i = 0; i < origins->count; i++) {
		size_t place = (origins->next + i) % origins->count;

		if (!strcmp(origins->paths[place].path, path)) {
			origins->next = place + 1;
			return &origins->paths[place];
		}
	}
	if (origins->count == PATHS_MAX)
		return NULL;
	if (origins->next > origins->count)
		origins->next = origins->count;
	at = &origins->paths[origins->next];
	memmove(at + 1, at, (origins->count - origins->next) * sizeof(*at));
	*at = (struct origin_path){ .count = 0 };
	snprintf(at->path, sizeof(at->path), "%s", path);
	origins->count++;
	origins->next++;
	return at;
}

static int origin_note(struct origins *origins, const char *path,
		       const char *text, uint64_t job, struct error *err)
{
	struct origin_path *at = origin_path(origins, path);
	struct origin_value *value = NULL;

	if (!at)
		return 0;
	for (size_t i = 0; !value && i < at->count; i++)
		if (!strcmp(at->values[i].text, text))
			value = &at->values[i];
	if (!value) {
		value = LIST_ADD(at->values, at->count, err);
		if (!value || string_set(&value->text, text, err) < 0)
			return -1;
	}
	/* A job may have it in several places, such as its hosts. */
	if (value->count && value->last == job)
		return 0;
	value->last = job;
	if (value->count < JOBS_NAMED)
		value->jobs[value->count] = job;
	value->count++;
	return 0;
}

/* A list of texts is one value, "n1, n2". */
static bool is_texts(const cJSON *list)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, list)
		if (!cJSON_IsString(item))
			return false;
	return cJSON_IsArray(list);
}

static int origin_note_value(struct origins *origins, const char *path,
			     const cJSON *value, uint64_t job,
			     struct error *err)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(SIZE_MAX);
	const cJSON *item;
	char *printed;
	int rc;

	if (cJSON_IsString(value))
		return origin_note(origins, path, value->valuestring, job, err);
	if (!is_texts(value)) {
		printed = cJSON_PrintUnformatted(value);
		rc = printed ? origin_note(origins, path, printed, job, err)
			     : error_nomem(err, "report");
		cJSON_free(printed);
		return rc;
	}
	cJSON_ArrayForEach(item, value)
		if (buffer_printf(&text, err, "%s%s", text.size ? ", " : "",
				  item->valuestring) < 0)
			return -1;
	return text.size ? origin_note(origins, path, text.data, job, err) : 0;
}

/* The members of an object, or of the objects of a list. */
static int origin_walk(struct origins *origins, const char *above,
		       const cJSON *map, uint64_t job, struct error *err)
{
	const cJSON *member;
	char path[PATH_BYTES];

	cJSON_ArrayForEach(member, map) {
		bool deep = cJSON_IsObject(member) ||
			    (cJSON_IsArray(member) &&
			     cJSON_IsObject(member->child));

		if (cJSON_IsNull(member))
			continue;
		snprintf(path, sizeof(path), "%s%s%s", above,
			 *above && member->string ? "." : "",
			 member->string ? member->string : "");
		if ((deep ? origin_walk(origins, path, member, job, err)
			  : origin_note_value(origins, path, member, job,
					      err)) < 0)
			return -1;
	}
	return 0;
}

static void origin_put_jobs(struct writer *to, const struct origin_value *value)
{
	writer_printf(to, " <span class=\"mute\">(%s",
		      phrase(to->language, value->count > 1 ? "jobs" : "job"));
	for (size_t i = 0; i < value->count && i < JOBS_NAMED; i++)
		writer_printf(to, "%s %llu", i ? "," : "",
			      (unsigned long long)value->jobs[i]);
	if (value->count > JOBS_NAMED)
		writer_printf(to, phrase(to->language, " and %zu more"),
			      value->count - JOBS_NAMED);
	writer_raw(to, ")</span>");
}

static void put_path(struct writer *to, const struct origin_path *path,
		     size_t jobs)
{
	writer_printf(to, "<tr><th>%s</th><td>", path->path);
	for (size_t i = 0; i < path->count; i++) {
		writer_printf(to, "<div>%s", path->values[i].text);
		if (path->count > 1 || path->values[i].count < jobs)
			origin_put_jobs(to, &path->values[i]);
		writer_raw(to, "</div>");
	}
	writer_raw(to, "</td></tr>\n");
}

void origins_html(struct writer *to, const struct report_rows *rows,
		  const char *title)
{
	owned(origins_clear) struct origins origins = {
		.paths = calloc(PATHS_MAX, sizeof(*origins.paths)),
	};
	struct error *err = &to->failure;

	if (!origins.paths) {
		error_nomem(err, "report");
		return;
	}
	ROWS_EACH(row, rows)
	{
		const struct provenance *of = row->info.provenance;
		cJSON *members;
		int rc;

		if (!row_completed(row) || !of || !of->image)
			continue;
		members = codec_object(&provenance_schema, of, err);
		if (!members)
			return;
		origins.next = 0;
		origins.jobs++;
		rc = origin_walk(&origins, "", members, row->info.job, err);
		cJSON_Delete(members);
		if (rc < 0)
			return;
	}
	if (!origins.count)
		return;
	writer_printf(to, "<h2>%s</h2>\n<details><summary>",
		      phrase(to->language, title));
	writer_printf(to, phrase(to->language, "%zu jobs"), origins.jobs);
	writer_raw(to, "</summary><table class=\"origins\">\n");
	for (size_t i = 0; i < origins.count; i++)
		put_path(to, &origins.paths[i], origins.jobs);
	writer_raw(to, "</table></details>\n");
}
