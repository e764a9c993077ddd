/* backup.c - saves the controller's whole state to one file, and restores
 * it.
 */
#include "controller/store/backup.h"
#include "controller/store/store.h"
#include "protocol/base/file.h"

#include <archive.h>
#include <archive_entry.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE 65536
#define HEAD_NAME "regatta-backup"
#define HEAD_TEXT "1\n" /* of the format; other ones are refused */
#define DATABASE "regatta.db"
#define UNFINISHED "regatta.db.restored"
#define DEPTH_MAX 16

/* The folders that are saved. */
static const char *const folders[] = { "logs/", "content/" };

static bool backup_allows_name(const char *name)
{
	if (strstr(name, "..") || strstr(name, "//") || strlen(name) > 1000)
		return false;
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		if (!strncmp(name, folders[i], strlen(folders[i])))
			return strncmp(name, "content/partial/", 16) != 0;
	return false;
}

/* Writing. */

static void out_free(struct archive *out)
{
	archive_write_free(out);
}
OWNED_POINTER(struct archive, out_free)

static int archive_problem(struct archive *archive, const char *file,
			   struct error *err)
{
	int code = archive_errno(archive);

	return error_set(err, code > 0 ? code : EIO, "%s: %s", file,
			 archive_error_string(archive));
}

static int backup_put_header(struct archive *out, const char *name,
			     int64_t size, const char *file, struct error *err)
{
	struct archive_entry *entry = archive_entry_new();
	int rc;

	if (!entry)
		return error_nomem(err, "backup");
	archive_entry_set_pathname(entry, name);
	archive_entry_set_filetype(entry, AE_IFREG);
	archive_entry_set_perm(entry, 0600);
	archive_entry_set_size(entry, size);
	rc = archive_write_header(out, entry);
	archive_entry_free(entry);
	return rc == ARCHIVE_OK ? 0 : archive_problem(out, file, err);
}

/* The bytes that it has now, without those that are appended meanwhile. */
static int backup_put_file(struct archive *out, const char *path,
			   const char *name, const char *file,
			   struct error *err)
{
	owned_fd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	char piece[PIECE];
	struct stat st;
	int64_t left;

	if (fd < 0 && errno == ENOENT)
		return 0; /* a stream or blob that was just removed */
	if (fd < 0 || fstat(fd, &st) < 0)
		return error_errno(err, "%s", path);
	left = st.st_size;
	if (backup_put_header(out, name, left, file, err) < 0)
		return -1;
	while (left > 0) {
		ssize_t got =
			read(fd, piece, left < PIECE ? (size_t)left : PIECE);

		if (got < 0)
			return error_errno(err, "%s", path);
		if (got == 0)
			return error_set(err, EIO, "%s became shorter", path);
		if (archive_write_data(out, piece, (size_t)got) != got)
			return archive_problem(out, file, err);
		left -= got;
	}
	return 0;
}

static int put_tree(struct archive *out, const char *state, const char *file,
		    struct error *err)
{
	char *paths[] = { (char *)state, NULL };
	FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	size_t skip = strlen(state) + 1;
	FTSENT *entry;
	int rc = 0;

	if (!tree)
		return error_errno(err, "%s", state);
	while (rc == 0 && (entry = fts_read(tree)))
		if (entry->fts_info == FTS_F &&
		    backup_allows_name(entry->fts_path + skip))
			rc = backup_put_file(out, entry->fts_path,
					     entry->fts_path + skip, file, err);
	fts_close(tree);
	return rc;
}

/* Copy the database, as it is at one moment, to a file. */
static int snapshot(const char *state, const char *to, struct error *err)
{
	char path[PATH_MAX];
	sqlite3 *from = NULL, *copy = NULL;
	sqlite3_backup *backup = NULL;
	int rc = SQLITE_ERROR;

	snprintf(path, sizeof(path), "%s/" DATABASE, state);
	if (access(path, F_OK) < 0)
		return error_set(err, EPROTO,
				 "%s: not the state of a controller", state);
	if (sqlite3_open_v2(path, &from, SQLITE_OPEN_READWRITE, NULL) ==
		    SQLITE_OK &&
	    sqlite3_open_v2(to, &copy,
			    SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
			    NULL) == SQLITE_OK)
		backup = sqlite3_backup_init(copy, "main", from, "main");
	sqlite3_busy_timeout(from, 10000);
	if (backup) {
		rc = sqlite3_backup_step(backup, -1);
		sqlite3_backup_finish(backup);
	}
	if (rc != SQLITE_DONE)
		error_set(err, EIO, "%s: %s", path,
			  sqlite3_errmsg(copy ? copy : from));
	sqlite3_close(copy);
	sqlite3_close(from);
	return rc == SQLITE_DONE ? 0 : -1;
}

static int pack(const char *state, const char *database, const char *file,
		int fd, struct error *err)
{
	owned(out_free) struct archive *out = archive_write_new();

	if (!out)
		return error_nomem(err, "backup");
	if (archive_write_set_format_pax_restricted(out) != ARCHIVE_OK ||
	    archive_write_add_filter_gzip(out) != ARCHIVE_OK ||
	    archive_write_set_options(out, "gzip:compression-level=1") !=
		    ARCHIVE_OK ||
	    archive_write_open_fd(out, fd) != ARCHIVE_OK)
		return archive_problem(out, file, err);
	if (backup_put_header(out, HEAD_NAME, strlen(HEAD_TEXT), file, err) < 0)
		return -1;
	if (archive_write_data(out, HEAD_TEXT, strlen(HEAD_TEXT)) < 0)
		return archive_problem(out, file, err);
	/* Logs only grow: read later, they have all that the database needs. */
	if (backup_put_file(out, database, DATABASE, file, err) < 0 ||
	    put_tree(out, state, file, err) < 0)
		return -1;
	if (archive_write_close(out) != ARCHIVE_OK)
		return archive_problem(out, file, err);
	return fsync(fd) < 0 ? error_errno(err, "%s", file) : 0;
}

