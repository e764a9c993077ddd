/* line.c - what the numbers of one line mean together.
 */
#include "controller/results/meaning/line.h"

#include "controller/results/meaning/table_rows.h"
#include "controller/results/rules/number.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#define CLOCK_IN 64 /* first bytes of a line, where its clock stands */

static double clock_digits(const char *text, size_t count)
{
	double number = 0;

	for (size_t i = 0; i < count; i++) {
		if (!isdigit((unsigned char)text[i]))
			return NAN;
		number = number * 10 + (text[i] - '0');
	}
	return number;
}

double line_clock(const char *text, size_t size, bool *fraction)
{
	size_t end = size < CLOCK_IN ? size : CLOCK_IN;

	for (size_t i = 0; i + 8 <= end; i++) {
		double h, m, s, part, unit = 0.1;
		size_t at = i + 8;

		if (text[i + 2] != ':' || text[i + 5] != ':' ||
		    (i && isdigit((unsigned char)text[i - 1])))
			continue;
		h = clock_digits(text + i, 2);
		m = clock_digits(text + i + 3, 2);
		s = clock_digits(text + i + 6, 2);
		if (!(h < 24 && m < 60 && s < 61))
			continue;
		/* An estimate of the end, or the length of something. */
		if (i > 4 &&
		    (memmem(text, i, "eta", 3) || memmem(text, i, "ETA", 3)))
			return NAN;
		s += h * 3600 + m * 60;
		if (at + 1 < size && (text[at] == '.' || text[at] == ','))
			for (at++; at < size; at++, unit /= 10) {
				part = clock_digits(text + at, 1);
				if (isnan(part))
					break;
				*fraction = true;
				s += part * unit;
			}
		return s;
	}
	return NAN;
}

#define EXACT_MAX 9007199254740992.0
#define CLOCK_FROM 1e8 /* seconds since 1970, and not of a step */
#define CLOCK_MS_FROM 1e11
#define UNNAMED_RANK 1000 /* behind all names */

void line_begin(struct line_reading *line)
{
	line->unnamed_count = 0;
	line->other = line->section = line->bar = line->drawn = false;
	line->leads = line->nameless = line->loss_next = false;
	line->alone_open = line->parts = line->of_other = false;
	line->evaluates = false;
	line->of_train.has = line->starts = line->percent = false;
	line->trains = false;
	line->numbers = line->bare_times = 0;
	line->alone_count = line->counter_count = 0;
	line->rank = -1;
	for (size_t i = 0; i < LINE_VALUES; i++)
		line->picks[i].has = false;
}

static bool is_whole(double number)
{
	return number >= 0 && number < EXACT_MAX && number == floor(number);
}

/* Of two values the one with the lower rank is kept. */
static unsigned rank_of(const struct notation_item *item)
{
	return item->quantity.known ? item->quantity.rank : UNNAMED_RANK;
}

static void pick_set(struct line_pick *pick, const struct notation_item *item,
		     double number)
{
	pick->has = true;
	pick->rank = rank_of(item);
	pick->number = number;
	pick->total = item->total;
	pick->unit_s = NAN;
	pick->scoped = pick->decimal = pick->label = false;
	pick->role = item->quantity.known ? item->quantity.role : MEANING_ROLES;
	pick->name_size = item->quantity.name_size < LINE_NAME_MAX
				  ? item->quantity.name_size
				  : LINE_NAME_MAX;
	memcpy(pick->name, item->name, pick->name_size);
	pick->text = item->text;
	pick->text_size = item->size;
}

/* Keep the value with the surest name, of equal ones the first that has a
 * total, or the first; NULL: there is a surer one.
 */
static struct line_pick *line_put(struct line_reading *line,
				  enum line_value value,
				  const struct notation_item *item,
				  double number, unsigned rank)
{
	struct line_pick *pick = &line->picks[value];

	if (pick->has && (rank > pick->rank ||
			  (rank == pick->rank &&
			   (isfinite(pick->total) || !isfinite(item->total)))))
		return NULL;
	pick_set(pick, item, number);
	pick->rank = rank;
	return pick;
}

