/* seccomp_filter.h - no process of a container makes a file that gives rights.
 *
 * A container whose root may write to a folder of the host could leave a setuid
 * program there, for any user of the host to run, or a device node. Under this
 * filter it cannot, whatever its user and capabilities:
 *
 *	chmod, fchmod, fchmodat, open, openat, creat, mknod, mknodat with a
 *	mode that has the setuid or the setgid bit		EPERM
 *	mknod, mknodat of a character or block device		EPERM
 *	openat2, fchmodat2, io_uring_setup			ENOSYS
 *
 * A filter cannot see the mode of the last three, so programs get ENOSYS and
 * fall back on the others. The same rules hold for 32-bit programs, and on
 * x86-64 for x32 programs.
 *
 * Sources: seccomp(2); systemd.exec(5), "RestrictSUIDSGID".
 */
#pragma once

#include "protocol/base/error.h"

/* Install the filter for this process and all processes that it starts. None
 * can remove it, or gain rights by execve(2) (no_new_privs). -1 with *why: the
 * kernel has no seccomp; then no command may run.
 */
int seccomp_filter_install(struct error *why);
