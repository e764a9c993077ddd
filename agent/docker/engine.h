/* engine.h - the part of the Docker Engine API that the agent uses.
 *
 * Calls return at once with a handle. done() runs later from the event loop,
 * exactly once and never from inside the call; after it the handle is gone.
 * engine_call_cancel() drops a call: none of its callbacks runs again. A call
 * that returns NULL sent nothing, set *err, and done() never runs. Inside any
 * callback every function here may be called, engine_free() too.
 *
 * The first call asks the engine for its API version and the others wait for
 * that, each within its own time limit; it is asked again after the engine was
 * away. Used is 1.43 or what the engine has, at least 1.40; an engine that no
 * longer speaks 1.43 is spoken to in the oldest version that it accepts.
 *
 * What err->code means in done():
 *	ENOENT		the engine says that there is no such thing (HTTP 404),
 *			and never that there is no engine
 *	EEXIST		create: the name is in use
 *	EBUSY		in use, or not in a state that allows it (409)
 *	EINVAL		the request is wrong (other 4xx)
 *	EACCES		not permitted, by the engine or on its socket
 *	EIO		the engine failed (5xx, or an error inside a stream)
 *	ETIMEDOUT	the call's own limit
 *	ECONNREFUSED	no engine there
 *	EHOSTUNREACH	its host is unknown or out of reach
 *	ECONNRESET	the engine closed in the middle of its answer
 *	EPROTO		the answer is not what the API promises
 *	E2BIG		the answer is larger than 16 MiB
 * or what a source or data callback said. The text of an error quotes what the
 * engine said, shortened.
 *
 * timeout_ms bounds the whole exchange. stall_ms bounds the time without any
 * byte in either direction, for what may take long. 0: no limit.
 *
 * Container ids and names are [a-zA-Z0-9][a-zA-Z0-9_.-]*, at most 255 bytes;
 * others are EINVAL. All arguments are copied.
 *
 * Source: Docker Engine API 1.40 to 1.43, docs.docker.com/engine/api.
 */
#ifndef AGENT_DOCKER_ENGINE_H
#define AGENT_DOCKER_ENGINE_H

#include "protocol/base/error.h"
#include "protocol/base/owned.h"
#include "protocol/message/codec.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <systemd/sd-event.h>

struct engine;
struct engine_call;

/* err is NULL on success. answer is borrowed for the time of the call, and
 * NULL where the engine answers without a body.
 */
typedef void engine_done_fn(void *arg, const struct error *err, cJSON *answer);

/* One object of a stream (an event, a piece of progress); borrowed. */
typedef void engine_object_fn(void *arg, const cJSON *object);

/* Bytes of an archive as they come. -1 with *err set ends the call: done()
 * gets that error.
 */
typedef int engine_data_fn(void *arg, const void *data, size_t size,
			   struct error *err);

/* The next bytes of an upload: at most size; 0: the end; -1 with *err set
 * ends the call: done() gets that error. EAGAIN ends nothing: there are none
 * now, and it is asked again after engine_call_resume(). Must not block.
 */
typedef ssize_t engine_source_fn(void *arg, void *buffer, size_t size,
				 struct error *err);

/* host: "unix:///var/run/docker.sock" or "tcp://HOST:PORT". tls_folder, for
 * tcp only: a folder with ca.pem, cert.pem and key.pem, or NULL. Nothing is
 * sent yet. EINVAL names what is wrong. The program must ignore SIGPIPE.
 */
struct engine *engine_new(sd_event *loop, const char *host,
			  const char *tls_folder, struct error *err);

/* Drops all pending calls. */
void engine_free(struct engine *engine);
OWNED_POINTER(struct engine, engine_free)

/* As given to engine_new(), for messages. */
const char *engine_host(const struct engine *engine);

/* "1.41", or "" while it is not known. */
const char *engine_api_version(const struct engine *engine);

void engine_call_cancel(struct engine_call *call);

/* The source of the call's upload has bytes again. */
void engine_call_resume(struct engine_call *call);

struct engine_call *engine_version(struct engine *engine, uint32_t timeout_ms,
				   engine_done_fn *done, void *arg,
				   struct error *err);
struct engine_call *engine_info(struct engine *engine, uint32_t timeout_ms,
				engine_done_fn *done, void *arg,
				struct error *err);

/* What Podman adds to it: {"host": {"security": {"rootless"},
 * "cgroupControllers"}}. ENOENT: this is no Podman.
 * Source: Podman 4.3, Libpod API, "/libpod/info".
 */
struct engine_call *engine_podman_info(struct engine *engine,
				       uint32_t timeout_ms,
				       engine_done_fn *done, void *arg,
				       struct error *err);

/* Containers. */

/* body: see container.h. answer: {"Id": ...}. ENOENT: no such image. */
struct engine_call *engine_container_create(struct engine *engine,
					    const char *name, const cJSON *body,
					    uint32_t timeout_ms,
					    engine_done_fn *done, void *arg,
					    struct error *err);

/* Already running is success. */
struct engine_call *engine_container_start(struct engine *engine,
					   const char *id, uint32_t timeout_ms,
					   engine_done_fn *done, void *arg,
					   struct error *err);

/* SIGTERM, then SIGKILL after grace_s; done() runs when it has ended, so
 * timeout_ms must be longer than the grace. Not running is success.
 */
struct engine_call *engine_container_stop(struct engine *engine, const char *id,
					  uint32_t grace_s, uint32_t timeout_ms,
					  engine_done_fn *done, void *arg,
					  struct error *err);

