/* pull_progress_test.c - the progress of a pull: sums over its layers, and
 * rates.
 */
#include "agent/docker/pull_progress.h"
#include "tests/tap.h"

#include <stdio.h>
#include <string.h>

static void sums(void)
{
	struct pull_progress *sums = pull_progress_new(NULL);
	struct image_progress sum = { 0 };
	cJSON *object = cJSON_Parse("{\"id\":\"a\",\"status\":\"Downloading\","
				    "\"progressDetail\":{\"current\":-5,"
				    "\"total\":1e300}}");
	char id[20];

	pull_progress_pull(sums, object);
	pull_progress_sum(sums, &sum);
	ok(sum.layers_total == 1 && sum.done_bytes == 0 && sum.total_bytes == 0,
	   "impossible numbers count as nothing");
	for (int i = 0; i < 1000; i++) {
		snprintf(id, sizeof(id), "layer%d", i);
		cJSON_ReplaceItemInObject(object, "id", cJSON_CreateString(id));
		pull_progress_pull(sums, object);
	}
	pull_progress_sum(sums, &sum);
	is_int(sum.layers_total, PULL_PROGRESS_LAYERS_MAX,
	       "so many layers are counted and no more");
	is_int(sum.moving_count, IMAGE_MOVING_MAX, "so many move, and no more");
	pull_progress_reset(sums);
	pull_progress_sum(sums, &sum);
	ok(sum.layers_total == 0 && !strcmp(sum.phase, "pulling"),
	   "a new attempt begins at nothing");
	cJSON_Delete(object);
	pull_progress_free(sums);
}

static void extraction(void)
{
	static const char *const told[] = {
		"{\"id\":\"a\",\"status\":\"Downloading\","
		"\"progressDetail\":{\"current\":7,\"total\":1000}}",
		"{\"id\":\"b\",\"status\":\"Pulling fs layer\"}",
		"{\"id\":\"b\",\"status\":\"Downloading\","
		"\"progressDetail\":{\"current\":30,\"total\":50}}",
		"{\"id\":\"a\",\"status\":\"Download complete\"}",
		"{\"id\":\"a\",\"status\":\"Extracting\","
		"\"progressDetail\":{\"current\":400,\"total\":1000}}",
	};
	struct pull_progress *sums = pull_progress_new(NULL);
	struct image_progress sum = { 0 };
	struct pull_rate rate = { 0 };
	cJSON *object;
	int partial = 0;

	for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
		object = cJSON_Parse(told[i]);
		pull_progress_pull(sums, object);
		pull_progress_sum(sums, &sum);
		partial += sum.partial;
		cJSON_Delete(object);
	}
	is_int(partial, 1, "while a size is not told the sum is a partial one");
	ok(sum.done_bytes == 1030 && sum.moving_count == 2,
	   "what was downloaded counts while a layer still comes");
	ok(!strcmp(sum.moving[0].phase, "extracting") &&
		   sum.moving[0].done_bytes == 400 &&
		   !strcmp(sum.moving[1].phase, "pulling") &&
		   sum.moving[1].done_bytes == 30 &&
		   !strcmp(sum.moving[1].id, "b"),
	   "and each layer that moves says how far it is");
	object = cJSON_Parse("{\"id\":\"b\",\"status\":\"Download complete\"}");
	pull_progress_pull(sums, object);
	pull_progress_sum(sums, &sum);
	cJSON_Delete(object);
	ok(!strcmp(sum.phase, "extracting") && sum.done_bytes == 400 &&
		   sum.total_bytes == 1050,
	   "when all is here, what is unpacked counts");
	pull_progress_free(sums);
	is_int(rate_feed(&rate, 1000, 500), 0, "one count is no rate");
	is_int(rate_feed(&rate, 1100, 900), 0, "nor are two at once");
	is_int(rate_feed(&rate, 2000, 2500), 2000, "bytes a second");
	is_int(rate_feed(&rate, 3000, 2500), 1600, "smoothed when it stops");
	is_int(rate_feed(&rate, 9000, 8500), 1000, "the old is forgotten");
	is_int(rate_feed(&rate, 9900, 10), 0, "another try begins anew");
}

/* As an engine with containerd's store tells it. */
static void repetition(void)
{
	static const struct {
		const char *told;
		bool moved;
	} lines[] = {
		{ "{\"id\":\"a\",\"status\":\"Downloading\","
		  "\"progressDetail\":{\"current\":7,\"total\":9}}",
		  true },
		{ "{\"id\":\"a\",\"status\":\"Downloading\","
		  "\"progressDetail\":{\"current\":7,\"total\":9}}",
		  false },
		{ "{\"id\":\"a\",\"status\":\"Downloading\","
		  "\"progressDetail\":{\"current\":8,\"total\":9}}",
		  true },
		{ "{\"id\":\"a\",\"status\":\"Extracting\","
		  "\"progressDetail\":{\"current\":1,\"units\":\"s\"}}",
		  true },
		{ "{\"id\":\"a\",\"status\":\"Extracting\","
		  "\"progressDetail\":{\"current\":2,\"units\":\"s\"}}",
		  false },
		{ "{\"status\":\"Digest: sha256:1\"}", true },
	};
	struct pull_progress *sums = pull_progress_new(NULL);
	struct image_progress sum = { 0 };
	int right = 0;

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		cJSON *object = cJSON_Parse(lines[i].told);

		right += pull_progress_pull(sums, object) == lines[i].moved;
		cJSON_Delete(object);
	}
	is_int(right, sizeof(lines) / sizeof(lines[0]),
	       "what is repeated moves nothing, nor does time that passes");
	pull_progress_sum(sums, &sum);
	is_int((int)sum.done_bytes, 0, "seconds are no bytes");
	pull_progress_free(sums);
}

int main(void)
{
	tap_begin(12);
	sums();
	extraction();
	repetition();
	return tap_done();
}
