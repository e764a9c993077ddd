/* sweep_source.c - reads the rows of a sweep from where a word says they are.
 */
#include "controller/cli/commands/sweep_source.h"

#include <sys/stat.h>

void sweep_source_clear(struct sweep_source *source)
{
	report_rows_clear(&source->rows);
	results_about_clear(&source->about);
	bundle_clear(&source->bundle);
	session_clear(&source->session);
}

static int sweep_source_read_bundle(struct sweep_source *source,
				    const char *path, unsigned parts,
				    struct error *err)
{
	if (bundle_read(path, NULL, &source->bundle, err) < 0)
		return -1;
	source->rows = source->bundle.rows;
	source->bundle.rows = (struct report_rows){ 0 };
	for (size_t i = 0; !(parts & SOURCE_CURVES) && i < source->rows.count;
	     i++)
		cJSON_Delete(take(source->rows.items[i].series));
	source->about.about = bundle_about(&source->bundle);
	source->sweep = source->about.about.sweep;
	return 0;
}

int sweep_source_fetch(struct sweep_source *source, struct client *client,
		       unsigned parts, struct error *err)
{
	bool file = parts & SOURCE_FILE;

	if (results_fetch(client, source->sweep, parts & SOURCE_CURVES,
			  &source->rows, err) < 0 ||
	    (file && results_add_tails(client, &source->rows, err) < 0))
		return -1;
	return results_about_read(&source->about, client, source->sweep, file,
				  err);
}

bool sweep_source_is_file(const char *word)
{
	struct stat st;

	return stat(word, &st) == 0 && S_ISREG(st.st_mode);
}

int sweep_source_read(struct sweep_source *source, struct cli *cli,
		      const char *word, unsigned parts, struct error *err)
{
	*source = (struct sweep_source){ 0 };
	if (word && sweep_source_is_file(word))
		return sweep_source_read_bundle(source, word, parts, err);
	return session_open_sweep(&source->session, cli, word, &source->sweep,
				  err) < 0
		       ? -1
		       : sweep_source_fetch(source, source->session.client,
					    parts, err);
}
