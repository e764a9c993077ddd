/* logins.c - the registry logins and secrets of sweeps: stored sealed, and
 * sealed again for nodes.
 */
#include "controller/images/logins.h"

#include "controller/store/store.h"
#include "protocol/base/list.h"
#include "protocol/base/log.h"
#include "protocol/registry/credential.h"
#include "protocol/registry/login.h"
#include "protocol/registry/reference.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct sweep_logins {
	struct store *store;
	const struct key *key, *former; /* the controller's own */
	bool due; /* sweeps with logins may have ended since the last check */
	/* The last one that was opened, because each node of a gang gets it;
	 * only until the turn of the loop ends.
	 */
	struct credential opened;
	char *sealed; /* its sealed form; NULL: none is open */
};

static void forget_opened(struct sweep_logins *kept)
{
	credential_clear(&kept->opened);
	free(kept->sealed);
	kept->sealed = NULL;
}

struct sweep_logins *sweep_logins_new(struct store *store,
				      const struct key *key,
				      const struct key *former,
				      struct error *err)
{
	struct sweep_logins *kept = calloc(1, sizeof(*kept));

	if (!kept)
		return error_null(error_nomem(err, "credentials"));
	kept->store = store;
	kept->key = key;
	kept->former = former;
	kept->due = true;
	return kept;
}

void sweep_logins_free(struct sweep_logins *kept)
{
	if (!kept)
		return;
	forget_opened(kept);
	free(kept);
}

/* It may have been sealed before our key was rotated. */
static int open_login(const struct sweep_logins *kept,
		      const struct registry_login *login, const char *from,
		      struct credential *opened, struct error *err)
{
	if (kept->former->secret[0] &&
	    login_open(login, kept->former, from, opened, NULL) == 0)
		return 0;
	return login_open(login, kept->key, from, opened, err);
}

