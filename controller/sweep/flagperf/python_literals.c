/* python_literals.c - the literals that a Python file assigns, read, never run.
 */
#include "controller/sweep/flagperf/python_literals.h"

#include "controller/sweep/flagperf/python_text.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#define SHOWN 40 /* bytes of a statement in a sentence */

/* A name, and what it has come to. */
struct binding {
	const char *name;
	unsigned line;                  /* of its first assignment */
	const struct python_value *now; /* NULL: more than literals */
	unsigned opaque_line;
	const char *opaque; /* what was found there */
};

struct skipped {
	unsigned line;
	const char *text;
};

struct python {
	char *file;
	struct block *blocks; /* all that the values are made of */
	size_t memory;
	struct binding names[PYTHON_NAMES_MAX];
	size_t name_count;
	struct skipped skips[PYTHON_NAMES_MAX];
	size_t skip_count;
};

struct block {
	struct block *next;
	max_align_t data[];
};

/* Where the reader stands. */
struct reader {
	struct python *python;
	struct python_text text;
	unsigned depth;
	const char *why;   /* what was found that is more than a literal */
	struct error *err; /* set: the whole file is refused */
	bool refused;
};

void python_free(struct python *python)
{
	if (!python)
		return;
	while (python->blocks) {
		struct block *block = python->blocks;

		python->blocks = block->next;
		free(block);
	}
	free(python->file);
	free(python);
}

static int refuse(struct reader *reader, int code, unsigned line,
		  const char *what)
{
	reader->refused = true;
	return error_set(reader->err, code, "%s:%u: %s", reader->python->file,
			 line, what);
}

/* Memory that lives as long as the file; NULL: refused. */
static void *keep(struct reader *reader, size_t size)
{
	struct python *python = reader->python;
	struct block *block;

	if (size > PYTHON_MEMORY_MAX ||
	    python->memory + size > PYTHON_MEMORY_MAX) {
		refuse(reader, E2BIG, reader->text.line,
		       "the values are larger than the 32 MiB allowed");
		return NULL;
	}
	block = calloc(1, sizeof(*block) + size);
	if (!block) {
		reader->refused = true;
		error_nomem(reader->err, python->file);
		return NULL;
	}
	python->memory += size + sizeof(*block);
	block->next = python->blocks;
	python->blocks = block;
	return block->data;
}

static const char *keep_text(struct reader *reader, const char *text,
			     size_t size)
{
	char *copy = keep(reader, size + 1);

	if (copy)
		memcpy(copy, text, size);
	return copy;
}

static struct python_value *new_value(struct reader *reader,
				      enum python_kind kind)
{
	struct python_value *made = keep(reader, sizeof(*made));

	if (made) {
		made->kind = kind;
		made->line = reader->text.line;
	}
	return made;
}

/* More than a literal: what stands here, for the sentence. */
static const struct python_value *opaque(struct reader *reader)
{
	if (!reader->why) {
		size_t size = python_text_word(&reader->text, SHOWN);

		reader->why = keep_text(reader, reader->text.at, size);
	}
	return NULL;
}

static struct binding *find(const struct python *python, const char *name,
			    size_t size)
{
	for (size_t i = 0; i < python->name_count; i++)
		if (strlen(python->names[i].name) == size &&
		    !memcmp(python->names[i].name, name, size))
			return (struct binding *)&python->names[i];
	return NULL;
}

static struct binding *bind(struct reader *reader, const char *name,
			    size_t size)
{
	struct python *python = reader->python;
	struct binding *binding = find(python, name, size);

	if (binding)
		return binding;
	if (python->name_count == PYTHON_NAMES_MAX) {
		refuse(reader, E2BIG, reader->text.line,
		       "more than 4096 names are assigned");
		return NULL;
	}
	binding = &python->names[python->name_count];
	binding->name = keep_text(reader, name, size);
	binding->line = reader->text.line;
	if (!binding->name)
		return NULL;
	python->name_count++;
	return binding;
}

/* Expressions. */

