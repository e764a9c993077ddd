/* list.h - a growing list of structs: a pointer to the items, and their count.
 */
#pragma once

#include "protocol/base/error.h"

/* A zeroed item behind the last one, and counted; the others may move. items is
 * NULL, or memory of malloc(3) that the owner of the list frees. NULL: ENOMEM;
 * the list is as it was.
 */
#define LIST_ADD(items, count, err)                                            \
	({                                                                     \
		__typeof__(items) list_grown_ =                                \
			list_grow((items), (count),                            \
				  sizeof(__typeof__(*(items))), (err));        \
		if (list_grown_)                                               \
			(items) = list_grown_;                                 \
		list_grown_ ? &(items)[(count)++] : NULL;                      \
	})

/* The items with a zeroed one behind them. For LIST_ADD. */
void *list_grow(void *items, size_t count, size_t size, struct error *err);
