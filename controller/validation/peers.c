/* peers.c - judges nodes, devices and links by what their peers measured.
 */
#include "controller/validation/peers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const verdict_names[VERDICTS + 1] = { "", "good", "suspect", "bad",
						  NULL };

/* 1 / the 0.75 quantile of the normal distribution: a median absolute deviation
 * becomes a standard deviation.
 */
#define MAD_SCALE 1.4826
/* Tools print few digits: a deviation below this share is taken as this. */
#define DEVIATION_LEAST 0.001
#define NEAR_DEVIATIONS 5   /* what is farther, is no noise */
#define AGAIN_CHANCE 0.0008 /* of a second measurement, at most */
#define VALUE_LEAST 1e-9    /* a smaller share of the median is this one */
/* Two heaps: each of at least so many, and so far from each other in units of
 * the wider one.
 */
#define HEAP_LEAST 3
#define HEAP_DISTANCE 6

double test_threshold(const char *test)
{
	static const char *const words[] = { "net", "iperf", "rdma",
					     "allreduce", "bandwidth_between" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strstr(test, words[i]))
			return PEERS_NETWORK;
	return strstr(test, "start") ? PEERS_START : PEERS_COMPUTE;
}

bool test_less(const char *test)
{
	static const char *const ends[] = { "_ms", "_us", "_s", "_latency" };
	size_t length = strlen(test);

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (length >= strlen(ends[i]) &&
		    !strcmp(test + length - strlen(ends[i]), ends[i]) &&
		    !(length > 5 && !strcmp(test + length - 5, "per_s")))
			return true;
	return false;
}

static int peer_values_compare(const void *a, const void *b)
{
	const struct peer_value *x = a, *y = b;
	int order = strcmp(x->test, y->test);

	if (!order)
		order = strcmp(x->group, y->group);
	return order ? order : (x->value > y->value) - (x->value < y->value);
}

static int distances_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The median of sorted values. */
static double heap_median(const struct peer_value *values, size_t count)
{
	return (values[(count - 1) / 2].value + values[count / 2].value) / 2;
}

/* How far a value is from the median, as a share of it: by the logarithm,
 * because what disturbs a rate does so by a factor.
 */
static double peer_distance(double value, double median)
{
	return median > 0 ? log(fmax(value / median, VALUE_LEAST)) : 0;
}

/* How far good values of a heap are from each other. */
struct heap_spread {
	double deviation; /* of distances */
	double freedom;   /* its degrees */
};

/* By the median of distances, which bad values do not change; and by the
 * squares of those that are near, which is known better of few values. The
 * larger one counts.
 */
static struct heap_spread heap_spread(const struct peer_value *values,
				      size_t count, double *room)
{
	double median = heap_median(values, count), squares = 0, mad, near;
	size_t known = 0;

	for (size_t i = 0; i < count; i++)
		room[i] = fabs(peer_distance(values[i].value, median));
	qsort(room, count, sizeof(*room), distances_compare);
	mad = MAD_SCALE * (room[(count - 1) / 2] + room[count / 2]) / 2;
	near = fmax(values->threshold, NEAR_DEVIATIONS * mad);
	for (; known < count && room[known] < near; known++)
		squares += room[known] * room[known];
	return (struct heap_spread){
		.deviation =
			fmax(fmax(DEVIATION_LEAST, mad),
			     known > 1 ? sqrt(squares / (double)(known - 1))
				       : 0),
		.freedom = known > 1 ? (double)(known - 1) : 1,
	};
}

/* The chance that Student's t is at least this: by Wallace's normal
 * approximation (1959), whose error is below 0.1 % of z from one degree on.
 */
static double t_chance(double t, double freedom)
{
	double z = (8 * freedom + 1) / (8 * freedom + 3) *
		   sqrt(freedom * log1p(t * t / freedom));

	return t > 0 ? erfc(z / M_SQRT2) / 2 : 1;
}

/* Worse than the median: above 0, by the logarithm. */
static double peer_badness(const struct peer_value *of, double median)
{
	double distance = peer_distance(of->value, median);

	return of->less ? distance : -distance;
}

static void heap_compare(struct peer_value *of, double median, size_t count)
{
	double worse = of->less ? of->value - median : median - of->value;

	of->median = median;
	of->peers = count;
	of->worse = median > 0 ? worse / median : 0;
}

/* In a small heap a few slow ones are much of the deviation, which hides them.
 * So each of the worst third is compared with those that are better than it
 * only (as Rosner, 1983, on one side); of pairs, the worst two fifths, because
 * a slow node is paired again and again. If one differs from these, those that
 * are worse than it do, too. Sets chances and deviations of sorted values.
 */
static void heap_trim(struct peer_value *values, size_t count, double median)
{
	size_t most = values->pair ? 2 * count / 5 : count / 3;
	double sum = 0, squares = 0, least = 1, deviation = NAN;

	for (size_t i = 0; i < count; i++) { /* the best one first */
		struct peer_value *of =
			&values[values->less ? i : count - 1 - i];
		double badness = peer_badness(of, median), n = (double)i;
		double mean = i ? sum / n : 0;
		double near, chance;

		of->chance = 1;
		if (i >= count - most) {
			near = fmax(DEVIATION_LEAST,
				    sqrt(fmax(squares - n * mean * mean, 0) /
					 (n - 1)));
			chance = t_chance((badness - mean) / near /
						  sqrt(1 + 1 / n),
					  n - 1);
			if (chance < least) {
				least = chance;
				deviation = near;
			}
			of->chance = least;
			of->deviation = deviation;
		}
		sum += badness;
		squares += badness * badness;
	}
}

