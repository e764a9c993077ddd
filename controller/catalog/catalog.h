/* catalog.h - models, frameworks, vendors and chips: the data files of
 * images/, loaded and checked.
 *
 *	models.yaml
 *	  models:
 *	    gpt3_6.7B:
 *	      aliases: [gpt3-6.7b]	other names
 *	      source: TEXT		where the figures come from (required)
 *	      parameters: 6.659e9	all of them, computed from the shape
 *	      active_parameters: 2.7e9	of one token; default: parameters
 *	      nominal_parameters: 6.7e9	of one token, as reference tables use it
 *	      layers, hidden, heads, kv_heads, feed_forward, vocabulary,
 *	      sequence, experts, experts_per_token
 *	      stages: {pretrain: projector, finetune: finetune}
 *			what is trained in a stage, if that is not its name:
 *			words of formula_stages[]; the first stage is the
 *			default
 *
 *	frameworks/NAME.yaml
 *	  framework: NAME
 *	  title, source: words for people
 *	  aliases: [...]
 *	  image, build, env, processes, follow: as in a sweep, which wins over
 *			them
 *	  launch: [...]	the command of a sweep that has none
 *	  defaults: {...}	sweep keys, and variables of the launch command
 *	  log: {...}	see controller/results/extract.h
 *
 *	vendors/NAME/profile.yaml
 *	  protocol/hardware/profile.h
 *
 *	baselines.yaml
 *	  baselines: a list of published figures (published.h)
 *
 * Entries are found by their names and aliases, in any spelling. A framework is
 * also found by a name with a version, which follows the longest known name
 * from a '_' or a digit on: pytorch_1.13, megatron_core060. What is returned is
 * borrowed from the catalog and lives as long.
 */
#pragma once

#include "protocol/yaml/document.h"

struct catalog;
struct profile; /* protocol/hardware/profile.h */

struct model {
	const char *name;
	const char *source;        /* where its figures come from */
	double parameters;         /* 0: unknown, as all figures */
	double active_parameters;  /* used by one token */
	double nominal_parameters; /* the same as reference tables round it */
	uint32_t layers;
	uint32_t hidden;
	uint32_t heads;
	uint32_t kv_heads; /* default: heads */
	uint32_t sequence; /* tokens, as reference tables train it */
	const struct value
		*stages;  /* map of stage to what it trains, or NULL */
	uint32_t experts; /* 0: it has none */
	uint32_t experts_per_token;
	const struct value *value; /* the whole entry, for ${model.x} */
};

struct framework {
	const char *name;
	const struct value *value; /* the whole file */
	const struct value *log;   /* the rules, or NULL */
	char hash[65];             /* SHA-256 of the file, in hex */
};

struct chip {
	const char *name;
	const char *vendor;
	const char *source;         /* where its figures come from */
	double memory_gib;          /* 0: unknown */
	const struct value *tflops; /* map of precision to TFLOPS, or NULL */
	const struct value *flagperf_tflops; /* the same, or NULL */
};

struct vendor {
	const char *name;
	const struct profile *profile;
	const struct value *value;  /* the whole profile */
	const struct value *images; /* framework to reference, or NULL */
};

/* Load the files below the folder. models.yaml must exist. Errors name file,
 * line, what was found and what is expected.
 */
struct catalog *catalog_load(const char *folder, struct error *err);
void catalog_free(struct catalog *catalog);
OWNED_POINTER(struct catalog, catalog_free)

/* flagperf.yaml, the cells of FlagPerf cases; NULL: there is none. */
const struct value *catalog_flagperf(const struct catalog *catalog);

/* By name or alias; NULL: there is none. */
const struct model *catalog_model(const struct catalog *catalog,
				  const char *name);
const struct framework *catalog_framework(const struct catalog *catalog,
					  const char *name);
const struct vendor *catalog_vendor(const struct catalog *catalog,
				    const char *name);
/* vendor: its name, or NULL for any. */
const struct chip *catalog_chip(const struct catalog *catalog,
				const char *vendor, const char *name);

/* The log sections of a framework for extract_rules_new(): those of the
 * frameworks that its `like` names, theirs before them, and its own at the
 * end. framework->log must not be NULL. Errors name the place: a framework
 * that is unknown or has no log section, or more than CATALOG_LOGS_MAX.
 */
#define CATALOG_LOGS_MAX 8
int catalog_logs(const struct catalog *catalog,
		 const struct framework *framework,
		 const struct value *logs[CATALOG_LOGS_MAX], size_t *count,
		 struct error *err);

/* An identifier of those rules: a SHA-256, in hex, over their files; "": the
 * framework has none.
 */
void catalog_rules_hash(const struct catalog *catalog,
			const struct framework *framework, char hex[65]);

/* SHA-256 of the text of a description, in hex. */
void catalog_hash(const char *text, size_t size, char hex[65]);

/* By number, in order of the names; NULL past the last. */
const struct framework *catalog_framework_at(const struct catalog *catalog,
					     size_t index);

/* The image of the vendor for this framework: of its `images`, by name or alias
 * of the framework; NULL: it has none.
 */
const struct value *vendor_framework_image(const struct catalog *catalog,
					   const struct vendor *vendor,
					   const struct framework *framework);

/* Fill *err: the name is unknown. The text has similar names, or all names. */
enum catalog_kind {
	CATALOG_MODEL,
	CATALOG_FRAMEWORK,
	CATALOG_VENDOR,
	CATALOG_CHIP,
};
int catalog_unknown(const struct catalog *catalog, enum catalog_kind kind,
		    const struct value *found, struct error *err);
/* The same for a name that is not in a file, but an argument of the option
 * `where`.
 */
int catalog_unknown_name(const struct catalog *catalog, enum catalog_kind kind,
			 const char *where, const char *name,
			 struct error *err);

/* Is there a name that is similar to this one? */
bool catalog_near(const struct catalog *catalog, enum catalog_kind kind,
		  const char *text);

/* FLOP/s of one chip at this precision, as published; 0: unknown. "amp" is
 * fp16.
 */
double chip_peak_flops(const struct chip *chip, const char *precision);

/* The same as FlagPerf uses it: with FlagPerf's own figure, if the profile has
 * one. With it the utilisation is equal to what FlagPerf prints.
 */
double chip_flagperf_flops(const struct chip *chip, const char *precision);
