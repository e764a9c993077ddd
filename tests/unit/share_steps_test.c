/* share_steps_test.c - shares of epochs to steps, beside bars that lag.
 */
#include "controller/results/extract.h"
#include "controller/results/rules/fields.h"
#include "controller/results/share_steps.h"
#include "protocol/base/buffer.h"
#include "tests/tap.h"

#include <math.h>

#define SEEDS 400

static const char rules_text[] =
	"read: last\n"
	"rules:\n"
	"- match: 'epochs to go: (?<epochs>\\d+)'\n"
	"  total: true\n"
	"  epoch: epochs\n"
	"- match: '\\| (?<step>\\d+)/(?<steps>\\d+) drawn'\n"
	"  progress: true\n"
	"- match: 'over at (?<epoch>[\\d.]+)'\n"
	"  finished: true\n"
	"  share: epoch\n"
	"- dict: '{'\n"
	"  has: [loss]\n"
	"  share: epoch\n"
	"  counted: true\n"
	"  fields: {loss: loss, epoch: epoch}\n"
	"  others: .\n";

/* A training that says its share of epochs every few steps. */
struct training {
	unsigned epochs, per_epoch;
	unsigned stride; /* steps between what it says */
	unsigned digits; /* of the share */
	unsigned lag;    /* a bar is drawn if a number below 100 is not below */
	bool redrawn;    /* behind each line, too */
	bool late;       /* all lines come behind all bars */
	bool announced;
	unsigned until; /* its last step; 0: the end */
	bool twice;     /* a callback says each line first */
	bool ended;     /* the last line says the share */
	unsigned limit; /* steps of the bar; 0: those of all epochs */
	unsigned other; /* of a bar of other work before it, complete; then the
			   first bar comes late */
};

static struct extract_rules *rules_new(void)
{
	owned(document_free) struct document *document =
		document_parse(rules_text, strlen(rules_text), "f.yaml", NULL,
			       NULL);
	const struct value *root = document_root(document);

	return extract_rules_new(&root, 1, NULL);
}

static void draw(struct buffer *text, unsigned step, unsigned total)
{
	char line[80];
	int size = snprintf(line, sizeof(line), "\r 1%%| %u/%u drawn ", step,
			    total);

	buffer_append(text, line, (size_t)size, NULL);
}

/* The loss is the step, so that a reader's mistake shows. */
static void tell(struct buffer *text, const struct training *plan,
		 unsigned step)
{
	double share = (double)step / plan->per_epoch;
	char line[240];
	int size = 0;

	if (plan->twice)
		size = snprintf(line, sizeof(line),
				"\n>> {'loss': %u.00, 'epoch': %.*f, "
				"'rate': 5}",
				step, (int)plan->digits, share);
	size += snprintf(line + size, sizeof(line) - (size_t)size,
			 "\n{'loss': %u.0, 'epoch': %.*f, 'norm': 7}\n", step,
			 (int)plan->digits, share);
	buffer_append(text, line, (size_t)size, NULL);
}

static void write_log(struct buffer *text, const struct training *plan,
		      unsigned seed)
{
	unsigned total =
		plan->limit ? plan->limit : plan->epochs * plan->per_epoch;
	unsigned until = plan->until ? plan->until : total;

	if (plan->announced) {
		char line[40];
		int size = snprintf(line, sizeof(line), "epochs to go: %u\n",
				    plan->epochs);

		buffer_append(text, line, (size_t)size, NULL);
	}
	if (plan->other)
		draw(text, plan->other, plan->other);
	else
		draw(text, 0, total);
	for (unsigned step = 1; step <= until; step++) {
		seed = seed * 1103515245 + 12345;
		if ((seed >> 16) % 100 >= plan->lag &&
		    !(plan->other && step < 10 * plan->stride))
			draw(text, step, total);
		if (step % plan->stride || plan->late)
			continue;
		tell(text, plan, step);
		if (plan->redrawn)
			draw(text, step, total);
	}
	for (unsigned step = plan->stride; plan->late && step <= until;
	     step += plan->stride)
		tell(text, plan, step);
	if (plan->ended) {
		char line[40];
		int size = snprintf(line, sizeof(line), "over at %.4g\n",
				    (double)total / plan->per_epoch);

		buffer_append(text, line, (size_t)size, NULL);
	}
}

