/* tool.c - the only program in test images: prints, sleeps, eats and ends.
 *
 *	tool COMMAND [ARGUMENT...] [, COMMAND [ARGUMENT...]]...
 *
 * Commands run one after another; a lone comma parts them. The exit code is
 * that of the first `exit`, else 0 (2: wrong words). All output is the same
 * in each run, so a test makes it again and compares byte for byte.
 *
 *	print BYTES [LINE]	numbered lines of LINE bytes (100) with their
 *				newline; the last is cut so that the sum is
 *				BYTES
 *	lines N RATE		N numbered lines, RATE a second (0: no pause)
 *	longline BYTES		one line of BYTES letters, and a newline
 *	garbage [BYTES]		NULs, invalid UTF-8, escapes; then BYTES (0) of
 *				pseudo-random bytes
 *	steps N MS		N lines as a training prints them, MS apart,
 *				and the last line of a finished training
 *	show FILE		print the bytes of FILE
 *	dump [WORD...]		in place of py-spy: print the rights that it
 *				has, and try to make a setuid file, /host/evil
 *	into FILE		what follows is printed to the end of FILE, made
 *				when it is not there; - is standard output again
 *	rename FROM TO
 *	cut FILE BYTES		make FILE so long, shorter or longer
 *	error TEXT		TEXT and a newline to standard error
 *	env			the environment, a variable a line
 *	exit N			end now with code N
 *	sleep SECONDS		a fraction is fine
 *	wait FILE		until FILE is there
 *	touch FILE		make FILE
 *	files FOLDER N		make N empty files there
 *	mode FILE OCTAL		chmod, or say why not
 *	device FILE		make FILE, a node like /dev/null, or say why not
 *	user NUMBER		become that user and group, or say why not
 *	folder FILE		make a folder, unless it is there
 *	link TARGET FILE	make FILE, a symbolic link, in place of another
 *	append FILE TEXT	add TEXT and a newline to FILE, in one write
 *	nameless FOLDER MIB HOW	keep that much in a file without a name there:
 *				`tmpfile`, `removed`, `mapped` alone, or of a
 *				`thread` with descriptors of its own
 *	beat FILE N MS BYTES	N times: add the clock (ms, monotonic) as a line
 *				to FILE, print BYTES as `print` does, wait MS
 *	eat BYTES		take and touch memory, keep it
 *	fork N SECONDS		leave N orphans that sleep, each with a line
 *	abort			end by SIGABRT
 *	kill			end by SIGKILL
 *	stubborn		ignore SIGTERM and SIGINT from here on
 *	last-words BYTES N	on SIGTERM, in a later sleep or pause, print
 *				BYTES as `print` does and exit with code N
 *	listen ADDRESS PORT	take one TCP connection, send back its bytes
 *				until it ends
 *	dial ADDRESS PORT TEXT	send TEXT, print what comes back; exit code 1
 *				when nobody answers
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

/* What `last-words` asked for; the pauses of later commands look at it. */
static struct {
	bool wanted;
	unsigned long long bytes;
	int code;
} words;

static int printed = STDOUT_FILENO; /* where output goes: see `into` */

__attribute__((noreturn)) static void wrong(const char *what, const char *found)
{
	fprintf(stderr, "tool: %s: %s\n", what, found ? found : "missing");
	exit(2);
}

/* argv ends in NULL, so a missing argument is NULL. */
static unsigned long long number(const char *text, const char *what)
{
	char *end;
	unsigned long long value;

	if (!text || *text < '0' || *text > '9')
		wrong(what, text);
	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno || *end)
		wrong(what, text);
	return value;
}

static double seconds(const char *text)
{
	char *end;
	double value = text ? strtod(text, &end) : -1;

	if (!text || *end || !(value >= 0 && value < 1e9))
		wrong("seconds", text);
	return value;
}

