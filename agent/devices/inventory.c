/* inventory.c - the devices of this node: found at the start, watched later.
 */
#include "agent/devices/inventory.h"
#include "protocol/base/clock.h"
#include "protocol/base/file.h"
#include "protocol/base/list.h"
#include "protocol/base/log.h"
#include "protocol/base/loop.h"
#include "protocol/base/subprocess.h"
#include "protocol/hardware/sample_files.h"

#include <fcntl.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>

static void keep_word(char **to, char **from)
{
	if (!*to)
		*to = take(*from);
}

/* Facts that are not reported now are kept. */
static void update(struct device_info *known, struct device_info *found)
{
	uint32_t index = known->index;

	keep_word(&found->uuid, &known->uuid);
	keep_word(&found->name, &known->name);
	keep_word(&found->chip, &known->chip);
	if (!found->memory_mib)
		found->memory_mib = known->memory_mib;
	codec_clear(&device_info_schema, known);
	*known = *found;
	known->index = index;
	*found = (struct device_info){ 0 };
}

static int merge_append_device(struct devices *devices,
			       struct device_info *found, struct error *err)
{
	struct device_info *list;

	if (devices->count >= DEVICES_MAX) {
		log_warning("more than %d devices, including gone ones; %s is "
			    "not used",
			    DEVICES_MAX,
			    found->bus_id ? found->bus_id : "a device");
		return 0;
	}
	list = LIST_ADD(devices->list, devices->count, err);
	if (!list)
		return -1;
	*list = *found;
	list->index = (uint32_t)devices->count - 1;
	*found = (struct device_info){ 0 };
	return 0;
}

static void mark_gone(struct device_info *device)
{
	if (device->gone)
		return;
	device->gone = true;
	free(device->text);
	device->text = strdup("it has disappeared");
}

int device_merge(struct devices *known, struct devices *found, size_t *news,
		 struct error *err)
{
	bool taken[DEVICES_MAX] = { false };
	size_t matches[DEVICES_MAX];

	for (size_t i = 0; i < known->count; i++)
		matches[i] = devices_match(known, i, found);
	for (size_t i = 0; i < known->count; i++) {
		if (matches[i] == found->count) {
			mark_gone(&known->list[i]);
			continue;
		}
		taken[matches[i]] = true;
		*news += known->list[i].gone;
		update(&known->list[i], &found->list[matches[i]]);
	}
	for (size_t i = 0; i < found->count; i++) {
		if (taken[i])
			continue;
		++*news;
		if (merge_append_device(known, &found->list[i], err) < 0)
			return -1;
	}
	known->simulated = found->simulated;
	return 0;
}

#define SETTLE_MS 200 /* changes of /dev come in bursts */
#define STATE_MAX (1 << 20)
#define WHY_MAX 1024
#define BOOT_ID "/proc/sys/kernel/random/boot_id"

enum { MONITOR, MAP, TOOLS };

struct inventory {
	sd_event *loop;
	struct inventory_config config;
	inventory_fn *changed;
	void *arg;
	struct profiles profiles;
	const struct profile *profile; /* NULL: none of that name */
	struct samples samples[TOOLS]; /* what they printed last */
	size_t command;   /* of the monitor's, the one that is tried */
	uint32_t tool_ms; /* how long it ran last; 0: never */
	struct subprocess *tool;
	size_t tool_index; /* which of the two */
	struct devices devices;
	size_t left_out; /* of the last look */
	bool missing;    /* at the last look; why has the words */
	bool ready;
	sd_event_source *timer, *watch;
	int64_t looked_ms; /* monotonic */
	char why[WHY_MAX]; /* of the last look */
	char boot[64];
};

static bool discovers(const struct profile *profile)
{
	return profile &&
	       (profile->discover.pci_vendors.count || profile->discover.nodes);
}

/* Looking. */

/* Add what is offered to a list of words, unless a device has it. */
static void list_missing(const struct offered *only,
			 const struct devices *devices, struct buffer *missing)
{
	for (size_t i = devices->count; !only->uuids.count && i < CPU_SETSIZE;
	     i++)
		if (CPU_ISSET(i, &only->numbers))
			buffer_printf(missing, NULL, "%s%zu",
				      missing->size ? "," : "", i);
	for (size_t i = 0; i < only->uuids.count; i++) {
		const char *uuid = only->uuids.items[i];
		size_t at = 0;

		while (at < devices->count &&
		       !device_has_uuid(&devices->list[at], uuid))
			at++;
		if (at == devices->count)
			buffer_printf(missing, NULL, "%s%s",
				      missing->size ? "," : "", uuid);
	}
}

