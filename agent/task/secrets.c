/* secrets.c - the sealed variables and files of a task's container.
 */
#include "agent/task/secrets.h"

#include "protocol/registry/credential.h"
#include "protocol/registry/login.h"

#include <errno.h>

int task_secrets_check(const struct task_spec *spec, struct error *err)
{
	for (size_t i = 0; i < spec->logins_count; i++) {
		const char *name = login_variable(&spec->logins[i]);

		if (name && !spec->logins[i].sealed)
			return error_set(err, ENOKEY,
					 "the secret %.64s was deleted when "
					 "the sweep ended; run regatta retry "
					 "where its value can be read",
					 name);
	}
	return 0;
}

static int add_one(const struct registry_login *login, const char *name,
		   const struct registries *registries, struct buffer *out,
		   struct error *err)
{
	owned(credential_clear) struct credential opened = { 0 };

	if (!login_variable_valid(name))
		return error_set(err, EPROTO,
				 "secret: not a valid name of a variable");
	if (registries_open(registries, login, &opened, err) < 0)
		return -1;
	if (!opened.token)
		return error_set(err, EPROTO, "the secret %s has no value",
				 name);
	if (buffer_printf(out, err, "%s=%s=%s",
			  login_is_file(login) ? "secret" : "env", name,
			  opened.token) < 0)
		return -1;
	return buffer_append(out, "", 1, err);
}

bool task_secrets_any(const struct task_spec *spec)
{
	for (size_t i = 0; i < spec->logins_count; i++)
		if (login_variable(&spec->logins[i]))
			return true;
	return false;
}

bool task_secrets_files(const struct task_spec *spec)
{
	for (size_t i = 0; i < spec->logins_count; i++)
		if (login_is_file(&spec->logins[i]))
			return true;
	return false;
}

int task_secrets_add(const struct task_spec *spec,
		     const struct registries *registries, struct buffer *out,
		     struct error *err)
{
	for (size_t i = 0; i < spec->logins_count; i++) {
		const struct registry_login *login = &spec->logins[i];
		const char *name = login_variable(login);

		if (name && add_one(login, name, registries, out, err) < 0)
			return -1;
	}
	return buffer_append(out, "", 1, err);
}
