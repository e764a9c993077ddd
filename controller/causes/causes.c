/* causes.c - finds in the output of a program why it failed. */
#include "controller/causes/causes_internal.h"

#include "controller/causes/words.h"
#include "protocol/base/utf8.h"

#include <string.h>

#define TRACEBACK_REACH 8 /* lines between a frame and its exception */
#define RAISED_REACH 4    /* lines that an exception may have */
#define SPEAKER_REACH 60  /* lines between a rank's name and its exception */
#define HEAD_MAX 160      /* bytes before "Traceback" in its line */
#define BURST_GAP 20      /* neutral lines that part bursts of errors */
#define FAULT_TIERS 4
#define FAULT_CERTAIN 5 /* of a line that tells of a failure */
#define NOISE_TIMES 2   /* that an error was survived: it ends nothing */

static void causes_forget(struct causes *causes)
{
	for (size_t i = 0; i < causes->count; i++)
		free(causes->all[i].line);
	causes->count = 0;
	causes->worst_order = 0;
	causes->unfinished = NULL;
	causes->frame = causes->raised = 0;
	causes->progress = causes->alive = causes->gave_up = 0;
	causes->grown = 0;
	causes->aside = causes->first_cause = 0;
	causes->ended = false;
	process_ends_init(&causes->ends);
}

void causes_free(struct causes *causes)
{
	if (!causes)
		return;
	causes_forget(causes);
	buffer_clear(&causes->partial);
	buffer_clear(&causes->before);
	buffer_clear(&causes->head);
	prefixes_free(causes->prefixes);
	free(causes);
}

/* Remove colours and other terminal escapes in place. */
static size_t without_escapes(char *text, size_t size)
{
	size_t to = 0, plain = 0;

	while (plain < size && (unsigned char)text[plain] >= ' ')
		plain++;
	to = plain;
	for (size_t i = plain; i < size; i++) {
		if (text[i] != '\033') {
			if ((unsigned char)text[i] >= ' ' || text[i] == '\t')
				text[to++] = text[i];
			continue;
		}
		if (i + 1 < size && text[i + 1] == '[')
			for (i += 2;
			     i < size && (text[i] < '@' || text[i] > '~');)
				i++;
	}
	while (to && (text[to - 1] == ' ' || text[to - 1] == '\t'))
		to--;
	return to;
}

/* A line without its prefixes. */
struct clean {
	const char *text;
	size_t size;
	int64_t rank;
	const char *host;
	size_t host_size;
};

static bool causes_find_hit(struct causes *causes, enum failure_kind kind,
			    const struct clean *line, struct failure_hit *hit)
{
	return failure_patterns_find(causes->patterns, kind, &causes->pairs,
				     line->text, line->size, false, hit);
}

/* Only a line with the first and the last pair of the text is searched. */
static bool line_has_text(const struct causes *causes, const struct clean *line,
			  const char *text)
{
	size_t size = strlen(text);
	const uint16_t ends[] = { (uint16_t)line_pair(text),
				  (uint16_t)line_pair(text + size - 2) };

	return line_pairs_have(&causes->pairs, ends, 2) &&
	       memmem(line->text, line->size, text, size);
}

static bool indented(const struct clean *line)
{
	/* The bar stands before the frames of a group of exceptions. */
	return line->size &&
	       (*line->text == ' ' || *line->text == '\t' ||
		(line->size > 2 && !memcmp(line->text, "|  ", 3)));
}

/* A copy of the line for quotes, valid UTF-8; NULL: no memory. */
static char *quoted(const char *text, size_t size)
{
	size_t to = 0;
	char *line;

	while (size && (*text == ' ' || *text == '\t')) {
		text++;
		size--;
	}
	line = malloc(CAUSE_LINE_MAX + 4);
	if (!line)
		return NULL;
	while (size) {
		size_t step = (unsigned char)*text < 0x80
				      ? 1
				      : utf8_character(text, size, NULL);

		if (to + (step ? step : 1) > CAUSE_LINE_MAX)
			break;
		if (step > 1)
			memcpy(line + to, text, step);
		else
			line[to] = !step ? '?' : *text == '\t' ? ' ' : *text;
		to += step ? step : 1;
		text += step ? step : 1;
		size -= step ? step : 1;
	}
	line[to] = '\0';
	return line;
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
				const struct clean *line)
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
				     const struct clean *line)
{
	const struct failure_meaning *meaning = hit->meaning;
	struct failure_hit traced;

	if (meaning->exception &&
	    failure_patterns_find(causes->patterns, FAILURE_CAUSE,
				  &causes->pairs, line->text, line->size, true,
				  &traced))
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
	text = quoted(before->data, before->size);
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
		free(causes->all[i].line);
		causes->all[i] = causes->all[--causes->count];
		return;
	}
}

