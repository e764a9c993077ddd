/* prefixes.c - removes what collectors and launchers put before each line. */
#include "controller/prefixes/prefixes.h"

#include "controller/prefixes/line_prefix.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A line of a file of Docker's driver json-file.
 *
 *	{"log":"step 1\n","stream":"stdout","time":"2026-01-02T03:04:05.6Z"}
 */

static const char docker_begin[] = "{\"log\":\"";
static const char docker_stream[] = "\",\"stream\":\"std";

/* Can this be the beginning of such a line? */
static bool docker_line_begins(const char *text, size_t size)
{
	size_t n = sizeof(docker_begin) - 1;

	return size && *text == '{' &&
	       !memcmp(text, docker_begin, size < n ? size : n);
}

static bool hex_read(const char *text, uint32_t *number)
{
	static const char digits[] = "0123456789abcdef";

	*number = 0;
	for (int i = 0; i < 4; i++) {
		const char *digit =
			text[i] ? strchr(digits, text[i] | ' ') : NULL;

		if (!digit)
			return false;
		*number = *number * 16 + (uint32_t)(digit - digits);
	}
	return true;
}

static size_t put_utf8(uint32_t code, char *to)
{
	if (code < 0x80) {
		to[0] = (char)code;
		return 1;
	}
	if (code < 0x800) {
		to[0] = (char)(0xc0 | code >> 6);
		to[1] = (char)(0x80 | (code & 0x3f));
		return 2;
	}
	to[0] = (char)(0xe0 | code >> 12);
	to[1] = (char)(0x80 | (code >> 6 & 0x3f));
	to[2] = (char)(0x80 | (code & 0x3f));
	return 3;
}

/* Write the output that the line holds to `to`, which has room for size bytes:
 * how many. False: it is no such line.
 */
static bool docker_line_read(const char *line, size_t size, char *to,
			     size_t *length)
{
	static const char marks[] = "\"\"\\\\//b\bf\fn\nr\rt\t";
	const char *at = line + sizeof(docker_begin) - 1, *end = line + size;
	size_t used = 0;

	if (size < sizeof(docker_begin) + sizeof(docker_stream) ||
	    !docker_line_begins(line, size))
		return false;
	while (at < end && *at != '"') {
		const char *mark;
		uint32_t code;

		if (*at != '\\') {
			to[used++] = *at++;
			continue;
		}
		if (++at == end)
			return false;
		if (*at == 'u') {
			/* Halves of a pair become what UTF-8 has none of. */
			if (end - at < 5 || !hex_read(at + 1, &code))
				return false;
			used += put_utf8(code, to + used);
			at += 5;
			continue;
		}
		for (mark = marks; *mark && *mark != *at;)
			mark += 2;
		if (!*mark)
			return false;
		to[used++] = mark[1];
		at++;
	}
	*length = used;
	return (size_t)(end - at) >= sizeof(docker_stream) - 1 &&
	       !memcmp(at, docker_stream, sizeof(docker_stream) - 1);
}

#define HEAD_MAX 512     /* bytes of a line in which prefixes are looked for */
#define LAYERS_MAX 3     /* prefixes of a log, one behind the other */
#define STRIPS_MAX 8     /* prefixes of a line */
#define WATCHED_LINES 64 /* in which those of a log are looked for */
#define WATCHED_BYTES 65536 /* kept until it is clear */

struct prefixes {
	prefix_fn *fn;
	void *arg;
	struct buffer kept; /* the beginning of a line, or lines watched */
	uint64_t offset;    /* of the next byte that is given out */
	uint64_t line;      /* its line, from 1 */
	bool inside;        /* a line, whose prefixes are removed */
	bool after_cr;      /* of a line that goes on after a '\r' */
	bool joined;        /* the next line continues the last one */
	/* What all lines have. */
	struct log_prefix layers[LAYERS_MAX];
	size_t layer_count;
	/* What the lines may have that are kept; NONE: they are not kept. */
	struct log_prefix guess;
	size_t held;      /* bytes of lines that may have it */
	bool seen;        /* a line that is not blank was given out */
	unsigned watched; /* lines */
	bool ended;       /* the output */
	bool settled;     /* no more prefixes of the log are looked for */
};