static void line_put_number(struct line_reading *line, enum line_value value,
			    const struct notation_item *item, double number)
{
	line_put(line, value, item, number, rank_of(item));
}

static void put_rate(struct line_reading *line,
		     const struct notation_item *item,
		     const struct quantity_unit *unit, bool device)
{
	bool tokens = unit->kind == QUANTITY_TOKENS_PER_SECOND;
	/* "5092/261 tok/s" is two. */
	bool two = isfinite(item->total);
	double number = item->number * unit->factor;
	enum line_value value =
		two      ? LINE_OPEN_RATE
		: tokens ? (device ? LINE_TOKENS_PER_DEVICE : LINE_TOKENS)
			 : (device ? LINE_SAMPLES_PER_DEVICE : LINE_SAMPLES);
	struct line_pick *pick =
		line_put(line, value, item, unit->inverse ? 1 / number : number,
			 rank_of(item));

	if (!pick)
		return;
	pick->role = two ? ROLE_RATE : tokens ? ROLE_TOKENS : ROLE_SAMPLES;
	pick->scoped = device;
}

/* A number whose unit says what it is. False: it does not. */
static bool put_by_unit(struct line_reading *line,
			const struct notation_item *item,
			const struct quantity_unit *unit, bool device)
{
	double number = item->number * unit->factor;
	struct line_pick *pick = NULL;

	switch (unit->kind) {
	case QUANTITY_SECONDS_PER_STEP:
		pick = line_put(line, LINE_MS, item, number * 1000,
				rank_of(item));
		if (pick)
			pick->role = ROLE_STEP_TIME;
		return true;
	case QUANTITY_STEPS_PER_SECOND:
		/* A printed time has more digits. */
		if (number > 0)
			pick = line_put(line, LINE_MS, item, 1000 / number,
					rank_of(item) + UNNAMED_RANK);
		if (pick)
			pick->role = ROLE_STEPS;
		return true;
	case QUANTITY_PER_DEVICE:
		if (line->picks[LINE_TOKENS].has)
			line_put_number(line, LINE_TOKENS_PER_DEVICE, item,
					number);
		else if (line->picks[LINE_SAMPLES].has)
			line_put_number(line, LINE_SAMPLES_PER_DEVICE, item,
					number);
		return true;
	case QUANTITY_TOKENS_PER_SECOND:
	case QUANTITY_SAMPLES_PER_SECOND:
		put_rate(line, item, unit, device || unit->per_device);
		return true;
	default:
		return false;
	}
}

static void put_open(struct line_reading *line,
		     const struct notation_item *item, enum line_value value,
		     double unit_s)
{
	struct line_pick *pick =
		line_put(line, value, item, item->number, rank_of(item));

	if (pick)
		pick->unit_s = unit_s;
}

static bool item_is_named(const struct notation_item *item, const char *word)
{
	struct table_cell name =
		table_cell_trim(item->name, item->quantity.name_size);

	return name.size == strlen(word) &&
	       !strncasecmp(name.text, word, name.size);
}

static void put_time(struct line_reading *line,
		     const struct notation_item *item,
		     const struct quantity_unit *unit)
{
	bool step = item->quantity.role == ROLE_STEP_TIME;

	/* A time, or what is minimized. */
	if (unit->kind == QUANTITY_PLAIN && item_is_named(item, "cost"))
		line_put(line, LINE_LOSS, item, item->number, QUANTITY_GUESS);

	if (unit->kind == QUANTITY_PLAIN && item->number > CLOCK_FROM)
		line_put_number(line, LINE_CLOCK, item, item->number);
	else if (unit->kind == QUANTITY_SECONDS && step)
		line_put_number(line, LINE_MS, item,
				item->number * unit->factor * 1000);
	else if (unit->kind == QUANTITY_PLAIN || unit->kind == QUANTITY_SECONDS)
		put_open(line, item,
			 step ? LINE_OPEN_STEP_TIME : LINE_OPEN_TIME,
			 unit->kind == QUANTITY_SECONDS ? unit->factor : NAN);
	else
		put_by_unit(line, item, unit, false);
}