static const struct python_value *read_sum(struct reader *reader);

static const struct python_value *read_number(struct reader *reader)
{
	struct python_number number;
	struct python_value *made;

	if (!python_text_number(&reader->text, &number))
		return opaque(reader);
	made = new_value(reader, PYTHON_NUMBER);
	if (!made)
		return NULL;
	made->integer = number.integer;
	made->number = number.value;
	made->text = keep_text(reader, number.text, strlen(number.text));
	return made->text ? made : NULL;
}

/* One string, or several side by side. */
static const struct python_value *read_text(struct reader *reader)
{
	struct python_value *made = new_value(reader, PYTHON_TEXT);
	owned(buffer_clear) struct buffer out;

	buffer_init(&out, PYTHON_BYTES_MAX);
	while (made && python_text_is_string(&reader->text)) {
		struct error why = { 0 };

		switch (python_text_string(&reader->text, &out, &why)) {
		case PYTHON_STRING_GOOD:
			break;
		case PYTHON_STRING_OPAQUE:
			return opaque(reader);
		case PYTHON_STRING_BAD:
			refuse(reader, why.code, reader->text.line, why.text);
			return NULL;
		}
		python_text_blank(&reader->text);
	}
	if (!made || !(made->text = keep_text(reader, out.data, out.size)))
		return NULL;
	return made;
}

static const struct python_value *read_word(struct reader *reader)
{
	static const struct {
		const char *word;
		enum python_kind kind;
		bool truth;
	} words[] = {
		{ "None", PYTHON_NONE, false },
		{ "True", PYTHON_BOOL, true },
		{ "False", PYTHON_BOOL, false },
	};
	const char *name = reader->text.at;
	size_t size = python_text_name(&reader->text);
	const struct binding *binding;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		struct python_value *made;

		if (strlen(words[i].word) != size ||
		    memcmp(words[i].word, name, size) != 0)
			continue;
		made = new_value(reader, words[i].kind);
		if (made)
			made->truth = words[i].truth;
		reader->text.at += size;
		return made;
	}
	binding = find(reader->python, name, size);
	if (!binding || !binding->now)
		return opaque(reader);
	reader->text.at += size;
	return binding->now;
}

/* Items of brackets, gathered before their number is known. */
struct gathered {
	const struct python_value **items;
	size_t count, room;
};

static int gather(struct reader *reader, struct gathered *to,
		  const struct python_value *item)
{
	if (to->count == to->room) {
		size_t room = to->room ? to->room * 2 : 8;
		const struct python_value **items =
			keep(reader, room * sizeof(struct python_value *));

		if (!items)
			return -1;
		if (to->count)
			memcpy(items, to->items,
			       to->count * sizeof(struct python_value *));
		to->items = items;
		to->room = room;
	}
	to->items[to->count++] = item;
	return 0;
}

static bool same(const struct python_value *a, const struct python_value *b)
{
	if (a->kind != b->kind)
		return false;
	if (a->kind == PYTHON_NUMBER)
		return a->number == b->number;
	if (a->kind == PYTHON_TEXT)
		return !strcmp(a->text, b->text);
	return a->kind == PYTHON_BOOL ? a->truth == b->truth
				      : a->kind == PYTHON_NONE;
}

/* As in Python, the last one of two equal keys has the say. */
static int gather_entry(struct reader *reader, struct gathered *keys,
			struct gathered *items, const struct python_value *key,
			const struct python_value *item)
{
	/* Thousands of cases are no use, and would take squares of time. */
	for (size_t i = 0; i < keys->count && keys->count < 4096; i++)
		if (same(keys->items[i], key)) {
			items->items[i] = item;
			return 0;
		}
	return gather(reader, keys, key) < 0 ? -1 : gather(reader, items, item);
}

