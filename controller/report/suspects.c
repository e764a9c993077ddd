/* suspects.c - groups suspect results by cause.
 */
#include "controller/report/suspects.h"

#include "controller/report/translations.h"
#include "controller/results/remarks.h"
#include "protocol/base/strings.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOBS_NAMED 12
#define NUMBER_MARK '\001' /* of a number in a cause */
#define CAUSE_MAX ((size_t)2 * REMARK_TEXT_MAX)

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

/* The sentence with a mark for each number. */
static char *cause_of(const struct remark *remark, enum language language)
{
	char buffer[REMARK_TEXT_MAX];
	const char *text =
		remark_sentence(remark, language, buffer, sizeof(buffer));
	char *cause = malloc(strlen(text) + 1), *to = cause;

	for (size_t i = 0; cause && text[i];) {
		size_t n = number_length(text, i);

		*to++ = n ? NUMBER_MARK : text[i];
		i += n ? n : 1;
	}
	if (cause)
		*to = 0;
	return cause;
}

/* The number with this index in the remark's sentence. */
static void number_text(const struct remark *remark, enum language language,
			size_t index, char *number, size_t size)
{
	char buffer[REMARK_TEXT_MAX];
	const char *text =
		remark_sentence(remark, language, buffer, sizeof(buffer));

	for (size_t i = 0, n; text[i]; i += n ? n : 1) {
		n = number_length(text, i);
		if (n && !index--) {
			snprintf(number, size, "%.*s", (int)n, text + i);
			return;
		}
	}
}

/* The smallest and the largest of the numbers with this index, "3–5". */
static void put_range(const struct suspect *suspect, size_t index, char *text)
{
	char low[64] = "", high[64] = "", other[64] = "";

	for (size_t i = 0; i < suspect->count; i++) {
		number_text(suspect->remarks[i], suspect->language, index,
			    other, sizeof(other));
		if (!i || strtod(other, NULL) < strtod(low, NULL))
			memcpy(low, other, sizeof(low));
		if (!i || strtod(other, NULL) > strtod(high, NULL))
			memcpy(high, other, sizeof(high));
	}
	text_append(text, CAUSE_MAX, strcmp(low, high) ? "%s\u2013%s" : "%s",
		    low, high);
}

static char *common_sentence(const struct suspect *suspect, const char *cause)
{
	char text[CAUSE_MAX] = "";

	for (size_t number = 0; *cause; cause++) {
		if (*cause == NUMBER_MARK)
			put_range(suspect, number++, text);
		else
			text_append(text, sizeof(text), "%c", *cause);
	}
	return strdup(text);
}

/* A row for each remark, by causes. The caller frees the keys. */
static int list_remarks(const struct report_rows *rows, enum language language,
			struct grouped_row *list, struct error *err)
{
	const struct remark *flag;
	size_t count = 0;

	ROWS_EACH(row, rows)
	{
		for (size_t i = 0; (flag = row_flag(row, i)); i++) {
			char *cause = cause_of(flag, language);

			if (!cause)
				return error_nomem(err, "report");
			list[count++] = (struct grouped_row){ .key = cause,
							      .row = row,
							      .remark = flag };
		}
	}
	rows_group(list, count);
	return 0;
}

static int group_remarks(const struct grouped_row *list, size_t count,
			 enum language language, struct suspects *suspects,
			 struct error *err)
{
	for (size_t i = 0, end; i < count; i = end) {
		struct suspect *suspect = &suspects->items[suspects->count++];

		suspect->language = language;
		suspect->rows = &suspects->rows[i];
		suspect->remarks = &suspects->remarks[i];
		for (end = i; end < count && list[end].first == list[i].first;
		     end++) {
			suspects->rows[end] = list[end].row;
			suspects->remarks[end] = list[end].remark;
		}
		suspect->count = end - i;
		suspect->text = common_sentence(suspect, list[i].key);
		if (!suspect->text)
			return error_nomem(err, "report");
	}
	return 0;
}

static size_t count_flags(const struct report_rows *rows)
{
	size_t count = 0;

	ROWS_EACH(row, rows)
	{
		for (size_t i = 0; row_flag(row, i); i++)
			count++;
	}
	return count;
}

int suspects_find(const struct report_rows *rows, enum language language,
		  struct suspects *suspects, struct error *err)
{
	size_t count = count_flags(rows);
	owned_free struct grouped_row *list = calloc(count + 1, sizeof(*list));
	int rc = -1;

	suspects->items = calloc(count + 1, sizeof(*suspects->items));
	suspects->rows = calloc(count + 1, sizeof(struct report_row *));
	suspects->remarks = calloc(count + 1, sizeof(struct remark *));
	if (!list || !suspects->items || !suspects->rows || !suspects->remarks)
		return error_nomem(err, "report");
	if (list_remarks(rows, language, list, err) == 0)
		rc = group_remarks(list, count, language, suspects, err);
	for (size_t i = 0; i < count; i++)
		free((char *)list[i].key);
	return rc;
}

void suspects_clear(struct suspects *suspects)
{
	for (size_t i = 0; i < suspects->count; i++)
		free(suspects->items[i].text);
	free(suspects->items);
	free(suspects->rows);
	free(suspects->remarks);
	*suspects = (struct suspects){ 0 };
}

const char *suspect_jobs(const struct suspect *suspect,
			 char text[SUSPECT_JOBS_SIZE])
{
	text[0] = 0;
	if (suspect->count > 1)
		text_append(text, SUSPECT_JOBS_SIZE,
			    phrase(suspect->language, "%zu jobs ("),
			    suspect->count);
	else
		text_append(text, SUSPECT_JOBS_SIZE, "%s",
			    phrase(suspect->language, "job "));
	for (size_t i = 0; i < suspect->count && i < JOBS_NAMED; i++)
		text_append(text, SUSPECT_JOBS_SIZE, "%s%llu", i ? ", " : "",
			    (unsigned long long)suspect->rows[i]->info.job);
	if (suspect->count > 1)
		text_append(text, SUSPECT_JOBS_SIZE, "%s)",
			    suspect->count > JOBS_NAMED ? " ..." : "");
	return text;
}
