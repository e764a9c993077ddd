/* install.c - makes an image from another one by a script that runs in a
 * container.
 */
#include "agent/images/install.h"

#include "agent/docker/create_body.h"
#include "agent/images/build_rights.h"
#include "agent/images/pull.h"
#include "protocol/base/clock.h"
#include "protocol/base/file.h"
#include "protocol/base/log.h"
#include "protocol/base/loop.h"
#include "protocol/base/printable.h"
#include "protocol/blob/unpack.h"
#include "protocol/message/json_get.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define CALL_MS 60000
#define COMMIT_MS 1800000 /* the engine packs gigabytes without a word */
#define INSIDE "/workspace/docker_image"
#define LABEL_OWNER "regatta.install"
#define INSTALL_NAMES "regatta-install-"
#define HEAD 8 /* bytes before each piece of output */
#define PIECE 4096
#define LAST_MAX 120
#define TURN_MS 20 /* of unpacking, in each turn of the loop */

/* The steps of an installation. When one fails, the last two follow. */
enum step {
	CREATE,
	START,
	READ_OUTPUT,
	WAIT,
	COMMIT,
	REMOVE_CONTAINER,
	REMOVE_BASE,
	ENDED,
};

struct install {
	const struct image_services *services;
	struct install_plan plan;
	char path[PATH_MAX]; /* of the folder's copy */
	int folder;          /* that, or -1 */
	struct unpacking *unpacking;
	struct deferral *turn;
	char script[256]; /* NAME_install.sh; "": there is none */
	char container[40];
	cJSON *body;
	enum step step;
	struct engine_call *call; /* of the step */
	unsigned char head[HEAD]; /* of a piece of output */
	size_t head_bytes;
	uint32_t left;       /* bytes of the piece that are still to come */
	char last[LAST_MAX]; /* line that the script printed */
	struct image_news now;
	struct error why; /* the failure; code 0: none */
	image_news_fn *news;
	void *news_arg;
	install_done_fn *done;
	void *arg;
};

/* For calls without a consequence. */
static void install_ignore_answer(void *arg, const struct error *err,
				  cJSON *answer)
{
}

/* Output: pieces, each behind its length. Source: Docker Engine API
 * 1.41, "Attach to a container", stream format.
 */

static void install_keep_last(struct install *install, const char *text)
{
	size_t end = strlen(text), begin;

	while (end && strchr("\r\n", text[end - 1]))
		end--;
	for (begin = end; begin && !strchr("\r\n", text[begin - 1]);)
		begin--;
	if (begin == end)
		return;
	snprintf(install->last, sizeof(install->last), "%.*s",
		 (int)(end - begin), text + begin);
	uncolour(install->last);
	printable(install->last, strlen(install->last));
}

static void install_tell(struct install *install, const char *data, size_t size)
{
	char text[PIECE + 1];

	for (size_t i = 0; i < size; i++)
		text[i] = data[i] ? data[i] : ' ';
	text[size] = 0;
	install_keep_last(install, text);
	install->now.output = text;
	install->news(install->news_arg, &install->now);
	install->now.output = NULL;
}

/* engine_data_fn */
static int printed(void *arg, const void *data, size_t size, struct error *err)
{
	struct install *install = arg;
	const char *at = data;

	while (size) {
		size_t some = size < PIECE ? size : PIECE;

		if (!install->left) {
			install->head[install->head_bytes++] =
				(unsigned char)*at++;
			size--;
			if (install->head_bytes < HEAD)
				continue;
			install->head_bytes = 0;
			for (size_t i = 4; i < HEAD; i++)
				install->left =
					install->left << 8 | install->head[i];
			continue;
		}
		if (some > install->left)
			some = install->left;
		install_tell(install, at, some);
		install->left -= (uint32_t)some;
		at += some;
		size -= some;
	}
	return 0;
}

/* Steps. */

static void step_done(void *arg, const struct error *err, cJSON *answer);

static struct engine_call *step_begin(struct install *install,
				      struct error *err)
{
	struct engine *engine = install->services->engine;
	const char *container = install->container;

	switch (install->step) {
	case CREATE:
		return engine_container_create(engine, container, install->body,
					       CALL_MS, step_done, install,
					       err);
	case START:
		return engine_container_start(engine, container, CALL_MS,
					      step_done, install, err);
	case READ_OUTPUT:
		return engine_container_logs(engine, container,
					     image_silence_ms(
						     install->services),
					     printed, step_done, install, err);
	case WAIT:
		return engine_container_wait(engine, container, step_done,
					     install, err);
	case COMMIT:
		return engine_container_commit(engine, container,
					       install->plan.target,
					       LABEL_OWNER, COMMIT_MS,
					       step_done, install, err);
	case REMOVE_CONTAINER:
		return engine_container_remove(engine, container, CALL_MS,
					       step_done, install, err);
	case REMOVE_BASE:
		return engine_image_remove(engine, install->plan.base, true,
					   CALL_MS, step_done, install, err);
	case ENDED:
		break;
	}
	return NULL;
}

