/* call_stack.h - where a program stands, by what printed its stack.
 *
 * Read are Python's faulthandler, py-spy and gdb. Of several threads the main
 * one counts: the one that is called so, or current, else the last.
 */
#ifndef CONTROLLER_STACKS_CALL_STACK_H
#define CONTROLLER_STACKS_CALL_STACK_H

#include <stdbool.h>
#include <stddef.h>

#define CALL_STACK_SIZE 160

/* The innermost call, and the innermost one of the user's own files where that
 * is another.
 */
struct call_stack {
	char inner[64], file[64];
	char user[64], user_file[64];
	unsigned int line, user_line;
	bool main;  /* it is the thread that counts */
	bool ended; /* and another thread follows */
};

/* The next line; frames begin as zeros. false: it is none of a stack. */
bool call_stack_take(struct call_stack *frames, const char *line, size_t size);

/* "all_reduce < backward train.py:92", "load_batch train.py:57"; "" where there
 * was no frame.
 */
void call_stack_where(const struct call_stack *frames,
		      char where[CALL_STACK_SIZE]);

#endif
