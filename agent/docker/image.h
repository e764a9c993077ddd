/* image.h - brings images to the node: pulled, or built from a folder of ours.
 *
 * Any number of tasks may want the same image at the same time: the work is
 * done once. It is bounded by no progress for stall_ms, never by wall clock.
 * A pull is tried three times, with pauses that grow (agent/registry/pull.h);
 * what no retry can mend (no such image, access denied) is final at once. A
 * build is tried once.
 */
#ifndef AGENT_DOCKER_IMAGE_H
#define AGENT_DOCKER_IMAGE_H

#include "agent/docker/engine.h"

struct images;
struct registries;     /* agent/registry/registries.h */
struct registry_login; /* protocol/registry/login.h */
struct image_wait;     /* one who waits for an image */
struct disk_watermark; /* agent/images/disk_watermark.h */
struct image_usage;    /* agent/images/image_usage.h */

enum image_phase {
	IMAGE_CHECKING, /* is it there already? */
	IMAGE_PULLING,
	IMAGE_EXTRACTING, /* all bytes are here, layers are being unpacked */
	IMAGE_BUILDING,
	IMAGE_FETCHING, /* no image: contents, from the controller or nodes */
};

/* "checking", "pulling" ... */
const char *image_phase_name(enum image_phase phase);

#define IMAGE_DIGEST_SIZE 600
#define IMAGE_LAYER_ID_SIZE 72
#define IMAGE_MOVING_MAX 8 /* the engine takes three to five at a time */

struct image_layer {
	char id[IMAGE_LAYER_ID_SIZE]; /* as the engine calls it */
	bool extracting;              /* else it is being downloaded */
	uint64_t bytes, bytes_total;
};

/* Sums over all layers, as far as the engine has told their sizes. */
struct image_progress {
	enum image_phase phase;
	uint64_t bytes;       /* downloaded, or of the context sent */
	uint64_t bytes_total; /* 0: not known */
	bool partial; /* bytes_total lacks layers that are still to come */
	uint64_t extracted; /* of bytes_total */
	uint64_t rate;      /* bytes a second of the phase, 0: not known */
	uint32_t layers;    /* done */
	uint32_t layers_total;
	uint32_t attempt;                            /* 1 .. 3 */
	struct image_layer moving[IMAGE_MOVING_MAX]; /* under way right now */
	size_t moving_count;
	const char *output; /* of a build: what it just printed, or NULL; only
			       in calls for this alone */
	char digest[IMAGE_DIGEST_SIZE]; /* name@sha256:..., once it is known
					   what is pulled; "" before */
};

/* What is known of an image that is there; all borrowed for the time of the
 * callback.
 */
struct image {
	const char *id;          /* sha256:<64 hex> */
	const char *reference;   /* as asked for, with the tag of a built one */
	const char *digest;      /* name@sha256:..., or NULL: never in a
				    registry */
	const cJSON *entrypoint; /* array of strings, or NULL: none */
	const cJSON *command;    /* likewise */
	const cJSON *env;        /* likewise, NAME=VALUE */
	const char *user;        /* "" : root */
	const char *workdir;     /* "" : / */
	uint64_t size_bytes;
};

/* With each output of a build; else at most five times a second, at each new
 * phase and attempt, and at the end.
 */
typedef void image_progress_fn(void *arg,
			       const struct image_progress *progress);

/* Exactly one of err and image is NULL. ENOENT: there is no such image, or no
 * access to it: final. EPERM: the node's policy forbids its registry. EINVAL:
 * the reference or the build folder is wrong. ETIMEDOUT: no progress. Others as
 * in engine.h.
 */
typedef void image_done_fn(void *arg, const struct error *err,
			   const struct image *image);

/* engine is borrowed and must outlive it. folder: where the build folders are,
 * or NULL: nothing is built. stall_ms for pulls; a build may be silent ten
 * times as long, as its commands print what they like. 0 for either number:
 * 120,000 and 1,000.
 */
struct images *images_new(sd_event *loop, struct engine *engine,
			  const char *folder, uint32_t stall_ms,
			  uint32_t retry_ms, struct error *err);

/* What is known of registries (borrowed) counts for pulls from now on. */
void images_use(struct images *images, const struct registries *registries);

/* What is brought is noted there (borrowed) from now on, and what jobs use. */
void images_record(struct images *images, struct image_usage *record);

/* Where an image does not fit, it makes room from now on (borrowed). */
void images_keep(struct images *images, struct disk_watermark *watermark);

/* Cancels all; no callback runs any more. */
void images_free(struct images *images);
OWNED_POINTER(struct images, images_free)

/* Borrowed for the length of the call. A built image is found by the content of
 * its folder: without a tag in reference, the name gets the first 12 hex digits
 * of the context's SHA-256 as its tag; with one, an image of that name is taken
 * if it was built from the same content, or not by us.
 */
struct image_wanted {
	const char *reference;
	const char *build; /* NULL, or the folder below the images folder that
			      its Dockerfile lies in */
	/* Who the job is to registries, sealed for this node; what it does not
	 * name, the node's own file does (registries.h).
	 */
	const struct registry_login *logins;
	size_t logins_count;
};

/* Have the image on the node. An image that is there is anybody's; to bring it,
 * only those wait for the same work who are the same to its registry, so that
 * nobody fails with another one's password.
 *
 * done() runs later, exactly once, never from inside the call; the handle is
 * gone then. progress may be NULL. Returns NULL with *err set when nothing was
 * begun. Callbacks may call anything here.
 */
struct image_wait *image_ensure(struct images *images,
				const struct image_wanted *wanted,
				image_progress_fn *progress,
				image_done_fn *done, void *arg,
				struct error *err);

/* Before done(): wait no longer; no callback runs again. The last one who
 * leaves ends the transfer.
 */
void image_release(struct image_wait *wait);

#endif
