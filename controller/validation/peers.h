/* peers.h - judges nodes, devices and links by what their peers measured.
 *
 * Values of one test in one group (the same chip and driver) are compared with
 * their median. A unit differs if both hold:
 *
 * practically: it is worse by the threshold of the test or more; and
 *
 * statistically: its distance in units of its peers' deviation is improbable.
 * All checks of a call are one family (Holm, 1979): the probability that any
 * good unit of it differs by chance is at most PEERS_ERROR.
 *
 * With fewer than PEERS_LEAST values a deviation cannot be known from them, and
 * only the practical part counts: such a unit is suspect, and bad only below
 * its floor. Below
 * PEERS_MANY the slowest ones do not count for the deviation of the others. If
 * the values of a group stand in two heaps, each is judged against its own; a
 * heap of fewer than PEERS_LEAST is only told, and suspect if it is the slower
 * and smaller one.
 *
 * A unit that differs is suspect; one that differs in a second measurement,
 * too, is bad. Pure.
 */
#pragma once

#include "protocol/base/error.h"
#include "protocol/base/owned.h"

#include <stdbool.h>
#include <stddef.h>

#define PEERS_LEAST 8
#define PEERS_MANY 64 /* a few slow ones do not change their deviation */
#define PEERS_ERROR 0.01
#define PEERS_COMPUTE 0.05 /* thresholds */
#define PEERS_NETWORK 0.10
#define PEERS_START 0.50

enum verdict { VERDICT_GOOD = 1, VERDICT_SUSPECT, VERDICT_BAD, VERDICTS };
extern const char *const verdict_names[VERDICTS + 1];

/* One measured value; texts are borrowed. */
struct peer_value {
	const char *unit;  /* "n3", "n3+n4", "n3 device 2" */
	const char *group; /* of its peers */
	const char *test;
	const char *cell; /* each of its rows should have the value; NULL: or
			     not */
	double value;
	double threshold; /* a share of the median */
	size_t number;    /* for the caller; SIZE_MAX in new values */
	double floor;     /* less is suspect, and twice bad, whatever its peers
			     have; 0: none */
	bool less;        /* a smaller value is better */
	bool pair;        /* of two nodes: slow ones are no heap of their own,
			     a node is in many */
	/* Set by peers_judge(): */
	enum verdict verdict;
	double median;    /* of its peers */
	double deviation; /* of them, as a share of it; NAN: not known */
	double worse;     /* than the median, a share of it; below 0:
			     better */
	double chance;    /* of so large a distance; NAN: not known */
	size_t peers;     /* that the median is of */
	size_t others; /* in the other heap of its group; 0: there is one heap
			*/
	double other_median;
};

/* Judge all values; they are sorted by test, group and value. ENOMEM. */
int peers_judge(struct peer_value *values, size_t count, struct error *err);

/* A second measurement of the same unit and test: a suspect becomes bad if that
 * is worse than the first median, too, practically and by three deviations;
 * else good.
 */
void peers_confirm(struct peer_value *value, double second);

/* By the names of metrics: a test of a network has PEERS_NETWORK, that of a
 * start PEERS_START, as an engine does other things, too; one whose
 * name ends in _ms, _us, _s or _latency is better when it is smaller.
 */
double test_threshold(const char *test);
bool test_less(const char *test);
