/* result.c - the result of a job: figures, remarks, origin, failure. */
#include "protocol/message/result.h"

/* clang-format off */
const struct schema remark_schema = {
	.name = "remark", .size = sizeof(struct remark), .shorthand = true,
	.fields = (const struct field[]){
		FIELD_OPTIONAL(remark, text),
		FIELD_OPTIONAL(remark, code),
		FIELD_OPTIONAL(remark, numbers),
		FIELD_OPTIONAL(remark, words),
	},
	.count = 4,
};

static const struct schema slow_steps_schema = SCHEMA(slow_steps,
	FIELD(slow_steps, count),
	FIELD(slow_steps, steps),
	FIELD_FIGURE(slow_steps, lost_ms));

static const struct schema step_spread_schema = SCHEMA(step_spread,
	FIELD_FIGURE(step_spread, median),
	FIELD_FIGURE(step_spread, q1),
	FIELD_FIGURE(step_spread, q3),
	FIELD_FIGURE(step_spread, iqr),
	FIELD_FIGURE(step_spread, mean),
	FIELD_FIGURE(step_spread, min),
	FIELD_FIGURE(step_spread, max),
	FIELD(step_spread, n));

static const struct schema loss_range_schema = SCHEMA(loss_range,
	FIELD_WORDS(loss_range, first),
	FIELD_WORDS(loss_range, last));

static const struct schema mean_max_schema = SCHEMA(mean_max,
	FIELD_FIGURE(mean_max, mean),
	FIELD_FIGURE(mean_max, max));

/* The readings in the order of enum reading, and of enum host_reading. */
static const struct schema device_usage_schema = SCHEMA(device_usage,
	FIELD_NULLABLE(device_usage, node),
	FIELD(device_usage, rank),
	FIELD(device_usage, device),
	FIELD_NULLABLE(device_usage, name),
	FIELD_NULLABLE(device_usage, bus_id),
	FIELD(device_usage, samples),
	FIELD_FIGURE(device_usage, interval_ms),
	FIELD_MAYBE(device_usage, temp_c, mean_max_schema),
	FIELD_MAYBE(device_usage, power_w, mean_max_schema),
	FIELD_MAYBE(device_usage, power_cap_w, mean_max_schema),
	FIELD_MAYBE(device_usage, mem_used_mib, mean_max_schema),
	FIELD_MAYBE(device_usage, util_pct, mean_max_schema),
	FIELD_MAYBE(device_usage, mem_used_pct, mean_max_schema),
	FIELD_MAYBE(device_usage, clock_mhz, mean_max_schema),
	FIELD_FIGURE(device_usage, mem_total_mib),
	FIELD_FIGURE(device_usage, clock_steady_mhz),
	FIELD_FIGURE(device_usage, throttle_thermal_pct),
	FIELD_FIGURE(device_usage, throttle_power_pct),
	FIELD_FIGURE(device_usage, throttle_other_pct),
	FIELD_FIGURE(device_usage, clock_max_mhz),
	FIELD_FIGURE(device_usage, pcie_gen),
	FIELD_FIGURE(device_usage, pcie_width),
	FIELD_FIGURE(device_usage, remap_pending),
	FIELD_FIGURE(device_usage, ecc_corrected),
	FIELD_FIGURE(device_usage, ecc_uncorrected),
	FIELD_FIGURE(device_usage, link_errors),
	FIELD_OPTIONAL(device_usage, power_samples),
	FIELD_FIGURE(device_usage, energy_j),
	FIELD_FIGURE(device_usage, energy_s),
	FIELD(device_usage, gaps),
	FIELD_FIGURE(device_usage, gaps_s));

static const struct schema host_usage_schema = SCHEMA(host_usage,
	FIELD_NULLABLE(host_usage, node),
	FIELD(host_usage, rank),
	FIELD(host_usage, samples),
	FIELD_FIGURE(host_usage, interval_ms),
	FIELD_NULLABLE(host_usage, tool),
	FIELD_NULLABLE(host_usage, cpus),
	FIELD(host_usage, clock),
	FIELD_FIGURE(host_usage, offset_ms),
	FIELD_FIGURE(host_usage, round_trip_ms),
	FIELD_MAYBE(host_usage, cpu_pct, mean_max_schema),
	FIELD_MAYBE(host_usage, mem_used_mib, mean_max_schema),
	FIELD_MAYBE(host_usage, disk_read_mib_s, mean_max_schema),
	FIELD_MAYBE(host_usage, disk_write_mib_s, mean_max_schema),
	FIELD_MAYBE(host_usage, net_in_mib_s, mean_max_schema),
	FIELD_MAYBE(host_usage, net_out_mib_s, mean_max_schema),
	FIELD_MAYBE(host_usage, cpu_power_w, mean_max_schema),
	FIELD_MAYBE(host_usage, power_w, mean_max_schema),
	FIELD_FIGURE(host_usage, net_errors),
	FIELD_FIGURE(host_usage, net_retransmits));

