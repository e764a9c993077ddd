/* template.c - fills the cell templates of images/flagperf.yaml for one case.
 */
#include "controller/sweep/flagperf/template.h"
#include "protocol/message/json_get.h"

#include <string.h>

#define TEXT_BYTES 65536

int json_put(cJSON *object, const char *name, cJSON *item, struct error *err)
{
	cJSON_DeleteItemFromObjectCaseSensitive(object, name);
	if (item && cJSON_AddItemToObject(object, name, item))
		return 0;
	error_nomem(err, name); /* which may be the item's own */
	cJSON_Delete(item);
	return -1;
}

int json_append(cJSON *list, cJSON *item, struct error *err)
{
	if (item && cJSON_AddItemToArray(list, item))
		return 0;
	cJSON_Delete(item);
	return error_nomem(err, "flagperf");
}

static int template_nomem(const struct value *template, struct error *err)
{
	return error_nomem(err, value_file(template));
}

/* Fill a scalar; *made is NULL if the result is empty. */
static int fill_scalar(const struct value *template, const struct names *names,
		       cJSON **made, struct error *err)
{
	owned(buffer_clear) struct buffer out = BUFFER_INIT(TEXT_BYTES);
	const char *text;

	if (names_fill(names, template, &out, err) < 0)
		return -1;
	text = out.data;
	*made = NULL;
	if (!*text && *value_text(template))
		return 0;
	if (!value_quoted(template) && *text && strlen(text) < 16 &&
	    strspn(text, "0123456789") == strlen(text))
		*made = cJSON_CreateNumber(strtod(text, NULL));
	else if (!value_quoted(template) &&
		 (!strcmp(text, "true") || !strcmp(text, "false")))
		*made = cJSON_CreateBool(*text == 't');
	else
		*made = cJSON_CreateString(text);
	return *made ? 0 : template_nomem(template, err);
}

static int template_fill_value(const struct value *template,
			       const struct names *names, cJSON **made,
			       struct error *err)
{
	int rc;

	if (value_kind(template) == VALUE_SCALAR)
		return fill_scalar(template, names, made, err);
	*made = value_kind(template) == VALUE_LIST ? cJSON_CreateArray()
						   : cJSON_CreateObject();
	if (!*made)
		return template_nomem(template, err);
	rc = value_kind(template) == VALUE_LIST
		     ? template_list(template, names, *made, err)
		     : template_fill(template, names, *made, err);
	if (rc == 0 && (*made)->child)
		return 0;
	cJSON_Delete(*made);
	*made = NULL;
	return rc;
}

/* Fill {with: NAME, words: [...]}: the words, if the name is not empty. 1:
 * done; 0: the item is something else.
 */
static int fill_words(const struct value *item, const struct names *names,
		      cJSON *list, struct error *err)
{
	const struct value *with = value_get(item, "with");

	if (!with)
		return 0;
	if (!*names_plain(names, value_text(with)))
		return 1;
	return template_list(value_get(item, "words"), names, list, err) < 0
		       ? -1
		       : 1;
}

int template_list(const struct value *template, const struct names *names,
		  cJSON *list, struct error *err)
{
	if (!template)
		return 0;
	for (size_t i = 0; i < value_count(template); i++) {
		const struct value *item = value_at(template, i);
		int rc = fill_words(item, names, list, err);
		cJSON *made = NULL;

		if (rc < 0)
			return -1;
		if (rc)
			continue;
		if (template_fill_value(item, names, &made, err) < 0)
			return -1;
		if (!made && value_kind(item) == VALUE_SCALAR)
			made = cJSON_CreateString("");
		if (made && json_append(list, made, err) < 0)
			return -1;
	}
	return 0;
}

/* The key, or the text of the name for ${NAME}; empty: there is none. */
static const char *fill_key(const struct value *map, size_t index,
			    const struct names *names)
{
	const char *key = value_key(map, index);
	char name[64];

	if (strncmp(key, "${", 2) != 0 || strlen(key) >= sizeof(name))
		return key;
	snprintf(name, sizeof(name), "%.*s", (int)strlen(key) - 3, key + 2);
	return names_plain(names, name);
}

int template_fill(const struct value *template, const struct names *names,
		  cJSON *cell, struct error *err)
{
	for (size_t i = 0; template && i < value_count(template); i++) {
		const struct value *value = value_at(template, i);
		const char *key = fill_key(template, i, names);
		cJSON *old = json_get(cell, key);
		cJSON *made = NULL;

		if (!*key)
			continue;
		if (cJSON_IsObject(old) && value_kind(value) == VALUE_MAP) {
			if (template_fill(value, names, old, err) < 0)
				return -1;
			continue;
		}
		if (template_fill_value(value, names, &made, err) < 0)
			return -1;
		if (!made)
			cJSON_DeleteItemFromObjectCaseSensitive(cell, key);
		else if (json_put(cell, key, made, err) < 0)
			return -1;
	}
	return 0;
}
