/* meaning.c - reads a log without rules for it.
 */
#include "controller/results/meaning/meaning.h"

#include "controller/results/meaning/aside.h"
#include "controller/results/meaning/counter.h"
#include "controller/results/meaning/line_bar.h"
#include "controller/results/meaning/table_rows.h"
#include "controller/results/rules/dict.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define HALF_DAY 43200.0
#define DAY 86400.0
#define BELOW 16        /* lines below a step that belong to it, if indented */
#define DUMP_NUMBERS 16 /* in a line of settings */
#define MEMBERS 64      /* lines of a dict that has one for each member */

struct meaning {
	struct notation notation;
	struct table_rows table;
	struct line_reading line;
	struct meaning_found found;
	size_t clock_room;
	double clock; /* of the last line */
	/* The step that a line of its own names. */
	uint64_t below_step;
	double below_clock;
	unsigned below;   /* lines that still may belong to it */
	bool below_loss;  /* of these, only one with a loss does */
	bool below_other; /* its part that is of an evaluation */
	bool below_whole; /* it was the last one of its total */
	bool behind; /* this line stands right below a record of that step */
	bool above;  /* values stand above the line that names their step */
	struct line_pick epoch; /* that a line of its own names */
	double summed_up;       /* the last one of such a line behind it */
	struct aside aside;
	unsigned members; /* lines that may follow of an open dict; 0: none */
	unsigned box;     /* the same of a box of names and values */
	char box_first[TABLE_NAME_MAX]; /* the name of its first row */
	struct line_pick box_step;      /* of the first one with a step */
	bool box_ended;                 /* by the line before */
	bool box_other; /* the title above its rows is of an evaluation */
	rules_fn *fn;   /* of the line that is read */
	void *arg;
	struct fields *names;
	const char *text;
	size_t size;
	double stamp; /* of its prefix; NaN: none */
	int64_t rank; /* -1: unknown */
	bool bare;    /* it may count the lines */
	int rc;
	struct counter counter;
	/* The first line with a loss and no place, until a second comes: one
	 * that a word calls the training's, and another one.
	 */
	struct counter_held lone[2];
	/* By enum meaning_steps, those after a guessed loss was replaced by a
	 * sure one before the others.
	 */
	struct rule rules[2 * MEANING_STEPS];
	unsigned weak; /* of the records that are taken */
	bool trained;  /* a line of the training alone has named its step */
	bool replaced; /* a guessed loss, by a sure one */
	struct line_pick loss;     /* of the first record with one */
	unsigned losses;           /* records with that name of it */
	uint64_t loss_step;        /* of the last one */
	struct line_values values; /* of the record */
	struct bar_pace bar;       /* between the records */
	uint64_t trained_epoch;    /* whose loss a word calls the training's */
	bool ahead;     /* a bar shows a loss before its step is counted */
	uint64_t drawn; /* the step of the last record in a bar */
	/* Of a line that is nothing but a step; valid as long as `named.has`.
	 */
	struct line_pick named;
	struct epoch_steps before; /* what was known in front of it */
};

struct meaning *meaning_new(const struct lexicon *lexicon, struct error *err)
{
	struct meaning *meaning = calloc(1, sizeof(*meaning));

	if (!meaning)
		return error_null(error_nomem(err, "log"));
	meaning->notation.lexicon = lexicon;
	meaning->below_clock = NAN;
	meaning->trained_epoch = UINT64_MAX;
	line_values_init(&meaning->values);
	meaning->found.steps = MEANING_STEPS;
	meaning->weak = 2 * MEANING_STEPS;
	for (int i = 0; i < 2 * MEANING_STEPS; i++)
		meaning->rules[i] = (struct rule){
			.weak = (unsigned)i,
			.counted = i / 2 == STEPS_COUNTED,
			.number = FIELD_NONE,
			.nan_with = FIELD_NONE,
			.epoch = FIELD_NONE,
			.epoch_steps = FIELD_NONE,
			.interval = FIELD_NONE,
			.samples = FIELD_NONE,
			.batch = FIELD_NONE,
			.share = FIELD_NONE,
			.elapsed = FIELD_NONE,
			.metric_name = FIELD_NONE,
			.metric_value = FIELD_NONE,
			.metric_unit = FIELD_NONE,
		};
	return meaning;
}

