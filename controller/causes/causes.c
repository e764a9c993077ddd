/* causes.c - finds in the output of a program why it failed. */
#include "controller/causes/causes_internal.h"

#include "controller/causes/words.h"

#include <string.h>

#define SPEAKER_REACH 60 /* lines between a rank's name and its exception */
#define FAULT_TIERS 4
#define FAULT_CERTAIN 5 /* of a line that tells of a failure */
#define NEXT_JOB 8      /* lines of progress behind the end of one */
#define NOISE_TIMES 2   /* that an error was survived: it ends nothing */

/* An exception without a type name. */
static const struct failure_meaning untyped = {
	.class = CAUSE_ERROR,
	.order = 39,
	.traceback = true,
	.read = true,
};

static void causes_forget(struct causes *causes)
{
	for (size_t i = 0; i < causes->count; i++)
		free(causes->all[i].line);
	causes->count = 0;
	causes->worst_order = 0;
	causes->unfinished = NULL;
	traceback_forget(&causes->traceback);
	causes->progress = causes->alive = causes->gave_up = 0;
	causes->grown = 0;
	causes->first_cause = 0;
	causes->ended = 0;
	process_ends_init(&causes->ends);
}

void causes_free(struct causes *causes)
{
	if (!causes)
		return;
	causes_forget(causes);
	buffer_clear(&causes->partial);
	buffer_clear(&causes->before);
	traceback_clear(&causes->traceback);
	prefixes_free(causes->prefixes);
	free(causes);
}

static bool causes_find_hit(struct causes *causes, enum failure_kind kind,
			    const struct cause_line *line,
			    struct failure_hit *hit)
{
	return failure_patterns_find(causes->patterns, kind, &line->pairs,
				     line->text, line->size, false, hit);
}

/* The last cause of the highest order. */
static size_t cause_worst(const struct causes *causes)
{
	size_t worst = 0;

	for (size_t i = 1; i < causes->count; i++)
		if (causes->all[i].meaning->order >=
		    causes->all[worst].meaning->order)
			worst = i;
	return worst;
}

/* The place of the next cause. If all are taken, the cause with the highest
 * order is replaced, the last one of several, unless it is better than the new
 * one. A text of nothing but failures comes here with each.
 */
static struct cause *cause_place(struct causes *causes, uint32_t order)
{
	size_t place = CAUSES_MAX - 1;

	if (causes->count < CAUSES_MAX) {
		if (order > causes->worst_order)
			causes->worst_order = order;
		return &causes->all[causes->count++];
	}
	if (order < causes->worst_order) {
		place = cause_worst(causes);
		causes->worst_order = causes->all[place].meaning->order;
		if (order >= causes->worst_order)
			place = CAUSES_MAX - 1;
	}
	if (order > causes->all[place].meaning->order)
		return NULL;
	free(causes->all[place].line);
	return &causes->all[place];
}

static int64_t causes_find_rank(const struct causes *causes,
				const struct failure_hit *hit,
				const struct cause_line *line)
{
	int64_t rank = hit_number(hit, GROUP_RANK, END_UNKNOWN);

	if (rank == END_UNKNOWN && !hit->meaning->blameless) {
		rank = line->rank;
		if (rank == END_UNKNOWN &&
		    causes->number - causes->spoken <= SPEAKER_REACH)
			rank = causes->speaker;
	}
	return rank;
}

/* An exception without its traceback has the class of one with it; else its
 * words say the class.
 */
static enum causes_class cause_class(struct causes *causes,
				     const struct failure_hit *hit,
				     const struct cause_line *line)
{
	const struct failure_meaning *meaning = hit->meaning;
	struct failure_hit traced;

	if (meaning->exception &&
	    failure_patterns_find(causes->patterns, FAILURE_CAUSE, &line->pairs,
				  line->text, line->size, true, &traced))
		meaning = traced.meaning;
	if (!meaning->read)
		return meaning->class;
	return words_class(failure_patterns_words(causes->patterns), line->text,
			   line->size);
}

