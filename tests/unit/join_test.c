/* join_test.c - tokens as text: what is taken for one, and what never is.
 */
#include "protocol/wire/join.h"

#include "tests/tap.h"

#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-event.h>
#include <unistd.h>
#include <zmq.h>

static struct join_token made(const char *endpoint)
{
	struct join_token token = { 0 };
	char secret[KEY_TEXT_SIZE];

	snprintf(token.endpoint, sizeof(token.endpoint), "%s", endpoint);
	zmq_curve_keypair(token.public, token.secret);
	zmq_curve_keypair(token.server_public, secret);
	return token;
}

/* Is a token of this endpoint refused, by who prints and by who reads it? */
static bool refused(const char *endpoint)
{
	struct join_token token = made("tcp://h:1"), got;
	char line[JOIN_TOKEN_MAX], text[2 * JOIN_TOKEN_MAX];
	struct error err = { 0 };

	join_token_text(&token, line, &err);
	snprintf(text, sizeof(text), "%s%s", endpoint, strchr(line, ','));
	token = made(endpoint);
	return join_token_text(&token, line, &err) < 0 && err.code == EINVAL &&
	       join_token_read(&got, text, &err) < 0 && err.code == EINVAL;
}

/* A token that stands in no command line. */
static void fetching(const char *line)
{
	char path[] = "/tmp/join-test-XXXXXX";
	struct join_token token = { 0 };
	struct error err = { 0 };
	int fd = mkstemp(path);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");

	if (!file)
		return;
	fprintf(file, "%s\n", line);
	fclose(file);
	is_int(join_token_fetch(&token, line, NULL, &err), 0, "a word");
	token.endpoint[0] = 0;
	is_int(join_token_fetch(&token, NULL, path, &err), 0, "a file: %s",
	       err.text);
	ok(!strncmp(token.endpoint, "tcp://[fe80", 11), "both are read");
	ok(join_token_fetch(&token, line, path, &err) < 0 &&
		   join_token_fetch(&token, NULL, NULL, &err) < 0 &&
		   err.code == EINVAL,
	   "not both, and not none: %s", err.text);
	ok(freopen(path, "r", stdin) &&
		   join_token_fetch(&token, "-", NULL, &err) == 0,
	   "- is standard input: %s", err.text);
	file = fopen(path, "a");
	for (size_t i = 0; file && i < JOIN_TOKEN_MAX; i++)
		fputc(' ', file);
	if (file)
		fclose(file);
	ok(join_token_fetch(&token, NULL, path, &err) < 0,
	   "a file that is longer than a token is none: %s", err.text);
	ok(join_token_fetch(&token, NULL, "/nonexistent/token", &err) < 0,
	   "nor one that is not there: %s", err.text);
	unlink(path);
}

/* In place of libsystemd's: a loop that cannot go on. */
int sd_event_loop(sd_event *loop)
{
	return -EBADF;
}

/* Never a failure without words, or one that looks like success. */
static void broken_loop(void)
{
	struct join_token token = made("tcp://127.0.0.1:9");
	struct error err = { 0 };
	struct key key;

	key_generate(&key, "n1", ROLE_AGENT, NULL);
	is_int(join_enrol(&token, &key, true, NULL, 1000, &err), -1,
	       "a loop that ends by itself is a failure");
	ok(err.code == EBADF && err.text[0], "in words: %s", err.text);
}

int main(void)
{
	struct join_token token = made("tcp://[fe80::1%eth0]:7117"), got;
	char line[JOIN_TOKEN_MAX], text[JOIN_TOKEN_MAX + 2];
	struct error err;

	tap_begin(60);
	if (sodium_init() < 0)
		return 1;
	ok(join_token_text(&token, line, &err) == 0 &&
		   join_token_read(&got, line, &err) == 0 &&
		   !memcmp(&token, &got, sizeof(got)),
	   "a token is read as it was printed");
	snprintf(text, sizeof(text), "%s\n", line);
	ok(join_token_read(&got, text, &err) == 0, "also with its line's end");
	fetching(line);
	line[strlen(line) - 1] = 0;
	ok(join_token_read(&got, line, &err) < 0, "not when it is cut: %s",
	   err.text);
	ok(join_token_read(&got, "", &err) < 0 &&
		   join_token_read(&got, "tcp://h:1,,", &err) < 0,
	   "nor without keys");
	ok(refused("http://h:1") && refused("tcp://"),
	   "an endpoint of another kind is refused");
	ok(refused("tcp://h:1\"\rpolicy: \"any") &&
		   refused("tcp://h:1\npolicy: any") &&
		   refused("tcp://h:1\xe2\x80\xa8policy: any") &&
		   refused("tcp://h:1\" # ") && refused("tcp://h:\\1"),
	   "and one that would be more in a file of settings");
	broken_loop();
	return tap_done();
}