int logins_accept(const struct sweep_logins *kept,
		  const struct registry_login *logins, size_t count,
		  const char *from, struct error *err)
{
	if (logins_check(logins, count, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		owned(credential_clear) struct credential opened = { 0 };

		if (open_login(kept, &logins[i], from, &opened, err) < 0) {
			if (err->code == EKEYREJECTED)
				err->code = EINVAL;
			return -1;
		}
	}
	return 0;
}

int logins_put(struct sweep_logins *kept, uint64_t sweep,
	       const struct registry_login *logins, size_t count,
	       struct error *err)
{
	for (size_t i = 0; i < count; i++) {
		const struct login_row row = {
			.sweep = sweep,
			.registry = logins[i].registry,
			.sealed = logins[i].sealed,
		};

		if (store_put_login(kept->store, &row, err) < 0)
			return -1;
	}
	kept->due |= count > 0;
	return 0;
}

struct gone {
	const struct registry_login *given;
	size_t count;
	struct strings *list;
	struct error *err;
};

static int add_gone(const struct login_row *row, void *arg)
{
	struct gone *gone = arg;

	if (row->sealed || logins_find(gone->given, gone->count, row->registry))
		return 0;
	return strings_add(gone->list, row->registry, gone->err);
}

int logins_gone(struct sweep_logins *kept, uint64_t sweep,
		const struct registry_login *given, size_t count,
		struct strings *list, struct error *err)
{
	struct gone gone = { given, count, list, err };

	return store_logins(kept->store, sweep, add_gone, &gone, err);
}

/* Giving. */

struct resealing {
	struct sweep_logins *kept;
	const char *public;
	const char *host; /* only logins of this registry; NULL: all */
	struct registry_login **to;
	size_t *count;
	struct error *err;
};

static int open_row(struct sweep_logins *kept, const struct login_row *row,
		    struct error *err)
{
	const struct registry_login from = { (char *)row->registry,
					     (char *)row->sealed };

	if (!row->sealed)
		return error_set(err, EKEYREJECTED, "credentials were deleted");
	/* Each sealed text is different. */
	if (kept->sealed && !strcmp(kept->sealed, row->sealed))
		return 0;
	forget_opened(kept);
	if (open_login(kept, &from, NULL, &kept->opened, err) < 0)
		return -1;
	kept->sealed = strdup(row->sealed);
	return 0;
}

/* Open and seal it again; if that fails, send it as removed. */
static int seal_anew(const struct resealing *resealing,
		     const struct login_row *row, struct registry_login *login)
{
	struct sweep_logins *kept = resealing->kept;
	struct error why;

	if (open_row(kept, row, &why) == 0)
		return login_seal(row->registry, &kept->opened,
				  kept->key->public, resealing->public, login,
				  resealing->err);
	if (row->sealed)
		log_warning("sweep=%" PRIu64 " %s", row->sweep, why.text);
	login->registry = strdup(row->registry);
	return login->registry ? 0 : error_nomem(resealing->err, "credentials");
}

static int add_login(const struct login_row *row, void *arg)
{
	const struct resealing *resealing = arg;
	const struct registry_login row_login = { (char *)row->registry, NULL };
	struct registry_login login = { 0 };
	struct registry_login *added;

	if (!login_variable(&row_login) && resealing->host &&
	    strcmp(resealing->host, row->registry) != 0)
		return 0;
	if (*resealing->count == LOGINS_MAX)
		return 0;
	if (seal_anew(resealing, row, &login) < 0)
		return -1;
	added = LIST_ADD(*resealing->to, *resealing->count, resealing->err);
	if (added)
		*added = login;
	else
		codec_clear(&registry_login_schema, &login);
	return added ? 0 : -1;
}

int logins_give(struct sweep_logins *kept, uint64_t sweep, const char *public,
		const char *image, struct registry_login **to, size_t *count,
		struct error *err)
{
	char host[REFERENCE_HOST_MAX + 1], path[REFERENCE_PATH_MAX + 1];
	struct reference parts;
	struct resealing resealing = {
		.kept = kept,
		.public = public,
		.to = to,
		.count = count,
		.err = err,
	};

	if (image) {
		host[0] = 0; /* no registry's */
		if (reference_parse(image, &parts, NULL) == 0)
			reference_place(&parts, host, path);
		resealing.host = host;
	}
	return store_logins(kept->store, sweep, add_login, &resealing, err);
}

int logins_reseal(struct sweep_logins *kept, const struct registry_login *from,
		  size_t from_count, const char *public,
		  struct registry_login **to, size_t *count, struct error *err)
{
	struct resealing resealing = {
		.kept = kept,
		.public = public,
		.to = to,
		.count = count,
		.err = err,
	};

	for (size_t i = 0; i < from_count; i++) {
		const struct login_row row = {
			.registry = from[i].registry,
			.sealed = from[i].sealed,
		};

		if (add_login(&row, &resealing) < 0)
			return -1;
	}
	return 0;
}

/* The end. */

static int note_sealed(const struct login_row *row, void *arg)
{
	struct sweep_logins *kept = arg;

	kept->due |= row->sealed != NULL;
	return 0;
}

void logins_ended(struct sweep_logins *kept, uint64_t sweep)
{
	if (!kept->due)
		store_logins(kept->store, sweep, note_sealed, kept, NULL);
}

struct over {
	struct store *store;
	uint64_t *sweeps;
	size_t count;
};

static int add_over(const struct login_row *row, void *arg)
{
	struct over *over = arg;
	uint64_t *sweep;

	if ((over->count && over->sweeps[over->count - 1] == row->sweep) ||
	    !store_sweep_over(over->store, row->sweep))
		return 0;
	sweep = LIST_ADD(over->sweeps, over->count, NULL);
	if (!sweep)
		return -1;
	*sweep = row->sweep;
	return 0;
}

void logins_settle(struct sweep_logins *kept)
{
	struct over over = { .store = kept->store };

	if (kept->due)
		kept->due =
			store_logins(kept->store, 0, add_over, &over, NULL) < 0;
	for (size_t i = 0; i < over.count; i++) {
		if (store_drop_logins(kept->store, over.sweeps[i], NULL) < 0)
			kept->due = true;
		else
			log_info("sweep=%" PRIu64 " is over: credentials and "
				 "secrets forgotten",
				 over.sweeps[i]);
	}
	free(over.sweeps);
	forget_opened(kept);
}
