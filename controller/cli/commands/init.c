/* init.c - init: turns a command line of docker run into a sweep file.
 */
#include "controller/cli/command.h"
#include "controller/results/json_object.h"
#include "protocol/base/program.h"
#include "protocol/hardware/profile.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* What the command line asks for: a tree of the keys of a sweep. */
struct init {
	cJSON *sweep, *mounts, *env, *ulimits, *capabilities, *command;
	struct profiles profiles;
	struct strings devices; /* names that only profiles explain */
	bool failed;
};

static void init_clear(struct init *init)
{
	cJSON_Delete(init->sweep);
	profiles_clear(&init->profiles);
	strings_clear(&init->devices);
}
OWNED_VALUE(struct init, init_clear)

static void init_text(struct init *init, const char *key, const char *value)
{
	json_add_text(init->sweep, key, value, &init->failed);
}

/* "4", "all", "device=0,2" or "\"device=0,2\"" */
static void init_gpus(struct init *init, const char *value)
{
	const char *list = strstr(value, "device=");
	uint32_t count = list ? 1 : (uint32_t)strtoul(value, NULL, 10);

	init_text(init, "vendor", "nvidia");
	for (; list && *list; list++)
		count += *list == ',';
	if (count)
		json_add_number(init->sweep, "devices", count, &init->failed);
}

/* "/data:/data:ro" */
static void init_volume(struct init *init, const char *value)
{
	owned_free char *host = strdup(value);
	char *container = host ? strchr(host, ':') : NULL;
	char *flags = container ? strchr(container + 1, ':') : NULL;
	cJSON *mount = cJSON_CreateObject();

	if (container)
		*container++ = 0;
	if (flags)
		*flags++ = 0;
	json_add_text(mount, "host", host, &init->failed);
	json_add_text(mount, "container", container ? container : host,
		      &init->failed);
	if (flags && !strncmp(flags, "ro", 2))
		json_add(mount, "read_only", cJSON_CreateTrue(), &init->failed);
	json_add(init->mounts, NULL, mount, &init->failed);
}

/* "/dev/davinci0", "nvidia.com/gpu=all" */
static void init_device(struct init *init, const char *value)
{
	init->failed |= strings_add(&init->devices, value, NULL) < 0;
}

/* Does a vendor's runtime select devices by this variable? */
static bool init_selects(const struct init *init, const char *name)
{
	for (size_t i = 0; i < init->profiles.count; i++) {
		const struct profile *profile = init->profiles.list[i];

		if (profile->container.selector.name &&
		    !strcmp(profile->container.selector.name, name))
			return true;
	}
	return false;
}

/* "A=b"; "A": what the caller's environment has. */
static void init_env(struct init *init, const char *value)
{
	owned_free char *name = strdup(value);
	char *equals = name ? strchr(name, '=') : NULL;

	if (equals)
		*equals++ = 0;
	if (equals && init_selects(init, name))
		init_device(init, value);
	else
		json_add_text(init->env, name, equals ? equals : "",
			      &init->failed);
}

/* "memlock=-1" */
static void init_ulimit(struct init *init, const char *value)
{
	owned_free char *name = strdup(value);
	char *equals = name ? strchr(name, '=') : NULL;

	if (equals)
		*equals++ = 0;
	json_add_text(init->ulimits, name, equals ? equals : "", &init->failed);
}

static void init_capability(struct init *init, const char *value)
{
	json_add(init->capabilities, NULL, cJSON_CreateString(value),
		 &init->failed);
}

static void init_entrypoint(struct init *init, const char *value)
{
	json_add(init->command, NULL, cJSON_CreateString(value), &init->failed);
}

static void init_cpus(struct init *init, const char *value)
{
	json_add_number(init->sweep, "cpus", strtod(value, NULL),
			&init->failed);
}

/* Options of docker run. key: of the sweep, that has the value; put: what does
 * with it instead; neither: it means nothing here. flag: it has no value.
 */
