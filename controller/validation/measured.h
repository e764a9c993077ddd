/* measured.h - the values of a validation, from the rows of its sweep.
 *
 * A row is of the nodes that its cell names (`node`), else of those it ran on;
 * its peers are rows of nodes with the same hardware and driver. Its rate, each
 * metric and the clock of each device are a value of a test, and a metric
 * "device2_NAME" is one of its device 2; repeats of a cell are one value, their
 * mean.
 */
#pragma once

#include "controller/report/row.h"
#include "controller/validation/peers.h"

/* A row without a value, or with losses; texts are borrowed. */
struct measured_row {
	const char *unit, *group, *test;
	const char *text;  /* why it failed, or all its losses */
	bool differs;      /* set by measured_losses() */
	size_t same, rows; /* rows with its losses; of its group. Of a row that
			      lacks values: how many it has; others */
};

struct measured {
	struct peer_value *values;
	size_t values_count;
	struct measured_row *failures;
	size_t failures_count;
	struct measured_row *losses;
	size_t losses_count;
	struct measured_row *ran; /* completed; the test is the cell */
	size_t ran_count;
	struct strings texts; /* that the others borrow */
};
void measured_clear(struct measured *measured);
OWNED_VALUE(struct measured, measured_clear)

/* Append the values of the rows, which need not outlive them; with their curves
 * also the losses. pairs: a value is of two nodes.
 */
int measured_add(struct measured *measured, const struct report_rows *rows,
		 bool pairs, struct error *err);

/* A completed row with fewer values of a test than more than half of its peers
 * fails that test. The values were judged, which sorts them.
 */
int measured_lacking(struct measured *measured, struct error *err);

/* The second measurement is of suspects only, which have no majority: what a
 * unit lacked in the first one and lacks again fails again.
 */
int measured_lacking_again(const struct measured *first,
			   struct measured *second, struct error *err);

/* Compare the losses of each test and group bit by bit: rows whose losses are
 * not those of more than half differ.
 */
void measured_losses(struct measured *measured);