const struct schema straggler_schema = SCHEMA(straggler,
	FIELD(straggler, who),
	FIELD(straggler, rank),
	FIELD(straggler, peers),
	FIELD_FIGURE(straggler, slower_pct),
	FIELD_FIGURE(straggler, power_pct),
	FIELD_FIGURE(straggler, time_pct));

static const struct schema usage_error_schema = SCHEMA(usage_error,
	FIELD_NULLABLE(usage_error, node),
	FIELD_NULLABLE(usage_error, text),
	FIELD(usage_error, count));

const struct schema usage_summary_schema = SCHEMA(usage_summary,
	FIELD_ROWS(usage_summary, devices, device_usage_schema),
	FIELD_ROWS(usage_summary, hosts, host_usage_schema),
	FIELD_FIGURE(usage_summary, steady_s),
	FIELD_FIGURE(usage_summary, clock_mhz),
	FIELD_FIGURE(usage_summary, throttled_pct),
	FIELD_FIGURE(usage_summary, power_w),
	FIELD_NULLABLE(usage_summary, power_source),
	FIELD_FIGURE(usage_summary, node_power_w),
	FIELD_FIGURE(usage_summary, energy_j),
	FIELD_FIGURE(usage_summary, mem_used_mib),
	FIELD_FIGURE(usage_summary, mem_total_mib),
	FIELD_MAYBE(usage_summary, straggler, straggler_schema),
	FIELD_ROWS(usage_summary, errors, usage_error_schema),
	FIELD(usage_summary, broken_lines));

/* A member of a struct in the struct, whose fields stand beside the others. */
#define PART(t, p, m, ...)                                                     \
	{                                                                      \
		.name = #m, .kind = FIELD_KIND_(t, p.m),                       \
		.offset = offsetof(struct t, p.m), __VA_ARGS__                 \
	}
#define FLOPS(m) PART(result_inputs, flops, m, .optional = false)
#define ARRIVAL(m) PART(result_inputs, arrival, m, .optional = false)
static const struct schema result_inputs_schema = SCHEMA(result_inputs,
	FIELD(result_inputs, devices),
	FIELD(result_inputs, memory_peak_bytes),
	FIELD(result_inputs, started_ms),
	FIELD(result_inputs, ended_ms),
	FLOPS(factor),
	FLOPS(parameters),
	FLOPS(layers),
	FLOPS(hidden),
	FLOPS(sequence),
	ARRIVAL(arrival_ms),
	ARRIVAL(arrival_q1_ms),
	ARRIVAL(arrival_q3_ms),
	ARRIVAL(arrival_error_ms),
	ARRIVAL(arrival_blocks),
	FIELD(result_inputs, peak_flops),
	FIELD(result_inputs, chip_memory_bytes),
	FIELD(result_inputs, power_w),
	FIELD(result_inputs, simulated),
	FIELD_MANY(result_inputs, warnings, remark_schema));

const struct schema result_schema = SCHEMA(result,
	FIELD(result, formula),
	FIELD(result, measured),
	FIELD_NULLABLE(result, text),
	FIELD_FIGURE(result, steps),
	FIELD_FIGURE(result, steps_total),
	FIELD_KNOWN_TRUTH(result, complete),
	FIELD(result, warmup_steps),
	FIELD_NULLABLE(result, warmup),
	FIELD_MAYBE(result, slow_steps, slow_steps_schema),
	FIELD_MAYBE(result, iteration_ms, step_spread_schema),
	FIELD_MAYBE(result, loss, loss_range_schema),
	FIELD_FIGURE(result, tokens_per_second),
	FIELD_FIGURE(result, tokens_per_second_per_device),
	FIELD_FIGURE(result, samples_per_second),
	FIELD_NULLABLE(result, source),
	FIELD_FIGURE(result, reported_tokens_per_second),
	FIELD_NULLABLE(result, mfu_formula),
	FIELD_FIGURE(result, mfu),
	FIELD_FIGURE(result, mfu_palm),
	FIELD_FIGURE(result, hfu),
	FIELD_FIGURE(result, joules_per_token),
	FIELD_FIGURE(result, memory_mib),
	FIELD_NULLABLE(result, memory_source),
	FIELD_FIGURE(result, host_memory_mib),
	FIELD_NULLABLE(result, memory_by_rank_mib),
	FIELD_FIGURE(result, chip_memory_gib),
	FIELD_FIGURE(result, wall_s),
	FIELD(result, metric_columns),
	FIELD(result, metric_percents),
	FIELD_NAMED_NUMBERS(result, metrics),
	FIELD_MAYBE(result, usage, usage_summary_schema),
	FIELD_EMBED(result, inputs, result_inputs_schema),
	FIELD_ROWS(result, flags, remark_schema));