/* The roles that are rates by their names. */
static void put_named_rate(struct line_reading *line,
			   const struct notation_item *item,
			   const struct quantity_unit *unit)
{
	static const enum quantity_kind kinds[MEANING_ROLES] = {
		[ROLE_TOKENS] = QUANTITY_TOKENS_PER_SECOND,
		[ROLE_TOKENS_PER_DEVICE] = QUANTITY_TOKENS_PER_SECOND,
		[ROLE_SAMPLES] = QUANTITY_SAMPLES_PER_SECOND,
		[ROLE_STEPS] = QUANTITY_STEPS_PER_SECOND,
	};
	struct quantity_unit own = *unit;
	bool device = item->quantity.role == ROLE_TOKENS_PER_DEVICE ||
		      item->quantity.unit.per_device;

	if (own.kind == QUANTITY_PLAIN)
		own = (struct quantity_unit){
			.kind = kinds[item->quantity.role], .factor = 1
		};
	put_by_unit(line, item, &own, device);
}

/* Memory without a unit: bytes and MiB differ enough from each other and from
 * GiB; between them it stays out.
 */
static void line_put_memory(struct line_reading *line,
			    const struct notation_item *item,
			    const struct quantity_unit *unit)
{
	double number = item->number;
	struct line_pick *pick;

	if (unit->kind == QUANTITY_MEBIBYTES)
		number *= unit->factor;
	else if (number >= 1e8)
		number /= 1048576;
	else if (!(number >= 512 && number < 2e6 && is_whole(number)))
		return;
	pick = number > 0 ? line_put(line, LINE_MEMORY, item, number,
				     rank_of(item))
			  : NULL;
	if (pick)
		pick->decimal = unit->decimal;
}

static void line_put_loss(struct line_reading *line,
			  const struct notation_item *item,
			  const struct quantity_unit *unit)
{
	/* "L=2048" is none. */
	if (unit->kind != QUANTITY_PLAIN ||
	    (item_is_named(item, "l") && !memchr(item->text, '.', item->size)))
		return;
	line->parts |= line->picks[LINE_LOSS].has &&
		       item->quantity.rank == QUANTITY_GUESS;
	line_put_number(line, LINE_LOSS, item, item->number);
}

static void line_put_whole(struct line_reading *line, enum line_value value,
			   const struct notation_item *item,
			   const struct quantity_unit *unit)
{
	if (unit->kind != QUANTITY_PERCENT && is_whole(item->number))
		line_put_number(line, value, item, item->number);
}

