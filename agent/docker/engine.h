/* engine.h - the part of the Docker Engine API that the agent uses.
 *
 * Calls return at once with a handle. done() runs later from the event loop,
 * exactly once and never from inside the call; after it the handle is gone.
 * engine_call_cancel() drops a call: none of its callbacks runs again. A call
 * that returns NULL sent nothing, set *err, and done() never runs. Every
 * function here, also engine_free(), may be called inside any callback.
 *
 * The first call asks the engine for its API version. The other calls wait for
 * the answer, each within its own time limit. After a failed connection the
 * version is asked again. The version used is 1.44, or the engine's own if it
 * is older (1.40 at least); from 1.44 on, what is mounted below a read-only
 * mount is read-only, too. If the engine no longer accepts 1.44, it is the
 * oldest version that the engine accepts.
 *
 * What err->code means in done():
 *	ENOENT		the engine answered 404: no such object
 *			(never: no engine)
 *	EEXIST		create: the name is in use
 *	EBUSY		in use, or not in a state that allows it (409)
 *	EINVAL		the request is wrong (other 4xx)
 *	EACCES		not permitted, by the engine or on its socket
 *	ENOSPC		the engine's disk is full, by its own words
 *	EIO		the engine failed (5xx, or an error inside a stream)
 *	ETIMEDOUT	the call's own limit
 *	ECONNREFUSED	no engine there
 *	EHOSTUNREACH	its host is unknown or out of reach
 *	ECONNRESET	the engine closed in the middle of its answer
 *	EPROTO		the answer is not what the API promises
 *	E2BIG		the answer is larger than 16 MiB
 * or the code that a source or data callback set. The text of an error quotes
 * the engine's answer, shortened.
 *
 * timeout_ms limits the whole exchange. stall_ms limits the time without any
 * byte in either direction; long transfers use it instead. 0: no limit.
 *
 * Container ids and names are [a-zA-Z0-9][a-zA-Z0-9_.-]*, at most 255 bytes;
 * others are EINVAL. All arguments are copied.
 *
 * Source: Docker Engine API 1.40 to 1.44, docs.docker.com/engine/api.
 */
#pragma once

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

/* One object of a stream (an event, a progress report); borrowed. */
typedef void engine_object_fn(void *arg, const cJSON *object);

/* Received bytes. -1 with *err set ends the call: done() gets that error. */
typedef int engine_data_fn(void *arg, const void *data, size_t size,
			   struct error *err);

/* Give the next bytes of an upload, at most size; 0: the end; -1 with *err set
 * ends the call: done() gets that error. Must not block: with EAGAIN the upload
 * pauses until engine_call_resume().
 */
typedef ssize_t engine_source_fn(void *arg, void *buffer, size_t size,
				 struct error *err);

/* host: "unix:///var/run/docker.sock" or "tcp://HOST:PORT". tls_folder, for tcp
 * only: a folder with ca.pem, cert.pem and key.pem, or NULL. Sends nothing.
 * EINVAL: host or tls_folder is not valid. The program must ignore SIGPIPE.
 */
struct engine *engine_new(sd_event *loop, const char *host,
			  const char *tls_folder, struct error *err);

/* Cancels all pending calls. */
void engine_free(struct engine *engine);
OWNED_POINTER(struct engine, engine_free)

/* Can the engine not be reached, or does it hang? Then a retry may help. */
bool engine_away(const struct error *err);

/* Set the error with the engine's words, up to the end of their line. For words
 * in the objects of a stream. ENOSPC: they tell of a full disk; ENOTSUP: of an
 * image with users that an engine without root has not.
 */
void engine_error(struct error *err, int code, const char *text);

/* The host given to engine_new(), for messages. */
const char *engine_host(const struct engine *engine);

/* Is it Podman? Known when a call was answered. */
bool engine_podman(const struct engine *engine);

void engine_call_cancel(struct engine_call *call);

