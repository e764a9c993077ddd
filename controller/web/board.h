/* board.h - the jobs of a sweep as a matrix: its cells, coloured by state and
 * rate.
 *
 * Columns are the values of the matrix key that has most of them, up to
 * BOARD_COLUMNS_MAX; a row has the other keys in which cells differ. Repeats
 * stand beside each other.
 */
#ifndef CONTROLLER_WEB_BOARD_H
#define CONTROLLER_WEB_BOARD_H

#include "controller/web/web_page.h"
#include "protocol/message/reply_jobs.h"

#define BOARD_COLUMNS_MAX 12
#define BOARD_SHADES 5 /* of a state, by rate against the best one */

/* rates: tokens a second per device, for each job; NAN: not known. */
void board_put(struct web_page *page, const struct reply_jobs *jobs,
	       const double *rates);

#endif
