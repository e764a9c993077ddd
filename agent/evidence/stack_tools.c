/* stack_tools.c - programs that print the stack of a process: stacks.yaml.
 */
#include "agent/evidence/stack_tools.h"
#include "agent/devices/sysfs.h"
#include "protocol/hardware/map_reader.h"
#include "protocol/yaml/document.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct stack_tool {
	const char *name;
	struct expression *match; /* NULL: it fits every process */
	struct strings command;
	bool stops, inside;
};

struct stack_tools {
	struct document *document; /* owns the names */
	struct stack_tool *tools;
	size_t tools_count;
};

static const struct map_field tool_fields[] = {
	MAP_NEEDED("name", read_text, stack_tool, name),
	MAP_FIELD("match", read_expression, stack_tool, match),
	MAP_NEEDED("command", read_argv, stack_tool, command),
	MAP_FIELD("stops", read_flag, stack_tool, stops),
	MAP_FIELD("inside", read_flag, stack_tool, inside),
	{ 0 }
};

static const struct map_field file_fields[] = {
	MAP_ITEMS("tools", tool_fields, NULL, stack_tools, tools), { 0 }
};

struct stack_tools *stack_tools_read(const char *path, struct error *err)
{
	owned(stack_tools_free) struct stack_tools *tools =
		calloc(1, sizeof(*tools));

	if (!tools)
		return error_null(error_nomem(err, "stack tools"));
	if (access(path, F_OK) < 0 && errno == ENOENT)
		return take(tools);
	tools->document = document_read(path, NULL, err);
	if (!tools->document || map_read(document_root(tools->document),
					 file_fields, tools, err) < 0)
		return NULL;
	return take(tools);
}

void stack_tools_free(struct stack_tools *tools)
{
	if (!tools)
		return;
	map_clear(file_fields, tools);
	document_free(tools->document);
	free(tools);
}

/* The number of the process in its innermost PID namespace. */
static pid_t number_inside(pid_t pid)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(16384);
	owned_free char *numbers = NULL;
	const char *last;

	if (sysfs_text(&text, "/proc", "%d/status", (int)pid))
		numbers = sysfs_line(text.data, "NSpid", ':');
	if (!numbers)
		return pid;
	last = strrchr(numbers, '\t');
	return (pid_t)strtol(last ? last + 1 : numbers, NULL, 10);
}

bool stack_tools_command(const struct stack_tools *tools, size_t *next,
			 pid_t pid, const char *command, bool stops,
			 struct stack_tool_command *out)
{
	for (; *next < tools->tools_count; (*next)++) {
		const struct stack_tool *tool = &tools->tools[*next];
		int number;

		if ((tool->stops && !stops) ||
		    (tool->match &&
		     expression_match(tool->match, command, strlen(command),
				      EXPRESSION_ANYWHERE, NULL) != 1))
			continue;
		(*next)++;
		number = (int)(tool->inside ? number_inside(pid) : pid);
		*out = (struct stack_tool_command){ .name = tool->name,
						    .inside = tool->inside };
		for (size_t i = 0; i < tool->command.count; i++) {
			const char *word = tool->command.items[i];

			if ((strcmp(word, "${pid}")
				     ? strings_add(&out->argv, word, NULL)
				     : strings_printf(&out->argv, NULL, "%d",
						      number)) < 0)
				return false;
		}
		return true;
	}
	return false;
}
