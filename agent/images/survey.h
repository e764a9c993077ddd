/* survey.h - all images of the engine, what is known of each, and the disk.
 */
#ifndef AGENT_IMAGES_SURVEY_H
#define AGENT_IMAGES_SURVEY_H

#include "agent/engine/engine.h"
#include "agent/images/record.h"

/* One who asks, and then what there is. */
struct survey {
	struct image_info *images; /* needed and removed are not set */
	size_t count;
	char *root; /* the engine's folder; NULL: not on this machine */
};

void survey_clear(struct survey *survey);
OWNED_VALUE(struct survey, survey_clear)

/* err NULL: *survey is moved to whoever is told. */
typedef void survey_done_fn(void *arg, const struct error *err,
			    struct survey *survey);

/* Ask the engine, in three calls. local: its folder is on this machine. done()
 * runs later, once, and the handle is gone then. All is borrowed.
 */
struct survey_call;
struct survey_call *survey_begin(struct engine *engine, struct record *record,
				 bool local, survey_done_fn *done, void *arg,
				 struct error *err);
void survey_cancel(struct survey_call *call); /* NULL is fine */

/* Bytes of the disk below a folder: free for us, and in all. */
int survey_disk(const char *root, uint64_t *free_bytes, uint64_t *bytes,
		struct error *err);

/* What the engine's list says, without containers. Pure. EPROTO. */
int survey_read(const cJSON *list, struct survey *survey, struct error *err);

#endif
