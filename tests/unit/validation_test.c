/* validation_test.c - nodes and links judged by their peers: by hand, and in
 * simulations of 1,024 nodes whose rates are printed.
 */
#include "controller/validation/pairs.h"

#include "tests/tap.h"

#include <math.h>

#define NODES 1024
#define CLUSTERS 40 /* simulated */

static uint64_t seed = 1;

static double uniform(void)
{
	seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
	return ((double)(seed >> 11) + 0.5) / 9007199254740992.0;
}

/* Noise of a measurement: one in a hundred is disturbed three times as much. */
static double noisy(double value, double spread)
{
	double normal = sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());

	return value * (1 + normal * (uniform() < 0.01 ? 3 : 1) * spread);
}

static struct peer_value value_of(const char *unit, double value)
{
	return (struct peer_value){ .unit = unit,
				    .group = "chip",
				    .test = "rate",
				    .value = value,
				    .threshold = PEERS_COMPUTE };
}

static const struct peer_value *unit_of(const struct peer_value *values,
					size_t count, const char *unit)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(values[i].unit, unit))
			return &values[i];
	return NULL;
}

/* Judge these values of units "0", "1" ...; unit "0". */
static struct peer_value first_of(const double *numbers, size_t count)
{
	static const char *const units[] = { "0",  "1",  "2",  "3", "4",  "5",
					     "6",  "7",  "8",  "9", "10", "11",
					     "12", "13", "14", "15" };
	struct peer_value values[16];

	for (size_t i = 0; i < count; i++)
		values[i] = value_of(units[i], numbers[i]);
	peers_judge(values, count, NULL);
	return *unit_of(values, count, "0");
}

/* Pairs of one slow node, which was a suspect, beside others that differ. */
static void test_slow_pairs(void)
{
	static const double rates[] = { 64,    64.1,  63.9,  64.2,  20000,
					10000, 13000, 26000, 16000, 9000 };
	struct peer_value values[10];
	size_t found = 0;

	for (size_t i = 0; i < 10; i++) {
		values[i] = value_of("pair", rates[i]);
		values[i].pair = true;
	}
	peers_judge(values, 10, NULL);
	for (size_t i = 0; i < 10; i++)
		found += values[i].verdict == VERDICT_SUSPECT;
	is_int(found, 4, "four slow pairs of ten do not hide each other");
}

static void test_by_hand(void)
{
	static const double one[] = { 80, 100, 101, 99, 100.5, 99.5, 100, 101 };
	static const double near[] = {
		96, 100, 101, 99, 100.5, 99.5, 100, 101
	};
	static const double wide[] = { 80, 100, 130, 70, 115, 85, 95, 105 };
	static const double few[] = { 80, 100, 101, 99 };
	static const double heaps[] = {
		50, 100, 101, 99, 100, 50.2, 49.8, 50.1
	};
	static const double slow_heap[] = { 90,  100,  101,   99,
					    100, 90.2, 100.2, 90.1 };
	static const double masked[] = {
		90, 91, 100, 101, 99, 100.5, 100, 99.5
	};
	static const double alone[] = { 80 };
	struct peer_value first;

	first = first_of(one, 8);
	ok(first.verdict == VERDICT_SUSPECT && first.chance < PEERS_ERROR &&
		   first.peers == 8,
	   "20 %% below seven others: suspect (chance %.2g)", first.chance);
	peers_confirm(&first, 81);
	ok(first.verdict == VERDICT_BAD, "and bad, if a second time");
	first.verdict = VERDICT_SUSPECT;
	peers_confirm(&first, 99);
	ok(first.verdict == VERDICT_GOOD, "and good, if not");
	first = first_of(near, 8);
	ok(first.verdict == VERDICT_GOOD,
	   "4 %% below them is practically nothing");
	first = first_of(wide, 8);
	ok(first.verdict == VERDICT_GOOD,
	   "20 %% below others that differ as much is chance");
	first = first_of(few, 4);
	ok(first.verdict == VERDICT_SUSPECT && isnan(first.chance),
	   "of four nodes one is suspect");
	peers_confirm(&first, 80);
	ok(first.verdict == VERDICT_SUSPECT, "but never bad");
	first = first_of(heaps, 8);
	ok(first.verdict == VERDICT_GOOD && first.others == 4 &&
		   first.other_median == 100,
	   "two heaps are told, and judged for themselves");
	first = first_of(slow_heap, 8);
	ok(first.verdict == VERDICT_SUSPECT && first.peers == 5 &&
		   isnan(first.chance),
	   "three slower than five others are told, and suspect");
	peers_confirm(&first, 90);
	ok(first.verdict == VERDICT_SUSPECT, "still after a second time");
	peers_confirm(&first, 99);
	ok(first.verdict == VERDICT_GOOD, "but not if that is like the others");
	first = first_of(masked, 8);
	ok(first.verdict == VERDICT_SUSPECT && first.chance < PEERS_ERROR,
	   "two slow ones do not hide each other (chance %.2g)", first.chance);
	first = (struct peer_value){ .unit = "n1 device 0",
				     .group = "g",
				     .test = "bf16_tflops",
				     .value = 300,
				     .threshold = PEERS_COMPUTE,
				     .floor = 395 };
	peers_judge(&first, 1, NULL);
	ok(first.verdict == VERDICT_SUSPECT,
	   "below its floor it is suspect, alone");
	peers_confirm(&first, 310);
	ok(first.verdict == VERDICT_BAD, "and bad, if a second time");
	first.verdict = VERDICT_SUSPECT;
	peers_confirm(&first, 700);
	ok(first.verdict == VERDICT_GOOD, "and good, if not");
	first = first_of(alone, 1);
	ok(first.verdict == VERDICT_GOOD, "a node alone is not judged");
	ok(test_threshold("net_mib_per_s") == PEERS_NETWORK &&
		   test_threshold("cpu_ops_per_s") == PEERS_COMPUTE &&
		   test_threshold("engine_start_ms") == PEERS_START &&
		   test_less("engine_start_ms") && test_less("disk_ms") &&
		   test_less("net_latency") && !test_less("cpu_ops_per_s"),
	   "thresholds and directions follow from names");
}

