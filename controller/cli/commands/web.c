/* web.c - web: prints a login address for the web pages.
 */
#include "controller/cli/command.h"
#include "controller/cli/run/session.h"
#include "protocol/base/local_address.h"
#include "protocol/base/program.h"
#include "protocol/message/query.h"
#include "protocol/message/reply_access.h"

#include <string.h>

/* Pages without TLS are for the controller's machine, and a tunnel to it. */
static void web_tell_tunnel(struct cli *cli, const char *address)
{
	struct connection connection;
	char at[300], host[300];
	const char *port;

	if (!local_address_only(address) ||
	    settings_connection(cli->environment, cli->options, &connection,
				NULL) < 0 ||
	    strncmp(connection.endpoint, "tcp://", 6) != 0 ||
	    local_address_only(connection.endpoint))
		return;
	snprintf(at, sizeof(at), "%.255s", strstr(address, "://") + 3);
	at[strcspn(at, "/")] = 0;
	snprintf(host, sizeof(host), "%.255s", connection.endpoint + 6);
	port = strrchr(at, ':');
	if (strrchr(host, ':'))
		*strrchr(host, ':') = 0;
	if (port)
		cli_say(cli,
			"unless this is the controller's machine, run first: "
			"ssh -N -L %s:%s %s",
			port + 1, at, host);
}

static int web_command(struct cli *cli, struct error *err)
{
	owned(answer_clear) struct answer answer = { 0 };
	struct message_query query = { .what = QUERY_WEB };
	const struct reply_web *reply;

	if (session_query(cli, &query, &answer, err) < 0)
		return -1;
	reply = answer.reply;
	fprintf(cli->out, "%s\n", reply->address);
	web_tell_tunnel(cli, reply->address);
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