/* Did the step fail? Then why is set. A failure to remove is no failure. */
static bool step_failed(struct install *install, const struct error *err,
			const cJSON *answer)
{
	int code = install->step == WAIT ? engine_wait_code(answer) : 0;

	if (install->step >= REMOVE_CONTAINER)
		return false;
	/* Without output the exit code says how the script ended. */
	if (install->step == READ_OUTPUT && err && err->code != ETIMEDOUT)
		return false;
	if (err)
		install->why = *err;
	else if (code != 0)
		error_set(&install->why, EIO, "%s exited with code %d%s%s%s",
			  *install->script ? install->script : "its container",
			  code, install->last[0] ? "; its output: \"" : "",
			  install->last, install->last[0] ? "\"" : "");
	else
		return false;
	error_prefix(&install->why, "build of %.100s", install->plan.target);
	return true;
}

/* The last step frees the installation. */
static void step_done(void *arg, const struct error *err, cJSON *answer)
{
	struct install *install = arg;
	struct error why;

	install->call = NULL;
	if (step_failed(install, err, answer))
		install->step = REMOVE_CONTAINER;
	else
		install->step++;
	if (install->step == ENDED) {
		install->done(install->arg,
			      install->why.code ? &install->why : NULL);
		install_cancel(install);
		return;
	}
	install->call = step_begin(install, &why);
	if (!install->call)
		step_done(install, &why, NULL);
}

/* The container. */

/* The entry point of the image is kept, as FlagPerf does. */
static cJSON *body_new(const struct install *install)
{
	const struct image_services *services = install->services;
	cJSON *body = cJSON_CreateObject();
	cJSON *labels = cJSON_AddObjectToObject(body, "Labels");
	cJSON *host = cJSON_AddObjectToObject(body, "HostConfig");
	cJSON *log = cJSON_AddObjectToObject(host, "LogConfig");
	cJSON *devices = cJSON_AddArrayToObject(host, "Devices");
	char script[600];
	char *argv[] = { (char *)"bash", script, (char *)":" };
	struct error err;

	snprintf(script, sizeof(script), "%s%s",
		 *install->script ? INSIDE "/" : "-c", install->script);
	/* Without its devices the script may still work. */
	if (services->devices &&
	    services->devices(services->arg, devices, &err) < 0)
		log_warning("image=%s is installed without devices: %s",
			    install->plan.target, err.text);
	if (container_add_texts(cJSON_AddArrayToObject(body, "Cmd"),
				&(struct strings){
					argv, *install->script ? 2 : 3 }) &&
	    container_add_mount(cJSON_AddArrayToObject(host, "Mounts"),
				install->path, INSIDE, false) &&
	    cJSON_AddStringToObject(body, "Image", install->plan.base) &&
	    cJSON_AddStringToObject(labels, LABEL_OWNER,
				    services->owner ? services->owner : "") &&
	    build_rights_apply(registries_policy(services->registries), body) &&
	    cJSON_AddStringToObject(log, "Type", "json-file"))
		return body;
	cJSON_Delete(body);
	return NULL;
}

/* NAME_install.sh of a folder NAME. */
static void find_script(struct install *install)
{
	snprintf(install->script, sizeof(install->script), "%.200s_install.sh",
		 install->plan.name);
	if (faccessat(install->folder, install->script, F_OK, 0) < 0)
		*install->script = 0;
}

/* The copy of the folder. */

