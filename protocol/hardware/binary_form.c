/* binary_form.c - a share of time from a file of binary numbers.
 */
#include "protocol/hardware/binary_form.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define PLACE_MAX 65536

static bool is_hexadecimal(const char *text)
{
	size_t size = strlen(text);

	return size && size % 2 == 0 &&
	       strspn(text, "0123456789abcdef") == size;
}

static int read_begins(const struct value *value, void *out, struct error *err)
{
	return map_read_good(value, is_hexadecimal,
			     "bytes in hexadecimal digits, such as 78000103",
			     out, err);
}

static int binary_read_place(const struct value *value, void *out,
			     struct error *err)
{
	return value_u32(value, 1, PLACE_MAX, out, err);
}

static int read_mask(const struct value *value, void *out, struct error *err)
{
	const char *text;

	if (map_read_good(value, is_hexadecimal,
			  "bits in hexadecimal digits, such as ff00", &text,
			  err) < 0)
		return -1;
	*(uint64_t *)out = strtoull(text, NULL, 16);
	return 0;
}

/* A place, or a list of them. */
static int read_places(const struct value *value, void *out, struct error *err)
{
	struct binary_form *form = out;
	bool list = value_kind(value) == VALUE_LIST;

	form->count = list ? value_count(value) : 1;
	if (!form->count || form->count > BINARY_COUNTERS)
		return value_error(value, err, "%zu places; expected 1 to %d",
				   form->count, BINARY_COUNTERS);
	for (size_t i = 0; i < form->count; i++)
		if (binary_read_place(list ? value_at(value, i) : value,
				      &form->at[i], err) < 0)
			return -1;
	return 0;
}

const struct map_field binary_form_fields[] = {
	MAP_NEEDED("begins", read_begins, binary_form, begins),
	{ .key = "at", .read = read_places, .needed = true },
	MAP_FIELD("of", binary_read_place, binary_form, of),
	MAP_FIELD("mask", read_mask, binary_form, mask),
	{ 0 }
};

int binary_form_check(const struct value *value, void *out, struct error *err)
{
	const struct binary_form *form = out;

	if (!form->of == !form->mask)
		return value_error(value, err,
				   "%s of \"of\" and \"mask\"; expected one of "
				   "them",
				   form->of ? "both" : "neither");
	return 0;
}

static bool begins_with(const char *data, size_t size, const char *begins)
{
	char byte[3];

	for (; *begins && size; begins += 2, data++, size--) {
		snprintf(byte, sizeof(byte), "%02x", (unsigned char)*data);
		if (memcmp(byte, begins, 2) != 0)
			return false;
	}
	return !*begins;
}

/* The number of so many bytes. False: the file is shorter. */
static bool binary_number(const char *data, size_t size, uint32_t at,
			  size_t bytes, uint64_t *number)
{
	*number = 0;
	if (size < bytes || at > size - bytes)
		return false;
	for (size_t i = bytes; i > 0; i--)
		*number = *number << 8 | (unsigned char)data[at + i - 1];
	return true;
}

static bool counters_share(const struct binary_form *form, const char *data,
			   size_t size, struct binary_counters *before,
			   double *percent)
{
	struct binary_counters now = { .known = true };
	uint64_t number;
	double most = 0;

	if (!binary_number(data, size, form->of, 4, &number))
		return false;
	now.of = (uint32_t)number;
	for (size_t i = 0; i < form->count; i++) {
		uint32_t grown;

		if (!binary_number(data, size, form->at[i], 4, &number))
			return false;
		now.value[i] = (uint32_t)number;
		grown = now.value[i] - before->value[i]; /* they wrap */
		most = grown > most ? grown : most;
	}
	number = (uint32_t)(now.of - before->of);
	*percent = 100 * most / (double)(number ? number : 1);
	number = before->known ? number : 0;
	*before = now;
	return number && *percent <= 100;
}

bool binary_share(const struct binary_form *forms, size_t count,
		  const char *data, size_t size, struct binary_counters *before,
		  double *percent)
{
	uint64_t bits;

	for (size_t i = 0; i < count; i++) {
		const struct binary_form *form = &forms[i];

		if (!begins_with(data, size, form->begins))
			continue;
		if (form->of)
			return counters_share(form, data, size, before,
					      percent);
		if (!binary_number(data, size, form->at[0], 8, &bits) ||
		    bits == UINT64_MAX)
			return false;
		*percent = bits & form->mask ? 100 : 0;
		return true;
	}
	return false;
}