/* Its name or its number. */
static void cause_take_signal(struct cause *cause,
			      const struct failure_hit *hit)
{
	int64_t number = hit_number(hit, GROUP_SIGNAL, 0);
	const char *name = number ? causes_signal_name(number)
				  : hit->groups[GROUP_SIGNAL].text;
	size_t size = number ? strlen(name) : hit->groups[GROUP_SIGNAL].size;

	if (!name) {
		name = hit->meaning->signal;
		size = strlen(name);
	}
	snprintf(cause->signal, sizeof(cause->signal), "%.*s", (int)size, name);
}

static int take_cause(struct causes *causes, const struct failure_hit *hit,
		      const struct clean *line)
{
	char *text = quoted(line->text, line->size);
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
	if (hit->meaning->ends && !causes_before(causes, hit->meaning->order))
		causes->ended = true;
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
static bool causes_in_help(struct causes *causes, const struct clean *line)
{
	if (line->size > 6 && !memcmp(line->text, "usage:", 6))
		causes->help = true;
	else if (causes->help && !indented(line) &&
		 line->text[line->size - 1] != ':')
		causes->help = false;
	return causes->help;
}

/* An exception may have no type name: then the first line after the frames is
 * used.
 */
static bool untyped(const struct causes *causes, const struct clean *line,
		    struct failure_hit *hit)
{
	static const struct failure_meaning meaning = {
		.class = CAUSE_ERROR,
		.order = 39,
		.traceback = true,
		.read = true,
	};

	if (!causes->frame || causes->number != causes->frame + 1 ||
	    (causes->raised &&
	     causes->number - causes->raised <= RAISED_REACH) ||
	    line->size < 8)
		return false;
	*hit = (struct failure_hit){ .meaning = &meaning };
	return true;
}

static bool line_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* A sum of all but the numbers, which tells lines of a kind. */
static uint64_t line_shape(const struct clean *line)
{
	uint64_t sum = 1;

	for (size_t i = 0; i < line->size; i++)
		if (!line_digit(line->text[i]))
			sum = sum * 31 + (unsigned char)line->text[i];
	return sum;
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
static int causes_read_line(struct causes *causes, const struct clean *line)
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
	shape = line_shape(line);
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

/* "ERROR [core] ", "rank 3 | ": a level, or a number and a mark. */
static bool head_is_logged(const char *head, size_t size)
{
	bool number = false;

	for (size_t i = 0; i < size; i++)
		number |= line_digit(head[i]);
	return memmem(head, size, "ERROR", 5) ||
	       memmem(head, size, "CRITICAL", 8) ||
	       (number && size > 1 && strchr("|:>])-", head[size - 2]));
}

/* Loggers write their head before each line of a traceback, too. */
static int causes_cut_head(struct causes *causes, struct clean *line)
{
	static const char words[] = "Traceback (most recent call last)";
	const char *at = line_has_text(causes, line, words)
				 ? memmem(line->text, line->size, words,
					  sizeof(words) - 1)
				 : NULL;
	size_t size = at ? (size_t)(at - line->text) : 0;
	const char *head;

	if (size && size <= HEAD_MAX && !indented(line) && at[-1] == ' ' &&
	    head_is_logged(line->text, size)) {
		causes->head.size = 0;
		if (buffer_append(&causes->head, line->text, size, NULL) < 0)
			return -1;
	}
	head = causes->head.data;
	size = causes->head.size;
	if (!size || line->size <= size)
		return 0;
	for (size_t i = 0; i < size; i++)
		if (head[i] != line->text[i] &&
		    (!line_digit(head[i]) || !line_digit(line->text[i])))
			return 0;
	line->text += size;
	line->size -= size;
	line_pairs_read(&causes->pairs, line->text, line->size);
	return 0;
}

/* The text of an exception is in the line after its type. */
static int finish_cause(struct causes *causes, const struct clean *line)
{
	struct cause *cause = causes->unfinished;
	char *text;

	causes->unfinished = NULL;
	if (indented(line) || line->text[0] == '-' || line->text[0] == '=' ||
	    line_has_text(causes, line, "Traceback (most recent call last)"))
		return 0;
	text = quoted(line->text, line->size);
	if (!text)
		return -1;
	free(cause->line);
	cause->line = text;
	cause->line_number = causes->number;
	cause->offset = causes->offset;
	return 0;
}

/* An exception that only the launcher's report has. */
static int take_reported(struct causes *causes, const struct clean *line,
			 const struct process_end *end)
{
	struct failure_hit hit;

	if (!failure_patterns_find(causes->patterns, FAILURE_CAUSE,
				   &causes->pairs, line->text, line->size, true,
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
static int take_quote(struct causes *causes, const struct clean *line,
		      bool reach)
{
	const struct process_ends *ends = &causes->ends;
	struct clean quote = { .text = line->text + 2, .size = line->size - 2 };
	const struct process_end *end;
	bool known = false;

	if (!ends->count || line->size < 3 ||
	    memcmp(line->text, "  ", 2) != 0 || line->text[2] == ' ')
		return 0;
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

/* Is the line a part of a traceback? Paddle's summary ends one, too, and
 * TensorFlow's says at which node it was.
 */
static bool frames(struct causes *causes, const struct clean *line)
{
	if (line_has_text(causes, line, "Traceback (most recent call last)") ||
	    line_has_text(causes, line, "Error Message Summary:") ||
	    line_has_text(causes, line, "Detected at node") ||
	    (causes->frame &&
	     causes->number - causes->frame <= TRACEBACK_REACH &&
	     line_has_text(causes, line, "Node: '"))) {
		causes->frame = causes->number;
		return true;
	}
	if (!indented(line))
		return false;
	if (line_has_text(causes, line, "  File \"") ||
	    (causes->frame > causes->raised &&
	     causes->number - causes->frame <= TRACEBACK_REACH))
		causes->frame = causes->number;
	return true;
}

static void take_fact(struct causes *causes, const struct clean *line)
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

/* Python prints what it cannot raise: a destructor's exception, or that of a
 * message for the log. Its traceback ends nothing.
 */
static bool causes_set_aside(struct causes *causes, const struct clean *line,
			     bool inside, bool ends)
{
	if (line_has_text(causes, line, "Exception ignored in") ||
	    line_has_text(causes, line, "--- Logging error ---")) {
		causes->aside = causes->number;
		return true;
	}
	if (!causes->aside || inside)
		return causes->aside;
	/* Its last line, or what follows no traceback. */
	ends = ends && causes->frame > causes->aside;
	causes->aside = 0;
	return ends;
}

/* Do the larger numbers only count processes or devices? */
static bool causes_counts_ranks(struct causes *causes, const struct clean *line)
{
	static const char *const names[] = { "rank", "Rank",  "node", "Node",
					     "work", "Work",  "proc", "Proc",
					     "PID",  "pid",   "GPU",  "gpu",
					     "NPU",  "evice", "card", "hread",
					     "host", "hard" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (line_has_text(causes, line, names[i]))
			return true;
	return false;
}

/* Count a line that is a sign of life. Progress before the first cause does not
 * count; a bar is drawn once more at its end.
 */
static bool causes_goes_on(struct causes *causes, const struct clean *line)
{
	bool bar = line_has_text(causes, line, "%|");
	struct failure_hit hit;
	uint64_t since = 0;
	uint64_t times = repeated_lines_take(&causes->repeated, causes->number,
					     line->text, line->size, &since);
	bool grown = times && !bar && !causes_counts_ranks(causes, line);

	causes->repeats = times != 0;
	if (!causes->count && !causes->gave_up)
		return false;
	if (grown ||
	    (!bar && causes_find_hit(causes, FAILURE_PROGRESS, line, &hit)))
		causes->progress++;
	else if (!times && !causes_find_hit(causes, FAILURE_ALIVE, line, &hit))
		return false;
	/* The first line of a kind shows itself by the second. */
	causes->alive += times == 1 && since > causes->first_cause ? 2 : 1;
	causes->grown += grown;
	return true;
}

/* An exception that tells of a peer comes after those of the peer itself. */
static void hit_read_peer(struct causes *causes, const struct clean *line,
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

static int causes_take_line(struct causes *causes, struct clean *line)
{
	bool reach = causes->frame &&
		     causes->number - causes->frame <= TRACEBACK_REACH;
	struct failure_hit hit;
	bool inside;

	if (!line->size)
		return 0;
	line_pairs_read(&causes->pairs, line->text, line->size);
	if (causes_cut_head(causes, line) < 0)
		return -1;
	if (causes_in_help(causes, line))
		return 0;
	take_fact(causes, line);
	if (take_quote(causes, line, reach) < 0)
		return -1;
	if (causes->unfinished && finish_cause(causes, line) < 0)
		return -1;
	inside = frames(causes, line);
	if (causes_set_aside(causes, line, inside, reach))
		return 0;
	if (causes_find_hit(causes, FAILURE_IGNORE, line, &hit))
		return 0;
	/* The source line of a frame is no message. */
	if (inside && reach && line_has_text(causes, line, "raise "))
		return 0;
	if (failure_patterns_find(causes->patterns, FAILURE_CAUSE,
				  &causes->pairs, line->text, line->size,
				  reach && !inside, &hit)) {
		if (reach && !inside)
			causes->raised = causes->number;
		if (hit.meaning->traceback && hit.meaning->read)
			hit_read_peer(causes, line, &hit);
		return causes->ended || teardown_follows(causes, &hit)
			       ? 0
			       : take_cause(causes, &hit, line);
	}
	/* A line of the traceback itself. */
	if (causes->frame == causes->number || causes_goes_on(causes, line) ||
	    inside)
		return 0;
	if (!causes->ended && untyped(causes, line, &hit))
		return take_cause(causes, &hit, line);
	return causes->ended || causes->repeats
		       ? 0
		       : causes_read_line(causes, line);
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
	struct clean line = {
		.text = causes->partial.data,
		.rank = causes->origin.rank,
		.host = causes->origin.host,
		.host_size = causes->origin.host_size,
	};
	bool column;
	int rc = 0;

	causes->number += causes->begun;
	if (causes->partial.size) {
		line.size = without_escapes(causes->partial.data,
					    causes->partial.size);
		column = line.size && !indented(&line);
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
	buffer_init(&causes->head, HEAD_MAX);
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
