/* page.c - a page of rows: as many as one answer takes.
 */
#include "controller/api/page.h"

#include <stdlib.h>
#include <string.h>

/* Of the rows of one answer: one more of the same size still fits. */
#define PAGE_BYTES ((size_t)MESSAGE_REPLY_MAX / 2 - 65536)

void page_init(struct page *page, const struct schema *schema, uint32_t limit)
{
	*page = (struct page){
		.schema = schema,
		.limit =
			!limit || limit > PAGE_ROWS_MAX ? PAGE_ROWS_MAX : limit,
	};
}

void page_clear(struct page *page)
{
	for (size_t i = 0; i < page->count; i++)
		codec_clear(page->schema, page->rows + i * page->schema->size);
	free(page->rows);
	page->rows = NULL;
	page->count = 0;
}

bool page_room(struct page *page)
{
	page->more |= page->count >= page->limit || page->bytes >= PAGE_BYTES;
	return !page->more;
}

int page_add(struct page *page, void *row, struct error *err)
{
	size_t size = page->schema->size;

	/* Room for powers of two, without a second counter. */
	if (!(page->count & (page->count - 1))) {
		size_t room = page->count ? page->count * 2 : 1;
		char *rows = realloc(page->rows, room * size);

		if (!rows) {
			codec_clear(page->schema, row);
			return error_nomem(err, "answer");
		}
		page->rows = rows;
	}
	page->bytes += codec_bound(page->schema, row);
	memcpy(page->rows + page->count++ * size, row, size);
	memset(row, 0, size);
	return 0;
}

void *page_take(struct page *page, size_t *count)
{
	*count = page->count;
	page->count = 0;
	return take(page->rows);
}
