/* stack_tools.h - programs that print the stack of a process: stacks.yaml.
 *
 *	tools:
 *	  - name: py-spy	# for people
 *	    match: python	# PCRE2 over the process's command; optional
 *	    command: [py-spy, dump, --pid, "${pid}"]
 *	    stops: true		# it pauses the process; default false
 *	    inside: true	# it is the image's, run in the container, as
 *				# its user and with its rights; default false
 *
 * ${pid} is the process's number: on the node, or in the container for a tool
 * inside. The other tools are the node's own: they run as the agent, and must
 * start no program of the container.
 */
#pragma once

#include "protocol/base/strings.h"

#include <stdint.h>
#include <sys/types.h>

struct stack_tools;

/* Read a file. No file is an empty list. EINVAL names file and line. */
struct stack_tools *stack_tools_read(const char *path, struct error *err);
void stack_tools_free(struct stack_tools *tools);
OWNED_POINTER(struct stack_tools, stack_tools_free)

struct stack_tool_command {
	const char *name; /* borrowed */
	bool inside;
	struct strings argv;
};

/* The command of the first tool from *next on that fits the process; *next
 * moves behind it. stops: tools that pause the process are allowed. The caller
 * clears argv, also on failure. False: no further tool fits, or ENOMEM.
 */
bool stack_tools_command(const struct stack_tools *tools, size_t *next,
			 pid_t pid, const char *command, bool stops,
			 struct stack_tool_command *out);
