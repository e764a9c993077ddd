/* policy_check_sweeps_test.c - the reference systems' sweeps run on a node
 * after the one choice that its policy file explains, and not before.
 */
#include "agent/policy/policy_check.h"
#include "controller/sweep/sweep.h"
#include "protocol/base/file.h"
#include "agent/docker/create_body.h"
#include "tests/tap.h"

#include <ctype.h>
#include <fcntl.h>

#define FILE_BYTES 65536

static struct policy *with_choice(struct error *err)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(FILE_BYTES);
	char *line;

	if (file_read(AT_FDCWD, "deploy/systemd/policy.yaml", &text, err) < 0)
		return NULL;
	/* The lines to be uncommented have no space behind the '#'. */
	for (line = text.data; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (line[0] == '#' && islower((unsigned char)line[1]))
			line[0] = ' ';
	}
	return policy_parse(text.data, text.size, "policy.yaml", err);
}

static int judge(const struct policy *policy, const struct job_spec *job,
		 struct error *err)
{
	static const struct container_place place = {
		.cluster = "c",
		.node = "n",
		.init_program = "/init",
		.init_path = "/regatta-0",
		.in_folder = "/in",
		.out_folder = "/out",
		.work_folder = "/work",
		.image = "x",
	};
	const struct task_spec task = {
		.owner = (char *)"me",
		.container = job->container,
	};
	const struct task_spec bare = {
		.container = { .image = job->container.image,
			       .workspace = job->container.workspace,
			       .workspace_folder =
				       job->container.workspace_folder },
	};
	cJSON *request = container_body(&task, &place, err);
	cJSON *own = container_body(&bare, &place, err);
	int rc = request && own &&
				 policy_check_order(policy, &task, err) == 0 &&
				 policy_check_request(policy, request, own,
						      NULL, err) == 0
			 ? 0
			 : -1;

	cJSON_Delete(request);
	cJSON_Delete(own);
	return rc;
}

/* Every job of the sweep, by both policies. */
static void judge_sweep(struct catalog *catalog, const char *name,
			const struct policy *plain, const struct policy *chosen)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(FILE_BYTES);
	owned(sweep_free) struct sweep *sweep = NULL;
	struct error err = { 0 };
	size_t jobs, passed = 0, refused = 0;
	char path[100];

	snprintf(path, sizeof(path), "deploy/sweeps/%s.yaml", name);
	if (file_read(AT_FDCWD, path, &text, &err) == 0)
		sweep = sweep_parse(text.data, text.size, path, catalog, &err);
	if (!ok(sweep, "%s: read %s", name, err.text))
		return;
	jobs = sweep_totals(sweep)->jobs;
	for (size_t i = 0; i < jobs; i++) {
		struct job_spec job = { 0 };

		if (sweep_job(sweep, i, &job, &err) < 0)
			break;
		refused += judge(plain, &job, &err) < 0 &&
			   !strncmp(err.text, "ipc: host", 9);
		passed += judge(chosen, &job, &err) == 0;
		codec_clear(&job_spec_schema, &job);
	}
	ok(jobs && refused == jobs, "%s: as installed, all %zu are refused",
	   name, jobs);
	ok(jobs && passed == jobs, "%s: after the choice all run %s", name,
	   passed == jobs ? "" : err.text);
}

int main(void)
{
	static const char *const names[] = {
		"baichuan2-13b-h800", "gpt3-a100",        "llama2-70b-c500",
		"llama2-7b-s4000",    "llava1.5-7b-a800",
	};
	struct error err = { 0 };
	struct catalog *catalog;
	struct policy *plain, *chosen;

	tap_begin(60);
	catalog = catalog_load("images", &err);
	plain = policy_default(&err);
	chosen = with_choice(&err);
	if (ok(catalog && plain && chosen, "what comes with Regatta is read %s",
	       err.text))
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			judge_sweep(catalog, names[i], plain, chosen);
	policy_free(chosen);
	policy_free(plain);
	catalog_free(catalog);
	return tap_done();
}
