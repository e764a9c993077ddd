/* seccomp_filter_test.c - what a command may do to modes below regatta-init.
 *
 * The command is this program itself, with the word "attempt": it tries each
 * way to a setuid file or a device node and prints a line for each.
 */
#include "protocol/base/file.h"
#include "tests/tap.h"
#include "tests/unit/init_box.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#define FCHMODAT2 452
#define IO_URING_SETUP 425

static char folder[PATH_MAX]; /* where the attempts are made */
static int file;              /* a plain file in it, which is open */

static void tell(const char *what, long rc)
{
	printf("%s %s\n", what, rc < 0 ? strerrorname_np(errno) : "done");
}

static long in_folder(long call, const char *name, long a, long b, long c)
{
	char path[PATH_MAX + 16];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return syscall(call, path, a, b, c);
}

/* The same for a call that takes a folder first. */
static long at_folder(long call, const char *name, long a, long b, long c)
{
	int at = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	long rc = syscall(call, at, name, a, b, c);
	int code = errno;

	close(at);
	errno = code;
	return rc;
}

#ifdef __x86_64__
/* Does the kernel take calls of 32-bit programs? If not, it kills the caller,
 * and the filter has nothing to refuse.
 */
static bool has_32bit_calls(void)
{
	pid_t child = fork();
	int status = 0, rc;

	if (child == 0) {
		signal(SIGSEGV, SIG_DFL); /* the sanitizer's prints */
		__asm__ volatile("int $0x80" : "=a"(rc) : "a"(20) : "memory");
		_exit(0); /* 20: getpid */
	}
	return child > 0 && waitpid(child, &status, 0) == child && !status;
}

/* chmod of a 32-bit program: its path must lie below 4 GiB. */
static long chmod_32(const char *name, unsigned int mode)
{
	char *path = mmap(NULL, PATH_MAX * 2, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	int rc;

	errno = EPERM;
	if (path == MAP_FAILED || !has_32bit_calls())
		return -1;
	snprintf(path, PATH_MAX * 2, "%s/%s", folder, name);
	__asm__ volatile("int $0x80"
			 : "=a"(rc)
			 : "a"(15), "b"((uint32_t)(uintptr_t)path), "c"(mode)
			 : "memory");
	if (rc >= 0)
		return 0;
	errno = -rc;
	return -1;
}

static long fchmodat2_32(unsigned int mode)
{
	int rc;

	errno = ENOSYS;
	if (!has_32bit_calls())
		return -1;
	/* A descriptor that is none: only the filter can answer ENOSYS. */
	__asm__ volatile("int $0x80"
			 : "=a"(rc)
			 : "a"(FCHMODAT2), "b"(-1), "c"(0), "d"(mode), "S"(0)
			 : "memory");
	errno = -rc;
	return -1;
}
#endif

static void attempt_modes(mode_t bit, const char *name)
{
	struct open_how how = { .flags = O_CREAT | O_WRONLY,
				.mode = bit | 0755 };

	printf("# %s\n", name);
#ifdef SYS_chmod
	tell("chmod", in_folder(SYS_chmod, "file", bit | 0755, 0, 0));
#endif
	tell("fchmod", syscall(SYS_fchmod, file, bit | 0755));
	tell("fchmodat", at_folder(SYS_fchmodat, "file", bit | 0755, 0, 0));
	tell("fchmodat2", at_folder(FCHMODAT2, "file", bit | 0755, 0, 0));
	tell("openat",
	     at_folder(SYS_openat, name, O_CREAT | O_WRONLY, bit | 0755, 0));
	tell("openat-tmpfile",
	     at_folder(SYS_openat, ".", O_TMPFILE | O_WRONLY, bit | 0755, 0));
	tell("openat2",
	     at_folder(SYS_openat2, "how", (long)&how, sizeof(how), 0));
	tell("mknodat",
	     at_folder(SYS_mknodat, "node", S_IFREG | bit | 0755, 0, 0));
#ifdef SYS_open
	tell("open",
	     in_folder(SYS_open, "open", O_CREAT | O_WRONLY, bit | 0755, 0));
	tell("creat", in_folder(SYS_creat, "creat", bit | 0755, 0, 0));
	tell("mknod",
	     in_folder(SYS_mknod, "mknod", S_IFREG | bit | 0755, 0, 0));
#endif
#ifdef __x86_64__
	tell("chmod-32", chmod_32("file", bit | 0755));
	tell("fchmodat2-32", fchmodat2_32(bit | 0755));
#endif
}

static int attempt(const char *where)
{
	char path[PATH_MAX + 16];

	snprintf(folder, sizeof(folder), "%s", where);
	snprintf(path, sizeof(path), "%s/file", folder);
	file = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	attempt_modes(S_ISUID, "setuid");
	attempt_modes(S_ISGID, "setgid");
	puts("# devices");
	tell("character", at_folder(SYS_mknodat, "c", S_IFCHR | 0600,
				    (long)makedev(1, 3), 0));
	tell("block", at_folder(SYS_mknodat, "b", S_IFBLK | 0600,
				(long)makedev(7, 0), 0));
	tell("io_uring", syscall(IO_URING_SETUP, 1, NULL));
	puts("# others");
	tell("plain", syscall(SYS_fchmod, file, 01755));
	/* Nobody reads a mode where nothing is made. */
	tell("open", at_folder(SYS_openat, "file", O_RDONLY, 06755, 0));
	tell("fifo", at_folder(SYS_mknodat, "fifo", S_IFIFO | 0600, 0, 0));
	tell("folder", at_folder(SYS_mkdirat, "sub", 0755, 0, 0));
	return 0;
}

static void run(struct box *box, const char *head, struct buffer *out)
{
	char program[PATH_MAX] = "", text[PATH_MAX * 3];
	int size;

	if (readlink("/proc/self/exe", program, sizeof(program) - 1) < 0)
		return;
	mkdir(box_path(box, "w"), 0755);
	size = snprintf(text, sizeof(text),
			"version=1%c%sarg=%s%carg=attempt%carg=%s", 0, head,
			program, 0, 0, box_path(box, "w"));
	for (char *c = text + 10; c < text + 10 + strlen(head); c++)
		*c = *c == '\n' ? 0 : *c;
	box_start_bytes(box, text, (size_t)size + 1);
	is_int(box_run(box), 0, "the command ran to its end");
	file_read_any(box_path(box, "out/rank-0.log"), out, NULL);
}

/* The mode bits of any file below the folder that give rights. */
static int sxid_files(struct box *box)
{
	static const char *const names[] = {
		"file", "setuid", "setgid", "how", "node",
		"open", "creat",  "mknod",  "c",   "b",
	};
	int found = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char name[64];
		struct stat st;

		snprintf(name, sizeof(name), "w/%s", names[i]);
		if (lstat(box_path(box, name), &st) == 0 &&
		    ((st.st_mode & (S_ISUID | S_ISGID)) ||
		     S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode))) {
			printf("# %s has mode %o\n", names[i], st.st_mode);
			found++;
		}
	}
	return found;
}

