/* follow.c - runs the agents of an allocation for a run that another allocation
 * leads.
 */
#include "controller/cli/run/follow.h"
#include "controller/cli/run/session.h"

#include <errno.h>

#define LOOK_US 1000000

/* Have the controller accept the agents of this allocation's nodes. */
static int agents_admit(const struct follower *follow, struct client *client,
			struct error *err)
{
	const struct strings *nodes = &follow->setup->allocation.nodes;

	for (size_t i = 0; i < nodes->count; i++) {
		owned(answer_clear) struct answer answer = { 0 };
		struct message_admit message = { .name = nodes->items[i],
						 .role = (char *)"agent" };
		struct key key;

		if (folder_agent_key(&follow->setup->folder, nodes->items[i],
				     &key, err) < 0)
			return -1;
		message.public = key.public;
		/* EEXIST: the leader has an agent on that node, too. */
		if (client_call(client, MESSAGE_ADMIT, &message, &answer, err) <
			    0 &&
		    err->code != EEXIST)
			return -1;
	}
	return 0;
}

static int introduce(const struct follower *follow, struct error *err)
{
	const struct folder *folder = &follow->setup->folder;
	owned(client_free) struct client *client = NULL;
	char endpoint[256];

	if (folder_endpoint(folder, endpoint, err) < 0)
		return -1;
	client = session_client(follow->loop, folder, endpoint, err);
	return client ? agents_admit(follow, client, err) : -1;
}

/* Try to lead. 1: this allocation leads now. */
static int follower_take_over(const struct follower *follow, struct error *err)
{
	struct run_setup *setup = follow->setup;
	int rc = folder_lead(&setup->folder, setup->cli, err);

	if (rc <= 0)
		return rc;
	return folder_add_agents(&setup->folder, &setup->allocation.nodes,
				 err) < 0
		       ? -1
		       : 1;
}

static int pass_time(const struct follower *follow, struct error *err)
{
	int rc = sd_event_run(follow->loop, LOOK_US);

	return rc < 0 ? error_set(err, -rc, "event loop") : 0;
}

/* The agents return their tasks to the controller. */
static int follower_leave(const struct follower *follow, struct error *err)
{
	daemons_leave(follow->daemons);
	while (!*follow->left)
		if (pass_time(follow, err) < 0)
			return -1;
	return 0;
}

int follow_run(const struct follower *follow, int *code, struct error *err)
{
	const struct run_setup *setup = follow->setup;
	bool introduced = false;
	struct error why;

	cli_say(setup->cli, "this allocation joins the run in %s",
		setup->folder.path);
	*code = EXIT_INTERRUPTED;
	while (!*follow->interrupted && !*follow->left) {
		int rc = folder_outcome(&setup->folder);

		if (rc >= 0) {
			*code = rc;
			break;
		}
		rc = follower_take_over(follow, err);
		/* The leader before may have ended the sweep just now. */
		if (rc < 0 || (rc > 0 && folder_outcome(&setup->folder) < 0))
			return rc;
		if (rc > 0)
			continue;
		if (!introduced)
			introduced = introduce(follow, &why) == 0;
		if (pass_time(follow, err) < 0)
			return -1;
	}
	cli_say(setup->cli, "this allocation leaves the run in %s",
		setup->folder.path);
	return follower_leave(follow, err);
}