void meaning_free(struct meaning *meaning)
{
	if (!meaning)
		return;
	free(meaning->found.clocks);
	strings_clear(&meaning->found.example);
	free(meaning);
}

const struct meaning_found *meaning_found(const struct meaning *meaning)
{
	return &meaning->found;
}

bool meaning_reads_all(const struct meaning *meaning)
{
	return meaning->table.count || meaning->members || meaning->box ||
	       meaning->below || meaning->aside.headed;
}

/* Numbers of the line. */

/* Does the value of the key say of what its dict is, {"split": "val"}? */
static bool key_tells_kind(const char *path)
{
	static const char *const keys[] = { "split", "phase", "mode",   "stage",
					    "type",  "kind",  "event",  "set",
					    "tag",   "msg",   "message" };
	const char *dot = strrchr(path, '.');

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!strcasecmp(dot ? dot + 1 : path, keys[i]))
			return true;
	return false;
}

static void take_dict_number(const char *path, const char *text, size_t size,
			     bool quoted, void *arg)
{
	struct meaning *meaning = arg;
	bool text_of_words = quoted && memchr(text, ' ', size) &&
			     !isdigit((unsigned char)*text);

	/* {"message": "step 10 loss 2.5"} */
	if (quoted && key_tells_kind(path) &&
	    notation_quantity(&meaning->notation, text, size).other)
		meaning->line.other = true;
	else if (text_of_words)
		notation_read(&meaning->notation, text, size, line_take,
			      &meaning->line);
	else
		notation_value(&meaning->notation, path, strlen(path), text,
			       size, line_take, &meaning->line);
}

/* "Eval metrics: {'loss': 2.5}" */
static void read_dict_head(struct meaning *meaning, const char *text,
			   size_t size)
{
	struct quantity quantity =
		notation_quantity(&meaning->notation, text, size);

	meaning->line.section |= quantity.other || quantity.section;
}

static void read_numbers(struct meaning *meaning, const char *text, size_t size)
{
	while (size) {
		const char *brace = memchr(text, '{', size);
		size_t before = brace ? (size_t)(brace - text) : size, n = 0;

		if (before)
			notation_read(&meaning->notation, text, before,
				      line_take, &meaning->line);
		if (!brace)
			return;
		if (dict_begins(brace, size - before)) {
			if (before)
				read_dict_head(meaning, text, before);
			n = dict_read(brace, size - before, take_dict_number,
				      meaning);
		}
		n = n ? n : 1;
		text = brace + n;
		size -= before + n;
	}
}

/* False: it is the header of a table. */
static bool read_line(struct meaning *meaning, const char *text, size_t size)
{
	line_begin(&meaning->line);
	if (meaning->table.count &&
	    table_rows_read(&meaning->table, &meaning->notation, text, size,
			    line_take, &meaning->line))
		return true;
	if (table_rows_header(&meaning->table, &meaning->notation, text, size))
		return false;
	read_numbers(meaning, text, size);
	return true;
}

/* Steps. */

/* Which step is it, and how is it known? MEANING_STEPS: it is no record. */
static enum meaning_steps find_step(struct meaning *meaning, uint64_t *step)
{
	const struct line_reading *line = &meaning->line;
	const struct line_pick *own = &line->picks[LINE_STEP];
	const struct line_pick *batch = &line->picks[LINE_BATCH];
	const struct line_pick *epoch = &line->picks[LINE_EPOCH];

