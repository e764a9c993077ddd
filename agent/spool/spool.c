/* spool.c - the folder of each task on the node: its spec, its output, its end.
 */
#include "agent/spool/spool.h"
#include "agent/init/init.h"
#include "protocol/base/clock.h"
#include "protocol/base/file.h"
#include "protocol/base/log.h"
#include "protocol/base/subprocess.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#define LIMIT_MS 3600000 /* then it begins again */

struct trash {
	sd_event *loop;
	const char *folder, *init_program;
	struct subprocess *child; /* NULL: nothing is being removed */
	bool again;               /* more came meanwhile */
};

struct trash *trash_new(sd_event *loop, const char *folder,
			const char *init_program, struct error *err)
{
	struct trash *trash = error_calloc(sizeof(*trash), "trash", err);

	if (trash)
		*trash = (struct trash){ .loop = loop,
					 .folder = folder,
					 .init_program = init_program };
	return trash;
}

void trash_free(struct trash *trash)
{
	if (!trash)
		return;
	subprocess_cancel(trash->child);
	free(trash);
}

/* subprocess_done_fn */
static void trash_emptied(void *arg, const struct error *err,
			  const struct subprocess_output *output)
{
	struct trash *trash = arg;

	trash->child = NULL;
	if (err && err->code != ETIMEDOUT)
		log_warning("%s is not removed: %s", trash->folder, err->text);
	else if (output && output->exit_code)
		log_warning("%s is not removed: %s", trash->folder,
			    output->complaint);
	if (trash->again || (err && err->code == ETIMEDOUT))
		trash_empty(trash);
}

void trash_empty(struct trash *trash)
{
	char *words[] = { trash ? (char *)trash->init_program : NULL,
			  (char *)INIT_EMPTY,
			  trash ? (char *)trash->folder : NULL };
	const struct strings argv = { words, 3 };
	const struct subprocess_command command = {
		.argv = &argv,
		.timeout_ms = LIMIT_MS,
		.output_max = 1,
	};
	struct error err;

	if (!trash)
		return;
	trash->again = trash->child;
	if (trash->child)
		return;
	trash->child = subprocess_run(trash->loop, &command, trash_emptied,
				      trash, &err);
	if (!trash->child)
		log_warning("%s is not removed: %s", trash->folder, err.text);
}

#define SPEC_MAX (4 << 20)
#define LOCK_WAIT_MS 2000 /* for the lock of an agent that ends */
#define LOCK_POLL_MS 20
#define SMALL_NAMES 64
#define SMALL_BYTES (16 << 20)
#define INIT_NOTE "init"     /* identity of the process of regatta-init */
#define RECORD_NOTE "record" /* identity of the file that becomes exit.json */

static const char *const folder_names[] = {
	[SPOOL_IN] = "in",
	[SPOOL_OUT] = "out",
	[SPOOL_WORK] = "work",
	[SPOOL_HOST] = "host",
};

struct spool {
	char *root;  /* <state>/spool */
	char *trash; /* <state>/trash */
	int fd;      /* of root; holds the lock */
	int trash_fd;
};

bool task_id_equal(const struct task_id *a, const struct task_id *b)
{
	return a->job == b->job && a->attempt == b->attempt &&
	       a->rank == b->rank;
}

struct task_id task_spec_id(const struct task_spec *spec)
{
	return (struct task_id){ spec->job, spec->attempt, spec->rank };
}

/* A killed agent holds the lock until its last thread is gone, so its successor
 * waits a little.
 */
static int spool_lock_folder(int fd, const char *state, struct error *err)
{
	for (int waited = 0; flock(fd, LOCK_EX | LOCK_NB) < 0;
	     waited += LOCK_POLL_MS) {
		if (errno != EWOULDBLOCK)
			return error_errno(err, "%s", state);
		if (waited >= LOCK_WAIT_MS)
			return error_set(err, EBUSY,
					 "%s: another agent uses this folder",
					 state);
		poll(NULL, 0, LOCK_POLL_MS);
	}
	return 0;
}

struct spool *spool_new(const char *state, struct error *err)
{
	owned(spool_free) struct spool *spool =
		error_calloc(sizeof(*spool), "spool", err);

