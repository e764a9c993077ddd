/* notify.h - tells a URL or a command what became of a sweep.
 */
#pragma once

#include "controller/cli/cli.h"

enum notice {
	NOTICE_END,        /* all jobs have ended */
	NOTICE_FAILURE,    /* the first one failed */
	NOTICE_REGRESSION, /* a requirement is not met, or a rate fell */
};

/* Send it to an http:// or https:// address, as a POST by curl(1), else to a
 * command of the shell, with REGATTA_EVENT, REGATTA_SWEEP and REGATTA_TEXT in
 * its environment. Both get
 *
 *	{"text": "sweep 3, nightly: 8 of 8 jobs completed", "event": "end",
 *	 "sweep": 3}
 *
 * "text" is what chat services show of a webhook. target NULL: nothing. name:
 * of the sweep, or NULL. Waits for at most 10 seconds; what fails is said, and
 * ignored.
 */
void notify_send(struct cli *cli, const char *target, enum notice notice,
		 uint64_t sweep, const char *name, const char *text);

/* Of an options struct with this member. */
/* clang-format off */
#define OPTION_NOTIFY(options) \
	{ OPTION(options, "notify", 0, OPTION_TEXT, notify, "URL|COMMAND"), \
	  .help = "tell it the end, the first failure, or a regression" }
/* clang-format on */
