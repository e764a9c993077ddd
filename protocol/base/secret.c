/* secret.c - overwrites memory that held a secret before it is released.
 */
#include "protocol/base/secret.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* cJSON needs so many bytes more than it writes. */
#define PRINT_EXTRA 6

void secret_free(char *text)
{
	if (text)
		explicit_bzero(text, strlen(text));
	free(text);
}

void secret_buffer_clear(struct buffer *buffer)
{
	if (buffer->capacity)
		explicit_bzero(buffer->data, buffer->capacity);
	buffer_clear(buffer);
}

static void wipe(cJSON *tree)
{
	cJSON *item;

	cJSON_ArrayForEach(item, tree) {
		if (cJSON_IsString(item))
			explicit_bzero(item->valuestring,
				       strlen(item->valuestring));
		wipe(item);
	}
}

void secret_json_free(cJSON *tree)
{
	wipe(tree);
	cJSON_Delete(tree);
}

/* The buffer has its full size from the start: one that grows would leave
 * copies behind.
 */
char *secret_json_print(const cJSON *tree, size_t max, struct error *err)
{
	char *text = tree ? calloc(1, max + PRINT_EXTRA) : NULL;

	if (!text)
		return error_null(error_nomem(err, "secret"));
	if (cJSON_PrintPreallocated((cJSON *)tree, text,
				    (int)(max + PRINT_EXTRA), 0))
		return text;
	explicit_bzero(text, max + PRINT_EXTRA);
	free(text);
	return error_null(
		error_set(err, E2BIG, "a secret of more than %zu bytes", max));
}