static const struct init_option {
	const char *name, *letter, *key;
	void (*put)(struct init *init, const char *value);
	bool flag;
} init_options[] = {
	{ "--gpus", NULL, NULL, init_gpus, false },
	{ "--device", NULL, NULL, init_device, false },
	{ "--ulimit", NULL, NULL, init_ulimit, false },
	{ "--cap-add", NULL, NULL, init_capability, false },
	{ "--volume", "-v", NULL, init_volume, false },
	{ "--env", "-e", NULL, init_env, false },
	{ "--entrypoint", NULL, NULL, init_entrypoint, false },
	{ "--workdir", "-w", "workdir", NULL, false },
	{ "--user", "-u", "user", NULL, false },
	{ "--shm-size", NULL, "shm", NULL, false },
	{ "--memory", "-m", "memory", NULL, false },
	{ "--cpus", NULL, NULL, init_cpus, false },
	{ "--network", NULL, "network", NULL, false },
	{ "--net", NULL, "network", NULL, false },
	{ "--ipc", NULL, "ipc", NULL, false },
	{ "--name", NULL, "sweep", NULL, false },
	{ "--hostname", "-h", NULL, NULL, false },
	{ "--runtime", NULL, NULL, NULL, false },
	{ "--rm", NULL, NULL, NULL, true },
	{ "--interactive", "-i", NULL, NULL, true },
	{ "--tty", "-t", NULL, NULL, true },
	{ "-it", "-ti", NULL, NULL, true },
	{ "--detach", "-d", NULL, NULL, true },
	{ "--init", NULL, NULL, NULL, true },
};

static const struct init_option *init_find(const char *word, const char **value)
{
	size_t length = strcspn(word, "=");

	*value = word[length] ? word + length + 1 : NULL;
	for (size_t i = 0; i < sizeof(init_options) / sizeof(*init_options);
	     i++) {
		const struct init_option *option = &init_options[i];

		if ((strlen(option->name) == length &&
		     !strncmp(option->name, word, length)) ||
		    (option->letter && !strcmp(option->letter, word)))
			return option;
	}
	return NULL;
}

/* The options, up to the image, which words[*at] then is. */
static int init_read_options(struct init *init, const struct cli *cli,
			     size_t *at, struct error *err)
{
	for (; *at < cli->arg_count && cli->args[*at][0] == '-'; ++*at) {
		const char *word = cli->args[*at], *value;
		const struct init_option *option = init_find(word, &value);

		if (!option)
			return error_set(err, EINVAL,
					 "init: no key of a sweep is known for "
					 "%s; leave it out, and see "
					 "regatta-sweep(5)",
					 word);
		if (!option->flag && !value && ++*at < cli->arg_count)
			value = cli->args[*at];
		if (!option->flag && !value)
			return error_set(err, EINVAL, "init: %s has no value",
					 word);
		if (option->put)
			option->put(init, value);
		else if (option->key &&
			 !cJSON_HasObjectItem(init->sweep, option->key))
			init_text(init, option->key, value);
	}
	return *at < cli->arg_count
		       ? 0
		       : error_set(err, EINVAL, "init: the image is missing");
}

/* A key a line; JSON is YAML. */
static int init_print(struct cli *cli, const cJSON *sweep, struct error *err)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, sweep) {
		char *printed = cJSON_PrintUnformatted(item);

		if (!printed)
			return error_nomem(err, "init");
		fprintf(cli->out, "%s: ", item->string);
		/* Its $ is for the shell; one for the sweep is $$. */
		for (const char *c = printed; *c; c++) {
			if (*c == '$')
				fputc('$', cli->out);
			fputc(*c, cli->out);
		}
		fputc('\n', cli->out);
		cJSON_free(printed);
	}
	return 0;
}

/* A path in /dev: {minor} stands for a number. */
static bool init_is_node(const char *pattern, const char *path)
{
	size_t brace = strcspn(pattern, "{");
	const char *behind = strchr(pattern, '}');
	char glob[300], name[300];

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(path, ":"), path);
	snprintf(glob, sizeof(glob), "%.*s%s%s", (int)brace, pattern,
		 behind ? "[0-9]*" : "", behind ? behind + 1 : "");
	return !fnmatch(glob, name, FNM_PATHNAME);
}

/* Also a folder of such paths. */
static bool init_is_any(const struct strings *patterns, const char *path)
{
	size_t size = strcspn(path, ":");

	for (size_t i = 0; i < patterns->count; i++) {
		const char *pattern = patterns->items[i];

		if (init_is_node(pattern, path) ||
		    (size && !strncmp(pattern, path, size) &&
		     pattern[size] == '/'))
			return true;
	}
	return false;
}

/* The number of devices in "NAME=0,2"; 0: all. -1: that is not the name. */
static int init_count_named(const char *name, const char *word)
{
	size_t length = name ? strlen(name) : 0;
	int count = 1;

	if (!length || strncmp(name, word, length) != 0 || word[length] != '=')
		return -1;
	word += length + 1;
	if (!strcmp(word, "all"))
		return 0;
	for (; *word; word++)
		count += *word == ',';
	return count;
}