#ifdef __x86_64__
#define MODES(bit)                                                             \
	"# " bit "\nchmod EPERM\nfchmod EPERM\nfchmodat EPERM\n"               \
	"fchmodat2 ENOSYS\nopenat EPERM\nopenat-tmpfile EPERM\n"               \
	"openat2 ENOSYS\nmknodat EPERM\nopen EPERM\ncreat EPERM\n"             \
	"mknod EPERM\nchmod-32 EPERM\nfchmodat2-32 ENOSYS\n"
#else
#define MODES(bit)                                                             \
	"# " bit "\nfchmod EPERM\nfchmodat EPERM\n"                            \
	"fchmodat2 ENOSYS\nopenat EPERM\nopenat-tmpfile EPERM\n"               \
	"openat2 ENOSYS\nmknodat EPERM\n"
#endif

static void test_filtered(void)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(65536);
	struct box box;

	box_init(&box);
	run(&box, "", &text);
	is(text.data,
	   MODES("setuid") MODES("setgid") "# devices\ncharacter EPERM\nblock "
					   "EPERM\nio_uring ENOSYS\n"
					   "# others\nplain done\nopen "
					   "done\nfifo done\nfolder done\n",
	   "each way to a setuid or setgid file or a device is shut");
	is_int(sxid_files(&box), 0, "and no such file is there");
	box_clear(&box);
}

static void test_unfiltered(void)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(65536);
	struct box box;

	box_init(&box);
	run(&box, "suid=1\n", &text);
	ok(text.data && strstr(text.data, "\nfchmod done\nfchmodat done\n"),
	   "suid=1: the same program does what it wants");
	ok(sxid_files(&box) > 0, "and such files are there");
	box_clear(&box);
}

static void test_no_new_privileges(void)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(65536);
	struct box box;

	box_init(&box);
	box_script(&box, "", "grep NoNewPrivs /proc/self/status");
	box_run(&box);
	file_read_any(box_path(&box, "out/rank-0.log"), &text, NULL);
	is(text.data, "NoNewPrivs:\t1\n", "no program gains rights");
	box_clear(&box);
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "attempt"))
		return attempt(argv[2]);
	tap_begin(60);
	if (!box_ready_to_go())
		return tap_done();
	test_filtered();
	test_unfiltered();
	test_no_new_privileges();
	return tap_done();
}
