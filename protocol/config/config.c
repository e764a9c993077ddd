/* config.c - a daemon's settings: command line, environment, file, defaults.
 */
#include "protocol/config/config.h"
#include "protocol/config/free_space.h"
#include "protocol/message/codec.h"
#include "protocol/yaml/document.h"
#include "protocol/yaml/value.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME_BYTES 64
#define SETTING_MAX 4000 /* bytes of a value in a file */
#define FILE_BYTES 65536
#define PUBLIC_KEY_LENGTH 40

struct config {
	struct document *document; /* NULL: no file */
	struct strings texts;      /* paths that were completed */
};

void config_free(struct config *config)
{
	if (!config)
		return;
	document_free(config->document);
	strings_clear(&config->texts);
	free(config);
}

/* The key of a rule in the file: '_' for '-'. Cut to fit size. */
static void config_key(const struct option_rule *rule, char *key, size_t size)
{
	snprintf(key, size, "%s", rule->name);
	for (char *c = key; *c; c++)
		if (*c == '-')
			*c = '_';
}

/* The value of NAME in variables; NULL: missing or empty. */
static const char *variable_value(char *const *variables, const char *name)
{
	size_t length = strlen(name);

	for (; variables && *variables; variables++)
		if (!strncmp(*variables, name, length) &&
		    (*variables)[length] == '=' && (*variables)[length + 1])
			return *variables + length + 1;
	return NULL;
}

static int set_default(const struct option_rule *rule, char *const *variables,
		       void *settings, struct error *err)
{
	const char *text = rule->variable
				   ? variable_value(variables, rule->variable)
				   : NULL;

	if (text && option_set(rule, text, settings, err) < 0)
		return error_prefix(err, "%s", rule->variable);
	if (!text && option_set(rule, rule->initial, settings, err) < 0)
		return error_prefix(err, "default of --%s", rule->name);
	return 0;
}

static int set_defaults(const struct config_program *program,
			char *const *variables, void *settings,
			struct error *err)
{
	memset(settings, 0, program->size);
	for (const struct option_rule *rule = program->rules; rule->name;
	     rule++)
		if (rule->initial && rule->kind != OPTION_LAST &&
		    strcmp(rule->name, "config") != 0 &&
		    set_default(rule, variables, settings, err) < 0)
			return -1;
	return 0;
}

/* The file. */

/* Is it a path relative to the file? */
static bool is_relative(const struct option_rule *rule, const char *text)
{
	if (rule->kind == OPTION_KEY)
		return *text != '/' && strlen(text) != PUBLIC_KEY_LENGTH;
	if (rule->kind != OPTION_PATH || !*text || *text == '/')
		return false;
	for (size_t i = 0; rule->words && rule->words[i]; i++)
		if (!strcmp(rule->words[i], text))
			return false;
	return true;
}

static int complete_path(struct config *config, const char *file,
			 const char **text, struct error *err)
{
	const char *slash = strrchr(file, '/');
	char path[PATH_MAX];
	int length = snprintf(path, sizeof(path), "%.*s%s",
			      slash ? (int)(slash + 1 - file) : 0, file, *text);

	if (length < 0 || length >= PATH_MAX)
		return error_set(err, ENAMETOOLONG, "the path is too long");
	if (strings_add(&config->texts, path, err) < 0)
		return -1;
	*text = config->texts.items[config->texts.count - 1];
	return 0;
}

static int set_value(struct config *config, const struct option_rule *rule,
		     const struct value *value, void *settings,
		     struct error *err)
{
	struct error why = { 0 };
	const char *text;

	if (value_string(value, SETTING_MAX, &text, err) < 0)
		return -1;
	if (is_relative(rule, text) &&
	    complete_path(config, value_file(value), &text, err) < 0)
		return -1;
	if (option_set(rule, text, settings, &why) < 0)
		return value_error(value, err, "%s", why.text);
	return 0;
}

