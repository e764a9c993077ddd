/* nodes_page.c - the page of all nodes, and the page of one node. */
#include "controller/logs/log_reader.h"
#include "controller/nodes/node.h"
#include "controller/web/web_page.h"
#include "protocol/message/json_get.h"
#include "protocol/message/reply_nodes.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN 1000 /* nodes on one page */

/* The last readings of a node's devices, by index; zero where no job runs. */
struct readings {
	struct device_metrics of[DEVICES_MAX];
};

static void readings_take(const struct node *node, struct readings *to)
{
	struct task *task;

	memset(to, 0, sizeof(*to));
	for (task = node_first_task(node); task; task = node_next_task(task)) {
		struct device_metrics device;

		for (size_t i = 0;
		     log_reader_device(task_gang(task), task_rank(task), i,
				       &device);
		     i++)
			if (device.index < DEVICES_MAX)
				to->of[device.index] = device;
	}
}

/* Of all devices; NAN: none is known. */
static double power_of(const struct node *node)
{
	struct readings readings;
	double power = (double)NAN;

	readings_take(node, &readings);
	for (size_t i = 0; i < DEVICES_MAX; i++)
		if (readings.of[i].has & 1U << READING_POWER_W)
			power = (isnan(power) ? 0 : power) +
				readings.of[i].value[READING_POWER_W];
	return power;
}

/* The node as views show it; all of it is borrowed. */
static struct node_shown node_shown_of(const struct node_info *info,
				       const struct node *node)
{
	const struct node_view *view = node_view(node);
	struct node_shown shown = { .info = *info,
				    .number = node_index(node) + 1,
				    .power_w = power_of(node) };

	shown.info.inventory = view->inventory;
	shown.info.inventory_count = view->inventory_count;
	return shown;
}

static void put_node(struct web_page *page, const struct node_info *info,
		     const struct node *node)
{
	const struct node_shown shown = node_shown_of(info, node);

	web_part(page, "tr", "", "n%zu", shown.number);
	view_page_row(&view_nodes, &shown, &page->out);
	web_part_end(page, "tr");
}

/* The list: nodes are read a slice at a time, then shown by name. */
struct nodes_view {
	uint64_t begin, next;  /* nodes before the page, and before the slice */
	struct reply_nodes of; /* read so far; room for SHOWN */
	bool sorted;
	size_t put; /* rows that are written */
};

static void nodes_view_free(void *arg)
{
	struct nodes_view *view = arg;

	codec_clear(&reply_nodes_schema, &view->of);
	free(view);
}

static int nodes_page_compare(const void *a, const void *b)
{
	return strverscmp(((const struct node_info *)a)->name,
			  ((const struct node_info *)b)->name);
}

/* 1: more nodes are to be read. */
static int nodes_page_read(struct web_page *page, struct nodes_view *view,
			   struct error *err)
{
	struct message_query query = { .after = view->next,
				       .limit = page->slice };
	struct api_request request = web_request(page, &query);
	struct reply_nodes slice = { 0 };
	int rc = api_nodes(&request, &slice, err);

	for (size_t i = 0;
	     i < slice.nodes_count && view->of.nodes_count < SHOWN; i++) {
		view->of.nodes[view->of.nodes_count++] = slice.nodes[i];
		slice.nodes[i] = (struct node_info){ 0 };
		view->next++;
	}
	view->of.more = slice.more;
	codec_clear(&reply_nodes_schema, &slice);
	if (rc < 0 || (view->of.more && view->of.nodes_count < SHOWN))
		return rc < 0 ? -1 : 1;
	if (view->of.nodes_count)
		qsort(view->of.nodes, view->of.nodes_count,
		      sizeof(*view->of.nodes), nodes_page_compare);
	view->sorted = true;
	return 0;
}

static int nodes_next(struct web_page *page, void *arg, struct error *err)
{
	struct nodes_view *view = arg;
	size_t end = view->put + page->slice;

	if (!view->sorted)
		return nodes_page_read(page, view, err) < 0 ? -1 : 1;
	for (; view->put < view->of.nodes_count && view->put < end;
	     view->put++) {
		const struct node_info *info = &view->of.nodes[view->put];
		const struct node *node =
			node_find(page->sources->parts.nodes, info->name);

		if (node)
			put_node(page, info, node);
	}
	if (view->put < view->of.nodes_count)
		return 1;
	web_html(page, "</table></div>\n");
	if (view->next == view->begin)
		web_html(page, "<p class=\"mute\">No node has joined yet. "
			       "<code>regatta node token</code> prints a token "
			       "to join one.");
	if (view->of.more)
		web_html(page, "<p><a href=\"/nodes/0/%llu\">More nodes</a>",
			 (ull)view->next);
	return 0;
}

int web_nodes_page(struct web_page *page, const uint64_t numbers[WEB_NUMBERS],
		   struct error *err)
{
	struct nodes_view *view = calloc(1, sizeof(*view));

	page->rest = (struct web_rest){ nodes_next, nodes_view_free, view };
	if (!view || !(view->of.nodes = calloc(SHOWN, sizeof(*view->of.nodes))))
		return error_nomem(err, "nodes");
	view->begin = view->next = numbers[1];
	snprintf(page->title, sizeof(page->title), "Nodes");
	web_html(page, "<div class=\"wide\">");
	view_page_begin(&view_nodes, &page->out);
	return 1;
}

