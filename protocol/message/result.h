/* result.h - the result of a job: figures, remarks, origin, failure.
 *
 * One struct from the place that computes it (controller/results) to the places
 * that show it. Its JSON is stored, travels, and is printed by `--format json`;
 * what is not known is null there, and NAN, NULL or TRUTH_UNKNOWN here.
 */
#pragma once

#include "protocol/message/codec.h"
#include "protocol/message/spec.h"

/* What a figure does not say by itself, or why it is missing: a code with what
 * stands in its sentence, which controller/results/remarks.h makes in any
 * language. A remark with only `text` is that sentence (of an engine, a
 * monitor, or of an earlier version), in the language in which it was written.
 */
struct remark {
	char *text;
	char *code;
	struct doubles numbers;
	struct strings words;
};
extern const struct schema remark_schema;

/* The times of the steps of the steady state (controller/results/steady.h). */
struct step_spread {
	double median, q1, q3, iqr, mean, min, max; /* ms */
	uint64_t n;
};

/* Steps that the steady state leaves out: checkpoints, evaluations. */
struct slow_steps {
	uint64_t count;
	struct numbers steps; /* the first 32 */
	double lost_ms;
};

/* Of the first and the last step; each may be no number. */
struct loss_range {
	double first, last;
};

struct mean_max {
	double mean, max;
};

/* A device over the time of a job; NULL: never read. */
struct device_usage {
	char *node;
	uint32_t rank;   /* of the node in the job */
	uint32_t device; /* index on the node */
	char *name;
	char *bus_id;
	uint64_t samples;   /* how often it was read */
	double interval_ms; /* mean, between readings */
	struct mean_max *temp_c, *power_w, *power_cap_w, *mem_used_mib,
		*util_pct, *mem_used_pct, *clock_mhz;
	double mem_total_mib;
	/* Means over the steady state, or over the job where its time is not
	 * known: the clock, and the share of the time that it was held down.
	 */
	double clock_steady_mhz;
	double throttle_thermal_pct, throttle_power_pct, throttle_other_pct;
	double clock_max_mhz, pcie_gen, pcie_width, remap_pending; /* last */
	double ecc_corrected, ecc_uncorrected, link_errors; /* in the job */
	uint64_t power_samples;
	double energy_j;
	double energy_s; /* over so much time */
	uint64_t gaps;   /* and not over these */
	double gaps_s;
};

/* A node over the time of a job. */
struct host_usage {
	char *node;
	uint32_t rank;
	uint64_t samples;
	double interval_ms;
	char *tool; /* that read the devices */
	char *cpus;
	bool clock; /* is its clock compared with the controller's? */
	double offset_ms;
	double round_trip_ms;
	struct mean_max *cpu_pct, *mem_used_mib, *disk_read_mib_s,
		*disk_write_mib_s, *net_in_mib_s, *net_out_mib_s, *cpu_power_w,
		*power_w;
	double net_errors, net_retransmits; /* in the job */
};

/* Which node or device of a gang the others waited for
 * (controller/results/straggler.h).
 */
struct straggler {
	char *who;     /* "n3", "n3 device 2" */
	uint32_t rank; /* of the node in the job */
	uint64_t peers;
	double slower_pct; /* than its peers, at least */
	double power_pct;  /* above theirs */
	double time_pct;   /* of the time, in which that was so */
};
extern const struct schema straggler_schema;

/* What a monitor could not read. */
struct usage_error {
	char *node;
	char *text;
	uint64_t count;
};

