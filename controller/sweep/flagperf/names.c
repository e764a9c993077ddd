/* names.c - the named texts that fill the templates of FlagPerf cases. */
#include "controller/sweep/flagperf/names.h"

#include "controller/cell/interpolate.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define TEXT_BYTES 65536 /* in one name */

void names_clear(struct names *names)
{
	for (size_t i = 0; i < names->count; i++) {
		free(names->items[i].name);
		free(names->items[i].text);
		free(names->items[i].plain);
	}
	names->count = 0;
}

/* The number of the first `size` bytes of name; names->count: not set. */
static size_t names_find(const struct names *names, const char *name,
			 size_t size)
{
	size_t i = 0;

	while (i < names->count && (strlen(names->items[i].name) != size ||
				    memcmp(names->items[i].name, name, size)))
		i++;
	return i;
}

bool names_has(const struct names *names, const char *name)
{
	return names_find(names, name, strlen(name)) < names->count;
}

const char *names_plain(const struct names *names, const char *name)
{
	size_t i = names_find(names, name, strlen(name));

	return i < names->count ? names->items[i].plain : "";
}

/* A copy without doubled `$`; NULL: ENOMEM. */
static char *without_doubles(const char *text)
{
	char *plain = malloc(strlen(text) + 1), *to = plain;

	for (; plain && *text; text++) {
		*to++ = *text;
		text += *text == '$' && text[1] == '$';
	}
	if (plain)
		*to = 0;
	return plain;
}

/* Takes over the text; NULL: ENOMEM. */
static int names_put(struct names *names, const char *name, char *text,
		     struct error *err)
{
	size_t i = names_find(names, name, strlen(name));
	char *plain = text ? without_doubles(text) : NULL;
	bool fresh = i == names->count;

	if (!plain) {
		free(text);
		return error_nomem(err, name);
	}
	if (fresh && i < NAMES_MAX)
		names->items[i] = (__typeof__(names->items[i])){
			.name = strdup(name),
		};
	if (fresh && (i == NAMES_MAX || !names->items[i].name)) {
		free(text);
		free(plain);
		return i < NAMES_MAX ? error_nomem(err, name)
				     : error_set(err, E2BIG,
						 "the name %.60s exceeds the "
						 "limit of %d names",
						 name, NAMES_MAX);
	}
	names->count += fresh;
	free(names->items[i].text);
	free(names->items[i].plain);
	names->items[i].text = text;
	names->items[i].plain = plain;
	return 0;
}

int names_set(struct names *names, const char *name, const char *text,
	      struct error *err)
{
	owned(buffer_clear) struct buffer out = BUFFER_INIT(TEXT_BYTES);

	for (; *text; text++)
		if (buffer_append(&out, text, 1, err) < 0 ||
		    (*text == '$' && buffer_text(&out, "$", err) < 0))
			return -1;
	return names_put(names, name, buffer_take(&out), err);
}

int names_number(struct names *names, const char *name, uint64_t number,
		 struct error *err)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, number);
	return names_set(names, name, text, err);
}

/* 'It'\''s': a word of a shell's command line. */
static int names_add_quoted(const char *text, struct buffer *out,
			    struct error *err)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_@%+=:,./-";

	if (*text && strspn(text, plain) == strlen(text))
		return buffer_text(out, text, err);
	if (buffer_text(out, "'", err) < 0)
		return -1;
	for (; *text; text++)
		if ((*text == '\'' ? buffer_text(out, "'\\''", err)
				   : buffer_append(out, text, 1, err)) < 0)
			return -1;
	return buffer_text(out, "'", err);
}

static int add_below(const char *text, struct buffer *out, struct error *err)
{
	return *text ? buffer_printf(out, err, "/%s", text) : 0;
}

static int add_upper(const char *text, struct buffer *out, struct error *err)
{
	for (; *text; text++) {
		char c = (char)toupper((unsigned char)*text);

		if (buffer_append(out, &c, 1, err) < 0)
			return -1;
	}
	return 0;
}

static int add_plain(const char *text, struct buffer *out, struct error *err)
{
	return buffer_text(out, text, err);
}

/* interpolate_lookup_fn */
static int names_look_up(void *arg, const char *name, struct buffer *out,
			 struct error *err)
{
	static const struct {
		const char *ending;
		int (*add)(const char *text, struct buffer *out,
			   struct error *err);
	} forms[] = {
		{ "", add_plain },
		{ "_shell", names_add_quoted },
		{ "_below", add_below },
		{ "_upper", add_upper },
	};
	const struct names *names = arg;

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		size_t ending = strlen(forms[i].ending);
		size_t size = strlen(name);
		size_t found;

		if (size <= ending ||
		    strcmp(name + size - ending, forms[i].ending) != 0)
			continue;
		found = names_find(names, name, size - ending);
		if (found < names->count)
			return forms[i].add(names->items[found].text, out,
					    err) < 0
				       ? -1
				       : 1;
	}
	return 0;
}

int names_fill(const struct names *names, const struct value *template,
	       struct buffer *out, struct error *err)
{
	const struct interpolator filler = { .lookup = names_look_up,
					     .arg = (void *)names };

	return interpolate(&filler, value_text(template), true, template, out,
			   err);
}

int names_make(struct names *names, const char *name,
	       const struct value *template, struct error *err)
{
	owned(buffer_clear) struct buffer out = BUFFER_INIT(TEXT_BYTES);

	if (names_has(names, name))
		return 0;
	if (value_kind(template) == VALUE_SCALAR &&
	    names_fill(names, template, &out, err) < 0)
		return -1;
	for (size_t i = 0; !out.size && i < value_count(template); i++)
		if (names_fill(names, value_at(template, i), &out, err) < 0)
			return -1;
	return names_put(names, name, buffer_take(&out), err);
}
