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

struct board;

/* Of at most so many jobs. NULL: no memory. */
struct board *board_new(size_t jobs);
void board_free(struct board *board);

/* The jobs, in their order; borrowed until all is written. */
void board_add(struct board *board, const struct job_info *job);

/* When all are added: write the next bit of it. 1: there is more. */
int board_next(struct board *board, struct web_page *page);

#endif
