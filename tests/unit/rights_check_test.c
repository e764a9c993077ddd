/* rights_check_test.c - as whom a container runs, and which files it makes. */
#include "agent/policy/rights_check.h"
#include "agent/docker/create_body.h"
#include "tests/tap.h"

#include <errno.h>
#include <limits.h>

#define T(text) ((char *)(text))

static const struct container_place place = {
	.cluster = "c",
	.node = "n",
	.init_program = "/lib/init",
	.init_path = "/regatta-0",
	.in_folder = "/spool/in",
	.out_folder = "/spool/out",
	.image = "x",
};

static void test_user(void)
{
	/* clang-format off */
	static const struct {
		const char *policy, *user;
		bool passes;
	} cases[] = {
		{ "", "", true },
		{ "", "root", true },
		{ "", "alice", true },
		{ "user: []", "1", false },
		{ "user: [\"1000:1000\"]", "1000:1000", true },
		{ "user: [\"1000:1000\"]", "1000", false },
		{ "user: [\"1000:1000\"]", "1000:0", false },
		{ "user: [\"1000:1000\"]", "", false },
		{ "user: [\"[1-9]*:[1-9]*\"]", "1000:1000", true },
		{ "user: [\"[1-9]*:[1-9]*\"]", "1000:0", false },
		{ "user: [\"[1-9]*\"]", "0", false },
		{ "user: [\"[1-9]*\"]", "root", false },
		{ "user: [\"[1-9]*\"]", "root:1", false },
		/* passwd of the image may say that this is 0 */
		{ "user: [\"[1-9]*\"]", "1evil", false },
		{ "user: [\"[1-9]*\"]", "1:evil", false },
		{ "user: [\"a*\"]", "alice", false },
		{ "user: [alice]", "alice", true },
		{ "user: [alice]", "alice:root", false },
		{ "user: [\"0\"]", "root", true },
		{ "user: [\"0\"]", "", true },
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct error err = { 0 };
		owned(policy_free) struct policy *policy =
			policy_parse(cases[i].policy, strlen(cases[i].policy),
				     "p.yaml", &err);
		int rc = policy ? rights_check_user(policy, cases[i].user, &err)
				: -1;

		ok(cases[i].passes ? rc == 0 : rc < 0 && err.code == EPERM,
		   "\"%s\" under {%s}: %s", cases[i].user, cases[i].policy,
		   rc < 0 ? err.text : "passes");
	}
}

static void test_user_words(void)
{
	const char *text = "user: [\"1000:1000\", bench]";
	struct error err = { 0 };
	owned(policy_free) struct policy *policy =
		policy_parse(text, strlen(text), "p.yaml", &err);
	owned(policy_free) struct policy *any = policy_any(&err);

	rights_check_user(policy, "", &err);
	is(err.text,
	   "user: 0 (root) is not allowed; p.yaml allows 1000:1000, bench",
	   "the sentence names the user and who is allowed");
	is_int(rights_check_user(any, "", &err), 0, "no policy: anybody");
}

static int resolve(void *arg, const char *path, char *out)
{
	if (!strcmp(path, "/data/away"))
		return snprintf(out, PATH_MAX, "/home") < 0;
	return -1;
}

static const struct policy_resolver resolver = { resolve, NULL };

/* Mounts "PATH" are writable, "-PATH" read-only. */
static bool suid_allowed(const char *text, const char *first,
			 const char *second)
{
	const char *paths[] = { first, second };
	struct mount_spec mounts[2];
	struct task_spec task = {
		.job = 1, .container = { .image = T("x"), .mounts = mounts }
	};
	owned(policy_free) struct policy *policy =
		policy_parse(text, strlen(text), "p.yaml", NULL);
	cJSON *request;
	bool allowed;

	for (size_t i = 0; i < 2 && paths[i]; i++) {
		bool read_only = paths[i][0] == '-';

		mounts[i].host = T(paths[i] + read_only);
		mounts[i].container = T(i ? "/b" : "/a");
		mounts[i].read_only = read_only;
		task.container.mounts_count++;
	}
	request = container_body(&task, &place, NULL);
	allowed = rights_check_suid(policy, request, &resolver);
	cJSON_Delete(request);
	return allowed;
}

static void test_suid(void)
{
	static const char both[] =
		"mounts: [{host: /data, write: true, suid: true}, "
		"{host: /home, write: true}]";

	ok(!suid_allowed("", NULL, NULL), "by default: no");
	ok(!suid_allowed("mounts: [{host: /data, write: true}]", "/data", NULL),
	   "a mount that does not say so: no");
	ok(suid_allowed(both, "/data", NULL), "one that says so: yes");
	ok(suid_allowed(both, "/data/x", "-/home"),
	   "what is read-only does not count");
	ok(!suid_allowed(both, "/data", "/home"),
	   "beside one that does not say so: no");
	ok(!suid_allowed(both, "/data/away", NULL),
	   "nor by a link that leads to one");
	ok(!suid_allowed(both, NULL, NULL), "nor without any mount");
	ok(!suid_allowed(both, "-/data", NULL), "nor with read-only ones");
}

/* In the same words, whether it is there or not, and wherever it leads. */
static void test_needs(void)
{
	static const struct {
		const char *path;
		bool passes;
	} cases[] = {
		{ "/data", true },        { "/data/none", true },
		{ "/etc/shadow", false }, { "/etc/none", false },
		{ "/datas", false },      { "/data/away", false },
	};
	const char *text = "mounts: [{host: /data}]";
	owned(policy_free) struct policy *policy =
		policy_parse(text, strlen(text), "p.yaml", NULL);
	owned(policy_free) struct policy *any = policy_any(NULL);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *path = T(cases[i].path), want[120];
		const struct strings needs = { &path, 1 };
		struct error err = { 0 };
		int rc = policy_check_needs(policy, &needs, &resolver, &err);

		snprintf(want, sizeof(want),
			 "mounts: %s is not allowed; p.yaml allows /data "
			 "(read-only)",
			 path);
		is(err.text, cases[i].passes ? "" : want, "needs %s: %s", path,
		   rc < 0 ? "refused" : "passes");
		ok(policy_check_needs(any, &needs, &resolver, &err) == 0,
		   "no policy: any path");
	}
}

int main(void)
{
	tap_begin(60);
	test_user();
	test_user_words();
	test_suid();
	test_needs();
	return tap_done();
}
