/* folder.c - manages the folder of `regatta run`: keys, state and results of
 * one sweep.
 */
#include "controller/cli/run/folder_internal.h"
#include "controller/cli/input.h"
#include "protocol/base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/un.h>
#include <time.h>

#define CHOICES_MAX ((size_t)4 * PATH_MAX)
#define AUTHORIZED_MAX ((size_t)1 << 20)

char *folder_file(const struct folder *folder, const char *name,
		  char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/%s", folder->path, name);
	return path;
}

void folder_clear(struct folder *folder)
{
	if (folder->lock > 0)
		close(folder->lock);
	if (folder->daemons_lock > 0)
		close(folder->daemons_lock);
	folder->lock = 0;
	folder->daemons_lock = 0;
}

/* The path is limited, so that the path of each file in it fits. */
int folder_set_path(struct folder *folder, const char *name, struct error *err)
{
	owned_fd int own = file_open_own(name, err);
	char link[40], real[PATH_MAX];
	ssize_t size;

	if (own < 0)
		return -1;
	/* Of the folder that was looked at. */
	snprintf(link, sizeof(link), "/proc/self/fd/%d", own);
	size = readlink(link, real, sizeof(real));
	if (size <= 0)
		return error_errno(err, "%.120s", name);
	if (size > FOLDER_PATH_MAX)
		return error_set(err, EINVAL,
				 "%.80s...: path of %zd bytes; expected at "
				 "most %d",
				 name, size, FOLDER_PATH_MAX);
	real[size] = 0;
	memcpy(folder->path, real, (size_t)size + 1);
	return 0;
}

/* Above the standard streams, so that a child can inherit it by number. */
static int folder_open_path(const char *path, struct error *err)
{
	owned_fd int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int high;

	if (fd < 0)
		return error_errno(err, "%s", path);
	high = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	return high < 0 ? error_errno(err, "%s", path) : high;
}

int folder_try_lock(struct folder *folder, struct error *err)
{
	if (folder->lock <= 0)
		folder->lock = folder_open_path(folder->path, err);
	if (folder->lock < 0)
		return -1;
	return flock(folder->lock, LOCK_EX | LOCK_NB) == 0;
}

static int folder_lock(struct folder *folder, struct error *err)
{
	int rc = folder_try_lock(folder, err);

	if (rc == 0)
		return error_set(err, EINVAL,
				 "%.120s: another regatta run uses this folder",
				 folder->path);
	return rc < 0 ? -1 : 0;
}

static int lock_daemons(struct folder *folder, struct cli *cli,
			struct error *err)
{
	char path[PATH_MAX];

	folder->daemons_lock =
		folder_open_path(folder_file(folder, "keys", path), err);
	if (folder->daemons_lock < 0)
		return -1;
	if (flock(folder->daemons_lock, LOCK_EX | LOCK_NB) == 0)
		return 0;
	if (cli)
		cli_say(cli, "waiting for the earlier run to remove its "
			     "containers");
	while (flock(folder->daemons_lock, LOCK_EX) < 0)
		if (errno != EINTR)
			return error_errno(err, "%s", path);
	return 0;
}

int folder_check_room(const struct folder *folder, struct error *err)
{
	struct statvfs fs;
	uint64_t bytes;

	if (statvfs(folder->path, &fs) < 0)
		return error_errno(err, "%.120s", folder->path);
	bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
	if (bytes >= FOLDER_ROOM)
		return 0;
	return error_set(err, ENOSPC,
			 "%.120s: %llu MiB free on this disk; "
			 "expected at least %llu; free some, or name "
			 "another folder with --state",
			 folder->path, (unsigned long long)(bytes >> 20),
			 (unsigned long long)(FOLDER_ROOM >> 20));
}

int folder_have_key(const struct folder *folder, const char *file,
		    const char *name, enum role role, struct key *key,
		    struct error *err)
{
	char path[PATH_MAX];

	folder_file(folder, file, path);
	if (access(path, F_OK) == 0)
		return key_load(key, path, err);
	if (key_generate(key, name, role, err) < 0)
		return -1;
	return key_save(key, path, err);
}

/* The name of the node: the host name, if it is valid. */
static void folder_node_name(char name[KEY_NAME_SIZE])
{
	if (gethostname(name, KEY_NAME_SIZE) < 0)
		name[0] = 0;
	name[KEY_NAME_SIZE - 1] = 0;
	if (!name_valid(name) || !strcmp(name, "operator") ||
	    !strcmp(name, "controller"))
		snprintf(name, KEY_NAME_SIZE, "local");
}

