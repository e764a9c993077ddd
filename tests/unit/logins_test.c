/* logins_test.c - what a sweep's logins go through at the controller.
 */
#include "controller/images/logins.h"

#include "controller/store/store.h"
#include "protocol/base/file.h"
#include "protocol/registry/credential.h"
#include "protocol/registry/login.h"
#include "tests/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>

struct bed {
	struct store *store;
	struct sweep_logins *kept;
	char folder[64];
	struct key user, other, controller, node;
	struct key ours;   /* that the controller uses */
	struct key before; /* that it used */
};

static void open_bed(struct bed *bed)
{
	*bed = (struct bed){ 0 };
	snprintf(bed->folder, sizeof(bed->folder), "/tmp/logins-test-XXXXXX");
	if (!mkdtemp(bed->folder) ||
	    key_generate(&bed->user, "u", ROLE_OPERATOR, NULL) < 0 ||
	    key_generate(&bed->other, "o", ROLE_OPERATOR, NULL) < 0 ||
	    key_generate(&bed->controller, "c", ROLE_CONTROLLER, NULL) < 0 ||
	    key_generate(&bed->node, "n", ROLE_AGENT, NULL) < 0)
		exit(1);
	bed->store = store_new(bed->folder, NULL);
	bed->kept =
		sweep_logins_new(bed->store, &bed->ours, &bed->before, NULL);
	if (!bed->store || !bed->kept)
		exit(1);
	bed->ours = bed->controller;
}

static void close_bed(struct bed *bed)
{
	sweep_logins_free(bed->kept);
	store_free(bed->store);
	file_remove_tree(AT_FDCWD, bed->folder, NULL);
}

static struct registry_login sealed(const struct bed *bed, const char *registry,
				    const char *name)
{
	struct credential who = { .username = (char *)name,
				  .password = (char *)"pw" };
	struct registry_login login = { 0 };

	login_seal(registry, &who, bed->user.public, bed->controller.public,
		   &login, NULL);
	return login;
}

static void put_sweep(struct bed *bed, uint64_t id, enum job_state state)
{
	struct store *store = bed->store;
	const struct sweep_row sweep = {
		.id = id, .name = "s", .text = "", .client = "u t"
	};
	const struct job_row job = { .id = id,
				     .sweep = id,
				     .key = "k",
				     .spec = "{}",
				     .state = state,
				     .attempt = 1 };

	store_put_sweep(store, &sweep, NULL);
	store_put_job(store, &job, NULL);
}

static void end_job(struct bed *bed, uint64_t id)
{
	const struct job_row job = {
		.id = id, .sweep = id, .state = JOB_COMPLETED, .attempt = 1
	};

	store_set_job(bed->store, JOB_QUEUED, &job, NULL);
	store_commit(bed->store, NULL);
	logins_ended(bed->kept, id);
	logins_settle(bed->kept);
	store_commit(bed->store, NULL);
}

/* "r:1=name" of each that the node is given; "gone" where nothing is in it. */
static const char *given(struct bed *bed, uint64_t sweep, const char *image)
{
	static char text[300];
	struct registry_login *list = NULL;
	size_t count = 0, used = 0;
	struct error err;

	text[0] = 0;
	if (logins_give(bed->kept, sweep, bed->node.public, image, &list,
			&count, &err) < 0)
		return "error";
	for (size_t i = 0; i < count; i++) {
		owned(credential_clear) struct credential who = { 0 };
		bool open = login_open(&list[i], &bed->node, bed->ours.public,
				       &who, NULL) == 0;

		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "%s%s=%s", i ? " " : "",
					 list[i].registry,
					 open             ? who.username
					 : list[i].sealed ? "not to be opened"
							  : "gone");
	}
	logins_free(list, count);
	return text;
}

static void accepting(struct bed *bed)
{
	struct registry_login login = sealed(bed, "r:1", "me");
	struct error err = { 0 };

	is_int(logins_accept(bed->kept, &login, 1, bed->user.public, &err), 0,
	       "what its sender sealed for us is accepted");
	ok(logins_accept(bed->kept, &login, 1, bed->other.public, &err) < 0 &&
		   err.code == EINVAL,
	   "from somebody else it is not: %s", err.text);
	bed->ours = bed->node;
	ok(logins_accept(bed->kept, &login, 1, bed->user.public, &err) < 0 &&
		   err.code == EINVAL,
	   "nor what is for another controller: %s", err.text);
	bed->ours = bed->controller;
	login_clear(&login);
}

