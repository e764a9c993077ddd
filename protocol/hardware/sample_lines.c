/* sample_lines.c - monitor output in lines that expressions match.
 */
#include "protocol/hardware/sample_internal.h"

#include <string.h>

/* A new block replaces the one before only when it has a device, because a log
 * that is being written may end within a block.
 */
struct blocks {
	struct run *run;
	struct row *row;  /* the device being read, or NULL */
	struct row group; /* values for the devices that follow */
	bool fresh;       /* a `from` line came, and no device since */
	bool closed;      /* an `until` line came */
};

static int match_anywhere(struct blocks *blocks, struct expression *expression,
			  const struct line *line, struct error *err)
{
	return expression ? run_match(blocks->run, expression, line->text,
				      EXPRESSION_ANYWHERE, err)
			  : 0;
}

/* 1: a line that begins or ends a block. */
static int block_line(struct blocks *blocks, const struct line *line,
		      struct error *err)
{
	const struct layout *layout = blocks->run->layout;
	int from = match_anywhere(blocks, layout->from, line, err);
	int turn;

	if (from < 0)
		return -1;
	/* After its end, a block begins again at a line that `when` matches. */
	turn = from ? 0
		    : match_anywhere(blocks,
				     blocks->closed ? layout->when
						    : layout->until,
				     line, err);
	if (turn < 0)
		return -1;
	if (!from && !turn)
		return 0;
	run_row_end(blocks->run);
	blocks->row = NULL;
	blocks->closed = from ? false : !blocks->closed;
	blocks->fresh = blocks->fresh || from;
	/* The line that opens may be a device itself. */
	return from || blocks->closed;
}

/* Match the expressions of `more` that have not matched for this device. */
static int more_line(struct blocks *blocks, const struct line *line,
		     struct error *err)
{
	const struct expressions *more = &blocks->run->layout->more;
	struct row *row = blocks->row;

	for (size_t i = 0; row && i < more->count; i++) {
		int rc;

		if (row->more & 1u << i)
			continue;
		rc = run_match(blocks->run, more->list[i], line->text,
			       EXPRESSION_START, err);
		if (rc < 0)
			return -1;
		if (!rc)
			continue;
		row->more |= 1u << i;
		row_put_groups(blocks->run, row, more->list[i]);
		return 0;
	}
	return 0;
}

/* A line with values for the devices that follow; it may begin one itself. */
static int group_line(struct blocks *blocks, const struct line *line,
		      struct error *err)
{
	const struct expressions *group = &blocks->run->layout->group;
	size_t index;
	int rc = run_match_any(blocks->run, group, line->text, EXPRESSION_START,
			       &index, err);

	if (rc <= 0)
		return rc;
	memset(&blocks->group, 0, sizeof(blocks->group));
	row_put_groups(blocks->run, &blocks->group, group->list[index]);
	return 0;
}

static int blocks_read_device(struct blocks *blocks, const struct line *line,
			      struct error *err)
{
	const struct expressions *device = &blocks->run->layout->device;
	size_t index;
	int rc = run_match_any(blocks->run, device, line->text,
			       EXPRESSION_START, &index, err);

	if (rc <= 0)
		return rc;
	if (blocks->row)
		run_row_end(blocks->run);
	if (blocks->fresh)
		blocks->run->count = 0;
	blocks->fresh = false;
	blocks->row = run_row(blocks->run, &blocks->group, err);
	if (!blocks->row)
		return -1;
	row_put_groups(blocks->run, blocks->row, device->list[index]);
	return 1;
}

int lines_read(struct run *run, struct error *err)
{
	struct blocks blocks = { .run = run };
	struct line line;
	size_t at = 0;

	while (line_next(run->lines, run->lines_size, &at, &line)) {
		int rc = block_line(&blocks, &line, err);

		if (!rc && !blocks.closed)
			rc = group_line(&blocks, &line, err);
		if (!rc && !blocks.closed)
			rc = blocks_read_device(&blocks, &line, err);
		if (!rc && !blocks.closed)
			rc = more_line(&blocks, &line, err);
		if (rc < 0)
			return -1;
	}
	run_row_end(run);
	return 0;
}
