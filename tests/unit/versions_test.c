/* versions_test.c - which driver and software a node has, by the profile's
 * rules: the first that tells counts, and none of them can stop the agent.
 */
#include "agent/metrics/versions.h"

#include "protocol/base/loop.h"
#include "protocol/base/program.h"
#include "tests/tap.h"
#include "tests/unit/hardware_lab.h"

#include <sys/stat.h>

struct bed {
	struct lab lab;
	sd_event *loop;
	struct versions versions;
	unsigned told;
};

static void told(void *arg, const struct versions *versions)
{
	struct bed *bed = arg;

	bed->versions = *versions;
	bed->told++;
}

static void tool(struct bed *bed, const char *name, const char *script)
{
	char path[200];

	snprintf(path, sizeof(path), "/bin/%s", name);
	lab_file(&bed->lab, path, "#!/bin/sh\necho x >>%s/%s.runs\n%s\n",
		 bed->lab.bin, name, script);
	snprintf(path, sizeof(path), "%s/%s", bed->lab.bin, name);
	chmod(path, 0755);
}

static size_t runs(const struct bed *bed, const char *name)
{
	char path[200];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s.runs", bed->lab.bin, name);
	return stat(path, &st) < 0 ? 0 : (size_t)st.st_size / 2;
}

static const char *ask(struct bed *bed, const char *rules)
{
	static char text[2 * VERSION_SIZE + 2];
	char yaml[2000];
	struct profile *profile;

	snprintf(yaml, sizeof(yaml), "vendor: lab\nversions:\n%s", rules);
	profile = lab_profile_text(yaml);
	if (!profile)
		abort();
	bed->told = 0;
	if (!versions_rules(profile) ||
	    !versions_ask(bed->loop, profile, &bed->lab.roots, NULL, told, bed,
			  NULL))
		abort();
	ok(!bed->told, "nothing is told from inside the call");
	while (!bed->told)
		sd_event_run(bed->loop, UINT64_MAX);
	profile_free(profile);
	snprintf(text, sizeof(text), "%s|%s", bed->versions.driver,
		 bed->versions.sdk);
	return text;
}

static void rules(struct bed *bed)
{
	lab_file(&bed->lab, "/sys/module/lab/version", "535.1\n");
	tool(bed, "smi", "echo '| Driver: 9.8  SDK: 12.2 |'");
	is(ask(bed, "  driver: [{file: /sys/module/lab/version}]\n"
		    "  sdk: [{command: [smi], match: 'SDK: (\\S+)'}]\n"),
	   "535.1|12.2", "a file's first line, and what a tool prints");
	is(ask(bed, "  driver:\n"
		    "    - {file: /sys/module/none/version}\n"
		    "    - {command: [none]}\n"
		    "    - {command: [smi], match: 'Version: (\\S+)'}\n"
		    "    - {command: [smi], match: 'Driver: (\\S+)'}\n"
		    "    - {file: /sys/module/lab/version}\n"),
	   "9.8|", "the first rule that tells one counts");
	is_int((long long)runs(bed, "smi"), 2,
	       "a tool that two rules name one after the other is run once");
	is(ask(bed, "  driver: [{file: /etc/hostname}]\n"), "|",
	   "a simulated machine has no file of the real one");
}

static void trouble(struct bed *bed)
{
	struct profile *profile;
	struct version_query *query;

	tool(bed, "bad", "echo 1.0; exit 3");
	tool(bed, "wild", "printf '1.\\0332\\n3\\n'");
	tool(bed, "long", "head -c 300 /dev/zero | tr '\\0' 7");
	tool(bed, "flood", "cat /dev/zero");
	is(ask(bed, "  driver: [{command: [bad]}]\n"
		    "  sdk: [{command: [wild]}]\n"),
	   "|1.?2",
	   "a tool that fails tells nothing; what cannot be shown '?'");
	is_int((long long)strlen(ask(bed, "  driver: [{command: [long]}]\n")),
	       VERSION_SIZE, "a long word is cut");
	is(ask(bed, "  driver: [{command: [flood]}, {command: [wild]}]\n"),
	   "1.?2|", "a flood is stopped, and the next rule asked");
	profile = lab_profile_text("vendor: lab\nversions: {driver: "
				   "[{command: [sleep, '1000']}]}\n");
	query = versions_ask(bed->loop, profile, &bed->lab.roots, NULL, told,
			     bed, NULL);
	bed->told = 0;
	sd_event_run(bed->loop, 0);
	versions_cancel(query);
	ok(query && !bed->told, "one that is given up tells nothing");
	profile_free(profile);
	ok(!versions_rules(NULL), "no profile has no rules");
}

int main(void)
{
	struct bed bed = { 0 };

	tap_begin(60);
	bed.loop = program_begin(NULL);
	lab_begin(&bed.lab);
	rules(&bed);
	trouble(&bed);
	lab_end(&bed.lab);
	sd_event_unref(bed.loop);
	return tap_done();
}
