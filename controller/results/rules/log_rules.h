/* log_rules.h - the rules that read a training log: data, compiled.
 *
 * The rules stand in a framework description (images/frameworks/), section
 * `log:`
 *
 *	log:
 *	  read: first	# the output of which rank: first, last or all
 *	  stream: ['*rank0.log']	# and which followed files, by path
 *	  like: [perflog]	# the rules of these descriptions come first
 *	  columns: ['*acc*']	# which metrics tables show; default: all
 *	  rules:
 *	    - match: 'step (?<step>\d+)/(?<steps>\d+) \| loss (?<loss>\S+)'
 *
 * A rule has one of three forms. Each is looked for anywhere in a record of
 * the log, as often as it occurs there.
 *
 *	match: EXPRESSION	PCRE2 over bytes (no UTF mode); its named groups
 *				catch values
 *	dict: PREFIX		a JSON object or Python dict behind the prefix
 *				('{': any); values stand at paths: value.loss
 *	pairs: EXPRESSION	"key: value" pairs behind what it matches, up to
 *				the next match or the end of the record
 *
 * More of a dict or of pairs:
 *
 *	where: {event: [A, B]}	the values at these paths or keys are one of
 *				these, else it is no match
 *	has: [FIELD]		(any form) nor without these fields
 *	others: value		numbers below this path ('.': all) that
 *				`fields` does not name go under their own names
 *	between: '|'  is: ':'	what ends a pair and what stands in it: one of
 *				these characters each
 *	closed: true		a pair that `between` does not end is cut
 *
 * fields: {KEY: NAME} says under which name goes what stands at a group, path
 * or key (a group that is not listed has its own name). NAME may be a list,
 * and may have a form behind it: name:text, name:clock (H:MM:SS, in seconds),
 * name:percent (a share of 1, in percent), name:flag (true when there is
 * anything), name:any (a number, else text), name:si (10.0k, 1.2M, 3B),
 * name:thousand, name:million, name:milli (in these), name:counter (of all
 * steps the last one counts), name:pace (8.2s/it, 1.7it/s,
 * 933us/step, 30 ms: the seconds of one); "a/b" splits "3/60" into two. Numbers
 * may have commas between their thousands.
 * These names are known:
 *
 *	step, steps		a step's number, and of how many
 *	loss
 *	iteration_ms, iteration_s	time of one step
 *	steps_per_second	the same, as a rate
 *	tokens_per_second, samples_per_second	over all devices
 *	tokens_per_second_per_device
 *	memory_mib, memory_gib, memory_gb	2^20, 2^30 and 10^9 bytes
 *	rank			which rank says so
 *	finished		any text: the training says that it is done
 *				(where a later step follows, it is not
 *				believed, nor is another one in that log)
 *
 * Any other name is a metric of its own: a number that results and reports
 * carry under that name.
 *
 * What is caught counts for the step that the same match names; without one,
 * for the step before it (the first one, if there is none yet), or for the
 * summary where `finished` caught something or the rule says `finished: true`.
 * A step that comes again (several ranks, a restart) is one step: what a rule
 * catches later replaces all that it caught before, but a higher rank never
 * replaces what a lower one said, and of memory the most counts.
 *
 *	summary: true	of the whole run, which has not finished by this
 *	progress: true	the step is only counted: what comes next without a
 *			step belongs to it (progress bars). Other `steps` than
 *			the first (an evaluation's bar) are left alone
 *	total: true	its `steps` are those of the progress that counts
 *	pending: true	what is caught belongs to the step that comes next
 *	life: true	the line is a sign of life. Where a rule says so, other
 *			output is none, but figures; needs no group
 *	number: FIELD	in a log that numbers no steps, each new value of this
 *			field is the next step
 *	nan_with: FIELD	a loss of 0 is NaN where this field is (HuggingFace's
 *			Trainer replaces NaN before it averages)
 *	epoch: FIELD	steps start anew when this field grows
 *	epoch_steps: FIELD	the steps of an epoch: a step's number then is
 *			epoch * epoch_steps + step, with epochs from
 *			`epoch_from` (0 or 1; default 0) on. With `number`: each
 *			match is the end of an epoch; one of another length than
 *			the first is an evaluation and left alone
 *	counted: true	in a log that numbers no steps, each match is the next
 *			step, or that of the progress where it is further
 *	share: FIELD	the epochs done so far, as a fraction: the step is this
 *			share of the progress' total; the number of epochs is
 *			announced (`epoch` of a rule with `total`), or follows
 *			from the bars around it (../share_steps.h)
 *	samples: FIELD	the samples so far instead of a step: what the first
 *			match has is those of a step
 *	interval: FIELD	the seconds of all steps since the record before: the
 *			time of one follows from the rate of steps that the same
 *			match has, else from the steps' numbers
 *	elapsed: FIELD	seconds of any clock: the time of a step that has none
 *			follows from those of the match before
 *	metric: {name: FIELD, value: FIELD, unit: FIELD}
 *			a result of the run, whose name stands in the log
 *	contains: [TEXT]	one of these stands in every match; makes a rule
 *			cheap whose expression does not show it
 *	spell: {WRONG: RIGHT}	in texts
 *
 * to: SECTION takes a rule's matches out of the steps, into a section of what
 * `regatta extract` prints (document.h); `row` says which row there: new (a map
 * for each match), list (its values in order), value (the first one), last
 * (joins the row before), one (a single map), latest (a single list), entry
 * (the value at field `value` under the name at field `key`, in a single map),
 * count (how many matches), or a field: one map for each of its values.
 *
 * A record of the log ends at LF or CR. ANSI escape sequences are removed
 * first, and what launchers put before a line: "[rank3]:", "[default0]:",
 * "3: ", "(Actor pid=7)", "[1,0]<stdout>:". NUL and invalid UTF-8 are bytes
 * like others. A record longer than EXTRACT_LINE_MAX is dropped. Text after the
 * last end is used only if it closes its last field itself, with '|' or '}', so
 * that a truncated number is never read.
 */