struct counts {
	size_t bad, found, good, alarms;
	unsigned rounds;
};

static void counts_print(const char *what, const struct counts *of)
{
	printf("# %s: %zu of %zu slow ones found (%.2f %%), %zu false alarms "
	       "in %zu checks (%.3f in 1,000), at most %u rounds\n",
	       what, of->found, of->bad,
	       100 * (double)of->found / (double)of->bad, of->alarms, of->good,
	       1000 * (double)of->alarms / (double)of->good, of->rounds);
}

/* Quick on so many nodes, one in `rare` of them 10 % slow, in four tests. */
static void quick_simulate(size_t nodes, unsigned rare, double spread,
			   struct counts *counts)
{
	static struct peer_value values[NODES];
	static char units[NODES][24];
	static bool slow[NODES];

	for (size_t i = 0; i < nodes; i++) {
		slow[i] = uniform() < 1.0 / rare;
		snprintf(units[i], sizeof(units[i]), "%zu", i);
		values[i] =
			value_of(units[i], noisy(slow[i] ? 90 : 100, spread));
	}
	peers_judge(values, nodes, NULL);
	for (size_t i = 0; i < nodes; i++) {
		size_t node = strtoul(values[i].unit, NULL, 10);

		peers_confirm(&values[i], noisy(slow[node] ? 90 : 100, spread));
		counts->bad += slow[node];
		counts->found +=
			slow[node] && values[i].verdict != VERDICT_GOOD;
		counts->good += !slow[node];
		counts->alarms +=
			!slow[node] && values[i].verdict != VERDICT_GOOD;
	}
	counts->rounds = 2;
}

static void test_quick(void)
{
	struct counts large = { 0 }, noise = { 0 }, small = { 0 };

	for (int i = 0; i < CLUSTERS; i++)
		quick_simulate(NODES, 100, 0.01, &large);
	counts_print("quick, 1,024 nodes, noise 1 %", &large);
	ok(large.found >= 0.95 * (double)large.bad,
	   "of nodes 10 %% slow at least 95 %% are found");
	ok(large.alarms <= large.good / 1000, "with at most 1 alarm in 1,000");
	for (int i = 0; i < CLUSTERS; i++)
		quick_simulate(NODES, 1000000, 0.04, &noise);
	noise.bad = noise.found = 1;
	counts_print("quick, 1,024 good nodes, noise 4 %", &noise);
	ok(noise.alarms <= noise.good / 1000, "also with noise of 4 %%");
	for (int i = 0; i < 5000; i++)
		quick_simulate(8, 20, 0.01, &small);
	counts_print("quick, 8 nodes, noise 1 %", &small);
	ok(small.alarms <= small.good / 1000 &&
		   small.found >= 0.95 * (double)small.bad,
	   "of 8 nodes, too");
	small = (struct counts){ 0 };
	for (int i = 0; i < 2500; i++)
		quick_simulate(16, 20, 0.01, &small);
	counts_print("quick, 16 nodes, noise 1 %", &small);
	ok(small.alarms <= small.good / 1000 &&
		   small.found >= 0.95 * (double)small.bad,
	   "of 16 nodes, too");
	small = (struct counts){ .bad = 1, .found = 1 };
	for (int i = 0; i < 5000; i++)
		quick_simulate(8, 1000000, 0.04, &small);
	counts_print("quick, 8 good nodes, noise 4 %", &small);
	ok(small.alarms <= small.good / 1000, "of 8 noisy ones, too");
	small = (struct counts){ .bad = 1, .found = 1 };
	for (int i = 0; i < 5000; i++)
		quick_simulate(8, 1000000, 0.2, &small);
	counts_print("quick, 8 good nodes, noise 20 %", &small);
	ok(small.alarms <= small.good / 1000, "of 8 on a busy machine, too");
}

