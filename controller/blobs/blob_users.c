/* blob_users.c - blob that is kept for jobs and sweeps.
 */
#include "controller/blobs/blob_users.h"

#include "controller/cluster/lifecycle.h"
#include "controller/store/store.h"
#include "protocol/base/clock.h"
#include "protocol/base/log.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define USERS_STEP 2000 /* checked in a call */
#define FOR_JOB "job-"
#define FOR_SWEEP "sweep-"

int blob_users_keep_file(struct blob_store *blobs, uint64_t job,
			 const char *hash, struct error *err)
{
	char user[BLOB_USER_MAX];

	snprintf(user, sizeof(user), FOR_JOB "%" PRIu64, job);
	return blob_store_keep(blobs, hash, user, err);
}

int blob_users_keep_workspace(struct blob_store *blobs, uint64_t sweep,
			      const char *hash, struct error *err)
{
	char user[BLOB_USER_MAX];

	snprintf(user, sizeof(user), FOR_SWEEP "%" PRIu64, sweep);
	return blob_store_keep(blobs, hash, user, err);
}

bool blob_users_has_file(const struct blob_store *blobs, uint64_t job,
			 const char *hash)
{
	char user[BLOB_USER_MAX];

	snprintf(user, sizeof(user), FOR_JOB "%" PRIu64, job);
	return blob_store_keeps(blobs, hash, user);
}

struct forgetting {
	struct blob_store *blobs;
	char user[BLOB_USER_MAX];
	uint64_t *bytes;
	struct error *err;
};

/* store_event_fn */
static int forget_files(const struct event_row *row, void *arg)
{
	struct forgetting *forgetting = arg;
	const cJSON *file;
	cJSON *data;
	int rc = 0;

	if (strcmp(row->kind, job_event_name(JOB_EVENT_FILES)) || !row->data)
		return 0;
	data = codec_parse(row->data, strlen(row->data), NULL);
	cJSON_ArrayForEach(file,
			   cJSON_GetObjectItemCaseSensitive(data, "files")) {
		const char *hash = cJSON_GetStringValue(
			cJSON_GetObjectItemCaseSensitive(file, "content"));

		if (rc == 0 && hash)
			rc = blob_store_release(forgetting->blobs, hash,
						forgetting->user,
						forgetting->bytes,
						forgetting->err);
	}
	cJSON_Delete(data);
	return rc;
}

int blob_users_forget_job(struct blob_store *blobs, struct store *store,
			  uint64_t job, uint64_t *bytes, struct error *err)
{
	struct forgetting forgetting = {
		.blobs = blobs,
		.bytes = bytes,
		.err = err,
	};

	snprintf(forgetting.user, sizeof(forgetting.user), FOR_JOB "%" PRIu64,
		 job);
	return store_events(store, job, 0, 0, forget_files, &forgetting, err);
}

int blob_users_note_gone(struct blob_store *blobs, struct file_info *files,
			 size_t count, struct error *err)
{
	for (size_t i = 0; i < count; i++) {
		struct file_info *file = &files[i];
		uint64_t bytes;
		bool whole;

		if (!file->content ||
		    blob_store_look(blobs, file->content, &bytes, &whole,
				    NULL) < 0 ||
		    whole)
			continue;
		if (string_set(&file->content, NULL, err) < 0 ||
		    string_set(&file->text, "removed with the old output",
			       err) < 0)
			return -1;
	}
	return 0;
}

struct release {
	struct blob_store *blobs;
	struct store *store;
};

/* blob_store_user_fn */
static void release_old(void *arg, const char *hash, const char *user,
			int64_t used_ms)
{
	struct release *release = arg;
	size_t prefix = strlen(FOR_SWEEP);
	uint64_t bytes = 0;
	struct error err;

	if (strncmp(user, FOR_SWEEP, prefix) != 0 ||
	    clock_wall_ms() - used_ms < BLOB_USERS_OVER_MS ||
	    !store_sweep_over(release->store,
			      strtoull(user + prefix, NULL, 10)))
		return;
	if (blob_store_release(release->blobs, hash, user, &bytes, &err) < 0)
		log_warning("%s", err.text);
	else
		log_info("blob=%.12s the workspace of %s is removed: "
			 "%" PRIu64 " bytes",
			 hash, user, bytes);
}

bool blob_users_release(struct blob_store *blobs, struct store *store)
{
	struct release release = { blobs, store };
	struct error err;
	int rc = blob_store_users(blobs, USERS_STEP, release_old, &release,
				  &err);

	if (rc < 0)
		log_warning("%s", err.text);
	return rc > 0;
}
