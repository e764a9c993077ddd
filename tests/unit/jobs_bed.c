/* jobs_bed.c - jobs of sweep 1 with a real store, queue and nodes.
 */
#include "tests/unit/jobs_bed.h"
#include "protocol/base/file.h"

#include <fcntl.h>
#include <stdlib.h>

static void open_jobs(struct jobs_bed *bed)
{
	struct jobs_config config = { .effects = &bed->world.effects,
				      .changes = &bed->changes };

	bed->world = (struct world){ 0 };
	sd_event_new(&bed->world.loop);
	effects_connect(&bed->world);
	config.store = bed->store = store_new(bed->folder, NULL);
	bed->jobs = jobs_new(&config, NULL);
	if (!bed->jobs)
		abort();
}

static void close_jobs(struct jobs_bed *bed)
{
	store_commit(bed->store, NULL);
	jobs_free(bed->jobs);
	store_free(bed->store);
	effects_disconnect(&bed->world);
	sd_event_unref(bed->world.loop);
}

void jobs_bed_open(struct jobs_bed *bed)
{
	*bed = (struct jobs_bed){ .folder = "/tmp/jobs_bed.XXXXXX" };
	if (!mkdtemp(bed->folder))
		abort();
	open_jobs(bed);
	store_put_sweep(bed->store,
			&(struct sweep_row){ .id = 1,
					     .name = "s",
					     .text = "",
					     .client = "op" },
			NULL);
}

void jobs_bed_restart(struct jobs_bed *bed)
{
	close_jobs(bed);
	open_jobs(bed);
	jobs_load(bed->jobs, NULL);
}

void jobs_bed_close(struct jobs_bed *bed)
{
	close_jobs(bed);
	file_remove_tree(AT_FDCWD, bed->folder, NULL);
}