/* Rates of the new pairs: of the slower node, or of a bad link. */
static void pairs_measure(struct pairs *pairs, size_t from, const double *rates,
			  const struct node_pair *link, double spread)
{
	for (size_t i = from; i < pairs->count; i++) {
		struct node_pair *pair = &pairs->list[i];
		double rate = fmin(rates[pair->a], rates[pair->b]);

		if (link && pair->a == link->a && pair->b == link->b)
			rate = fmin(rate, 70);
		pair->rate = noisy(rate, spread);
	}
}

static void pairs_mark(struct pairs *pairs)
{
	struct peer_value *values = calloc(pairs->count, sizeof(*values));
	char(*units)[24] = calloc(pairs->count, sizeof(*units));

	for (size_t i = 0; i < pairs->count; i++) {
		snprintf(units[i], sizeof(units[i]), "%zu", i);
		values[i] = value_of(units[i], pairs->list[i].rate);
		values[i].pair = true;
	}
	peers_judge(values, pairs->count, NULL);
	for (size_t i = 0; i < pairs->count; i++)
		pairs->list[strtoul(values[i].unit, NULL, 10)].slow =
			values[i].verdict != VERDICT_GOOD;
	free(values);
	free(units);
}

static void pairs_run(struct pairs *pairs, const double *rates,
		      const struct node_pair *link, double spread)
{
	size_t from = 0;

	if (!pairs->count)
		pairs_next(pairs);
	do {
		pairs_measure(pairs, from, rates, link, spread);
		pairs_mark(pairs);
		from = pairs->count;
	} while (pairs_next(pairs));
}

static void test_pairs(void)
{
	static double rates[NODES];
	static enum verdict verdicts[NODES];
	struct counts counts = { 0 };
	size_t links = 0, twice = 0;

	for (int k = 0; k < CLUSTERS / 4; k++) {
		owned(pairs_clear) struct pairs pairs = { 0 };
		static unsigned char seen[PAIRS_ROUNDS + 1][NODES];

		for (size_t i = 0; i < NODES; i++)
			rates[i] = uniform() < 0.01 ? 90 : 100;
		pairs_init(&pairs, NODES, (uint64_t)k, NULL);
		pairs_run(&pairs, rates, NULL, 0.01);
		pairs_judge(&pairs, verdicts);
		for (size_t i = 0; i < NODES; i++) {
			bool slow = rates[i] < 100;

			counts.bad += slow;
			counts.found += slow && verdicts[i] == VERDICT_BAD;
			counts.good += !slow;
			counts.alarms += !slow && verdicts[i] != VERDICT_GOOD;
		}
		for (size_t i = 0; i < pairs.count; i++)
			links += pairs_link(&pairs, verdicts, i) == VERDICT_BAD;
		memset(seen, 0, sizeof(seen));
		for (size_t i = 0; i < NODES; i++)
			twice += seen[0][pairs.list[i].a] >= 2 ||
				 seen[0][pairs.list[i].b] >= 2 ||
				 (++seen[0][pairs.list[i].a],
				  ++seen[0][pairs.list[i].b], 0);
		counts.rounds = pairs.rounds;
	}
	counts_print("pairs, 1,024 nodes, noise 1 %", &counts);
	ok(counts.found >= 0.95 * (double)counts.bad,
	   "pairs find at least 95 %% of nodes 10 %% slow");
	ok(counts.alarms <= counts.good / 1000 && !links,
	   "with at most 1 alarm in 1,000, and no link");
	ok(counts.rounds <= PAIRS_ROUNDS && !twice,
	   "in five rounds, and a node has one partner in a round");
}

static void test_links(void)
{
	static const double rates[8] = {
		100, 100, 100, 100, 100, 100, 100, 60
	};
	static const struct node_pair link = { .a = 2, .b = 5 };
	owned(pairs_clear) struct pairs pairs = { 0 };
	enum verdict verdicts[8];
	size_t bad = 0, others = 0;
	struct error err;

	pairs_init(&pairs, 8, 1, NULL);
	ok(pairs_tournament(&pairs, NULL) == 0 && pairs.count == 28,
	   "a tournament of 8 nodes has 28 pairs");
	pairs_run(&pairs, rates, &link, 0.01);
	pairs_judge(&pairs, verdicts);
	ok(verdicts[7] == VERDICT_BAD, "it finds the slow node");
	for (size_t i = 0; i < 7; i++)
		others += verdicts[i] != VERDICT_GOOD;
	ok(!others, "and no other");
	for (size_t i = 0; i < pairs.count; i++)
		if (pairs_link(&pairs, verdicts, i) == VERDICT_BAD) {
			bad++;
			others += pairs.list[i].a != 2 || pairs.list[i].b != 5;
		}
	ok(bad == 2 && !others, "and the bad link between two good ones");
	pairs.nodes = PAIRS_TOURNAMENT + 1;
	ok(pairs_tournament(&pairs, &err) < 0,
	   "a tournament of 65 nodes is refused: %s", err.text);
}

int main(void)
{
	tap_begin(60);
	test_by_hand();
	test_slow_pairs();
	test_quick();
	test_pairs();
	test_links();
	return tap_done();
}