struct prefixes *prefixes_new(prefix_fn *fn, void *arg, struct error *err)
{
	struct prefixes *prefixes = calloc(1, sizeof(*prefixes));

	if (!prefixes)
		return error_null(error_nomem(err, "prefixes"));
	prefixes->fn = fn;
	prefixes->arg = arg;
	prefixes->line = 1;
	buffer_init(&prefixes->kept, 3 * (size_t)WATCHED_BYTES);
	return prefixes;
}

void prefixes_free(struct prefixes *prefixes)
{
	if (!prefixes)
		return;
	buffer_clear(&prefixes->kept);
	free(prefixes);
}

/* The beginning of a line without terminal escapes before its text. */
struct line_head {
	const char *text;
	size_t size;
	char plain[HEAD_MAX];
	uint16_t places[HEAD_MAX + 1]; /* in the line */
	bool coloured;
};

static size_t head_escape_size(const char *text, size_t size)
{
	size_t i = 2;

	if (size < 2 || text[1] != '[')
		return size < 2 ? size : 2;
	while (i < size && (text[i] < '@' || text[i] > '~'))
		i++;
	return i < size ? i + 1 : i;
}

/* Colours may stand before and inside a prefix. */
static void head_read(struct line_head *head, const char *text, size_t size)
{
	size_t to = 0;

	while (size && (text[size - 1] == '\n' || text[size - 1] == '\r'))
		size--;
	if (size > HEAD_MAX)
		size = HEAD_MAX;
	head->text = text;
	head->size = size;
	head->coloured = size && *text == '\033';
	if (!head->coloured)
		return;
	for (size_t i = 0; i < size;) {
		if (text[i] == '\033') {
			i += head_escape_size(text + i, size - i);
			continue;
		}
		head->places[to] = (uint16_t)i;
		head->plain[to++] = text[i++];
	}
	head->places[to] = (uint16_t)size;
	head->text = head->plain;
	head->size = to;
}

static bool line_blank(const char *text, size_t size)
{
	while (size && strchr(" \t\r\n", *text) && *text) {
		text++;
		size--;
	}
	return !size;
}

/* Remove the prefixes of a line: how many bytes of its head are gone. The guess
 * is tried at each place where a prefix may begin; *guessed: it fits.
 */
static size_t line_strip(struct prefixes *prefixes, const char *text,
			 size_t size, struct line_origin *origin, bool *guessed)
{
	struct line_head head;
	size_t at = 0, layer = prefixes->after_cr ? prefixes->layer_count : 0;

	head_read(&head, text, size);
	*origin = (struct line_origin){ .rank = -1 };
	for (int i = 0; i < STRIPS_MAX; i++) {
		const char *rest = head.text + at;
		size_t left = head.size - at, n = 0;

		if (layer < prefixes->layer_count) {
			n = log_prefix_size(&prefixes->layers[layer], rest,
					    left, origin);
			layer += n > 0;
		} else if (guessed && !*guessed) {
			*guessed =
				prefixes->guess.kind == LOG_PREFIX_NONE
					? log_prefix_guess(&prefixes->guess,
							   rest, left,
							   !prefixes->seen)
					: log_prefix_continues(&prefixes->guess,
							       rest, left);
		}
		if (!n)
			n = line_prefix_size(rest, left, origin);
		if (!n)
			break;
		at += n;
	}
	/* What follows is no longer quoted. */
	if (layer < prefixes->layer_count &&
	    prefixes->layers[layer].kind == LOG_PREFIX_INDENT &&
	    !line_blank(head.text + at, head.size - at))
		prefixes->layer_count = layer;
	/* The text of a host is part of the line, not of its plain copy. */
	if (head.coloured && origin->host)
		origin->host = text + head.places[origin->host - head.plain];
	return head.coloured ? head.places[at] : at;
}

/* The size of the line at the beginning of the text, with its mark; 0: it does
 * not end here. A line of Docker's files holds no mark but its own.
 */
