/* rank_end.h - how the process of a rank ended that regatta-init started.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct rank_end {
	uint32_t rank; /* global */
	uint32_t exit_code;
	uint32_t signal;   /* that ended it; 0: none */
	uint64_t ended_ms; /* wall clock of the node */
};

/* "rank 1 was ended by signal 11 (Segmentation fault)", "rank 1 exited with
 * code 1". what: "rank", or "task" for a command that starts its ranks itself.
 */
void rank_end_sentence(const struct rank_end *end, const char *what, char *text,
		       size_t size);
