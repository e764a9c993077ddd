/* log_files.c - the output of whole attempts: listed, synced, removed,
 * measured.
 */
#include "controller/logs/log_store_internal.h"

#include "protocol/base/clock.h"
#include "protocol/base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define REMOVE_STEP (8 << 20) /* bytes at a time; some 2 ms on ext4 */

/* More files than this are synced with their whole file system at once. */
#define SYNC_EACH_MAX 64

bool log_name_valid(const char *name)
{
	size_t length = strnlen(name, LOG_STORE_NAME_MAX + 1);

	return length > 0 && length <= LOG_STORE_NAME_MAX &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789._-") ==
		       length &&
	       name[0] != '.' && name[0] != '_' && name[0] != '-';
}

struct log_path log_path_of(uint64_t job, uint32_t attempt, const char *stream,
			    const char *suffix)
{
	struct log_path path;

	snprintf(path.text, sizeof(path.text), "%llu/%u%s%s%s",
		 (unsigned long long)job, attempt, stream ? "/" : "",
		 stream ? stream : "", suffix);
	return path;
}

/* The stream's name, when an entry of the attempt's folder is a log. */
static bool log_name(const char *entry, char name[LOG_STORE_NAME_MAX + 1])
{
	size_t length = strlen(entry);

	if (length <= 4 || length > LOG_STORE_NAME_MAX + 4 ||
	    strcmp(entry + length - 4, ".log") != 0)
		return false;
	memcpy(name, entry, length - 4);
	name[length - 4] = 0;
	return log_name_valid(name);
}

static int log_files_compare(const void *a, const void *b)
{
	return strverscmp(*(char *const *)a, *(char *const *)b);
}

