/* count.h - counts what a task keeps on the disks of its node.
 *
 * Run by the agent on the host, with its rights, as `regatta-init count FOLDER
 * PID MOST [VOLUME...]`. FOLDER: of the task in the spool. PID: process 1 of
 * its container; 0: not known. VOLUME: a folder that the engine made for a
 * VOLUME line of its image. It prints a line, "OWN FILES OUT":
 *
 *	OWN	bytes of its code tree, FOLDER/work, of its volumes, and of
 *		files without a name there and in the container's own layer
 *	FILES	files and folders of the code tree, of volumes and of the layer,
 *		and files without a name; more than MOST ends the count
 *	OUT	bytes of files without a name in its output, FOLDER/out
 *
 * A file without a name (O_TMPFILE, or removed while it is open) lasts as long
 * as a process has it open or mapped, so it is found there: by each descriptor
 * table and each mapping of the processes in the container's cgroup. Such a
 * file is not seen while its only descriptor is on its way between sockets.
 * The layer is what overlayfs calls upperdir; its bytes are the engine's to
 * count. Source: proc_pid_fd(5), proc_pid_map_files(5), cgroups(7).
 */
#pragma once

#define COUNT_DEPTH_MAX 256 /* deeper folders are more than MOST */

/* volumes: ends with NULL. The exit code. */
int count_main(const char *folder, const char *pid, const char *most,
	       char *const *volumes);
