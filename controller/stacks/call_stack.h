/* call_stack.h - reads call stacks that tools print.
 *
 * It reads the formats of Python's faulthandler, py-spy and gdb. Of several
 * threads the main one is used: the one with that name, or the current one,
 * else the last.
 */
#ifndef CONTROLLER_STACKS_CALL_STACK_H
#define CONTROLLER_STACKS_CALL_STACK_H

#include <stdbool.h>
#include <stddef.h>

#define CALL_STACK_SIZE 160

/* The innermost call, and, if it is another one, the innermost call in a file
 * of the user.
 */
struct call_stack {
	char inner[64], file[64];
	char user[64], user_file[64];
	unsigned int line, user_line;
	bool main;  /* it is the main thread */
	bool ended; /* another thread follows */
	bool fails; /* Python prints an exception that ends the program */
};

/* Read the next line; *frames starts as zeros. False: it is not part of a
 * stack.
 */
bool call_stack_take(struct call_stack *frames, const char *line, size_t size);

/* "all_reduce < backward train.py:92", "load_batch train.py:57"; "" without a
 * frame.
 */
void call_stack_where(const struct call_stack *frames,
		      char where[CALL_STACK_SIZE]);

#endif
