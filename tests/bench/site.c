/* site.c - a controller with agents of its own, for the time of a benchmark.
 */
#include "tests/bench/site.h"
#include "protocol/base/file.h"
#include "tests/bench/measure.h"
#include "tests/bench/process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIST_MAX (16 << 20)
#define LISTEN_S 30
#define ANY_PORT "tcp://127.0.0.1:*"

void site_path(const struct site *site, const char *name, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/%s", site->folder, name);
}

static int make_keys(struct site *site, struct buffer *list, struct error *err)
{
	char name[KEY_NAME_SIZE], line[512];

	if (key_generate(&site->controller_key, "controller", ROLE_CONTROLLER,
			 err) < 0 ||
	    key_generate(&site->person_key, "bench", ROLE_OPERATOR, err) < 0)
		return -1;
	key_line(&site->person_key, line, sizeof(line));
	if (buffer_text(list, line, err) < 0)
		return -1;
	for (size_t i = 0; i < site->agents_count; i++) {
		snprintf(name, sizeof(name), "n%05zu", i);
		if (key_generate(&site->agent_keys[i], name, ROLE_AGENT, err) <
		    0)
			return -1;
		key_line(&site->agent_keys[i], line, sizeof(line));
		if (buffer_text(list, line, err) < 0)
			return -1;
	}
	return 0;
}

static int write_keys(struct site *site, struct error *err)
{
	owned(buffer_clear) struct buffer list = BUFFER_INIT(LIST_MAX);
	char path[PATH_MAX];

	if (make_keys(site, &list, err) < 0)
		return -1;
	site_path(site, "controller.key", path);
	if (key_save(&site->controller_key, path, err) < 0)
		return -1;
	site_path(site, "authorized", path);
	return file_write(AT_FDCWD, path, list.data, list.size, 0600, 0, err);
}

struct site *site_new(const char *folder, const char *build, size_t agents,
		      struct error *err)
{
	owned(site_free) struct site *site = calloc(1, sizeof(*site));

	if (!site ||
	    !(site->agent_keys = calloc(agents, sizeof(*site->agent_keys))) ||
	    !(site->agents = calloc(agents, sizeof(*site->agents)))) {
		error_nomem(err, "site");
		return NULL;
	}
	snprintf(site->folder, sizeof(site->folder), "%s", folder);
	site->build = build;
	site->agents_count = agents;
	if (file_make_folders(site->folder, 0700, err) < 0 ||
	    write_keys(site, err) < 0)
		return NULL;
	return take(site);
}

void site_free(struct site *site)
{
	if (!site)
		return;
	for (size_t i = 0; site->agents && i < site->agents_count; i++)
		process_end(site->agents[i]);
	process_end(site->controller);
	free(site->agents);
	free(site->agent_keys);
	free(site);
}

/* It writes the file as a whole when it listens. */
static int wait_endpoint(struct site *site, const char *path, struct error *err)
{
	double until = clock_s() + LISTEN_S;
	owned(buffer_clear) struct buffer text;

	buffer_init(&text, sizeof(site->endpoint) - 1);
	while (file_read(AT_FDCWD, path, &text, NULL) < 0 || !text.size) {
		buffer_clear(&text);
		if (clock_s() > until)
			return error_set(err, ETIMEDOUT,
					 "%s: the controller does not listen",
					 site->folder);
		usleep(2000);
	}
	memcpy(site->endpoint, text.data, text.size + 1);
	return 0;
}

int site_start_controller(struct site *site, struct error *err)
{
	char program[PATH_MAX], key[PATH_MAX], keys[PATH_MAX], state[PATH_MAX];
	char images[PATH_MAX], endpoint[PATH_MAX], log[PATH_MAX];
	/* clang-format off */
	const char *const argv[] = {
		program, "--config", "/dev/null", "--key", key, "--keys", keys,
		"--state", state,
		"--listen", site->endpoint[0] ? site->endpoint : ANY_PORT,
		"--images", images,
		"--endpoint-file", endpoint,
		site->web ? "--web" : NULL, site->web, NULL,
	};
	/* clang-format on */

	snprintf(program, sizeof(program), "%s/regatta-controller",
		 site->build);
	snprintf(images, sizeof(images), "%s/images", site->build);
	site_path(site, "controller.key", key);
	site_path(site, "authorized", keys);
	site_path(site, "controller", state);
	site_path(site, "endpoint", endpoint);
	site_path(site, "controller.log", log);
	unlink(endpoint);
	site->controller = process_start(argv, NULL, log, err);
	if (site->controller < 0)
		return -1;
	return wait_endpoint(site, endpoint, err);
}

static int start_agent(struct site *site, size_t i, const char *engine,
		       struct error *err)
{
	char program[PATH_MAX], key[PATH_MAX], state[PATH_MAX], log[PATH_MAX];
	char images[PATH_MAX], init[PATH_MAX], cluster[64];
	/* clang-format off */
	const char *const argv[] = {
		program, "--config", "/dev/null", "--policy", "any",
		"--controller", site->endpoint, "--controller-key",
		site->controller_key.public, "--key", key, "--state", state,
		"--engine", engine, "--images", images, "--init", init,
		"--cluster", cluster, NULL,
	};
	/* clang-format on */

	snprintf(program, sizeof(program), "%s/regatta-agent", site->build);
	snprintf(images, sizeof(images), "%s/images", site->build);
	snprintf(init, sizeof(init), "%s/regatta-init", site->build);
	snprintf(cluster, sizeof(cluster), "bench-%d-%zu", (int)getpid(),
		 site->agents_count);
	snprintf(key, sizeof(key), "%s/agent-%zu.key", site->folder, i);
	snprintf(state, sizeof(state), "%s/agent-%zu", site->folder, i);
	snprintf(log, sizeof(log), "%s/agent-%zu.log", site->folder, i);
	if (key_save(&site->agent_keys[i], key, err) < 0)
		return -1;
	site->agents[i] = process_start(argv, NULL, log, err);
	return site->agents[i] < 0 ? -1 : 0;
}

int site_start_agents(struct site *site, const char *engine, struct error *err)
{
	for (size_t i = 0; i < site->agents_count; i++)
		if (start_agent(site, i, engine, err) < 0)
			return -1;
	return 0;
}