/* Are all of these devices the vendor's? *count: how many; 0: all. */
static bool init_fits(const struct container_rules *rules,
		      const struct strings *words, uint32_t *count)
{
	const struct strings *nodes = &rules->device_nodes;

	*count = 0;
	for (size_t i = 0; i < words->count; i++) {
		const char *word = words->items[i];
		int named = init_count_named(rules->cdi, word);

		if (named < 0)
			named = init_count_named(rules->selector.name, word);
		if (named < 0 && !init_is_any(nodes, word) &&
		    !init_is_any(&rules->shared_nodes, word) &&
		    !init_is_any(&rules->optional_nodes, word))
			return false;
		/* Of the several nodes of a device the last one counts. */
		if (named < 0)
			named = nodes->count &&
				init_is_node(nodes->items[nodes->count - 1],
					     word);
		*count += (uint32_t)named;
	}
	return true;
}

/* The first vendor whose devices they are. */
static int init_find_vendor(struct init *init, struct error *err)
{
	uint32_t count;

	for (size_t i = 0; init->devices.count && i < init->profiles.count;
	     i++) {
		const struct profile *profile = init->profiles.list[i];

		if (!init_fits(&profile->container, &init->devices, &count))
			continue;
		if (!cJSON_HasObjectItem(init->sweep, "vendor"))
			init_text(init, "vendor", profile->vendor);
		if (count && !cJSON_HasObjectItem(init->sweep, "devices"))
			json_add_number(init->sweep, "devices", count,
					&init->failed);
		return 0;
	}
	return init->devices.count
		       ? error_set(err, EINVAL,
				   "init: no vendor is known whose device is "
				   "%.100s; leave it out, and set vendor in "
				   "the sweep",
				   init->devices.items[0])
		       : 0;
}

static void init_add_list(struct init *init, const char *key, cJSON *list)
{
	if (cJSON_GetArraySize(list))
		json_add(init->sweep, key, list, &init->failed);
	else
		cJSON_Delete(list);
}

/* The words in front of the options: "sudo docker container run". 0: others. */
static size_t init_program(const struct cli *cli)
{
	static const char *const words[] = { "sudo", "docker", "podman",
					     "nerdctl", "container" };
	size_t at = 0;

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		at += at < cli->arg_count && !strcmp(cli->args[at], words[i]);
	return at && at < cli->arg_count && !strcmp(cli->args[at], "run")
		       ? at + 1
		       : 0;
}

static int init_command(struct cli *cli, struct error *err)
{
	owned(init_clear) struct init init = {
		.sweep = cJSON_CreateObject(),
		.mounts = cJSON_CreateArray(),
		.env = cJSON_CreateObject(),
		.ulimits = cJSON_CreateObject(),
		.capabilities = cJSON_CreateArray(),
		.command = cJSON_CreateArray(),
	};
	char images[PATH_MAX];
	size_t at = init_program(cli);
	int rc = cli_images(cli, images, err);

	if (rc == 0)
		rc = profiles_load(images, &init.profiles, err);
	if (rc == 0)
		rc = at ? init_read_options(&init, cli, &at, err)
			: error_set(err, EINVAL,
				    "init: '%.60s' is not valid here; expected "
				    "docker run and what follows it",
				    cli->args[0]);
	if (rc == 0)
		rc = init_find_vendor(&init, err);
	if (rc == 0) {
		if (!cJSON_HasObjectItem(init.sweep, "sweep"))
			init_text(&init, "sweep", "first");
		init_text(&init, "image", cli->args[at]);
		while (++at < cli->arg_count)
			init_entrypoint(&init, cli->args[at]);
	}
	/* Its name stands first. */
	cJSON_InsertItemInArray(
		init.sweep, 0,
		cJSON_DetachItemFromObjectCaseSensitive(init.sweep, "sweep"));
	init_add_list(&init, "command", init.command);
	init_add_list(&init, "env", init.env);
	init_add_list(&init, "mounts", init.mounts);
	init_add_list(&init, "ulimits", init.ulimits);
	init_add_list(&init, "capabilities", init.capabilities);
	if (rc < 0)
		return -1;
	if (init.failed)
		return error_nomem(err, "init");
	return init_print(cli, init.sweep, err) < 0 ? -1 : EXIT_GOOD;
}

const struct command command_init = {
	.name = "init",
	.args = "-- docker run ...",
	.min_args = 1,
	.max_args = COMMAND_ARGS_MAX,
	.options_size = sizeof(struct options),
	.summary = "turn a docker run command into a sweep file",
	.help = "Prints a sweep of one job that runs the same image and "
		"command. Add a matrix, and ${name} where its values belong.",
	.example =
		"regatta init -- docker run --gpus 2 -v /data:/data my/train:1 "
		">first.yaml",
	.fn = init_command,
};
