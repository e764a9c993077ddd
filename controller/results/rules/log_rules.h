/* log_rules.h - compiles the rules that extract values from a training log.
 *
 * The rules are the section `log:` of a framework description
 * (images/frameworks/):
 *
 *	log:
 *	  read: first	# which rank's output: first, last or all
 *	  stream: ['*rank0.log']	# and these followed files, by path
 *	  like: [perflog]	# the rules of these descriptions come first
 *	  columns: ['*acc*']	# which metrics tables show; default: all
 *	  rules:
 *	    - match: 'step (?<step>\d+)/(?<steps>\d+) \| loss (?<loss>\S+)'
 *	meaning: {names: ...}	no rules: numbers are read by the meaning of
 *				their names (lexicon.h)
 *
 * A rule has one of three forms. It is searched for anywhere in a record of the
 * log, and may match several times.
 *
 *	match: EXPRESSION	PCRE2 over bytes (no UTF mode); its named groups
 *				capture values
 *	dict: PREFIX		a JSON object or Python dict after the prefix
 *				('{': any); values have paths: value.loss
 *	pairs: EXPRESSION	"key: value" pairs after the match, up to the
 *				next match or the end of the record
 *
 * Further keys of dict and pairs:
 *
 *	where: {event: [A, B]}	a match needs one of these values at each of
 *				these paths or keys
 *	has: [FIELD]		(any form) a match needs these fields
 *	unless: EXPRESSION	(dict) a match is none if this is found in its
 *				line up to the end of the dict, or in the title
 *				on the line above ("Evaluation:") and " {"
 *	others: value		numbers below this path ('.': all) that are not
 *				in `fields` keep their own names
 *	between: '|'  is: ':'	characters that end a pair, and that separate
 *				key and value; any one of each set
 *	closed: true		ignore a last pair that `between` does not end
 *
 * fields: {KEY: NAME} gives the value of a group, path or key a name (a group
 * that is not listed keeps its own). NAME may be a list, and may end in a form:
 * name:text, name:clock (H:MM:SS, to seconds), name:percent (a fraction, to
 * percent), name:flag (true if there is any text), name:si (10.0k, 1.2M, 3B),
 * name:thousand, name:million, name:milli (in these units), name:counter (the
 * run's value is the last step's), name:pace (8.2s/it, 1.7it/s, 933us/step,
 * 30 ms: seconds per item); "a/b" splits "3/60" into two. Numbers may have
 * commas between thousands, and rates the suffixes K, M and B. {as: NAME, take:
 * last | max | median} says which of its steps' values is that of the run: by
 * default the median, of a counter or an accuracy the last. Predefined names:
 *
 *	step, steps		the number of the step, and of all steps
 *	loss
 *	iteration_ms, iteration_s	time of one step
 *	steps_per_second	the same, as a rate
 *	tokens_per_second, samples_per_second	over all devices
 *	tokens_per_second_per_device
 *	memory_mib, memory_gib, memory_gb	2^20, 2^30 and 10^9 bytes
 *	rank			the rank that printed it
 *	finished		any text: the training is complete. If a later
 *				step follows, this and every other such line of
 *				the log is ignored
 *
 * Any other name is a metric: results and reports show the number under this
 * name.
 *
 * Captured values belong to the step that the same match names. If it names
 * none, they belong to the step before it (to the first step, if none came
 * yet), or to the summary if the match captured `finished` or the rule says
 * `finished: true`. A step that appears again (several ranks, a restart) is one
 * step: later values of a rule replace all its earlier ones, but a higher rank
 * never replaces the values of a lower one, and of memory the maximum is kept.
 *
 *	summary: true	values of the whole run, which has not ended yet
 *	fills: true	(summary, finished) only values that the run lacks
 *	progress: true	(progress bars) the step is only remembered: the next
 *			values without a step belong to it. Bars with another
 *			total than the first (evaluations) are ignored. Its step
 *			time is that of a next step without one, if its clock,
 *			`elapsed`, bears that out (bar_pace.h)
 *	total: true	its `steps` is the total of the progress bar to use; no
 *			value of it belongs to a step
 *	pending: true	captured values belong to the next step
 *	life: true	the line shows that the job makes progress. If any rule
 *			has this key, only such lines and captured values do.
 *			Needs no group
 *	number: FIELD	in a log without step numbers, each new value of this
 *			field is the next step
 *	nan_with: FIELD	a loss of 0 is NaN where this field is (HuggingFace's
 *			Trainer replaces NaN before it averages)
 *	epoch: FIELD	step numbers begin again when this field grows
 *	epoch_steps: FIELD	the steps per epoch: the number of a step is
 *			epoch * epoch_steps + step, with epochs from
 *			`epoch_from` (0 or 1; default 0) on. With `number`: each
 *			match is the end of an epoch; one of another length than
 *			the first is an evaluation and ignored
 *	counted: true	in a log without step numbers, each match is the next
 *			step, or that of the progress bar if it is further
 *	share: FIELD	the epochs done so far, as a fraction: the step is this
 *			share of the progress bar's total. The number of epochs
 *			is the `epoch` of a rule with `total`, or is computed
 *			from the bars around it (../share_steps.h)
 *	samples: FIELD	the samples so far, instead of a step; the first match
 *			gives the samples per step, unless a rule with `batch`
 *			has told them. With `number`, only then. Once a match
 *			names the step beside them, samples alone give none.
 *			With `total`: the samples of all steps so far, which
 *			belong to no step; steps beyond them are samples
 *	batch: FIELD	the samples of a step. No value of the match belongs to
 *			a step
 *	interval: FIELD	the seconds of all steps since the record before. The
 *			step time is computed with the step rate of the same
 *			match, else with the step numbers
 *	elapsed: FIELD	seconds of any clock: a step without a time gets the
 *			difference from the match before
 *	metric: {name: FIELD, value: FIELD, unit: FIELD}
 *			a result of the run, named by the log. The match belongs
 *			to no step
 *	contains: [TEXT]	every match contains one of these. This speeds
 *			up rules whose expression does not show such a text
 *	spell: {WRONG: RIGHT}	corrections of text values
 *
 * A record of the log ends at LF or CR. ANSI escape sequences are removed
 * first, as are the prefixes of launchers: "[rank3]:", "[default0]:", "3: ",
 * "(Actor pid=7)", "[1,0]<stdout>:". NUL and invalid UTF-8 are ordinary bytes.
 * A record longer than EXTRACT_LINE_MAX is ignored. Text after the last LF or
 * CR is used only if it ends its last field itself, with one of |}]), so that a
 * truncated number is never read; that of a file (extract.h), always.
 */