/* force: also one that runs. volumes: with its anonymous volumes. EBUSY: it
 * runs, or is being removed already.
 */
struct engine_call *engine_container_remove(struct engine *engine,
					    const char *id, bool force,
					    bool volumes, uint32_t timeout_ms,
					    engine_done_fn *done, void *arg,
					    struct error *err);

struct engine_call *engine_container_inspect(struct engine *engine,
					     const char *id,
					     uint32_t timeout_ms,
					     engine_done_fn *done, void *arg,
					     struct error *err);

/* As inspect; answer also has "SizeRw": bytes of the files in its writable
 * layer, all of which the engine looks at for that.
 */
struct engine_call *engine_container_size(struct engine *engine, const char *id,
					  uint32_t timeout_ms,
					  engine_done_fn *done, void *arg,
					  struct error *err);

/* Until it is not running (at once, if it is not), without a time limit.
 * answer: for engine_wait_code().
 */
struct engine_call *engine_container_wait(struct engine *engine, const char *id,
					  engine_done_fn *done, void *arg,
					  struct error *err);

/* The exit code that it says; -1: none. */
int engine_wait_code(const cJSON *answer);

/* What it prints, from its start until it ends: pieces, each behind 8 bytes, of
 * which the last 4 are its length.
 */
struct engine_call *engine_container_logs(struct engine *engine, const char *id,
					  uint32_t stall_ms,
					  engine_data_fn *data,
					  engine_done_fn *done, void *arg,
					  struct error *err);

/* Make an image of what it is now, under this name:tag; its command is to
 * sleep, and the label says nothing any more. answer: {"Id": ...}.
 */
struct engine_call *
engine_container_commit(struct engine *engine, const char *id, const char *tag,
			const char *label, uint32_t timeout_ms,
			engine_done_fn *done, void *arg, struct error *err);

/* labels: "key=value" or "key", all of them must match; NULL: no filter.
 * all: also those that do not run. answer: an array.
 */
struct engine_call *engine_container_list(struct engine *engine, bool all,
					  const struct strings *labels,
					  uint32_t timeout_ms,
					  engine_done_fn *done, void *arg,
					  struct error *err);

/* Files in a container, as tar streams. */

struct engine_call *engine_archive_get(struct engine *engine, const char *id,
				       const char *path, uint32_t stall_ms,
				       engine_data_fn *data,
				       engine_done_fn *done, void *arg,
				       struct error *err);

/* path: an existing folder in the container. */
struct engine_call *engine_archive_put(struct engine *engine, const char *id,
				       const char *path, uint32_t stall_ms,
				       engine_source_fn *source,
				       void *source_arg, engine_done_fn *done,
				       void *arg, struct error *err);

/* Images. reference: see reference.h; EINVAL for what is none. With both tag
 * and digest the digest decides, and the tag is not used.
 */

/* All that are more than a step of a build. answer: an array. */
struct engine_call *engine_image_list(struct engine *engine,
				      uint32_t timeout_ms, engine_done_fn *done,
				      void *arg, struct error *err);

struct engine_call *engine_image_inspect(struct engine *engine,
					 const char *reference,
					 uint32_t timeout_ms,
					 engine_done_fn *done, void *arg,
					 struct error *err);

/* What its registry says that the name means, asked by the engine. answer:
 * {"Descriptor": {"digest": "sha256:..."}, ...}. auth: as below. Not every
 * engine has it: then ENOENT, as for an image that is not there.
 */
struct engine_call *engine_distribution(struct engine *engine,
					const char *reference, const char *auth,
					uint32_t timeout_ms,
					engine_done_fn *done, void *arg,
					struct error *err);

/* Without tag and digest: the tag "latest". progress() gets each object. auth:
 * the header "X-Registry-Auth: ..." that says who we are, or NULL.
 */
struct engine_call *engine_image_pull(struct engine *engine,
				      const char *reference, const char *auth,
				      uint32_t stall_ms,
				      engine_object_fn *progress,
				      engine_done_fn *done, void *arg,
				      struct error *err);

/* Give the image a name; it is taken from another one that has it. */
struct engine_call *engine_image_tag(struct engine *engine,
				     const char *reference, const char *name,
				     const char *tag, uint32_t timeout_ms,
				     engine_done_fn *done, void *arg,
				     struct error *err);

/* source: a tar stream with a Dockerfile at its root. tag: name to give.
 * labels ("key=value", or NULL) are set on the image. auth: the header
 * "X-Registry-Config: ..." for its base images, or NULL. Classic builder.
 */
struct engine_call *
engine_image_build(struct engine *engine, const char *tag,
		   const struct strings *labels, const char *auth,
		   uint32_t stall_ms, engine_source_fn *source,
		   void *source_arg, engine_object_fn *progress,
		   engine_done_fn *done, void *arg, struct error *err);

/* source: a tar file as docker save writes it. progress() gets each object. */
struct engine_call *engine_image_load(struct engine *engine, uint32_t stall_ms,
				      engine_source_fn *source,
				      void *source_arg,
				      engine_object_fn *progress,
				      engine_done_fn *done, void *arg,
				      struct error *err);

/* The image as such a tar file. */
struct engine_call *engine_image_save(struct engine *engine,
				      const char *reference, uint32_t stall_ms,
				      engine_data_fn *data,
				      engine_done_fn *done, void *arg,
				      struct error *err);

/* EBUSY: a container uses it (force removes the name all the same). */
struct engine_call *engine_image_remove(struct engine *engine,
					const char *reference, bool force,
					uint32_t timeout_ms,
					engine_done_fn *done, void *arg,
					struct error *err);

#endif
