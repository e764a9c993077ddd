/* page.h - a page of rows: as many as one answer takes.
 */
#ifndef CONTROLLER_API_PAGE_H
#define CONTROLLER_API_PAGE_H

#include "protocol/message/message.h"

#define PAGE_ROWS_MAX 1000

struct page {
	const struct schema *schema; /* of a row */
	char *rows;                  /* owned */
	size_t count;
	uint32_t limit;
	size_t bytes; /* of the rows as text, at most */
	bool more;    /* there are rows that did not fit */
};

/* limit: as in message_query. */
void page_init(struct page *page, const struct schema *schema, uint32_t limit);
void page_clear(struct page *page);
OWNED_VALUE(struct page, page_clear)

/* Does one more row fit? If not, `more` is set. */
bool page_room(struct page *page);

/* Append a row, which is moved: *row is all zero afterwards, also on failure.
 * Call page_room() before, unless the row must be there.
 */
int page_add(struct page *page, void *row, struct error *err);

/* Move the rows to the list of a reply and its count. */
void *page_take(struct page *page, size_t *count);

#endif
