/* image_inspect_test.c - an image is the same on whatever engine it is, and
 * another one if anything that a job sees differs.
 */
#include "agent/docker/image_inspect.h"
#include "protocol/registry/reference.h"

#include "protocol/message/codec.h"
#include "tests/tap.h"

#include <string.h>

#define LAYERS "[\"sha256:aa\",\"sha256:bb\"]"

static const char *content(const char *config, const char *layers)
{
	static char of[4][IMAGE_CONTENT_SIZE];
	static unsigned int next;
	owned(cJSON_Delete) cJSON *about = cJSON_Parse(config);
	owned(cJSON_Delete) cJSON *list = cJSON_Parse(layers);
	char *to = of[next++ % 4];

	image_content(about, list, to);
	return to;
}

/* What Docker 28.5 reports of an image with each of its stores, and its config.
 */
static void engines(void)
{
	static const char *const forms[] = {
		"{\"Env\":[\"A=b\"],\"Cmd\":[\"a\"],\"WorkingDir\":\"/w\","
		"\"Volumes\":{\"/v\":{},\"/a\":{}}}",
		"{\"Hostname\":\"\",\"Cmd\":[\"a\"],\"Entrypoint\":null,"
		"\"Env\":[\"A=b\"],\"User\":\"\",\"Labels\":null,"
		"\"WorkingDir\":\"/w\",\"Image\":\"\","
		"\"Volumes\":{\"/a\":{},\"/v\":{}}}",
	};
	char first[IMAGE_CONTENT_SIZE], second[IMAGE_CONTENT_SIZE];
	owned(cJSON_Delete) cJSON *answer = cJSON_Parse(
		"{\"Id\":\"sha256:1\",\"Config\":{\"Env\":[\"A=b\"],"
		"\"Cmd\":[\"a\"],\"WorkingDir\":\"/w\","
		"\"Volumes\":{\"/a\":{},\"/v\":{}}},"
		"\"RootFS\":{\"Layers\":" LAYERS "}}");
	struct image image;

	snprintf(first, sizeof(first), "%s", content(forms[0], LAYERS));
	snprintf(second, sizeof(second), "%s", content(forms[1], LAYERS));
	is(first, second, "what is null, empty or left out is the same");
	ok(image_inspect_read(answer, "x", &image, NULL) == 0 &&
		   !strcmp(image.content, first),
	   "an engine's answer has the content of the config");
	ok(!strncmp(first, "sha256:", 7) && strlen(first) == 71,
	   "it is written as an id");
}

static void others(void)
{
	static const char *const configs[] = {
		"{}",
		"{\"Cmd\":[\"a\"]}",
		"{\"Entrypoint\":[\"a\"]}",
		"{\"Cmd\":[\"a\",\"\"]}",
		"{\"Cmd\":[\"\"]}",
		"{\"Entrypoint\":[\"\"]}",
		"{\"Env\":[\"a\"]}",
		"{\"Env\":[\"a\",\"b\"]}",
		"{\"Env\":[\"b\",\"a\"]}",
		"{\"User\":\"a\"}",
		"{\"WorkingDir\":\"a\"}",
		"{\"Volumes\":{\"a\":{}}}",
		"{\"Volumes\":{\"a\":{},\"b\":{}}}",
	};
	size_t count = sizeof(configs) / sizeof(configs[0]), same = 0;

	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < i; k++)
			same += !strcmp(content(configs[i], LAYERS),
					content(configs[k], LAYERS));
	is_int((int)same, 0, "each difference makes another image");
	ok(strcmp(content("{}", LAYERS), content("{}", "[\"sha256:aa\"]")) != 0,
	   "so do its layers");
	ok(strcmp(content("null", "7"), content("{}", LAYERS)) != 0,
	   "an answer may be anything");
}

static void digests(void)
{
	ok(reference_digest_is("x/y@sha256:1", "sha256:1"),
	   "the digest that an engine gave");
	ok(!reference_digest_is("x/y@sha256:1", "sha256:2") &&
		   !reference_digest_is("sha256:1", "sha256:1"),
	   "the digest of a registry is no id");
}

int main(void)
{
	tap_begin(8);
	engines();
	others();
	digests();
	return tap_done();
}