	if (own->has || batch->has) {
		/* "iter: 20, batch count: 20/300" */
		bool within = own->has && batch->has && !epoch->has &&
			      own->number == batch->number;
		static const struct line_pick none;

		*step = step_over_all(&meaning->found.epochs,
				      own->has && !within ? own : batch,
				      line_step_is_over_all(line) ? &none
								  : epoch,
				      !own->has);
		return STEPS_NAMED;
	}
	if (!line->picks[LINE_LOSS].has && !line->parts)
		return MEANING_STEPS;
	/* Epochs with a point may have several records. */
	if (line->picks[LINE_SAMPLES_DONE].has ||
	    (epoch->has && epoch->number != floor(epoch->number)) ||
	    (line->picks[LINE_LR].has && (!epoch->has || epoch->decimal)))
		return STEPS_COUNTED;
	if (!epoch->has)
		return line_loss_is_sure(line) ? STEPS_COUNTED : MEANING_STEPS;
	if (epoch->number < 0 || epoch->number > EPOCH_MAX)
		return MEANING_STEPS;
	*step = (uint64_t)epoch->number;
	return STEPS_EPOCHS;
}

/* Clocks. */

/* The clock of the line that is read, or of its prefix: who collects lines may
 * hold them back.
 */
static double line_printed(struct meaning *meaning)
{
	double own = line_clock(meaning->text, meaning->size,
				&meaning->found.fractions);

	if (isfinite(own) || isnan(meaning->stamp))
		return own;
	meaning->found.fractions |= meaning->stamp != floor(meaning->stamp);
	return meaning->stamp;
}

static int keep_clock(struct meaning *meaning, uint64_t step, double seconds,
		      bool of_day)
{
	struct meaning_found *found = &meaning->found;

	if (isnan(seconds) || found->clock_count == EXTRACT_RECORDS_MAX)
		return 0;
	/* Past midnight. */
	while (of_day && seconds < meaning->clock - HALF_DAY)
		seconds += DAY;
	meaning->clock = seconds;
	if (found->clock_count &&
	    step <= found->clocks[found->clock_count - 1].step)
		return 0;
	if (found->clock_count == meaning->clock_room) {
		size_t room =
			meaning->clock_room ? meaning->clock_room * 2 : 64;
		struct meaning_clock *grown =
			reallocarray(found->clocks, room, sizeof(*grown));

		if (!grown)
			return -1;
		found->clocks = grown;
		meaning->clock_room = room;
	}
	found->clocks[found->clock_count++] =
		(struct meaning_clock){ step, seconds };
	return 0;
}

/* Is the loss the one of the records before? Once two had the same name,
 * another one is that of a summary, or of another program; so is one that may
 * be a part, if the step has another part already.
 */
static bool loss_is_same(struct meaning *meaning, const struct line_pick *loss,
			 uint64_t step)
{
	const struct line_pick *first = &meaning->loss;
	bool same = meaning->losses && loss->rank == first->rank &&
		    (loss->rank < QUANTITY_GUESS ||
		     (loss->name_size == first->name_size &&
		      !memcmp(loss->name, first->name, loss->name_size)));

	if (!same && (meaning->losses >= 2 ||
		      (loss->rank == QUANTITY_GUESS && meaning->losses &&
		       step == meaning->loss_step)))
		return false;
	meaning->loss_step = step;
	if (!same) {
		meaning->loss = *loss;
		meaning->losses = 0;
	}
	meaning->losses++;
	return true;
}

/* Stands the loss behind one of the same epoch, of which a word says that it is
 * the training's?
 */
static bool loss_is_beside(struct meaning *meaning, enum meaning_steps steps,
			   uint64_t step)
{
	if (steps == STEPS_EPOCHS && meaning->line.trains)
		meaning->trained_epoch = step;
	return steps == STEPS_EPOCHS && !meaning->line.trains &&
	       step == meaning->trained_epoch;
}

