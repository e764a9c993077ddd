/* settings.c - any bytes as a file of settings, keys, credentials or patterns:
 * read and sound, or refused in words. The first byte of the input says which
 * file it is.
 */
#include "agent/devices/offered.h"
#include "agent/evidence/stack_tools.h"
#include "controller/access/controller_key.h"
#include "controller/causes/failure_patterns.h"
#include "protocol/config/agent.h"
#include "protocol/config/controller.h"
#include "protocol/registry/credential.h"
#include "protocol/wire/server_keys.h"
#include "tests/fuzz/fuzz.h"

#define ANCHOR "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"

static void program(const struct config_program *of, const char *path)
{
	void *first = calloc(1, of->size), *second = calloc(1, of->size);
	struct config *config = NULL, *again = NULL;
	struct error err = { 0 };
	char names[CONFIG_NAMES_BYTES];

	must(first && second);
	if (config_read_file(of, path, first, &config, &err) < 0)
		must_say(&err);
	else
		must(config_read_file(of, path, second, &again, &err) == 0 &&
		     !config_changes(of, first, second, names));
	config_free(config);
	config_free(again);
	free(first);
	free(second);
}

static void agent(const char *path)
{
	program(&agent_program, path);
}

static void controller(const char *path)
{
	program(&controller_program, path);
}

static void key_file(const char *path)
{
	struct error err = { 0 };
	struct key key;

	if (key_load(&key, path, &err) < 0)
		must_say(&err);
	else
		must(name_valid(key.name) && role_name(key.role) &&
		     key_text_valid(key.public) && key_text_valid(key.secret));
}

static void public_key(const char *path)
{
	char public[KEY_TEXT_SIZE];
	struct error err = { 0 };

	if (key_public(path, public, &err) < 0)
		must_say(&err);
	else
		must(key_text_valid(public));
}

static void rotated(const char *path)
{
	struct server_keys keys;
	struct error err = { 0 };

	if (server_keys_read(&keys, ANCHOR, path, &err) < 0)
		must_say(&err);
	must(!strcmp(keys.anchor, ANCHOR) && key_text_valid(keys.current));
	must(!keys.next[0] || key_text_valid(keys.next));
}

/* It is read under a name of its own, and written anew when its time came. */
static void own_keys(const char *path)
{
	static const struct key given = {
		.name = "c",
		.role = ROLE_CONTROLLER,
		.public = ANCHOR,
		.secret = "D:)Q[IlAW!ahhC2ac:9*A}h:p?([4%wOTJ%JR%cs"
	};
	char name[PATH_MAX];
	struct controller_key keys;
	struct error err = { 0 };

	snprintf(name, sizeof(name), "%s/controller.keys", fuzz_folder());
	must(rename(path, name) == 0);
	if (controller_key_open(&keys, &given, fuzz_folder(), 1000, &err) < 0)
		must_say(&err);
	else
		must(key_text_valid(keys.current.public) &&
		     key_text_valid(keys.current.secret));
	unlink(name);
}

static void tools(const char *path)
{
	struct error err = { 0 };
	struct stack_tools *read = stack_tools_read(path, &err);
	struct stack_tool_command tool = { 0 };
	size_t next = 0;

	if (!read)
		must_say(&err);
	while (read && stack_tools_command(read, &next, 17, "python3 train.py",
					   true, &tool)) {
		must(tool.name && tool.argv.count);
		strings_clear(&tool.argv);
	}
	strings_clear(&tool.argv);
	stack_tools_free(read);
}

static void processors(const char *path)
{
	struct buffer text;
	struct error err = { 0 };
	cpu_set_t cpus;

	buffer_init(&text, 65536);
	if (file_read(AT_FDCWD, path, &text, NULL) == 0 &&
	    cpu_list_parse(text.data, &cpus, &err) < 0)
		must_say(&err);
	buffer_clear(&text);
}

static void credentials(const char *path)
{
	struct error err = { 0 };
	struct strings registries = { 0 };

	if (credential_check(path, &err) < 0 ||
	    credential_registries(path, &registries, &err) < 0)
		must_say(&err);
	strings_clear(&registries);
}

static void failures(const char *path)
{
	struct error err = { 0 };
	struct failure_patterns *patterns = failure_patterns_read(path, &err);
	struct failure_hit hit;

	if (!patterns)
		must_say(&err);
	for (int kind = 0; patterns && kind < FAILURE_KINDS; kind++)
		failure_patterns_find(patterns, (enum failure_kind)kind, NULL,
				      "Error: the oar broke", 20, true, &hit);
	failure_patterns_free(patterns);
}

static void (*const files[])(const char *path) = {
	agent,    controller, key_file,   public_key,  rotated,
	own_keys, tools,      processors, credentials, failures,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size)
		files[data[0] % (sizeof(files) / sizeof(files[0]))](
			fuzz_file("file", data + 1, size - 1));
	return 0;
}