/* Drop the devices that are not offered. UUIDs are known only when the vendor's
 * tool has answered.
 */
static void keep_offered(const struct offered *only, struct devices *devices,
			 char why[WHY_MAX])
{
	owned(buffer_clear) struct buffer missing = BUFFER_INIT(WHY_MAX / 2);
	size_t count = devices->count, kept = 0, nameless = 0;

	list_missing(only, devices, &missing);
	for (size_t i = 0; i < count; i++) {
		struct device_info *device = &devices->list[i];

		if (offered_has(only, i, device->uuid)) {
			devices->list[kept++] = *device;
			continue;
		}
		nameless += !device->uuid;
		codec_clear(&device_info_schema, device);
	}
	devices->count = kept;
	if (only->uuids.count)
		devices->left_out += nameless;
	if (!missing.size)
		return;
	devices->missing = true;
	snprintf(why, WHY_MAX,
		 "only-devices or CUDA_VISIBLE_DEVICES names %s, but this "
		 "machine has %zu device%s%s",
		 missing.data, count, count == 1 ? "" : "s",
		 only->uuids.count && nameless
			 ? ", and the UUID of some is not known"
			 : "");
}

static int inventory_look(const struct inventory *inventory,
			  const struct profile *profile,
			  struct devices *devices, char why[WHY_MAX],
			  struct error *err)
{
	bool chosen = profile == inventory->profile;
	const struct samples *samples = inventory->samples;

	if (devices_find(profile, inventory->config.roots,
			 chosen && samples[MONITOR].count ? &samples[MONITOR]
							  : NULL,
			 chosen && samples[MAP].count ? &samples[MAP] : NULL,
			 chosen ? &inventory->devices : NULL, devices, why,
			 WHY_MAX, err) < 0)
		return -1;
	if (inventory->config.only)
		keep_offered(inventory->config.only, devices, why);
	return 0;
}

/* The first vendor with a device on this machine, offered or not. */
static const struct profile *
inventory_choose_profile(struct inventory *inventory)
{
	const struct profile *chosen = NULL;

	for (size_t i = 0; i < inventory->profiles.count; i++) {
		const struct profile *profile = inventory->profiles.list[i];
		owned(devices_clear) struct devices devices = { 0 };
		struct error err = { 0 };
		char why[WHY_MAX];

		if (!discovers(profile))
			continue;
		if (devices_find(profile, inventory->config.roots, NULL, NULL,
				 NULL, &devices, why, WHY_MAX, &err) < 0)
			log_warning("devices of %s: %s", profile->vendor,
				    err.text);
		if (!devices.count && !devices.left_out)
			continue;
		if (!chosen)
			chosen = profile;
		else
			log_warning("devices of %s exist too, but are not "
				    "used; see --vendor",
				    profile->vendor);
	}
	return chosen ? chosen : profiles_find(&inventory->profiles, "cpu");
}

/* Keeping. */

/* devices.json */
struct inventory_state {
	char *vendor;
	char *boot;
	char *sysfs;
	struct device_info *devices;
	size_t devices_count;
};

/* clang-format off */
static const struct schema inventory_state_schema = SCHEMA(inventory_state,
	FIELD(inventory_state, vendor),
	FIELD(inventory_state, boot),
	FIELD(inventory_state, sysfs),
	FIELD_ROWS(inventory_state, devices, device_info_schema));
/* clang-format on */

/* What is stored now; borrowed from the inventory. */
static struct inventory_state state_now(const struct inventory *inventory)
{
	return (struct inventory_state){
		.vendor = (char *)inventory_vendor(inventory),
		.boot = (char *)inventory->boot,
		.sysfs = (char *)inventory->config.roots->sys,
		.devices = inventory->devices.list,
		.devices_count = inventory->devices.count,
	};
}

static int inventory_encode_state(const struct inventory *inventory,
				  struct buffer *text, struct error *err)
{
	const struct inventory_state state = state_now(inventory);

	buffer_init(text, STATE_MAX);
	return codec_encode(&inventory_state_schema, &state, text, err);
}

static int state_path(const struct inventory *inventory, char out[PATH_MAX])
{
	return snprintf(out, PATH_MAX, "%s/devices.json",
			inventory->config.state) < PATH_MAX
		       ? 0
		       : -1;
}