/* To read the attempt's folder; NULL: there is none. The caller closes it. */
static int list_attempt(const struct log_store *store, uint64_t job,
			uint32_t attempt, DIR **dir, struct error *err)
{
	owned_fd int fd =
		openat(store->folder, log_path_of(job, attempt, NULL, "").text,
		       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	*dir = fd < 0 ? NULL : fdopendir(fd);
	if (!*dir)
		return fd < 0 && errno == ENOENT
			       ? 0
			       : error_errno(err, "job %llu",
					     (unsigned long long)job);
	take_fd(&fd);
	return 0;
}

int log_names(const struct log_store *store, uint64_t job, uint32_t attempt,
	      struct strings *names, int *fd, struct error *err)
{
	const struct dirent *entry;
	char name[LOG_STORE_NAME_MAX + 1];
	DIR *dir;
	int rc = 0;

	if (list_attempt(store, job, attempt, &dir, err) < 0)
		return -1;
	if (!dir)
		return 0;
	while (rc == 0 && (entry = readdir(dir)))
		if (log_name(entry->d_name, name))
			rc = strings_add(names, name, err);
	if (rc == 0 && (*fd = fcntl(dirfd(dir), F_DUPFD_CLOEXEC, 0)) < 0)
		rc = error_errno(err, "job %llu", (unsigned long long)job);
	closedir(dir);
	if (names->count)
		qsort(names->items, names->count, sizeof(char *),
		      log_files_compare);
	return rc;
}

int log_store_streams(struct log_store *store, uint64_t job, uint32_t attempt,
		      log_store_stream_fn *fn, void *arg, struct error *err)
{
	owned(strings_clear) struct strings names = { 0 };
	owned_fd int fd = -1;
	int rc = log_names(store, job, attempt, &names, &fd, err);

	for (size_t i = 0; rc == 0 && i < names.count; i++) {
		struct log_path path =
			log_path_of(0, 0, names.items[i], ".log");
		struct stat st;

		/* The name of the file follows "0/0/". */
		if (fstatat(fd, path.text + 4, &st, AT_SYMLINK_NOFOLLOW) < 0)
			return error_errno(err, "job %llu, %s",
					   (unsigned long long)job,
					   names.items[i]);
		rc = fn(names.items[i], (uint64_t)st.st_size, arg);
	}
	return rc;
}

static int sync_file(int folder, const char *name, struct error *err)
{
	struct log_path path = log_path_of(0, 0, name, ".log");
	owned_fd int fd =
		openat(folder, path.text + 4, O_RDWR | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0 || fdatasync(fd) < 0)
		return error_errno(err, "sync of %s", path.text + 4);
	return 0;
}

int log_store_sync(struct log_store *store, uint64_t job, uint32_t attempt,
		   struct error *err)
{
	owned(strings_clear) struct strings names = { 0 };
	owned_fd int fd = -1, parent = -1;

	if (log_names(store, job, attempt, &names, &fd, err) < 0)
		return error_prefix(err, "sync");
	if (fd < 0)
		return 0;
	if (names.count > SYNC_EACH_MAX) {
		if (syncfs(fd) < 0)
			return error_errno(err, "sync of job %llu",
					   (unsigned long long)job);
		return 0;
	}
	for (size_t i = 0; i < names.count; i++)
		if (sync_file(fd, names.items[i], err) < 0)
			return error_prefix(err, "job %llu",
					    (unsigned long long)job);
	parent = openat(fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fsync(fd) < 0 || parent < 0 || fsync(parent) < 0 ||
	    fsync(store->folder) < 0)
		return error_errno(err, "sync of job %llu",
				   (unsigned long long)job);
	return 0;
}

/* Removing. */

/* Free its space in steps, from the end, then remove the file. */
static int remove_log(int folder, const char *name, int64_t until_ms,
		      uint64_t *freed, struct error *err)
{
	struct log_path path = log_path_of(0, 0, name, ".log");
	owned_fd int fd =
		openat(folder, path.text + 4, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	struct stat st, now;

	if (fd < 0 || fstat(fd, &st) < 0)
		return error_errno(err, "%s", path.text + 4);
	for (off_t left = st.st_size; left > REMOVE_STEP;) {
		left -= REMOVE_STEP;
		if (ftruncate(fd, left) < 0)
			return error_errno(err, "%s", path.text + 4);
		if (clock_mono_ms() < until_ms)
			continue;
		if (fstat(fd, &now) == 0 && now.st_blocks < st.st_blocks)
			*freed +=
				(uint64_t)(st.st_blocks - now.st_blocks) * 512;
		return 1;
	}
	if (unlinkat(folder, path.text + 4, 0) < 0)
		return error_errno(err, "%s", path.text + 4);
	*freed += (uint64_t)st.st_blocks * 512;
	return 0;
}

int log_files_remove(struct log_store *store, uint64_t job, uint32_t attempt,
		     int64_t until_ms, uint64_t *freed, struct error *err)
{
	owned(strings_clear) struct strings names = { 0 };
	struct log_path path = log_path_of(job, attempt, NULL, "");
	owned_fd int folder = -1;
	int rc;

	rc = log_names(store, job, attempt, &names, &folder, err);
	for (size_t i = 0; rc == 0 && i < names.count; i++)
		rc = remove_log(folder, names.items[i], until_ms, freed, err);
	if (rc == 0)
		rc = file_remove_tree(store->folder, path.text, err);
	if (rc != 0)
		return rc;
	/* The folder of the job is removed with its last attempt. */
	*strchr(path.text, '/') = 0;
	unlinkat(store->folder, path.text, AT_REMOVEDIR);
	return 0;
}

int log_store_usage(struct log_store *store, uint64_t job, uint32_t attempt,
		    uint64_t *bytes, struct error *err)
{
	const struct dirent *entry;
	struct stat st;
	DIR *dir;

	*bytes = 0;
	if (list_attempt(store, job, attempt, &dir, err) < 0)
		return -1;
	if (!dir)
		return 0;
	while ((entry = readdir(dir)))
		if (fstatat(dirfd(dir), entry->d_name, &st,
			    AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(st.st_mode))
			*bytes += (uint64_t)st.st_blocks * 512;
	closedir(dir);
	return 0;
}