static void giving(struct bed *bed)
{
	struct registry_login logins[] = { sealed(bed, "r:1", "one"),
					   sealed(bed, "docker.io", "hub") };
	struct registry_login secret = sealed(bed, "$HF_TOKEN", "hf");

	put_sweep(bed, 1, JOB_QUEUED);
	put_sweep(bed, 2, JOB_QUEUED);
	logins_put(bed->kept, 1, logins, 2, NULL);
	store_commit(bed->store, NULL);
	is(given(bed, 1, "r:1/a:1"), "r:1=one",
	   "a node is given what its image needs, sealed for it");
	is(given(bed, 1, "ubuntu"), "docker.io=hub", "the Hub's, too");
	is(given(bed, 1, "r:2/a"), "", "and nothing else");
	is(given(bed, 1, NULL), "docker.io=hub r:1=one", "for a build, all");
	is(given(bed, 2, NULL), "", "of its own sweep");
	put_sweep(bed, 3, JOB_QUEUED);
	logins_put(bed->kept, 3, &secret, 1, NULL);
	store_commit(bed->store, NULL);
	is(given(bed, 3, "r:2/a"), "$HF_TOKEN=hf",
	   "a secret goes with whatever image");
	is(given(bed, 3, "sha256:x y"), "$HF_TOKEN=hf",
	   "also with one that is no reference");
	end_job(bed, 3);
	is(given(bed, 3, NULL), "$HF_TOKEN=gone", "and goes with the last job");
	login_clear(&secret);
	logins_settle(bed->kept);
	bed->ours = bed->other;
	is(given(bed, 1, NULL), "docker.io=gone r:1=gone",
	   "with another key they cannot be opened any more");
	bed->before = bed->controller;
	is(given(bed, 1, "r:1/a:1"), "r:1=one",
	   "but where it was put in the place of theirs");
	bed->before.secret[0] = 0;
	bed->ours = bed->controller;
	login_clear(&logins[0]);
	login_clear(&logins[1]);
}

/* How many registries of the sweep have lost theirs. */
static int gone(struct bed *bed, const struct registry_login *sent,
		size_t count)
{
	owned(strings_clear) struct strings list = { 0 };

	logins_gone(bed->kept, 1, sent, count, &list, NULL);
	return (int)list.count;
}

static void ending(struct bed *bed)
{
	struct registry_login again = sealed(bed, "r:1", "again");

	logins_settle(bed->kept);
	store_commit(bed->store, NULL);
	is_int(gone(bed, NULL, 0), 0, "while jobs are left they stay");
	end_job(bed, 2);
	is(given(bed, 1, "r:1/a"), "r:1=one", "whatever other sweeps do");
	/* As after a restart. */
	sweep_logins_free(bed->kept);
	bed->kept =
		sweep_logins_new(bed->store, &bed->ours, &bed->before, NULL);
	is(given(bed, 1, "r:1/a"), "r:1=one", "also over a restart");
	end_job(bed, 1);
	is(given(bed, 1, NULL), "docker.io=gone r:1=gone",
	   "with the last job they go");
	is_int(gone(bed, NULL, 0), 2, "which is known");
	is_int(gone(bed, &again, 1), 1, "but for what is sent anew");
	logins_put(bed->kept, 1, &again, 1, NULL);
	store_commit(bed->store, NULL);
	is(given(bed, 1, NULL), "docker.io=gone r:1=again", "and kept then");
	logins_settle(bed->kept);
	store_commit(bed->store, NULL);
	is(given(bed, 1, "r:1/a"), "r:1=gone",
	   "unless nothing is to run again");
	login_clear(&again);
}

int main(void)
{
	struct bed bed;

	if (sodium_init() < 0)
		return 1;
	tap_begin(60);
	open_bed(&bed);
	accepting(&bed);
	giving(&bed);
	ending(&bed);
	close_bed(&bed);
	return tap_done();
}
