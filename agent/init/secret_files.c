/* secret_files.c - the secrets of the command that it gets as files. */
#include "agent/init/secret_files.h"
#include "protocol/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static int write_one(const char *secret, int folder, struct error *err)
{
	int length = (int)strcspn(secret, "=");
	const char *value = secret + length + 1;
	struct error why;
	char name[256];

	snprintf(name, sizeof(name), "%.*s", length, secret);
	if (file_write(folder, name, value, strlen(value), 0400, 0, &why) == 0)
		return 0;
	errno = why.code;
	return error_errno(err, "secret %.64s", name);
}

int secret_files_write(const struct start *start, const char *folder,
		       struct error *err)
{
	owned_fd int fd = -1;

	if (!start->secret.count)
		return 0;
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return error_errno(err, "%.150s", folder);
	for (size_t i = 0; i < start->secret.count; i++)
		if (write_one(start->secret.items[i], fd, err) < 0)
			return -1;
	return 0;
}
