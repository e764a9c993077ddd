/* sampling_test.c - samples are read where there are new ones, and only there.
 */
#include "controller/logs/sampling.h"

#include "controller/effects.h"
#include "controller/logs/log_store.h"
#include "protocol/base/file.h"
#include "tests/tap.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define NODES 3

struct bed {
	struct world world; /* first: effects get its address */
	struct samplings *samplings;
	char piece[64];
	uint64_t lengths[NODES];
	uint64_t offsets[NODES]; /* up to which it was read */
	int (*log_read)(void *arg, uint64_t job, uint32_t attempt,
			const char *stream, uint64_t offset, void *data,
			size_t size, size_t *got, struct error *err);
};

static void store(struct bed *bed, uint32_t rank, size_t size)
{
	char text[256], name[16];
	struct error err;

	memset(text, '\n', sizeof(text));
	snprintf(name, sizeof(name), "samples-%u", rank);
	if (log_store_append(bed->world.logs, 7, 1, name, bed->lengths[rank],
			     text, size, 1, &bed->lengths[rank], &err) < 0)
		ok(false, "%s", err.text);
}

static bool read_on(struct bed *bed)
{
	return samplings_read(bed->samplings, bed->piece, sizeof(bed->piece));
}

static int log_read(void *arg, uint64_t job, uint32_t attempt,
		    const char *stream, uint64_t offset, void *data,
		    size_t size, size_t *got, struct error *err)
{
	struct bed *bed = arg;
	int rc = bed->log_read(arg, job, attempt, stream, offset, data, size,
			       got, err);

	bed->offsets[strtoul(stream + strlen("samples-"), NULL, 10)] =
		offset + *got;
	return rc;
}

int main(void)
{
	char top[] = "/tmp/sampling-test-XXXXXX";
	struct bed bed = { 0 };

	tap_begin(60);
	if (!mkdtemp(top))
		return 1;
	effects_connect(&bed.world);
	bed.log_read = bed.world.effects.log_read;
	bed.world.effects.log_read = log_read;
	bed.world.logs = log_store_new(top, NULL);
	bed.samplings = samplings_new(&bed.world.effects, 7, 1, NODES);
	store(&bed, 0, 100);
	ok(read_on(&bed) && bed.offsets[0] == 64 &&
		   !samplings_done(bed.samplings),
	   "what was stored before is read, a piece at a time");
	read_on(&bed);
	ok(!read_on(&bed) && bed.offsets[0] == 100 &&
		   samplings_done(bed.samplings),
	   "to its end");
	store(&bed, 0, 10);
	store(&bed, 1, 10);
	ok(!read_on(&bed) && bed.offsets[0] == 100,
	   "a stream that nobody woke is not looked at");
	samplings_wake(bed.samplings, 1);
	ok(read_on(&bed) && bed.offsets[1] == 10 && bed.offsets[0] == 100,
	   "one that was is read, also when it was not there before");
	samplings_wake(bed.samplings, 0);
	ok(read_on(&bed) && bed.offsets[0] == 110 &&
		   samplings_done(bed.samplings),
	   "so that nothing is left");
	samplings_free(bed.samplings);
	log_store_free(bed.world.logs);
	file_remove_tree(AT_FDCWD, top, NULL);
	return tap_done();
}
