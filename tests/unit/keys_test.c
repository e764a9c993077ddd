/* keys_test.c - the table of a sweep's keys, and the page that lists them.
 *
 *	keys_test page	print the list "All keys" of regatta-sweep(5)
 */
#include "controller/cell/cell_data.h"
#include "controller/cell/keys.h"
#include "controller/sweep/sweep.h"
#include "protocol/base/buffer.h"
#include "protocol/base/file.h"
#include "tests/tap.h"

#include <inttypes.h>

#define PAGE "controller/cli/regatta-sweep.5"
#define HEAD ".Ss All keys\n"
#define DAY_MS ((uint64_t)86400000)
#define KEY_FORM_BYTES 120

static void words_form(const char *const *words, char form[KEY_FORM_BYTES])
{
	size_t used = 0;

	for (size_t i = 0; words[i] && used < KEY_FORM_BYTES; i++)
		used += (size_t)snprintf(form + used, KEY_FORM_BYTES - used,
					 "%s%s", i ? ", " : "", words[i]);
}

/* A limit in its largest unit. */
static uint64_t in_unit(uint64_t number, uint64_t step, const char *letters,
			char *letter)
{
	for (*letter = *letters; letters[1] && number && number % step == 0;) {
		number /= step;
		*letter = *++letters;
	}
	return number;
}

/* What may stand behind the key: "integer, 1 to 4096". */
static void key_form(const struct key_rule *rule, char form[KEY_FORM_BYTES])
{
	char letter;
	uint64_t most;

	switch (rule->type) {
	case TYPE_U32:
	case TYPE_U64:
		snprintf(form, KEY_FORM_BYTES,
			 "integer, %" PRIu64 " to %" PRIu64, rule->min,
			 rule->max);
		return;
	case TYPE_I64:
		snprintf(form, KEY_FORM_BYTES,
			 "integer, -%" PRIu64 " to %" PRIu64, rule->max,
			 rule->max);
		return;
	case TYPE_DOUBLE:
		snprintf(form, KEY_FORM_BYTES,
			 "number, %" PRIu64 " to %" PRIu64, rule->min,
			 rule->max);
		return;
	case TYPE_BOOL:
		snprintf(form, KEY_FORM_BYTES, "true or false");
		return;
	case TYPE_DURATION:
	case TYPE_GRACE:
		snprintf(form, KEY_FORM_BYTES,
			 rule->max % DAY_MS ? "duration, at most %" PRIu64 "h"
					    : "duration, at most %" PRIu64 "d",
			 rule->max /
				 (rule->max % DAY_MS ? DAY_MS / 24 : DAY_MS));
		return;
	case TYPE_PATIENCE:
		snprintf(form, KEY_FORM_BYTES,
			 "duration, at most %" PRIu64 "d, or off",
			 rule->max / DAY_MS);
		return;
	case TYPE_SIZE:
		most = in_unit(rule->max, 1024, "BKMGT", &letter);
		snprintf(form, KEY_FORM_BYTES, "size, at most %" PRIu64 "%c",
			 most, letter);
		return;
	case TYPE_TEXT:
	case TYPE_FILLED:
		snprintf(form, KEY_FORM_BYTES,
			 "text of at most %" PRIu64 " bytes", rule->max);
		return;
	case TYPE_WORD:
	case TYPE_CHOICE:
	case TYPE_OTHER:
		if (rule->words)
			words_form(rule->words, form);
		else
			snprintf(form, KEY_FORM_BYTES, "%s", rule->form);
		return;
	}
}

/* One entry of the list; no line begins with what a page takes for a request.
 */
static void put_entry(struct buffer *out, const char *name, const char *form,
		      const char *fallback, const char *help)
{
	buffer_printf(out, NULL, ".It Li %s\n%s%s%s.\n%s\n", name, form,
		      fallback ? "; default " : "", fallback ? fallback : "",
		      help);
}

static void put_list(struct buffer *out)
{
	buffer_text(out, HEAD ".Bl -tag -width Ds -compact\n", NULL);
	for (size_t i = 0; i <= KEYS; i++) {
		char form[KEY_FORM_BYTES];

		for (size_t k = 0; k < KEY_SECTIONS; k++)
			if (key_sections[k].before == i)
				put_entry(out, key_sections[k].name,
					  key_sections[k].form, NULL,
					  key_sections[k].help);
		if (i == KEYS)
			break;
		key_form(&key_rules[i], form);
		put_entry(out, key_rules[i].path, form, key_rules[i].fallback,
			  key_rules[i].help);
	}
	buffer_text(out, ".El\n", NULL);
}

