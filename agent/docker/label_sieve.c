/* label_sieve.c - drops the labels of others from a list of the engine's.
 */
#include "agent/docker/label_sieve.h"

#include <ctype.h>
#include <string.h>

#define LABEL_MAX 1024 /* bytes of one of ours */
#define LABELS_MAX 16  /* of ours, of one image or container */
#define OURS "\"" LABEL_SIEVE_OURS
#define LABELS "\"Labels\""

void label_sieve_init(struct label_sieve *sieve, size_t limit)
{
	*sieve = (struct label_sieve){ 0 };
	buffer_init(&sieve->text, limit);
}

void label_sieve_clear(struct label_sieve *sieve)
{
	buffer_clear(&sieve->text);
}

static bool sieve_follows(const struct label_sieve *sieve, const char *text)
{
	return !strncmp(sieve->text.data + sieve->begin, text, strlen(text));
}

static void sieve_drop(struct label_sieve *sieve)
{
	sieve->text.size = sieve->begin;
	sieve->text.data[sieve->begin] = 0;
}

/* Each label of ours is kept with a comma behind it; the last one's goes. */
static int sieve_end_label(struct label_sieve *sieve, char c, struct error *err)
{
	if (!sieve->dropped && sieve_follows(sieve, OURS) &&
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
	sieve->inside = false;
	sieve->begin -= sieve->kept > 0;
	sieve_drop(sieve);
	return buffer_text(&sieve->text, "}", err);
}

static int sieve_take_label(struct label_sieve *sieve, char c, bool quoted,
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

static int sieve_take(struct label_sieve *sieve, char c, struct error *err)
{
	bool quoted = sieve->string;

	if (quoted)
		sieve->string = c != '"' || sieve->escaped;
	else
		sieve->string = c == '"';
	sieve->escaped = quoted && c == '\\' && !sieve->escaped;
	if (sieve->inside)
		return sieve_take_label(sieve, c, quoted, err);
	if (!quoted && c == '"')
		sieve->begin = sieve->text.size;
	if (buffer_append(&sieve->text, &c, 1, err) < 0)
		return -1;
	sieve->inside = sieve->named && c == '{';
	if (sieve->inside) {
		sieve->begin = sieve->text.size;
		sieve->kept = sieve->depth = 0;
	}
	if (quoted)
		sieve->named = !sieve->string && sieve_follows(sieve, LABELS);
	else if (c != ':' && !isspace((unsigned char)c))
		sieve->named = false;
	return 0;
}

int label_sieve_feed(struct label_sieve *sieve, const char *data, size_t size,
		     struct error *err)
{
	for (size_t i = 0; i < size; i++)
		if (sieve_take(sieve, data[i], err) < 0)
			return -1;
	return 0;
}