/* Quote the line before instead: "giving up" says not why. */
static int cause_quote_before(struct causes *causes, struct cause *cause)
{
	const struct buffer *before = &causes->before;
	struct failure_hit hit;
	char *text;

	if (!cause->meaning->before || !before->size ||
	    failure_patterns_find(causes->patterns, FAILURE_PROGRESS, NULL,
				  before->data, before->size, false, &hit))
		return 0;
	text = cause_line_quoted(before->data, before->size);
	if (!text)
		return -1;
	free(cause->line);
	cause->line = text;
	cause->line_number = causes->before_number;
	cause->offset = causes->before_offset;
	return 0;
}

/* Errors without many other lines between them follow from the first. */
static void cause_join_burst(struct causes *causes, struct cause *cause)
{
	if (!causes->burst ||
	    causes->neutral - causes->burst_neutral > BURST_GAP)
		causes->burst++;
	causes->burst_neutral = causes->neutral;
	cause->burst = causes->burst;
}

static void cause_drop(struct causes *causes, size_t at)
{
	free(causes->all[at].line);
	causes->all[at] = causes->all[--causes->count];
}

/* What it explains, or what only announced it, is no cause of its own. */
static void cause_drop_effect(struct causes *causes,
			      const struct failure_meaning *meaning)
{
	for (size_t i = 0; i < causes->count; i++) {
		const struct cause *cause = &causes->all[i];

		if (cause->line_number != causes->column ||
		    !(meaning->root ? cause->meaning->read
				    : cause->shape && meaning->exception))
			continue;
		cause_drop(causes, i);
		return;
	}
}

/* "_queue.Empty", and then an exception that followed from it: what has no
 * message says less than the next one.
 */
static void cause_drop_bare(struct causes *causes,
			    const struct cause_line *line)
{
	if (!cause_line_has(line, " the above exception, another ") &&
	    !cause_line_has(line, "The above exception was the direct cause"))
		return;
	for (size_t i = causes->count; i--;)
		if (causes->all[i].meaning->traceback &&
		    causes->all[i].line_number > causes->traceback.begun &&
		    !strchr(causes->all[i].line, ' '))
			cause_drop(causes, i);
}

/* The traceback has a line with a type, "RuntimeError: ": what was taken for
 * one without was a part of it that a narrow console had broken.
 */
static void cause_drop_untyped(struct causes *causes,
			       const struct cause_line *line)
{
	const char *colon = memchr(line->text, ':', line->size);
	size_t size = colon ? (size_t)(colon - line->text) : 0;

	if (size < 6 || memchr(line->text, ' ', size) ||
	    (memcmp(colon - 5, "Error", 5) != 0 &&
	     (size < 9 || memcmp(colon - 9, "Exception", 9) != 0)))
		return;
	for (size_t i = causes->count; i--;)
		if (causes->all[i].meaning == &untyped &&
		    causes->all[i].line_number > causes->traceback.begun)
			cause_drop(causes, i);
}

/* Its name or its number. */
static void cause_take_signal(struct cause *cause,
			      const struct failure_hit *hit)
{
	int64_t number = hit_number(hit, GROUP_SIGNAL, 0);
	const char *name =
		number ? causes_signal_name(number) : hit->meaning->signal;
	size_t size = hit->groups[GROUP_SIGNAL].size;

	if (number || !hit->groups[GROUP_SIGNAL].text)
		snprintf(cause->signal, sizeof(cause->signal), "%s", name);
	else
		snprintf(cause->signal, sizeof(cause->signal), "%.*s",
			 (int)size, hit->groups[GROUP_SIGNAL].text);
}