/* The source of the upload has more; NULL: nothing to do. */
void engine_call_resume(struct engine_call *call);

struct engine_call *engine_version(struct engine *engine, uint32_t timeout_ms,
				   engine_done_fn *done, void *arg,
				   struct error *err);
/* Does it answer? answer is NULL. For its version and for information Docker
 * starts two programs, which costs some 10 ms of a processor; for this nothing.
 */
struct engine_call *engine_ping(struct engine *engine, uint32_t timeout_ms,
				engine_done_fn *done, void *arg,
				struct error *err);
/* In the newest version of the API that the engine has: to older ones it does
 * not tell where its containerd is.
 */
struct engine_call *engine_info(struct engine *engine, uint32_t timeout_ms,
				engine_done_fn *done, void *arg,
				struct error *err);

/* The info of Podman's own API, whose {"host": {"security": {"rootless"},
 * "cgroupControllers"}} is used. ENOENT: the engine is not Podman. Source:
 * Podman 4.3, Libpod API, "/libpod/info".
 */
struct engine_call *engine_podman_info(struct engine *engine,
				       uint32_t timeout_ms,
				       engine_done_fn *done, void *arg,
				       struct error *err);

/* Containers. */

/* body: see create_body.h. answer: {"Id": ...}. ENOENT: no such image. */
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

/* Send SIGTERM, then SIGKILL after grace_s. done() runs after the container has
 * ended, so timeout_ms must be longer than the grace. If it does not run, that
 * is success.
 */
struct engine_call *engine_container_stop(struct engine *engine, const char *id,
					  uint32_t grace_s, uint32_t timeout_ms,
					  engine_done_fn *done, void *arg,
					  struct error *err);

/* Remove it with its anonymous volumes, even if it runs. EBUSY: it is already
 * being removed.
 */
struct engine_call *engine_container_remove(struct engine *engine,
					    const char *id, uint32_t timeout_ms,
					    engine_done_fn *done, void *arg,
					    struct error *err);

struct engine_call *engine_container_inspect(struct engine *engine,
					     const char *id,
					     uint32_t timeout_ms,
					     engine_done_fn *done, void *arg,
					     struct error *err);

/* As inspect; the answer also has "SizeRw", the bytes in its writable layer.
 * The engine walks all files of the layer for it, which may take long.
 */
struct engine_call *engine_container_size(struct engine *engine, const char *id,
					  uint32_t timeout_ms,
					  engine_done_fn *done, void *arg,
					  struct error *err);

/* Wait until the container does not run (it may not run already), without a
 * time limit. answer: for engine_wait_code().
 */
struct engine_call *engine_container_wait(struct engine *engine, const char *id,
					  engine_done_fn *done, void *arg,
					  struct error *err);

/* The exit code in the answer of engine_container_wait(); -1: none. */
int engine_wait_code(const cJSON *answer);

/* The output of a container, from its start to its end. data() gets frames: 8
 * bytes of header, of which the last 4 are the length (big-endian), then the
 * output.
 */
struct engine_call *engine_container_logs(struct engine *engine, const char *id,
					  uint32_t stall_ms,
					  engine_data_fn *data,
					  engine_done_fn *done, void *arg,
					  struct error *err);

/* Run a program in a running container, as its user and with its rights; the
 * first call prepares it, and the second one starts it. answer of the first:
 * {"Id": ...}. data() gets its standard output, in frames as above, until it
 * ends; it goes on if the call is cancelled.
 */
struct engine_call *engine_exec_create(struct engine *engine, const char *id,
				       const struct strings *argv,
				       uint32_t timeout_ms,
				       engine_done_fn *done, void *arg,
				       struct error *err);
struct engine_call *engine_exec_start(struct engine *engine, const char *exec,
				      uint32_t timeout_ms, engine_data_fn *data,
				      engine_done_fn *done, void *arg,
				      struct error *err);