static size_t line_size(const char *text, size_t size)
{
	const char *lf = memchr(text, '\n', size), *cr;

	if (docker_line_begins(text, size))
		return lf ? (size_t)(lf - text) + 1 : 0;
	cr = memchr(text, '\r', lf ? (size_t)(lf - text) : size);
	return cr ? (size_t)(cr - text) + 1 : lf ? (size_t)(lf - text) + 1 : 0;
}

/* What is given out of a piece: from `from` on, the run that began there. */
struct prefix_pass {
	const char *from, *at, *end;
	const char *lf, *cr; /* the next ones; NULL: not looked for yet */
	struct prefix_run run;
};

static const char *pass_next(const char *known, char c, const char *at,
			     const char *end)
{
	if (known >= at)
		return known;
	known = memchr(at, c, (size_t)(end - at));
	return known ? known : end;
}

/* A run begins at this place of the piece. */
static void pass_begin(struct prefixes *prefixes, struct prefix_pass *pass,
		       const char *from, bool begins)
{
	prefixes->offset += (uint64_t)(from - pass->from);
	pass->from = from;
	pass->run = (struct prefix_run){ .begins = begins,
					 .offset = prefixes->offset,
					 .line_offset = prefixes->offset,
					 .line = prefixes->line,
					 .origin = { .rank = -1 } };
}

/* Give out the run up to this place. */
static int pass_emit(struct prefixes *prefixes, struct prefix_pass *pass,
		     const char *to)
{
	pass->run.text = pass->from;
	pass->run.size = (size_t)(to - pass->from);
	return pass->run.size ? prefixes->fn(&pass->run, prefixes->arg) : 0;
}

/* The line of a file of Docker; 0: it is none. */
static int pass_docker(struct prefixes *prefixes, struct prefix_pass *pass)
{
	size_t left = (size_t)(pass->end - pass->at);
	size_t size = line_size(pass->at, left), length, n;
	const char *stop = pass->at + (size ? size : left);
	owned_free char *text = NULL;
	int rc;

	if (stop - pass->at >= WATCHED_BYTES)
		return 0;
	text = malloc((size_t)(stop - pass->at));
	if (!text)
		return -1;
	if (!docker_line_read(pass->at, (size_t)(stop - pass->at), text,
			      &length))
		return 0;
	if (pass_emit(prefixes, pass, pass->at) < 0)
		return -1;
	pass_begin(prefixes, pass, pass->at, !prefixes->joined);
	n = line_strip(prefixes, text, length, &pass->run.origin, NULL);
	pass->run.prefix = text;
	pass->run.prefix_size = n;
	pass->run.text = text + n;
	pass->run.size = length - n;
	rc = pass->run.size ? prefixes->fn(&pass->run, prefixes->arg) : 0;
	prefixes->joined = !length || text[length - 1] != '\n';
	prefixes->line += size > 0;
	pass->at = stop;
	pass_begin(prefixes, pass, stop, !prefixes->joined);
	return rc < 0 ? -1 : 1;
}

/* The end of the record at this place: its mark, or the end of the piece. */
static const char *pass_stop(struct prefix_pass *pass)
{
	pass->lf = pass_next(pass->lf, '\n', pass->at, pass->end);
	pass->cr = pass_next(pass->cr, '\r', pass->at, pass->end);
	return pass->lf < pass->cr ? pass->lf : pass->cr;
}

/* Does the piece hold the beginning of the line, as much as matters? */
static bool pass_complete(struct prefix_pass *pass)
{
	size_t left = (size_t)(pass->end - pass->at);

	return docker_line_begins(pass->at, left)
		       ? left >= WATCHED_BYTES || line_size(pass->at, left)
		       : left >= HEAD_MAX || pass_stop(pass) < pass->end;
}