static void put_named(struct line_reading *line,
		      const struct notation_item *item)
{
	static const enum line_value values[MEANING_ROLES] = {
		[ROLE_EPOCH] = LINE_EPOCH,
		[ROLE_DATA_TIME] = LINE_DATA_TIME,
		[ROLE_LR] = LINE_LR,
		[ROLE_GRAD_NORM] = LINE_GRAD_NORM,
		[ROLE_ACCURACY] = LINE_ACCURACY,
		[ROLE_GLOBAL_BATCH] = LINE_GLOBAL_BATCH,
		[ROLE_CONSUMED_SAMPLES] = LINE_CONSUMED_SAMPLES,
		[ROLE_CONSUMED_TOKENS] = LINE_CONSUMED_TOKENS,
	};
	const struct quantity_unit *unit = item->unit.kind == QUANTITY_PLAIN
						   ? &item->quantity.unit
						   : &item->unit;
	enum meaning_role role = item->quantity.role;

	switch (role) {
	case ROLE_BATCH:
		/* "[3/90] loss 2.5 batch 16" is the size of one. */
		if (line->picks[LINE_LOSS].has && line->unnamed_count &&
		    isnan(item->total))
			return;
		line_put_whole(line, LINE_BATCH, item, unit);
		return;
	case ROLE_STEP:
		if (unit->kind == QUANTITY_SECONDS)
			line_put_number(line, LINE_MS, item,
					item->number * unit->factor * 1000);
		else
			line_put_whole(line, LINE_STEP, item, unit);
		return;
	case ROLE_STEP_TIME:
	case ROLE_TIME:
		put_time(line, item, unit);
		return;
	case ROLE_RATE:
		if (unit->kind == QUANTITY_PLAIN)
			put_open(line, item, LINE_OPEN_RATE, NAN);
		else
			put_by_unit(line, item, unit,
				    item->quantity.unit.per_device);
		return;
	case ROLE_TOKENS:
	case ROLE_TOKENS_PER_DEVICE:
	case ROLE_SAMPLES:
	case ROLE_STEPS:
		put_named_rate(line, item, unit);
		return;
	case ROLE_MEMORY:
		line_put_memory(line, item, unit);
		return;
	case ROLE_CLOCK:
		if (item->number > CLOCK_FROM)
			line_put_number(line, LINE_CLOCK, item,
					item->number > CLOCK_MS_FROM
						? item->number / 1000
						: item->number);
		return;
	case ROLE_ACCURACY:
		line_put_number(line, LINE_ACCURACY, item, item->number);
		return;
	case ROLE_LOSS:
		line_put_loss(line, item, unit);
		return;
	case ROLE_EPOCH:
		/* "E 3/90", and no energy. */
		if (item->quantity.name_size == 1 && isnan(item->total) &&
		    item->bracket != '[' && !item->closes)
			return;
		/* fallthrough */
	default:
		if (unit->kind == QUANTITY_PLAIN)
			line_put_number(line, values[role], item, item->number);
	}
}

/* "[100] loss=2.5", "[1, 2000] loss: 2.5" */
static void put_alone(struct line_reading *line,
		      const struct notation_item *item)
{
	bool opened = line->alone_open;

	line->alone_open = false;
	if (line->alone_count || !is_whole(item->number))
		return;
	if (opened && !item->bracket && item->closes) {
		pick_set(&line->alone[1], item, item->number);
		line->alone_count = 2;
	} else if (item->bracket == '[') {
		pick_set(&line->alone[0], item, item->number);
		line->alone_count = item->closes;
		line->alone_open = !item->closes && item->begins;
	}
}

bool line_has_place(const struct line_reading *line)
{
	return line->picks[LINE_STEP].has || line->picks[LINE_BATCH].has ||
	       line->unnamed_count || line->picks[LINE_EPOCH].has;
}

/* "| 512.5ms |": a time, but of what? Of two it is none. */
static void put_bare_time(struct line_reading *line,
			  const struct notation_item *item)
{
	struct line_pick *pick = &line->picks[LINE_OPEN_TIME];

	if (line->bare_times++) {
		pick->has &= pick->rank < UNNAMED_RANK;
		return;
	}
	put_open(line, item, LINE_OPEN_TIME, item->unit.factor);
	if (pick->has && pick->rank == UNNAMED_RANK)
		pick->role = ROLE_TIME;
}

/* A number without a name, whose unit or place may say what it is. */
static void put_unnamed(struct line_reading *line,
			const struct notation_item *item)
{
	double number = item->number;
	/* A total that was rounded down is passed by one. */
	bool ratio = isfinite(item->total) && item->number <= item->total + 1;

	/* "Acc: 15.3% (7671/50000)": what the percentage is of. */
	if (ratio && item->bracket == '(' && line->percent)
		return;
	if (item->bar) {
		line->bar = true;
		line->bar_clock = item->clock;
	}
	line->drawn |= item->drawn;
	if (item->unit.kind == QUANTITY_STEPS && is_whole(item->number)) {
		/* "第 10 步", "10it [00:05, ", "100/500 batches" */
		line_put_number(line,
				ratio && !item->bar ? LINE_BATCH : LINE_STEP,
				item, number);
	} else if (item->unit.kind == QUANTITY_EPOCHS) {
		/* Counted as with a name. */
		line_put_number(line, LINE_EPOCH, item, number);
		line->picks[LINE_EPOCH].role = ROLE_EPOCH;
	} else if (item->unit.kind == QUANTITY_SECONDS &&
		   item->unit.factor < 1 && !item->bar &&
		   !item->quantity.name_size) {
		put_bare_time(line, item);
	} else if (item->unit.kind != QUANTITY_PLAIN) {
		put_by_unit(line, item, &item->unit, false);
	} else if (ratio && item->share && item->bracket) {
		line_put_number(line, LINE_SAMPLES_DONE, item, number);
	} else if (ratio && is_whole(item->number) && is_whole(item->total) &&
		   (item->bracket || item->bar || item->begins || item->heads ||
		    item->quantity.train) &&
		   line->unnamed_count < 2) {
		line->leads |= item->bracket == '(' && !line_has_place(line);
		line->nameless |= line->picks[LINE_LOSS].has && !item->bar;
		pick_set(&line->unnamed[line->unnamed_count++], item, number);
	} else if (isnan(item->total)) {
		put_alone(line, item);
	}
}