static int take_cause(struct causes *causes, const struct failure_hit *hit,
		      const struct cause_line *line)
{
	char *text = cause_line_quoted(line->text, line->size);
	struct cause *cause;
	const char *host = hit->groups[GROUP_HOST].text;
	size_t host_size = hit->groups[GROUP_HOST].size;

	if (!text)
		return -1;
	if (hit->meaning->root || hit->meaning->exception)
		cause_drop_effect(causes, hit->meaning);
	cause = cause_place(causes, hit->meaning->order);
	if (!cause) {
		free(text);
		return 0;
	}
	if (!causes->first_cause)
		causes->first_cause = causes->number;
	*cause = (struct cause){
		.class = cause_class(causes, hit, line),
		.rank = causes_find_rank(causes, hit, line),
		.line = text,
		.line_number = causes->number,
		.offset = causes->offset,
		.meaning = hit->meaning,
		.progress = causes->progress,
		.alive = causes->alive,
		.grown = causes->grown,
		.neutral = causes->neutral,
		.local_rank = hit_number(hit, GROUP_LOCAL_RANK, END_UNKNOWN),
		.exit_code = (int32_t)hit_number(hit, GROUP_EXIT_CODE,
						 END_CODE_UNKNOWN),
	};
	if (hit->meaning->read && !hit->meaning->traceback &&
	    !hit->meaning->soft)
		cause_join_burst(causes, cause);
	if (!host) {
		host = line->host;
		host_size = line->host_size;
	}
	if (host)
		snprintf(cause->host, sizeof(cause->host), "%.*s",
			 (int)host_size, host);
	cause_take_signal(cause, hit);
	/* "  traceback : Signal 9 ...", of the process that a report names. */
	if (*cause->signal && causes->ends.count && cause_line_indented(line))
		cause->quoted = &causes->ends.entries[causes->ends.count - 1];
	if (hit->meaning->ends && !causes_before(causes, hit->meaning->order))
		causes->ended = causes->progress + 1;
	/* "RuntimeError:" and the text in the next line. */
	causes->unfinished =
		hit->meaning->traceback && line->size &&
				!memchr(line->text, ' ', line->size) &&
				line->text[line->size - 1] == ':'
			? cause
			: NULL;
	return cause_quote_before(causes, cause);
}

/* Does it follow from an exception that the program did not survive? */
static bool teardown_follows(const struct causes *causes,
			     const struct failure_hit *hit)
{
	for (size_t i = 0; hit->meaning->teardown && i < causes->count; i++) {
		const struct cause *cause = &causes->all[i];

		if (!cause->meaning->final && !cause->meaning->teardown &&
		    cause->class != CAUSE_COMMUNICATION &&
		    cause->progress == causes->progress)
			return true;
	}
	return false;
}

/* The text of a program's help, up to the next line that begins in column 0,
 * but for the titles of its parts.
 */
static bool causes_in_help(struct causes *causes, const struct cause_line *line)
{
	if (line->size > 6 && !memcmp(line->text, "usage:", 6))
		causes->help = true;
	else if (causes->help && !cause_line_indented(line) &&
		 (line->text[line->size - 1] != ':' ||
		  cause_line_has(line, ": error: ")))
		causes->help = false;
	return causes->help;
}

/* Did the program go on after such an error before? */
static bool causes_is_noise(const struct causes *causes, uint64_t shape)
{
	size_t times = 0;

	for (size_t i = 0; i < causes->count; i++)
		times += causes->all[i].shape == shape &&
			 causes->all[i].progress < causes->progress;
	return times >= NOISE_TIMES;
}

#define READ(number, ...)                                                      \
	{                                                                      \
		.class = CAUSE_ERROR, .order = number, .read = true,           \
		__VA_ARGS__                                                    \
	}

/* What says less has to be at the end of the output. */
static const struct failure_meaning *meaning_of_words(int fault, bool ends,
						      enum causes_class class)
{
	static const struct failure_meaning meanings[FAULT_TIERS + 1][2] = {
		{ READ(53, .resigns = true),
		  READ(64, .resigns = true, .blameless = true) },
		{ READ(64), READ(64, .blameless = true) },
		{ READ(66, .last = true),
		  READ(66, .last = true, .blameless = true) },
		{ READ(67, .last = true),
		  READ(67, .last = true, .blameless = true) },
		{ READ(71, .last = true, .soft = true),
		  READ(71, .last = true, .soft = true, .blameless = true) },
	};
	int tier = fault < FAULT_CERTAIN ? FAULT_CERTAIN - fault + 1 : !ends;

	return &meanings[tier][class == CAUSE_COMMUNICATION];
}

