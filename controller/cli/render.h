/* render.h - values to words and tables for people.
 *
 * Whatever came from outside (names, cells, sentences of failures) is escaped
 * before it is shown: nothing in it can move the cursor, change a colour or
 * add a line. Sizes are powers of 1024 bytes, times are given in milliseconds.
 */
#ifndef CONTROLLER_CLI_RENDER_H
#define CONTROLLER_CLI_RENDER_H

#include "protocol/base/buffer.h"
#include "protocol/base/error.h"
#include "protocol/base/owned.h"
#include "protocol/message/reply_jobs.h"
#include "protocol/message/state.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Copy text to `to` (cut to size, never inside an escape): control characters,
 * C1 and bidirectional controls and bytes that are not UTF-8 become \xNN.
 * Returns to.
 */
char *escape(const char *text, char *to, size_t size);

#define HUMAN_SIZE 32
char *human_bytes(uint64_t bytes, char to[HUMAN_SIZE]);  /* "1.5 GiB" */
char *human_time(int64_t ms, char to[HUMAN_SIZE]);       /* "3m12s" */
char *human_clock(int64_t wall_ms, char to[HUMAN_SIZE]); /* local; or "-" */
char *human_number(double number, char to[HUMAN_SIZE]);  /* or "-" */

/* "1 job", "0 jobs" */
char *human_jobs(uint64_t count, char to[HUMAN_SIZE]);

enum colour { PLAIN, GREEN, RED, YELLOW, CYAN, FAINT, BOLD };
const char *colour_begin(enum colour colour, bool on); /* "" when not on */
const char *colour_end(enum colour colour, bool on);
enum colour colour_of_job(enum job_state state);

/* What a job (as a controller describes it) is doing or why it failed, or what
 * there is to say of one that did not, in words without control characters:
 * "step 12/60, loss 3.457, 8300 token/s".
 */
char *job_detail(const struct job_info *job, char *to, size_t size);

/* What is on its way to a job or task: "pulling 8%, 1m33s left, 1.0 GiB of 12.0
 * GiB, 120.0 MiB/s, layers 2/9". Of NULL nothing.
 */
void transfer_detail(const struct progress_info *progress, char *to,
		     size_t size);

/* The nodes of an allocation: "n1,n2", "n1 and 7 more", or "-". */
char *job_nodes(const struct strings *allocation, char *to, size_t size);

/* A table in aligned columns. */
struct table;
struct column {
	const char *title; /* NULL ends the list */
	bool right;        /* numbers */
};
struct table *table_new(const struct column *columns, struct error *err);
void table_free(struct table *table);
OWNED_POINTER(struct table, table_free)

/* Append a cell: to the present row, and past its last column to a new one.
 * The text is escaped. What cannot be kept for lack of memory is told by
 * table_print().
 */
void table_cell(struct table *table, enum colour colour, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
size_t table_rows(const struct table *table);

/* Print titles and rows. ENOMEM: some are missing, and nothing is printed. */
int table_print(const struct table *table, FILE *out, bool colours,
		struct error *err);

#endif
