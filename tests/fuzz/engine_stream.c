/* engine_stream.c - feeds any bytes, in pieces, to the reader of the engine's
 * progress and events; how they are cut must not matter.
 */
#include "agent/docker/json_stream.h"
#include "agent/docker/pull_progress.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct reader {
	struct json_stream stream;
	struct pull_progress *pull;
	struct pull_progress *build;
	unsigned int objects;
	unsigned int stop; /* at this object; 0: never */
};

static void must(bool good)
{
	if (!good)
		abort();
}

static int take_object(void *arg, const cJSON *object)
{
	struct reader *reader = arg;

	reader->objects++;
	pull_progress_pull(reader->pull, object);
	pull_progress_build(reader->build, object);
	return reader->objects == reader->stop;
}

static int read_all(struct reader *reader, const uint8_t *data, size_t size,
		    size_t piece)
{
	struct error err = { 0 };
	int rc = 0;

	for (size_t at = 0; at < size && !rc; at += piece)
		rc = json_stream_feed(&reader->stream, data + at,
				      size - at < piece ? size - at : piece,
				      take_object, reader, &err);
	if (!rc)
		rc = json_stream_end(&reader->stream, take_object, reader,
				     &err);
	must((rc < 0) == (err.code != 0));
	return rc;
}

static void reader_init(struct reader *reader, unsigned int stop)
{
	*reader = (struct reader){ .stop = stop };
	json_stream_init(&reader->stream);
	reader->pull = pull_progress_new(NULL);
	reader->build = pull_progress_new(NULL);
	must(reader->pull && reader->build);
}

static void reader_clear(struct reader *reader)
{
	json_stream_clear(&reader->stream);
	pull_progress_free(reader->pull);
	pull_progress_free(reader->build);
}

/* The first byte: the size of a piece; the second: where the reader stops. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct image_progress one = { 0 }, two = { 0 };
	struct reader whole, cut;

	if (size < 2)
		return 0;
	reader_init(&whole, data[1]);
	reader_init(&cut, data[1]);
	must(read_all(&whole, data + 2, size - 2, size) ==
	     read_all(&cut, data + 2, size - 2, (size_t)data[0] + 1));
	must(whole.objects == cut.objects);
	pull_progress_sum(whole.pull, &one);
	pull_progress_sum(cut.pull, &two);
	must(one.done_bytes == two.done_bytes &&
	     one.total_bytes == two.total_bytes && one.layers == two.layers &&
	     !strcmp(one.phase, two.phase));
	must(one.done_bytes <= one.total_bytes &&
	     one.layers <= one.layers_total &&
	     one.layers_total <= PULL_PROGRESS_LAYERS_MAX);
	pull_progress_sum(whole.build, &one);
	must(one.layers <= one.layers_total);
	reader_clear(&whole);
	reader_clear(&cut);
	return 0;
}
