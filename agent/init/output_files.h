/* output_files.h - looks after what the command writes: copies, counts, bounds
 * it.
 *
 * The limit and the followed files are described in agent/init/init.h.
 */
#ifndef AGENT_INIT_OUTPUT_FILES_H
#define AGENT_INIT_OUTPUT_FILES_H

#include "agent/init/record.h"
#include "agent/init/start.h"

#include <stdint.h>

struct output_files;

/* All borrowed; out: the folder. The record's processes are those whose logs
 * are looked after, its note is filled by output_files_finish(). NULL: out of
 * memory.
 */
struct output_files *output_files_new(const struct start *start,
				      struct record *record, int out);
void output_files_free(struct output_files *output); /* NULL is fine */

/* Look, if it is time to; returns when to look again. Monotonic ms. A look
 * takes milliseconds, however much there is to copy.
 */
int64_t output_files_look(struct output_files *output, int64_t now_ms);

/* Nothing of the command is left: the last look. Takes as long as what is
 * still to be copied.
 */
void output_files_finish(struct output_files *output);

#endif