int backup_write(const char *state, const char *file, struct error *err)
{
	char database[PATH_MAX], part[PATH_MAX];
	owned_fd int fd = -1;
	int rc;

	snprintf(database, sizeof(database), "%s.db", file);
	snprintf(part, sizeof(part), "%s.part", file);
	unlink(database);
	fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
		  0600);
	if (fd < 0)
		return error_errno(err, "%s", part);
	rc = snapshot(state, database, err);
	if (rc == 0)
		rc = pack(state, database, file, fd, err);
	unlink(database);
	if (rc == 0 && rename(part, file) < 0)
		rc = error_errno(err, "%s", file);
	if (rc < 0)
		unlink(part);
	return rc;
}

/* Restoring. */

static void in_free(struct archive *in)
{
	archive_read_free(in);
}
OWNED_POINTER(struct archive, in_free)

static int get_file(struct archive *in, const char *state, const char *name,
		    const char *file, struct error *err)
{
	owned_fd int fd = -1;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", state, name);
	*strrchr(path, '/') = 0;
	if (file_make_folders(path, 0700, err) < 0)
		return -1;
	snprintf(path, sizeof(path), "%s/%s", state, name);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
		  0600);
	if (fd < 0)
		return error_errno(err, "%s", path);
	return archive_read_data_into_fd(in, fd) == ARCHIVE_OK
		       ? 0
		       : archive_problem(in, file, err);
}

static int check_head(struct archive *in, const char *file, struct error *err)
{
	struct archive_entry *entry;
	char text[16] = "";
	const char *name;

	if (archive_read_next_header(in, &entry) == ARCHIVE_OK) {
		name = archive_entry_pathname(entry);
		if (name && !strcmp(name, HEAD_NAME))
			archive_read_data(in, text, sizeof(text) - 1);
	}
	if (!text[0])
		return error_set(err, EPROTO,
				 "%s: not a backup of a controller", file);
	if (strcmp(text, HEAD_TEXT) != 0)
		return error_set(err, EPROTO,
				 "%s: of format %.10s; expected " HEAD_TEXT,
				 file, text);
	return 0;
}

static int unpack_all(struct archive *in, const char *state, const char *file,
		      struct error *err)
{
	struct archive_entry *entry;
	bool database = false;
	int rc;

	while ((rc = archive_read_next_header(in, &entry)) == ARCHIVE_OK) {
		const char *name = archive_entry_pathname(entry);
		bool is_database = name && !strcmp(name, DATABASE);

		if (!name || archive_entry_filetype(entry) != AE_IFREG ||
		    archive_entry_hardlink(entry) ||
		    !(is_database || backup_allows_name(name)))
			return error_set(err, EPROTO,
					 "%s: '%.100s' does not belong to the "
					 "state of a controller",
					 file, name ? name : "");
		if (get_file(in, state, is_database ? UNFINISHED : name, file,
			     err) < 0)
			return -1;
		database |= is_database;
	}
	if (rc != ARCHIVE_EOF)
		return archive_problem(in, file, err);
	return database ? 0
			: error_set(err, EPROTO, "%s: has no database", file);
}

static int check_empty(const char *state, struct error *err)
{
	DIR *dir = opendir(state);
	struct dirent *entry;
	bool empty = true;

	if (!dir)
		return errno == ENOENT ? file_make_folders(state, 0700, err)
				       : error_errno(err, "%s", state);
	while (empty && (entry = readdir(dir)))
		empty = !strcmp(entry->d_name, ".") ||
			!strcmp(entry->d_name, "..");
	closedir(dir);
	return empty ? 0
		     : error_set(err, EEXIST,
				 "%s: not empty; move its contents away first",
				 state);
}

/* As root: the files get the owner of the folder. */
static int give_to_owner(const char *state, struct error *err)
{
	char *paths[] = { (char *)state, NULL };
	struct stat st;
	FTSENT *entry;
	FTS *tree;
	int rc = 0;

	if (geteuid() != 0 || stat(state, &st) < 0 || st.st_uid == 0)
		return 0;
	tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	if (!tree)
		return error_errno(err, "%s", state);
	while (rc == 0 && (entry = fts_read(tree)))
		if (entry->fts_info != FTS_DP &&
		    lchown(entry->fts_path, st.st_uid, st.st_gid) < 0)
			rc = error_errno(err, "%s", entry->fts_path);
	fts_close(tree);
	return rc;
}

int backup_restore(const char *file, const char *state, struct error *err)
{
	owned(in_free) struct archive *in = archive_read_new();
	char from[PATH_MAX], to[PATH_MAX];
	struct store *store;

	if (!in)
		return error_nomem(err, "backup");
	if (check_empty(state, err) < 0)
		return -1;
	archive_read_support_format_tar(in);
	archive_read_support_filter_gzip(in);
	if (archive_read_open_filename(in, file, PIECE) != ARCHIVE_OK)
		return archive_problem(in, file, err);
	if (check_head(in, file, err) < 0 ||
	    unpack_all(in, state, file, err) < 0)
		return -1;
	/* A controller cannot start with a part: the database comes last. */
	snprintf(from, sizeof(from), "%s/" UNFINISHED, state);
	snprintf(to, sizeof(to), "%s/" DATABASE, state);
	if (rename(from, to) < 0)
		return error_errno(err, "%s", to);
	store = store_new(state, err);
	if (!store)
		return error_prefix(err, "%s", file);
	store_free(store);
	return give_to_owner(state, err);
}