int folder_authorize(const struct folder *folder, const struct key *agents,
		     size_t count, struct error *err)
{
	owned(buffer_clear) struct buffer lines = BUFFER_INIT(AUTHORIZED_MAX);
	char path[PATH_MAX], line[256];

	for (size_t i = 0; i <= count; i++) {
		key_line(i < count ? &agents[i] : &folder->operator, line,
			 sizeof(line));
		if (buffer_text(&lines, line, err) < 0)
			return -1;
	}
	return file_write(AT_FDCWD,
			  folder_file(folder, "keys/authorized", path),
			  lines.data, lines.size, 0600, 1, err);
}

static int have_keys(struct folder *folder, struct error *err)
{
	char name[KEY_NAME_SIZE];

	folder_node_name(name);
	if (folder_have_key(folder, "keys/controller.key", "controller",
			    ROLE_CONTROLLER, &folder->controller, err) < 0 ||
	    folder_have_key(folder, "keys/agent.key", name, ROLE_AGENT,
			    &folder->agent, err) < 0 ||
	    folder_have_key(folder, "keys/operator.key", "operator",
			    ROLE_OPERATOR, &folder->operator, err) < 0)
		return -1;
	return folder_authorize(folder, &folder->agent, 1, err);
}

static int have_cluster(struct folder *folder, struct error *err)
{
	owned(buffer_clear) struct buffer text;
	char path[PATH_MAX], token[33];

	buffer_init(&text, sizeof(folder->cluster) - 1);
	folder_file(folder, "cluster", path);
	if (access(path, F_OK) == 0) {
		if (file_read(AT_FDCWD, path, &text, err) < 0)
			return -1;
		while (text.size && text.data[text.size - 1] == '\n')
			text.data[--text.size] = 0;
		if (!name_valid(text.data))
			return error_set(err, EINVAL,
					 "%.120s: '%.40s' is not valid here; "
					 "expected what regatta run wrote "
					 "there",
					 path, text.data);
		snprintf(folder->cluster, sizeof(folder->cluster), "%s",
			 text.data);
		return 0;
	}
	token_make(token);
	snprintf(folder->cluster, sizeof(folder->cluster), "run-%s", token);
	return file_write(AT_FDCWD, path, folder->cluster,
			  strlen(folder->cluster), 0644, 1, err);
}

/* Remove the address of an earlier controller. */
static int drop_endpoint(const struct folder *folder, struct error *err)
{
	char path[PATH_MAX];

	return unlink(folder_file(folder, "endpoint", path)) < 0 &&
			       errno != ENOENT
		       ? error_errno(err, "%s", path)
		       : 0;
}

/* The same for a new run and for a run that was interrupted at any point. */
int folder_fill(struct folder *folder, struct cli *cli, struct error *err)
{
	static const char *const folders[] = { "keys", "controller", "agent" };
	char path[PATH_MAX];

	if (folder_check_room(folder, err) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		owned_fd int own =
			file_make_own(folder_file(folder, folders[i], path),
				      0700, err);

		if (own < 0)
			return -1;
	}
	if (lock_daemons(folder, cli, err) < 0 || have_keys(folder, err) < 0 ||
	    have_cluster(folder, err) < 0)
		return -1;
	return drop_endpoint(folder, err);
}

char *folder_name(const char *command, const char *sweep,
		  char name[FOLDER_NAME_SIZE])
{
	time_t now = time(NULL);
	struct tm tm;
	char stamp[32] = "now";

	if (localtime_r(&now, &tm))
		strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", &tm);
	snprintf(name, FOLDER_NAME_SIZE, "regatta-%s-%.64s-%s", command, sweep,
		 stamp);
	return name;
}

int folder_make(struct folder *folder, const char *name, const char *sweep,
		const struct buffer *text, struct error *err)
{
	char chosen[FOLDER_NAME_SIZE], path[PATH_MAX];
	owned_fd int own = -1;
	struct error why;

	*folder = (struct folder){ 0 };
	own = file_make_own(name ? name : folder_name("run", sweep, chosen),
			    0700, &why);
	if (own < 0)
		return error_set(err, why.code, "%s%s", why.text,
				 name ? ""
				      : "; name another folder with --state");
	name = name ? name : chosen;
	if (folder_set_path(folder, name, err) < 0 ||
	    folder_lock(folder, err) < 0)
		return -1;
	folder_file(folder, "sweep.yaml", path);
	if (access(path, F_OK) == 0)
		return error_set(err, EEXIST,
				 "%.120s: the folder has an earlier run; "
				 "--resume %.120s continues it, and another "
				 "--state "
				 "starts anew",
				 name, name);
	if (folder_fill(folder, NULL, err) < 0)
		return -1;
	return file_write(AT_FDCWD, path, text->data, text->size, 0644, 1, err);
}