/* What no pattern knows is read by its words. */
static int causes_read_line(struct causes *causes,
			    const struct cause_line *line)
{
	struct failure_hit hit = { 0 };
	uint64_t shape;
	const struct words *words = failure_patterns_words(causes->patterns);
	struct words_found found;
	int fault = words_fault(words, line->text, line->size, &found);

	causes->neutral += !found.said;
	if (fault > FAULT_CERTAIN - FAULT_TIERS)
		hit.meaning = meaning_of_words(fault, found.ends,
					       words_class(words, line->text,
							   line->size));
	/* "--on-error WORD" is of a help text. */
	if (!hit.meaning ||
	    (line->size > 1 && *line->text == '-' && line->text[1] != ' ')) {
		causes->plain = true;
		return 0;
	}
	causes->plain = hit.meaning->soft;
	shape = cause_line_shape(line);
	if (causes_is_noise(causes, shape))
		return 0;
	if (take_cause(causes, &hit, line) < 0)
		return -1;
	for (size_t i = causes->count; i--;)
		if (causes->all[i].line_number == causes->number) {
			causes->all[i].shape = shape;
			break;
		}
	return 0;
}

/* The text of an exception is in the line after its type. */
static int finish_cause(struct causes *causes, const struct cause_line *line)
{
	struct cause *cause = causes->unfinished;
	struct failure_hit hit;
	char *text;

	causes->unfinished = NULL;
	if (cause_line_indented(line) || line->text[0] == '-' ||
	    line->text[0] == '=' ||
	    cause_line_has(line, "Traceback (most recent call last)"))
		return 0;
	text = cause_line_quoted(line->text, line->size);
	if (!text)
		return -1;
	free(cause->line);
	cause->line = text;
	cause->line_number = causes->number;
	cause->offset = causes->offset;
	if (causes_find_hit(causes, FAILURE_CAUSE, line, &hit) &&
	    !hit.meaning->read && hit.meaning->order <= cause->meaning->order)
		cause->class = hit.meaning->class;
	return 0;
}

/* An exception that only the launcher's report has. */
static int take_reported(struct causes *causes, const struct cause_line *line,
			 const struct process_end *end)
{
	struct failure_hit hit;

	if (!failure_patterns_find(causes->patterns, FAILURE_CAUSE,
				   &line->pairs, line->text, line->size, true,
				   &hit) ||
	    !hit.meaning->traceback)
		return 0;
	if (take_cause(causes, &hit, line) < 0)
		return -1;
	for (size_t i = 0; i < causes->count; i++)
		if (causes->all[i].line_number == causes->number) {
			causes->all[i].quoted = end;
			causes->all[i].reported = true;
		}
	return 0;
}

/* torchrun quotes the exception of each process, indented by two spaces. Of
 * processes that failed within one second it calls any the first.
 */
static int take_quote(struct causes *causes, const struct cause_line *line,
		      bool reach)
{
	const struct process_ends *ends = &causes->ends;
	struct cause_line quote = *line;
	const struct process_end *end;
	bool known = false;

	if (!ends->count || line->size < 3 ||
	    memcmp(line->text, "  ", 2) != 0 || line->text[2] == ' ')
		return 0;
	quote.text += 2;
	quote.size -= 2;
	quote.host = NULL;
	end = &ends->entries[ends->count - 1];
	for (size_t i = 0; i < causes->count; i++) {
		struct cause *cause = &causes->all[i];

		if (strncmp(cause->line, quote.text, quote.size) != 0 ||
		    cause->line[quote.size])
			continue;
		known = true;
		if (!cause->quoted || end->root)
			cause->quoted = end;
	}
	quote.rank = end->rank;
	return known || !reach ? 0 : take_reported(causes, &quote, end);
}

static void take_fact(struct causes *causes, const struct cause_line *line)
{
	struct failure_hit hit;
	int64_t speaker;

	if (!causes_find_hit(causes, FAILURE_FACT, line, &hit))
		return;
	if (hit.meaning->begins)
		causes_forget(causes);
	if (hit.meaning->gives_up)
		causes->gave_up = causes->progress + 1;
	speaker = hit_number(&hit, GROUP_SPEAKER, END_UNKNOWN);
	if (speaker != END_UNKNOWN) {
		causes->speaker = speaker;
		causes->spoken = causes->number;
	}
	process_ends_take(&causes->ends, &hit);
}