/* The value behind a key; what is more than literals is gone over. */
static const struct python_value *read_item(struct reader *reader)
{
	struct python_text *text = &reader->text;
	const struct python_text from = *text;
	unsigned depth = reader->depth;
	const struct python_value *item = read_sum(reader);
	struct python_value *made;
	struct error why = { 0 };
	const char *found;

	if (reader->refused || (item && *text->at && strchr(",}", *text->at)))
		return item;
	if (item)
		opaque(reader);
	found = reader->why;
	*text = from;
	reader->depth = depth;
	reader->why = NULL;
	python_text_blank(text);
	made = new_value(reader, PYTHON_OPAQUE);
	while (made && (text->brackets > from.brackets || !*text->at ||
			!strchr(",}", *text->at)))
		if (python_text_step(text, &why) <= 0) {
			refuse(reader, EINVAL, text->line, why.text);
			return NULL;
		} else {
			python_text_blank(text);
		}
	if (made)
		made->text = found ? found : "";
	return made;
}

static int read_entry(struct reader *reader, bool dict, struct gathered *keys,
		      struct gathered *items)
{
	const struct python_value *key = read_sum(reader), *item;

	if (!key)
		return -1;
	if (!dict)
		return gather(reader, items, key);
	/* Lists and dicts are no keys, and {1, 2} is a set. */
	if (*reader->text.at != ':' || key->kind >= PYTHON_LIST) {
		opaque(reader);
		return -1;
	}
	reader->text.at++;
	item = read_item(reader);
	return item ? gather_entry(reader, keys, items, key, item) : -1;
}

/* What stands in [], () or {}. */
static const struct python_value *read_brackets(struct reader *reader)
{
	struct python_text *text = &reader->text;
	char open = *text->at;
	char close = open == '[' ? ']' : open == '(' ? ')' : '}';
	struct python_value *made =
		new_value(reader, open == '['   ? PYTHON_LIST
				  : open == '(' ? PYTHON_TUPLE
						: PYTHON_DICT);
	struct gathered keys = { 0 }, items = { 0 };
	bool comma = false;

	if (!made)
		return NULL;
	if (++reader->depth > PYTHON_DEPTH_MAX) {
		refuse(reader, E2BIG, text->line,
		       "brackets nest deeper than the 64 allowed");
		return NULL;
	}
	text->at++;
	text->brackets++;
	python_text_blank(text);
	while (*text->at != close) {
		if (read_entry(reader, open == '{', &keys, &items) < 0)
			return NULL;
		comma = *text->at == ',';
		if (!comma && *text->at != close)
			return opaque(reader);
		text->at += comma;
		python_text_blank(text);
	}
	text->at++;
	text->brackets--;
	reader->depth--;
	/* (x) is x. */
	if (open == '(' && items.count == 1 && !comma)
		return items.items[0];
	made->items = items.items;
	made->keys = keys.items;
	made->count = items.count;
	return made;
}

static const struct python_value *read_single(struct reader *reader)
{
	const char *at;
	const struct python_value *got;

	python_text_blank(&reader->text);
	at = reader->text.at;
	if (python_text_is_string(&reader->text))
		got = read_text(reader);
	else if (isdigit((unsigned char)*at) || *at == '-' || *at == '.')
		got = read_number(reader);
	else if (*at == '[' || *at == '(' || *at == '{')
		got = read_brackets(reader);
	else if (python_text_name(&reader->text))
		got = read_word(reader);
	else
		got = opaque(reader);
	python_text_blank(&reader->text);
	return got;
}

static const struct python_value *add_texts(struct reader *reader,
					    struct python_value *sum,
					    const struct python_value *a,
					    const struct python_value *b)
{
	size_t first = strlen(a->text), second = strlen(b->text);
	char *text = keep(reader, first + second + 1);

	if (!text)
		return NULL;
	memcpy(text, a->text, first);
	memcpy(text + first, b->text, second);
	sum->text = text;
	return sum;
}