	if (!spool)
		return NULL;
	spool->fd = spool->trash_fd = -1;
	if (asprintf(&spool->root, "%s/spool", state) < 0)
		spool->root = NULL;
	if (asprintf(&spool->trash, "%s/trash", state) < 0)
		spool->trash = NULL;
	if (!spool->root || !spool->trash)
		return error_null(error_nomem(err, "spool"));
	/* All that is no task's is removed from it. */
	spool->fd = file_make_own(spool->root, 0700, err);
	if (spool->fd < 0)
		return NULL;
	if (fchmod(spool->fd, 0700) < 0)
		return error_null(error_errno(err, "%s", spool->root));
	if (spool_lock_folder(spool->fd, state, err) < 0)
		return NULL;
	spool->trash_fd = file_make_own(spool->trash, 0700, err);
	return spool->trash_fd < 0 ? NULL : take(spool);
}

void spool_free(struct spool *spool)
{
	if (!spool)
		return;
	if (spool->fd >= 0)
		close(spool->fd);
	if (spool->trash_fd >= 0)
		close(spool->trash_fd);
	free(spool->root);
	free(spool->trash);
	free(spool);
}

/* "<job>.<attempt>.<rank>", with "/inside" unless that is "". */
static void task_path(const struct task_id *id, const char *inside,
		      char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%" PRIu64 ".%u.%u%s%s", id->job, id->attempt,
		 id->rank, *inside ? "/" : "", inside);
}

static void path_in(const struct task_id *id, enum spool_folder folder,
		    const char *name, char path[PATH_MAX])
{
	char inside[NAME_MAX + 16];

	snprintf(inside, sizeof(inside), "%s/%s", folder_names[folder], name);
	task_path(id, inside, path);
}

static int make_folder(struct spool *spool, const char *path, mode_t mode,
		       struct error *err)
{
	/* The umask must not narrow what the container needs. */
	if ((mkdirat(spool->fd, path, mode) < 0 && errno != EEXIST) ||
	    fchmodat(spool->fd, path, mode, 0) < 0)
		return error_errno(err, "%s/%s", spool->root, path);
	return 0;
}

static int make_folders(struct spool *spool, const struct task_id *id,
			bool work, struct error *err)
{
	static const struct {
		const char *inside;
		mode_t mode;
	} folders[] = {
		{ "", 0700 },     { "in", 0755 },   { "out", 0777 },
		{ "host", 0700 }, { "work", 0755 },
	};
	size_t count = sizeof(folders) / sizeof(folders[0]) - !work;
	char path[PATH_MAX];

	for (size_t i = 0; i < count; i++) {
		task_path(id, folders[i].inside, path);
		if (make_folder(spool, path, folders[i].mode, err) < 0)
			return -1;
	}
	return 0;
}

int spool_create(struct spool *spool, const struct task_spec *spec,
		 struct error *err)
{
	struct task_id id = task_spec_id(spec);
	owned(buffer_clear) struct buffer text = BUFFER_INIT(SPEC_MAX);
	char name[PATH_MAX];

	task_path(&id, "task.json", name);
	if (faccessat(spool->fd, name, F_OK, 0) == 0)
		return 0;
	if (codec_encode(&task_spec_schema, spec, &text, err) < 0 ||
	    make_folders(spool, &id, spec->container.workspace, err) < 0)
		return -1;
	return file_write(spool->fd, name, text.data, text.size, 0600, 0, err);
}

int spool_read_spec(struct spool *spool, const struct task_id *id,
		    struct task_spec *spec, struct error *err)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(SPEC_MAX);
	char name[PATH_MAX];
	struct task_spec got;

	task_path(id, "task.json", name);
	if (file_read(spool->fd, name, &text, err) < 0)
		return -1;
	if (codec_decode(&task_spec_schema, text.data, text.size, &got, err) <
	    0)
		return error_prefix(err, "%s/%s", spool->root, name);
	if (got.job != id->job || got.attempt != id->attempt ||
	    got.rank != id->rank) {
		codec_clear(&task_spec_schema, &got);
		return error_set(err, EPROTO, "%s/%s: belongs to another task",
				 spool->root, name);
	}
	*spec = got;
	return 0;
}