static int set_file(const struct config_program *program, struct config *config,
		    const char *path, void *settings, struct error *err)
{
	static const struct document_limits limits = { .bytes = FILE_BYTES };
	char names[OPTION_RULES_MAX][NAME_BYTES];
	const char *keys[OPTION_RULES_MAX + 1];
	const struct option_rule *rules[OPTION_RULES_MAX];
	const struct value *root, *value;
	size_t count = 0;

	config->document = document_read(path, &limits, err);
	if (!config->document)
		return -1;
	root = document_root(config->document);
	if (value_kind(root) == VALUE_NULL)
		return 0;
	for (const struct option_rule *rule = program->rules; rule->name;
	     rule++) {
		if (rule->places & OPTION_NOT_IN_FILE)
			continue;
		config_key(rule, names[count], NAME_BYTES);
		keys[count] = names[count];
		rules[count++] = rule;
	}
	keys[count] = NULL;
	if (value_expect(root, VALUE_MAP, err) < 0 ||
	    value_check_keys(root, keys, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		value = value_get(root, keys[i]);
		if (value &&
		    set_value(config, rules[i], value, settings, err) < 0)
			return -1;
	}
	return 0;
}

int config_read_file(const struct config_program *program, const char *path,
		     void *settings, struct config **config, struct error *err)
{
	owned(config_free) struct config *own = calloc(1, sizeof(*own));

	if (!own)
		return error_nomem(err, "settings");
	if (set_defaults(program, NULL, settings, err) < 0 ||
	    set_file(program, own, path, settings, err) < 0)
		return -1;
	*config = take(own);
	return 0;
}

/* The environment. */

/* The variable of a rule: REGATTA_AGENT_PEER_PORT. */
static void variable_name(const struct config_program *program,
			  const struct option_rule *rule, char name[NAME_BYTES])
{
	size_t length = strlen(program->variables);

	snprintf(name, NAME_BYTES, "%s", program->variables);
	config_key(rule, name + length, NAME_BYTES - length);
	for (char *c = name + length; *c; c++)
		*c = (char)toupper((unsigned char)*c);
}

static int set_variables(const struct config_program *program,
			 char *const *variables, void *settings,
			 struct error *err)
{
	for (const struct option_rule *rule = program->rules; rule->name;
	     rule++) {
		char name[NAME_BYTES];
		const char *text;

		if (rule->places & OPTION_NOT_IN_ENVIRONMENT)
			continue;
		variable_name(program, rule, name);
		text = variable_value(variables, name);
		if (text && option_set(rule, text, settings, err) < 0)
			return error_prefix(err, "%s", name);
	}
	return 0;
}

/* The command line. */

static int set_line(const struct config_program *program, int argc, char **argv,
		    void *settings, struct error *err)
{
	const struct option_tables tables = { { program->rules } };
	owned_free char **words = calloc((size_t)argc + 1, sizeof(*words));
	size_t count;

	if (!words)
		return error_nomem(err, "command line");
	if (option_parse(argc - 1, argv + 1, &tables, settings, words, &count,
			 err) < 0)
		return -1;
	if (count)
		return error_set(err, EINVAL,
				 "'%.60s' is not valid here; expected options; "
				 "see %s --help",
				 words[0], program->name);
	return 0;
}

int config_read(const struct config_program *program, int argc, char **argv,
		char *const *variables, void *settings, struct config **config,
		struct error *err)
{
	owned(config_free) struct config *own = calloc(1, sizeof(*own));
	struct config_common *common = settings;
	const char *path;

	if (!own)
		return error_nomem(err, "settings");
	if (set_defaults(program, variables, settings, err) < 0 ||
	    set_line(program, argc, argv, settings, err) < 0)
		return -1;
	if (!common->help && !common->version) {
		/* First learn which file is named, then read all sources in
		 * order. */
		if (set_variables(program, variables, settings, err) < 0 ||
		    set_line(program, argc, argv, settings, err) < 0)
			return -1;
		path = common->config ? common->config : program->file;
		if (set_defaults(program, variables, settings, err) < 0 ||
		    ((path != program->file || access(path, F_OK) == 0) &&
		     set_file(program, own, path, settings, err) < 0) ||
		    set_variables(program, variables, settings, err) < 0 ||
		    set_line(program, argc, argv, settings, err) < 0)
			return -1;
	}
	*config = take(own);
	return 0;
}

static bool config_is_same(const struct option_rule *rule, const void *before,
			   const void *after)
{
	const void *one = (const char *)before + rule->offset;
	const void *other = (const char *)after + rule->offset;
	const char *text, *other_text;

	if (rule->kind == OPTION_FLAG || rule->kind == OPTION_LAST)
		return *(const bool *)one == *(const bool *)other;
	if (rule->kind == OPTION_NUMBER || rule->kind == OPTION_SIZE)
		return *(const uint64_t *)one == *(const uint64_t *)other;
	if (rule->kind == OPTION_FLOOR)
		return free_space_equal(one, other);
	text = *(const char *const *)one;
	other_text = *(const char *const *)other;
	return text && other_text ? !strcmp(text, other_text)
				  : text == other_text;
}

bool config_changes(const struct config_program *program, const void *before,
		    const void *after, char names[CONFIG_NAMES_BYTES])
{
	size_t used = 0;

	for (const struct option_rule *rule = program->rules; rule->name;
	     rule++) {
		char key[NAME_BYTES];

		if (rule->offset == offsetof(struct config_common, verbose) ||
		    config_is_same(rule, before, after) ||
		    used >= CONFIG_NAMES_BYTES)
			continue;
		config_key(rule, key, sizeof(key));
		used += (size_t)snprintf(names + used,
					 CONFIG_NAMES_BYTES - used, "%s%s",
					 used ? ", " : "", key);
	}
	return used;
}

void config_help(const struct config_program *program, FILE *out)
{
	fprintf(out, "usage: %s %s\n\n%s\n\n", program->name, program->usage,
		program->about);
	option_print(out, program->rules);
	fprintf(out, "\n%s\n", program->closing);
}
