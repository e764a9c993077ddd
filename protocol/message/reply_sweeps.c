/* reply_sweeps.c - replies about sweeps.
 */
#include "protocol/message/reply_sweeps.h"

/* clang-format off */
#define COUNT(s, n)                                                            \
	{                                                                      \
		.name = (n), .kind = FIELD_U64, .optional = true,              \
		.offset = offsetof(struct state_counts, of) +                  \
			  (s) * sizeof(uint64_t)                               \
	}
static const struct schema state_counts_schema = SCHEMA(state_counts,
	COUNT(JOB_QUEUED, "queued"),
	COUNT(JOB_ALLOCATED, "allocated"),
	COUNT(JOB_PREPARING, "preparing"),
	COUNT(JOB_READY, "ready"),
	COUNT(JOB_RUNNING, "running"),
	COUNT(JOB_COLLECTING, "collecting"),
	COUNT(JOB_COMPLETED, "completed"),
	COUNT(JOB_FAILED, "failed"),
	COUNT(JOB_CANCELLED, "cancelled"));

const struct schema sweep_info_schema = SCHEMA(sweep_info,
	FIELD(sweep_info, id),
	FIELD(sweep_info, name),
	FIELD(sweep_info, client),
	FIELD(sweep_info, submitted_ms),
	FIELD(sweep_info, jobs),
	FIELD_EMBED(sweep_info, counts, state_counts_schema),
	FIELD(sweep_info, final),
	FIELD_OPTIONAL(sweep_info, race),
	FIELD_OPTIONAL(sweep_info, paused));

const struct schema reply_sweeps_schema = SCHEMA(reply_sweeps,
	FIELD(reply_sweeps, since),
	FIELD_ROWS(reply_sweeps, sweeps, sweep_info_schema),
	FIELD(reply_sweeps, more));

const struct schema reply_sweep_schema = SCHEMA(reply_sweep,
	FIELD(reply_sweep, since),
	FIELD_EMBED(reply_sweep, sweep, sweep_info_schema));

const struct schema reply_text_schema = SCHEMA(reply_text,
	FIELD(reply_text, since),
	FIELD(reply_text, text));

const struct schema reply_descriptions_schema = SCHEMA(reply_descriptions,
	FIELD(reply_descriptions, since),
	FIELD(reply_descriptions, hashes));

static const struct schema cell_note_schema = SCHEMA(cell_note,
	FIELD(cell_note, cell),
	FIELD(cell_note, reason));

const struct schema reply_submit_schema = SCHEMA(reply_submit,
	FIELD(reply_submit, since),
	FIELD(reply_submit, sweep),
	FIELD(reply_submit, name),
	FIELD(reply_submit, jobs),
	FIELD(reply_submit, taken),
	FIELD_ROWS(reply_submit, dropped, cell_note_schema),
	FIELD_ROWS(reply_submit, waiting, cell_note_schema));

const struct schema plan_cell_schema = SCHEMA(plan_cell,
	FIELD(plan_cell, fits),
	FIELD_OPTIONAL(plan_cell, lacks),
	FIELD(plan_cell, runs),
	FIELD_FIGURE(plan_cell, time_ms),
	FIELD_FIGURE(plan_cell, wave),
	FIELD_FIGURE(plan_cell, last_wave),
	FIELD_FIGURE(plan_cell, start_ms),
	FIELD(plan_cell, on));

static const struct schema plan_policy_schema = SCHEMA(plan_policy,
	FIELD(plan_policy, vendor),
	FIELD(plan_policy, text),
	FIELD(plan_policy, nodes));

static const struct schema plan_image_schema = SCHEMA(plan_image,
	FIELD(plan_image, image),
	FIELD_OPTIONAL(plan_image, build),
	FIELD(plan_image, nodes));

const struct schema reply_plan_schema = SCHEMA(reply_plan,
	FIELD(reply_plan, cells_total),
	FIELD(reply_plan, jobs),
	FIELD(reply_plan, nodes),
	FIELD(reply_plan, usable),
	FIELD(reply_plan, others),
	FIELD(reply_plan, waves),
	FIELD_FIGURE(reply_plan, time_ms),
	FIELD(reply_plan, known),
	FIELD(reply_plan, unknown),
	FIELD(reply_plan, lacking),
	FIELD(reply_plan, timed),
	FIELD(reply_plan, cut),
	FIELD_ROWS(reply_plan, cells, plan_cell_schema),
	FIELD_ROWS(reply_plan, policies, plan_policy_schema),
	FIELD_ROWS(reply_plan, images, plan_image_schema));

const struct schema reply_cancel_schema = SCHEMA(reply_cancel,
	FIELD(reply_cancel, since),
	FIELD(reply_cancel, cancelled));

const struct schema reply_retry_schema = SCHEMA(reply_retry,
	FIELD(reply_retry, since),
	FIELD(reply_retry, retried),
	FIELD(reply_retry, ending),
	FIELD(reply_retry, gone));
/* clang-format on */