void spool_path(const struct spool *spool, const struct task_id *id,
		enum spool_folder folder, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/%" PRIu64 ".%u.%u/%s", spool->root,
		 id->job, id->attempt, id->rank, folder_names[folder]);
}

int spool_write(struct spool *spool, const struct task_id *id,
		enum spool_folder folder, const char *name, const void *data,
		size_t size, struct error *err)
{
	char path[PATH_MAX];

	path_in(id, folder, name, path);
	return file_write(spool->fd, path, data, size,
			  folder == SPOOL_IN ? 0444 : 0600, 0, err);
}

int spool_read(struct spool *spool, const struct task_id *id,
	       enum spool_folder folder, const char *name, struct buffer *out,
	       struct error *err)
{
	char path[PATH_MAX];

	path_in(id, folder, name, path);
	return file_read(spool->fd, path, out, err);
}

bool spool_has(struct spool *spool, const struct task_id *id,
	       enum spool_folder folder, const char *name)
{
	return spool_age_ms(spool, id, folder, name) >= 0;
}

int spool_release(struct spool *spool, const struct task_id *id,
		  struct error *err)
{
	char from[PATH_MAX], to[PATH_MAX];

	path_in(id, SPOOL_IN, "start.new", from);
	path_in(id, SPOOL_IN, "start", to);
	if (renameat(spool->fd, from, spool->fd, to) == 0 ||
	    (errno == ENOENT && spool_has(spool, id, SPOOL_IN, "start")))
		return 0;
	return error_errno(err, "%s/%s", spool->root, from);
}

int spool_pipe(struct spool *spool, const struct task_id *id, const char *name,
	       const void *data, size_t size, struct error *err)
{
	owned_fd int fd = -1;
	char path[PATH_MAX];
	struct stat st;

	path_in(id, SPOOL_IN, name, path);
	if (mkfifoat(spool->fd, path, 0400) < 0 && errno != EEXIST)
		return error_errno(err, "%s/%s", spool->root, path);
	/* Whoever opens both ends waits for nobody. */
	fd = openat(spool->fd, path,
		    O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
	/* regatta-init may be any user of the image. */
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISFIFO(st.st_mode) ||
	    fchmod(fd, 0444) < 0 ||
	    (fcntl(fd, F_GETPIPE_SZ) < (int)size &&
	     fcntl(fd, F_SETPIPE_SZ, (int)size) < 0) ||
	    write(fd, data, size) != (ssize_t)size)
		return error_errno(err, "%s/%s", spool->root, path);
	return take_fd(&fd);
}

int64_t spool_age_ms(struct spool *spool, const struct task_id *id,
		     enum spool_folder folder, const char *name)
{
	char path[PATH_MAX];
	struct stat st;
	int64_t age;