/* The samples of a job: controller/results/usage.h sums them up. */
struct usage_summary {
	struct device_usage *devices; /* by node rank, then index */
	size_t devices_count;
	struct host_usage *hosts;
	size_t hosts_count;
	double steady_s;      /* length of the steady state; NAN: not known */
	double clock_mhz;     /* mean of the devices; NAN if one lacks it */
	double throttled_pct; /* of the device that was held down most, by the
				 cause that did most */
	double power_w;       /* sum of the means; NAN if a device lacks one */
	char *power_source;  /* "device, by nvidia-smi"; NULL: power_w is NAN */
	double node_power_w; /* the same sum of whole nodes, by their IPMI */
	double energy_j;     /* sum over the devices; NAN if one lacks it */
	double mem_used_mib; /* peak of the fullest device, */
	double mem_total_mib;        /* and what that one has */
	struct straggler *straggler; /* NULL: there was none */
	struct usage_error *errors;
	size_t errors_count;
	uint64_t broken_lines;
};
extern const struct schema usage_summary_schema;

/* The FLOPs of one token follow from these (controller/results/formula.h). */
struct flops {
	double factor;     /* formula_stage() */
	double parameters; /* those that one token uses: of a mixture of
			      experts the active ones */
	uint32_t layers;
	uint32_t hidden;   /* heads * size of a head */
	uint32_t sequence; /* tokens a sample */
};

/* When the lines of steps arrived (controller/results/arrival.h). */
struct arrival {
	double arrival_ms; /* of a step: median over blocks; 0: unknown */
	double arrival_q1_ms;
	double arrival_q3_ms;
	double arrival_error_ms; /* largest error of a step's time in a block */
	uint64_t arrival_blocks;
};

/* From what a result was computed, beside its log; 0: not known. With it a
 * result can be computed again.
 */
struct result_inputs {
	uint64_t devices;           /* of the job, over all its nodes */
	uint64_t memory_peak_bytes; /* largest of the exit records */
	int64_t started_ms;         /* wall clock */
	int64_t ended_ms;
	struct flops flops;     /* of one token of the model */
	struct arrival arrival; /* of the steps' lines */
	double peak_flops;      /* of one device at this precision */
	double chip_memory_bytes;
	double power_w;          /* of all devices together, mean */
	bool simulated;          /* the devices are simulated */
	struct remark *warnings; /* that become flags */
	size_t warnings_count;
};

struct result {
	uint32_t formula; /* FORMULA_VERSION */
	bool measured;    /* false: "no-metric", and text says why */
	char *text;
	double steps;          /* number of the last step */
	double steps_total;    /* as the program announced it, or the sweep's
				  `steps` where that is more */
	uint32_t complete;     /* enum truth. No: the log ends before its last
				  step, and nothing says that it was to, or before
				  the sweep's; unknown: no number is known */
	uint64_t warmup_steps; /* steps up to this number are left out */
	char *warmup;          /* "found" or "given" */
	struct slow_steps *slow_steps;    /* NULL: none */
	struct step_spread *iteration_ms; /* NULL: no step has a time */
	struct loss_range *loss;          /* over all steps; NULL: none */
	double tokens_per_second;         /* over all devices */
	double tokens_per_second_per_device;
	double samples_per_second;
	char *source; /* of the rates: "iteration": from the step time and the
			 batch; "reported": the program's own figures;
			 "summary": its last line; "arrival": the step time is
			 that between arrivals of lines */
	double reported_tokens_per_second; /* median, for comparison */
	char *mfu_formula; /* of mfu and hfu: "6N"; "2N", "4N" where parts of
			      the model are frozen (formula.h) */
	double mfu;        /* a fraction; no peak known: NAN */
	double mfu_palm;   /* with the attention */
	double hfu;        /* with full recomputation; NAN: none is set */
	double joules_per_token;
	double memory_mib;   /* the largest value that the program printed, else
				of any sampled device, else host_memory_mib */
	char *memory_source; /* "reported", "sampled" or "cgroup" */
	double host_memory_mib; /* fullest container, no page cache */
	struct doubles memory_by_rank_mib; /* peak of each sampled device, by
					      node rank and device; empty unless
					      all have one */
	double chip_memory_gib;            /* of the chip, as published */
	double wall_s; /* first task's start to last one's end */
	struct strings metric_columns;  /* metrics that tables show */
	struct strings metric_percents; /* metrics that are percentages */
	struct named_number *metrics;   /* controller/results/metrics.h */
	size_t metrics_count;
	struct usage_summary *usage; /* NULL: nothing was sampled */
	struct result_inputs inputs;
	struct remark *flags; /* about suspect figures, and such that two
				 sources give differently. An impossible figure
				 is NAN and has a remark here */
	size_t flags_count;
};
extern const struct schema result_schema;

