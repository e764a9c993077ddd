/* options.c - converts options of `docker run` to keys of a sweep. */
#include "controller/sweep/flagperf/options.h"
#include "controller/sweep/flagperf/template.h"

#include "protocol/base/nearest_word.h"
#include "protocol/message/codec.h"
#include "protocol/message/json_get.h"
#include "protocol/yaml/value.h"

#include <errno.h>
#include <string.h>

#define WORDS_MAX 256

typedef int take_fn(cJSON *cell, const char *key, const char *value,
		    struct error *err);

static int docker_options_nomem(struct error *err)
{
	return error_nomem(err, "options");
}

static cJSON *child(cJSON *cell, const char *key, bool list)
{
	cJSON *item = json_get(cell, key);

	if (item)
		return item;
	return list ? cJSON_AddArrayToObject(cell, key)
		    : cJSON_AddObjectToObject(cell, key);
}

static int docker_option_take_text(cJSON *cell, const char *key,
				   const char *value, struct error *err)
{
	return json_put(cell, key, cJSON_CreateString(value), err);
}

static int take_item(cJSON *cell, const char *key, const char *value,
		     struct error *err)
{
	return json_append(child(cell, key, true), cJSON_CreateString(value),
			   err);
}

/* NAME=VALUE. A name alone would take the value of docker's environment. */
static int docker_option_take_pair(cJSON *cell, const char *key,
				   const char *value, struct error *err)
{
	const char *equals = strchr(value, '=');
	char name[128];

	if (!equals || equals == value ||
	    (size_t)(equals - value) >= sizeof(name))
		return error_set(err, EINVAL,
				 "%s \"%.60s\" is not valid here; expected "
				 "NAME=VALUE",
				 key, value);
	snprintf(name, sizeof(name), "%.*s", (int)(equals - value), value);
	return json_put(child(cell, key, false), name,
			cJSON_CreateString(equals + 1), err);
}

int docker_mount(cJSON *cell, const char *host, const char *inside,
		 bool read_only, struct error *err)
{
	owned(cJSON_Delete) cJSON *mount = cJSON_CreateObject();

	if (!cJSON_AddStringToObject(mount, "host", host) ||
	    !cJSON_AddStringToObject(mount, "container", inside) ||
	    (read_only && !cJSON_AddBoolToObject(mount, "read_only", true)))
		return docker_options_nomem(err);
	return json_append(child(cell, "mounts", true), take(mount), err);
}

/* HOST[:INSIDE[:ro]]. A path alone is an anonymous volume for docker, but a
 * path of the host in FlagPerf's examples.
 */
static int take_volume(cJSON *cell, const char *key, const char *value,
		       struct error *err)
{
	owned_free char *copy = strdup(value);
	char *inside, *mode = NULL;

	if (!copy)
		return docker_options_nomem(err);
	inside = strchr(copy, ':');
	if (inside) {
		*inside++ = 0;
		mode = strchr(inside, ':');
		if (mode)
			*mode++ = 0;
	}
	if (*copy != '/' || (inside && *inside != '/'))
		return error_set(err, EINVAL,
				 "the volume \"%.60s\" is not valid here; "
				 "expected absolute paths, /a:/b",
				 value);
	return docker_mount(cell, copy, inside ? inside : copy,
			    mode && !strcmp(mode, "ro"), err);
}

/* type=bind,source=/a,target=/b[,readonly] */
static int take_mount(cJSON *cell, const char *key, const char *value,
		      struct error *err)
{
	owned_free char *copy = strdup(value);
	const char *host = NULL, *inside = NULL;
	bool bind = false, read_only = false;
	char *rest = copy, *part;

	if (!copy)
		return docker_options_nomem(err);
	while ((part = strsep(&rest, ","))) {
		char *is = strchr(part, '=');

		if (is)
			*is++ = 0;
		if (!strcmp(part, "type"))
			bind = is && !strcmp(is, "bind");
		else if (!strcmp(part, "source") || !strcmp(part, "src"))
			host = is;
		else if (!strcmp(part, "target") || !strcmp(part, "dst") ||
			 !strcmp(part, "destination"))
			inside = is;
		else if (!strcmp(part, "readonly") || !strcmp(part, "ro"))
			read_only = !is || !strcmp(is, "true");
	}
	if (bind && host && inside && *host == '/' && *inside == '/')
		return docker_mount(cell, host, inside, read_only, err);
	return error_set(err, EINVAL,
			 "the mount \"%.60s\" is not valid here; expected "
			 "type=bind,source=/a,target=/b",
			 value);
}

/* Ignored, because the profile gives the same. */
static int take_nothing(cJSON *cell, const char *key, const char *value,
			struct error *err)
{
	return 0;
}

/* Only network devices are added; a job on whole nodes gets them anyway. */
static int take_device(cJSON *cell, const char *key, const char *value,
		       struct error *err)
{
	static const char rdma[] = "/dev/infiniband";