/* Deliver the record of the line; its values are complete. */
static int deliver_record(struct meaning *meaning, enum meaning_steps steps,
			  uint64_t step)
{
	const struct line_pick *clock = &meaning->line.picks[LINE_CLOCK];
	struct meaning_found *found = &meaning->found;
	struct line_pick *loss = &meaning->line.picks[LINE_LOSS];
	bool sure = line_loss_is_sure(&meaning->line);
	struct rule *rule;
	unsigned weak;
	double seconds;

	meaning->replaced |= sure && (found->loss_guessed || found->loss_parts);
	weak = 2 * steps + !meaning->replaced;
	if (steps == MEANING_STEPS || weak > meaning->weak)
		return 0;
	/* What has a loss is surer than what has only a step. */
	if (weak < meaning->weak && !loss->has && meaning->losses >= 2)
		return 0;
	if (weak < meaning->weak) {
		meaning->weak = weak;
		found->steps = steps;
		found->clock_count = 0;
		found->loss_sure = found->loss_guessed = false;
		*found->names[ROLE_LOSS] = 0;
		meaning->losses = 0;
	}
	meaning->trained |= steps == STEPS_NAMED && !meaning->line.evaluates;
	found->loss_sure |= sure;
	if (loss->has && !sure && (found->loss_sure || meaning->replaced))
		loss->has = false;
	else
		found->loss_guessed |= loss->has && !sure;
	loss->has = loss->has && loss_is_same(meaning, loss, step) &&
		    !loss_is_beside(meaning, steps, step);
	if (steps == STEPS_NAMED)
		line_bar_time(&meaning->bar, &meaning->line, step);
	rule = &meaning->rules[meaning->weak];
	found->loss_parts |=
		meaning->line.parts && !loss->has && !meaning->losses;
	/* The loss that is shown then is that of the next step. */
	if (meaning->line.bar && meaning->ahead && step == meaning->drawn)
		return 0;
	meaning->drawn = meaning->line.bar ? step : UINT64_MAX;
	if (!line_has_any(&meaning->line) &&
	    (!meaning->line.parts || meaning->losses))
		return 0;
	if (line_values_put(&meaning->values, found, meaning->names,
			    &meaning->line, steps, step, !meaning->members) < 0)
		return -1;
	rule->share =
		steps == STEPS_COUNTED ? meaning->values.share : FIELD_NONE;
	meaning->values.captured.rule = rule;
	seconds = clock->has ? clock->number : line_printed(meaning);
	meaning->found.fractions |= clock->has && seconds != floor(seconds);
	if (isnan(seconds) && step == meaning->below_step)
		seconds = meaning->below_clock;
	if (steps == STEPS_NAMED &&
	    keep_clock(meaning, step, seconds, !clock->has) < 0)
		return -1;
	return meaning->fn(&meaning->values.captured, meaning->arg);
}

/* The lines below may belong to the step of this one. */
static void expect_below(struct meaning *meaning, uint64_t step, bool loss)
{
	meaning->below_loss = loss;
	meaning->below_step = step;
	meaning->below_clock = line_printed(meaning);
	meaning->below = BELOW;
	meaning->below_other = meaning->below_whole = false;
}

/* Another line may name the same epoch, without their number. */
static void take_epoch(struct line_pick *epoch, const struct line_pick *named)
{
	double total = isfinite(named->total) || !epoch->has ? named->total
							     : epoch->total;

	*epoch = *named;
	epoch->total = total;
	epoch->text_size = 0;
}

/* Does the line have nothing but a step, or an epoch? */
static void keep_context(struct meaning *meaning)
{
	const struct line_reading *line = &meaning->line;
	const struct line_pick *own = line->picks[LINE_STEP].has
					      ? &line->picks[LINE_STEP]
					      : &line->picks[LINE_BATCH];
	uint64_t step;

	if (line->bar) {
		line_bar_draw(&meaning->bar, line, own);
		return;
	}
	if (line->drawn)
		return;
	/* "4 accumulation steps * 32 batch size" */
	if (own->has && own->name_size == 0 && !isfinite(own->total) &&
	    line->numbers > 1)
		return;
	if (own->has) {
		meaning->before = meaning->found.epochs;
		meaning->named = *own;
		if (find_step(meaning, &step) == STEPS_NAMED) {
			line_values_name(&meaning->found, own, ROLE_STEP);
			expect_below(meaning, step, false);
			meaning->below_whole = own->number == own->total;
			/* The first one comes behind a loss. */
			meaning->above |=
				meaning->found.steps == MEANING_STEPS &&
				(meaning->lone[0].line.picks[LINE_LOSS].has ||
				 meaning->lone[1].line.picks[LINE_LOSS].has);
		}
	} else if (line->picks[LINE_EPOCH].has && !line_counts_epochs(line)) {
		/* Behind steps of none, it sums one up. */
		meaning->found.epochs.ended = !meaning->found.epochs.begun &&
					      meaning->found.epochs.last;
		if (meaning->found.epochs.ended) {
			/* A run that begins again. */
			if (line->picks[LINE_EPOCH].number < meaning->summed_up)
				meaning->found.epochs.base = 0;
			meaning->summed_up = line->picks[LINE_EPOCH].number;
			return;
		}
		take_epoch(&meaning->epoch, &line->picks[LINE_EPOCH]);
		meaning->aside.begun = false;
	}
}