/* One node. */

static void nodes_page_put_devices(struct web_page *page,
				   const struct node *node)
{
	const struct node_view *view = node_view(node);
	struct readings readings;

	if (!view->inventory_count)
		return;
	readings_take(node, &readings);
	web_part(page, "div", " class=\"wide\"", "devices");
	web_html(page, "<h2>Devices</h2>");
	view_page_begin(&view_devices, &page->out);
	for (size_t i = 0; i < view->inventory_count; i++) {
		const struct device_info *device = &view->inventory[i];
		const struct device_shown shown = {
			*device, readings.of[device->index]
		};

		web_html(page, "<tr>");
		view_page_row(&view_devices, &shown, &page->out);
		web_html(page, "</tr>\n");
	}
	web_html(page, "</table>");
	web_part_end(page, "div");
}

static void put_tests(struct web_page *page, const struct node_info *node)
{
	if (!node->tests_count)
		return;
	web_part(page, "div", " class=\"wide\"", "tests");
	web_html(page, "<h2>Last validation</h2>");
	view_page_begin(&view_node_tests, &page->out);
	for (size_t i = 0; i < node->tests_count; i++) {
		web_html(page, "<tr>");
		view_page_row(&view_node_tests, &node->tests[i], &page->out);
		web_html(page, "</tr>\n");
	}
	web_html(page, "</table>");
	web_part_end(page, "div");
}

/* What `regatta show node` says of it, too. */
static void put_facts(struct web_page *page, const struct node_info *node)
{
	static const char *const names[] = {
		"os",           "kernel", "cpu",    "cpus",
		"memory_bytes", "driver", "engine", "network",
	};
	char text[400];

	web_part(page, "div", "", "facts");
	web_html(page, "<table>\n");
	if (node->address)
		web_html(page, "<tr><th>address</th><td>%s</td></tr>\n",
			 node->address);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const cJSON *fact = json_get(node->facts, names[i]);

		if (!fact)
			continue;
		json_words(fact, text, sizeof(text));
		web_html(page, "<tr><th>%s</th><td>%s</td></tr>\n",
			 !strcmp(names[i], "memory_bytes") ? "memory"
							   : names[i],
			 text);
	}
	if (node->labels && node->labels->child) {
		json_words(node->labels, text, sizeof(text));
		web_html(page, "<tr><th>labels</th><td>%s</td></tr>\n", text);
	}
	web_html(page, "</table>");
	web_part_end(page, "div");
}

/* The policy file of the node's agent. */
static void put_policy(struct web_page *page, const struct node_info *node)
{
	const cJSON *policy = json_get(node->facts, "policy");

	web_part(page, "div", "", "policy");
	web_html(page, "<h2>Policy</h2>\n");
	if (cJSON_IsString(policy) && *policy->valuestring) {
		web_html(page, "<p>The node refuses jobs that need more than "
			       "this policy allows.</p>\n<pre tabindex=\"0\">");
		web_text_lines(page, policy->valuestring);
		web_html(page, "</pre>");
	} else {
		web_html(page, "<p>The agent has no policy file: the defaults "
			       "in regatta-policy(5) apply.</p>");
	}
	web_part_end(page, "div");
}

static void put_node_head(struct web_page *page, const struct node_info *info,
			  const struct node *node)
{
	const struct node_shown shown = node_shown_of(info, node);
	char state[80], hardware[400], reason[VIEW_TEXT_MAX];

	node_state_words(info, state, sizeof(state));
	node_hardware_words(info, hardware, sizeof(hardware));
	node_reason_words(&shown.info, reason, sizeof(reason));
	web_part(page, "div", "", "head");
	web_html(page, "<p>%s, %u of %u devices free. %s. ", state, info->free,
		 info->devices, hardware);
	if (info->jobs.count)
		web_html(page, "Jobs: ");
	view_page_jobs(&page->out, &info->jobs);
	web_html(page, "</p>\n<p class=\"bad\">%s</p>", reason);
	web_part_end(page, "div");
}

int web_node_page(struct web_page *page, const uint64_t numbers[WEB_NUMBERS],
		  struct error *err)
{
	const struct nodes *nodes = page->sources->parts.nodes;
	uint64_t number = numbers[0];
	struct reply_node reply = { 0 };
	struct message_query query = { .id = number };
	struct api_request request = web_request(page, &query);
	const struct node *node;

	if (!number || number > node_count(nodes))
		return error_set(err, ENOENT, "no such node");
	node = node_at(nodes, number - 1);
	query.name = (char *)node_name(node);
	if (api_node(&request, &reply, err) < 0) {
		codec_clear(&reply_node_schema, &reply);
		return -1;
	}
	snprintf(page->title, sizeof(page->title), "Node %.90s",
		 node_name(node));
	put_node_head(page, &reply.node, node);
	put_facts(page, &reply.node);
	nodes_page_put_devices(page, node);
	put_tests(page, &reply.node);
	put_policy(page, &reply.node);
	codec_clear(&reply_node_schema, &reply);
	return 0;
}