	path_in(id, folder, name, path);
	if (fstatat(spool->fd, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -1;
	age = clock_wall_ms() - ((int64_t)st.st_mtim.tv_sec * 1000 +
				 st.st_mtim.tv_nsec / 1000000);
	return age < 0 ? 0 : age;
}

void spool_forget(struct spool *spool, const struct task_id *id,
		  enum spool_folder folder, const char *name)
{
	char path[PATH_MAX];

	path_in(id, folder, name, path);
	unlinkat(spool->fd, path, 0);
}

void spool_names(struct spool *spool, const struct task_id *id,
		 enum spool_folder folder, spool_name_fn *fn, void *arg)
{
	const struct dirent *entry;
	char path[PATH_MAX];
	DIR *dir;

	path_in(id, folder, ".", path);
	dir = file_open_folder(spool->fd, path);
	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			fn(arg, entry->d_name);
	if (dir)
		closedir(dir);
}

/* "PID TIME": when it began, since the machine did. "": there is none. */
static void process_identity(pid_t pid, char text[64])
{
	enum { TIME = 20 }; /* fields after the name */
	owned(buffer_clear) struct buffer stat = BUFFER_INIT(4096);
	const char *at = NULL;
	char path[40];

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (file_read(AT_FDCWD, path, &stat, NULL) == 0)
		at = strrchr(stat.data, ')');
	for (int i = 0; at && i < TIME; i++)
		at = strchr(at + 1, ' ');
	snprintf(text, 64, at ? "%d %llu" : "", (int)pid,
		 at ? strtoull(at, NULL, 10) : 0);
}

int spool_note_init(struct spool *spool, const struct task_id *id, pid_t pid,
		    struct error *err)
{
	char text[64];

	process_identity(pid, text);
	return spool_write(spool, id, SPOOL_HOST, INIT_NOTE, text, strlen(text),
			   err);
}

static pid_t started_holder(struct spool *spool, const struct task_id *id)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	owned_fd int fd = -1;
	char name[PATH_MAX];

	path_in(id, SPOOL_OUT, "started", name);
	fd = openat(spool->fd, name,
		    O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 || fcntl(fd, F_GETLK, &lock) < 0 || lock.l_type == F_UNLCK)
		return 0;
	return lock.l_pid > 1 ? lock.l_pid : -1;
}

pid_t spool_holder(struct spool *spool, const struct task_id *id)
{
	owned(buffer_clear) struct buffer noted;
	char text[64];
	pid_t pid;

	buffer_init(&noted, sizeof(text));
	if (!spool_has(spool, id, SPOOL_IN, "start"))
		return started_holder(spool, id);
	if (spool_read(spool, id, SPOOL_HOST, INIT_NOTE, &noted, NULL) < 0 ||
	    !noted.size)
		return 0;
	pid = (pid_t)strtol(noted.data, NULL, 10);
	process_identity(pid, text);
	return strcmp(noted.data, text) ? 0 : pid;
}

/* The identity of a file as text. */
static void file_identity(const struct stat *st, char text[64])
{
	snprintf(text, 64, "%ju %ju", (uintmax_t)st->st_dev,
		 (uintmax_t)st->st_ino);
}

int spool_reserve_record(struct spool *spool, const struct task_id *id,
			 struct error *err)
{
	char name[PATH_MAX], text[64];
	owned_fd int fd = -1;
	struct stat st;

