/* rank_end.c - how the process of a rank ended that regatta-init started.
 */
#include "protocol/message/rank_end.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

/* The signal that a shell tells by this code of a command (sh(1)); 0: none. */
static int code_signal(uint32_t code)
{
	static const int told[] = { SIGHUP,  SIGINT,  SIGQUIT, SIGILL,
				    SIGTRAP, SIGABRT, SIGBUS,  SIGFPE,
				    SIGKILL, SIGSEGV, SIGPIPE, SIGTERM };

	for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++)
		if (code == 128U + (unsigned int)told[i])
			return told[i];
	return 0;
}

void rank_end_sentence(const struct rank_end *end, const char *what, char *text,
		       size_t size)
{
	int told = code_signal(end->exit_code);

	if (end->signal)
		snprintf(text, size, "%s %u was ended by signal %u (%s)", what,
			 end->rank, end->signal, strsignal((int)end->signal));
	else if (told)
		snprintf(text, size,
			 "%s %u exited with code %u, by which a shell tells "
			 "signal %d (%s)",
			 what, end->rank, end->exit_code, told,
			 strsignal(told));
	else
		snprintf(text, size, "%s %u exited with code %u", what,
			 end->rank, end->exit_code);
}
