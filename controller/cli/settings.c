/* settings.c - finds the controller, the user's key and the installed parts.
 */
#include "controller/cli/settings.h"
#include "protocol/base/file.h"
#include "protocol/wire/server_keys.h"
#include "protocol/config/installed.h"
#include "protocol/yaml/document.h"

#include <errno.h>
#include <string.h>

#define SETTING_MAX 4000 /* bytes in a value of the configuration file */

struct config {
	const struct environment *environment;
	const struct options *options; /* NULL: only the file is looked for */
	char path[PATH_MAX];           /* "": there is no file */
	char folder[PATH_MAX];         /* of the user's settings, or "" */
	struct document *document;     /* NULL: no file */
	const char *controller;        /* borrowed from the document */
	const char *controller_key;
	const char *key;
};

static void config_clear(struct config *config)
{
	document_free(config->document);
}
OWNED_VALUE(struct config, config_clear)

static int find_config(struct config *config, struct error *err)
{
	const struct environment *environment = config->environment;
	const char *slash;
	int rc;

	if (environment->config) {
		slash = strrchr(environment->config, '/');
		return file_path(config->path, err, "%s", environment->config) |
		       file_path(config->folder, err, "%.*s",
				 slash ? (int)(slash - environment->config) : 1,
				 slash ? environment->config : ".");
	}
	if (environment->config_home && environment->config_home[0] == '/')
		rc = file_path(config->folder, err, "%s/regatta",
			       environment->config_home);
	else if (environment->home && environment->home[0])
		rc = file_path(config->folder, err, "%s/.config/regatta",
			       environment->home);
	else
		return 0;
	return rc < 0 ? -1
		      : file_path(config->path, err, "%s/config.yaml",
				  config->folder);
}

int settings_file(const struct environment *environment, char path[PATH_MAX],
		  char folder[PATH_MAX], struct error *err)
{
	struct config config = { .environment = environment };

	if (find_config(&config, err) < 0)
		return -1;
	if (!config.path[0])
		return error_set(err, EINVAL,
				 "HOME is not set; set REGATTA_CONFIG to the "
				 "settings file");
	memcpy(path, config.path, PATH_MAX);
	memcpy(folder, config.folder, PATH_MAX);
	return 0;
}

static int settings_read_text(const struct value *root, const char *name,
			      const char **to, struct error *err)
{
	const struct value *value = value_get(root, name);

	return value ? value_string(value, SETTING_MAX, to, err) : 0;
}

static int settings_read_config(struct config *config, struct error *err)
{
	static const char *const keys[] = { "controller", "controller_key",
					    "key", NULL };
	static const struct document_limits limits = { .bytes = 65536 };
	const struct value *root;

	if (find_config(config, err) < 0)
		return -1;
	if (!config->environment->config &&
	    (!config->path[0] || access(config->path, F_OK) < 0)) {
		/* A user who may not read the services' file does not use it.
		 */
		if (access(installed_operator_yaml, R_OK) < 0)
			return 0;
		snprintf(config->path, PATH_MAX, "%s", installed_operator_yaml);
		snprintf(config->folder, PATH_MAX, "%s", installed_settings);
	}
	config->document = document_read(config->path, &limits, err);
	if (!config->document)
		return -1;
	root = document_root(config->document);
	if (value_kind(root) == VALUE_NULL)
		return 0;
	if (value_expect(root, VALUE_MAP, err) < 0 ||
	    value_check_keys(root, keys, err) < 0 ||
	    settings_read_text(root, "controller", &config->controller, err) <
		    0 ||
	    settings_read_text(root, "controller_key", &config->controller_key,
			       err) < 0)
		return -1;
	return settings_read_text(root, "key", &config->key, err);
}

static const char *first_of(const char *option, const char *environment,
			    const char *config)
{
	if (option)
		return option;
	return environment && *environment ? environment : config;
}