static void state_save(const struct inventory *inventory,
		       const struct buffer *text)
{
	char path[PATH_MAX];
	struct error err;

	if (state_path(inventory, path) == 0 &&
	    file_write(AT_FDCWD, path, text->data, text->size, 0644, 0, &err) <
		    0)
		log_warning("%s; the list of gone devices is lost when this "
			    "agent stops",
			    err.text);
}

/* What an earlier agent stored, unless the machine was rebooted since. */
static void state_load(struct inventory *inventory)
{
	const struct inventory_state now = state_now(inventory);
	struct inventory_state state = { 0 };
	owned(buffer_clear) struct buffer text = BUFFER_INIT(STATE_MAX);
	char path[PATH_MAX];
	bool good;

	if (state_path(inventory, path) < 0 ||
	    file_read(AT_FDCWD, path, &text, NULL) < 0 ||
	    codec_decode(&inventory_state_schema, text.data, text.size, &state,
			 NULL) < 0)
		return;
	good = !strcmp(state.vendor, now.vendor) &&
	       !strcmp(state.boot, now.boot) &&
	       !strcmp(state.sysfs, now.sysfs) &&
	       state.devices_count <= DEVICES_MAX;
	for (size_t i = 0; i < state.devices_count; i++)
		good = good && state.devices[i].index == i;
	if (good) {
		inventory->devices.list = take(state.devices);
		inventory->devices.count = state.devices_count;
		state.devices_count = 0;
	}
	codec_clear(&inventory_state_schema, &state);
}

static void log_found(const struct inventory *inventory)
{
	const struct devices *devices = &inventory->devices;

	for (size_t i = 0; i < devices->count; i++) {
		const struct device_info *device = &devices->list[i];

		log_line(device->gone || device->text ? LOG_WARNING : LOG_INFO,
			 "device %zu: %s%s%s%s%s numa=%lld%s%s", i,
			 device->bus_id ? device->bus_id : "a node",
			 device->name ? " " : "",
			 device->name ? device->name : "",
			 device->chip ? " chip=" : "",
			 device->chip ? device->chip : "",
			 (long long)device->numa, device->text ? ": " : "",
			 device->text ? device->text : "");
	}
	if (*inventory->why)
		log_info("devices of %s: %s", inventory_vendor(inventory),
			 inventory->why);
}

/* Looking again. */

static void inventory_run_tools(struct inventory *inventory, size_t which);
static size_t inventory_read_files(struct inventory *inventory,
				   const struct devices *devices);
static void look_later(struct inventory *inventory, uint64_t delay_ms);

/* Look once; true: there is a new device, so the tools should run. */
static bool inventory_look_again(struct inventory *inventory)
{
	owned(devices_clear) struct devices found = { 0 };
	owned(buffer_clear) struct buffer before, after;
	struct error err;
	size_t news = 0;

	buffer_init(&after, STATE_MAX);
	inventory->looked_ms = clock_mono_ms();
	if (inventory_encode_state(inventory, &before, &err) < 0 ||
	    inventory_look(inventory, inventory->profile, &found,
			   inventory->why, &err) < 0 ||
	    device_merge(&inventory->devices, &found, &news, &err) < 0 ||
	    inventory_encode_state(inventory, &after, &err) < 0) {
		log_warning("devices: %s", err.text);
		return false;
	}
	news += found.left_out > inventory->left_out;
	inventory->left_out = found.left_out;
	inventory->missing = found.missing;
	if (strcmp(before.data, after.data) != 0) {
		state_save(inventory, &after);
		log_found(inventory);
		if (inventory->ready)
			inventory->changed(inventory->arg);
	}
	return news;
}

static void become_ready(struct inventory *inventory)
{
	if (inventory->ready)
		return;
	inventory->ready = true;
	if (inventory->missing)
		log_warning("%s", inventory->why);
	else if (!inventory->devices.count && discovers(inventory->profile))
		log_warning("no devices of %s: %s", inventory_vendor(inventory),
			    inventory->why);
	inventory->changed(inventory->arg);
}

static int inventory_timer_run(sd_event_source *source, uint64_t usec,
			       void *arg)
{
	struct inventory *inventory = arg;

	if (inventory_look_again(inventory) && !inventory->tool)
		inventory_run_tools(inventory,
				    inventory_read_files(inventory,
							 &inventory->devices));
	look_later(inventory, INVENTORY_LOOK_MS);
	return 0;
}

static void look_later(struct inventory *inventory, uint64_t delay_ms)
{
	loop_timer(inventory->loop, &inventory->timer, delay_ms,
		   inventory_timer_run, inventory, NULL);
}

