/* server_keys_test.c - the keys of a controller, as its peers keep them and as
 * it does itself.
 */
#include "protocol/wire/server_keys.h"
#include "controller/access/controller_key.h"
#include "protocol/base/file.h"
#include "tests/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/server_keys_test.XXXXXX";
static char path[sizeof(folder) + 20];
static struct key keys[3];

static void test_peer(void)
{
	struct server_keys peer;
	struct error err = { 0 };

	snprintf(path, sizeof(path), "%s/peer", folder);
	ok(server_keys_read(&peer, keys[0].public, path, &err) == 0 &&
		   !strcmp(peer.current, keys[0].public) && !peer.next[0],
	   "without a file the key of the settings counts: %s", err.text);
	is_int(server_keys_learn(&peer, NULL, &err), 1, "nothing is no key");
	is_int(server_keys_learn(&peer, "x", &err), 1, "nor is a word");
	is_int(server_keys_learn(&peer, keys[0].public, &err), 1,
	       "nor the one that it has");
	is_int(server_keys_learn(&peer, keys[1].public, &err), 0, "another is");
	is_int(server_keys_learn(&peer, keys[1].public, &err), 1, "once");
	is_int(server_keys_advance(&peer, &err), 0, "the server has it");
	ok(server_keys_read(&peer, keys[0].public, path, &err) == 0 &&
		   !strcmp(peer.current, keys[1].public) &&
		   !strcmp(peer.former, keys[0].public) && !peer.next[0],
	   "also the next time that the file is read: %s", err.text);
	ok(server_keys_read(&peer, keys[2].public, path, &err) == 0 &&
		   !strcmp(peer.current, keys[2].public) && !peer.former[0],
	   "with other settings the file does not count: %s", err.text);
	snprintf(path, sizeof(path), "%s/none/peer", folder);
	ok(server_keys_read(&peer, keys[0].public, path, &err) == 0 &&
		   server_keys_learn(&peer, keys[1].public, &err) < 0 &&
		   !peer.next[0],
	   "what cannot be kept does not count: %s", err.text);
}

static void test_damaged(void)
{
	static const char *const bad[] = { "", "a b c d\n", "- - - -\n",
					   "\xff\xfe" };
	struct controller_key own;
	struct server_keys peer;
	struct error err = { 0 };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(path, sizeof(path), "%s/controller.keys", folder);
		file_write(AT_FDCWD, path, bad[i], strlen(bad[i]), 0600, 0,
			   NULL);
		ok(server_keys_read(&peer, keys[0].public, path, &err) < 0 &&
			   err.code == EINVAL &&
			   !strcmp(peer.current, keys[0].public),
		   "a peer is told of a damaged file: %s", err.text);
		ok(controller_key_open(&own, &keys[0], folder, 1, &err) < 0 &&
			   err.code == EINVAL,
		   "and so is the controller: %s", err.text);
		unlink(path);
	}
}

static void test_controller(void)
{
	struct controller_key own;
	struct error err = { 0 };
	char next[KEY_TEXT_SIZE];

	ok(controller_key_open(&own, &keys[0], folder, 1000, &err) == 0 &&
		   !controller_key_next(&own),
	   "a controller has the key of its settings: %s", err.text);
	ok(controller_key_rotate(&own, 1000, 9, &err) < 0 &&
		   err.code == EINVAL && !controller_key_next(&own),
	   "a next one does not count at once: %s", err.text);
	is_int(controller_key_rotate(&own, 1000, 10, &err), 0, "but later: %s",
	       err.text);
	memcpy(next, controller_key_next(&own), KEY_TEXT_SIZE);
	ok(controller_key_rotate(&own, 1000, 10, &err) < 0 && err.code == EBUSY,
	   "one is enough: %s", err.text);
	ok(controller_key_open(&own, &keys[0], folder, 10999, &err) == 0 &&
		   !strcmp(own.current.public, keys[0].public) &&
		   !strcmp(controller_key_next(&own), next) &&
		   !controller_key_due(&own, 10999),
	   "killed before its time, the old key counts: %s", err.text);
	ok(controller_key_due(&own, 11000), "then it is time");
	for (int i = 0; i < 2; i++)
		ok(controller_key_open(&own, &keys[0], folder, 11000, &err) ==
				   0 &&
			   !strcmp(own.current.public, next) &&
			   !strcmp(own.former.secret, keys[0].secret) &&
			   !controller_key_next(&own) &&
			   !controller_key_due(&own, INT64_MAX),
		   "whoever opens it then has the next: %s", err.text);
	ok(controller_key_open(&own, &keys[2], folder, 12000, &err) == 0 &&
		   !strcmp(own.current.public, keys[2].public) &&
		   !own.former.secret[0],
	   "with another key in its settings that one counts: %s", err.text);
	controller_key_clear(&own);
}

int main(void)
{
	tap_begin(60);
	if (!mkdtemp(folder))
		return 1;
	for (int i = 0; i < 3; i++)
		key_generate(&keys[i], "controller", ROLE_CONTROLLER, NULL);
	test_peer();
	test_damaged();
	test_controller();
	file_remove_tree(AT_FDCWD, folder, NULL);
	return tap_done();
}
