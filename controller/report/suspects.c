/* suspects.c - why results are suspect, each cause once.
 */
#include "controller/report/suspects.h"

#include "controller/report/row.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOBS_NAMED 12

/* A sentence of a row, on its way to a group. */
struct sentence {
	char *cause; /* the sentence with "..." for each number */
	struct suspect_row at;
	size_t index;
	size_t first; /* index of the first entry of the same cause */
};

/* Length of the number that begins here, 0: none does. Digits inside a word
 * ("n12", "f1a") are no number.
 */
static size_t number_length(const char *text, size_t at)
{
	size_t n = 0;

	if (!isdigit((unsigned char)text[at]) ||
	    (at &&
	     (isalnum((unsigned char)text[at - 1]) || text[at - 1] == '_')))
		return 0;
	while (isdigit((unsigned char)text[at + n]) ||
	       (text[at + n] && strchr(".,", text[at + n]) &&
		isdigit((unsigned char)text[at + n + 1])))
		n++;
	return n;
}

static char *cause_of(const char *text)
{
	/* A number of one digit becomes three dots. */
	char *cause = malloc(strlen(text) * 3 + 1), *to = cause;

	for (size_t i = 0; cause && text[i];) {
		size_t n = number_length(text, i);

		if (n) {
			to = stpcpy(to, "...");
			i += n;
		} else {
			*to++ = text[i++];
		}
	}
	if (cause)
		*to = 0;
	return cause;
}

static int by_cause(const void *a, const void *b)
{
	const struct sentence *x = a, *y = b;
	int order = strcmp(x->cause, y->cause);

	return order ? order : (x->index > y->index) - (x->index < y->index);
}

static int by_first(const void *a, const void *b)
{
	const struct sentence *x = a, *y = b;

	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

static size_t count_flags(const cJSON *rows)
{
	size_t count = 0;
	const cJSON *row;

	cJSON_ArrayForEach(row, rows)
	{
		for (size_t i = 0; row_flag(row, i); i++)
			count++;
	}
	return count;
}

/* All sentences, those of one cause together. */
static int list_sentences(const cJSON *rows, struct sentence *sentences,
			  struct error *err)
{
	size_t count = 0;
	const cJSON *row;
	const char *flag;

	cJSON_ArrayForEach(row, rows)
	{
		for (size_t i = 0; (flag = row_flag(row, i)); i++) {
			sentences[count] = (struct sentence){
				.cause = cause_of(flag),
				.at = { row, flag },
				.index = count,
			};
			if (!sentences[count].cause)
				return error_nomem(err, "report");
			count++;
		}
	}
	qsort(sentences, count, sizeof(*sentences), by_cause);
	for (size_t i = 0; i < count; i++)
		sentences[i].first =
			i && !strcmp(sentences[i].cause, sentences[i - 1].cause)
				? sentences[i - 1].first
				: sentences[i].index;
	qsort(sentences, count, sizeof(*sentences), by_first);
	return 0;
}

/* With its numbers, where all of them have the same. */
static const char *common_text(const struct suspect *suspect, const char *cause)
{
	for (size_t i = 1; i < suspect->count; i++)
		if (strcmp(suspect->rows[i].text, suspect->rows[0].text) != 0)
			return cause;
	return suspect->rows[0].text;
}

static int group(const struct sentence *sentences, size_t count,
		 struct suspects *suspects, struct error *err)
{
	for (size_t i = 0; i < count; i++) {
		struct suspect *suspect;

		suspects->rows[i] = sentences[i].at;
		if (!i || sentences[i].first != sentences[i - 1].first)
			suspects->items[suspects->count++] = (struct suspect){
				.rows = &suspects->rows[i],
			};
		suspects->items[suspects->count - 1].count++;
		suspect = &suspects->items[suspects->count - 1];
		if (i + 1 < count &&
		    sentences[i + 1].first == sentences[i].first)
			continue;
		suspect->text =
			strdup(common_text(suspect, sentences[i].cause));
		if (!suspect->text)
			return error_nomem(err, "report");
	}
	return 0;
}

int suspects_find(const cJSON *rows, struct suspects *suspects,
		  struct error *err)
{
	size_t count = count_flags(rows);
	struct sentence *sentences = calloc(count + 1, sizeof(*sentences));
	int rc = -1;

	suspects->items = calloc(count + 1, sizeof(*suspects->items));
	suspects->rows = calloc(count + 1, sizeof(*suspects->rows));
	if (!sentences || !suspects->items || !suspects->rows)
		error_nomem(err, "report");
	else if (list_sentences(rows, sentences, err) == 0)
		rc = group(sentences, count, suspects, err);
	for (size_t i = 0; sentences && i < count; i++)
		free(sentences[i].cause);
	free(sentences);
	return rc;
}

void suspects_clear(struct suspects *suspects)
{
	for (size_t i = 0; i < suspects->count; i++)
		free(suspects->items[i].text);
	free(suspects->items);
	free(suspects->rows);
	*suspects = (struct suspects){ 0 };
}

static double job_of(const struct suspect_row *at)
{
	const cJSON *job = row_at(at->row, "job");

	return cJSON_IsNumber(job) ? job->valuedouble : 0;
}

const char *suspect_jobs(const struct suspect *suspect,
			 char text[SUSPECT_JOBS_SIZE])
{
	size_t used;

	if (suspect->count == 1) {
		snprintf(text, SUSPECT_JOBS_SIZE, "job %.0f",
			 job_of(suspect->rows));
		return text;
	}
	used = (size_t)snprintf(text, SUSPECT_JOBS_SIZE, "%zu jobs (",
				suspect->count);
	for (size_t i = 0; i < suspect->count && i < JOBS_NAMED; i++)
		used += (size_t)snprintf(text + used, SUSPECT_JOBS_SIZE - used,
					 "%s%.0f", i ? ", " : "",
					 job_of(&suspect->rows[i]));
	snprintf(text + used, SUSPECT_JOBS_SIZE - used, "%s)",
		 suspect->count > JOBS_NAMED ? " ..." : "");
	return text;
}