int install_open(const char *state, struct error *err)
{
	char path[PATH_MAX];
	int fd;

	if (file_path(path, err, "%s/" INSTALL_COPIES, state) < 0)
		return -1;
	if (mkdir(path, 0711) < 0 && errno != EEXIST)
		return error_errno(err, "%s", path);
	fd = open(path, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	return fd < 0 ? error_errno(err, "%s", path) : fd;
}

static void remove_copies(const char *path)
{
	struct error err;

	if (file_remove_tree(AT_FDCWD, path, &err) < 0)
		log_warning("%s: %s", path, err.text);
}

static void install_unpack(void *arg)
{
	struct install *install = arg;
	int64_t until = clock_mono_ms() + TURN_MS;
	struct error err;
	int rc;

	do {
		rc = unpacking_step(install->unpacking, &err);
	} while (rc > 0 && clock_mono_ms() < until);
	if (rc > 0) {
		deferral_run(install->turn);
		return;
	}
	if (rc == 0) {
		find_script(install);
		install->body = body_new(install);
		if (install->body)
			install->call = step_begin(install, &err);
		else
			error_nomem(&err, "install");
	}
	if (!install->call)
		step_done(install, &err, NULL);
}

static int install_make_folder(struct install *install, struct error *err)
{
	static const struct unpack_owner owner = { (uid_t)-1, (gid_t)-1,
						   false };
	const struct unpack_limits limits = { install->plan.bytes, UINT64_MAX };

	if (file_path(install->path, err, "%s/" INSTALL_COPIES "/%08" PRIx32,
		      install->services->state, randombytes_random()) < 0)
		return -1;
	if (mkdir(install->path, 0755) < 0 ||
	    (install->folder =
		     open(install->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
						 O_CLOEXEC)) < 0 ||
	    lseek(install->plan.copy, 0, SEEK_SET) < 0)
		return error_errno(err, "%s", install->path);
	install->unpacking = unpacking_new(install->plan.copy, install->folder,
					   &limits, &owner, err);
	if (install->unpacking)
		install->turn = deferral_new(install->services->loop, false,
					     install_unpack, install, err);
	return install->turn ? 0 : -1;
}

struct install *install_begin(const struct image_services *services,
			      const struct install_plan *plan,
			      image_news_fn *news, void *news_arg,
			      install_done_fn *done, void *arg,
			      struct error *err)
{
	owned(install_cancel) struct install *install =
		error_calloc(sizeof(*install), "install", err);

	if (!install)
		return NULL;
	install->services = services;
	install->plan = *plan;
	install->news = news;
	install->news_arg = news_arg;
	install->done = done;
	install->arg = arg;
	install->now.progress.tries = 1;
	install->now.progress.phase = (char *)"building";
	install->folder = -1;
	if (install_make_folder(install, err) < 0)
		return NULL;
	deferral_run(install->turn);
	snprintf(install->container, sizeof(install->container),
		 INSTALL_NAMES "%08" PRIx32, randombytes_random());
	return take(install);
}

void install_cancel(struct install *install)
{
	if (!install)
		return;
	engine_call_cancel(install->call);
	if (install->container[0] && install->step != ENDED) {
		engine_container_remove(install->services->engine,
					install->container, CALL_MS,
					install_ignore_answer, NULL, NULL);
		engine_image_remove(install->services->engine,
				    install->plan.base, true, CALL_MS,
				    install_ignore_answer, NULL, NULL);
	}
	deferral_free(install->turn);
	unpacking_free(install->unpacking);
	if (install->folder >= 0) {
		close(install->folder);
		remove_copies(install->path);
	}
	cJSON_Delete(install->body);
	free(install);
}

/* Strays. */

/* The length of CLUSTER/NODE/ in CLUSTER/NODE/INSTANCE. */
static size_t name_size(const char *owner)
{
	const char *slash = strrchr(owner, '/');

	return slash ? (size_t)(slash - owner) + 1 : 0;
}

static const char *owner_of(const cJSON *container)
{
	const char *owner =
		json_get_text(json_get(container, "Labels"), LABEL_OWNER);

	return owner && container_is_named(container, INSTALL_NAMES, "") ? owner
									 : "";
}

bool install_is_of(const cJSON *container, const char *cluster,
		   const char *node)
{
	const char *owner = owner_of(container);
	size_t size = name_size(owner), length = strlen(cluster);

	return size == length + strlen(node) + 2 &&
	       !strncmp(owner, cluster, length) && owner[length] == '/' &&
	       !strncmp(owner + length + 1, node, strlen(node));
}

struct forgetting {
	struct engine *engine;
	char owner[];
};

static void remove_stray(struct engine *engine, const cJSON *container)
{
	const char *id = json_get_text(container, "Id");
	const char *image = json_get_text(container, "Image");

	log_warning("container of a build removed id=%.12s", id ? id : "");
	if (id)
		engine_container_remove(engine, id, CALL_MS,
					install_ignore_answer, NULL, NULL);
	if (image &&
	    !strncmp(image, INSTALL_BASE ":", strlen(INSTALL_BASE) + 1))
		engine_image_remove(engine, image, true, CALL_MS,
				    install_ignore_answer, NULL, NULL);
}

static void install_strays_listed(void *arg, const struct error *err,
				  cJSON *answer)
{
	owned_free struct forgetting *forgetting = arg;
	const char *mine = forgetting->owner;
	const cJSON *container;

	if (err)
		log_warning("containers of earlier builds are removed when the "
			    "agent starts again: %s",
			    err->text);
	cJSON_ArrayForEach(container, answer) {
		const char *owner = owner_of(container);

		if (!strncmp(owner, mine, name_size(mine)) &&
		    name_size(owner) == name_size(mine) &&
		    strcmp(owner, mine) != 0)
			remove_stray(forgetting->engine, container);
	}
}

void install_forget(struct engine *engine, const char *owner, const char *state)
{
	owned(strings_clear) struct strings labels = { 0 };
	struct forgetting *forgetting =
		malloc(sizeof(*forgetting) + strlen(owner) + 1);
	char path[PATH_MAX];

	if (file_path(path, NULL, "%s/" INSTALL_COPIES, state) == 0)
		remove_copies(path);
	if (!forgetting)
		return;
	forgetting->engine = engine;
	memcpy(forgetting->owner, owner, strlen(owner) + 1);
	if (strings_add(&labels, LABEL_OWNER, NULL) < 0 ||
	    !engine_container_list(engine, true, &labels, CALL_MS,
				   install_strays_listed, forgetting, NULL))
		free(forgetting);
}