#ifndef CONTROLLER_RESULTS_RULES_LOG_RULES_H
#define CONTROLLER_RESULTS_RULES_LOG_RULES_H

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

/* Compiled rules: shared by any number of extracts of the same thread, which
 * must not outlive them.
 */
struct extract_rules;

/* From the values of `log:` of a description (the last) and of those that it
 * is like (before it). Errors name file and line; a broken expression also
 * says what PCRE2 says, and where in it.
 */
struct extract_rules *extract_rules_new(const struct value *const *logs,
					size_t count, struct error *err);
void extract_rules_free(struct extract_rules *rules);
OWNED_POINTER(struct extract_rules, extract_rules_free)

/* Does a rule catch `finished`: will the training say that it is done? */
bool extract_rules_finish(const struct extract_rules *rules);

/* Does a rule say what is a sign of life? */
bool extract_rules_life(const struct extract_rules *rules);

enum extract_read { EXTRACT_FIRST, EXTRACT_LAST, EXTRACT_ALL };

/* Which ranks' streams are to be read: the first, the last, or each, into an
 * extract of its own, put together by extract_merge().
 */
enum extract_read extract_rules_read(const struct extract_rules *rules);

/* Do they name followed files that are read? */
bool extract_rules_names_files(const struct extract_rules *rules);

/* Is a followed file of that path to be read as well, of the nodes whose ranks
 * are? A pattern of `stream:` matches as in fnmatch(3); * matches / too.
 */
bool extract_rules_file(const struct extract_rules *rules, const char *path);

/* Do tables show this metric? A pattern of `columns:`, of any of the sections,
 * matches as in fnmatch(3). Without any `columns:` they show all.
 */
bool extract_rules_column(const struct extract_rules *rules, const char *name);

/* Is the number of this name in percent, by the form `percent` of a rule? */
bool extract_rules_percent(const struct extract_rules *rules, const char *name);

/* Does it count up, by the form `counter`? Then its last value is that of the
 * run.
 */
bool extract_rules_counter(const struct extract_rules *rules, const char *name);

#endif