/* Make an image name:tag from the present state of a container. The image's
 * command only sleeps, and the label becomes empty. answer: {"Id": ...}.
 */
struct engine_call *
engine_container_commit(struct engine *engine, const char *id, const char *tag,
			const char *label, uint32_t timeout_ms,
			engine_done_fn *done, void *arg, struct error *err);

/* labels: "key=value" or "key", all must match; NULL: no filter. all: also
 * containers that do not run. answer: an array.
 */
struct engine_call *engine_container_list(struct engine *engine, bool all,
					  const struct strings *labels,
					  uint32_t timeout_ms,
					  engine_done_fn *done, void *arg,
					  struct error *err);

/* Images. reference: see reference.h; EINVAL: not a valid reference. If it has
 * both tag and digest, the tag is not used.
 */

/* All images except intermediate ones of builds. answer: an array. */
struct engine_call *engine_image_list(struct engine *engine,
				      uint32_t timeout_ms, engine_done_fn *done,
				      void *arg, struct error *err);

struct engine_call *engine_image_inspect(struct engine *engine,
					 const char *reference,
					 uint32_t timeout_ms,
					 engine_done_fn *done, void *arg,
					 struct error *err);

/* Let the engine ask the registry for the digest of a reference. answer:
 * {"Descriptor": {"digest": "sha256:..."}, ...}. auth: as below. ENOENT: no
 * such image, or the engine does not have this call.
 */
struct engine_call *engine_distribution(struct engine *engine,
					const char *reference, const char *auth,
					uint32_t timeout_ms,
					engine_done_fn *done, void *arg,
					struct error *err);

/* A reference without tag and digest means the tag "latest". progress() gets
 * each object. auth: the header "X-Registry-Auth: ..." with the login, or NULL.
 */
struct engine_call *engine_image_pull(struct engine *engine,
				      const char *reference, const char *auth,
				      uint32_t stall_ms,
				      engine_object_fn *progress,
				      engine_done_fn *done, void *arg,
				      struct error *err);

/* Give the image a name. Another image that has this name loses it. */
struct engine_call *engine_image_tag(struct engine *engine,
				     const char *reference, const char *name,
				     const char *tag, uint32_t timeout_ms,
				     engine_done_fn *done, void *arg,
				     struct error *err);

/* source: a tar stream with a Dockerfile at its root. tag: name to give.
 * The label key=value is set on the image. auth: the header
 * "X-Registry-Config: ..." for its base images, or NULL. Classic builder.
 */
struct engine_build_limits {
	uint64_t memory_bytes; /* of each RUN line, without swap; 0: no limit */
	double cpus;           /* likewise */
	const char *network;   /* "host", "none"; NULL: the engine's own */
};
struct engine_call *
engine_image_build(struct engine *engine, const char *tag, const char *key,
		   const char *value, const char *auth,
		   const struct engine_build_limits *limits, uint32_t stall_ms,
		   engine_source_fn *source, void *source_arg,
		   engine_object_fn *progress, engine_done_fn *done, void *arg,
		   struct error *err);

/* source: a tar stream as docker save writes it. progress() gets each object.
 */
struct engine_call *engine_image_load(struct engine *engine, uint32_t stall_ms,
				      engine_source_fn *source,
				      void *source_arg,
				      engine_object_fn *progress,
				      engine_done_fn *done, void *arg,
				      struct error *err);

/* Get the image as such a tar stream. */
struct engine_call *engine_image_save(struct engine *engine,
				      const char *reference, uint32_t stall_ms,
				      engine_data_fn *data,
				      engine_done_fn *done, void *arg,
				      struct error *err);

/* EBUSY: a container uses it (force removes the name even then). */
struct engine_call *engine_image_remove(struct engine *engine,
					const char *reference, bool force,
					uint32_t timeout_ms,
					engine_done_fn *done, void *arg,
					struct error *err);
