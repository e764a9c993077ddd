/* registries.c - the registries that this node knows.
 */
#include "agent/docker/registries.h"
#include "protocol/registry/login.h"

#include <errno.h>

int registries_open(const struct registries *registries,
		    const struct registry_login *login,
		    struct credential *credential, struct error *err)
{
	struct error why;

	if (login_open(login, registries->key, registries->controller,
		       credential, &why) == 0)
		return 0;
	/* It may have been sealed before the controller's key was rotated. */
	if (why.code == EKEYREJECTED && registries->former &&
	    registries->former[0])
		return login_open(login, registries->key, registries->former,
				  credential, err);
	return error_set(err, why.code, "%s", why.text);
}
