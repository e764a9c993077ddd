/* facts_test.c - what a host says of itself is so.
 */
#include "agent/devices/facts.h"

#include "tests/tap.h"

#include <sys/utsname.h>

static const char *text_of(const cJSON *facts, const char *name)
{
	return cJSON_GetStringValue(
		cJSON_GetObjectItemCaseSensitive(facts, name));
}

static double number_of(const cJSON *facts, const char *name)
{
	return cJSON_GetNumberValue(
		cJSON_GetObjectItemCaseSensitive(facts, name));
}

/* The first line of a command, as the shell would tell it. */
static const char *told(const char *command)
{
	static char line[512];
	FILE *out = popen(command, "r"); /* NOLINT: a fixed command of ours */

	line[0] = 0;
	if (out && !fgets(line, sizeof(line), out))
		line[0] = 0;
	if (out)
		pclose(out);
	line[strcspn(line, "\n")] = 0;
	return line;
}

static void the_host(void)
{
	cJSON *facts = facts_read(NULL, NULL);
	const cJSON *networks =
		cJSON_GetObjectItemCaseSensitive(facts, "networks");
	const cJSON *network;
	struct utsname host;
	double memory = number_of(facts, "memory_bytes");
	bool good = true;

	uname(&host);
	ok(cJSON_IsObject(facts), "facts are an object");
	is(text_of(facts, "hostname"), host.nodename, "the host's name");
	is(text_of(facts, "kernel"), host.release, "its kernel");
	is(text_of(facts, "arch"), host.machine, "its architecture");
	is(text_of(facts, "os"), told(". /etc/os-release; echo $PRETTY_NAME"),
	   "its system, without quotes");
	is(text_of(facts, "cpu") ? text_of(facts, "cpu") : "",
	   told("sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo"),
	   "its processor, where there is a name");
	is_int((long long)number_of(facts, "cpus"),
	       strtol(told("getconf _NPROCESSORS_ONLN"), NULL, 10),
	       "how many of them");
	ok(memory / 1024 >= (double)strtoll(told("sed -n 's/^MemTotal: *//p' "
						 "/proc/meminfo"),
					    NULL, 10) *
				    0.99 &&
		   memory < 1e15,
	   "its memory: %.0f bytes", memory);
	ok(cJSON_IsArray(networks), "its networks are a list");
	cJSON_ArrayForEach(network, networks)
	{
		const cJSON *speed =
			cJSON_GetObjectItemCaseSensitive(network, "mbit_per_s");

		good &= text_of(network, "name") &&
			strcmp(text_of(network, "name"), "lo") != 0 &&
			(!speed || speed->valuedouble > 0);
	}
	ok(good, "with names, without loopback, and speeds only where known");
	ok(!text_of(facts, "engine"), "nothing is said of an engine");
	cJSON_Delete(facts);
}

static void the_engine(void)
{
	cJSON *engine = cJSON_Parse("{\"Version\": \"20.10.24\", "
				    "\"ApiVersion\": \"1.41\", \"X\": 1}");
	cJSON *odd = cJSON_Parse("{\"Version\": 7, \"ApiVersion\": \"\"}");
	cJSON *facts = facts_read(engine, NULL);

	is(text_of(facts, "engine"), "20.10.24", "the engine's version");
	is(text_of(facts, "engine_api"), "1.41", "and its API's");
	cJSON_Delete(facts);
	facts = facts_read(odd, NULL);
	ok(facts && !cJSON_HasObjectItem(facts, "engine") &&
		   !cJSON_HasObjectItem(facts, "engine_api"),
	   "what the engine does not say is not there");
	cJSON_Delete(facts);
	cJSON_Delete(engine);
	cJSON_Delete(odd);
}

int main(void)
{
	tap_begin(30);
	the_host();
	the_engine();
	return tap_done();
}
