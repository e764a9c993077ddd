/* facts.c - what this host is, for tables and provenance.
 *
 * Sources: uname(2), sysconf(3), proc(5), os-release(5), and sysfs:
 * /sys/class/dmi/id, /sys/class/net/<name>/speed (Mbit/s), cpufreq.
 */
#include "agent/devices/facts.h"
#include "protocol/buffer.h"
#include "protocol/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Bytes of a file in /proc: /proc/cpuinfo has 2 to 3 KB per processor. */
#define FACT_MAX (16 << 20)
#define NETWORKS_MAX 64

static void add_text(cJSON *facts, const char *name, const char *text)
{
	if (text && *text)
		cJSON_AddStringToObject(facts, name, text);
}

/* The file's text without its last newline; false: cannot be read. */
static bool read_text(const char *path, struct buffer *text)
{
	buffer_clear(text);
	if (file_read_any(path, text, NULL) < 0)
		return false;
	while (text->size && text->data[text->size - 1] == '\n')
		text->data[--text->size] = 0;
	return true;
}

/* In "key<separator>value" lines: the value of the first line of that key,
 * without blanks and quotes around it.
 */
static bool find_line(char *text, const char *key, char separator, char **value)
{
	size_t length = strlen(key);

	for (char *line = text; line; line = strchr(line, '\n')) {
		char *at, *end;

		line += *line == '\n';
		if (strncmp(line, key, length))
			continue;
		at = line + length;
		at += strspn(at, " \t");
		if (*at != separator)
			continue;
		at++;
		at += strspn(at, " \t\"");
		end = at + strcspn(at, "\n\"");
		*end = 0;
		*value = at;
		return true;
	}
	return false;
}

static void add_file(cJSON *facts, const char *name, const char *path)
{
	owned(buffer_clear) struct buffer text;

	buffer_init(&text, 4096);
	if (read_text(path, &text))
		add_text(facts, name, text.data);
}

static void add_line(cJSON *facts, const char *name, const char *path,
		     const char *key, char separator)
{
	owned(buffer_clear) struct buffer text;
	char *value;

	buffer_init(&text, FACT_MAX);
	if (read_text(path, &text) &&
	    find_line(text.data, key, separator, &value))
		add_text(facts, name, value);
}

static void add_networks(cJSON *facts)
{
	cJSON *networks = cJSON_AddArrayToObject(facts, "networks");
	DIR *dir = opendir("/sys/class/net");
	struct dirent *entry;

	while (dir && networks && (entry = readdir(dir)) &&
	       cJSON_GetArraySize(networks) < NETWORKS_MAX) {
		owned(buffer_clear) struct buffer text;
		char path[512];
		cJSON *network;
		long speed;

		buffer_init(&text, 64);
		if (entry->d_name[0] == '.' || !strcmp(entry->d_name, "lo"))
			continue;
		snprintf(path, sizeof(path), "/sys/class/net/%s/speed",
			 entry->d_name);
		speed = read_text(path, &text) ? strtol(text.data, NULL, 10)
					       : 0;
		network = cJSON_CreateObject();
		add_text(network, "name", entry->d_name);
		if (speed > 0)
			cJSON_AddNumberToObject(network, "mbit_per_s",
						(double)speed);
		cJSON_AddItemToArray(networks, network);
	}
	if (dir)
		closedir(dir);
}

static void add_engine(cJSON *facts, const cJSON *engine)
{
	const cJSON *version =
		cJSON_GetObjectItemCaseSensitive(engine, "Version");
	const cJSON *api =
		cJSON_GetObjectItemCaseSensitive(engine, "ApiVersion");

	add_text(facts, "engine", cJSON_GetStringValue(version));
	add_text(facts, "engine_api", cJSON_GetStringValue(api));
}

cJSON *facts_read(const cJSON *engine, struct error *err)
{
	cJSON *facts = cJSON_CreateObject();
	struct utsname host;

	if (!facts) {
		error_nomem(err, "facts");
		return NULL;
	}
	if (uname(&host) == 0) {
		add_text(facts, "hostname", host.nodename);
		add_text(facts, "arch", host.machine);
		add_text(facts, "kernel", host.release);
	}
	add_file(facts, "machine", "/sys/class/dmi/id/product_name");
	add_line(facts, "os", "/etc/os-release", "PRETTY_NAME", '=');
	add_line(facts, "cpu", "/proc/cpuinfo", "model name", ':');
	add_file(facts, "governor",
		 "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
	cJSON_AddNumberToObject(facts, "cpus",
				(double)sysconf(_SC_NPROCESSORS_ONLN));
	cJSON_AddNumberToObject(facts, "memory_bytes",
				(double)sysconf(_SC_PHYS_PAGES) *
					(double)sysconf(_SC_PAGESIZE));
	add_networks(facts);
	add_engine(facts, engine);
	return facts;
}