/* Is it a line of values below that of its step? */
static bool line_is_below(const struct meaning *meaning)
{
	const struct line_reading *line = &meaning->line;

	return meaning->below && !meaning->above &&
	       !line->picks[LINE_STEP].has && !line->picks[LINE_BATCH].has &&
	       !line->picks[LINE_EPOCH].has && !line->bar && !line->drawn &&
	       (!meaning->below_loss || line->picks[LINE_LOSS].has) &&
	       (meaning->below == BELOW || line->numbers == 1 ||
		*meaning->text == ' ' || *meaning->text == '\t');
}

/* May the line have a step that no name tells? */
static bool counts_unnamed(const struct meaning *meaning)
{
	const struct line_reading *line = &meaning->line;

	return line->picks[LINE_LOSS].has && line->counter_count &&
	       !line->picks[LINE_STEP].has && !line->picks[LINE_BATCH].has &&
	       !line->picks[LINE_SAMPLES_DONE].has &&
	       (meaning->counter.found || !meaning->trained);
}

/* Deliver records that were held. */
static void deliver_held(struct meaning *meaning,
			 const struct counter_held *held, size_t count)
{
	const char *text = meaning->text;
	size_t size = meaning->size;

	meaning->text = "";
	meaning->size = 0;
	for (size_t i = 0; i < count && meaning->rc == 0; i++) {
		enum meaning_steps steps;
		uint64_t step = 0;

		meaning->line = held[i].line;
		meaning->stamp = held[i].stamp;
		steps = find_step(meaning, &step);
		meaning->rc = deliver_record(meaning, steps, step);
	}
	meaning->text = text;
	meaning->size = size;
}

/* A line with a loss that says of no place in the training is a step if the
 * same comes again; a single one may sum it up. True: it is held.
 */
static bool hold_lone(struct meaning *meaning)
{
	struct counter_held now = { meaning->line, line_printed(meaning) };
	struct counter_held *lone = &meaning->lone[now.line.trains];
	const struct line_pick *name = &now.line.picks[LINE_LOSS];
	const struct line_pick *held = &lone->line.picks[LINE_LOSS];

	if (meaning->found.steps != MEANING_STEPS)
		return false;
	if (held->has && held->name_size == name->name_size &&
	    !memcmp(held->name, name->name, name->name_size)) {
		deliver_held(meaning, lone, 1);
		meaning->line = now.line;
		meaning->stamp = now.stamp;
		return false;
	}
	*lone = now;
	line_forget_text(&lone->line);
	return true;
}

/* "[valid]", and "[train]", between values below a step. */
static void begin_part(struct meaning *meaning)
{
	struct quantity quantity =
		notation_quantity(&meaning->notation, meaning->text,
				  meaning->size);

	meaning->below_other |= quantity.other || quantity.section;
	if (quantity.train && !quantity.other)
		meaning->below_other = false;
}

/* "epoch 1 done, avg loss 2.5, batches 50/50", between steps of all epochs */
static bool line_sums_up(const struct meaning *meaning)
{
	const struct line_reading *line = &meaning->line;
	const struct line_pick *own = line->picks[LINE_STEP].has
					      ? &line->picks[LINE_STEP]
					      : &line->picks[LINE_BATCH];

	return meaning->losses >= 2 && line->picks[LINE_LOSS].has &&
	       line->picks[LINE_LOSS].rank != meaning->loss.rank &&
	       line->picks[LINE_EPOCH].has && own->has &&
	       isfinite(own->total) &&
	       own->total != meaning->found.epochs.length;
}

