/* web.c - web: prints a login address for the web pages.
 */
#include "controller/cli/command.h"
#include "controller/cli/run/session.h"
#include "protocol/base/program.h"
#include "protocol/message/query.h"
#include "protocol/message/reply_access.h"

static int web_command(struct cli *cli, struct error *err)
{
	owned(answer_clear) struct answer answer = { 0 };
	struct message_query query = { .what = QUERY_WEB };
	const struct reply_web *reply;

	if (session_query(cli, &query, &answer, err) < 0)
		return -1;
	reply = answer.reply;
	fprintf(cli->out, "%s\n", reply->address);
	return EXIT_GOOD;
}

/* clang-format off */
const struct command command_web = {
	.name = "web",
	.connects = true,
	.summary = "print a login address for the web pages",
	.help =
		"Prints an address of the controller's web pages "
		  "(regatta-controller --web). It is valid for ten minutes, "
		  "for one browser, which stays logged in for twelve hours.",
	.example = "xdg-open \"$(regatta web)\"",
	.fn = web_command,
};
/* clang-format on */
