/* document.h - prints all values of a log as one JSON object, for `regatta
 * extract`.
 *
 * Keys; a key is left out if the log has no such value:
 *
 *	records		an object per step, in order: "step", "total_steps",
 *			"rank" (which printed it), "loss" (null: not printed),
 *			"iter_time_s", "samples_per_s_reported",
 *			"tokens_per_s_reported",
 *			"tokens_per_s_per_device_reported", and every other
 *			number that a rule captured, under its name
 *	steps		{"count", "first", "last"}; of progress bars where no
 *			record has a step; "micro_first", "micro_last" where
 *			the loss is of micro batches
 *	loss		{"count", "first": [step, loss], "last"}
 *	memory		the maximum that was printed, as printed: "_mib" is
 *			1024^2 bytes, "_gib" and Megatron-Bridge's "_gb" 1024^3;
 *			"ranks", "rank_of_max_...", "rank0_..." where ranks
 *			print
 *	run_seconds, final_accuracy, epochs, blocks_first_count_ms	MLPerf
 *	train_result	the last of train_result_lines, if no rule has it
 *	derived		derive.h; derived_warmup_0 and derived_warmup_1
 *	metrics		results of the run by name: {"mean", "min", "max",
 *			"count", "unit"}
 *	bytes_flags	bytes.h
 *
 * and every section of the rules under its name. NaN and infinite numbers are
 * the strings "nan", "inf" and "-inf".
 */
#ifndef CONTROLLER_RESULTS_DOCUMENT_DOCUMENT_H
#define CONTROLLER_RESULTS_DOCUMENT_DOCUMENT_H

#include "controller/results/document/bytes.h"
#include "controller/results/document/derive.h"

/* NULL with ENOMEM. */
cJSON *log_document(const struct derive_input *input,
		    const struct log_bytes *bytes, struct error *err);

/* Was no value captured? */
bool log_document_empty(const struct derive_input *input);

#endif