/* The beginning of a line. */
static int pass_head(struct prefixes *prefixes, struct prefix_pass *pass)
{
	struct line_origin origin = { .rank = -1 };
	char first = *pass->at;
	size_t n = 0;
	int rc = 0;

	if (docker_line_begins(pass->at, (size_t)(pass->end - pass->at)) &&
	    (rc = pass_docker(prefixes, pass)))
		return rc < 0 ? -1 : 0;
	if (prefixes->layer_count || first == '\033' ||
	    line_prefix_begins(first))
		n = line_strip(prefixes, pass->at,
			       (size_t)(pass_stop(pass) - pass->at), &origin,
			       NULL);
	prefixes->inside = true;
	if (!n && !prefixes->joined)
		return 0;
	if (pass_emit(prefixes, pass, pass->at) < 0)
		return -1;
	pass_begin(prefixes, pass, pass->at, !prefixes->joined);
	pass->run.prefix = pass->at;
	pass->run.prefix_size = n;
	pass->at += n;
	pass->from += n;
	prefixes->offset += n;
	pass->run.offset += n;
	pass->run.origin = origin;
	prefixes->joined = false;
	return 0;
}

/* The rest of a record. */
static int pass_rest(struct prefixes *prefixes, struct prefix_pass *pass)
{
	const char *stop = pass_stop(pass);

	pass->at = stop;
	if (stop == pass->end)
		return 0;
	pass->at++;
	prefixes->inside = false;
	prefixes->after_cr = *stop == '\r';
	if (prefixes->after_cr)
		return 0;
	prefixes->line++;
	if (!pass->run.origin.partial)
		return 0;
	if (pass_emit(prefixes, pass, stop) < 0)
		return -1;
	prefixes->joined = true;
	pass_begin(prefixes, pass, pass->at, false);
	return 0;
}

/* Give out a piece, but for the beginning of a line at its end. last: that,
 * too. Returns how many bytes are done, or -1.
 */
static ssize_t prefixes_pass(struct prefixes *prefixes, const char *text,
			     size_t size, bool last)
{
	struct prefix_pass pass = { .from = text,
				    .at = text,
				    .end = text + size };

	pass_begin(prefixes, &pass, text,
		   !prefixes->inside && !prefixes->after_cr);
	while (pass.at < pass.end) {
		if (prefixes->inside) {
			if (pass_rest(prefixes, &pass) < 0)
				return -1;
		} else if (last || pass_complete(&pass)) {
			if (pass_head(prefixes, &pass) < 0)
				return -1;
		} else {
			break;
		}
	}
	if (pass_emit(prefixes, &pass, pass.at) < 0)
		return -1;
	prefixes->offset += (uint64_t)(pass.at - pass.from);
	return pass.at - text;
}

/* Give out the first bytes of what is kept. */
static int prefixes_release(struct prefixes *prefixes, size_t size)
{
	ssize_t done = prefixes_pass(prefixes, prefixes->kept.data, size,
				     prefixes->ended);

	if (done < 0)
		return -1;
	buffer_consume(&prefixes->kept, (size_t)done);
	prefixes->held = 0;
	return 0;
}

/* Watching the first lines. */

/* The lines that are kept have this prefix. */
static void layer_add(struct prefixes *prefixes)
{
	prefixes->layers[prefixes->layer_count++] = prefixes->guess;
	prefixes->guess.kind = LOG_PREFIX_NONE;
	prefixes->settled = prefixes->layer_count == LAYERS_MAX;
	prefixes->held = 0;
	prefixes->watched = 0;
}

/* Does the line have the prefix that is guessed, or a first one? */
static void watch_guess(struct prefixes *prefixes, const char *line,
			size_t size, bool *guessed)
{
	owned_free char *text =
		docker_line_begins(line, size) ? malloc(size) : NULL;
	struct line_origin origin;
	size_t length;

	if (text && docker_line_read(line, size, text, &length))
		line_strip(prefixes, text, length, &origin, guessed);
	else
		line_strip(prefixes, line, size, &origin, guessed);
}