/* Nodes of a job whose hosts are equal. */
struct host_origin {
	char *image; /* id of the image there */
	char *vendor;
	char *driver;
	char *sdk;
	char *engine;
	char *kernel;
	char *os;
	char *machine;
	struct strings ulimits; /* of the command, "nofile=SOFT:HARD" */
	struct strings nodes;
};
extern const struct schema host_origin_schema;

/* The label of a node that was found good; its value: when, in seconds since
 * 1970.
 */
#define ACCEPTED_LABEL "accepted"

/* The origin of a result: what ran, where, read by which rules. */
struct provenance {
	char *image;           /* id of the image on the first node */
	char *image_reference; /* as in the sweep */
	char *image_pin;       /* what that resolved to */
	char *engine, *kernel, *os, *cpu, *driver; /* of the first node */
	cJSON *environment; /* all facts of the first node, as they were when
			       the job's task was checked */
	struct strings nodes;
	struct host_origin *hosts;
	size_t hosts_count;
	bool simulated; /* devices of a lab, no real ones */
	uint64_t devices;
	uint32_t attempt;
	int64_t accepted_ms;    /* when that of its nodes was accepted which was
				   so the longest ago; 0: one was not */
	char *cell_key;         /* hash of the job's spec */
	char *workspace;        /* SHA-256 of the code tree as a tar file */
	char *framework;        /* description that the sweep names */
	char *log;              /* the format of its log */
	char *rules;            /* hash of the descriptions with its rules */
	cJSON *described;       /* hashes of the sweep's own descriptions, by
				   kind and name; NULL: it has none */
	struct strings streams; /* that the result was read from */
	uint32_t formula;
	char *regatta;
	struct strings notes; /* of tasks that did not fail */
};
extern const struct schema provenance_schema;

/* Why a job failed (controller/jobs/job_reason.h). */
struct reason_info {
	char *node;
	double task; /* the container: its node rank; NAN: not known */
	double rank; /* of the process in its program; NAN: not known */
	char *how;   /* the job's sentence */
	char *class; /* causes_class_name() */
	double exit_code;
	char *signal;
	char *line;   /* of the output */
	char *stream; /* that has it */
	double offset;
};
extern const struct schema reason_info_schema;

/* How a process of a job ended, in the order of time. */
struct end_info {
	char *node;
	double task; /* the container: its node rank */
	double rank; /* of the process in its program; NAN: the command starts
			the program's processes itself */
	uint64_t ended_ms; /* 0: only its launcher names it */
	double exit_code;  /* NAN: not known; the next two, too */
	double signal;     /* 0: none */
	double step;       /* its last one */
	char *line;        /* its line with an error, or NULL */
};
extern const struct schema end_info_schema;

/* What is stored of a job that has ended. */
struct stored_result {
	struct result *result;
	struct provenance *provenance;
	struct reason_info *reason; /* NULL: it did not fail */
	struct end_info *ends;
	size_t ends_count;
	cJSON *series; /* controller/results/series.h */
};
extern const struct schema stored_result_schema;
extern const struct schema stored_figures_schema; /* without the curves */

/* What a job was asked for, as tables of results show it. */
struct setup {
	struct measure_spec measure; /* its fields stand beside the others */
	char *vendor;
	struct layout_spec layout;
	cJSON *about; /* of the sweep; NULL: nothing */
};
extern const struct schema setup_schema;
