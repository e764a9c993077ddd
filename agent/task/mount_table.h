/* mount_table.h - the mounts of a process, by the kernel's word.
 *
 * Source: proc_pid_mountinfo(5).
 */
#pragma once

#include "protocol/base/error.h"
#include "protocol/base/owned.h"

#include <limits.h>
#include <stdbool.h>

#define MOUNT_TABLE_BYTES (8 << 20) /* a node with 10,000 containers */

struct mount_row {
	int id, parent;
	const char *device;  /* "MAJOR:MINOR" of the file system */
	const char *root;    /* the folder of the file system that is mounted */
	const char *point;   /* where, seen from the process's root */
	const char *type;    /* of the file system; "": not known */
	const char *options; /* "SOURCE OPTION,..." of the file system */
	bool read_only;      /* this mount; the file system may be, too */
};

struct mount_table {
	char *text; /* the rows point into it */
	struct mount_row *rows;
	size_t count;
};

/* process: a descriptor of /proc/PID. EPROTO: it is not as the page says. */
int mount_table_read(int process, struct mount_table *table, struct error *err);
void mount_table_clear(struct mount_table *table);
OWNED_VALUE(struct mount_table, mount_table_clear)

const struct mount_row *mount_table_row(const struct mount_table *table,
					int id);

/* The folder of the node that has what the process's root got beside its image:
 * overlayfs's upper one. NULL: it is not known.
 */
char *mount_table_layer(const struct mount_table *table);

/* Where an open file lies in its file system: the row of the mount, and root,
 * of PATH_MAX bytes, as a bind mount of the file has it. own: the table of this
 * process. NULL: it lies in no mount of the table, or its path is too long.
 */
const struct mount_row *mount_table_place(const struct mount_table *own, int fd,
					  char *root);