#pragma once

#include "protocol/base/error.h"
#include "protocol/base/owned.h"
#include "protocol/yaml/value.h"

#include <stdbool.h>
#include <stddef.h>

#define EXTRACT_LINE_MAX 65536 /* bytes in a record of the log */
#define EXTRACT_RULES_MAX 64   /* rules in a description */
#define EXTRACT_STREAMS_MAX 16 /* patterns of followed files */
#define EXTRACT_COLUMNS_MAX 64 /* patterns of metrics */
#define EXTRACT_MATCH_MAX 4096 /* bytes in an expression */

/* Compiled rules. Any number of extracts of the same thread may share them; the
 * rules must outlive the extracts.
 */
struct extract_rules;

/* Compile the `log:` values of a description (the last one) and of the
 * descriptions that it is `like` (before it). Errors name file and line and,
 * for an expression, quote PCRE2 and give the position.
 */
struct extract_rules *extract_rules_new(const struct value *const *logs,
					size_t count, struct error *err);
void extract_rules_free(struct extract_rules *rules);
OWNED_POINTER(struct extract_rules, extract_rules_free)

/* Rules of a stranger: give up all searches once slow ones, of more than 20 us,
 * took RULES_PATIENCE_US of CPU time. An expression can take a second for a
 * hundred lines.
 */
#define RULES_PATIENCE_US 500000
void extract_rules_limit(struct extract_rules *rules);
bool extract_rules_given_up(const struct extract_rules *rules);

/* Does a rule capture `finished`? Then the log says when training is complete.
 */
bool extract_rules_finish(const struct extract_rules *rules);

/* Does a rule have `life: true`? */
bool extract_rules_life(const struct extract_rules *rules);

enum extract_read { EXTRACT_FIRST, EXTRACT_LAST, EXTRACT_ALL };

/* The ranks whose streams to read: the first, the last, or all. Each is read
 * into its own extract, and extract_merge() joins them.
 */
enum extract_read extract_rules_read(const struct extract_rules *rules);

/* Do the rules have `stream:`? */
bool extract_rules_names_files(const struct extract_rules *rules);

/* Does a followed file with this path match a pattern of `stream:` (fnmatch(3),
 * where * also matches /)? Then it is read, too, on the nodes whose ranks are.
 */
bool extract_rules_file(const struct extract_rules *rules, const char *path);

/* Do tables show this metric? True if it matches a pattern of `columns:` of any
 * section (fnmatch(3)), or if no section has `columns:`.
 */
bool extract_rules_column(const struct extract_rules *rules, const char *name);

/* Does a rule give this name the form `percent`? */
bool extract_rules_percent(const struct extract_rules *rules, const char *name);

/* Which value of its steps is that of the run. */
enum metric_take { TAKE_UNSAID, TAKE_LAST, TAKE_MAX, TAKE_MEDIAN };

/* That of a metric: as a rule says, else the last one of a counter or an
 * accuracy, else the median. Never TAKE_UNSAID.
 */
enum metric_take extract_rules_take(const struct extract_rules *rules,
				    const char *name);
