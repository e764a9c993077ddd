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
 * The last three take the mode where a filter cannot see it, or come after
 * what it knows; programs fall back on the others. 32-bit programs, and on
 * x86-64 those of x32, are under the same rules.
 *
 * Sources: seccomp(2); systemd.exec(5), "RestrictSUIDSGID".
 */
#ifndef AGENT_INIT_SECCOMP_FILTER_H
#define AGENT_INIT_SECCOMP_FILTER_H

#include "agent/init/start_error.h"

/* Put the filter on this process and on all that it starts from now on; none
 * of them can take it off, or gain rights by execve(2) (no_new_privs). -1 with
 * *why: the kernel has no seccomp; then no command may run.
 */
int seccomp_filter_install(struct start_error *why);

#endif
