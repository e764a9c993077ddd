/* options.h - what the trainer is told: its arguments and its environment.
 */
#pragma once

#include "images/cpu/fault.h"
#include "images/cpu/gpt.h"
#include "images/cpu/ring.h"
#include "images/cpu/failure.h"

struct options {
	struct gpt_shape shape;
	uint32_t micro_batch; /* sequences of one pass */
	uint32_t accumulate;  /* passes of one step */
	uint32_t steps;
	uint32_t threads; /* at most micro_batch */
	uint32_t log_every;
	uint32_t device_memory; /* MiB that it may use; 0: no limit */
	uint32_t timeout;       /* seconds for the ranks to come together */
	uint64_t seed;
	double learning_rate;
	const struct fault *fail; /* NULL: not on purpose */
	uint32_t fail_rank;
	uint32_t fail_step;      /* from 1 */
	uint32_t measure;        /* ms; 0: not (measure.h) */
	const char *corpus;      /* borrowed; so is scratch */
	const char *scratch;     /* folder for files that are measured */
	struct ring_place place; /* from the environment; digest is 0 */
};

enum options_result { OPTIONS_RUN, OPTIONS_HELP, OPTIONS_WRONG };

/* --name VALUE or --name=VALUE; of a name given twice the last counts. The
 * environment gives RANK (else NODE_RANK), WORLD_SIZE, MASTER_ADDR and
 * MASTER_PORT. OPTIONS_WRONG: *failure says what was found and what is allowed.
 */
enum options_result options_parse(int argc, char **argv,
				  struct options *options,
				  struct failure *failure);

/* The text of --help. */
void options_help(FILE *to);

/* A number that two runs share only if they train the same way: everything but
 * rank, threads and what is printed.
 */
uint64_t options_digest(const struct options *options, const uint8_t *corpus,
			size_t size);
