/* expression.c - a PCRE2 expression of a data file, with limits.
 */
#include "protocol/base/clock.h"
#include "protocol/hardware/expression.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <errno.h>
#include <pcre2.h>
#include <string.h>

#define HEAP_LIMIT_KIB 4096

struct expression {
	char *source;
	pcre2_code *code;
	pcre2_match_data *match;
	pcre2_match_context *context;
	const char *text; /* of the last match; borrowed */
	PCRE2_SPTR names;
	uint32_t name_count;
	uint32_t name_size;
};

pcre2_code *expression_compile(const struct value *value, const char *text,
			       uint32_t options, struct error *err)
{
	PCRE2_UCHAR why[128] = "";
	PCRE2_SIZE offset = 0;
	int code = 0;
	pcre2_code *compiled =
		pcre2_compile((PCRE2_SPTR)text, strlen(text),
			      options | PCRE2_NEVER_UTF | PCRE2_NEVER_UCP |
				      PCRE2_NEVER_BACKSLASH_C,
			      &code, &offset, NULL);

	if (!compiled) {
		pcre2_get_error_message(code, why, sizeof(why));
		value_error(value, err,
			    "the expression is not valid after character %zu: "
			    "%s",
			    offset, (const char *)why);
	}
	return compiled;
}

struct expression *expression_new(const struct value *value, struct error *err)
{
	owned(expression_free) struct expression *expression =
		calloc(1, sizeof(*expression));
	const char *text;

	if (!expression)
		return error_null(error_nomem(err, "expression"));
	if (value_string(value, EXPRESSION_MAX, &text, err) < 0)
		return NULL;
	expression->code =
		expression_compile(value, text, PCRE2_CASELESS | PCRE2_DUPNAMES,
				   err);
	if (!expression->code)
		return NULL;
	expression->source = strdup(text);
	expression->match =
		pcre2_match_data_create_from_pattern(expression->code, NULL);
	expression->context = pcre2_match_context_create(NULL);
	if (!expression->source || !expression->match || !expression->context)
		return error_null(error_nomem(err, "expression"));
	pcre2_set_match_limit(expression->context, EXPRESSION_STEPS);
	pcre2_set_heap_limit(expression->context, HEAP_LIMIT_KIB);
	pcre2_pattern_info(expression->code, PCRE2_INFO_NAMECOUNT,
			   &expression->name_count);
	pcre2_pattern_info(expression->code, PCRE2_INFO_NAMEENTRYSIZE,
			   &expression->name_size);
	pcre2_pattern_info(expression->code, PCRE2_INFO_NAMETABLE,
			   &expression->names);
	return take(expression);
}

void expression_free(struct expression *expression)
{
	if (!expression)
		return;
	pcre2_match_context_free(expression->context);
	pcre2_match_data_free(expression->match);
	pcre2_code_free(expression->code);
	free(expression->source);
	free(expression);
}

int expression_match(struct expression *expression, const char *text,
		     size_t size, enum expression_place place,
		     struct error *err)
{
	static const uint32_t options[] = {
		[EXPRESSION_START] = PCRE2_ANCHORED,
		[EXPRESSION_WHOLE] = PCRE2_ANCHORED | PCRE2_ENDANCHORED,
	};
	int rc = pcre2_match(expression->code, (PCRE2_SPTR)text, size, 0,
			     options[place], expression->match,
			     expression->context);

	expression->text = text;
	if (rc > 0)
		return 1;
	if (rc == PCRE2_ERROR_NOMATCH)
		return 0;
	return error_set(err, EPROTO,
			 "the expression \"%.100s\" takes more than %d steps "
			 "on this text",
			 expression->source, EXPRESSION_STEPS);
}

size_t expression_groups(const struct expression *expression)
{
	return expression->name_count;
}

static PCRE2_SPTR entry_at(const struct expression *expression, size_t index)
{
	return expression->names + index * expression->name_size;
}

const char *expression_group_name(const struct expression *expression,
				  size_t index)
{
	return (const char *)entry_at(expression, index) + 2;
}

static bool expression_caught_number(const struct expression *expression,
				     uint32_t number, const char **text,
				     size_t *size)
{
	const PCRE2_SIZE *places = pcre2_get_ovector_pointer(expression->match);
	uint32_t count = pcre2_get_ovector_count(expression->match);
	const PCRE2_SIZE *place = places + (size_t)2 * number;

	if (number >= count || place[0] == PCRE2_UNSET || place[1] < place[0])
		return false;
	*text = expression->text + place[0];
	*size = place[1] - place[0];
	return true;
}

bool expression_caught(const struct expression *expression, size_t index,
		       const char **text, size_t *size)
{
	PCRE2_SPTR entry = entry_at(expression, index);

	return expression_caught_number(expression,
					(uint32_t)entry[0] << 8 | entry[1],
					text, size);
}

bool expression_caught_name(const struct expression *expression,
			    const char *name, const char **text, size_t *size)
{
	for (size_t i = 0; i < expression->name_count; i++)
		if (!strcmp(expression_group_name(expression, i), name) &&
		    expression_caught(expression, i, text, size))
			return true;
	return false;
}

int expression_find(struct expression *expression, const char *text,
		    size_t text_size, char *out, size_t size, struct error *err)
{
	const char *caught;
	size_t length;
	int rc = expression_match(expression, text, text_size,
				  EXPRESSION_ANYWHERE, err);

	if (rc < 0)
		return -1;
	if (!rc ||
	    (!expression_caught_number(expression, 1, &caught, &length) &&
	     !expression_caught_number(expression, 0, &caught, &length)))
		return error_set(err, ENOENT, "nothing matches \"%.100s\"",
				 expression->source);
	snprintf(out, size, "%.*s", (int)(length < size ? length : size - 1),
		 caught);
	return 0;
}

/* Nested repetitions double their steps with every letter. */
#define PROBE_LETTERS 40
#define PROBE_TIME_MS 20 /* of the processor, so that no file takes long */

/* The source of the expression follows the letters: PCRE2 does not start a
 * match on a text without a letter that the expression requires.
 */
static int probe(struct expression *expression, const char *letters,
		 size_t count, struct error *err)
{
	char text[PROBE_LETTERS + 1 + EXPRESSION_MAX];
	size_t size = strlen(expression->source);

	for (size_t i = 0; i < PROBE_LETTERS; i++)
		text[i] = letters[i % count];
	text[PROBE_LETTERS] = '\x01';
	memcpy(text + PROBE_LETTERS + 1, expression->source, size);
	if (expression_match(expression, text, PROBE_LETTERS + 1 + size,
			     EXPRESSION_ANYWHERE, NULL) < 0)
		return error_set(err, EPROTO,
				 "\"%.80s\", which takes more than %d steps on "
				 "texts such as \"%.8s...\"",
				 expression->source, EXPRESSION_STEPS, text);
	return 0;
}

int expression_probe(struct expression *expression, struct error *err)
{
	static const char common[] = "a0 .-:,_/";
	const char *source = expression->source;
	size_t size = strlen(source);
	int64_t end = clock_cpu_us() + PROBE_TIME_MS * INT64_C(1000);

	for (size_t i = 0; i < sizeof(common) - 1; i++)
		if (probe(expression, common + i, 1, err) < 0)
			return -1;
	for (size_t i = 0; i < size && clock_cpu_us() < end; i++)
		if ((!memchr(source, source[i], i) &&
		     probe(expression, source + i, 1, err) < 0) ||
		    (i + 1 < size && probe(expression, source + i, 2, err) < 0))
			return -1;
	return 0;
}
