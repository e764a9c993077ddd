/* pod.h - regatta-init in a pod of Kubernetes (agent/init/init.h): what it
 * installs, and the tools that it runs beside the command for the agent.
 */
#pragma once

#include "protocol/base/error.h"

/* install FOLDER: copy this program there, as regatta-init, ssh, scp and
 * INIT_TOOL; and make the folder of the code tree.
 */
int pod_install(const char *folder, struct error *err);

/* pod FOLDER: split in two. Returns 0 in the child, which is regatta-init; the
 * parent, the main process of the container, serves tools and ends with the
 * exit code of the child. Of the kubelet's SIGTERM the child hears only as long
 * as there is no `out`: the agent has one as well, and stops the command in its
 * time.
 */
int pod_split(const char *folder, const char *out, struct error *err);

/* Is the program's name INIT_TOOL? Then run the words in the main container,
 * once it is there: VARIABLE=VALUE..., then the command. Returns its exit code,
 * or 125. Else -1.
 */
int pod_tool_main(int argc, char **argv);