/* A path of the configuration file is relative to its folder. */
static int from_config(const struct config *config, const char *given,
		       char path[PATH_MAX], struct error *err)
{
	return given[0] == '/'
		       ? file_path(path, err, "%s", given)
		       : file_path(path, err, "%s/%s", config->folder, given);
}

static int find_endpoint(const struct config *config,
			 struct connection *connection, struct error *err)
{
	const char *given =
		first_of(config->options->controller,
			 config->environment->controller, config->controller);

	if (!given)
		return error_set(err, SETTINGS_NO_CONTROLLER,
				 "no controller is set: use 'regatta join "
				 "TOKEN', --controller tcp://HOST:7117, "
				 "REGATTA_CONTROLLER, or "
				 "'controller:' in "
				 "~/.config/regatta/config.yaml; regatta run "
				 "needs no controller");
	if (strlen(given) >= sizeof(connection->endpoint) ||
	    (strncmp(given, "tcp://", 6) != 0 &&
	     strncmp(given, "ipc://", 6) != 0))
		return error_set(err, EINVAL,
				 "controller: '%.80s' is not valid here; "
				 "expected tcp://HOST:PORT or ipc://PATH",
				 given);
	snprintf(connection->endpoint, sizeof(connection->endpoint), "%s",
		 given);
	return 0;
}

static int find_server_key(const struct config *config,
			   struct connection *connection, struct error *err)
{
	const char *given = first_of(config->options->controller_key,
				     config->environment->controller_key, NULL);
	char path[PATH_MAX];

	if (!given && config->controller_key) {
		given = config->controller_key;
		if (strlen(given) != KEY_TEXT_SIZE - 1 ||
		    access(given, F_OK) == 0 || given[0] == '/') {
			if (from_config(config, given, path, err) < 0)
				return -1;
			given = path;
		}
	}
	if (!given)
		return error_set(err, EINVAL,
				 "the controller's public key is not set: use "
				 "'regatta join TOKEN', --controller-key KEY "
				 "or FILE, "
				 "REGATTA_CONTROLLER_KEY, or 'controller_key:' "
				 "in ~/.config/regatta/config.yaml");
	if (key_public(given, connection->server_public, err) < 0)
		return error_prefix(err, "controller's key");
	return 0;
}

static int find_own_key(const struct config *config,
			struct connection *connection, struct error *err)
{
	const char *given =
		first_of(config->options->key, config->environment->key, NULL);
	char path[PATH_MAX];

	if (!given && (config->key || config->folder[0])) {
		if (from_config(config, config->key ? config->key : "key", path,
				err) < 0)
			return -1;
		given = path;
	}
	if (!given)
		return error_set(err, EINVAL,
				 "your key is not set: use --key FILE or "
				 "REGATTA_KEY");
	if (access(given, F_OK) < 0 && errno == ENOENT)
		return error_set(err, ENOENT,
				 "no key at %.80s: make one with 'regatta join "
				 "TOKEN' (an operator's 'regatta user add' "
				 "prints a token) or with 'regatta key new'",
				 given);
	if (key_load(&connection->key, given, err) < 0)
		return -1;
	snprintf(connection->keys_file, sizeof(connection->keys_file), "%s%s",
		 given, SERVER_KEYS_PERSON);
	if (connection->key.role != ROLE_OPERATOR &&
	    connection->key.role != ROLE_VIEWER)
		return error_set(err, EINVAL,
				 "%.80s: the role %s is not valid here; "
				 "expected a key of role operator or viewer",
				 given, role_name(connection->key.role));
	return 0;
}

static int settings_find_controller(struct config *config,
				    struct connection *connection,
				    struct error *err)
{
	return settings_read_config(config, err) < 0 ||
			       find_endpoint(config, connection, err) < 0
		       ? -1
		       : find_server_key(config, connection, err);
}

int settings_connection(const struct environment *environment,
			const struct options *options,
			struct connection *connection, struct error *err)
{
	owned(config_clear) struct config config = { .environment = environment,
						     .options = options };
	struct connection found = { 0 };

