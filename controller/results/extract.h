/* extract.h - reads the metrics of a training log, by the rules of log_rules.h.
 *
 * The results are records (record.h): one per step, and a summary.
 */
#pragma once

#include "controller/prefixes/prefixes.h"
#include "controller/results/remarks.h"
#include "controller/results/rules/log_rules.h"
#include "controller/results/rules/record.h"
#include "protocol/base/error.h"
#include "protocol/base/owned.h"
#include "protocol/yaml/document.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The state of reading one stream. */
struct extract;

struct extract *extract_new(struct extract_rules *rules, struct error *err);
void extract_free(struct extract *extract);
OWNED_POINTER(struct extract, extract_free)

/* When the byte at this offset of the stream arrived, wall clock ms; 0:
 * unknown. With a clock, records have the arrival time of the first line of
 * their step.
 */
typedef int64_t extract_clock_fn(void *arg, uint64_t offset);
void extract_clock(struct extract *extract, extract_clock_fn *fn, void *arg);

/* Read the next bytes of the stream, in pieces of any size, without the
 * prefixes of their lines (controller/prefixes/). -1: ENOMEM; then the stream
 * is not read any further.
 */
int extract_feed(struct extract *extract, const void *data, size_t size,
		 struct error *err);

/* The same for lines whose prefixes are removed already. */
int extract_feed_plain(struct extract *extract, const void *data, size_t size,
		       struct error *err);

/* What the prefix that stood before a line tells. */
struct extract_stamp {
	size_t at;      /* where the line begins in the piece */
	double seconds; /* its clock; NaN: none */
	int64_t rank;   /* -1: unknown */
	bool bare;      /* as that of struct line_origin */
};

/* That of the first line of a run, which begins there. False: nothing. */
bool extract_stamp(const struct prefix_run *run, size_t at,
		   struct extract_stamp *stamp);

/* The stamps of the piece that extract_feed_plain() gets next, by place;
 * borrowed until it returns.
 */
void extract_stamps(struct extract *extract, const struct extract_stamp *stamps,
		    size_t count);

/* Before extract_finish(): the stream is a file that nobody writes any more,
 * which may lack the end of its last line. Then the line counts, and a remark
 * says if its last number may have been cut. Of other streams it counts if it
 * ends its last field itself (log_rules.h): a program that is killed may end
 * within a number.
 */
void extract_file_ends(struct extract *extract);

/* The stream ends: complete the last record. */
int extract_finish(struct extract *extract, struct error *err);

/* Add the records of another stream of the same job. For steps that both have,
 * the values in `to` stay.
 */
int extract_merge(struct extract *to, const struct extract *from,
		  struct error *err);

/* The steps so far, by number; borrowed until the next feed. */
const struct record *extract_records(const struct extract *extract,
				     size_t *count);

/* The summary that the program printed at its end; has == 0: none. Borrowed. */
const struct record *extract_summary(const struct extract *extract);

/* The metrics of steps and summary: names by number, NULL past the last.
 * Borrowed. extract_metric_find() is the number of a name; -1: there is none.
 */
const char *extract_metric_name(const struct extract *extract, size_t metric);
int extract_metric_find(const struct extract *extract, const char *name);

/* The last finite value that a step has of a metric; NaN: none, or metric -1.
 */
double extract_metric_last(const struct extract *extract, int metric);

/* Its rules; borrowed. */
struct extract_rules *extract_rules_of(const struct extract *extract);

/* Was no value read? */
bool extract_empty(const struct extract *extract);

/* The values of rules with `metric`. */
const struct run_metric *extract_run_metrics(const struct extract *extract,
					     size_t *count);

/* The last value of every field, for a display of the progress. Borrowed. */
const struct record *extract_latest(const struct extract *extract);

/* Signs of life so far: figures, and matches of rules with `life`. */
uint64_t extract_lives(const struct extract *extract);

/* The number of contradictions in the log: losses that replaced another one of
 * their step, and steps behind a later one. A restart of the training causes
 * some of both.
 */
uint64_t extract_contradictions(const struct extract *extract);

/* How a log that has no known format was read, and what stayed open; after
 * extract_finish(). Borrowed.
 */
const struct remark *extract_remarks(const struct extract *extract,
				     size_t *count);

/* Values of one line of a log that was read by meaning, "loss=2.5", as
 * learn_rules() takes them; borrowed. NULL: none.
 */
const struct strings *extract_example(const struct extract *extract);

/* Does it take any line with a loss, and count the lines where they name no
 * steps?
 */
bool extract_takes_any(const struct extract *extract);

/* Does it begin in a later epoch, so that the numbers of its steps may be
 * wrong?
 */
bool extract_begins_late(const struct extract *extract);

/* Are its steps counted, because the lines do not name them? */
bool extract_counts(const struct extract *extract);

/* If the log has shares of epochs instead of steps, and the steps of some of
 * them are not certain (controller/results/share_steps.h), or if they are of
 * two runs: why; else REMARKS.
 */
enum remark_code extract_steps_remark(const struct extract *extract);

/* What was not read: lines that are too long, rules that reached their match
 * limit on a line, and steps out of order beyond EXTRACT_MOVES_MAX. Usually
 * all are 0.
 */
struct extract_losses {
	uint64_t long_lines;
	uint64_t match_limits;
	uint64_t steps;
};
const struct extract_losses *extract_losses(struct extract *extract);
