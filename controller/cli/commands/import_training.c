/* import_training.c - what the Python files of a FlagPerf tree configure.
 */
#include "controller/cli/commands/import_training.h"

#include "controller/cli/commands/import_path.h"
#include "controller/cli/python.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

/* training/VENDOR/MODEL-FRAMEWORK/config/config_HARDWARExNxP.py, where there is
 * one.
 */
static int case_path(const char *root, const struct conf *conf,
		     const char *name, char path[PATH_MAX])
{
	char copy[256], *rest = copy, *parts[5], file[PATH_MAX];

	snprintf(copy, sizeof(copy), "%s", name);
	for (int i = 0; i < 5; i++)
		parts[i] = rest ? strsep(&rest, ":") : NULL;
	if (!parts[4])
		return -1;
	parts[1][strcspn(parts[1], "_")] = 0;
	if (snprintf(file, sizeof(file),
		     "training/%s/%s-%s/config/config_%sx%sx%s.py",
		     conf_text(conf, "VENDOR"), parts[0], parts[1], parts[2],
		     parts[3], parts[4]) >= (int)sizeof(file))
		return -1;
	return import_path(root, file, path, NULL);
}

/* What the configurations of some cases say, from *next on; *next: behind the
 * last one that was looked at.
 */
static int read_hints(const char *root, struct conf *conf, size_t *next,
		      struct error *err)
{
	owned(strings_clear) struct strings paths = { 0 };
	owned(python_files_free) struct python_files *files = NULL;
	struct conf_case *of[PYTHON_FILES_MAX] = { NULL };
	char path[PATH_MAX];

	for (; *next < conf->count && paths.count < PYTHON_FILES_MAX; ++*next) {
		if (case_path(root, conf, conf->cases[*next].name, path) < 0)
			continue;
		of[paths.count] = &conf->cases[*next];
		if (strings_add(&paths, path, err) < 0)
			return -1;
	}
	if (!paths.count)
		return 0;
	files = python_read(&paths, err);
	for (size_t i = 0; files && i < paths.count; i++)
		conf_hints(files, i, of[i]->hints);
	return files ? 0 : -1;
}

int import_training(struct cli *cli, const char *root,
		    const struct suite *suite, struct conf *conf,
		    struct error *err)
{
	char path[PATH_MAX], cluster[PATH_MAX];
	owned(strings_clear) struct strings paths = { 0 };
	owned(python_files_free) struct python_files *files = NULL;
	struct error why;

	if (import_path(root, suite->file, path, err) < 0 ||
	    strings_add(&paths, path, err) < 0)
		return -1;
	/* FlagPerf's own repository has none with hosts. */
	if (import_path(root, suite->cluster, cluster, &why) == 0) {
		if (strings_add(&paths, cluster, err) < 0)
			return -1;
	} else if (why.code != ENOENT) {
		return error_set(err, why.code, "%s", why.text);
	}
	files = python_read(&paths, err);
	if (!files || conf_read_python(conf, files, 0, err) < 0 ||
	    (paths.count > 1 && conf_read_python(conf, files, 1, err) < 0))
		return -1;
	for (size_t next = 0; next < conf->count;) {
		if (read_hints(root, conf, &next, &why) == 0)
			continue;
		cli_say(cli,
			"  the configurations of the cases were not "
			"read: %s",
			why.text);
		break;
	}
	return 0;
}