/* A number that may count the steps. */
static void put_counter(struct line_reading *line,
			const struct notation_item *item)
{
	double printed = NAN;

	if (!is_whole(item->number) || item->quantity.measure ||
	    item->unit.kind != QUANTITY_PLAIN || item->bar || item->share ||
	    line->counter_count == LINE_COUNTERS)
		return;
	number_read(item->text, item->size, &printed);
	/* "10." is one, "10.0" is none. */
	if (printed == item->number &&
	    memchr(item->text, '.', item->size - item->begins))
		return;
	pick_set(&line->counters[line->counter_count++], item, item->number);
}

void line_put_label(struct line_reading *line)
{
	static const char name[] = "(label)";
	size_t last = line->counter_count < LINE_COUNTERS
			      ? line->counter_count++
			      : LINE_COUNTERS - 1;
	struct line_pick *pick = &line->counters[last];

	*pick = (struct line_pick){
		.has = true,
		.rank = UNNAMED_RANK,
		.number = (double)line->rank,
		.total = NAN,
		.unit_s = NAN,
		.label = true,
		.name_size = sizeof(name) - 1,
		.role = MEANING_ROLES,
	};
	memcpy(pick->name, name, pick->name_size);
}

/* Another bar begins in the line. */
static void next_bar(struct line_reading *line)
{
	if (line_measures(line) && line->flush) {
		line->flush(line->flush_arg);
		line_begin(line);
		return;
	}
	/* It replaces the one before. */
	line->unnamed_count = 0;
	line->picks[LINE_MS].has = false;
}

/* "step: 10 loss: 2.5step: 11": the line ends of the log are lost. */
static bool begins_again(const struct line_reading *line,
			 const struct notation_item *item)
{
	bool epoch = item->quantity.role == ROLE_EPOCH;
	const struct line_pick *step =
		&line->picks[epoch ? LINE_EPOCH : LINE_STEP];

	return item->quantity.known && !item->quantity.other &&
	       (epoch || item->quantity.role == ROLE_STEP) && step->has &&
	       line->picks[LINE_LOSS].has && step->number != item->number &&
	       step->name_size == item->quantity.name_size &&
	       !memcmp(step->name, item->name, step->name_size);
}

/* "loss[10] = 2.5": what stands in brackets behind the name is its place. */
static bool item_is_index(const struct notation_item *item)
{
	return item->quantity.known && item->quantity.role == ROLE_LOSS &&
	       item->bracket == '[' && item->closes && is_whole(item->number) &&
	       item->text[-1] == '[' && isalpha((unsigned char)item->text[-2]);
}

/* "rank=3", and no rank of a matrix. */
static bool item_names_rank(const struct notation_item *item)
{
	size_t size = item->quantity.name_size;
	const char *name = item->name;

	return size >= 4 && !memcmp(name + size - 4, "rank", 4) &&
	       (size == 4 || name[size - 5] == ' ' || name[size - 5] == '\t' ||
		(size == 11 && !memcmp(name, "global_", 7))) &&
	       !(size > 8 && !strncasecmp(name + size - 9, "lora", 4));
}