	if (strncmp(value, rdma, strlen(rdma)) != 0)
		return 0;
	return take_item(cell, "device_nodes", "/dev/infiniband/*", err);
}

/* clang-format off */
static const struct option {
	const char *name;
	bool flag;	/* without a value */
	const char *key;
	take_fn *put;
} options[] = {
	{ "--gpus", false, NULL, take_nothing },
	{ "--device", false, NULL, take_device },
	{ "--group-add", false, NULL, take_nothing },
	{ "--runtime", false, NULL, take_nothing },
	{ "--privileged", true, NULL, take_nothing },
	{ "--init", true, NULL, take_nothing },
	{ "--rm", true, NULL, take_nothing },
	{ "--detach", true, NULL, take_nothing },
	{ "-d", true, NULL, take_nothing },
	{ "--uts", false, NULL, take_nothing },
	{ "--volume", false, "mounts", take_volume },
	{ "-v", false, "mounts", take_volume },
	{ "--mount", false, "mounts", take_mount },
	{ "--env", false, "env", docker_option_take_pair },
	{ "-e", false, "env", docker_option_take_pair },
	{ "--ulimit", false, "ulimits", docker_option_take_pair },
	{ "--cap-add", false, "capabilities", take_item },
	{ "--security-opt", false, "security", take_item },
	{ "--shm-size", false, "shm", docker_option_take_text },
	{ "--ipc", false, "ipc", docker_option_take_text },
	{ "--network", false, "network", docker_option_take_text },
	{ "--net", false, "network", docker_option_take_text },
	{ "--user", false, "user", docker_option_take_text },
	{ "-u", false, "user", docker_option_take_text },
	{ "--memory", false, "memory", docker_option_take_text },
	{ "-m", false, "memory", docker_option_take_text },
	{ "--cpus", false, "cpus", docker_option_take_text },
};
/* clang-format on */
#define OPTIONS (sizeof(options) / sizeof(options[0]))

/* The words of a shell's command line, without expansions. */
static int docker_options_split(const char *text, struct strings *words,
				struct error *err)
{
	owned(buffer_clear) struct buffer word = BUFFER_INIT(65536);

	while (*(text += strspn(text, " \t\r\n"))) {
		char quote = 0;

		buffer_consume(&word, word.size);
		for (; *text && (quote || !strchr(" \t\r\n", *text)); text++) {
			if (quote ? *text == quote
				  : *text == '"' || *text == '\'') {
				quote = quote ? 0 : *text;
				continue;
			}
			if (*text == '\\' && quote != '\'' && text[1])
				text++;
			if (buffer_append(&word, text, 1, err) < 0)
				return -1;
		}
		if (quote)
			return error_set(err, EINVAL,
					 "missing closing quote %c", quote);
		if (words->count == WORDS_MAX)
			return error_set(err, E2BIG,
					 "more than %d words, which is the "
					 "limit",
					 WORDS_MAX);
		if (strings_add(words, word.data, err) < 0)
			return -1;
	}
	return 0;
}

/* The option that the word names; *value: what stands behind a `=`, or NULL. */
static const struct option *docker_option_find(const char *word,
					       const char **value)
{
	size_t size = strcspn(word, "=");

	*value = word[size] ? word + size + 1 : NULL;
	for (size_t i = 0; i < OPTIONS; i++)
		if (strlen(options[i].name) == size &&
		    !memcmp(options[i].name, word, size))
			return &options[i];
	return NULL;
}

static int docker_option_refuse(const char *word, struct error *err)
{
	const char *names[OPTIONS + 1] = { NULL };
	const char *near;

	for (size_t i = 0; i < OPTIONS; i++)
		names[i] = options[i].name;
	near = nearest_word(word, names);
	return error_set(err, EINVAL,
			 "the option \"%.60s\" is not valid here; expected "
			 "--device, --volume, --env, --ulimit, --cap-add, "
			 "--shm-size and similar%s%s%s",
			 word, near ? "; did you mean " : "", near ? near : "",
			 near ? "?" : "");
}

int docker_options(const char *text, cJSON *cell, options_fn *fn, void *arg,
		   struct error *err)
{
	owned(strings_clear) struct strings words = { 0 };

	if (docker_options_split(text, &words, err) < 0)
		return -1;
	for (size_t i = 0; i < words.count; i++) {
		const char *word = words.items[i], *value;
		const struct option *option = docker_option_find(word, &value);

		if (!option)
			return docker_option_refuse(word, err);
		if (!option->flag && !value) {
			if (++i == words.count)
				return error_set(err, EINVAL, "%s has no value",
						 word);
			value = words.items[i];
		}
		if (option->put(cell, option->key, value ? value : "", err) < 0)
			return -1;
		if (fn) {
			char shown[160];

			snprintf(shown, sizeof(shown), "%s%s%s", option->name,
				 value ? " " : "", value ? value : "");
			fn(arg, shown, !option->key);
		}
	}
	return 0;
}
