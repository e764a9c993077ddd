/* import_conf.c - reads the configuration of a suite in a FlagPerf tree.
 */
#include "controller/cli/commands/import_conf.h"

#include "protocol/base/file.h"
#include "protocol/base/local_tool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Set path to the file `name` of the tree. ENOENT: no such file. EINVAL: it is
 * no regular file, or outside of the tree.
 */
static int import_path(const char *root, const char *name, char path[PATH_MAX],
		       struct error *err)
{
	char real[PATH_MAX];
	size_t size = strlen(root);
	struct stat st;

	if (file_path(path, err, "%s/%s", root, name) < 0)
		return -1;
	if (!realpath(path, real) || stat(real, &st) < 0)
		return error_errno(err, "%s", path);
	if (strncmp(real, root, size) != 0 || real[size] != '/')
		return error_set(err, EINVAL,
				 "%s is a link to %s, outside the tree; put a "
				 "copy in its place",
				 path, real);
	if (!S_ISREG(st.st_mode))
		return error_set(err, EINVAL, "%s: not a regular file", path);
	return 0;
}

struct python_files *python_read(const struct strings *paths, struct error *err)
{
	owned(strings_clear) struct strings argv = { 0 };
	owned(buffer_clear) struct buffer text;
	struct error why;

	buffer_init(&text, PYTHON_OUTPUT_MAX);
	if (python_files_command(paths, &argv, err) < 0)
		return NULL;
	if (local_tool_run(&argv, NULL, PYTHON_TIMEOUT_MS, &text, &why) == 0)
		return python_files_decode(text.data, text.size, paths, err);
	if (why.code == ENOENT)
		error_set(err, EPROTO,
			  "%s: python3 is needed to read this file, but is not "
			  "installed; install the package python3",
			  paths->items[0]);
	else
		error_set(err, why.code == EIO ? EPROTO : why.code, "%s: %s",
			  paths->items[0], why.text);
	return NULL;
}

/* Set path to training/VENDOR/MODEL-FRAMEWORK/config/config_HARDWARExNxP.py,
 * the configuration of a case. -1: there is none.
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

/* Read the hints of some cases, from *next on; *next moves behind them. */
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

static int read_training(struct cli *cli, const char *root,
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
	/* FlagPerf's own repository has no cluster_conf.py. */
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

int import_conf_read(struct cli *cli, const char *root,
		     const struct suite *suite, struct conf *conf,
		     struct error *err)
{
	char path[PATH_MAX];

	if (suite->python)
		return read_training(cli, root, suite, conf, err);
	return import_path(root, suite->file, path, err) < 0
		       ? -1
		       : conf_read_yaml(conf, path, err);
}