	if (spool_has(spool, id, SPOOL_HOST, RECORD_NOTE))
		return 0;
	path_in(id, SPOOL_OUT, "exit.json.new", name);
	fd = openat(spool->fd, name,
		    O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
	/* regatta-init may be any user of the image. */
	if (fd < 0 || fchmod(fd, 0666) < 0 || fstat(fd, &st) < 0)
		return error_errno(err, "%s/%s", spool->root, name);
	file_identity(&st, text);
	return spool_write(spool, id, SPOOL_HOST, RECORD_NOTE, text,
			   strlen(text), err);
}

bool spool_record_is_ours(struct spool *spool, const struct task_id *id)
{
	owned(buffer_clear) struct buffer noted;
	char name[PATH_MAX], text[64];
	struct stat st;

	buffer_init(&noted, sizeof(text));
	if (spool_read(spool, id, SPOOL_HOST, RECORD_NOTE, &noted, NULL) < 0)
		return true; /* an earlier agent did not reserve it */
	path_in(id, SPOOL_OUT, "exit.json", name);
	if (fstatat(spool->fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return false;
	file_identity(&st, text);
	return !strcmp(noted.data, text);
}

int spool_read_exit(struct spool *spool, const struct task_id *id,
		    struct exit_record *record, struct error *err)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(EXIT_RECORD_MAX);

	if (spool_read(spool, id, SPOOL_OUT, "exit.json", &text, err) < 0)
		return -1;
	if (!spool_record_is_ours(spool, id))
		return error_set(err, EPROTO, "another file is in its place");
	return exit_record_parse(text.data, text.size, record, err);
}

static void stream_path(const struct task_id *id, enum spool_folder folder,
			const char *stream, char path[PATH_MAX])
{
	char name[NAME_MAX + 1];

	snprintf(name, sizeof(name), "%s.log", stream);
	path_in(id, folder, name, path);
}

static int spool_open_path(struct spool *spool, const char *path,
			   struct error *err)
{
	owned_fd int fd =
		openat(spool->fd, path,
		       O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return error_errno(err, "%s/%s", spool->root, path);
	if (!S_ISREG(st.st_mode))
		return error_set(err, EINVAL, "%s/%s: not a regular file",
				 spool->root, path);
	return take_fd(&fd);
}

int spool_open_file(struct spool *spool, const struct task_id *id,
		    enum spool_folder folder, const char *name,
		    struct error *err)
{
	char path[PATH_MAX];

	path_in(id, folder, name, path);
	return spool_open_path(spool, path, err);
}

void spool_drop_file(struct spool *spool, const struct task_id *id,
		     enum spool_folder folder, const char *name)
{
	char path[PATH_MAX];

	path_in(id, folder, name, path);
	unlinkat(spool->fd, path, 0);
}

int spool_open_stream(struct spool *spool, const struct task_id *id,
		      enum spool_folder folder, const char *stream,
		      struct error *err)
{
	char path[PATH_MAX];

	stream_path(id, folder, stream, path);
	return spool_open_path(spool, path, err);
}

int spool_append_stream(struct spool *spool, const struct task_id *id,
			const char *stream, struct error *err)
{
	char name[PATH_MAX];
	int fd;

	stream_path(id, SPOOL_HOST, stream, name);
	fd = openat(spool->fd, name,
		    O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
		    0600);
	return fd < 0 ? error_errno(err, "%s/%s", spool->root, name) : fd;
}

static void measure_folder(int parent, const char *name, unsigned int depth,
			   size_t names_max, struct spool_usage *usage)
{
	DIR *dir = file_open_folder(parent, name);
	const struct dirent *entry;
	struct stat st;

	if (!dir)
		return;
	while (usage->names <= names_max && (entry = readdir(dir))) {
		if (!strcmp(entry->d_name, ".") ||
		    !strcmp(entry->d_name, "..") ||
		    fstatat(dirfd(dir), entry->d_name, &st,
			    AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		usage->names++;
		usage->bytes += (uint64_t)st.st_blocks * 512;
		if (!S_ISDIR(st.st_mode))
			continue;
		if (depth == SPOOL_DEPTH_MAX)
			usage->names = names_max + 1;
		else
			measure_folder(dirfd(dir), entry->d_name, depth + 1,
				       names_max, usage);
	}
	closedir(dir);
}

void spool_measure(struct spool *spool, const struct task_id *id,
		   size_t names_max, struct spool_usage *usage)
{
	char name[PATH_MAX];

	memset(usage, 0, sizeof(*usage));
	path_in(id, SPOOL_OUT, "", name);
	measure_folder(spool->fd, name, 1, names_max, usage);
}

/* Of a folder of the trash: a child process would cost more. */
static bool remove_small(struct spool *spool, const char *name)
{
	struct spool_usage usage = { 0 };

	measure_folder(spool->trash_fd, name, 1, SMALL_NAMES, &usage);
	return usage.names <= SMALL_NAMES && usage.bytes <= SMALL_BYTES &&
	       file_remove_some(spool->trash_fd, name, SMALL_NAMES + 2, NULL) ==
		       0;
}

int spool_remove(struct spool *spool, const struct task_id *id,
		 struct error *err)
{
	char name[PATH_MAX], to[PATH_MAX + 24];

	task_path(id, "", name);
	for (unsigned int n = 0;; n++) {
		snprintf(to, sizeof(to), "%s-%u", name, n);
		if (renameat(spool->fd, name, spool->trash_fd, to) == 0)
			return remove_small(spool, to) ? 0 : 1;
		if (errno == ENOENT)
			return 0;
		if (errno != ENOTEMPTY && errno != EEXIST)
			return error_errno(err, "%s/%s", spool->root, name);
	}
}

const char *spool_trash(const struct spool *spool)
{
	return spool->trash;
}

static bool parse_name(const char *name, struct task_id *id)
{
	char again[PATH_MAX];

	if (sscanf(name, "%" SCNu64 ".%u.%u", &id->job, &id->attempt,
		   &id->rank) != 3)
		return false;
	task_path(id, "", again);
	return !strcmp(name, again);
}

int spool_each(struct spool *spool, spool_fn *fn, void *arg, struct error *err)
{
	DIR *dir = file_open_folder(spool->fd, ".");
	struct dirent *entry;

	if (!dir)
		return error_errno(err, "%s", spool->root);
	while ((entry = readdir(dir))) {
		struct task_id id;

		if (entry->d_name[0] == '.')
			continue;
		if (parse_name(entry->d_name, &id))
			fn(arg, &id);
		else
			file_remove_tree(spool->fd, entry->d_name, NULL);
	}
	closedir(dir);
	return 0;
}
