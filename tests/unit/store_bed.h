/* store_bed.h - a store in a folder of its own, and rows to put into it.
 */
#pragma once

#include "controller/store/store.h"
#include "protocol/base/file.h"
#include "tests/tap.h"

#include <fcntl.h>
#include <stdlib.h>

static char folder[64];

static inline const char *in_folder(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

/* A folder of its own for each test. */
static inline void new_folder(void)
{
	snprintf(folder, sizeof(folder), "/tmp/store_test.XXXXXX");
	if (!mkdtemp(folder))
		abort();
}

static inline void drop_folder(void)
{
	file_remove_tree(AT_FDCWD, folder, NULL);
}

static inline struct store *open_store(void)
{
	struct error err = { 0 };
	struct store *store = store_new(folder, &err);

	if (!store)
		printf("# %s\n", err.text);
	return store;
}

static inline int put_sweep(struct store *store, uint64_t id)
{
	return store_put_sweep(store,
			       &(struct sweep_row){ .id = id,
						    .name = "demo",
						    .text = "sweep: demo\n",
						    .client = "op",
						    .submitted_ms = 11 },
			       NULL);
}

static inline int put_job(struct store *store, uint64_t id, uint64_t sweep,
			  enum job_state state)
{
	return store_put_job(store,
			     &(struct job_row){ .id = id,
						.sweep = sweep,
						.cell_index = id * 2,
						.key = "abc",
						.repeat = 1,
						.priority = -5,
						.spec = "{\"a\":1}",
						.state = state,
						.attempt = 1,
						.queued_ms = 21 },
			     NULL);
}

static inline int put_event(struct store *store, uint64_t job, const char *kind)
{
	return store_put_event(store,
			       &(struct event_row){ .job = job,
						    .attempt = 1,
						    .time_ms = 31,
						    .kind = kind },
			       NULL);
}

static inline int count_job(const struct job_row *row, void *arg)
{
	++*(uint64_t *)arg;
	return 0;
}

static inline int count_event(const struct event_row *row, void *arg)
{
	++*(uint64_t *)arg;
	return 0;
}

static inline uint64_t events_of(struct store *store, uint64_t job)
{
	uint64_t n = 0;

	return store_events(store, job, 0, 0, count_event, &n, NULL) == 0 ? n
									  : 999;
}

static inline uint64_t jobs_in(struct store *store)
{
	uint64_t n = 0;

	return store_jobs(store, 0, 0, 0, count_job, &n, NULL) == 0 ? n : 999;
}
