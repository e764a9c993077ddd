/* config_test.c - a daemon's settings, from the first place that has them.
 */
#include "protocol/config/agent.h"
#include "protocol/config/controller.h"
#include "protocol/config/policy.h"

#include "tests/tap.h"
#include "tests/unit/fault.h"

#include <errno.h>

#define T(text) ((char *)(text))

static char folder[] = "/tmp/regatta-config-XXXXXX";
static char file[64];

static void write_file(const char *text)
{
	FILE *out = fopen(file, "w");

	if (!out || fputs(text, out) < 0 || fclose(out) != 0)
		abort();
}

/* Read the agent's settings from words that end in NULL. */
static int read_agent(char **argv, char **variables,
		      struct agent_settings *settings, struct config **config,
		      struct error *err)
{
	int argc = 0;

	while (argv[argc])
		argc++;
	return config_read(&agent_program, argc, argv, variables, settings,
			   config, err);
}

static void defaults(void)
{
	char *argv[] = { T("agent"), T("--config"), T("/dev/null"), NULL };
	struct agent_settings settings;
	owned(config_free) struct config *config = NULL;
	struct error err = { 0 };

	ok(read_agent(argv, NULL, &settings, &config, &err) == 0,
	   "nothing is needed %s", err.text);
	is(settings.engine, "unix:///var/run/docker.sock", "a text");
	is_int((long)settings.stall, 120, "a number");
	ok(!settings.key && !settings.ipmi && !settings.devices,
	   "and nothing where there is none");
}

static void precedence(void)
{
	char *argv[] = { T("agent"), T("--config"), file, T("--stall=4"),
			 NULL };
	char *variables[] = { T("REGATTA_AGENT_STALL=3"),
			      T("REGATTA_AGENT_CLUSTER=variable"),
			      T("REGATTA_AGENT_ADDRESS="),
			      T("REGATTA_AGENT_IPMI=true"), NULL };
	struct agent_settings settings, other;
	char names[CONFIG_NAMES_BYTES];
	owned(config_free) struct config *config = NULL;
	struct error err = { 0 };

	write_file("stall: 2\ncluster: file\naddress: file\n"
		   "vendor: file\nverbose: true\n");
	ok(read_agent(argv, variables, &settings, &config, &err) == 0,
	   "all four places are read %s", err.text);
	is_int((long)settings.stall, 4, "the command line comes first");
	is(settings.cluster, "variable", "then the environment");
	is(settings.address, "file",
	   "then the file; an empty variable is none");
	is(settings.vendor, "file", "of which all is taken");
	ok(settings.common.verbose && settings.ipmi, "flags too");
	is(settings.engine, "unix:///var/run/docker.sock", "then the default");
	other = settings;
	other.common.verbose = false;
	ok(!config_changes(&agent_program, &settings, &other, names),
	   "nothing changed that matters");
	other.stall++;
	other.engine = "x";
	other.key = "y";
	other.ipmi = false;
	ok(config_changes(&agent_program, &settings, &other, names),
	   "what changed is told");
	is(names, "key, engine, stall, ipmi", "by name");
}

/* DOCKER_HOST is for every program that speaks to an engine. */
static void other_variable(void)
{
	char *argv[] = { T("agent"), T("--config"), file, NULL };
	char *variables[] = { T("DOCKER_HOST=unix:///docker"), NULL };
	char *own[] = { T("DOCKER_HOST=unix:///docker"),
			T("REGATTA_AGENT_ENGINE=unix:///own"), NULL };
	struct agent_settings settings;
	owned(config_free) struct config *config = NULL;
	owned(config_free) struct config *second = NULL;
	owned(config_free) struct config *third = NULL;
	struct error err = { 0 };

	write_file("cluster: c\n");
	read_agent(argv, variables, &settings, &config, &err);
	is(settings.engine, "unix:///docker",
	   "DOCKER_HOST goes before the default");
	read_agent(argv, own, &settings, &second, &err);
	is(settings.engine, "unix:///own", "the agent's own goes before that");
	write_file("engine: unix:///file\n");
	read_agent(argv, variables, &settings, &third, &err);
	is(settings.engine, "unix:///file", "and so does the file");
}

