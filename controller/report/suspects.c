/* suspects.c - groups suspect results by cause.
 */
#include "controller/report/suspects.h"

#include "controller/report/row.h"
#include "protocol/base/strings.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOBS_NAMED 12

/* The length of the number that begins here; 0: none. Digits inside a word
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
	/* Longer by at most two bytes for each byte. */
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

/* A row for each sentence, by causes. The caller frees the keys. */
static int list_sentences(const cJSON *rows, struct grouped_row *sentences,
			  struct error *err)
{
	size_t count = 0;
	cJSON *row;
	const char *flag;

	cJSON_ArrayForEach(row, rows)
	{
		for (size_t i = 0; (flag = row_flag(row, i)); i++) {
			char *cause = cause_of(flag);

			if (!cause)
				return error_nomem(err, "report");
			sentences[count++] = (struct grouped_row){
				.key = cause, .row = row, .text = flag
			};
		}
	}
	rows_group(sentences, count);
	return 0;
}

/* A sentence that is the same in all rows keeps its numbers. */
static int group(const struct grouped_row *sentences, size_t count,
		 struct suspects *suspects, struct error *err)
{
	for (size_t i = 0, end; i < count; i = end) {
		struct suspect *suspect = &suspects->items[suspects->count++];
		bool same = true;

		suspect->rows = &suspects->rows[i];
		for (end = i;
		     end < count && sentences[end].first == sentences[i].first;
		     end++) {
			same &= !strcmp(sentences[end].text, sentences[i].text);
			suspect->rows[suspect->count++] =
				(struct suspect_row){ sentences[end].row,
						      sentences[end].text };
		}
		suspect->text =
			strdup(same ? sentences[i].text : sentences[i].key);
		if (!suspect->text)
			return error_nomem(err, "report");
	}
	return 0;
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

int suspects_find(const cJSON *rows, struct suspects *suspects,
		  struct error *err)
{
	size_t count = count_flags(rows);
	owned_free struct grouped_row *sentences =
		calloc(count + 1, sizeof(*sentences));
	int rc = -1;

	suspects->items = calloc(count + 1, sizeof(*suspects->items));
	suspects->rows = calloc(count + 1, sizeof(*suspects->rows));
	if (!sentences || !suspects->items || !suspects->rows)
		return error_nomem(err, "report");
	if (list_sentences(rows, sentences, err) == 0)
		rc = group(sentences, count, suspects, err);
	for (size_t i = 0; i < count; i++)
		free((char *)sentences[i].key);
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

const char *suspect_jobs(const struct suspect *suspect,
			 char text[SUSPECT_JOBS_SIZE])
{
	text[0] = 0;
	if (suspect->count > 1)
		text_append(text, SUSPECT_JOBS_SIZE, "%zu jobs (",
			    suspect->count);
	else
		text_append(text, SUSPECT_JOBS_SIZE, "job ");
	for (size_t i = 0; i < suspect->count && i < JOBS_NAMED; i++)
		text_append(text, SUSPECT_JOBS_SIZE, "%s%.0f", i ? ", " : "",
			    number_at(suspect->rows[i].row, "job"));
	if (suspect->count > 1)
		text_append(text, SUSPECT_JOBS_SIZE, "%s)",
			    suspect->count > JOBS_NAMED ? " ..." : "");
	return text;
}