	if (settings_find_controller(&config, &found, err) < 0 ||
	    find_own_key(&config, &found, err) < 0)
		return -1;
	*connection = found;
	return 0;
}

int settings_controller(const struct environment *environment,
			const struct options *options,
			struct connection *connection, struct error *err)
{
	owned(config_clear) struct config config = { .environment = environment,
						     .options = options };

	return settings_find_controller(&config, connection, err);
}

int settings_newest_key(struct connection *connection, struct error *err)
{
	struct server_keys keys;

	if (server_keys_read(&keys, connection->server_public,
			     connection->keys_file, err) < 0)
		return -1;
	memcpy(connection->server_public, keys.current, KEY_TEXT_SIZE);
	return 0;
}

/* Set path to the real path of folder/name. False: there is no such file. */
static bool try_path(const char *folder, const char *name, int mode,
		     char path[PATH_MAX])
{
	char joined[PATH_MAX];
	int length = snprintf(joined, sizeof(joined), "%s/%s", folder, name);

	return length > 0 && length < PATH_MAX && access(joined, mode) == 0 &&
	       realpath(joined, path);
}

int settings_images(const struct environment *environment,
		    const struct options *options, char path[PATH_MAX],
		    struct error *err)
{
	const char *given =
		first_of(options->images, environment->images, NULL);

	if (given) {
		if (!realpath(given, path))
			return error_set(err, ENOENT, "--images %.120s: %s",
					 given, strerror(errno));
		return 0;
	}
	if (realpath(installed_images, path))
		return 0;
	return error_set(err, ENOENT,
			 "no folder of models, frameworks and vendors at "
			 "%.120s; use --images DIR",
			 installed_images);
}

/* Look in the sbin folder beside a bin folder: the PATH of an ordinary user has
 * no sbin.
 */
static bool try_sbin(const char *folder, const char *name, char path[PATH_MAX])
{
	char sbin[PATH_MAX];
	int length = (int)strlen(folder);

	if (length < 4 || strcmp(folder + length - 4, "/bin") != 0 ||
	    length + 1 >= PATH_MAX)
		return false;
	snprintf(sbin, sizeof(sbin), "%.*ssbin", length - 3, folder);
	return try_path(sbin, name, X_OK, path);
}

static bool try_search_path(const struct environment *environment,
			    const char *name, char path[PATH_MAX])
{
	const char *from = environment->path;

	while (from && *from) {
		size_t length = strcspn(from, ":");
		char folder[PATH_MAX];

		if (length && length < sizeof(folder)) {
			snprintf(folder, sizeof(folder), "%.*s", (int)length,
				 from);
			if (try_path(folder, name, X_OK, path) ||
			    try_sbin(folder, name, path))
				return true;
		}
		from += length + (from[length] == ':');
	}
	return false;
}

int settings_program(const struct environment *environment, const char *name,
		     char path[PATH_MAX], struct error *err)
{
	static const char *const beside[] = { ".", "../sbin", "../lib/regatta",
					      NULL };

	for (size_t i = 0; environment->folder && beside[i]; i++) {
		char folder[PATH_MAX];

		snprintf(folder, sizeof(folder), "%.3000s/%s",
			 environment->folder, beside[i]);
		if (try_path(folder, name, X_OK, path))
			return 0;
	}
	if (try_search_path(environment, name, path))
		return 0;
	return error_set(err, ENOENT,
			 "program %s not found beside this one (%.100s), in "
			 "../sbin, ../lib/regatta, or the bin and sbin folders "
			 "of PATH; install all of Regatta",
			 name, environment->folder ? environment->folder : "-");
}

int read_input(const char *name, struct buffer *out, struct error *err)
{
	const char *path = strcmp(name, "-") ? name : "/dev/stdin";

	if (file_read_any(path, out, err) == 0)
		return 0;
	if (err->code != ENOMEM && err->code != E2BIG)
		err->code = EINVAL; /* a wrong request */
	return -1;
}