/* How many steps are wrong or missing. */
static unsigned wrong_steps(const struct extract *extract,
			    const struct training *plan)
{
	unsigned until =
		plan->until ? plan->until : plan->epochs * plan->per_epoch;
	unsigned wrong = 0;
	size_t count;
	const struct record *records = extract_records(extract, &count);

	for (size_t i = 0; i < count; i++)
		wrong += (double)records[i].step != records[i].loss;
	return count == until / plan->stride ? wrong : wrong + 1;
}

static struct extract *read_training(const struct training *plan, unsigned seed)
{
	owned(extract_rules_free) struct extract_rules *rules = rules_new();
	owned(buffer_clear) struct buffer text = BUFFER_INIT(1 << 22);
	struct extract *extract = extract_new(rules, NULL);

	write_log(&text, plan, seed);
	extract_feed(extract, text.data, text.size, NULL);
	extract_finish(extract, NULL);
	return extract;
}

static void test_usual(void)
{
	static const struct training plans[] = {
		/* a bar at each step, as where steps are slow */
		{ 3, 100, 5, 2, 0, false, false, false, 60, false, false, 0,
		  0 },
		{ 1, 100, 5, 2, 0, true, false, false, 60, false, false, 0, 0 },
		{ 2, 350, 10, 2, 0, true, false, false, 0, false, false, 0, 0 },
		{ 3, 99, 1, 2, 0, false, false, false, 0, false, false, 0, 0 },
		{ 4, 1000, 20, 4, 0, true, false, true, 0, false, false, 0, 0 },
		/* bars are skipped, but drawn behind each line */
		{ 1, 100, 5, 2, 100, true, false, false, 60, false, false, 0,
		  0 },
		{ 3, 100, 5, 2, 100, true, false, false, 60, false, false, 0,
		  0 },
		{ 3, 100, 5, 2, 50, true, false, false, 60, false, false, 0,
		  0 },
		{ 2, 800, 10, 4, 90, true, false, false, 400, false, false, 0,
		  0 },
		/* shares that say the step alone */
		{ 2, 80, 4, 4, 70, false, false, true, 0, false, false, 0, 0 },
		{ 2, 80, 4, 4, 0, false, true, true, 0, false, false, 0, 0 },
		/* lines that were held back, up to an end that tells all */
		{ .epochs = 3,
		  .per_epoch = 559,
		  .stride = 10,
		  .digits = 4,
		  .late = true,
		  .ended = true },
		/* a limit within the first epoch */
		{ .epochs = 1,
		  .per_epoch = 6000,
		  .stride = 1,
		  .digits = 2,
		  .redrawn = true,
		  .announced = true,
		  .until = 400,
		  .limit = 900 },
		{ .epochs = 1,
		  .per_epoch = 6000,
		  .stride = 100,
		  .digits = 2,
		  .redrawn = true,
		  .announced = true,
		  .until = 400,
		  .limit = 900 },
		/* an evaluation was there before */
		{ .epochs = 5,
		  .per_epoch = 266,
		  .stride = 10,
		  .digits = 4,
		  .other = 31 },
		{ .epochs = 2,
		  .per_epoch = 100,
		  .stride = 5,
		  .digits = 2,
		  .other = 64 },
	};

	for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++) {
		owned(extract_free) struct extract *extract =
			read_training(&plans[i], 1);

		is_int(wrong_steps(extract, &plans[i]), 0,
		       "training %zu: all steps are right", i);
		ok(extract_steps_remark(extract) == REMARKS,
		   "and nothing is in doubt");
	}
}

