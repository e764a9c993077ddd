/* subprocess_test.c - vendors' programs: their words, their limits, their
 * children.
 */
#include "protocol/base/file.h"
#include "protocol/base/subprocess.h"
#include "tests/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

static char folder[] = "/tmp/regatta-tool-XXXXXX";

struct answer {
	sd_event *loop;
	int code; /* of the error; 0: output */
	char text[256];
	char *output;
	size_t size;
	int exit_code;
	int runs;
};

static void answered(void *arg, const struct error *err,
		     const struct subprocess_output *output)
{
	struct answer *answer = arg;

	answer->runs++;
	answer->code = err ? err->code : 0;
	snprintf(answer->text, sizeof(answer->text), "%s",
		 output ? output->complaint : err->text);
	if (output) {
		answer->output = malloc(output->size + 1);
		memcpy(answer->output, output->text, output->size + 1);
		answer->size = output->size;
		answer->exit_code = output->exit_code;
	}
	sd_event_exit(answer->loop, 0);
}

static void answer_clear(struct answer *answer)
{
	free(answer->output);
	*answer = (struct answer){ .loop = answer->loop };
}
OWNED_VALUE(struct answer, answer_clear)

static struct strings words(const char *const *list)
{
	struct strings strings = { 0 };

	for (; *list; list++)
		strings_add(&strings, *list, NULL);
	return strings;
}

static struct answer run(struct subprocess_command command,
			 const char *const *argv)
{
	struct strings list = words(argv);
	struct answer answer = { 0 };
	struct error err;

	sd_event_new(&answer.loop);
	command.argv = &list;
	if (!command.output_max)
		command.output_max = 65536;
	if (!command.timeout_ms)
		command.timeout_ms = 20000;
	if (subprocess_run(answer.loop, &command, answered, &answer, &err))
		sd_event_loop(answer.loop);
	else
		answer.code = -err.code;
	strings_clear(&list);
	answer.loop = sd_event_unref(answer.loop);
	return answer;
}
#define RUN(command, ...)                                                      \
	run(command, (const char *const[]){ __VA_ARGS__, NULL })

static const struct subprocess_command plain;

static void test_words(void)
{
	owned(answer_clear) struct answer a =
		RUN(plain, "/bin/sh", "-c", "echo \"$0 $1\"; exit 3", "$HOME",
		    "*");
	owned(answer_clear) struct answer b =
		RUN(plain, "sh", "-c",
		    "printf 'a\\0b'; printf 'no\\033 \\n' >&2");
	owned(answer_clear) struct answer c =
		RUN(plain, "sh", "-c", "cat; kill -9 $$");

	is(a.output, "$HOME *\n",
	   "arguments arrive as they are, without shell");
	is_int(a.exit_code, 3, "the exit code is told");
	ok(b.size == 3 && !memcmp(b.output, "a\0b", 4),
	   "output may hold any byte");
	is(b.text, "no?", "what it says to stderr is one printable line");
	is_int(c.exit_code, 137, "a signal is 128 + its number");
	is_int(c.size, 0, "input is empty");
}

static void test_environment(void)
{
	struct strings env = words(
		(const char *const[]){ "REGATTA_X=1", "HOME=/here", NULL });
	struct strings locale =
		words((const char *const[]){ "LC_ALL=de_DE", NULL });
	owned(answer_clear) struct answer a = { 0 };
	owned(answer_clear) struct answer b = { 0 };

	setenv("LC_ALL", "zh_CN", 1);
	a = RUN(((struct subprocess_command){ .env = &env }), "sh", "-c",
		"echo $REGATTA_X $HOME $LC_ALL; env | grep -c ^HOME=");
	b = RUN(((struct subprocess_command){ .env = &locale }), "sh", "-c",
		"echo $LC_ALL");
	is(a.output, "1 /here C\n1\n", "variables are added or replaced");
	is(b.output, "de_DE\n", "a locale that is given is kept");
	strings_clear(&env);
	strings_clear(&locale);
}

static void test_path(void)
{
	char path[64];
	owned(answer_clear) struct answer a = { 0 };
	owned(answer_clear) struct answer b = { 0 };
	owned(answer_clear) struct answer c = { 0 };
	static const char script[] = "#!/bin/sh\necho simulated\n";

	snprintf(path, sizeof(path), "%s/true", folder);
	file_write(AT_FDCWD, path, script, sizeof(script) - 1, 0755, 0, NULL);
	a = RUN(((struct subprocess_command){ .bin = folder }), "true");
	b = RUN(((struct subprocess_command){ .bin = folder }), "echo",
		"found");
	c = RUN(plain, "regatta-no-such-tool");
	is(a.output, "simulated\n", "a program is looked for in bin first");
	is(b.output, "found\n", "then in PATH");
	is_int(c.exit_code, 127, "one that is nowhere ends with 127");
	is(c.text, "cannot be executed: No such file or directory",
	   "and says why");
	unlink(path);
}