static void put(const char *data, size_t size)
{
	while (size) {
		ssize_t n = write(printed, data, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			exit(1);
		data += n;
		size -= (size_t)n;
	}
}

/* One line: number, letters that move along, newline. */
static void line_make(char *line, size_t size, unsigned long long i)
{
	char head[24];
	int length = snprintf(head, sizeof(head), "%010llu ", i);

	for (size_t k = 0; k + 1 < size; k++)
		line[k] = k < (size_t)length
				  ? head[k]
				  : (char)('a' +
					   (i + (unsigned long long)k) % 26);
	line[size - 1] = '\n';
}

static void print(unsigned long long bytes, size_t line)
{
	static char block[1 << 16];
	size_t lines = sizeof(block) / line;

	for (unsigned long long i = 0; bytes;) {
		size_t size = lines * line;

		for (size_t k = 0; k < lines; k++)
			line_make(block + k * line, line, i++);
		if (size > bytes)
			size = (size_t)bytes;
		put(block, size);
		bytes -= size;
	}
}

/* With last words SIGTERM is blocked, so that it can only come here. */
static void pause_for(double length)
{
	struct timespec left = { .tv_sec = (time_t)length };
	sigset_t set;
	int got;

	left.tv_nsec = (long)((length - (double)left.tv_sec) * 1e9);
	if (!words.wanted) {
		while (nanosleep(&left, &left) < 0 && errno == EINTR)
			;
		return;
	}
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	got = sigtimedwait(&set, NULL, &left);
	if (got == SIGTERM) {
		print(words.bytes, 100);
		exit(words.code);
	}
}

static void run_print(char **argv)
{
	unsigned long long line = argv[2] ? number(argv[2], "line") : 100;

	if (line < 2 || line > 65536)
		wrong("line is 2 to 65536 bytes", argv[2]);
	print(number(argv[1], "bytes"), (size_t)line);
}

static void run_lines(char **argv)
{
	unsigned long long n = number(argv[1], "lines");
	double rate = argv[2] ? (double)number(argv[2], "rate") : 0;
	char line[100];

	for (unsigned long long i = 0; i < n; i++) {
		line_make(line, sizeof(line), i);
		put(line, sizeof(line));
		if (rate > 0)
			pause_for(1 / rate);
	}
}

static void run_longline(char **argv)
{
	unsigned long long bytes = number(argv[1], "bytes");
	char block[4096];

	memset(block, 'x', sizeof(block));
	while (bytes) {
		size_t size =
			bytes < sizeof(block) ? (size_t)bytes : sizeof(block);

		put(block, size);
		bytes -= size;
	}
	put("\n", 1);
}

static void run_garbage(char **argv)
{
	static const char fixed[] = "nul \0 in a line\n"
				    "bad utf-8 \xff\xfe \xc3 \xe2\x82 "
				    "\xed\xa0\x80 \xf5\x80\x80\x80\n"
				    "escape \x1b[31mred\x1b[0m \x1b]0;title\a\n"
				    "progress 1\rprogress 2\r\n"
				    "{\"json\": \"not a message of ours\"}\n";
	unsigned long long bytes = argv[1] ? number(argv[1], "bytes") : 0;
	uint64_t state = 88172645463325252ULL;

	put(fixed, sizeof(fixed) - 1);
	while (bytes--) {
		char byte;

		/* xorshift: the same bytes in each run */
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		byte = (char)(state >> 32);
		put(&byte, 1);
	}
}

static void run_steps(char **argv)
{
	unsigned long long n = number(argv[1], "steps");
	double pause = (double)number(argv[2], "milliseconds");
	char line[160];
	int size;

	for (unsigned long long i = 1; i <= n; i++) {
		pause_for(pause / 1000);
		size = snprintf(line, sizeof(line),
				"step %llu/%llu | loss %.4f | iteration %.1f ms"
				" | %.1f tokens/s | memory 1.0 MiB\n",
				i, n, 1 + 4 / (double)i, pause + 1,
				1e6 / (pause + 1));
		put(line, (size_t)size);
	}
	size = snprintf(line, sizeof(line),
			"training finished | steps %llu | final loss %.4f | "
			"%.1f tokens/s\n",
			n, n ? 1 + 4 / (double)n : 0, 1e6 / (pause + 1));
	put(line, (size_t)size);
}

static void run_show(char **argv)
{
	char bytes[4096];
	int fd = argv[1] ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
	ssize_t n = -1;

	while (fd >= 0 && (n = read(fd, bytes, sizeof(bytes))) > 0)
		put(bytes, (size_t)n);
	if (n < 0)
		wrong("cannot read", argv[1]);
	close(fd);
}

static void run_dump(char **argv)
{
	static char *status[] = { (char *)"show", (char *)"/proc/self/status",
				  NULL };

	int fd = open("/host/evil", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	if (fd >= 0)
		close(fd);
	chmod("/host/evil", 04755);
	run_show(status);
}

static void run_into(char **argv)
{
	if (printed != STDOUT_FILENO)
		close(printed);
	printed = STDOUT_FILENO;
	if (argv[1] && strcmp(argv[1], "-") != 0)
		printed = open(argv[1],
			       O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	if (!argv[1] || printed < 0)
		wrong("cannot make file", argv[1]);
}

static void run_rename(char **argv)
{
	if (!argv[1] || !argv[2] || rename(argv[1], argv[2]) < 0)
		wrong("cannot rename", argv[1]);
}

static void run_cut(char **argv)
{
	unsigned long long bytes = number(argv[1] ? argv[2] : NULL, "bytes");

	if (truncate(argv[1], (off_t)bytes) < 0)
		wrong("cannot cut", argv[1]);
}

/* A descriptor of a new file without a name. */
static int nameless_open(const char *folder, const char *how)
{
	char path[512];
	int fd;

	if (!strcmp(how, "tmpfile"))
		return open(folder, O_TMPFILE | O_RDWR, 0600);
	snprintf(path, sizeof(path), "%s/nameless", folder);
	fd = open(path, O_CREAT | O_EXCL | O_RDWR, 0600);
	if (fd >= 0)
		unlink(path);
	return fd;
}

static int nameless_fill(char **argv)
{
	static char piece[1 << 20];
	unsigned long long mib = number(argv[2], "MiB");
	int fd = nameless_open(argv[1], argv[3]);

	memset(piece, 1, sizeof(piece));
	for (unsigned long long i = 0; fd >= 0 && i < mib; i++)
		if (write(fd, piece, sizeof(piece)) != sizeof(piece))
			wrong("cannot fill", argv[1]);
	return fd;
}

/* It shares all but the table of descriptors. */
static int nameless_thread(void *argv)
{
	if (nameless_fill(argv) < 0)
		_exit(2);
	for (;;)
		pause();
}

static void run_nameless(char **argv)
{
	static char stack[256 << 10];
	int fd;

	if (!argv[1] || !argv[2] || !argv[3])
		wrong("folder, MiB, how", NULL);
	if (!strcmp(argv[3], "thread")) {
		if (clone(nameless_thread, stack + sizeof(stack),
			  CLONE_VM | CLONE_FS | CLONE_SIGHAND | CLONE_THREAD,
			  argv) < 0)
			wrong("cannot clone", argv[3]);
		return;
	}
	fd = nameless_fill(argv);
	if (fd < 0)
		wrong("cannot make a file in", argv[1]);
	if (strcmp(argv[3], "mapped") != 0)
		return;
	if (mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED)
		wrong("cannot map", argv[1]);
	close(fd);
}

static void run_error(char **argv)
{
	fprintf(stderr, "%s\n", argv[1] ? argv[1] : "");
}

static void run_env(char **argv)
{
	for (char **e = environ; *e; e++) {
		put(*e, strlen(*e));
		put("\n", 1);
	}
}

static void run_exit(char **argv)
{
	exit((int)(number(argv[1], "exit code") & 0xff));
}

static void run_sleep(char **argv)
{
	pause_for(seconds(argv[1]));
}

static void run_wait(char **argv)
{
	if (!argv[1])
		wrong("file", NULL);
	while (access(argv[1], F_OK) < 0)
		pause_for(0.005);
}

static void run_touch(char **argv)
{
	int fd = argv[1] ? open(argv[1], O_WRONLY | O_CREAT | O_CLOEXEC, 0666)
			 : -1;

	if (fd < 0)
		wrong("cannot make file", argv[1]);
	close(fd);
}

static void run_files(char **argv)
{
	unsigned long long n = argv[1] ? number(argv[2], "files") : 0;

	for (unsigned long long i = 0; i < n; i++) {
		char path[4096];
		char *touch[] = { argv[0], path, NULL };

		snprintf(path, sizeof(path), "%s/f%llu", argv[1], i);
		run_touch(touch);
	}
}

static void tell(const char *what, int rc)
{
	dprintf(printed, "%s: %s\n", what, rc < 0 ? strerror(errno) : "done");
}

static void run_mode(char **argv)
{
	if (!argv[1] || !argv[2])
		wrong("a file and a mode are needed", argv[1]);
	tell("mode", chmod(argv[1], (mode_t)strtoul(argv[2], NULL, 8)));
}

static void run_device(char **argv)
{
	if (!argv[1])
		wrong("cannot make device", argv[1]);
	tell("device", mknod(argv[1], S_IFCHR | 0666, makedev(1, 3)));
}

static void run_user(char **argv)
{
	unsigned int id = (unsigned int)number(argv[1], "user");

	tell("group", setgid(id));
	tell("user", setuid(id));
}

static void run_folder(char **argv)
{
	if (!argv[1] || (mkdir(argv[1], 0777) < 0 && errno != EEXIST))
		wrong("cannot make folder", argv[1]);
}

static void run_link(char **argv)
{
	if (!argv[1] || !argv[2] || (unlink(argv[2]) < 0 && errno != ENOENT) ||
	    symlink(argv[1], argv[2]) < 0)
		wrong("cannot make link", argv[1]);
}

static void append(const char *file, const char *text)
{
	int fd = file ? open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
			     0666)
		      : -1;
	char line[256];
	int size = snprintf(line, sizeof(line), "%s\n", text ? text : "");

	if (fd < 0 || size >= (int)sizeof(line) ||
	    write(fd, line, size) != size)
		wrong("cannot append to file", file);
	close(fd);
}

static void run_append(char **argv)
{
	append(argv[1], argv[1] ? argv[2] : NULL);
}

static void run_beat(char **argv)
{
	unsigned long long n = number(argv[1] ? argv[2] : NULL, "beats");
	double pause = (double)number(argv[3], "milliseconds");
	unsigned long long bytes = number(argv[3] ? argv[4] : NULL, "bytes");
	struct timespec now;
	char text[32];

	while (n--) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		snprintf(text, sizeof(text), "%lld",
			 (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000);
		append(argv[1], text);
		print(bytes, 100);
		pause_for(pause / 1000);
	}
}

static void run_eat(char **argv)
{
	size_t bytes = (size_t)number(argv[1], "bytes");
	static char *memory; /* kept until the program ends */

	memory = malloc(bytes);
	if (!memory) {
		fprintf(stderr, "tool: eat: out of memory\n");
		exit(1);
	}
	/* volatile: a store that nobody reads would be left out */
	for (size_t i = 0; i < bytes; i += 4096)
		((volatile char *)memory)[i] = 1;
	printf("ate %zu\n", bytes);
	fflush(stdout);
}

static void run_fork(char **argv)
{
	unsigned long long n = number(argv[1], "orphans");
	double length = seconds(argv[2]);

	for (unsigned long long i = 0; i < n; i++) {
		pid_t child = fork();

		/* Twice, so that the grandchild is nobody's child here. */
		if (child == 0) {
			if (fork() == 0) {
				dprintf(STDOUT_FILENO, "orphan\n");
				pause_for(length);
			}
			_exit(0);
		}
		if (child > 0)
			waitpid(child, NULL, 0);
	}
}

static void run_abort(char **argv)
{
	abort();
}

static void run_kill(char **argv)
{
	raise(SIGKILL);
}

static void run_stubborn(char **argv)
{
	signal(SIGTERM, SIG_IGN);
	signal(SIGINT, SIG_IGN);
}

static void run_last_words(char **argv)
{
	sigset_t set;

	words.bytes = number(argv[1], "bytes");
	words.code = (int)(number(argv[2], "exit code") & 0xff);
	words.wanted = true;
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

static struct sockaddr_in address_of(char **argv)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	unsigned long long port = number(argv[1] ? argv[2] : NULL, "port");

	if (inet_pton(AF_INET, argv[1], &address.sin_addr) != 1)
		wrong("IPv4 address", argv[1]);
	if (port > 65535)
		wrong("port", argv[2]);
	address.sin_port = htons((uint16_t)port);
	return address;
}

static void run_listen(char **argv)
{
	struct sockaddr_in address = address_of(argv);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), peer, one = 1;
	char block[4096];
	ssize_t n;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (fd < 0 ||
	    bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(fd, 1) < 0) {
		perror("tool: listen");
		exit(1);
	}
	puts("listening");
	fflush(stdout);
	peer = accept(fd, NULL, NULL);
	while (peer >= 0 && (n = read(peer, block, sizeof(block))) > 0)
		if (write(peer, block, (size_t)n) != n)
			break;
	close(peer);
	close(fd);
}

static void run_dial(char **argv)
{
	struct sockaddr_in address = address_of(argv);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	const char *text = argv[3] ? argv[3] : "";
	size_t left = strlen(text);
	char block[4096];

	if (fd < 0 ||
	    connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    write(fd, text, left) != (ssize_t)left) {
		perror("tool: dial");
		exit(1);
	}
	shutdown(fd, SHUT_WR);
	for (;;) {
		ssize_t n = read(fd, block, sizeof(block));

		if (n <= 0)
			break;
		put(block, (size_t)n);
	}
	close(fd);
}

static const struct {
	const char *name;
	void (*run)(char **argv); /* argv[0]: name; ends in NULL */
} commands[] = {
	/* clang-format off */
	{ "print", run_print },
	{ "lines", run_lines },
	{ "longline", run_longline },
	{ "garbage", run_garbage },
	{ "steps", run_steps },
	{ "show", run_show },
	{ "dump", run_dump },
	{ "error", run_error },
	{ "env", run_env },
	{ "exit", run_exit },
	{ "sleep", run_sleep },
	{ "wait", run_wait },
	{ "touch", run_touch },
	{ "files", run_files },
	{ "mode", run_mode },
	{ "device", run_device },
	{ "user", run_user },
	{ "folder", run_folder },
	{ "link", run_link },
	{ "append", run_append },
	{ "into", run_into },
	{ "rename", run_rename },
	{ "cut", run_cut },
	{ "nameless", run_nameless },
	{ "beat", run_beat },
	{ "eat", run_eat },
	{ "fork", run_fork },
	{ "abort", run_abort },
	{ "kill", run_kill },
	{ "stubborn", run_stubborn },
	{ "last-words", run_last_words },
	{ "listen", run_listen },
	{ "dial", run_dial },
	/* clang-format on */
};

static void run(char **argv)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		if (argv[0] && !strcmp(argv[0], commands[i].name)) {
			commands[i].run(argv);
			return;
		}
	wrong("no such command", argv[0]);
}

int main(int argc, char **argv)
{
	char **next = argv + 1;

	while (*next) {
		char **command = next;

		while (*next && strcmp(*next, ","))
			next++;
		if (*next)
			*next++ = NULL;
		run(command);
	}
	return 0;
}
