/* board.h - writes the jobs of a sweep as a matrix of cells, coloured by state
 * and rate.
 *
 * The columns are the values of the matrix key with the most values, up to
 * BOARD_COLUMNS_MAX. The rows are the combinations of the other keys. Repeats
 * are side by side.
 */
#pragma once

#include "controller/web/web_page.h"
#include "protocol/message/reply_jobs.h"

#define BOARD_COLUMNS_MAX 12
#define BOARD_SHADES 5 /* shades of a state, by rate relative to the best */

struct board;

/* jobs: the largest number of jobs. NULL: no memory. */
struct board *board_new(size_t jobs);
void board_free(struct board *board);

/* Add the jobs in their order. They are borrowed until all is written. */
void board_add(struct board *board, const struct job_info *job);

/* After all are added: write the next slice. 1: there is more. */
int board_next(struct board *board, struct web_page *page);