/* A callback and the program say the same steps. */
static void test_twice(void)
{
	static const struct training plans[] = {
		{ 1, 3000, 10, 2, 0, true, false, true, 200, true, false, 0,
		  0 },
		{ 3, 100, 5, 2, 0, false, false, false, 60, true, false, 0, 0 },
	};

	for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++) {
		owned(extract_free) struct extract *extract =
			read_training(&plans[i], 1);

		is_int(wrong_steps(extract, &plans[i]), 0,
		       "each step counts once, as it is said twice (%zu)", i);
	}
}

static void test_warning(void)
{
	/* Lines that come when all is over, and digits that tell ten steps. */
	const struct training late = { 3,     1000, 10,    2, 0,
				       false, true, false, 0, false,
				       false, 0,    0 };
	owned(extract_free) struct extract *extract = read_training(&late, 1);

	ok(wrong_steps(extract, &late) > 0, "what cannot be told is wrong");
	ok(extract_steps_remark(extract) != REMARKS, "and it is said");
}

/* Without any bar each line counts as a step, and is said to. */
static void test_no_bar(void)
{
	static const char text[] = "{'loss': 2.5, 'epoch': 0.05}\n"
				   "{'loss': 2.25, 'epoch': 0.1}\n";
	owned(extract_rules_free) struct extract_rules *rules = rules_new();
	owned(extract_free) struct extract *extract = extract_new(rules, NULL);
	size_t count;

	extract_feed(extract, text, sizeof(text) - 1, NULL);
	extract_finish(extract, NULL);
	extract_records(extract, &count);
	ok(count == 2 && extract_steps_remark(extract) == REMARK_EPOCH_SHARES,
	   "a log without any number of steps is doubted");
}

/* What a hostile log can make of it has limits. */
static void test_limits(void)
{
	struct captured_value value = {
		.kind = CAPTURED_NUMBER, .number = 0.5, .text = "0.5", .size = 3
	};
	struct share_steps shares = { 0 };
	struct share_seen seen = share_seen(&value, 1);
	int changes = 0;

	for (unsigned i = 1; i < 1000; i++) {
		seen.bar = i % 2 ? 1 : 10;
		shares.most = 0;
		changes += share_steps_bound(&shares, 1000, &seen);
	}
	ok(changes == SHARE_CHANGES_MAX && shares.unsure,
	   "epochs change %d times, and then in doubt", changes);
	for (uint64_t step = 1; step <= SHARE_STEPS_MAX + 9; step++)
		share_step_given(&shares, &seen, step);
	is_int((long long)shares.count, SHARE_STEPS_MAX, "so many are kept");
	value.number = 1e300;
	seen = share_seen(&value, 1);
	is_int((long long)share_step(&shares, 1000, &seen, 0, 0), 0,
	       "a share that cannot be is of no step");
	share_steps_clear(&shares);
}

/* However bars lag: right, or in doubt. */
static void test_any(void)
{
	unsigned silent = 0, right = 0, first = 0;

	for (unsigned seed = 1; seed <= SEEDS; seed++) {
		const struct training plan = {
			.epochs = 1 + seed % 5,
			.per_epoch = 20 + seed * 37 % 400,
			.stride = 1 + seed * 7 % 11,
			.digits = seed % 3 ? 2 : 5,
			.lag = seed * 13 % 101,
			.redrawn = seed % 2,
			.announced = seed % 7 == 0,
			.until = seed % 4 ? 20 + seed * 3 % 200 : 0,
			.twice = seed % 3 == 1,
		};
		owned(extract_free) struct extract *extract = NULL;
		struct training now = plan;

		if (now.until > now.epochs * now.per_epoch)
			now.until = 0;
		extract = read_training(&now, seed);
		if (!wrong_steps(extract, &now)) {
			right++;
		} else if (extract_steps_remark(extract) == REMARKS) {
			silent++;
			first = first ? first : seed;
		}
	}
	is_int(silent, 0, "no step is wrong without a word (seed %u)", first);
	ok(right > SEEDS / 2, "%u of %d logs are right in all steps", right,
	   SEEDS);
}

int main(void)
{
	tap_begin(0);
	test_usual();
	test_twice();
	test_warning();
	test_no_bar();
	test_limits();
	test_any();
	return tap_done();
}
