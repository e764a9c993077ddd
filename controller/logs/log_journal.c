/* log_journal.c - makes the output of jobs survive a power cut.
 */
#include "controller/logs/log_journal.h"
#include "controller/logs/log_store.h"
#include "controller/store/store.h"
#include "protocol/base/log.h"
#include "protocol/base/loop.h"
#include "protocol/base/subprocess.h"

#include <stdlib.h>
#include <string.h>

#define SYNC_TIMEOUT_MS 600000

struct log_journal {
	sd_event *loop;
	struct log_store *logs;
	struct store *store;
	struct strings sync; /* the command */
	sd_event_source *timer;
	struct subprocess *syncing;
	uint64_t before; /* rows that it covers have smaller numbers */
	bool waits;      /* rows were put that no sync covers */
};

static int journal_sync_files(sd_event_source *source, uint64_t usec,
			      void *arg);

/* A sync is due. */
static void journal_wait(struct log_journal *journal)
{
	struct error err;

	if (journal->waits)
		return;
	journal->waits = true;
	if (!journal->syncing &&
	    loop_timer(journal->loop, &journal->timer, LOG_JOURNAL_MS,
		       journal_sync_files, journal, &err) < 0)
		log_warning("logs: %s", err.text);
}

static void journal_synced(void *arg, const struct error *err,
			   const struct subprocess_output *output)
{
	struct log_journal *journal = arg;
	bool again = journal->waits;
	struct error why;

	journal->syncing = NULL;
	journal->waits = false;
	if (err || output->exit_code) {
		log_warning("logs: sync: %s; trying again",
			    err ? err->text : output->complaint);
		again = true;
	} else if (store_drop_outputs(journal->store, journal->before, &why) <
		   0) {
		log_warning("logs: %s", why.text);
		again = true;
	}
	if (again)
		journal_wait(journal);
}

static int journal_sync_files(sd_event_source *source, uint64_t usec, void *arg)
{
	struct log_journal *journal = arg;
	const struct subprocess_command command = {
		.argv = &journal->sync,
		.timeout_ms = SYNC_TIMEOUT_MS,
		.output_max = 4096,
	};
	struct error err;

	journal->before = store_coming_output(journal->store);
	journal->waits = false;
	journal->syncing = subprocess_run(journal->loop, &command,
					  journal_synced, journal, &err);
	if (!journal->syncing) {
		log_warning("logs: sync: %s; trying again", err.text);
		journal_wait(journal);
	}
	return 0;
}

/* At start. */

struct restoring {
	struct log_journal *journal;
	struct error *err;
	bool any;
};

static int restore_output(const struct output_row *row, void *arg)
{
	struct restoring *restoring = arg;

	restoring->any = true;
	return log_store_restore(restoring->journal->logs, row->job,
				 row->attempt, row->stream, row->bytes,
				 row->size, restoring->err);
}

struct log_journal *log_journal_new(sd_event *loop, const char *folder,
				    struct log_store *logs, struct store *store,
				    struct error *err)
{
	owned(log_journal_free) struct log_journal *journal =
		calloc(1, sizeof(*journal));
	struct restoring restoring = { journal, err, false };

	if (!journal)
		return error_null(error_nomem(err, "log journal"));
	journal->loop = loop;
	journal->logs = logs;
	journal->store = store;
	if (strings_add(&journal->sync, "sync", err) < 0 ||
	    strings_add(&journal->sync, "-f", err) < 0 ||
	    strings_add(&journal->sync, folder, err) < 0 ||
	    store_outputs(store, restore_output, &restoring, err) < 0)
		return NULL;
	if (restoring.any)
		journal_wait(journal);
	return take(journal);
}

void log_journal_free(struct log_journal *journal)
{
	if (!journal)
		return;
	subprocess_cancel(journal->syncing);
	loop_source_free(&journal->timer);
	strings_clear(&journal->sync);
	free(journal);
}

/* At the end of an attempt. */

struct putting {
	struct log_journal *journal;
	uint64_t job;
	uint32_t attempt;
	size_t left; /* of LOG_JOURNAL_BYTES */
	struct error *err;
};

/* 1: there is too much. */
static int journal_put_output(const char *stream, uint64_t length, void *arg)
{
	struct putting *putting = arg;
	char bytes[LOG_JOURNAL_BYTES];
	struct output_row row = { putting->job, putting->attempt, stream, bytes,
				  0 };

	if (length > putting->left)
		return 1;
	putting->left -= length;
	if (log_store_read(putting->journal->logs, row.job, row.attempt, stream,
			   0, bytes, length, &row.size, putting->err) < 0)
		return -1;
	return store_put_output(putting->journal->store, &row, putting->err);
}

int log_journal_sync(struct log_journal *journal, uint64_t job,
		     uint32_t attempt, struct error *err)
{
	struct putting putting = { journal, job, attempt, LOG_JOURNAL_BYTES,
				   err };
	int rc = log_store_streams(journal->logs, job, attempt,
				   journal_put_output, &putting, err);

	if (rc > 0)
		rc = log_store_sync(journal->logs, job, attempt, err);
	if (putting.left < LOG_JOURNAL_BYTES)
		journal_wait(journal);
	return rc;
}
