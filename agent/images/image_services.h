/* image_services.h - what all that is done with images of this node shares.
 */
#pragma once

#include "agent/docker/engine.h"
#include "agent/images/registry_access.h"
#include "protocol/config/free_space.h"
#include "protocol/message/message.h"

struct blob_store;     /* protocol/blob/blob_store.h */
struct fetches;        /* agent/blobs/fetch.h */
struct image_usage;    /* agent/images/image_usage.h */
struct disk_watermark; /* agent/images/prune.h */

/* What is new of an image on its way; all borrowed. */
struct image_news {
	struct image_progress progress;
	const char *digest; /* name@sha256:...; NULL: not known yet */
	const char *output; /* of a build, since the last news; or NULL */
};

/* Called from the loop: at each progress message of the engine, with the sums
 * so far. It may not call back into the images.
 */
typedef void image_news_fn(void *arg, const struct image_news *news);

/* Append the devices that an installing container gets, as the engine takes
 * them.
 */
typedef int image_devices_fn(void *arg, cJSON *devices, struct error *err);

/* The images that the agent's own tasks need now, as a list for the caller to
 * free. Its texts are borrowed, until control returns to the loop. -1: ENOMEM.
 */
typedef int image_needs_fn(void *arg, struct image_need **list, size_t *count,
			   struct error *err);

/* Send to the controller; -1: not now. It asks again for a lost state. */
typedef int image_say_fn(void *arg, enum message_type type, const void *body,
			 const void *data, size_t size);

/* What all pulls, builds and operations share; borrowed, and so are its
 * members.
 */
struct image_services {
	sd_event *loop;
	struct engine *engine;
	const char *folder; /* the images folder; NULL: nothing is built */
	const char *state;  /* the agent's folder, which the engine sees */
	const struct registries *registries;
	uint32_t stall_ms;         /* without progress; 0: 120,000 */
	uint32_t retry_ms;         /* first pause before a retry; 0: 1,000 */
	const char *owner;         /* of containers that install: install.h */
	image_devices_fn *devices; /* of these containers; NULL: none */
	struct free_space floor;   /* of the disk, for prune.h; or zero */
	uint32_t keep; /* so many of the newest of each repository stay */
	/* For operations. */
	struct blob_store *blobs;
	struct fetches *fetches;
	image_needs_fn *needs;
	image_say_fn *say;
	void *arg; /* of the callbacks */
	/* Of images_new(). */
	struct image_usage *usage;
	struct disk_watermark *watermark; /* NULL: no floor */
};