/* Judge a heap: sorted values of one test and group. The family is not looked
 * at yet: `verdict` says whether a value is practically worse.
 */
static void heap_judge(struct peer_value *values, size_t count, double *room)
{
	double median = heap_median(values, count);
	struct heap_spread spread = heap_spread(values, count, room);

	for (size_t i = 0; i < count; i++) {
		struct peer_value *of = &values[i];

		heap_compare(of, median, count);
		of->deviation = spread.deviation;
		of->chance =
			t_chance(peer_badness(of, median) / spread.deviation,
				 spread.freedom);
		of->verdict = count > 1 && of->worse >= of->threshold
				      ? VERDICT_SUSPECT
				      : VERDICT_GOOD;
	}
	if (count < PEERS_MANY)
		heap_trim(values, count, median);
	for (size_t i = 0; i < count && count < PEERS_LEAST; i++)
		values[i].deviation = values[i].chance = NAN;
}

/* Where the second heap of sorted values begins; count: there is one heap. */
static size_t heaps_split(const struct peer_value *values, size_t count,
			  double *room)
{
	double median = heap_median(values, count);
	size_t at = count;
	double gap = 0, wider;

	for (size_t i = HEAP_LEAST; i + HEAP_LEAST <= count; i++)
		if (values[i].value - values[i - 1].value > gap) {
			gap = values[i].value - values[i - 1].value;
			at = i;
		}
	if (values->pair || at == count || 4 * at < count ||
	    4 * (count - at) < count || gap < values->threshold * fabs(median))
		return count;
	wider = fmax(heap_spread(values, at, room).deviation,
		     heap_spread(values + at, count - at, room).deviation);
	return gap >= HEAP_DISTANCE * wider * fabs(median) ? at : count;
}

/* A few that are slower than more others are no kind of their own: suspect. */
static void heap_doubt(struct peer_value *values, size_t split, size_t count,
		       double *room)
{
	bool less = values->less;
	size_t slow = less ? count - split : split;
	struct peer_value *from = less ? values + split : values;
	struct peer_value *others = less ? values : values + split;
	double deviation, median = others->median;

	if (slow >= PEERS_LEAST || 2 * slow >= count)
		return;
	deviation = heap_spread(others, count - slow, room).deviation;
	for (size_t i = 0; i < slow; i++) {
		heap_compare(&from[i], median, count - slow);
		from[i].deviation = deviation;
		from[i].verdict = VERDICT_SUSPECT;
	}
}

static void group_judge(struct peer_value *values, size_t count, double *room)
{
	size_t split = heaps_split(values, count, room);

	heap_judge(values, split, room);
	if (split == count)
		return;
	heap_judge(values + split, count - split, room);
	for (size_t i = 0; i < count; i++) {
		values[i].others = i < split ? count - split : split;
		values[i].other_median =
			values[i < split ? count - 1 : 0].median;
		if (isnan(values[i].chance))
			values[i].verdict = VERDICT_GOOD;
	}
	heap_doubt(values, split, count, room);
}

static int chances_compare(const void *a, const void *b)
{
	return distances_compare(&(*(struct peer_value *const *)a)->chance,
				 &(*(struct peer_value *const *)b)->chance);
}

/* Holm: the smallest chance must be below error/n, the next below error/(n - 1)
 * ...; from the first that is not, no value differs.
 */
static void family_judge(struct peer_value **family, size_t count)
{
	bool differs = true;

	/* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
	qsort(family, count, sizeof(*family), chances_compare);
	for (size_t i = 0; i < count; i++) {
		differs = differs && family[i]->chance <=
					     PEERS_ERROR / (double)(count - i);
		if (!differs)
			family[i]->verdict = VERDICT_GOOD;
	}
}

static bool same_peers(const struct peer_value *a, const struct peer_value *b)
{
	return !strcmp(a->test, b->test) && !strcmp(a->group, b->group);
}

int peers_judge(struct peer_value *values, size_t count, struct error *err)
{
	owned_free double *room = calloc(count + 1, sizeof(*room));
	owned_free struct peer_value **family = NULL;
	size_t known = 0;

	/* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
	family = calloc(count + 1, sizeof(*family));
	if (!room || !family)
		return error_nomem(err, "validation");
	qsort(values, count, sizeof(*values), peer_values_compare);
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i + 1;
		     end < count && same_peers(&values[i], &values[end]);)
			end++;
		group_judge(&values[i], end - i, room);
	}
	for (size_t i = 0; i < count; i++)
		if (isfinite(values[i].chance))
			family[known++] = &values[i];
	family_judge(family, known);
	for (size_t i = 0; i < count; i++)
		if (values[i].value < values[i].floor)
			values[i].verdict = VERDICT_SUSPECT;
	return 0;
}

void peers_confirm(struct peer_value *value, double second)
{
	struct peer_value again = { .value = second, .less = value->less };
	double worse =
		value->less ? second - value->median : value->median - second;
	bool low = value->value < value->floor && second < value->floor;
	bool like = worse < value->threshold * value->median ||
		    (isfinite(value->deviation) &&
		     t_chance(peer_badness(&again, value->median) /
				      value->deviation,
			      (double)value->peers - 1) > AGAIN_CHANCE);

	if (value->verdict == VERDICT_GOOD)
		return;
	if (low || (!like && isfinite(value->chance)))
		value->verdict = VERDICT_BAD;
	else if (like)
		value->verdict = VERDICT_GOOD;
}