static void paths(void)
{
	char *argv[] = { T("agent"),  T("--config"), file,
			 T("--init"), T("here"),     NULL };
	struct agent_settings settings;
	owned(config_free) struct config *config = NULL;
	struct error err = { 0 };
	char want[100];

	write_file("key: n1.key\nstate: /state\ncontroller_key: c.public\n"
		   "policy: any\nimages: ./images\n");
	ok(read_agent(argv, NULL, &settings, &config, &err) == 0, "paths %s",
	   err.text);
	snprintf(want, sizeof(want), "%s/n1.key", folder);
	is(settings.key, want, "one in the file begins at its folder");
	is(settings.state, "/state", "an absolute one stays");
	snprintf(want, sizeof(want), "%s/c.public", folder);
	is(settings.controller_key, want, "a key may be a file");
	is(settings.policy, "any", "a word is no path");
	is(settings.init, "here", "one on the command line stays");
	config_free(take(config));
	write_file("controller_key: \"rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"
		   "\"\n");
	ok(read_agent(argv, NULL, &settings, &config, &err) == 0 &&
		   settings.controller_key[0] == 'r',
	   "or the key itself");
}

static void refused(const char *text, const char *want)
{
	char *argv[] = { T("agent"), T("--config"), file, NULL };
	struct agent_settings settings;
	struct config *config = NULL;
	struct error err = { 0 };
	char sentence[400];

	write_file(text);
	snprintf(sentence, sizeof(sentence), "%s%s", file, want);
	ok(read_agent(argv, NULL, &settings, &config, &err) < 0 &&
		   err.code == EINVAL &&
		   !strncmp(err.text, sentence, strlen(sentence)),
	   "%s", err.text);
	config_free(config);
}

static void wrong(void)
{
	char *none[] = { T("agent"), T("--config"), T("/no/file"), NULL };
	char *other[] = { T("agent"), T("--config"), T("/dev/null"), T("x"),
			  NULL };
	char *variables[] = { T("REGATTA_AGENT_DEVICES=65"), NULL };
	struct agent_settings settings;
	struct config *config = NULL;
	struct error err = { 0 };

	refused("stal: 3\n", ":1: stal: unknown key");
	refused("\nstall: x\n",
		":2: stall: 'x' is not valid here; expected 1 to 86400");
	refused("stall: [1]\n", ":1: stall: ");
	refused("ipmi: yes\n",
		":1: ipmi: 'yes' is not valid here; expected true or false");
	refused("config: x\n", ":1: config: unknown key");
	refused("parent_fd: 3\n", ":1: parent_fd: unknown key");
	refused("- a\n", ":1: ");
	refused("key: \"\"\n", ":1: key: ");
	refused("stall: 1\nstall: 2\n", ":2: ");
	ok(read_agent(none, NULL, &settings, &config, &err) < 0 &&
		   err.code == ENOENT && strstr(err.text, "/no/file"),
	   "a file that is named must be there: %s", err.text);
	ok(read_agent(other, NULL, &settings, &config, &err) < 0,
	   "other words are refused: %s", err.text);
	other[3] = NULL;
	ok(read_agent(other, variables, &settings, &config, &err) < 0 &&
		   !strncmp(err.text, "REGATTA_AGENT_DEVICES: '65'", 27),
	   "a variable is named: %s", err.text);
	other[1] = T("--help");
	ok(read_agent(other, variables, &settings, &config, &err) == 0 &&
		   settings.common.help && !settings.common.version,
	   "help is read, and then nothing");
	config_free(config);
}

static void controllers_key(void)
{
	char *argv[] = { T("controller"), T("--config"), T("/dev/null"), NULL };
	char *variables[] = { T("REGATTA_CONTROLLER_KEY=public"),
			      T("REGATTA_CONTROLLER=tcp://x:1"),
			      T("REGATTA_CONTROLLER_KEYS=keys"), NULL };
	struct controller_settings settings;
	owned(config_free) struct config *config = NULL;
	struct error err = { 0 };

	ok(config_read(&controller_program, 3, argv, variables, &settings,
		       &config, &err) == 0 &&
		   !settings.key && !strcmp(settings.keys, "keys"),
	   "the variable of people's public key is not the daemon's secret "
	   "one");
}

