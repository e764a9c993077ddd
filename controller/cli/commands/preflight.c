/* preflight.c - measures nodes before a sweep that asks for it.
 */
#include "controller/cli/commands/preflight.h"
#include "controller/cli/commands/validation.h"
#include "controller/nodes/node.h"

#include <string.h>
#include <time.h>

struct preflight {
	const struct input *input;
	struct strings vendors; /* that its cells use */
	int64_t since_s;        /* older labels do not count */
	struct rows nodes;
	size_t accepted;
};

static void preflight_clear(struct preflight *of)
{
	strings_clear(&of->vendors);
	rows_clear(&of->nodes);
}
OWNED_VALUE(struct preflight, preflight_clear)

static int preflight_add_vendors(struct preflight *of, struct error *err)
{
	const struct sweep *sweep = of->input->sweep;
	const struct sweep_kind *last = NULL;

	for (size_t i = 0; i < sweep_totals(sweep)->kept; i++) {
		const struct sweep_kind *kind = sweep_cell_kind(sweep, i);

		if (kind != last && !strings_has(&of->vendors, kind->vendor) &&
		    strings_add(&of->vendors, kind->vendor, err) < 0)
			return -1;
		last = kind;
	}
	return 0;
}

static bool label_is_new(const struct preflight *of,
			 const struct node_info *node, const char *label)
{
	const char *text = cJSON_GetStringValue(
		cJSON_GetObjectItemCaseSensitive(node->labels, label));

	return text && strtoll(text, NULL, 10) >= of->since_s;
}

enum preflight_state {
	PREFLIGHT_STALE,
	PREFLIGHT_STALE_BUSY,
	PREFLIGHT_ACCEPTED,
	PREFLIGHT_ACCEPTED_BUSY,
	PREFLIGHT_REJECTED,
};

static enum preflight_state preflight_look(const struct preflight *of,
					   const struct node_info *node)
{
	bool busy = node->jobs.count > 0;

	if (label_is_new(of, node, ACCEPTED_LABEL))
		return busy ? PREFLIGHT_ACCEPTED_BUSY : PREFLIGHT_ACCEPTED;
	if (label_is_new(of, node, REJECTED_LABEL))
		return PREFLIGHT_REJECTED;
	return busy ? PREFLIGHT_STALE_BUSY : PREFLIGHT_STALE;
}

/* Add the nodes in this state; returns how many, or -1. */
static int preflight_take(const struct preflight *of, struct validation *to,
			  enum preflight_state state, struct error *err)
{
	size_t before = to->names.count;

	for (size_t i = 0; i < of->nodes.count; i++) {
		const struct node_info *node = rows_at(&of->nodes, i);

		if (strings_has(&of->vendors, node->vendor) &&
		    preflight_look(of, node) == state &&
		    validation_take(to, node, err) < 0)
			return -1;
	}
	return (int)(to->names.count - before);
}

/* A file is beside the sweep's, if it has no absolute path. */
static int preflight_set(const struct preflight *of, const char *set,
			 char path[PATH_MAX], struct error *err)
{
	const char *end = strrchr(of->input->name, '/');
	int folder = strpbrk(set, "/.") && *set != '/' && end
			     ? (int)(end + 1 - of->input->name)
			     : 0;

	return snprintf(path, PATH_MAX, "%.*s%s", folder, of->input->name,
			set) < PATH_MAX
		       ? 0
		       : error_set(err, ENAMETOOLONG, "preflight: %.80s", set);
}

static void preflight_tell(const struct preflight *of,
			   const struct validation *measured)
{
	size_t accepted = of->accepted, wanted;

	wanted = sweep_totals(of->input->sweep)->nodes_max;
	for (size_t i = 0; i < measured->acceptance.units_count; i++) {
		const struct accepted_unit *unit =
			&measured->acceptance.units[i];
		char why[ACCEPTANCE_WHY];

		if (unit->kind == UNIT_NODE && unit->verdict == VERDICT_GOOD)
			accepted++;
		else
			cli_say(measured->cli, "preflight: %s is %s: %s",
				unit->name, verdict_names[unit->verdict],
				unit_why(unit, why));
	}
	for (size_t i = 0; i < measured->acceptance.notes.count; i++)
		cli_say(measured->cli, "preflight: %s",
			measured->acceptance.notes.items[i]);
	cli_say(measured->cli, "preflight: %zu node%s accepted%s", accepted,
		accepted == 1 ? " is" : "s are",
		accepted < wanted ? ", too few: jobs wait for more" : "");
}

/* The options --set are those of the sweep. */
static int preflight_measure(struct preflight *of, struct validation *to,
			     const char *set, struct error *err)
{
	struct option_list kept = to->cli->options->set;
	char path[PATH_MAX];
	int rc;

	if (preflight_set(of, set, path, err) < 0)
		return -1;
	to->cli->options->set.count = 0;
	rc = validation_run(to, path, false, err);
	to->cli->options->set = kept;
	return rc < 0 ? -1 : validation_label(to, err);
}

/* Choose nodes. Few need others to be compared with, which are measured again.
 */
static int preflight_choose(struct preflight *of, struct validation *to,
			    struct error *err)
{
	size_t wanted = sweep_totals(of->input->sweep)->nodes_max;
	owned(validation_clear) struct validation spare = { .cli = to->cli };
	int good = preflight_take(of, &spare, PREFLIGHT_ACCEPTED, err);
	int busy = preflight_take(of, &spare, PREFLIGHT_ACCEPTED_BUSY, err);
	int stale = preflight_take(of, to, PREFLIGHT_STALE, err);

	if (good < 0 || busy < 0 || stale < 0)
		return -1;
	of->accepted = (size_t)good + (size_t)busy;
	if (of->accepted + (size_t)stale < wanted)
		stale += preflight_take(of, to, PREFLIGHT_STALE_BUSY, err);
	if (stale > 0 && stale < PEERS_LEAST && good) {
		of->accepted -= (size_t)good;
		good = preflight_take(of, to, PREFLIGHT_ACCEPTED, err);
	}
	return good < 0 || stale < 0 ? -1 : 0;
}

int preflight_run(struct cli *cli, struct client *client,
		  const struct input *input, struct error *err)
{
	owned(preflight_clear) struct preflight of = { .input = input };
	owned(job_spec_clear) struct job_spec spec = { 0 };
	const char *set = input->sweep ? sweep_preflight(input->sweep) : NULL;
	owned(validation_clear) struct validation measured = {
		.cli = cli, .client = client, .again_s = VALIDATION_AGAIN_S
	};

	if (!set || !sweep_totals(input->sweep)->jobs)
		return 0;
	if (sweep_job(input->sweep, 0, &spec, err) < 0)
		return -1;
	/* "accepted=-86400" */
	of.since_s =
		time(NULL) + strtoll(strchr(spec.labels, '=') + 1, NULL, 10);
	if (preflight_add_vendors(&of, err) < 0 ||
	    client_rows(client, QUERY_NODES, 0, NULL, &of.nodes, err) < 0 ||
	    preflight_choose(&of, &measured, err) < 0 ||
	    (measured.names.count &&
	     preflight_measure(&of, &measured, set, err) < 0))
		return error_prefix(err, "preflight");
	preflight_tell(&of, &measured);
	return 0;
}
