/* pod_driver.h - the engine of an agent in a pod of Kubernetes: file operations
 * on the volume that it shares with the main container.
 *
 * The main container runs `regatta-init pod FOLDER` (agent/init/init.h) in the
 * benchmark's image. It is the only container, and runs one command:
 *
 *	create	its spool folder may be entered by any user of the image
 *	start	links FOLDER/in and FOLDER/out to that spool folder, and moves
 *		the code tree to FOLDER/work; regatta-init goes on
 *	stop	SIGTERM to regatta-init, and SIGKILL after the grace
 *	wait	until regatta-init is gone
 *	remove	SIGKILL, if it lives
 *
 * Until regatta-init pod runs, the engine is away, so that no job goes to a pod
 * whose image is still being pulled. The images are what the pod has: each that
 * is asked for. What a container may do is decided by the pod, so nothing of a
 * create body but its folders counts.
 */
#pragma once

#include "agent/docker/engine.h"

/* The setting `engine` that means this one: "pod:/FOLDER". */
#define POD_ENGINE "pod:"

/* Is it that setting? */
bool pod_engine_named(const char *host);

/* The program that runs a command in the main container (agent/init/pod.h), in
 * PATH_MAX bytes.
 */
void pod_engine_launcher(const char *host, char *path);

/* host: as above; copied. */
struct engine *pod_engine_new(sd_event *loop, const char *host,
			      struct error *err);