void line_take(const struct notation_item *item, void *arg)
{
	struct line_reading *line = arg;
	const struct quantity *quantity = &item->quantity;

	if (line->flush && (item->glued || begins_again(line, item))) {
		line->flush(line->flush_arg);
		line_begin(line);
	}
	line->starts |= !line->numbers && item->begins &&
			!item->quantity.known && is_whole(item->number);
	line->numbers++;
	if (item_names_rank(item) && is_whole(item->number) &&
	    item->number < UINT32_MAX) {
		line->rank = (int64_t)item->number;
		return;
	}
	if (quantity->train) {
		line->section = false;
		line->trains = true;
	}
	/* "Val 3/90: 80%|#| 16/20 [" */
	if (quantity->section || (quantity->other && item->heads))
		line->section = true;
	if (quantity->other || line->section) {
		line->evaluates = true;
		line->of_other |= !quantity->known;
		/* "Validation step 10", "Test: [ 10/500]" */
		line->other |=
			!line_has_place(line) && !line->picks[LINE_LOSS].has &&
			!line->of_train.has &&
			!(line->alone_count && quantity->role == ROLE_LOSS);
		return;
	}
	if (item->bar && !quantity->known && line->bar && line->unnamed_count)
		next_bar(line);
	if (item_is_index(item)) {
		put_alone(line, item);
		line->loss_next = true;
		return;
	}
	if (line->loss_next && quantity->empty)
		line_put_number(line, LINE_LOSS, item, item->number);
	else if (quantity->known)
		put_named(line, item);
	else if (quantity->empty)
		put_unnamed(line, item);
	else if (item->unit.kind == QUANTITY_PLAIN)
		/* "thr [tok/s]" */
		put_by_unit(line, item, &quantity->unit, false);
	if (!quantity->known)
		put_counter(line, item);
	if (quantity->empty && quantity->train && !line->of_train.has &&
	    item->unit.kind == QUANTITY_PLAIN &&
	    memchr(item->text, '.', item->size))
		pick_set(&line->of_train, item, item->number);
	line->loss_next = quantity->of_loss;
	line->percent = item->unit.kind == QUANTITY_PERCENT;
}

static void note_point(struct line_pick *epoch)
{
	if (epoch->has && memchr(epoch->text, '.', epoch->text_size))
		epoch->decimal = true;
}

static void picks_forget_text(struct line_pick *picks, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		picks[i].text = "";
		picks[i].text_size = 0;
	}
}

void line_forget_text(struct line_reading *line)
{
	note_point(&line->picks[LINE_EPOCH]);
	picks_forget_text(line->picks, LINE_VALUES);
	picks_forget_text(line->unnamed, 2);
	picks_forget_text(line->alone, 2);
	picks_forget_text(line->counters, LINE_COUNTERS);
	picks_forget_text(&line->of_train, 1);
}

/* "[1/30] iter: 100/300": is the first ratio the epoch of the step? */
static bool leads_epoch(const struct line_reading *line)
{
	const struct line_pick *step = line->picks[LINE_STEP].has
					       ? &line->picks[LINE_STEP]
					       : &line->picks[LINE_BATCH];
	const struct line_pick *first = &line->unnamed[0];

	return isfinite(step->total) && step->total != first->total &&
	       step->text > first->text && first->number >= 1 && !line->bar;
}

