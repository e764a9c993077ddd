/* scan.c - where the next of several texts stands, in one walk over the bytes.
 */
#include "controller/results/rules/scan.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#define PAIRS 65536

/* Two bytes at the end of a window of the shortest text's size say how far
 * the window may go on: to where these two would stand in one of the texts.
 */
struct scan {
	size_t window;
	size_t count;
	struct text {
		char *text;
		size_t size;
		uint16_t pair; /* its last two within the window */
	} * texts;
	uint8_t shifts[PAIRS];
};

static uint16_t pair_at(const char *at)
{
	return (uint16_t)((uint8_t)at[0] << 8 | (uint8_t)at[1]);
}

void scan_free(struct scan *scan)
{
	if (!scan)
		return;
	for (size_t i = 0; i < scan->count; i++)
		free(scan->texts[i].text);
	free(scan->texts);
	free(scan);
}

static void add_shifts(struct scan *scan, const struct text *text)
{
	for (size_t end = 2; end <= scan->window; end++) {
		uint8_t *shift = &scan->shifts[pair_at(text->text + end - 2)];
		uint8_t far = (uint8_t)(scan->window - end);

		if (far < *shift)
			*shift = far;
	}
}

struct scan *scan_new(const struct scan_text *texts, size_t count,
		      struct error *err)
{
	owned(scan_free) struct scan *scan = calloc(1, sizeof(*scan));

	assert(count && count <= SCAN_MAX);
	if (!scan || !(scan->texts = calloc(count, sizeof(*scan->texts)))) {
		error_nomem(err, "log rules");
		return NULL;
	}
	scan->window = 64;
	for (size_t i = 0; i < count; i++) {
		struct text *text = &scan->texts[i];

		assert(texts[i].size >= SCAN_MIN);
		text->text = strndup(texts[i].text, texts[i].size);
		if (!text->text) {
			error_nomem(err, "log rules");
			return NULL;
		}
		text->size = texts[i].size;
		scan->count++;
		if (text->size < scan->window)
			scan->window = text->size;
	}
	memset(scan->shifts, (int)(scan->window - 1), sizeof(scan->shifts));
	for (size_t i = 0; i < count; i++) {
		scan->texts[i].pair =
			pair_at(scan->texts[i].text + scan->window - 2);
		add_shifts(scan, &scan->texts[i]);
	}
	return take(scan);
}

static int stands_at(const struct scan *scan, uint16_t pair, const char *at,
		     const char *end)
{
	for (size_t i = 0; i < scan->count; i++) {
		const struct text *text = &scan->texts[i];

		if (text->pair == pair && text->size <= (size_t)(end - at) &&
		    !memcmp(at, text->text, text->size))
			return 1;
	}
	return 0;
}

const char *scan_next(const struct scan *scan, const char *at, const char *end)
{
	size_t window = scan->window;

	while ((size_t)(end - at) >= window) {
		uint16_t pair = pair_at(at + window - 2);
		uint8_t shift = scan->shifts[pair];

		if (shift) {
			at += shift;
			continue;
		}
		if (stands_at(scan, pair, at, end))
			return at;
		at++;
	}
	return end;
}
