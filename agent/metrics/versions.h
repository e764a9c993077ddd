/* versions.h - the versions of the vendor's driver and software on this
 * node.
 *
 * The profile has the rules (`versions` in regatta-profile(5)): files and
 * tools, of which the first that gives a version counts. A tool that two
 * consecutive rules use runs once.
 */
#pragma once

#include "protocol/hardware/profile.h"

#include <sched.h>
#include <systemd/sd-event.h>

#define VERSION_SIZE 64 /* bytes, with the 0; longer ones are cut */

/* "": not known. */
struct versions {
	char driver[VERSION_SIZE];
	char sdk[VERSION_SIZE];
};

/* From the loop, once. */
typedef void versions_fn(void *arg, const struct versions *versions);

/* Does the profile have rules? It may be NULL. */
bool versions_rules(const struct profile *profile);

/* Apply the rules. profile, roots and cpus (where tools run; NULL: anywhere)
 * are borrowed until done() has run. A rule that fails gives no version. NULL
 * with ENOMEM, and done() never runs.
 */
struct version_query;
struct version_query *versions_ask(sd_event *loop,
				   const struct profile *profile,
				   const struct sysroot *roots,
				   const cpu_set_t *cpus, versions_fn *done,
				   void *arg, struct error *err);

/* done() does not run. NULL is fine. */
void versions_cancel(struct version_query *query);
OWNED_POINTER(struct version_query, versions_cancel)
