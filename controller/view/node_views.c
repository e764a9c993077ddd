/* node_views.c - the views of nodes and their devices.
 */
#include "controller/report/node_rates.h"
#include "controller/view/render.h"
#include "controller/view/views.h"

#include <math.h>
#include <string.h>

void node_state_words(const struct node_info *node, char *to, size_t size)
{
	snprintf(to, size, "%s%s", node->state,
		 node->leaving                                ? ", leaving"
		 : node->engine_away                          ? ", engine away"
		 : node->drained                              ? ", drained"
		 : node->health && node->health->probation_ms ? ", on probation"
							      : "");
}

/* "on probation since 14:00, one job at a time; create: no space". */
static void node_health_words(const struct node_info *node, char *to,
			      size_t size)
{
	const struct node_health *health = node->health;
	const struct node_lemon *lemon = node->lemon;

	if (node->engine_away)
		text_append(to, size, "the engine is away since %s: %.200s; ",
			    human_clock(node->engine_away->since_ms).text,
			    node->engine_away->text);
	for (size_t i = 0; i < node->drift.count; i++)
		text_append(to, size, "%.200s; ", node->drift.items[i]);
	if (lemon && lemon->lemon)
		text_append(to, size,
			    "%.0f of %.0f attempts failed here, elsewhere "
			    "%.1f %% (lemon, score %.1f); ",
			    lemon->failures, lemon->attempts,
			    lemon->others_percent, lemon->score);
	if (!health)
		return;
	if (health->probation_ms)
		text_append(to, size,
			    "on probation since %s, one job at a time; ",
			    human_clock(health->probation_ms).text);
	text_append(to, size, "last failure at %s, %s: %.200s; ",
		    human_clock(health->failed_ms).text,
		    health->failure ? health->failure : "",
		    health->text ? health->text : "");
}

void node_hardware_words(const struct node_info *node, char *to, size_t size)
{
	const cJSON *chip;

	snprintf(to, size, "%s", node->vendor ? node->vendor : "");
	cJSON_ArrayForEach(chip, node->chips)
		text_append(to, size, ", %.0f %s", chip->valuedouble,
			    chip->string);
}

void node_reason_words(const struct node_info *node, char *to, size_t size)
{
	const struct drain_info *drain = node->drain;

	to[0] = 0;
	if (!strcmp(node->state, "down"))
		text_append(to, size, "last heard %s",
			    human_utc(node->seen_ms).text);
	if (drain)
		text_append(to, size, "%s%s%s%s", *to ? "; " : "",
			    node->drained ? "drained" : "to be drained",
			    drain->reason ? ": " : "",
			    drain->reason ? drain->reason : "");
	if (*to)
		text_append(to, size, "; ");
	node_health_words(node, to, size);
	for (size_t i = 0; i < node->inventory_count; i++)
		if (node->inventory[i].text)
			text_append(to, size, "device %u: %s; ",
				    node->inventory[i].index,
				    node->inventory[i].text);
	if (to[0])
		to[strlen(to) - 2] = 0;
}

/* "until 14:00; new disk; rack=a" */
static void node_notes(const struct node_info *node, char *to, size_t size)
{
	static const struct drain_info none = { 0 };
	const struct drain_info *drain = node->drain ? node->drain : &none;
	const cJSON *label;

	to[0] = 0;
	if (drain->from_ms && !node->drained)
		text_append(to, size, "drained from %s; ",
			    human_clock(drain->from_ms).text);
	if (drain->until_ms)
		text_append(to, size, "until %s; ",
			    human_clock(drain->until_ms).text);
	if (drain->reason && *drain->reason)
		text_append(to, size, "%.200s; ", drain->reason);
	if (node->until_ms && !node->leaving)
		text_append(to, size, "leaves at %s; ",
			    human_clock(node->until_ms).text);
	node_health_words(node, to, size);
	cJSON_ArrayForEach(label, node->labels) {
		if (strlen(to) + 140 > size || !cJSON_IsString(label))
			break;
		text_append(to, size, "%.64s=%.64s; ", label->string,
			    label->valuestring);
	}
	if (to[0])
		to[strlen(to) - 2] = 0;
}

static void node_put(struct view_row *row, const void *of)
{
	const struct node_info *node = of;
	const struct node_shown *page = row->table ? NULL : of;
	char text[VIEW_TEXT_MAX], rate[NODE_RATE_TEXT];

	view_cell(row, MARK(.path = "node", .number = page ? page->number : 0),
		  "%s", node->name);
	node_state_words(node, text, sizeof(text));
	view_cell(row,
		  MARK(.colour = !strcmp(node->state, "down") ? RED
				 : strcmp(node->state, text)  ? YELLOW
							      : GREEN),
		  "%s", text);
	view_text(row, node->vendor);
	node_hardware_words(node, text, sizeof(text));
	view_text(row, text);
	if (node->lost)
		view_cell(row, MARK(.colour = RED), "%u of %u",
			  node->devices - node->lost, node->devices);
	else
		view_cell(row, NULL, "%u", node->devices);
	view_cell(row, NULL, "%u", node->free);
	if (node->rate)
		view_cell(row,
			  MARK(.colour = node->rate->outlier ? RED : PLAIN),
			  "%s", node_rate_words(node->rate, rate));
	else
		view_text(row, "");
	view_number(row, "%.0f W", page ? page->power_w : (double)NAN);
	view_text(row, node->address);
	view_text(row, node->seen_ms
			       ? human_time(row->at_ms - node->seen_ms).text
			       : "-");
	view_job_links(row, &node->jobs);
	node_notes(node, text, sizeof(text));
	view_text(row, text);
	node_reason_words(node, text, sizeof(text));
	view_text(row, text);
}

