/* stack_tools.c - programs that print where a process stands: stacks.yaml.
 */
#include "agent/evidence/stack_tools.h"
#include "agent/devices/sysfs.h"
#include "protocol/hardware/expression.h"
#include "protocol/yaml/document.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TOOLS_MAX 16
#define WORDS_MAX 64
#define WORD_MAX 512
#define NAME_MAX_BYTES 80

struct stack_tool {
	const char *name;
	struct expression *match; /* NULL: it fits every process */
	struct strings command;
	bool stops;
};

struct stack_tools {
	struct document *document; /* owns the names */
	struct stack_tool list[TOOLS_MAX];
	size_t count;
};

static int read_words(const struct value *list, struct strings *words,
		      struct error *err)
{
	const char *word;

	if (value_expect(list, VALUE_LIST, err) < 0)
		return -1;
	if (!value_count(list) || value_count(list) > WORDS_MAX)
		return value_error(list, err, "expected 1 to %d words",
				   WORDS_MAX);
	for (size_t i = 0; i < value_count(list); i++)
		if (value_string(value_at(list, i), WORD_MAX, &word, err) < 0 ||
		    strings_add(words, word, err) < 0)
			return -1;
	return 0;
}

static int read_tool(const struct value *entry, struct stack_tool *tool,
		     struct error *err)
{
	static const char *const keys[] = { "name", "match", "command", "stops",
					    NULL };
	const struct value *name = value_get(entry, "name");
	const struct value *match = value_get(entry, "match");
	const struct value *command = value_get(entry, "command");
	const struct value *stops = value_get(entry, "stops");

	if (value_check_keys(entry, keys, err) < 0)
		return -1;
	if (!name || !command)
		return value_error(entry, err,
				   "a tool needs a name and a command");
	if (value_string(name, NAME_MAX_BYTES, &tool->name, err) < 0 ||
	    read_words(command, &tool->command, err) < 0 ||
	    (stops && value_bool(stops, &tool->stops, err) < 0))
		return -1;
	tool->match = match ? expression_new(match, err) : NULL;
	return match && !tool->match ? -1 : 0;
}

static int read_all(struct stack_tools *tools, const struct value *root,
		    struct error *err)
{
	static const char *const keys[] = { "tools", NULL };
	const struct value *list = value_get(root, "tools");

	if (value_check_keys(root, keys, err) < 0 ||
	    (list && value_expect(list, VALUE_LIST, err) < 0))
		return -1;
	if (list && value_count(list) > TOOLS_MAX)
		return value_error(list, err, "more than %d tools", TOOLS_MAX);
	for (size_t i = 0; list && i < value_count(list); i++)
		if (read_tool(value_at(list, i), &tools->list[tools->count++],
			      err) < 0)
			return -1;
	return 0;
}

struct stack_tools *stack_tools_read(const char *path, struct error *err)
{
	owned(stack_tools_free) struct stack_tools *tools =
		calloc(1, sizeof(*tools));

	if (!tools) {
		error_nomem(err, "stack tools");
		return NULL;
	}
	if (access(path, F_OK) < 0 && errno == ENOENT)
		return take(tools);
	tools->document = document_read(path, NULL, err);
	if (!tools->document ||
	    read_all(tools, document_root(tools->document), err) < 0)
		return NULL;
	return take(tools);
}

void stack_tools_free(struct stack_tools *tools)
{
	if (!tools)
		return;
	for (size_t i = 0; i < tools->count; i++) {
		expression_free(tools->list[i].match);
		strings_clear(&tools->list[i].command);
	}
	document_free(tools->document);
	free(tools);
}

/* Its number in the innermost namespace; the same where that is ours. */
static pid_t number_inside(pid_t pid)
{
	owned(buffer_clear) struct buffer text;
	owned_free char *numbers = NULL;
	const char *last;

	buffer_init(&text, 16384);
	if (sysfs_text(&text, "/proc", "%d/status", (int)pid))
		numbers = sysfs_line(text.data, "NSpid", ':');
	if (!numbers)
		return pid;
	last = strrchr(numbers, '\t');
	return (pid_t)strtol(last ? last + 1 : numbers, NULL, 10);
}

static int add_word(struct strings *argv, const char *word, pid_t pid)
{
	if (!strcmp(word, "${pid}"))
		return strings_printf(argv, NULL, "%d", (int)pid);
	if (!strcmp(word, "${inside}"))
		return strings_printf(argv, NULL, "%d",
				      (int)number_inside(pid));
	return strings_add(argv, word, NULL);
}

bool stack_tools_command(const struct stack_tools *tools, size_t *next,
			 pid_t pid, const char *command, bool stops,
			 const char **name, struct strings *argv)
{
	for (; *next < tools->count; (*next)++) {
		const struct stack_tool *tool = &tools->list[*next];

		if ((tool->stops && !stops) ||
		    (tool->match &&
		     expression_match(tool->match, command, strlen(command),
				      EXPRESSION_ANYWHERE, NULL) != 1))
			continue;
		(*next)++;
		*name = tool->name;
		for (size_t i = 0; i < tool->command.count; i++)
			if (add_word(argv, tool->command.items[i], pid) < 0)
				return false;
		return true;
	}
	return false;
}
