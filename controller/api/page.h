/* page.h - collects the rows of a reply, as many as fit.
 */
#pragma once

#include "controller/api/api.h"

#define PAGE_ROWS_MAX 1000

struct page {
	const struct api *api;       /* for the functions that fill rows */
	const struct schema *schema; /* of a row */
	uint32_t limit;              /* of rows */
	uint64_t skip;               /* rows to skip before the first one */
	char *rows;                  /* owned */
	size_t count;
	size_t bytes; /* of the rows as text, at most */
	bool more;    /* there are rows that did not fit */
	int stop;     /* without a row: 0: skipped; 1: full; -1: ENOMEM */
	struct error *err;
};

/* limit: as in message_query. */
struct page page_of(const struct api *api, const struct schema *schema,
		    uint32_t limit, struct error *err);

/* The next row, zero, which the caller fills. NULL: there is none, and a
 * callback of the store returns page->stop.
 */
void *page_row(struct page *page);
/* The same for a row that must be there, even if the page is full. */
void *page_append(struct page *page);

/* Move the rows to the list of a reply, also if filling the last one failed.
 */
void *page_take(struct page *page, size_t *count);
