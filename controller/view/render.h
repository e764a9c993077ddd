/* render.h - formats values for people.
 *
 * Texts from outside (names, cells, failures) are escaped: they cannot move the
 * cursor, change a colour or add a line. Size units are powers of 1024 bytes;
 * times are given in milliseconds.
 */
#pragma once

#include "controller/report/table.h"
#include "protocol/base/buffer.h"
#include "protocol/base/error.h"
#include "protocol/base/owned.h"
#include "protocol/message/rate.h"
#include "protocol/message/reply_jobs.h"
#include "protocol/message/state.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A formatted value, used at once: human_bytes(n).text. */
struct human {
	char text[32];
};
struct human human_bytes(uint64_t bytes); /* "1.5 GiB" */
struct human human_time(int64_t ms);      /* "3m12s" */
struct human
human_clock(int64_t wall_ms); /* "2026-11-28 20:58:40+0800"; or "-" */
struct human human_utc(int64_t wall_ms);  /* the same in UTC */
struct human human_number(double number); /* or "-" */
struct human human_jobs(uint64_t count);  /* "1 job", "0 jobs" */

enum colour colour_of_job(enum job_state state);

/* Step and loss: of the last step while the job runs, later of its result.
 * Unknown: 0, NAN.
 */
uint64_t job_step(const struct job_info *job);
double job_loss(const struct job_info *job);

/* "8300 token/p/s", with " (!)" if the result is suspect; "": none. */
struct human job_rate(const struct job_info *job);

/* "4m12s ago, suspected hang" of a job without recent progress; else "". */
void stillness_words(const struct progress_info *progress, char *to,
		     size_t size);

/* "3 completed, 1 running" */
void sweep_counts(const struct sweep_info *sweep, char *to, size_t size);

/* Is the member of this name a time in milliseconds, which json_words() prints
 * as a clock?
 */
bool json_is_time(const char *name);

/* A value in one line, escaped: times as a clock shows them, large sizes with a
 * unit, lists as "n1, n2" and maps as "rack=a power=\"two feeds\"". What is
 * empty is "-". item NULL: "".
 */
void json_words(const cJSON *item, char *to, size_t size);

/* One line about a job, without control characters: its progress, why it
 * failed, or its result: "step 12/60, loss 3.457, 8300 token/p/s".
 */
char *job_detail(const struct job_info *job, char *to, size_t size);

/* "place 2 of 7, starts in about 12m00s": of a job that waits for its turn. */
void queue_words(const struct queue_info *queue, char *to, size_t size);

/* The transfer for a job or task: "pulling 8%, 1m33s left, 1.0 GiB of 12.0 GiB,
 * 120.0 MiB/s, layers 2/9". progress NULL: "".
 */
void transfer_detail(const struct image_progress *progress, char *to,
		     size_t size);

/* "[####......]"; as many spaces if the fraction is not in 0 to 1. */
struct human human_bar(double fraction);

/* "lr=0.05 #2": the cell, and the number of a second or later repeat. Returns
 * to.
 */
char *job_cell_words(const struct job_info *job, char *to, size_t size);

/* The nodes of an allocation: "n1,n2", "n1 and 7 more", or "-". */
char *job_nodes(const struct strings *allocation, char *to, size_t size);