/* Devices: power, temperature, load and memory. */
static void readings_put(struct view_row *row,
			 const struct device_metrics *device)
{
	static const enum reading shown[] = { READING_POWER_W, READING_TEMP_C,
					      READING_UTIL_PCT,
					      READING_MEM_USED_MIB };

	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++)
		view_number(row, "%.0f",
			    device->has & 1U << shown[i]
				    ? device->value[shown[i]]
				    : (double)NAN);
}

static void device_put(struct view_row *row, const void *of)
{
	static const struct device_metrics none = { 0 };
	const struct device_info *device = of;
	const struct device_metrics *readings =
		row->table ? &none
			   : &((const struct device_shown *)of)->readings;
	char job[24] = "";

	view_cell(row, NULL, "%u", device->index);
	view_text(row, device->bus_id);
	view_text(row, device->name);
	view_text(row, device->chip);
	view_text(row, device->chip ? device->chip : device->name);
	if (device->numa >= 0)
		view_cell(row, NULL, "%lld", (long long)device->numa);
	else
		view_text(row, "-");
	if (device->memory_mib)
		view_cell(row, NULL, "%llu",
			  (unsigned long long)device->memory_mib);
	else
		view_text(row, "-");
	if (readings->job)
		snprintf(job, sizeof(job), "%llu",
			 (unsigned long long)readings->job);
	view_cell(row,
		  MARK(.path = readings->job ? "job" : NULL,
		       .number = readings->job),
		  "%s", job);
	readings_put(row, readings);
	view_cell(row, MARK(.colour = device->text ? RED : PLAIN), "%s",
		  device->text ? device->text : "");
}

static void reading_put(struct view_row *row, const void *of)
{
	const struct device_metrics *device = of;

	view_text(row, device->node);
	view_cell(row, NULL, "%u", device->index);
	view_text(row, device->name);
	readings_put(row, device);
}

static void node_test_put(struct view_row *row, const void *of)
{
	const struct node_test *test = of;

	view_text(row, test->test);
	view_number(row, "%.4g", test->last);
	view_number(row, "%.4g", test->before);
	view_cell(row, MARK(.colour = test->fell ? RED : PLAIN), "%+.1f%s",
		  -test->worse_pct, test->fell ? " (!)" : "");
	view_count(row, test->runs);
	view_text(row, human_utc(test->since_ms).text);
}

/* clang-format off */
#define READINGS                                                               \
	{ NULL, "W", true, 0 }, { NULL, "°C", true, 0 },                       \
	{ NULL, "%", true, 0 }, { NULL, "MiB", true, 0 }

static const struct view_column node_columns[] = {
	{ "NODE", "Node", false, 0 }, { "STATE", "State", false, 0 },
	{ "VENDOR", NULL, false, 4 }, { NULL, "Hardware", false, 0 },
	{ "DEVICES", "Devices", true, 0 }, { "FREE", "Free", true, 6 },
	{ "RATE %", "Rate against others (%)", true, 5 },
	{ NULL, "Power", true, 0 }, { "ADDRESS", "Address", false, 2 },
	{ "SEEN", NULL, true, 1 }, { "JOBS", "Jobs", false, 3 },
	{ "NOTES", NULL, false, 0 }, { NULL, "Reason not used", false, 0 },
	{ NULL, NULL, false, 0 },
};
const struct view view_nodes = {
	"nodes", sizeof(struct node_info), node_columns, node_put,
	"no nodes; regatta node token prints a token to join one", true
};

static const struct view_column device_columns[] = {
	{ "DEVICE", "Device", true, 0 }, { "BUS ID", "Bus", false, 1 },
	{ "NAME", NULL, false, 0 }, { "CHIP", NULL, false, 3 },
	{ NULL, "Chip", false, 0 }, { "NUMA", NULL, true, 2 },
	{ "MEMORY MIB", NULL, true, 0 }, { NULL, "Job", false, 0 }, READINGS,
	{ "NOT USED", "Reason not used", false, 0 }, { NULL, NULL, false, 0 },
};
const struct view view_devices = {
	NULL, sizeof(struct device_info), device_columns, device_put, NULL,
	true
};

static const struct view_column node_test_columns[] = {
	{ "TEST", "Test", false, 0 }, { "LAST", "Last", true, 0 },
	{ "BEFORE", "Before", true, 0 },
	{ "BETTER %", "Better by (%)", true, 0 },
	{ "RUNS", "Runs before", true, 1 }, { "SINCE", "Since", false, 2 },
	{ NULL, NULL, false, 0 },
};
const struct view view_node_tests = {
	NULL, sizeof(struct node_test), node_test_columns, node_test_put, NULL,
	true
};

static const struct view_column reading_columns[] = {
	{ NULL, "Node", false, 0 }, { NULL, "Device", true, 0 },
	{ NULL, "Name", false, 0 }, READINGS, { NULL, NULL, false, 0 },
};
const struct view view_readings = {
	.columns = reading_columns, .put = reading_put
};
/* clang-format on */
