/* list.c - a growing list of structs.
 */
#include "protocol/base/list.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

void *list_grow(void *items, size_t count, size_t size, struct error *err)
{
	char *grown = items;
	size_t room = 1;

	if (malloc_usable_size(items) < (count + 1) * size) {
		while (room <= count)
			room *= 2;
		grown = realloc(items, room * size);
	}
	if (!grown)
		return error_null(error_nomem(err, "list"));
	memset(grown + count * size, 0, size);
	return grown;
}
