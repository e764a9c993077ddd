/* gate.c - judges results by --require and by `require` of a sweep. */
#include "controller/cli/commands/gate.h"

#include "controller/cli/notify.h"
#include "controller/report/labels.h"
#include "controller/results/json_object.h"
#include "protocol/base/file.h"

#include <errno.h>

#define JUNIT_MAX ((size_t)64 << 20)

static int gate_add(struct gate *gate, const char *text, struct error *err)
{
	if (gate->count == REQUIREMENTS_MAX)
		return error_set(err, E2BIG,
				 "more than %d requirements are not valid here",
				 REQUIREMENTS_MAX);
	if (requirement_parse(text, &gate->list[gate->count], err) < 0)
		return error_prefix(err, "require");
	gate->count++;
	return 0;
}

int gate_read(struct gate *gate, const struct option_list *require,
	      const char *junit, struct error *err)
{
	*gate = (struct gate){ .junit = junit };
	for (size_t i = 0; i < require->count; i++)
		if (gate_add(gate, require->items[i], err) < 0)
			return -1;
	return 0;
}

/* Those of the sweep file, which all rows have. */
static int gate_add_sweep(struct gate *gate, const struct report_rows *runs,
			  struct error *err)
{
	const struct setup *setup =
		runs->count ? runs->items->info.setup : NULL;
	const cJSON *list = row_at(setup ? setup->about : NULL, "require");
	const cJSON *item;

	cJSON_ArrayForEach(item, list)
		if (cJSON_IsString(item) &&
		    gate_add(gate, item->valuestring, err) < 0)
			return -1;
	return 0;
}

/* The judgements of one requirement: what does not pass has its own line. */
static void gate_print(struct cli *cli, const struct judgement *of,
		       size_t count, const struct labels *labels)
{
	static const char *const words[] = {
		[JUDGED_PASS] = "pass",
		[JUDGED_FAIL] = "fail",
		[JUDGED_UNKNOWN] = "cannot tell",
	};
	char label[LABEL_SIZE];
	size_t passed = 0;

	for (size_t i = 0; i < count; i++) {
		passed += of[i].verdict == JUDGED_PASS;
		if (of[i].verdict != JUDGED_PASS || count == 1 ||
		    of->requirement->subject == REQUIRE_SEALED)
			cli_say(cli, "%-11s  %s: %s: %s", words[of[i].verdict],
				of[i].requirement->text,
				labels_row(labels, of[i].cell, 0, label),
				of[i].text);
	}
	if (passed && count > 1)
		cli_say(cli, "%-11s  %s: %zu of %zu cells", words[JUDGED_PASS],
			of->requirement->text, passed, count);
}

static int gate_write(const struct gate *gate, const char *name,
		      const struct judgements *judgements, struct error *err)
{
	owned(buffer_clear) struct buffer xml = BUFFER_INIT(JUNIT_MAX);

	if (judgements_junit(judgements, name, &xml, err) < 0)
		return -1;
	return file_write_any(gate->junit, xml.data, xml.size, err);
}

/* Tell the first verdict that does not pass, and how many there are. */
static void gate_notify(struct cli *cli, const struct gate *gate,
			const struct report_about *about,
			const struct judgements *judgements)
{
	const struct judgement *first = NULL;
	char text[700];
	size_t count = 0;

	for (size_t i = 0; i < judgements->count; i++) {
		const struct judgement *of = &judgements->items[i];

		if (of->verdict == JUDGED_PASS)
			continue;
		first = first ? first : of;
		count++;
	}
	if (!first)
		return;
	snprintf(text, sizeof(text), "%s: %s: %.100s: %s",
		 first->verdict == JUDGED_FAIL ? "not met" : "cannot tell",
		 first->requirement->text, first->cell ? first->cell : "",
		 first->text);
	if (count > 1)
		text_append(text, sizeof(text), " (and %zu more)", count - 1);
	notify_send(cli, gate->notify, NOTICE_REGRESSION, about->sweep,
		    about->name, text);
}

int gate_judge(struct cli *cli, const struct gate *gate,
	       const struct report_about *about, const struct report_rows *runs,
	       struct error *err)
{
	owned(judgements_clear) struct judgements judgements = { 0 };
	struct gate all = *gate;
	struct labels labels;
	size_t cells;

	if (gate_add_sweep(&all, runs, err) < 0)
		return -1;
	if (requirements_judge(all.list, all.count, runs, about->baseline,
			       about->baseline_cell, &judgements, err) < 0)
		return -1;
	labels_find_rows(runs, &labels);
	cells = all.count ? judgements.count / all.count : 0;
	for (size_t i = 0; cells && i < all.count; i++)
		gate_print(cli, &judgements.items[i * cells], cells, &labels);
	if (all.junit && !all.count)
		cli_say(cli,
			"%s has no verdict: give --require, or require: in the "
			"sweep",
			all.junit);
	if (all.junit && gate_write(&all, about->name ? about->name : "regatta",
				    &judgements, err) < 0)
		return error_prefix(err, "--junit");
	if (!all.count || judgements_pass(&judgements))
		return 1;
	gate_notify(cli, gate, about, &judgements);
	return 0;
}
