/* versions.c - the versions of the vendor's driver and software on this
 * node.
 */
#include "agent/metrics/versions.h"
#include "protocol/base/log.h"
#include "protocol/base/loop.h"
#include "protocol/base/printable.h"
#include "protocol/base/subprocess.h"
#include "protocol/hardware/sysroot.h"

#include <stdlib.h>
#include <string.h>

#define TOOL_MS 10000
#define TEXT_MAX (1 << 20)

struct version_query {
	sd_event *loop;
	const struct profile *profile;
	const struct sysroot *roots;
	const cpu_set_t *cpus;
	versions_fn *done;
	void *arg;
	struct versions versions;
	size_t rule; /* of the driver's, then of the sdk's */
	struct subprocess *tool;
	const struct strings *ran; /* the command whose output is in text */
	struct buffer text;
	sd_event_source *timer;
};

bool versions_rules(const struct profile *profile)
{
	return profile && profile->driver_count + profile->sdk_count > 0;
}

static bool same_argv(const struct strings *a, const struct strings *b)
{
	if (!a || a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (strcmp(a->items[i], b->items[i]) != 0)
			return false;
	return true;
}

/* The version that the rule finds in the text, or "". */
static void take_version(const struct version_rule *rule,
			 const struct buffer *text, char out[VERSION_SIZE])
{
	size_t size = text->size ? strcspn(text->data, "\r\n") : 0;

	out[0] = 0;
	if (!text->size)
		return;
	if (rule->match)
		expression_find(rule->match, text->data, text->size, out,
				VERSION_SIZE, NULL);
	else
		snprintf(out, VERSION_SIZE, "%.*s", (int)size, text->data);
	printable(out, strlen(out));
}

static const struct version_rule *rule_now(const struct version_query *query)
{
	const struct profile *profile = query->profile;

	return query->rule < profile->driver_count
		       ? &profile->driver[query->rule]
		       : &profile->sdk[query->rule - profile->driver_count];
}

/* Take the rule's version from the text, and go on to the next rule. */
static void rule_done(struct version_query *query)
{
	const struct profile *profile = query->profile;
	bool driver = query->rule < profile->driver_count;
	char *version = driver ? query->versions.driver : query->versions.sdk;

	take_version(rule_now(query), &query->text, version);
	query->rule++;
	if (*version)
		query->rule =
			driver ? profile->driver_count
			       : profile->driver_count + profile->sdk_count;
}

static void next_rule(struct version_query *query);

static void versions_tool_done(void *arg, const struct error *err,
			       const struct subprocess_output *output)
{
	struct version_query *query = arg;

	query->tool = NULL;
	if (err)
		log_debug("versions: %s", err->text);
	else if (!output->exit_code)
		buffer_append(&query->text, output->text, output->size, NULL);
	rule_done(query);
	next_rule(query);
}

/* Read a file at once, or run a tool; true: a tool was started. */
static bool rule_ask(struct version_query *query)
{
	const struct version_rule *rule = rule_now(query);
	struct error err;

	if (same_argv(query->ran, &rule->command))
		return false;
	buffer_consume(&query->text, query->text.size);
	query->ran = NULL;
	if (rule->file) {
		sysroot_read(query->roots, rule->file, &query->text, NULL);
		return false;
	}
	query->ran = &rule->command;
	query->tool =
		subprocess_run(query->loop,
			       &(struct subprocess_command){
				       .argv = &rule->command,
				       .env = &query->profile->monitor.env,
				       .bin = query->roots->bin,
				       .timeout_ms = TOOL_MS,
				       .output_max = TEXT_MAX,
				       .cpus = query->cpus,
			       },
			       versions_tool_done, query, &err);
	if (!query->tool)
		log_debug("versions: %s", err.text);
	return query->tool;
}

static void next_rule(struct version_query *query)
{
	const struct profile *profile = query->profile;
	size_t count = profile->driver_count + profile->sdk_count;

	while (query->rule < count) {
		if (rule_ask(query))
			return;
		rule_done(query);
	}
	query->done(query->arg, &query->versions);
	versions_cancel(query);
}

static int versions_begin(sd_event_source *source, uint64_t usec, void *arg)
{
	next_rule(arg);
	return 0;
}

struct version_query *versions_ask(sd_event *loop,
				   const struct profile *profile,
				   const struct sysroot *roots,
				   const cpu_set_t *cpus, versions_fn *done,
				   void *arg, struct error *err)
{
	owned(versions_cancel) struct version_query *query =
		calloc(1, sizeof(*query));

	if (!query)
		return error_null(error_nomem(err, "versions"));
	query->loop = sd_event_ref(loop);
	query->profile = profile;
	query->roots = roots;
	query->cpus = cpus;
	query->done = done;
	query->arg = arg;
	buffer_init(&query->text, TEXT_MAX);
	if (loop_timer(loop, &query->timer, 0, versions_begin, query, err) < 0)
		return NULL;
	return take(query);
}

void versions_cancel(struct version_query *query)
{
	if (!query)
		return;
	subprocess_cancel(query->tool);
	loop_source_free(&query->timer);
	buffer_clear(&query->text);
	sd_event_unref(query->loop);
	free(query);
}