static void test_limits(void)
{
	owned(answer_clear) struct answer a =
		RUN(((struct subprocess_command){ .timeout_ms = 100 }), "sh",
		    "-c", "trap '' TERM; echo before; sleep 1000");
	owned(answer_clear) struct answer b =
		RUN(((struct subprocess_command){ .output_max = 1000 }), "sh",
		    "-c", "yes");
	owned(answer_clear) struct answer c =
		RUN(((struct subprocess_command){ .output_max = 4 }), "printf",
		    "four");
	owned(answer_clear) struct answer d =
		RUN(((struct subprocess_command){ .output_max = 3 }), "printf",
		    "four");
	owned(answer_clear) struct answer e =
		RUN(plain, "sh", "-c", "yes err | head -c 1000000 >&2; echo x");

	is_int(a.code, ETIMEDOUT, "a program that hangs is killed");
	is(a.text, "sh: still running after 100 ms; killed", "in words");
	is_int(b.code, E2BIG, "one that prints without end is killed");
	is(b.text, "sh: printed more than 1000 bytes; killed", "in words");
	is(c.output, "four", "the limit itself is allowed");
	is_int(d.code, E2BIG, "one byte more is not");
	is(e.output, "x\n", "a flood on stderr is dropped");
	ok(strlen(e.text) < SUBPROCESS_COMPLAINT_MAX, "and cut");
}

/* No process that holds the write end is left: read() sees the end. */
static void test_children(void)
{
	char script[256], path[64];
	owned(answer_clear) struct answer a = { 0 };
	char byte;
	int fd;

	snprintf(path, sizeof(path), "%s/fifo", folder);
	mkfifo(path, 0600);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	snprintf(script, sizeof(script),
		 "sleep 1000 >%s & sleep 1000 & echo answered", path);
	a = RUN(plain, "sh", "-c", script);
	is(a.output, "answered\n",
	   "the answer does not wait for children that hold the pipe");
	fcntl(fd, F_SETFL, 0);
	is_int(read(fd, &byte, 1), 0, "children are killed with it");
	close(fd);
	unlink(path);
}

static int end_loop(sd_event_source *source, const siginfo_t *info, void *arg)
{
	return sd_event_exit(arg, 0);
}

static void test_cancel(void)
{
	struct strings argv =
		words((const char *const[]){ "sleep", "1000", NULL });
	struct subprocess_command command = { .argv = &argv,
					      .output_max = 1,
					      .timeout_ms = 20000 };
	struct answer answer = { 0 };
	struct error err;
	sd_event *loop;
	pid_t last;

	sd_event_new(&loop);
	answer.loop = loop;
	subprocess_cancel(
		subprocess_run(loop, &command, answered, &answer, &err));
	subprocess_cancel(NULL);
	/* Another child, that ends after the killed one. */
	last = fork();
	if (!last) {
		usleep(100000);
		_exit(0);
	}
	sd_event_add_child(loop, NULL, last, WEXITED, end_loop, loop);
	sd_event_loop(loop);
	is_int(answer.runs, 0, "a cancelled program does not answer");
	ok(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD,
	   "and no process of it is left");
	sd_event_unref(loop);
	sd_event_new(&loop);
	subprocess_cancel(
		subprocess_run(loop, &command, answered, &answer, &err));
	sd_event_unref(loop);
	is_int(waitpid(-1, NULL, 0) > 0, 1, "a loop may end before its tools");
	strings_clear(&argv);
}

static void test_wrong(void)
{
	struct strings none = { 0 };
	struct subprocess_command command = { .argv = &none, .timeout_ms = 1 };
	struct error err;
	sd_event *loop;

	sd_event_new(&loop);
	ok(!subprocess_run(loop, &command, answered, NULL, &err) &&
		   err.code == EINVAL,
	   "no command is an error");
	sd_event_unref(loop);
}

static void test_cpus(void)
{
	cpu_set_t cpus;
	owned(answer_clear) struct answer a = { 0 };

	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	a = RUN(((struct subprocess_command){ .cpus = &cpus }), "nproc");
	is(a.output, "1\n", "it runs where it is told to");
}

int main(void)
{
	sigset_t set;

	tap_begin(60);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	if (!mkdtemp(folder))
		return 1;
	test_words();
	test_environment();
	test_path();
	test_limits();
	test_children();
	test_cancel();
	test_wrong();
	test_cpus();
	file_remove_tree(AT_FDCWD, folder, NULL);
	return tap_done();
}
