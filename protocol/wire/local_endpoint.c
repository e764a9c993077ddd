/* local_endpoint.c - unix sockets, on which nothing is encrypted.
 */
#include "protocol/wire/local_endpoint.h"
#include "protocol/base/file.h"

#include <errno.h>
#include <string.h>

int endpoint_is_local(const char *endpoint, struct error *err)
{
	static const char scheme[] = "ipc://";
	const char *path = endpoint + sizeof(scheme) - 1;
	owned_fd int folder = -1;
	char name[256], *slash;

	if (strncmp(endpoint, scheme, sizeof(scheme) - 1) != 0)
		return 0;
	/* "@name" has no folder, so anybody could listen there. */
	if (path[0] != '/' || strlen(path) >= sizeof(name))
		return error_set(err, EINVAL,
				 "'%.300s' is not valid here; expected "
				 "ipc:///PATH",
				 endpoint);
	memcpy(name, path, strlen(path) + 1);
	slash = strrchr(name, '/');
	slash[slash == name] = 0; /* "/" keeps its own */
	folder = file_open_own(name, err);
	return folder < 0 ? error_prefix(err, "%s", endpoint) : 1;
}
