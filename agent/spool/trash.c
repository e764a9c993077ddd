/* trash.c - removes what tasks leave, without keeping anybody waiting.
 */
#include "agent/spool/trash.h"
#include "agent/init/init.h"
#include "protocol/base/log.h"
#include "protocol/base/subprocess.h"

#include <errno.h>
#include <stdlib.h>

#define LIMIT_MS 3600000 /* then it begins again */

struct trash {
	sd_event *loop;
	const char *folder, *init_program;
	struct subprocess *child; /* NULL: nothing is being removed */
	bool again;               /* more came meanwhile */
};

struct trash *trash_new(sd_event *loop, const char *folder,
			const char *init_program, struct error *err)
{
	struct trash *trash = error_calloc(sizeof(*trash), "trash", err);

	if (trash)
		*trash = (struct trash){ .loop = loop,
					 .folder = folder,
					 .init_program = init_program };
	return trash;
}

void trash_free(struct trash *trash)
{
	if (!trash)
		return;
	subprocess_cancel(trash->child);
	free(trash);
}

/* subprocess_done_fn */
static void trash_emptied(void *arg, const struct error *err,
			  const struct subprocess_output *output)
{
	struct trash *trash = arg;

	trash->child = NULL;
	if (err && err->code != ETIMEDOUT)
		log_warning("%s is not removed: %s", trash->folder, err->text);
	else if (output && output->exit_code)
		log_warning("%s is not removed: %s", trash->folder,
			    output->complaint);
	if (trash->again || (err && err->code == ETIMEDOUT))
		trash_empty(trash);
}

void trash_empty(struct trash *trash)
{
	char *words[] = { trash ? (char *)trash->init_program : NULL,
			  (char *)INIT_EMPTY,
			  trash ? (char *)trash->folder : NULL };
	const struct strings argv = { words, 3 };
	const struct subprocess_command command = {
		.argv = &argv,
		.timeout_ms = LIMIT_MS,
		.output_max = 1,
	};
	struct error err;

	if (!trash)
		return;
	trash->again = trash->child;
	if (trash->child)
		return;
	trash->child = subprocess_run(trash->loop, &command, trash_emptied,
				      trash, &err);
	if (!trash->child)
		log_warning("%s is not removed: %s", trash->folder, err.text);
}
