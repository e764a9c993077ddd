/* page.c - collects the rows of a reply, as many as fit. */
#include "controller/api/page.h"

#include "protocol/base/list.h"

#include <string.h>

/* One more row fits behind as many bytes. */
#define PAGE_BYTES ((size_t)MESSAGE_REPLY_MAX / 2 - 65536)

struct page page_of(const struct api *api, const struct schema *schema,
		    uint32_t limit, struct error *err)
{
	return (struct page){
		.api = api,
		.schema = schema,
		.limit =
			!limit || limit > PAGE_ROWS_MAX ? PAGE_ROWS_MAX : limit,
		.err = err,
	};
}

void *page_append(struct page *page)
{
	size_t size = page->schema->size;
	char *rows = list_grow(page->rows, page->count, size, page->err);

	if (!rows) {
		page->stop = -1;
		return NULL;
	}
	page->rows = rows;
	return page->rows + page->count++ * size;
}

void *page_row(struct page *page)
{
	size_t size = page->schema->size;

	page->stop = 0;
	if (page->skip) {
		page->skip--;
		return NULL;
	}
	if (page->count)
		page->bytes +=
			codec_bound(page->schema,
				    page->rows + (page->count - 1) * size);
	page->more |= page->count >= page->limit || page->bytes >= PAGE_BYTES;
	page->stop = page->more;
	return page->more ? NULL : page_append(page);
}

void *page_take(struct page *page, size_t *count)
{
	*count = page->count;
	page->count = 0;
	return take(page->rows);
}
