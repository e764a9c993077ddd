/* output_files.h - copies, counts and bounds the output of the command.
 *
 * agent/init/init.h describes the limit and the followed files.
 */
#pragma once

#include "agent/init/record.h"
#include "agent/init/start.h"

#include <stdint.h>

struct output_files;

/* All borrowed; out: the folder. The logs of the record's processes are
 * bounded; output_files_finish() fills the record's note. NULL: out of memory.
 */
struct output_files *output_files_new(const struct start *start,
				      struct record *record, int out);
void output_files_free(struct output_files *output); /* NULL is fine */

/* Check the files, if it is time to; returns the time of the next check
 * (monotonic ms). A call takes milliseconds, however much there is to copy.
 */
int64_t output_files_look(struct output_files *output, int64_t now_ms);

/* The last check, when all processes have ended. It copies everything that is
 * left, however long that takes.
 */
void output_files_finish(struct output_files *output);
