/* notify.c - tells a URL or a command what became of a sweep.
 */
#include "controller/cli/notify.h"

#include "protocol/base/strings.h"
#include "protocol/base/subprocess.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#define TIMEOUT_MS 10000
#define OUTPUT_MAX 65536 /* of the command; it is not shown */
#define TEXT_MAX 500

static const char *const notice_names[] = {
	[NOTICE_END] = "end",
	[NOTICE_FAILURE] = "failure",
	[NOTICE_REGRESSION] = "regression",
};

/* One message on its way. */
struct posting {
	sd_event *loop;
	struct strings argv, env;
	char *json;
	struct error failure;
};

static void posting_clear(struct posting *posting)
{
	strings_clear(&posting->argv);
	strings_clear(&posting->env);
	cJSON_free(posting->json);
	sd_event_unref(posting->loop);
}
OWNED_VALUE(struct posting, posting_clear)

/* subprocess_done_fn */
static void notice_sent(void *arg, const struct error *err,
			const struct subprocess_output *output)
{
	struct posting *posting = arg;

	if (err)
		posting->failure = *err;
	else if (output->exit_code)
		error_set(&posting->failure, EIO, "exit status %d%s%.150s",
			  output->exit_code, *output->complaint ? ": " : "",
			  output->complaint);
	sd_event_exit(posting->loop, 0);
}

static int posting_add_words(struct strings *to, const char *const *words,
			     struct error *err)
{
	for (; *words; words++)
		if (strings_add(to, *words, err) < 0)
			return -1;
	return 0;
}

static int fill_argv(struct posting *posting, const char *target,
		     struct error *err)
{
	const char *const post[] = { "curl",
				     "-fsS",
				     "-m",
				     "8",
				     "-H",
				     "Content-Type: application/json",
				     "--data-binary",
				     "@-",
				     "--",
				     target,
				     NULL };
	const char *const shell[] = { "sh", "-c", target, NULL };
	bool url = !strncmp(target, "http://", 7) ||
		   !strncmp(target, "https://", 8);

	return posting_add_words(&posting->argv, url ? post : shell, err);
}

static int fill_message(struct posting *posting, enum notice notice,
			uint64_t sweep, const char *text, struct error *err)
{
	const char *event = notice_names[notice];
	owned(cJSON_Delete) cJSON *object = cJSON_CreateObject();
	char variables[3][TEXT_MAX + 40];

	snprintf(variables[0], sizeof(*variables), "REGATTA_EVENT=%s", event);
	snprintf(variables[1], sizeof(*variables), "REGATTA_SWEEP=%llu",
		 (unsigned long long)sweep);
	snprintf(variables[2], sizeof(*variables), "REGATTA_TEXT=%s", text);
	for (size_t i = 0; i < 3; i++)
		if (strings_add(&posting->env, variables[i], err) < 0)
			return -1;
	if (cJSON_AddStringToObject(object, "text", text) &&
	    cJSON_AddStringToObject(object, "event", event) &&
	    cJSON_AddNumberToObject(object, "sweep", (double)sweep))
		posting->json = cJSON_PrintUnformatted(object);
	return posting->json ? 0 : error_nomem(err, "notify");
}

static int notice_send(const char *target, enum notice notice, uint64_t sweep,
		       const char *text, struct error *err)
{
	owned(posting_clear) struct posting posting = { 0 };
	struct subprocess_command command = {
		.argv = &posting.argv,
		.env = &posting.env,
		.timeout_ms = TIMEOUT_MS,
		.output_max = OUTPUT_MAX,
	};
	sigset_t child, before;

	if (fill_argv(&posting, target, err) < 0 ||
	    fill_message(&posting, notice, sweep, text, err) < 0)
		return -1;
	if (sd_event_new(&posting.loop) < 0)
		return error_nomem(err, "notify");
	command.input = posting.json;
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, &before);
	if (subprocess_run(posting.loop, &command, notice_sent, &posting,
			   &posting.failure))
		sd_event_loop(posting.loop);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (posting.failure.code)
		return error_set(err, posting.failure.code, "%s",
				 posting.failure.text);
	return 0;
}

void notify_send(struct cli *cli, const char *target, enum notice notice,
		 uint64_t sweep, const char *name, const char *text)
{
	char whole[TEXT_MAX] = "";
	struct error err;

	if (!target)
		return;
	if (sweep)
		text_append(whole, sizeof(whole), "sweep %llu",
			    (unsigned long long)sweep);
	if (name)
		text_append(whole, sizeof(whole), "%s%.100s", sweep ? ", " : "",
			    name);
	text_append(whole, sizeof(whole), "%s%s", *whole ? ": " : "", text);
	if (notice_send(target, notice, sweep, whole, &err) < 0)
		cli_say(cli, "--notify: %s", err.text);
}
