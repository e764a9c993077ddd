/* buffer_test.c - bytes that grow up to a limit and are always a C string.
 */
#include "protocol/base/buffer.h"

#include "tests/tap.h"

#include <errno.h>
#include <stdint.h>

static void an_empty_buffer(void)
{
	owned(buffer_clear) struct buffer b = BUFFER_INIT(10);

	is(b.data, "", "a new buffer is the empty string");
	is_int((long long)b.capacity, 0, "a new buffer owns nothing");
	buffer_consume(&b, 5);
	is_int((long long)b.size, 0, "consuming from nothing leaves nothing");
	is_int(buffer_append(&b, NULL, 0, NULL), 0,
	       "appending nothing is fine");
	is_int(buffer_printf(&b, NULL, "%s", ""), 0,
	       "printing nothing is fine");
	is_int((long long)b.capacity, 0, "nothing appended owns nothing");
}

static void growth(void)
{
	owned(buffer_clear) struct buffer b = BUFFER_INIT(1 << 20);
	bool good = true;

	for (int i = 0; i < 1000; i++) {
		good &= buffer_printf(&b, NULL, "%04d\n", i) == 0;
		good &= b.data[b.size] == 0;
	}
	ok(good, "a thousand lines are printed, each time a C string");
	is_int((long long)b.size, 5000, "no byte more, no byte less");
	ok(!strncmp(b.data + 4995, "0999\n", 5), "the last line is last");
	buffer_consume(&b, 4990);
	is(b.data, "0998\n0999\n", "consume drops from the front");
	is_int(buffer_append(&b, "a\0b", 3, NULL), 0, "NUL bytes are bytes");
	is_int((long long)b.size, 13, "and are counted");
	buffer_consume(&b, SIZE_MAX);
	is(b.data, "", "consume more than there is leaves the empty string");
	is_int(buffer_text(&b, "again", NULL), 0, "and it can be used again");
	is(b.data, "again", "from the start");
}

static void the_limit(void)
{
	owned(buffer_clear) struct buffer b = BUFFER_INIT(5);
	struct error err = { 0 };

	is_int(buffer_text(&b, "12345", &err), 0, "the limit itself fits");
	is_int(buffer_text(&b, "6", &err), -1, "one byte more does not");
	is_int(err.code, E2BIG, "the code says too big");
	is(err.text, "more than 5 bytes", "the sentence says how much may be");
	is(b.data, "12345", "a refused append changes nothing");
	is_int(buffer_printf(&b, &err, "%d", 6), -1, "nor does printf");
	is(b.data, "12345", "a refused printf changes nothing");
	is_int(buffer_reserve(&b, SIZE_MAX, &err), -1,
	       "a size that wraps around is refused");
	buffer_clear(&b);
	is_int(buffer_text(&b, "54321", &err), 0,
	       "clear keeps the limit: fits");
	is_int(buffer_text(&b, "0", &err), -1,
	       "clear keeps the limit: refused");
}

static void no_limit(void)
{
	owned(buffer_clear) struct buffer b = BUFFER_INIT(SIZE_MAX);
	struct error err = { 0 };

	is_int(buffer_text(&b, "words", &err), 0,
	       "a limit of SIZE_MAX is no limit");
	is(b.data, "words", "the bytes are there");
	is_int(buffer_reserve(&b, SIZE_MAX - 5, &err), -1,
	       "yet no room for the 0 behind is refused");
	is_int(err.code, E2BIG, "as too big");
	is_int(buffer_reserve(&b, SIZE_MAX, &err), -1,
	       "and so is a sum that wraps around");
}

static void room_to_write(void)
{
	owned(buffer_clear) struct buffer b = BUFFER_INIT(4096);

	is_int(buffer_text(&b, "head ", NULL), 0, "a head is there");
	is_int(buffer_reserve(&b, 4091, NULL), 0, "room up to the limit");
	is(b.data, "head ", "reserving keeps the text");
	memset(b.data + b.size, 'x', 4091);
	b.size += 4091;
	b.data[b.size] = 0;
	is_int((long long)strlen(b.data), 4096,
	       "all of it can be written, and the 0 behind it");
}

static void handing_over(void)
{
	owned(buffer_clear) struct buffer b = BUFFER_INIT(100);
	owned_free char *empty = NULL, *text = NULL;

	empty = buffer_take(&b);
	is(empty, "", "an empty buffer hands over an empty string");
	buffer_text(&b, "mine", NULL);
	text = buffer_take(&b);
	is(text, "mine", "the bytes are handed over");
	is_int((long long)b.capacity, 0, "the buffer owns nothing after it");
	is_int((long long)b.limit, 100, "and keeps its limit");
}

int main(void)
{
	tap_begin(30);
	an_empty_buffer();
	growth();
	the_limit();
	no_limit();
	room_to_write();
	handing_over();
	return tap_done();
}
