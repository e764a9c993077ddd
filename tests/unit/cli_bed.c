/* cli_bed.c - the command line of a test, and a simulated controller for it.
 */
#include "tests/unit/cli_bed.h"
#include "protocol/base/clock.h"
#include "protocol/base/file.h"
#include "protocol/base/loop.h"
#include "tests/wire_json.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sodium.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define WORDS_MAX 32

static void die(const char *what)
{
	printf("Bail out! %s: %s\n", what, strerror(errno));
	exit(1);
}

const char *bed_file(const struct bed *bed, const char *name)
{
	static char paths[4][PATH_MAX];
	static unsigned next;
	char *path = paths[next++ % 4];

	snprintf(path, PATH_MAX, "%s/%s", bed->folder, name);
	return path;
}

void bed_write(const struct bed *bed, const char *name, const char *text,
	       int mode)
{
	const char *path = bed_file(bed, name);
	struct error err;

	if (file_write(AT_FDCWD, path, text, strlen(text), (mode_t)mode, 0,
		       &err) < 0 ||
	    chmod(path, (mode_t)mode) < 0)
		die(path);
}

static void make_keys(struct bed *bed)
{
	struct key key;
	struct error err;
	char line[256];

	snprintf(bed->key, sizeof(bed->key), "%s/me.key", bed->folder);
	snprintf(bed->server_key, sizeof(bed->server_key), "%s/server.key",
		 bed->folder);
	if (key_generate(&key, "server", ROLE_CONTROLLER, &err) < 0 ||
	    key_save(&key, bed->server_key, &err) < 0 ||
	    key_generate(&key, "me", ROLE_OPERATOR, &err) < 0 ||
	    key_save(&key, bed->key, &err) < 0)
		die(err.text);
	key_line(&key, line, sizeof(line));
	bed_write(bed, "authorized", line, 0600);
}

void bed_init(struct bed *bed)
{
	*bed = (struct bed){ .folder = "/tmp/regatta-cli-XXXXXX",
			     .lifeline = -1 };
	if (sodium_init() < 0 || !mkdtemp(bed->folder))
		die("bed");
	make_keys(bed);
	bed->environment = (struct environment){
		.controller_key = bed->server_key,
		.key = bed->key,
		.home = bed->folder,
		.images = "images",
	};
}

void bed_clear(struct bed *bed)
{
	bed_unserve(bed);
	file_remove_tree(AT_FDCWD, bed->folder, NULL);
	free(bed->out);
	free(bed->err);
	bed->out = bed->err = NULL;
}

int bed_run_words(struct bed *bed, const char *const *words)
{
	char *argv[WORDS_MAX + 2] = { (char *)"regatta" };
	int argc = 1;
	size_t err_size;
	struct cli cli = { .out_terminal = bed->out_terminal,
			   .err_terminal = bed->terminal,
			   .environment = &bed->environment };

	while (*words && argc <= WORDS_MAX)
		argv[argc++] = (char *)*words++;
	free(bed->out);
	free(bed->err);
	bed->out = bed->err = NULL;
	cli.out = open_memstream(&bed->out, &bed->out_size);
	cli.err = open_memstream(&bed->err, &err_size);
	if (!cli.out || !cli.err)
		die("memory");
	bed->code = cli_run(&cli, argc, argv);
	fclose(cli.out);
	fclose(cli.err);
	return bed->code;
}

bool bed_said(const struct bed *bed, const char *text)
{
	bool found = strstr(bed->err, text);

	if (!found)
		printf("# not said: %s\n# but: %s\n", text, bed->err);
	return found;
}

bool bed_printed(const struct bed *bed, const char *text)
{
	bool found = strstr(bed->out, text);

	if (!found)
		printf("# not printed: %s\n# but: %s\n", text, bed->out);
	return found;
}

/* The child. */

struct child {
	struct fake fake;
	fake_fn *fn;
	sd_event *loop;
	struct key key;
	struct keyring *keyring;
	char endpoint[256];
	sd_event_source *restart;
	sd_event_source *lifeline;
};

void fake_reply(struct wire_peer *peer, uint64_t request, const char *json,
		const void *payload, size_t size)
{
	cJSON *tree = cJSON_Parse(json);
	struct message_reply reply = { request, packed_tree(tree) };

	wire_server_send(peer, MESSAGE_REPLY, &reply, payload ? payload : "",
			 size, NULL);
	free(reply.body.bytes);
	cJSON_Delete(tree);
}