/* The folder of an earlier run, and the path of its sweep. */
static int find_run(struct folder *folder, const char *name,
		    char path[PATH_MAX], struct error *err)
{
	*folder = (struct folder){ 0 };
	if (folder_set_path(folder, name, err) < 0)
		return -1;
	if (access(folder_file(folder, "job.sh", path), F_OK) == 0 &&
	    access(folder_file(folder, "sweep.yaml", path), F_OK) < 0)
		return error_set(err, ENOENT,
				 "%.120s: its Slurm job has not started yet; "
				 "squeue shows when it may",
				 name);
	folder_file(folder, "sweep.yaml", path);
	return access(path, F_OK) < 0
		       ? error_set(err, ENOENT,
				   "%.120s: no regatta run in this folder; "
				   "regatta run SWEEP --state DIR makes one",
				   name)
		       : 0;
}

int folder_find(struct folder *folder, const char *name, struct error *err)
{
	char path[PATH_MAX];

	if (find_run(folder, name, path, err) < 0 ||
	    key_load(&folder->controller,
		     folder_file(folder, "keys/controller.key", path),
		     err) < 0 ||
	    key_load(&folder->operator,
		     folder_file(folder, "keys/operator.key", path), err) < 0)
		return -1;
	return have_cluster(folder, err);
}

int folder_resume(struct folder *folder, struct cli *cli, const char *name,
		  struct buffer *text, struct error *err)
{
	char path[PATH_MAX];

	if (find_run(folder, name, path, err) < 0 ||
	    folder_lock(folder, err) < 0 ||
	    file_read(AT_FDCWD, path, text, err) < 0)
		return -1;
	return folder_fill(folder, cli, err);
}

bool folder_socket(const struct folder *folder, char endpoint[256])
{
	const size_t most = sizeof(((struct sockaddr_un *)NULL)->sun_path) - 1;
	char path[PATH_MAX];
	size_t size = strlen(folder_file(folder, "controller/socket", path));

	if (size > most || path[strcspn(path, " \t\r\n")])
		return false;
	snprintf(endpoint, 256, "ipc://%.200s", path);
	return true;
}

int folder_endpoint(const struct folder *folder, char endpoint[256],
		    struct error *err)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(255);
	char path[PATH_MAX];

	if (file_read(AT_FDCWD, folder_file(folder, "endpoint", path), &text,
		      err) < 0)
		return error_set(err, EAGAIN,
				 "%.120s: another run is starting in this "
				 "folder; try again",
				 folder->path);
	snprintf(endpoint, 256, "%.*s", (int)strcspn(text.data, "\n"),
		 text.data);
	return 0;
}

int folder_open(struct folder *folder, struct cli *cli, const char *name,
		char endpoint[256], struct error *err)
{
	int rc;

	if (folder_find(folder, name, err) < 0)
		return -1;
	rc = folder_try_lock(folder, err);
	if (rc <= 0)
		return rc < 0 || folder_endpoint(folder, endpoint, err) < 0 ? -1
									    : 1;
	return lock_daemons(folder, cli, err) < 0 ? -1
						  : drop_endpoint(folder, err);
}

int folder_save_choices(const struct folder *folder, const cJSON *choices,
			struct error *err)
{
	char *text = cJSON_Print(choices);
	char path[PATH_MAX];
	int rc;

	if (!text)
		return error_nomem(err, "folder of the run");
	folder_file(folder, "choices.json", path);
	rc = file_write(AT_FDCWD, path, text, strlen(text), 0644, 0, err);
	cJSON_free(text);
	return rc;
}

int folder_choices(const struct folder *folder, cJSON **choices,
		   struct error *err)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(CHOICES_MAX);
	char path[PATH_MAX];

	folder_file(folder, "choices.json", path);
	if (access(path, F_OK) < 0)
		*choices = cJSON_CreateObject();
	else if (file_read(AT_FDCWD, path, &text, err) < 0)
		return -1;
	else
		*choices = cJSON_ParseWithLength(text.data, text.size);
	return cJSON_IsObject(*choices)
		       ? 0
		       : error_set(err, EINVAL,
				   "%.120s: not a JSON object; remove it and "
				   "give --engine and --images again",
				   path);
}

/* When the run in this folder began; 0: there is none. */
static int64_t folder_begun(const char *name)
{
	char path[PATH_MAX];
	struct stat st;

	if (*name == '.' ||
	    file_path(path, NULL, "%s/keys/operator.key", name) < 0 ||
	    stat(path, &st) < 0)
		return 0;
	return st.st_mtim.tv_sec * INT64_C(1000000000) + st.st_mtim.tv_nsec;
}

bool folder_last(char name[NAME_MAX + 1])
{
	DIR *here = opendir(".");
	struct dirent *entry;
	int64_t last = 0;

	while (here && (entry = readdir(here))) {
		int64_t begun = folder_begun(entry->d_name);

		if (begun > last) {
			last = begun;
			snprintf(name, NAME_MAX + 1, "%s", entry->d_name);
		}
	}
	if (here)
		closedir(here);
	return last;
}