/* Look at the next line that is kept, of size bytes with its mark. */
static int watch_line(struct prefixes *prefixes, size_t size)
{
	const char *line = prefixes->kept.data + prefixes->held;
	bool guessing = prefixes->guess.kind != LOG_PREFIX_NONE;
	bool guessed = false, again = prefixes->after_cr;

	if (prefixes->held)
		again = line[-1] == '\r';
	/* A bar that draws itself anew has no prefix. */
	if (again || line_blank(line, size))
		guessed = guessing;
	else
		watch_guess(prefixes, line, size, &guessed);
	if (guessing && !guessed) {
		/* This line may be the first of others. */
		prefixes->guess.kind = LOG_PREFIX_NONE;
		prefixes->seen = true;
		return prefixes_release(prefixes, prefixes->held);
	}
	prefixes->watched++;
	prefixes->held += size;
	if (!guessed) {
		prefixes->seen |= !again && !line_blank(line, size);
		return prefixes_release(prefixes, prefixes->held);
	}
	if (log_prefix_shown(&prefixes->guess, false))
		layer_add(prefixes);
	return 0;
}

/* Look at the lines that are kept. */
static int prefixes_watch(struct prefixes *prefixes)
{
	while (!prefixes->settled) {
		size_t left = prefixes->kept.size - prefixes->held;
		size_t size =
			line_size(prefixes->kept.data + prefixes->held, left);

		if (!left && prefixes->ended &&
		    prefixes->guess.kind != LOG_PREFIX_NONE &&
		    log_prefix_shown(&prefixes->guess, true)) {
			layer_add(prefixes);
			continue;
		}
		if (!size && left < WATCHED_BYTES &&
		    (!left || !prefixes->ended))
			return 0;
		if (!size)
			size = left;
		if (prefixes->watched == WATCHED_LINES ||
		    prefixes->held + size >= WATCHED_BYTES)
			prefixes->settled = true;
		else if (watch_line(prefixes, size) < 0)
			return -1;
	}
	return 0;
}

/* Keep the next bytes until what they mean is clear; returns how many. */
static ssize_t prefixes_keep(struct prefixes *prefixes, const char *text,
			     size_t size)
{
	if (size > WATCHED_BYTES)
		size = WATCHED_BYTES;
	if (prefixes->settled) {
		/* No more than the beginning of a line. */
		size_t rest = line_size(text, size);

		size = rest ? rest : size;
		if (!docker_line_begins(prefixes->kept.data,
					prefixes->kept.size) &&
		    size > HEAD_MAX - prefixes->kept.size)
			size = HEAD_MAX - prefixes->kept.size;
	}
	if (buffer_append(&prefixes->kept, text, size, NULL) < 0)
		return -1;
	if (!prefixes->settled && prefixes_watch(prefixes) < 0)
		return -1;
	if (prefixes->settled &&
	    prefixes_release(prefixes, prefixes->kept.size) < 0)
		return -1;
	return (ssize_t)size;
}

int prefixes_feed(struct prefixes *prefixes, const void *data, size_t size)
{
	const char *at = data, *end = at + size;

	while (at < end) {
		size_t left = (size_t)(end - at);
		ssize_t done = 0;

		if (prefixes->settled && !prefixes->kept.size)
			done = prefixes_pass(prefixes, at, left, false);
		if (!done)
			done = prefixes_keep(prefixes, at, left);
		if (done < 0)
			return -1;
		at += done;
	}
	return 0;
}

int prefixes_finish(struct prefixes *prefixes)
{
	prefixes->ended = true;
	return prefixes_watch(prefixes) < 0 ||
			       prefixes_release(prefixes, prefixes->kept.size) <
				       0
		       ? -1
		       : 0;
}

/* prefix_fn */
static int prefixes_append(const struct prefix_run *run, void *arg)
{
	return buffer_append(arg, run->text, run->size, NULL);
}

int prefixes_remove(const char *text, size_t size, struct buffer *to,
		    struct error *err)
{
	owned(prefixes_free) struct prefixes *prefixes =
		prefixes_new(prefixes_append, to, err);

	if (!prefixes)
		return -1;
	if (prefixes_feed(prefixes, text, size) < 0 ||
	    prefixes_finish(prefixes) < 0)
		return error_nomem(err, "prefixes");
	return 0;
}
