/* list_sieve.c - drops what others choose from a list of the engine's.
 */
#include "agent/docker/list_sieve.h"

#include <ctype.h>
#include <string.h>

#define LABEL_MAX 1024 /* bytes of one of ours */
#define LABELS_MAX 16  /* of ours, of one image or container */

static const char ours[] = "\"" LIST_SIEVE_OURS;

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

static void sieve_pass_over(struct list_sieve *sieve, char c, bool quoted)
{
	if (!quoted && (c == '{' || c == '['))
		sieve->depth++;
	if (!quoted && (c == '}' || c == ']') && !--sieve->depth)
		sieve->keeps = SIEVE_ALL;
}

/* An object or array begins that has a name. */
static int sieve_begin_member(struct list_sieve *sieve, char c,
			      struct error *err)
{
	sieve->named = false;
	if (sieve_follows(sieve, "\"Names\"") ||
	    sieve_follows(sieve, "\"RepoTags\"") ||
	    sieve_follows(sieve, "\"RepoDigests\""))
		return buffer_append(&sieve->text, &c, 1, err);
	sieve->depth = 1;
	sieve->keeps = SIEVE_NOTHING;
	if (c != '{' || !sieve_follows(sieve, "\"Labels\""))
		return buffer_text(&sieve->text, "null", err);
	sieve->depth = sieve->kept = 0;
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
	if (sieve->keeps == SIEVE_NOTHING) {
		sieve_pass_over(sieve, c, quoted);
		return 0;
	}
	if (!quoted && sieve->named && (c == '{' || c == '['))
		return sieve_begin_member(sieve, c, err);
	if (!quoted && c == '"')
		sieve->begin = sieve->text.size;
	if (quoted)
		sieve->named = !sieve->string;
	else if (c != ':' && !isspace((unsigned char)c))
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
