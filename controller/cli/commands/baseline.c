/* baseline.c - reads what --baseline names.
 */
#include "controller/cli/commands/baseline.h"

#include "controller/report/labels.h"
#include "protocol/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define REPORT_BYTES_MAX ((size_t)256 << 20)

/* The cell of that name, else the only one that has these words. *found: how
 * many have.
 */
static const char *baseline_cell(const struct report_rows *runs,
				 const char *words, size_t *found)
{
	const char *cell = NULL;

	*found = 0;
	ROWS_EACH(row, runs)
	{
		const char *name = row_cell(row);

		if (!strcmp(name, words)) {
			*found = 1;
			return name;
		}
		if (labels_hold(name, words) && (!cell || strcmp(cell, name))) {
			cell = name;
			++*found;
		}
	}
	return cell;
}

/* A bundle is compressed by zstd. */
static bool is_bundle(const char *path)
{
	static const char magic[] = "\x28\xb5\x2f\xfd";
	char begin[sizeof(magic) - 1];
	owned_fd int fd = sweep_source_is_file(path)
				  ? open(path, O_RDONLY | O_CLOEXEC)
				  : -1;

	return fd >= 0 && read(fd, begin, sizeof(begin)) == sizeof(begin) &&
	       !memcmp(begin, magic, sizeof(begin));
}

static int baseline_read_file(struct sweep_source *source, struct cli *cli,
			      const char *path, struct error *err)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(REPORT_BYTES_MAX);

	if (is_bundle(path))
		return sweep_source_read(source, cli, path, 0, err);
	return file_read_any(path, &text, err) < 0
		       ? -1
		       : report_parse(text.data ? text.data : "", text.size,
				      path, &source->rows, err);
}

static bool cell_in_both(const struct report_rows *a,
			 const struct report_rows *b)
{
	ROWS_EACH(row, a)
	{
		ROWS_EACH(other, b)
		{
			if (!strcmp(row_cell(row), row_cell(other)))
				return true;
		}
	}
	return false;
}

int baseline_read(struct sweep_source *source, struct cli *cli,
		  const char *text, const struct report_rows *runs,
		  struct report_about *about, struct error *err)
{
	struct stat st;
	size_t found;
	bool path = stat(text, &st) == 0;
	bool file = path && !S_ISDIR(st.st_mode);

	about->baseline_name = text;
	about->baseline_cell = baseline_cell(runs, text, &found);
	if (found == 1)
		return 0;
	if (found)
		return error_set(err, EINVAL,
				 "--baseline: %zu cells have '%.100s'; name "
				 "one "
				 "by more of its words",
				 found, text);
	if (!file && strchr(text, '='))
		return error_set(err, ENOENT,
				 "--baseline: no cell has '%.100s'", text);
	if ((file ? baseline_read_file(source, cli, text, err)
		  : sweep_source_read(source, cli, text, 0, err)) < 0)
		return error_prefix(err, "--baseline");
	about->baseline = &source->rows;
	if (!path)
		about->baseline_name = source->about.about.title;
	return cell_in_both(runs, about->baseline)
		       ? 0
		       : error_set(err, ENOENT,
				   "--baseline: '%.100s' has no cell of this "
				   "sweep",
				   text);
}
