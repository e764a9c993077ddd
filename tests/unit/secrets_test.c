/* secrets_test.c - the block `secrets:` of a sweep, and how a task gets them.
 */
#include "agent/task/secrets.h"
#include "controller/sweep/secrets.h"
#include "protocol/registry/credential.h"
#include "protocol/registry/login.h"
#include "protocol/yaml/document.h"
#include "tests/tap.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>

static struct document *document;

static int read_block(const char *text, struct secret_sources *sources,
		      struct error *err)
{
	document_free(document);
	document = document_parse(text, strlen(text), "s.yaml", NULL, err);
	return document ? secrets_read(document_root(document), sources, err)
			: -1;
}

static void reading(void)
{
	struct secret_sources got = { .count = 9 };
	struct error err = { 0 };

	is_int(read_block("sweep: a\n", &got, &err), 0, "a sweep without");
	is_int((long long)got.count, 0, "has none");
	is_int(read_block("secrets:\n"
			  "  A_KEY: {from: env}\n"
			  "  B: {from: env, env: OTHER}\n"
			  "  C: {from: file, file: ~/.c}\n"
			  "  D: {from: stdin, as: file}\n",
			  &got, &err),
	       0, "all that there is: %s", err.text);
	is_int((long long)got.count, 4, "four");
	is(got.items[0].place, "A_KEY", "a variable of the same name");
	is(got.items[1].place, "OTHER", "of another name");
	ok(got.items[2].from == SECRET_FILE &&
		   !strcmp(got.items[2].place, "~/.c"),
	   "a file");
	ok(got.items[3].from == SECRET_STDIN && !got.items[3].place,
	   "standard input");
	ok(got.items[3].as_file && !got.items[2].as_file,
	   "one that the container gets as a file");
}

static void refusing(void)
{
	/* clang-format off */
	static const char *const bad[][2] = {
		{ "secrets: {A: hunter2}\n", "a value in the file" },
		{ "secrets: {A: {value: hunter2}}\n", "a key for one" },
		{ "secrets: {A: {}}\n", "from nowhere" },
		{ "secrets: {A: {from: file}}\n", "from no file" },
		{ "secrets: {A: {from: vault}}\n", "from elsewhere" },
		{ "secrets: {A: {from: env, file: x}}\n", "from two places" },
		{ "secrets: {A: {from: env, as: argument}}\n", "as neither" },
		{ "secrets: {A-B: {from: env}}\n", "a name with a dash" },
		{ "secrets: {1A: {from: env}}\n", "a digit first" },
		{ "secrets: {\"\": {from: env}}\n", "no name" },
		{ "secrets: [A]\n", "a list" },
		{ "secrets: {A: {from: stdin}, B: {from: stdin}}\n",
		  "two from standard input" },
	};
	/* clang-format on */
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct secret_sources got;
		struct error err = { 0 };

		ok(read_block(bad[i][0], &got, &err) < 0 &&
			   err.code == EINVAL && strstr(err.text, "s.yaml:1"),
		   "%s is refused: %s", bad[i][1], err.text);
	}
}

static void looking(void)
{
	static const char *const like[] = {
		"HF_TOKEN",       "WANDB_API_KEY",         "token",
		"MYSQL_PASSWORD", "AWS_SECRET_ACCESS_KEY", NULL
	};
	static const char *const unlike[] = { "TOKENS",  "NCCL_DEBUG",
					      "KEY",     "MAX_TOKENS",
					      "MYTOKEN", "PASSWORDS_OFF",
					      "",        NULL };

	for (size_t i = 0; like[i]; i++)
		ok(secret_looks_like(like[i]), "%s looks like one", like[i]);
	for (size_t i = 0; unlike[i]; i++)
		ok(!secret_looks_like(unlike[i]), "%s does not", unlike[i]);
}

static void giving(void)
{
	struct key controller, node, other;
	struct credential value = { .token = (char *)"hunter 2=\n${RANK}" };
	struct registry_login logins[3] = { { (char *)"r:1", NULL } };
	struct task_spec spec = { .logins = logins, .logins_count = 3 };
	struct registries registries = { .key = &node,
					 .controller = controller.public };
	owned(secret_buffer_clear) struct buffer out;
	struct error err = { 0 };

	buffer_init(&out, 1000);
	if (key_generate(&controller, "c", ROLE_CONTROLLER, NULL) < 0 ||
	    key_generate(&node, "n", ROLE_AGENT, NULL) < 0 ||
	    key_generate(&other, "o", ROLE_AGENT, NULL) < 0 ||
	    login_seal("$A", &value, controller.public, node.public, &logins[1],
		       NULL) < 0 ||
	    login_seal("/B", &value, controller.public, node.public, &logins[2],
		       NULL) < 0)
		return;
	is_int(logins_check(logins + 1, 2, &err), 0, "secrets may travel");
	is_int(task_secrets_check(&spec, &err), 0,
	       "a registry's login that is gone is no secret's");
	is_int(task_secrets_add(&spec, &registries, &out, &err), 0,
	       "a node opens what is sealed for it: %s", err.text);
	ok(out.size == sizeof("env=A=hunter 2=\n${RANK}") +
				   sizeof("secret=B=hunter 2=\n${RANK}") + 1 &&
		   !strcmp(out.data, "env=A=hunter 2=\n${RANK}") &&
		   !strcmp(out.data + strlen(out.data) + 1,
			   "secret=B=hunter 2=\n${RANK}"),
	   "as a record of regatta-init each, nothing in them filled in");
	ok(task_secrets_files(&spec), "one is a file of the container");
	spec.logins_count = 2;
	ok(!task_secrets_files(&spec), "the others are not");
	spec.logins_count = 3;
	registries.key = &other;
	ok(task_secrets_add(&spec, &registries, &out, &err) < 0 &&
		   err.code == EKEYREJECTED,
	   "another node does not: %s", err.text);
	free(logins[2].sealed);
	logins[2].sealed = NULL;
	ok(task_secrets_check(&spec, &err) < 0 && err.code == ENOKEY &&
		   strstr(err.text, "B was deleted"),
	   "one that was forgotten is named: %s", err.text);
	free(logins[2].registry);
	logins[2] = (struct registry_login){ (char *)"$B B", logins[1].sealed };
	ok(logins_check(&logins[2], 1, &err) < 0 && err.code == EPROTO,
	   "what is no name does not travel: %s", err.text);
	login_clear(&logins[1]);
}

int main(void)
{
	if (sodium_init() < 0)
		return 1;
	tap_begin(60);
	reading();
	refusing();
	looking();
	giving();
	document_free(document);
	return tap_done();
}
