/* json_writer_test.c - JSON text that is written value by value.
 */
#include "protocol/message/json_writer.h"
#include "protocol/message/codec.h"
#include "tests/tap.h"
#include "tests/unit/fault.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static int write_some(struct buffer *out, const cJSON *tree, struct error *err)
{
	struct json_writer writer;

	json_writer_init(&writer, out);
	json_open(&writer, NULL, '{');
	json_text(&writer, "text", "a \"b\"\n");
	json_text(&writer, "none", NULL);
	json_open(&writer, "list", '[');
	json_number(&writer, NULL, 1);
	json_number(&writer, NULL, -0.25);
	json_number(&writer, NULL, NAN);
	json_open(&writer, NULL, '{');
	json_close(&writer);
	json_bool(&writer, NULL, true);
	json_close(&writer);
	json_members(&writer, "");
	json_members(&writer, "\"m\":1,\"n\":[]");
	json_tree(&writer, "tree", tree);
	json_member(&writer, cJSON_GetObjectItem(tree, "t"));
	json_tree(&writer, "no tree", NULL);
	json_close(&writer);
	return json_writer_end(&writer, err);
}

static const char want[] =
	"{\"text\":\"a \\\"b\\\"\\n\",\"none\":null,"
	"\"list\":[1,-0.25,null,{},true],\"m\":1,\"n\":[],"
	"\"tree\":{\"t\":[0.5,{}],\"u\":\"\"},\"t\":[0.5,{}],\"no tree\":null}";

static void test_text(const cJSON *tree)
{
	owned(buffer_clear) struct buffer out;
	struct error err = { 0 };

	buffer_init(&out, 1000);
	ok(write_some(&out, tree, &err) == 0, "it is written: %s", err.text);
	is(out.data, want, "with its commas, colons and brackets");
	buffer_clear(&out);
	buffer_text(&out, "old", NULL);
	out.limit = 3 + strlen(want) - 1;
	ok(write_some(&out, tree, &err) < 0 && err.code == E2BIG,
	   "one byte too many is refused: %s", err.text);
	is(out.data, "old", "and nothing of it stays");
	out.limit++;
	ok(write_some(&out, tree, &err) == 0, "one less is not");
}

static void test_members(void)
{
	owned(buffer_clear) struct buffer out;
	struct json_writer writer;

	buffer_init(&out, 1000);
	json_writer_init(&writer, &out);
	json_text(&writer, "a", "b");
	json_open(&writer, "c", '[');
	json_close(&writer);
	json_number(&writer, "d", 1);
	ok(json_writer_end(&writer, NULL) == 0 &&
		   !strcmp(out.data, "\"a\":\"b\",\"c\":[],\"d\":1"),
	   "members without their object: %s", out.data);
}

static void test_failures(const cJSON *tree)
{
	struct json_writer writer;
	struct error err;
	cJSON *deep = cJSON_CreateArray();

	for (int i = 0; i < 100; i++) {
		cJSON *outer = cJSON_CreateArray();

		cJSON_AddItemToArray(outer, deep);
		deep = outer;
	}
	for (int own = 0; own < 2; own++) {
		owned(buffer_clear) struct buffer out;

		buffer_init(&out, 1000);
		json_writer_init(&writer, &out);
		json_open(&writer, NULL, '[');
		error_set(&err, EIO, "its own");
		if (own)
			json_fail(&writer, &err);
		json_tree(&writer, NULL, deep);
		json_text(&writer, NULL, "more");
		json_close(&writer);
		ok(json_writer_end(&writer, &err) < 0 && !out.size &&
			   err.code == (own ? EIO : EPROTO),
		   "the first failure is told: %s", err.text);
	}
	cJSON_Delete(deep);
	for (long n = 1;; n++) {
		owned(buffer_clear) struct buffer out;
		int rc;

		buffer_init(&out, 1000);
		fault_arm(n);
		rc = write_some(&out, tree, &err);
		if (!fault_disarm()) {
			ok(rc == 0 && n > 1, "each allocation failed in turn");
			break;
		}
		if (rc == 0 || err.code != ENOMEM || out.size)
			ok(false, "allocation %ld fails: %s", n, err.text);
	}
}

int main(void)
{
	static const char text[] = "{\"t\":[0.5,{}],\"u\":\"\"}";
	cJSON *tree = codec_parse(text, strlen(text), NULL);

	tap_begin(30);
	test_text(tree);
	test_members();
	test_failures(tree);
	cJSON_Delete(tree);
	return tap_done();
}