static int dev_changed(sd_event_source *source,
		       const struct inotify_event *event, void *arg)
{
	struct inventory *inventory = arg;
	int64_t since = clock_mono_ms() - inventory->looked_ms;
	int64_t left = inventory->config.pause_ms - since;

	look_later(inventory, left > SETTLE_MS ? (uint64_t)left : SETTLE_MS);
	return 0;
}

/* Asking the tools. */

struct tool {
	const struct strings *argv; /* empty: there is none */
	const struct sampler *sampler;
};

static struct tool inventory_choose_tool(const struct inventory *inventory,
					 size_t which)
{
	const struct profile *profile = inventory->profile;
	static const struct strings none = { 0 };
	const struct monitor_rules *monitor = &profile->monitor;

	if (which == MAP)
		return (struct tool){ &profile->discover.map_command,
				      profile->discover.map };
	return (struct tool){ inventory->command < monitor->commands_count
				      ? &monitor->commands[inventory->command]
				      : &none,
			      monitor->sampler };
}

static void inventory_tool_done(void *arg, const struct error *err,
				const struct subprocess_output *output)
{
	struct inventory *inventory = arg;
	struct tool tool =
		inventory_choose_tool(inventory, inventory->tool_index);
	struct samples samples = { 0 };
	struct error wrong;

	inventory->tool = NULL;
	if (inventory->tool_index == MONITOR)
		inventory->tool_ms =
			output ? output->took_ms
			       : inventory->profile->monitor.timeout_ms;
	if (output && sampler_read(tool.sampler, output->text, output->size,
				   &samples, &wrong) == 0) {
		samples_clear(&inventory->samples[inventory->tool_index]);
		inventory->samples[inventory->tool_index] = samples;
	} else if (inventory->tool_index == MONITOR &&
		   inventory->command + 1 <
			   inventory->profile->monitor.commands_count) {
		inventory->command++;
		inventory_run_tools(inventory, MONITOR);
		return;
	} else if (err) {
		log_warning("devices: %s", err->text);
	} else if (output && tool.argv->count) {
		log_warning("devices: %s ended with %d%s%s: %s",
			    tool.argv->items[0], output->exit_code,
			    *output->complaint ? ": " : "", output->complaint,
			    wrong.text);
	}
	inventory_run_tools(inventory, inventory->tool_index + 1);
}

/* The first tool that has to run for these devices: files may do instead. */
static size_t inventory_read_files(struct inventory *inventory,
				   const struct devices *devices)
{
	owned(sample_files_free) struct sample_files *files = NULL;
	owned(samples_clear) struct samples samples = { 0 };

	inventory->command = 0;
	if (!inventory->profile->monitor.files_count)
		return MONITOR;
	files = sample_files_new(inventory->profile, inventory->config.roots,
				 devices, NULL);
	if (!files || sample_files_read(files, true, &samples, NULL) < 0 ||
	    !sample_files_suffice(&samples))
		return MONITOR;
	samples_clear(&inventory->samples[MONITOR]);
	inventory->samples[MONITOR] = samples;
	samples = (struct samples){ 0 };
	return MAP;
}

/* Run this tool and those after it, then look again with their output. */
static void inventory_run_tools(struct inventory *inventory, size_t which)
{
	const struct profile *profile = inventory->profile;
	struct error err;

	for (; which < TOOLS; which++) {
		struct tool tool = inventory_choose_tool(inventory, which);
		struct subprocess_command command = {
			.argv = tool.argv,
			.env = &profile->monitor.env,
			.bin = inventory->config.roots->bin,
			.timeout_ms = profile->monitor.timeout_ms,
			.output_max = SAMPLE_TEXT_MAX,
			.cpus = inventory->config.cpus,
		};

		if (!tool.argv->count || !tool.sampler)
			continue;
		inventory->tool_index = which;
		inventory->tool =
			subprocess_run(inventory->loop, &command,
				       inventory_tool_done, inventory, &err);
		if (inventory->tool)
			return;
		log_warning("devices: %s", err.text);
	}
	inventory_look_again(inventory);
	become_ready(inventory);
}

/* Starting. */

static int start_run(sd_event_source *source, uint64_t usec, void *arg)
{
	struct inventory *inventory = arg;
	owned(devices_clear) struct devices found = { 0 };
	struct error err;

	if (!discovers(inventory->profile)) {
		become_ready(inventory);
		return 0;
	}
	state_load(inventory);
	loop_source_free(&inventory->timer); /* another function is next */
	sd_event_add_inotify(inventory->loop, &inventory->watch,
			     inventory->config.roots->dev,
			     IN_CREATE | IN_DELETE | IN_ONLYDIR, dev_changed,
			     inventory);
	look_later(inventory, INVENTORY_LOOK_MS);
	if (inventory_look(inventory, inventory->profile, &found,
			   inventory->why, &err) < 0)
		log_warning("devices: %s", err.text);
	/* Without devices no tool is run. */
	inventory_run_tools(inventory,
			    found.count || found.left_out
				    ? inventory_read_files(inventory, &found)
				    : TOOLS);
	return 0;
}