const struct schema host_origin_schema = SCHEMA(host_origin,
	FIELD_NULLABLE(host_origin, image),
	FIELD_NULLABLE(host_origin, vendor),
	FIELD_NULLABLE(host_origin, driver),
	FIELD_NULLABLE(host_origin, sdk),
	FIELD_NULLABLE(host_origin, engine),
	FIELD_NULLABLE(host_origin, kernel),
	FIELD_NULLABLE(host_origin, os),
	FIELD_NULLABLE(host_origin, machine),
	FIELD_OPTIONAL(host_origin, ulimits),
	FIELD(host_origin, nodes));

const struct schema provenance_schema = SCHEMA(provenance,
	FIELD_NULLABLE(provenance, image),
	FIELD_NULLABLE(provenance, image_reference),
	FIELD_NULLABLE(provenance, image_pin),
	FIELD_NULLABLE(provenance, engine),
	FIELD_NULLABLE(provenance, kernel),
	FIELD_NULLABLE(provenance, os),
	FIELD_NULLABLE(provenance, cpu),
	FIELD_NULLABLE(provenance, driver),
	FIELD_NULLABLE(provenance, environment),
	FIELD(provenance, nodes),
	FIELD_ROWS(provenance, hosts, host_origin_schema),
	FIELD(provenance, simulated),
	FIELD(provenance, devices),
	FIELD(provenance, attempt),
	FIELD_OPTIONAL(provenance, accepted_ms),
	FIELD_NULLABLE(provenance, cell_key),
	FIELD_NULLABLE(provenance, workspace),
	FIELD_NULLABLE(provenance, framework),
	FIELD_NULLABLE(provenance, log),
	FIELD_NULLABLE(provenance, rules),
	FIELD_OPTIONAL(provenance, described),
	FIELD(provenance, streams),
	FIELD(provenance, formula),
	FIELD_NULLABLE(provenance, regatta),
	FIELD_OPTIONAL(provenance, notes));

const struct schema reason_info_schema = SCHEMA(reason_info,
	FIELD_NULLABLE(reason_info, node),
	FIELD_FIGURE(reason_info, task),
	FIELD_FIGURE(reason_info, rank),
	FIELD_NULLABLE(reason_info, how),
	FIELD_NULLABLE(reason_info, class),
	FIELD_FIGURE(reason_info, exit_code),
	FIELD_NULLABLE(reason_info, signal),
	FIELD_NULLABLE(reason_info, line),
	FIELD_NULLABLE(reason_info, stream),
	FIELD_FIGURE(reason_info, offset));

const struct schema end_info_schema = SCHEMA(end_info,
	FIELD_NULLABLE(end_info, node),
	FIELD_FIGURE(end_info, task),
	FIELD_FIGURE(end_info, rank),
	FIELD_NULLABLE(end_info, ended_ms),
	FIELD_FIGURE(end_info, exit_code),
	FIELD_FIGURE(end_info, signal),
	FIELD_FIGURE(end_info, step),
	FIELD_NULLABLE(end_info, line));

#define FIGURES                                                                \
	FIELD_MAYBE(stored_result, result, result_schema),                     \
	FIELD_MAYBE(stored_result, provenance, provenance_schema),             \
	FIELD_MAYBE(stored_result, reason, reason_info_schema),                \
	FIELD_MANY(stored_result, ends, end_info_schema)
const struct schema stored_figures_schema = SCHEMA(stored_result, FIGURES);
const struct schema stored_result_schema = SCHEMA(stored_result, FIGURES,
	FIELD_NULLABLE(stored_result, series));

#define MEASURE(m) PART(setup, measure, m, .optional = true)
const struct schema setup_schema = SCHEMA(setup,
	MEASURE(framework),
	MEASURE(log),
	MEASURE(described),
	MEASURE(warmup_steps),
	MEASURE(steps),
	MEASURE(sequence),
	MEASURE(micro_batch),
	MEASURE(accumulate),
	MEASURE(global_batch),
	MEASURE(model),
	MEASURE(chip),
	MEASURE(precision),
	MEASURE(stage),
	MEASURE(recompute),
	MEASURE(spread_percent),
	FIELD_NULLABLE(setup, vendor),
	FIELD_EMBED(setup, layout, layout_spec_schema),
	FIELD_NULLABLE(setup, about));
/* clang-format on */
