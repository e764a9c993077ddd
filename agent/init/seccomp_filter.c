/* seccomp_filter.c - no process of a container makes a file that gives rights.
 */
#include "agent/init/seccomp_filter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#define DENY SCMP_ACT_ERRNO(EPERM)
#define LACK SCMP_ACT_ERRNO(ENOSYS)
#define TMPFILE_FLAG (O_TMPFILE & ~O_DIRECTORY)

/* The same on every architecture (Linux 6.6); libseccomp before 2.5.5 does not
 * know it. x32 has a bit set above the number.
 */
#define FCHMODAT2 452
#define X32_BIT 0x40000000U

static const unsigned int sxid[] = { S_ISUID, S_ISGID };
#define SXID (sizeof(sxid) / sizeof(sxid[0]))

/* Calls with a mode. flags: the argument that says whether the mode counts, or
 * NONE.
 */
enum { NONE = -1 };
static const struct {
	int call;
	int mode, flags; /* which argument */
} calls[] = {
	{ SCMP_SYS(chmod), 1, NONE },    { SCMP_SYS(fchmod), 1, NONE },
	{ SCMP_SYS(fchmodat), 2, NONE }, { SCMP_SYS(creat), 1, NONE },
	{ SCMP_SYS(mknod), 1, NONE },    { SCMP_SYS(mknodat), 2, NONE },
	{ SCMP_SYS(open), 2, 1 },        { SCMP_SYS(openat), 3, 2 },
};
#define CALLS (sizeof(calls) / sizeof(calls[0]))

static struct scmp_arg_cmp has_bits(int argument, unsigned int bits)
{
	return (struct scmp_arg_cmp){ (unsigned int)argument,
				      SCMP_CMP_MASKED_EQ, bits, bits };
}

static struct scmp_arg_cmp is_type(int argument, unsigned int type)
{
	return (struct scmp_arg_cmp){ (unsigned int)argument,
				      SCMP_CMP_MASKED_EQ, S_IFMT, type };
}

/* All return 0, or a negative errno value. */

static int add_modes(scmp_filter_ctx filter)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < CALLS; i++) {
		for (size_t j = 0; !rc && j < SXID; j++) {
			struct scmp_arg_cmp mode =
				has_bits(calls[i].mode, sxid[j]);

			if (calls[i].flags == NONE) {
				rc = seccomp_rule_add(filter, DENY,
						      calls[i].call, 1, mode);
				continue;
			}
			rc = seccomp_rule_add(filter, DENY, calls[i].call, 2,
					      has_bits(calls[i].flags, O_CREAT),
					      mode);
			if (!rc)
				rc = seccomp_rule_add(filter, DENY,
						      calls[i].call, 2,
						      has_bits(calls[i].flags,
							       TMPFILE_FLAG),
						      mode);
		}
	}
	return rc;
}

static int filter_deny_devices(scmp_filter_ctx filter)
{
	static const unsigned int types[] = { S_IFCHR, S_IFBLK };
	int rc = 0;

	for (size_t i = 0; !rc && i < 2; i++) {
		rc = seccomp_rule_add(filter, DENY, SCMP_SYS(mknod), 1,
				      is_type(1, types[i]));
		if (!rc)
			rc = seccomp_rule_add(filter, DENY, SCMP_SYS(mknodat),
					      1, is_type(2, types[i]));
	}
	return rc;
}

static int add_hidden(scmp_filter_ctx filter)
{
	int rc = seccomp_rule_add(filter, LACK, SCMP_SYS(openat2), 0);

	return rc ? rc
		  : seccomp_rule_add(filter, LACK, SCMP_SYS(io_uring_setup), 0);
}

/* A call of an architecture without rules would kill its process. */
static int add_architectures(scmp_filter_ctx filter)
{
	static const struct {
		uint32_t native, other;
	} pairs[] = {
		{ SCMP_ARCH_X86_64, SCMP_ARCH_X86 },
		{ SCMP_ARCH_X86_64, SCMP_ARCH_X32 },
		{ SCMP_ARCH_AARCH64, SCMP_ARCH_ARM },
	};
	int rc = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, LACK);

	for (size_t i = 0; !rc && i < sizeof(pairs) / sizeof(pairs[0]); i++)
		if (seccomp_arch_native() == pairs[i].native)
			rc = seccomp_arch_add(filter, pairs[i].other);
	return rc;
}

static int install_rules(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
	int rc = filter ? add_architectures(filter) : -ENOMEM;

	/* Kernels before 5.16 slow down filtered processes by default. */
	if (!rc)
		rc = seccomp_attr_set(filter, SCMP_FLTATR_CTL_SSB, 1);
	if (!rc)
		rc = add_modes(filter);
	if (!rc)
		rc = filter_deny_devices(filter);
	if (!rc)
		rc = add_hidden(filter);
	if (!rc)
		rc = seccomp_load(filter);
	seccomp_release(filter);
	return rc;
}

/* The call is filtered by its number. seccomp_load() has set no_new_privs. */
static int install_fchmodat2(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, ~X32_BIT),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FCHMODAT2, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {
		.len = sizeof(code) / sizeof(code[0]),
		.filter = code,
	};

	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0 ? -errno
									: 0;
}

int seccomp_filter_install(struct error *why)
{
	int rc = install_rules();

	if (!rc)
		rc = install_fchmodat2();
	if (!rc)
		return 0;
	errno = -rc;
	return error_errno(why, "seccomp filter");
}