/* Do the larger numbers only count processes or devices? */
static bool line_counts_ranks(const struct cause_line *line)
{
	static const char *const names[] = { "rank", "Rank",  "node", "Node",
					     "work", "Work",  "proc", "Proc",
					     "PID",  "pid",   "GPU",  "gpu",
					     "NPU",  "evice", "card", "hread",
					     "host", "hard" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (cause_line_has(line, names[i]))
			return true;
	return false;
}

/* So much progress is no teardown, but that of the next job. */
static void causes_progress(struct causes *causes)
{
	causes->progress++;
	if (causes->progress > causes->ended + NEXT_JOB)
		causes->ended = 0;
}

/* Count a line that is a sign of life. Progress before the first cause does not
 * count; a bar is drawn once more at its end.
 */
static bool causes_goes_on(struct causes *causes, const struct cause_line *line)
{
	bool bar = cause_line_has(line, "%|");
	struct failure_hit hit;
	uint64_t since = 0;
	uint64_t times = repeated_lines_take(&causes->repeated, causes->number,
					     line->text, line->size, &since);
	bool grown = times && !bar && !line_counts_ranks(line);

	causes->repeats = times != 0;
	if (!causes->count && !causes->gave_up)
		return false;
	if (grown ||
	    (!bar && causes_find_hit(causes, FAILURE_PROGRESS, line, &hit)))
		causes_progress(causes);
	else if (!times && !causes_find_hit(causes, FAILURE_ALIVE, line, &hit))
		return false;
	/* The first line of a kind shows itself by the second. */
	causes->alive += times == 1 && since > causes->first_cause ? 2 : 1;
	causes->grown += grown;
	return true;
}

/* An exception that tells of a peer comes after those of the peer itself. */
static void hit_read_peer(struct causes *causes, const struct cause_line *line,
			  struct failure_hit *hit)
{
	static const struct failure_meaning peer = {
		.class = CAUSE_COMMUNICATION,
		.order = 51,
		.traceback = true,
		.blameless = true,
		.read = true,
	};

	if (cause_class(causes, hit, line) == CAUSE_COMMUNICATION)
		hit->meaning = &peer;
}

static int causes_take_line(struct causes *causes, struct cause_line *line)
{
	struct traceback *traceback = &causes->traceback;
	bool reach = traceback_reaches(traceback, line), inside;
	struct failure_hit hit;

	if (!line->size)
		return 0;
	line_pairs_read(&line->pairs, line->text, line->size);
	if (traceback_cut_head(traceback, line) < 0)
		return -1;
	take_fact(causes, line);
	if (causes_in_help(causes, line))
		return 0;
	if (take_quote(causes, line, reach) < 0)
		return -1;
	if (causes->unfinished && finish_cause(causes, line) < 0)
		return -1;
	cause_drop_bare(causes, line);
	inside = traceback_takes(traceback, line);
	if (traceback_sets_aside(traceback, line, inside, reach))
		return 0;
	if (causes_find_hit(causes, FAILURE_IGNORE, line, &hit))
		return 0;
	/* The source line of a frame is no message. */
	if (inside && reach && cause_line_has(line, "raise "))
		return 0;
	if (failure_patterns_find(causes->patterns, FAILURE_CAUSE, &line->pairs,
				  line->text, line->size, reach && !inside,
				  &hit)) {
		if (reach && !inside) {
			traceback->raised = line->number;
			cause_drop_untyped(causes, line);
		}
		if (hit.meaning->traceback && hit.meaning->read)
			hit_read_peer(causes, line, &hit);
		return causes->ended || teardown_follows(causes, &hit)
			       ? 0
			       : take_cause(causes, &hit, line);
	}
	/* A line of the traceback itself. */
	if (traceback->frame == line->number || causes_goes_on(causes, line) ||
	    inside || causes->ended)
		return 0;
	if (traceback_lacks_type(traceback, line)) {
		hit = (struct failure_hit){ .meaning = &untyped };
		return take_cause(causes, &hit, line);
	}
	return causes->repeats ? 0 : causes_read_line(causes, line);
}

/* Keep the line that was read for the next one. */
static void causes_keep_before(struct causes *causes, size_t size)
{
	struct buffer read = causes->partial;

	causes->partial = causes->before;
	causes->before = read;
	causes->before.size = causes->plain ? size : 0;
	causes->before_number = causes->number;
	causes->before_offset = causes->offset;
	causes->plain = false;
}

/* Read the line that ends here. */
static int causes_end_line(struct causes *causes, bool newline)
{
	struct cause_line line = {
		.text = causes->partial.data,
		.rank = causes->origin.rank,
		.host = causes->origin.host,
		.host_size = causes->origin.host_size,
	};
	bool column;
	int rc = 0;

	line.number = causes->number += causes->begun;
	if (causes->partial.size) {
		line.size = cause_line_plain(causes->partial.data,
					     causes->partial.size);
		column = line.size && !cause_line_indented(&line);
		rc = causes_take_line(causes, &line);
		if (column)
			causes->column = causes->number;
		causes_keep_before(causes, line.size);
		/* The memory stays for the next line. */
		causes->partial.size = 0;
	}
	causes->begun = newline;
	causes->offset = causes->fed;
	if (newline)
		causes->origin = (struct line_origin){ .rank = END_UNKNOWN };
	return rc;
}

/* What the prefixes of the next line tell. */
static void causes_take_origin(struct causes *causes,
			       const struct prefix_run *run)
{
	causes->fed = run->offset;
	if (!run->begins)
		return;
	causes->offset = run->line_offset;
	causes->number = run->line - 1;
	causes->begun = true;
	causes->origin = run->origin;
	if (!run->origin.host)
		return;
	if (causes->origin.host_size >= sizeof(causes->host))
		causes->origin.host_size = sizeof(causes->host) - 1;
	memcpy(causes->host, run->origin.host, causes->origin.host_size);
	causes->origin.host = causes->host;
}

/* prefix_fn */
static int causes_take_run(const struct prefix_run *run, void *arg)
{
	struct causes *causes = arg;
	const char *at = run->text, *end = at + run->size;

	causes_take_origin(causes, run);
	while (at < end) {
		const char *stop = at;
		size_t room = FAILURE_LINE_MAX - causes->partial.size;
		size_t length;

		while (stop < end && *stop != '\n' && *stop != '\r')
			stop++;
		length = (size_t)(stop - at);
		causes->fed += length;
		if (buffer_append(&causes->partial, at,
				  length < room ? length : room, NULL) < 0)
			return -1;
		if (stop == end)
			return 0;
		causes->fed++;
		if (causes_end_line(causes, *stop == '\n') < 0)
			return -1;
		at = stop + 1;
	}
	return 0;
}

struct causes *causes_new(struct failure_patterns *patterns, struct error *err)
{
	owned(causes_free) struct causes *causes = calloc(1, sizeof(*causes));

	if (!causes)
		return error_null(error_nomem(err, "causes"));
	causes->patterns = patterns;
	causes->speaker = END_UNKNOWN;
	causes->origin.rank = END_UNKNOWN;
	buffer_init(&causes->partial, FAILURE_LINE_MAX);
	buffer_init(&causes->before, FAILURE_LINE_MAX);
	traceback_init(&causes->traceback);
	process_ends_init(&causes->ends);
	causes->prefixes = prefixes_new(causes_take_run, causes, err);
	return causes->prefixes ? take(causes) : NULL;
}

int causes_feed(struct causes *causes, const void *data, size_t size,
		struct error *err)
{
	return prefixes_feed(causes->prefixes, data, size) < 0
		       ? error_nomem(err, "causes")
		       : 0;
}

int causes_finish(struct causes *causes, struct error *err)
{
	return prefixes_finish(causes->prefixes) < 0 ||
			       causes_end_line(causes, false) < 0
		       ? error_nomem(err, "causes")
		       : 0;
}

bool causes_gave_up(const struct causes *causes)
{
	return causes->gave_up && causes->gave_up > causes->progress;
}

const struct process_ends *causes_ends(const struct causes *causes)
{
	return &causes->ends;
}
