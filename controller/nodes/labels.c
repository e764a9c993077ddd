/* labels.c - labels of nodes: key=value texts by which sweeps choose nodes.
 */
#include "controller/nodes/labels.h"
#include "protocol/base/buffer.h"
#include "protocol/wire/key.h"

#include <errno.h>
#include <string.h>

static int label_check(const cJSON *label, struct error *err)
{
	const char *value = cJSON_GetStringValue(label);

	if (!name_valid(label->string))
		return error_set(err, EINVAL,
				 "label: '%.80s' is not valid here; expected "
				 "letters, digits, '.', '_' and '-'",
				 label->string);
	if (cJSON_IsNull(label) ||
	    (value && *value && !strpbrk(value, ", \t\n") &&
	     strlen(value) < KEY_NAME_SIZE))
		return 0;
	return error_set(err, EINVAL,
			 "label %s: expected a text of up to %d bytes without "
			 "blanks and commas",
			 label->string, KEY_NAME_SIZE - 1);
}

static int labels_merge_change(cJSON *to, const cJSON *change,
			       struct error *err)
{
	const cJSON *label;

	cJSON_ArrayForEach(label, change)
	{
		if (label_check(label, err) < 0)
			return -1;
		cJSON_DeleteItemFromObjectCaseSensitive(to, label->string);
		if (cJSON_IsString(label) &&
		    !cJSON_AddStringToObject(to, label->string,
					     label->valuestring))
			return error_nomem(err, "labels");
	}
	if (cJSON_GetArraySize(to) > LABELS_MAX)
		return error_set(err, E2BIG,
				 "labels: a node has %d labels; expected at "
				 "most "
				 "%d",
				 cJSON_GetArraySize(to), LABELS_MAX);
	return 0;
}

cJSON *labels_merge(const cJSON *now, const cJSON *change, struct error *err)
{
	cJSON *to = now ? cJSON_Duplicate(now, true) : cJSON_CreateObject();

	if (!to)
		return error_null(error_nomem(err, "labels"));
	if (labels_merge_change(to, change, err) == 0)
		return to;
	cJSON_Delete(to);
	return NULL;
}

char *labels_text(const cJSON *labels)
{
	owned(buffer_clear) struct buffer text;
	const cJSON *label;

	buffer_init(&text, (size_t)LABELS_MAX * 3 * KEY_NAME_SIZE);
	cJSON_ArrayForEach(label, labels)
	{
		if (cJSON_IsString(label) &&
		    buffer_printf(&text, NULL, "%s%s=%s,", text.size ? "" : ",",
				  label->string, label->valuestring) < 0)
			return NULL;
	}
	return text.size ? strdup(text.data) : NULL;
}
