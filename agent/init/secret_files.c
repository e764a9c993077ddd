/* secret_files.c - the secrets of the command that it gets as files. */
#include "agent/init/secret_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <unistd.h>

static bool write_all(int fd, const char *text)
{
	size_t left = strlen(text);

	while (left) {
		ssize_t done = write(fd, text, left);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return false;
		text += done;
		left -= (size_t)done;
	}
	return true;
}

static int write_one(const char *secret, int folder, struct start_error *why)
{
	int length = (int)strcspn(secret, "=");
	char name[256];
	bool good;
	int fd;

	snprintf(name, sizeof(name), "%.*s", length, secret);
	fd = openat(folder, name,
		    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0400);
	if (fd < 0)
		return start_error_errno(why, "secret %.64s", name);
	good = write_all(fd, secret + length + 1);
	if (!good)
		start_error_errno(why, "secret %.64s", name);
	close(fd);
	return good ? 0 : -1;
}

int secret_files_write(const struct start *start, const char *folder,
		       struct start_error *why)
{
	int fd, rc = 0;

	if (!start->secret_count)
		return 0;
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return start_error_errno(why, "%.150s", folder);
	for (size_t i = 0; i < start->secret_count && rc == 0; i++)
		rc = write_one(start->secrets[i], fd, why);
	close(fd);
	return rc;
}