/* A line that named nothing but a step beyond the total of this one's, "loaded
 * step 21000", was not of the same count.
 */
static void forget_named(struct meaning *meaning)
{
	const struct line_reading *line = &meaning->line;
	const struct line_pick *own = line->picks[LINE_STEP].has
					      ? &line->picks[LINE_STEP]
					      : &line->picks[LINE_BATCH];

	if (own->has && meaning->named.has && isnan(meaning->named.total) &&
	    isfinite(own->total) && meaning->named.number >= own->total)
		meaning->found.epochs = meaning->before;
	meaning->named.has = false;
}

/* The line, or a part of it with a bar of its own, is complete. */
static void end_record(void *arg)
{
	struct meaning *meaning = arg;
	struct line_reading *line = &meaning->line;
	enum meaning_steps steps;
	uint64_t step = 0;
	bool below, behind = meaning->behind;

	meaning->behind = false;
	line_end(line);
	if (meaning->rank >= 0)
		line->rank = meaning->rank;
	if (meaning->bare)
		line_put_label(line);
	aside_note(&meaning->aside, line);
	if (line->other || meaning->rc < 0)
		return;
	if (line_bar_is_empty(line)) {
		meaning->ahead = line->picks[LINE_LOSS].has;
		return;
	}
	below = line_is_below(meaning);
	meaning->below -= meaning->below > 0;
	if (meaning->below && !line->numbers)
		begin_part(meaning);
	if (below && meaning->below_other)
		return;
	if (below && line_has_any(line)) {
		meaning->named.has = false;
		meaning->rc = deliver_record(meaning, STEPS_NAMED,
					     meaning->below_step);
		/* The same step again is of the next epoch. */
		meaning->found.epochs.whole = meaning->below_whole;
		meaning->below_whole = false;
		return;
	}
	if (!line_measures(line)) {
		keep_context(meaning);
		return;
	}
	/* "Namespace(..., epochs=300, ...)" */
	if (line->numbers > DUMP_NUMBERS && line_counts_epochs(line))
		return;
	meaning->found.epochs.whole |=
		aside_begins_again(&meaning->aside, line);
	if (aside_has(&meaning->aside, line, &meaning->epoch) ||
	    line_sums_up(meaning))
		return;
	if (behind && !line_has_place(line) && !line->picks[LINE_LOSS].has &&
	    !line->bar) {
		/* "speed: 0.5s/iter", below its step and loss */
		meaning->rc = deliver_record(meaning, STEPS_NAMED,
					     meaning->below_step);
		return;
	}
	if (!line_names_step(line) && !line->picks[LINE_EPOCH].has &&
	    meaning->epoch.has)
		line->picks[LINE_EPOCH] = meaning->epoch;
	meaning->below = 0;
	if (counts_unnamed(meaning)) {
		if (meaning->counter.found) {
			counter_apply(&meaning->counter, line);
		} else if (counter_hold(&meaning->counter, line,
					line_printed(meaning))) {
			deliver_held(meaning, meaning->counter.held,
				     meaning->counter.count);
			return;
		}
	}
	forget_named(meaning);
	steps = find_step(meaning, &step);
	meaning->found.epochs.ended |= steps == STEPS_EPOCHS;
	if (steps == STEPS_COUNTED && !line_has_place(line) &&
	    hold_lone(meaning))
		return;
	if (steps == STEPS_NAMED && !line->picks[LINE_LOSS].has)
		expect_below(meaning, step, true);
	meaning->behind = steps == STEPS_NAMED && line->picks[LINE_LOSS].has &&
			  !line_has_rate(line);
	if (meaning->behind)
		meaning->below_step = step;
	meaning->rc = deliver_record(meaning, steps, step);
}

/* Read a line of a dict whose members have lines of their own. False: it is
 * none.
 */