static const struct python_value *add_lists(struct reader *reader,
					    struct python_value *sum,
					    const struct python_value *a,
					    const struct python_value *b)
{
	const struct python_value **items =
		keep(reader,
		     (a->count + b->count + 1) * sizeof(struct python_value *));

	if (!items)
		return NULL;
	for (size_t i = 0; i < a->count + b->count; i++)
		items[i] = i < a->count ? a->items[i] : b->items[i - a->count];
	sum->items = items;
	sum->count = a->count + b->count;
	return sum;
}

static const struct python_value *add(struct reader *reader,
				      const struct python_value *a,
				      const struct python_value *b)
{
	struct python_value *sum;

	if (a->kind != b->kind ||
	    (a->kind != PYTHON_TEXT && a->kind != PYTHON_NUMBER &&
	     a->kind != PYTHON_LIST && a->kind != PYTHON_TUPLE))
		return opaque(reader);
	sum = new_value(reader, a->kind);
	if (!sum)
		return NULL;
	sum->line = a->line;
	if (a->kind == PYTHON_TEXT)
		return add_texts(reader, sum, a, b);
	if (a->kind != PYTHON_NUMBER)
		return add_lists(reader, sum, a, b);
	struct python_number number = {
		.integer = a->integer && b->integer,
		.value = a->number + b->number,
	};
	python_number_show(&number);
	sum->integer = number.integer;
	sum->number = number.value;
	sum->text = keep_text(reader, number.text, strlen(number.text));
	return sum->text ? sum : NULL;
}

static const struct python_value *read_sum(struct reader *reader)
{
	const struct python_value *sum = read_single(reader);

	while (sum && *reader->text.at == '+') {
		const struct python_value *more;

		reader->text.at++;
		more = read_single(reader);
		sum = more ? add(reader, sum, more) : NULL;
	}
	return sum;
}

/* Statements. */

/* From here on nobody knows what the name stands for. */
static int blur(struct reader *reader, const char *name, size_t size,
		unsigned line, const char *found)
{
	struct binding *binding = bind(reader, name, size);

	if (!binding)
		return -1;
	binding->now = NULL;
	binding->opaque_line = line;
	binding->opaque = found;
	return 0;
}

/* `from common import *` may give any name another value. */
static int blur_all(struct reader *reader, unsigned line, const char *words)
{
	struct python *python = reader->python;

	if (strncmp(words, "from ", 5) != 0 || !strstr(words, "import *"))
		return 0;
	for (size_t i = 0; i < python->name_count; i++)
		if (blur(reader, python->names[i].name,
			 strlen(python->names[i].name), line, words) < 0)
			return -1;
	return 0;
}

/* The statement that began at `from` is not read, and what it may change is
 * not known any more.
 */
static int skip(struct reader *reader, const struct python_text *from)
{
	struct python *python = reader->python;
	struct error why = { 0 };
	const char *what = reader->why, *words;
	bool first = true;
	int rc;

	reader->text = *from;
	reader->depth = 0;
	words = keep_text(reader, from->at, python_text_word(from, SHOWN));
	if (!words || blur_all(reader, from->line, words) < 0)
		return -1;
	do {
		size_t size = python_text_name(&reader->text);

		if (size && !reader->text.brackets &&
		    !python_text_is_string(&reader->text) &&
		    python_text_changes(&reader->text, first) &&
		    blur(reader, reader->text.at, size, from->line,
			 what ? what : words) < 0)
			return -1;
		first = *reader->text.at == ':';
		rc = python_text_step(&reader->text, &why);
		python_text_blank(&reader->text);
	} while (rc > 0);
	if (rc < 0)
		return refuse(reader, why.code, reader->text.line, why.text);
	if (python->skip_count < PYTHON_NAMES_MAX)
		python->skips[python->skip_count++] =
			(struct skipped){ from->line, words };
	return 0;
}

