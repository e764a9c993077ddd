/* list_sieve.c - drops what others choose from a list of the engine's.
 */
#include "agent/docker/list_sieve.h"

#include <ctype.h>
#include <string.h>

#define LABEL_MAX 1024 /* bytes of one of ours */
#define LABELS_MAX 16  /* of ours, of one image or container */

static const char ours[] = "\"" LIST_SIEVE_OURS;

/* Of an image or a container, and "Labels". */
static const char *const members[] = {
	"\"Id\"",      "\"Names\"",    "\"Image\"",
	"\"ImageID\"", "\"State\"",    "\"Size\"",
	"\"Created\"", "\"RepoTags\"", "\"RepoDigests\"",
};

void list_sieve_init(struct list_sieve *sieve, size_t limit)
{
	*sieve = (struct list_sieve){ .keeps = SIEVE_ALL };
	buffer_init(&sieve->text, limit);
}

void list_sieve_clear(struct list_sieve *sieve)
{
	buffer_clear(&sieve->text);
}

static bool sieve_follows(const struct list_sieve *sieve, const char *text)
{
	return !strncmp(sieve->text.data + sieve->begin, text, strlen(text));
}

static void sieve_drop(struct list_sieve *sieve)
{
	sieve->text.size = sieve->begin;
	sieve->text.data[sieve->begin] = 0;
}

/* Each label of ours is kept with a comma behind it; the last one's goes. */
static int sieve_end_label(struct list_sieve *sieve, char c, struct error *err)
{
	if (!sieve->dropped && sieve_follows(sieve, ours) &&
	    sieve->kept < LABELS_MAX) {
		if (buffer_text(&sieve->text, ",", err) < 0)
			return -1;
		sieve->begin = sieve->text.size;
		sieve->kept++;
	}
	sieve_drop(sieve);
	sieve->dropped = false;
	if (c == ',')
		return 0;
	sieve->keeps = SIEVE_ALL;
	sieve->begin -= sieve->kept > 0;
	sieve_drop(sieve);
	return buffer_text(&sieve->text, "}", err);
}

static int sieve_take_label(struct list_sieve *sieve, char c, bool quoted,
			    struct error *err)
{
	if (!quoted && !sieve->depth && (c == ',' || c == '}'))
		return sieve_end_label(sieve, c, err);
	if (!quoted && (c == '{' || c == '['))
		sieve->depth++;
	if (!quoted && sieve->depth && (c == '}' || c == ']'))
		sieve->depth--;
	if (sieve->dropped || (!quoted && isspace((unsigned char)c)))
		return 0;
	sieve->dropped = sieve->text.size - sieve->begin >= LABEL_MAX;
	return sieve->dropped ? 0 : buffer_append(&sieve->text, &c, 1, err);
}

static bool sieve_is_kept(const struct list_sieve *sieve)
{
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		if (sieve_follows(sieve, members[i]))
			return true;
	return false;
}

/* Has the value of a member ended before this comma or bracket? */
static bool sieve_ends(struct list_sieve *sieve, char c, bool quoted)
{
	if (quoted)
		return false;
	if (!sieve->depth && (c == ',' || c == '}' || c == ']'))
		return true;
	sieve->depth += c == '{' || c == '[';
	sieve->depth -= c == '}' || c == ']';
	return false;
}

/* A string was the name of a member. */
static int sieve_begin_member(struct list_sieve *sieve, struct error *err)
{
	sieve->named = false;
	sieve->depth = 0;
	if (sieve_follows(sieve, "\"Labels\""))
		sieve->keeps = SIEVE_OBJECT;
	else if (!sieve_is_kept(sieve))
		sieve->keeps = SIEVE_NOTHING;
	return buffer_text(&sieve->text,
			   sieve->keeps == SIEVE_NOTHING ? ":null" : ":", err);
}

/* The value of "Labels" begins: anything but an object is dropped. */
static int sieve_begin_labels(struct list_sieve *sieve, char c, bool quoted,
			      struct error *err)
{
	if (isspace((unsigned char)c))
		return buffer_append(&sieve->text, &c, 1, err);
	if (c != '{') {
		sieve->keeps = SIEVE_NOTHING;
		sieve_ends(sieve, c, quoted);
		return buffer_text(&sieve->text, "null", err);
	}
	sieve->kept = 0;
	sieve->keeps = SIEVE_LABELS;
	sieve->begin = sieve->text.size + 1;
	return buffer_text(&sieve->text, "{", err);
}

static int sieve_take(struct list_sieve *sieve, char c, struct error *err)
{
	bool quoted = sieve->string;

	if (quoted)
		sieve->string = c != '"' || sieve->escaped;
	else
		sieve->string = c == '"';
	sieve->escaped = quoted && c == '\\' && !sieve->escaped;
	if (sieve->keeps == SIEVE_LABELS)
		return sieve_take_label(sieve, c, quoted, err);
	if (sieve->keeps == SIEVE_OBJECT)
		return sieve_begin_labels(sieve, c, quoted, err);
	if (sieve->keeps == SIEVE_NOTHING) {
		if (!sieve_ends(sieve, c, quoted))
			return 0;
		sieve->keeps = SIEVE_ALL;
	}
	if (!quoted && sieve->named && c == ':')
		return sieve_begin_member(sieve, err);
	if (!quoted && c == '"')
		sieve->begin = sieve->text.size;
	if (quoted)
		sieve->named = !sieve->string;
	else if (!isspace((unsigned char)c))
		sieve->named = false;
	return buffer_append(&sieve->text, &c, 1, err);
}

int list_sieve_feed(struct list_sieve *sieve, const char *data, size_t size,
		    struct error *err)
{
	for (size_t i = 0; i < size; i++)
		if (sieve_take(sieve, data[i], err) < 0)
			return -1;
	return 0;
}
