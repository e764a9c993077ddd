/* secret_files.c - the secrets of the command that it gets as files. */
#include "agent/init/secret_files.h"
#include "protocol/base/file.h"

#include <fcntl.h>
#include <unistd.h>

static int write_one(const char *secret, int folder, struct error *err)
{
	int length = (int)strcspn(secret, "=");
	const char *value = secret + length + 1;
	char name[256];

	snprintf(name, sizeof(name), "%.*s", length, secret);
	return file_write(folder, name, value, strlen(value), 0400, 0, err) < 0
		       ? error_prefix(err, "secret")
		       : 0;
}

int secret_files_write(const struct start *start, const char *folder,
		       struct error *err)
{
	int fd, rc = 0;

	if (!start->secret.count)
		return 0;
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return error_errno(err, "%.150s", folder);
	for (size_t i = 0; i < start->secret.count && rc == 0; i++)
		rc = write_one(start->secret.items[i], fd, err);
	close(fd);
	return rc;
}
