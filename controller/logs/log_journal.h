/* log_journal.h - makes the output of jobs survive a power cut.
 *
 * The files of an attempt are synced when it ends: it costs more than all else
 * of a short job. So an output of at most LOG_JOURNAL_BYTES is also put into
 * the store, as rows that the commit of the job's end writes. A sync of the
 * whole file system follows LOG_JOURNAL_MS later, by sync(1), for all of them
 * at once; then the rows are removed. The files of rows that are left when the
 * controller starts are written again.
 */
#pragma once

#include "protocol/base/error.h"
#include "protocol/base/owned.h"

#include <stdint.h>
#include <systemd/sd-event.h>

#define LOG_JOURNAL_BYTES 4096 /* of all streams of an attempt */
#define LOG_JOURNAL_MS 5000

struct log_store;
struct store;
struct log_journal;

/* All are borrowed; the folder is on the file system of the logs. */
struct log_journal *log_journal_new(sd_event *loop, const char *folder,
				    struct log_store *logs, struct store *store,
				    struct error *err);
void log_journal_free(struct log_journal *journal);
OWNED_POINTER(struct log_journal, log_journal_free)

/* What is stored of the attempt is safe after the next commit of the store, or
 * at once.
 */
int log_journal_sync(struct log_journal *journal, uint64_t job,
		     uint32_t attempt, struct error *err);