void fake_refuse(struct wire_peer *peer, uint64_t request, int code,
		 const char *text)
{
	struct message_refused refused = { request, code, (char *)text };

	wire_server_send(peer, MESSAGE_REFUSED, &refused, NULL, 0, NULL);
}

static void open_server(struct child *child);

static int restart_run(sd_event_source *source, uint64_t usec, void *arg)
{
	struct child *child = arg;

	wire_server_free(child->fake.server);
	open_server(child);
	return 0;
}

static void on_message(void *arg, struct wire_peer *peer,
		       enum message_type type, void *body, const void *payload,
		       size_t size)
{
	struct child *child = arg;
	struct message_welcome welcome = {
		.version = PROTOCOL_VERSION,
		.heartbeat_ms = WIRE_HEARTBEAT_MS,
		.time_ms = (uint64_t)clock_wall_ms(),
	};

	if (type == MESSAGE_HELLO) {
		wire_server_send(peer, MESSAGE_WELCOME, &welcome, NULL, 0,
				 NULL);
	} else if (type != MESSAGE_HEARTBEAT) {
		child->fake.count++;
		child->fn(&child->fake, peer, type, body, payload, size);
	}
	wire_server_flush(child->fake.server);
	if (child->fake.restart) {
		child->fake.restart = false;
		loop_timer(child->loop, &child->restart, 0, restart_run, child,
			   NULL);
	}
}

static void on_gone(void *arg, struct wire_peer *peer, const char *why)
{
}

static void on_refused(void *arg, const char *who, const char *why)
{
}

static void open_server(struct child *child)
{
	static const struct wire_server_handler handler = { on_message, on_gone,
							    on_refused };
	struct error err;

	child->fake.server =
		wire_server_new(child->loop, &child->key, child->keyring,
				&handler, child, &err);
	if (!child->fake.server ||
	    wire_server_bind(child->fake.server, child->endpoint, &err) < 0) {
		printf("# fake controller: %s\n", err.text);
		_exit(1);
	}
	snprintf(child->endpoint, sizeof(child->endpoint), "%s",
		 wire_server_endpoint(child->fake.server));
}

static int end_run(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	_exit(0); /* without the checks of leaks: it is cut off anyway */
}

static void child_main(struct bed *bed, fake_fn *fn, int endpoint, int lifeline)
{
	struct child child = { .fn = fn };
	struct error err;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(120);
	snprintf(child.endpoint, sizeof(child.endpoint), "%s",
		 bed->endpoint[0] ? bed->endpoint : "tcp://127.0.0.1:*");
	child.keyring = keyring_new(bed_file(bed, "authorized"), &err);
	if (!child.keyring || sd_event_new(&child.loop) < 0 ||
	    key_load(&child.key, bed->server_key, &err) < 0 ||
	    sd_event_add_io(child.loop, &child.lifeline, lifeline, 0, end_run,
			    NULL) < 0)
		_exit(1);
	open_server(&child);
	if (write(endpoint, child.endpoint, strlen(child.endpoint) + 1) < 0)
		_exit(1);
	close(endpoint);
	sd_event_loop(child.loop);
	_exit(0);
}

void bed_serve(struct bed *bed, fake_fn *fn)
{
	int endpoint[2], lifeline[2];

	fflush(stdout);
	if (pipe2(endpoint, O_CLOEXEC) < 0 || pipe2(lifeline, O_CLOEXEC) < 0)
		die("pipe");
	bed->pid = fork();
	if (bed->pid < 0)
		die("fork");
	if (!bed->pid) {
		close(endpoint[0]);
		close(lifeline[1]);
		child_main(bed, fn, endpoint[1], lifeline[0]);
	}
	close(endpoint[1]);
	close(lifeline[0]);
	bed->lifeline = lifeline[1];
	if (read(endpoint[0], bed->endpoint, sizeof(bed->endpoint)) <= 0)
		die("fake controller");
	close(endpoint[0]);
	bed->environment.controller = bed->endpoint;
}

void bed_unserve(struct bed *bed)
{
	if (bed->pid <= 0)
		return;
	close(bed->lifeline);
	waitpid(bed->pid, NULL, 0);
	bed->pid = 0;
	bed->lifeline = -1;
	bed->endpoint[0] = 0;
	bed->environment.controller = NULL;
}