static void read_boot(struct inventory *inventory)
{
	owned(buffer_clear) struct buffer text;

	buffer_init(&text, sizeof(inventory->boot) - 1);
	if (file_read(AT_FDCWD, BOOT_ID, &text, NULL) == 0)
		snprintf(inventory->boot, sizeof(inventory->boot), "%s",
			 text.data);
}

/* The profiles with their compiled expressions take 2 MiB. */
static void forget_others(struct inventory *inventory)
{
	struct profiles *profiles = &inventory->profiles;

	for (size_t i = 0; i < profiles->count; i++)
		if (profiles->list[i] != inventory->profile)
			profile_free(take(profiles->list[i]));
	malloc_trim(0);
}

static int choose_profile(struct inventory *inventory, struct error *err)
{
	const char *vendor = inventory->config.vendor;

	if (inventory->config.images &&
	    profiles_load(inventory->config.images, &inventory->profiles, err) <
		    0)
		return -1;
	inventory->profile =
		strcmp(vendor, "auto")
			? profiles_find(&inventory->profiles, vendor)
			: inventory_choose_profile(inventory);
	forget_others(inventory);
	return 0;
}

struct inventory *inventory_new(sd_event *loop,
				const struct inventory_config *config,
				inventory_fn *changed, void *arg,
				struct error *err)
{
	owned(inventory_free) struct inventory *inventory =
		calloc(1, sizeof(*inventory));

	if (!inventory)
		return error_null(error_nomem(err, "inventory"));
	inventory->loop = sd_event_ref(loop);
	inventory->config = *config;
	if (!inventory->config.pause_ms)
		inventory->config.pause_ms = INVENTORY_PAUSE_MS;
	inventory->changed = changed;
	inventory->arg = arg;
	read_boot(inventory);
	if (choose_profile(inventory, err) < 0 ||
	    loop_timer(loop, &inventory->timer, 0, start_run, inventory, err) <
		    0)
		return NULL;
	return take(inventory);
}

void inventory_free(struct inventory *inventory)
{
	if (!inventory)
		return;
	subprocess_cancel(inventory->tool);
	loop_source_free(&inventory->timer);
	loop_source_free(&inventory->watch);
	for (size_t i = 0; i < TOOLS; i++)
		samples_clear(&inventory->samples[i]);
	devices_clear(&inventory->devices);
	profiles_clear(&inventory->profiles);
	sd_event_unref(inventory->loop);
	free(inventory);
}

const char *inventory_vendor(const struct inventory *inventory)
{
	const char *vendor = inventory->config.vendor;

	if (inventory->profile)
		return inventory->profile->vendor;
	return strcmp(vendor, "auto") ? vendor : "cpu";
}

const struct profile *inventory_profile(const struct inventory *inventory)
{
	return inventory->profile;
}

const struct devices *inventory_devices(const struct inventory *inventory)
{
	return &inventory->devices;
}

uint32_t inventory_count(const struct inventory *inventory)
{
	if (inventory->devices.count)
		return (uint32_t)inventory->devices.count;
	if (inventory->config.devices)
		return inventory->config.devices;
	return discovers(inventory->profile) ? 0 : 1;
}

bool inventory_missing(const struct inventory *inventory)
{
	return discovers(inventory->profile) && !inventory->devices.count &&
	       !sysroot_simulated(inventory->config.roots);
}

void inventory_facts(const struct inventory *inventory, cJSON *facts)
{
	const struct samples *samples = &inventory->samples[MONITOR];
	double pending = 0;

	for (size_t i = 0; i < samples->count; i++)
		if (samples->rows[i].has & 1U << READING_REMAP_PENDING)
			pending +=
				samples->rows[i].value[READING_REMAP_PENDING];
	if (samples->count)
		cJSON_AddNumberToObject(facts, "remap_pending", pending);
	if (inventory->tool_ms)
		cJSON_AddNumberToObject(facts, "tool_ms", inventory->tool_ms);
	if (inventory->missing)
		cJSON_AddStringToObject(facts, "devices_missing",
					inventory->why);
}
