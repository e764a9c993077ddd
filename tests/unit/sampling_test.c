/* sampling_test.c - samples are read where there are new ones, and only there.
 */
#include "controller/jobs/job.h"
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
	struct cluster cluster;
	struct gang gang;
	struct job job;
	char piece[64];
	uint64_t lengths[NODES];
};

static void store(struct bed *bed, uint32_t rank, size_t size)
{
	char text[256], name[16];
	struct error err;

	memset(text, '\n', sizeof(text));
	snprintf(name, sizeof(name), "samples-%u", rank);
	if (log_store_append(bed->cluster.logs, 7, 1, name, bed->lengths[rank],
			     text, size, 1, &bed->lengths[rank], &err) < 0)
		ok(false, "%s", err.text);
}

static bool read_on(struct bed *bed)
{
	return sampling_read(&bed->cluster, &bed->gang, bed->piece,
			     sizeof(bed->piece));
}

static uint64_t at(const struct bed *bed, uint32_t rank)
{
	return bed->gang.samplings[rank].offset;
}

int main(void)
{
	char top[] = "/tmp/sampling-test-XXXXXX";
	struct bed bed = { .job = { .id = 7, .attempt = 1 } };

	tap_begin(60);
	if (!mkdtemp(top))
		return 1;
	effects_connect(&bed.cluster);
	bed.gang.job = &bed.job;
	bed.gang.spec.nodes = NODES;
	bed.cluster.logs = log_store_new(top, NULL);
	store(&bed, 0, 100);
	ok(read_on(&bed) && at(&bed, 0) == 64 &&
		   !sampling_done(&bed.cluster, &bed.gang),
	   "what was stored before is read, a piece at a time");
	read_on(&bed);
	ok(!read_on(&bed) && at(&bed, 0) == 100 &&
		   sampling_done(&bed.cluster, &bed.gang),
	   "to its end");
	store(&bed, 0, 10);
	store(&bed, 1, 10);
	ok(!read_on(&bed) && at(&bed, 0) == 100,
	   "a stream that nobody woke is not looked at");
	sampling_wake(&bed.gang, 1);
	ok(read_on(&bed) && at(&bed, 1) == 10 && at(&bed, 0) == 100,
	   "one that was is read, also when it was not there before");
	sampling_wake(&bed.gang, 0);
	ok(read_on(&bed) && at(&bed, 0) == 110 &&
		   sampling_done(&bed.cluster, &bed.gang),
	   "so that nothing is left");
	sampling_clear(&bed.gang);
	log_store_free(bed.cluster.logs);
	file_remove_tree(AT_FDCWD, top, NULL);
	return tap_done();
}