/* Every option has words, and its own name and place. */
static void tables(const struct config_program *program)
{
	for (const struct option_rule *rule = program->rules; rule->name;
	     rule++) {
		for (const struct option_rule *other = rule + 1; other->name;
		     other++)
			if (!strcmp(rule->name, other->name) ||
			    rule->offset == other->offset)
				ok(false, "%s and %s differ", rule->name,
				   other->name);
		if (!rule->help || (rule->kind != OPTION_FLAG &&
				    rule->kind != OPTION_LAST && !rule->value))
			ok(false, "%s: has help", rule->name);
	}
	ok(true, "%s: the table is sound", program->name);
}

static void policy_refused(const char *text, const char *want)
{
	struct error err = { 0 };
	owned(policy_free) struct policy *policy =
		policy_parse(text, strlen(text), "p", &err);

	ok(!policy && err.code == EINVAL &&
		   !strncmp(err.text, want, strlen(want)),
	   "%s", policy ? text : err.text);
}

static void policies(void)
{
	policy_refused("mount: []", "p:1: mount: unknown key");
	policy_refused("mounts: {}", "p:1: mounts: ");
	policy_refused("mounts: [{host: data}]",
		       "p:1: mounts[0].host: \"data\" is not valid here; "
		       "expected an absolute path");
	policy_refused("mounts: [{write: true}]", "p:1: mounts[0]: host is");
	policy_refused("mounts: [{host: /a, read_only: true}]",
		       "p:1: mounts[0].read_only: unknown key");
	policy_refused("mounts: [{host: /a, suid: true}]",
		       "p:1: mounts[0].suid: true is valid only with write: "
		       "true");
	policy_refused("limits: {pids: 1}", "p:1: limits.pids: \"1\"");
	policy_refused("limits: {pids: 5000000}", "p:1: limits.pids: ");
	policy_refused("network: [hosts]", "p:1: network[0]: ");
	policy_refused("capabilities: [ptrace]", "p:1: capabilities[0]: ");
	policy_refused("capabilities: [ALL]", "p:1: capabilities[0]: ");
	policy_refused("ulimits: {memlok: 1}", "p:1: ulimits.memlok: ");
	policy_refused("ulimits: {memlock: -1}",
		       "p:1: ulimits.memlock: \"-1\" is not valid here; "
		       "expected a number up to 2^49, or unlimited");
	policy_refused("limits: {memory: 1}", "p:1: limits.memory: ");
	policy_refused("limits: {cpus: 0}", "p:1: limits.cpus: ");
	policy_refused("users: me", "p:1: users: ");
	policy_refused("pinned: 1", "p:1: pinned: ");
}

static void short_memory(void)
{
	static const char text[] =
		"users: [a, b]\nmounts: [{host: /a}, {host: /b, write: true}]\n"
		"ulimits: {core: 1}\nlimits: {memory: 8G}\n";
	bool good = true, failed = true;
	long n;

	for (n = 1; failed; n++) {
		struct error err = { 0 };
		struct policy *policy;

		fault_arm(n);
		policy = policy_parse(text, sizeof(text) - 1, "p", &err);
		failed = fault_disarm();
		good &= failed ? !policy && err.code == ENOMEM : !!policy;
		policy_free(policy);
	}
	ok(good && n > 20,
	   "policy: whichever of %ld allocations fails, it is an error", n);
	write_file("key: n1.key\nstate: s\nstall: 3\n");
	for (n = 1, failed = true; failed; n++) {
		struct agent_settings settings;
		struct config *config = NULL;
		struct error err = { 0 };
		int rc;

		fault_arm(n);
		rc = config_read_file(&agent_program, file, &settings, &config,
				      &err);
		failed = fault_disarm();
		good &= failed ? rc < 0 && err.code == ENOMEM && !config
			       : rc == 0;
		config_free(config);
	}
	ok(good && n > 10,
	   "settings: whichever of %ld allocations fails, it is an error", n);
}

int main(void)
{
	tap_begin(60);
	if (!mkdtemp(folder))
		abort();
	snprintf(file, sizeof(file), "%s/agent.yaml", folder);
	defaults();
	precedence();
	other_variable();
	paths();
	wrong();
	controllers_key();
	tables(&agent_program);
	tables(&controller_program);
	policies();
	short_memory();
	unlink(file);
	rmdir(folder);
	return tap_done();
}