static void page_lists_the_table(void)
{
	owned(buffer_clear) struct buffer page = BUFFER_INIT(1 << 20);
	owned(buffer_clear) struct buffer list = BUFFER_INIT(1 << 20);
	const char *at, *end = NULL;

	put_list(&list);
	file_read_any(PAGE, &page, NULL);
	at = page.data ? strstr(page.data, HEAD) : NULL;
	if (at)
		end = strstr(at, "\n.El\n");
	ok(end && (size_t)(end + 5 - at) == list.size &&
		   !memcmp(at, list.data, list.size),
	   "regatta-sweep(5) lists the keys as they are; else put there what "
	   "`keys_test page` prints");
}

static void rows_are_whole(void)
{
	for (size_t i = 0; i < KEYS; i++) {
		const struct key_rule *rule = &key_rules[i];
		bool other = rule->type == TYPE_OTHER;
		bool words =
			rule->type == TYPE_WORD || rule->type == TYPE_CHOICE;
		char form[KEY_FORM_BYTES] = "";

		key_form(rule, form);
		ok(rule->path && rule->help && *form &&
			   rule->help[strlen(rule->help) - 1] == '.',
		   "%s: it is described: %s", rule->path, form);
		ok(other || rule->type == TYPE_FILLED
			   ? !rule->place
			   : rule->place && rule->place < sizeof(struct cell),
		   "%s: it has a place, or a function", rule->path);
		ok(words ? rule->words && !rule->form
			 : other == (rule->words || rule->form),
		   "%s: its words are known", rule->path);
		ok(rule->min <= rule->max, "%s: its limits are in order",
		   rule->path);
	}
}

/* The spec of a sweep's only job as JSON; the caller frees it. */
static char *spec_of(const struct catalog *catalog, const char *key,
		     const char *value)
{
	struct job_spec spec = { 0 };
	struct error err = { 0 };
	char text[200];
	char *json;
	cJSON *object;

	snprintf(text, sizeof(text),
		 "sweep: a\nimage: x:1\ncommand: [x]\n%s%s%s\n", key,
		 *key ? ": " : "", value);
	owned(sweep_free) struct sweep *sweep =
		sweep_parse(text, strlen(text), "f", catalog, &err);
	if (!sweep || sweep_job(sweep, 0, &spec, &err) < 0)
		return strdup(err.text);
	object = codec_object(&job_spec_schema, &spec, &err);
	json = cJSON_PrintUnformatted(object);
	cJSON_Delete(object);
	codec_clear(&job_spec_schema, &spec);
	return json;
}

/* What the table says of a key that is not there is what a cell then has. */
static void defaults_hold(void)
{
	struct error err = { 0 };
	owned(catalog_free) struct catalog *catalog =
		catalog_load("images", &err);
	owned_free char *silent = catalog ? spec_of(catalog, "", "") : NULL;

	ok(silent && *silent == '{', "a sweep that says little: %s", err.text);
	for (size_t i = 0; catalog && i < KEYS; i++) {
		const struct key_rule *rule = &key_rules[i];
		owned_free char *said = NULL;

		/* Of words the spec tells that one was said. */
		if (!rule->fallback || !rule->place || rule->type == TYPE_WORD)
			continue;
		said = spec_of(catalog, rule->path, rule->fallback);
		is(said, silent, "%s: its default is %s", rule->path,
		   rule->fallback);
	}
}

static void tops_and_children_come_from_it(void)
{
	const char *names[KEY_CHILDREN_MAX], *tops[KEY_TOPS_MAX];
	size_t count = key_tops(tops), found = 0;

	key_children("until", names);
	ok(names[0] && !strcmp(names[0], "confidence") &&
		   !strcmp(names[1], "width") && !strcmp(names[2], "max") &&
		   !names[3],
	   "the keys below until");
	key_children("un", names);
	ok(!names[0], "a part of a name has none");
	for (size_t i = 0; i < count; i++)
		found += key_shape(tops[i]) != SHAPE_UNKNOWN &&
			 !strchr(tops[i], '.');
	ok(found == count && !tops[count],
	   "each of %zu keys at the top has a "
	   "shape",
	   count);
	is_int(key_shape("batch"), SHAPE_KNOWN, "batch has keys of the table");
	is_int(key_shape("matrix"), SHAPE_SWEEP, "matrix is of the sweep");
	is_int(key_shape("after"), SHAPE_MAP, "after stays whole");
	is_int(key_shape("batch.micro"), SHAPE_LEAF, "a path is a leaf");
	is_int(key_shape("micro"), SHAPE_UNKNOWN, "a part of it is none");
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		owned(buffer_clear) struct buffer list = BUFFER_INIT(1 << 20);

		put_list(&list);
		fputs(list.data, stdout);
		return 0;
	}
	tap_begin(60);
	rows_are_whole();
	defaults_hold();
	tops_and_children_come_from_it();
	page_lists_the_table();
	return tap_done();
}