/* The ratios or numbers in brackets are "[epoch][step]", or the step alone. */
void line_end(struct line_reading *line)
{
	bool epoch = line->picks[LINE_EPOCH].has;
	size_t count = line->unnamed_count;
	const struct line_pick *ratios = line->unnamed;
	struct line_pick *done = &line->picks[LINE_SAMPLES_DONE];

	note_point(&line->picks[LINE_EPOCH]);
	if (line->parts && !line_loss_is_sure(line))
		line->picks[LINE_LOSS].has = false;
	/* "[2/60] train 1.71 valid 1.80", "20 train 1.71" */
	if (!line->picks[LINE_LOSS].has && line->of_train.has && !line->parts &&
	    (line->of_other || (line->numbers == 2 && line->starts)))
		line->picks[LINE_LOSS] = line->of_train;
	if (line->picks[LINE_LOSS].has &&
	    line->picks[LINE_LOSS].text == line->picks[LINE_OPEN_TIME].text)
		line->picks[LINE_OPEN_TIME].has = false;
	/* A bar that stands beside the step's own time. */
	if (line->bar && line->picks[LINE_OPEN_STEP_TIME].has)
		line->picks[LINE_MS].has = false;
	/* "Train: 0 [ 50/499 (10%)]" counts steps. */
	if (done->has && !epoch) {
		line->picks[LINE_BATCH] = *done;
		done->has = false;
	}
	if (line->picks[LINE_STEP].has || line->picks[LINE_BATCH].has) {
		if (line->leads && epoch)
			line->rank = (int64_t)line->unnamed[0].number;
		else if (!epoch && count == 1 && leads_epoch(line)) {
			line->picks[LINE_EPOCH] = ratios[0];
			line->picks[LINE_EPOCH].role = ROLE_EPOCH;
		}
		line->nameless = false;
		return;
	}
	if (!count && line->alone_count) {
		ratios = line->alone;
		count = line->alone_count;
		line->nameless = true;
	}
	if (!count)
		return;
	if (count == 2 && !epoch) {
		line->picks[LINE_EPOCH] = ratios[0];
		/* "3/90: 5%|#| 7/40 [": counted as with a name. */
		if (line->bar)
			line->picks[LINE_EPOCH].role = ROLE_EPOCH;
	}
	line->picks[count == 2 || epoch || line->bar ? LINE_BATCH : LINE_STEP] =
		ratios[count - 1];
}

bool line_names_step(const struct line_reading *line)
{
	return line->picks[LINE_STEP].has &&
	       line->picks[LINE_STEP].rank < UNNAMED_RANK;
}

bool line_step_is_over_all(const struct line_reading *line)
{
	const struct line_pick *step = &line->picks[LINE_STEP];
	size_t count = line->unnamed_count;

	return step->has && isnan(step->total) && count &&
	       step->number > line->unnamed[count - 1].total + 1;
}

bool line_counts_epochs(const struct line_reading *line)
{
	const struct line_pick *epoch = &line->picks[LINE_EPOCH];
	struct table_cell name = table_cell_trim(epoch->name, epoch->name_size);

	return epoch->has && isnan(epoch->total) && name.size > 1 &&
	       (name.text[name.size - 1] | ' ') == 's';
}

bool line_bar_is_empty(const struct line_reading *line)
{
	return line->bar && !line_names_step(line) && line->unnamed_count &&
	       line->unnamed[line->unnamed_count - 1].number == 0;
}

bool line_loss_is_sure(const struct line_reading *line)
{
	return line->picks[LINE_LOSS].has &&
	       line->picks[LINE_LOSS].rank < QUANTITY_GUESS;
}

bool line_has_any(const struct line_reading *line)
{
	for (size_t i = LINE_LOSS; i < LINE_VALUES; i++)
		if (line->picks[i].has)
			return true;
	return false;
}

bool line_has_rate(const struct line_reading *line)
{
	for (size_t i = LINE_MS; i <= LINE_SAMPLES_PER_DEVICE; i++)
		if (line->picks[i].has)
			return true;
	return line->picks[LINE_OPEN_TIME].has &&
	       line->picks[LINE_DATA_TIME].has;
}

bool line_measures(const struct line_reading *line)
{
	if (line->picks[LINE_LOSS].has)
		return true;
	/* Parts of one tell nothing without a place. */
	if (line->parts &&
	    (line->picks[LINE_EPOCH].has || line->picks[LINE_STEP].has ||
	     line->picks[LINE_BATCH].has))
		return true;
	/* Any bar has the rate of its own items. */
	if ((line->bar || line->drawn) && !line_names_step(line))
		return false;
	return line_has_rate(line);
}