/* "= value" or "+= value" behind a name. 1: read; 0: it is something else. */
static int assign(struct reader *reader, const char *name, size_t size)
{
	struct python_text *text = &reader->text;
	const struct binding *before = find(reader->python, name, size);
	struct binding *binding;
	const struct python_value *got;
	bool more = text->at[0] == '+' && text->at[1] == '=';

	if (!more && (text->at[0] != '=' || text->at[1] == '='))
		return 0;
	text->at += more ? 2 : 1;
	got = read_sum(reader);
	if (got && more)
		got = before && before->now ? add(reader, before->now, got)
					    : opaque(reader);
	if (!got)
		return reader->refused ? -1 : 0;
	if (!python_text_ends(text)) {
		opaque(reader);
		return reader->refused ? -1 : 0;
	}
	binding = bind(reader, name, size);
	if (!binding)
		return -1;
	binding->now = got;
	return 1;
}

static int statement(struct reader *reader)
{
	const struct python_text from = reader->text;
	size_t size = python_text_name(&reader->text);
	int rc = 0;

	reader->why = NULL;
	if (from.indented)
		return skip(reader, &from);
	if (python_text_is_string(&reader->text)) {
		/* A comment in the form of a string. */
		rc = read_sum(reader) && python_text_ends(&reader->text);
	} else if (size) {
		reader->text.at += size;
		python_text_blank(&reader->text);
		rc = assign(reader, from.at, size);
	}
	if (reader->refused)
		return -1;
	return rc ? 0 : skip(reader, &from);
}

static int check_bytes(struct reader *reader, const char *text, size_t size)
{
	unsigned line = 1;

	if (size > PYTHON_BYTES_MAX)
		return refuse(reader, E2BIG, 1,
			      "larger than the 1 MiB allowed");
	for (size_t i = 0; i < size; i++) {
		if (!text[i])
			return refuse(reader, EINVAL, line,
				      "found a NUL, which no text has");
		line += text[i] == '\n';
	}
	return 0;
}

struct python *python_read(const char *text, size_t size, const char *file,
			   struct error *err)
{
	owned(python_free) struct python *python = calloc(1, sizeof(*python));
	struct reader reader = { .python = python, .err = err };
	const char *copy;

	if (!python || !(python->file = strdup(file))) {
		error_nomem(err, file);
		return NULL;
	}
	if (check_bytes(&reader, text, size) < 0 ||
	    !(copy = keep_text(&reader, text, size)))
		return NULL;
	python_text_init(&reader.text, copy);
	while (python_text_next(&reader.text))
		if (statement(&reader) < 0)
			return NULL;
	return take(python);
}

/* Asking. */

const struct python_value *python_get(const struct python *python,
				      const char *name, struct error *err)
{
	const struct binding *binding = find(python, name, strlen(name));

	if (!binding) {
		error_set(err, ENOENT, "%s: found no %s", python->file, name);
		return NULL;
	}
	if (!binding->now)
		error_set(err, EINVAL,
			  "%s:%u: %s: found \"%s\", which is more than a "
			  "literal",
			  python->file, binding->opaque_line, name,
			  binding->opaque);
	return binding->now;
}

const char *python_name(const struct python *python, size_t index,
			unsigned *line)
{
	if (index >= python->name_count)
		return NULL;
	*line = python->names[index].line;
	return python->names[index].name;
}

const char *python_skipped(const struct python *python, size_t index,
			   unsigned *line)
{
	if (index >= python->skip_count)
		return NULL;
	*line = python->skips[index].line;
	return python->skips[index].text;
}

int python_error(const struct python *python, const struct python_value *at,
		 struct error *err, const char *fmt, ...)
{
	struct error why;
	va_list args;

	va_start(args, fmt);
	error_vset(&why, EINVAL, fmt, args);
	va_end(args);
	return error_set(err, EINVAL, "%s:%u: %s", python->file, at->line,
			 why.text);
}

int python_text(const struct python *python, const char *name, bool none,
		const char **text, struct error *err)
{
	const struct python_value *got = python_get(python, name, err);

	if (!got)
		return -1;
	if (got->kind != PYTHON_TEXT && !(none && got->kind == PYTHON_NONE))
		return python_error(python, got, err,
				    "%s: allowed is a string%s", name,
				    none ? " or None" : "");
	*text = got->text;
	return 0;
}