static bool read_member(struct meaning *meaning, const char *text, size_t size)
{
	while (size && (*text == ' ' || *text == '\t')) {
		text++;
		size--;
	}
	if (!meaning->members) {
		if (!dict_begins_members(text, size))
			return false;
		line_begin(&meaning->line);
		meaning->members = MEMBERS;
	} else if (!size || !strchr("\"'{}[]", *text) ||
		   (*text == '[' && !dict_opens_list(text, size)) ||
		   !--meaning->members) {
		meaning->members = 0;
		return false;
	} else if (*text == '{') {
		/* The one around it is another dict. */
		line_begin(&meaning->line);
	}
	read_numbers(meaning, text, size);
	if (memchr(text, '}', size)) {
		end_record(meaning);
		line_begin(&meaning->line);
	}
	return true;
}

static void cell_copy(char to[TABLE_NAME_MAX], const struct table_cell *cell)
{
	snprintf(to, TABLE_NAME_MAX, "%.*s", (int)cell->size, cell->text);
}

/* A row of a box. Rows of the next box have the same names. */
static void read_pair(struct meaning *meaning, const struct table_cell pair[2])
{
	char name[TABLE_NAME_MAX];

	if (!meaning->box) {
		meaning->box_other = false;
		*meaning->box_first = 0;
	}
	meaning->box = MEMBERS;
	meaning->box_ended = false;
	if (!pair[1].size) {
		meaning->box_other =
			notation_quantity(&meaning->notation, pair[0].text,
					  pair[0].size)
				.other;
		return;
	}
	if (meaning->box_other)
		return;
	cell_copy(name, &pair[0]);
	if (!*meaning->box_first || !strcmp(name, meaning->box_first)) {
		line_begin(&meaning->line);
		memcpy(meaning->box_first, name, sizeof(name));
	}
	notation_value(&meaning->notation, pair[0].text, pair[0].size,
		       pair[1].text, pair[1].size, line_take, &meaning->line);
}

/* Is the step the one of the boxes before? Without "iterations", "n_updates" is
 * that of an evaluation.
 */
static bool box_step_is_same(struct meaning *meaning)
{
	const struct line_pick *step = &meaning->line.picks[LINE_STEP];

	if (!meaning->box_step.has)
		meaning->box_step = *step;
	return step->rank <= meaning->box_step.rank;
}

/* Read a row of a box, or what follows one: a line between rows may be its
 * end. False: the line is no part of a box.
 */
static bool read_box(struct meaning *meaning, const char *text, size_t size)
{
	struct table_cell pair[2];
	bool border = true;

	if (table_pair(text, size, pair)) {
		read_pair(meaning, pair);
		return true;
	}
	if (!meaning->box)
		return false;
	if (line_measures(&meaning->line) && line_names_step(&meaning->line) &&
	    box_step_is_same(meaning))
		end_record(meaning);
	for (size_t i = 0; i < size; i++)
		border &= !isalnum((unsigned char)text[i]);
	meaning->box = border && !meaning->box_ended ? meaning->box - 1 : 0;
	meaning->box_ended = true;
	return border;
}

int meaning_read(struct meaning *meaning, struct fields *names,
		 const char *text, size_t size, double stamp, int64_t rank,
		 bool bare, rules_fn *fn, void *arg)
{
	meaning->names = names;
	meaning->fn = fn;
	meaning->arg = arg;
	meaning->text = text;
	meaning->size = size;
	meaning->stamp = stamp;
	meaning->rank = rank;
	meaning->bare = bare;
	meaning->rc = 0;
	meaning->line.flush = end_record;
	meaning->line.flush_arg = meaning;
	if (aside_is_below(&meaning->aside, text, size))
		return 0;
	if (!read_box(meaning, text, size) &&
	    !read_member(meaning, text, size) &&
	    read_line(meaning, text, size)) {
		end_record(meaning);
		if (!meaning->line.numbers)
			aside_take_title(&meaning->aside, &meaning->notation,
					 text, size);
	}
	/* What it gave to a box or an object that goes on. */
	if (meaning->box || meaning->members)
		line_forget_text(&meaning->line);
	return meaning->rc;
}
