/* access_test.c - who may connect: tokens, enrolling, revoking, machines.
 */
#include "controller/access/access.h"
#include "controller/access/key_rotation.h"
#include "controller/access/key_entry.h"
#include "controller/access/viewers.h"
#include "protocol/base/clock.h"
#include "protocol/base/file.h"
#include "tests/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <time.h>

struct bed {
	char folder[64];
	char list[96];
	struct store *store;
	struct keyring *keyring;
	struct access *access;
};

static void bed_open(struct bed *bed)
{
	struct error err = { 0 };

	bed->store = store_new(bed->folder, &err);
	bed->keyring = keyring_new(bed->list, &err);
	bed->access = access_new(bed->store, bed->keyring, &err);
	ok(bed->access != NULL, "(the store's keys are loaded: %s)", err.text);
}

static void bed_close(struct bed *bed)
{
	store_commit(bed->store, NULL);
	access_free(bed->access);
	keyring_free(bed->keyring);
	store_free(bed->store);
}

static void bed_init(struct bed *bed, const struct key *keys, size_t count)
{
	char text[2000] = "";

	snprintf(bed->folder, sizeof(bed->folder), "/tmp/access_test.XXXXXX");
	if (!mkdtemp(bed->folder))
		abort();
	snprintf(bed->list, sizeof(bed->list), "%s/keys", bed->folder);
	for (size_t i = 0; i < count; i++)
		key_line(&keys[i], text + strlen(text),
			 sizeof(text) - strlen(text));
	file_write(AT_FDCWD, bed->list, text, strlen(text), 0600, 0, NULL);
	bed_open(bed);
}

static void bed_clear(struct bed *bed)
{
	bed_close(bed);
	file_remove_tree(AT_FDCWD, bed->folder, NULL);
}

static struct key new_key(const char *name, enum role role)
{
	struct key key;

	key_generate(&key, name, role, NULL);
	return key;
}

static int token(struct bed *bed, const struct key *key,
		 struct message_token message, struct error *err)
{
	struct reply_token reply = { 0 };
	int rc;

	message.public = (char *)key->public;
	if (!message.role)
		message.role = (char *)"agent";
	rc = access_token(bed->access, "op", &message, &reply, err);
	codec_clear(&reply_token_schema, &reply);
	return rc;
}

static int enrol(struct bed *bed, const struct key *with,
		 const struct key *what, const char *machine, struct error *err)
{
	struct reply_admit reply = { 0 };
	struct message_enrol message = {
		.agent = what->role == ROLE_AGENT,
		.name = (char *)what->name,
		.public = (char *)what->public,
		.machine = (char *)machine,
	};
	int rc = access_enrol(bed->access, with->public, "10.1.2.3", &message,
			      &reply, err);

	codec_clear(&reply_admit_schema, &reply);
	return rc;
}

static int drop_key(struct bed *bed, const char *kind, const char *name,
		    struct error *err)
{
	struct reply_revoke reply = { 0 };
	struct message_revoke message = { .kind = (char *)kind,
					  .name = (char *)name };
	int rc = access_revoke(bed->access, "op", &message, &reply, err);

	return rc;
}

static bool knows(struct bed *bed, const struct key *key, enum role role)
{
	const struct key *found = keyring_find(bed->keyring, key->public);

	return found && found->role == role;
}

static void test_token(void)
{
	struct key op = new_key("op", ROLE_OPERATOR);
	struct key t = new_key("t", ROLE_JOINER),
		   n1 = new_key("n1", ROLE_AGENT);
	struct key n2 = new_key("n2", ROLE_AGENT),
		   ann = new_key("me", ROLE_VIEWER);
	struct error err = { 0 };
	struct bed bed;

	bed_init(&bed, &op, 1);
	ok(enrol(&bed, &t, &n1, NULL, &err) < 0 && err.code == EACCES,
	   "nobody enrols without a token: %s", err.text);
	ok(token(&bed, &t, (struct message_token){ 0 }, &err) == 0,
	   "a token is made");
	ok(knows(&bed, &t, ROLE_JOINER), "its holder may connect, as joiner");
	ok(enrol(&bed, &t, &ann, NULL, &err) < 0 &&
		   strstr(err.text, "for an agent"),
	   "it is for what it is for: %s", err.text);
	ok(enrol(&bed, &t, &n1, NULL, &err) == 0 &&
		   knows(&bed, &n1, ROLE_AGENT),
	   "what enrols may connect as what the token says");
	ok(enrol(&bed, &t, &n1, NULL, &err) == 0,
	   "the same again is answered the same");
	ok(enrol(&bed, &t, &n2, NULL, &err) < 0 &&
		   strstr(err.text, "no uses left") &&
		   !knows(&bed, &n2, ROLE_AGENT),
	   "another does not get in with it: %s", err.text);
	bed_close(&bed);
	bed_open(&bed);
	ok(knows(&bed, &n1, ROLE_AGENT) && enrol(&bed, &t, &n2, NULL, &err) < 0,
	   "a new controller knows all of that");
	ok(drop_key(&bed, "node", "n1", &err) == 0 &&
		   !knows(&bed, &n1, ROLE_AGENT),
	   "a node that is removed is refused");
	ok(enrol(&bed, &t, &n1, NULL, &err) < 0,
	   "its key does not come back by the same token: %s", err.text);
	bed_close(&bed);
	bed_open(&bed);
	ok(!knows(&bed, &n1, ROLE_AGENT), "also by a new controller");
	bed_clear(&bed);
}

static void test_limits(void)
{
	struct key op = new_key("op", ROLE_OPERATOR);
	struct key t = new_key("t", ROLE_JOINER);
	struct key other = new_key("t", ROLE_JOINER);
	struct key n[3] = { new_key("n1", ROLE_AGENT),
			    new_key("n2", ROLE_AGENT),
			    new_key("n1", ROLE_AGENT) };
	struct key bad = new_key("n9", ROLE_AGENT);
	struct timespec time = { .tv_sec = 1, .tv_nsec = 50000000 };
	struct error err = { 0 };
	struct bed bed;

	bed_init(&bed, &op, 1);
	ok(token(&bed, &t, (struct message_token){ .uses = 2, .for_s = 1 },
		 &err) == 0,
	   "a token of two uses and a second");
	ok(enrol(&bed, &t, &n[0], NULL, &err) == 0, "one use");
	ok(enrol(&bed, &t, &n[2], NULL, &err) < 0 && err.code == EEXIST,
	   "a name that is there is not given twice: %s", err.text);
	memcpy(bad.name, "a b", 4);
	ok(enrol(&bed, &t, &bad, NULL, &err) < 0 && err.code == EINVAL,
	   "names are names: %s", err.text);
	nanosleep(&time, NULL);
	ok(enrol(&bed, &t, &n[1], NULL, &err) < 0 &&
		   strstr(err.text, "expired"),
	   "it expires: %s", err.text);
	ok(token(&bed, &other, (struct message_token){ .uses = 20000 }, &err) <
		   0,
	   "uses have a limit: %s", err.text);
	ok(token(&bed, &other, (struct message_token){ .for_s = UINT32_MAX },
		 &err) < 0,
	   "so has the time: %s", err.text);
	ok(token(&bed, &other,
		 (struct message_token){ .role = (char *)"controller" },
		 &err) < 0,
	   "nobody becomes the controller: %s", err.text);
	ok(token(&bed, &other,
		 (struct message_token){ .role = (char *)"viewer" }, &err) < 0,
	   "a user has a name: %s", err.text);
	bed_clear(&bed);
}

static int count_key(const struct key_info *key, void *arg)
{
	++*(int *)arg;
	return 0;
}

static int copy_name(const struct token_info *token, void *arg)
{
	snprintf(arg, KEY_NAME_SIZE, "%s", token->name);
	return 0;
}

static void test_people(void)
{
	struct key op = new_key("op", ROLE_OPERATOR);
	struct key t = new_key("t", ROLE_JOINER);
	struct key ann = new_key("me", ROLE_VIEWER);
	struct error err = { 0 };
	struct bed bed;
	int count = 0;

	bed_init(&bed, &op, 1);
	ok(token(&bed, &t,
		 (struct message_token){ .role = (char *)"operator",
					 .name = (char *)"ann" },
		 &err) == 0 &&
		   enrol(&bed, &t, &ann, NULL, &err) == 0,
	   "a user joins: %s", err.text);
	ok(knows(&bed, &ann, ROLE_OPERATOR) &&
		   !strcmp(keyring_known(bed.keyring, ann.public)->name, "ann"),
	   "with the name and role of the token");
	ok(drop_key(&bed, "node", "ann", &err) < 0 && err.code == ENOENT,
	   "a user is no node: %s", err.text);
	ok(drop_key(&bed, "user", "op", &err) == 0 &&
		   !knows(&bed, &op, ROLE_OPERATOR),
	   "a key of the file is revoked like others");
	ok(drop_key(&bed, "user", "ann", &err) < 0 && err.code == EPERM,
	   "but not the last operator: %s", err.text);
	access_keys(bed.access, count_key, &count);
	is_int(count, 2, "both are listed");
	bed_close(&bed);
	bed_open(&bed);
	ok(!knows(&bed, &op, ROLE_OPERATOR), "whatever the file says");
	bed_clear(&bed);
}

static void test_rekey(void)
{
	struct key op[2] = { new_key("op", ROLE_OPERATOR),
			     new_key("n1", ROLE_AGENT) };
	struct key t = new_key("t", ROLE_JOINER);
	struct key n1 = new_key("n1", ROLE_AGENT);
	struct message_token renew = { .name = (char *)"n1", .renew = true };
	struct error err = { 0 };
	struct bed bed;

	bed_init(&bed, op, 2);
	ok(token(&bed, &t, (struct message_token){ .name = (char *)"n1" },
		 &err) < 0,
	   "a token for a node that is there must say that it renews: %s",
	   err.text);
	ok(token(&bed, &t, renew, &err) == 0 && knows(&bed, &op[1], ROLE_AGENT),
	   "until it is used the old key is good");
	ok(enrol(&bed, &t, &n1, "m1", &err) == 0 &&
		   knows(&bed, &n1, ROLE_AGENT) &&
		   !knows(&bed, &op[1], ROLE_AGENT),
	   "then the new one is, and only it: %s", err.text);
	ok(access_check_machine(bed.access, n1.public, "m1", &err) == 0,
	   "it is of one machine");
	ok(access_check_machine(bed.access, n1.public, "m2", &err) < 0 &&
		   access_check_machine(bed.access, n1.public, NULL, &err) < 0,
	   "and of no other: %s", err.text);
	ok(access_check_machine(bed.access, op[0].public, "m2", &err) == 0,
	   "a key of the file is of any");
	bed_clear(&bed);
}

static void test_networks(void)
{
	static const struct {
		const char *network, *in, *out;
	} good[] = {
		{ "10.0.0.0/8", "10.255.0.1", "11.0.0.1" },
		{ "10.1.2.128/25", "10.1.2.200", "10.1.2.100" },
		{ "10.1.2.3", "::ffff:10.1.2.3", "10.1.2.4" },
		{ "fd00::/8", "fdff::1", "fe80::1" },
		{ "2001:db8::/33", "2001:db8:7fff::1", "2001:db8:8000::1" },
		{ "0.0.0.0/0", "192.0.2.1", "2001:db8::1" },
		{ "::1", "::1", "127.0.0.1" },
	};
	static const char *const bad[] = {
		"",          "10.0.0.0/33", "10.0.0/8",    "::/129",
		"10.0.0.0/", "a/8",         "10.0.0.0/8x", "10.0.0.0/-1"
	};
	struct error err = { 0 };

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		ok(network_check(good[i].network, &err) == 0 &&
			   network_has(good[i].network, good[i].in) &&
			   !network_has(good[i].network, good[i].out) &&
			   !network_has(good[i].network, ""),
		   "%s has %s and not %s", good[i].network, good[i].in,
		   good[i].out);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ok(network_check(bad[i], &err) < 0 &&
			   !network_has(bad[i], "10.0.0.1"),
		   "'%s' is no network: %s", bad[i], err.text);
}

static int rotate(struct bed *bed, const struct key *with,
		  const struct key *next, struct message_rotate message,
		  struct error *err)
{
	struct reply_rotate reply = { 0 };
	int rc;

	message.public = (char *)next->public;
	rc = access_rotate(bed->access, with->public, "m1", &message, &reply,
			   err);
	codec_clear(&reply_rotate_schema, &reply);
	return rc;
}

/* The cookie of a browser that logs in with this key. */
static void enter(struct viewers *viewers, const struct key *key,
		  char cookie[VIEWERS_SECRET_SIZE])
{
	owned_free char *address = viewers_address(viewers, key->public, NULL);

	viewers_enter(viewers, strstr(address, "ticket=") + 7, cookie);
}

static void test_from(void)
{
	struct key op = new_key("op", ROLE_OPERATOR);
	struct key t[3] = { new_key("t", ROLE_JOINER),
			    new_key("t", ROLE_JOINER),
			    new_key("t", ROLE_JOINER) };
	struct key n1 = new_key("n1", ROLE_AGENT);
	struct key next = new_key("n1", ROLE_AGENT);
	struct message_token near = { .from = (char *)"10.0.0.0/8" };
	struct message_token far = { .from = (char *)"192.0.2.0/24" };
	struct message_token none = { .from = (char *)"everywhere" };
	char cookie[VIEWERS_SECRET_SIZE];
	struct viewers *viewers;
	struct error err = { 0 };
	struct bed bed;

	bed_init(&bed, &op, 1);
	ok(token(&bed, &t[0], none, &err) < 0, "(a bad network: %s)", err.text);
	ok(token(&bed, &t[1], far, &err) == 0, "a token of a network");
	bed_close(&bed);
	bed_open(&bed);
	ok(enrol(&bed, &t[1], &n1, NULL, &err) < 0 && err.code == EACCES &&
		   !knows(&bed, &n1, ROLE_AGENT),
	   "is refused from elsewhere, also by a new controller: %s", err.text);
	ok(token(&bed, &t[2], near, &err) == 0 &&
		   enrol(&bed, &t[2], &n1, "m1", &err) == 0,
	   "and good from there");
	bed_close(&bed);
	bed_open(&bed);
	ok(access_check_address(bed.access, n1.public, "10.9.8.7", &err) == 0 &&
		   access_check_address(bed.access, n1.public, "192.0.2.1",
					&err) < 0 &&
		   err.code == EACCES,
	   "and so is the key that it enrolled, from then on: %s", err.text);
	ok(rotate(&bed, &n1, &next, (struct message_rotate){ 0 }, &err) == 0 &&
		   access_check_address(bed.access, next.public, "10.9.8.7",
					&err) == 0 &&
		   access_check_address(bed.access, next.public, "192.0.2.1",
					&err) < 0,
	   "and the key that follows it");
	ok(access_check_address(bed.access, op.public, "192.0.2.1", &err) == 0,
	   "other keys may come from anywhere");
	viewers = viewers_new(bed.keyring, bed.access, NULL);
	viewers_serve(viewers, "x");
	enter(viewers, &next, cookie);
	ok(viewers_know(viewers, cookie, "10.9.8.7", &err) &&
		   !viewers_know(viewers, cookie, "192.0.2.1", &err) &&
		   err.code == EACCES && strstr(err.text, "valid from"),
	   "its logins are good from there only: %s", err.text);
	ok(!viewers_know(viewers, cookie, "", &err), "and not from nowhere");
	enter(viewers, &op, cookie);
	ok(viewers_know(viewers, cookie, "192.0.2.1", &err),
	   "those of other keys from anywhere");
	viewers_free(viewers);
	bed_clear(&bed);
}

static bool is_named(struct bed *bed, const struct key *key)
{
	const struct key *found = keyring_named(bed->keyring, key->name);

	return found && !strcmp(found->public, key->public);
}

static void test_rotate(void)
{
	const int64_t hour_ms = 3600 * 1000L;
	struct key keys[2] = { new_key("op", ROLE_OPERATOR),
			       new_key("n1", ROLE_AGENT) };
	struct key next = new_key("n1", ROLE_AGENT);
	struct key third = new_key("n1", ROLE_AGENT);
	struct key fourth = new_key("n1", ROLE_AGENT);
	struct message_rotate hour = { .keep_s = 3600 };
	int64_t now_ms = clock_wall_ms();
	struct error err = { 0 };
	struct bed bed;

	bed_init(&bed, keys, 2);
	ok(rotate(&bed, &keys[1], &next, (struct message_rotate){ .keep_s = 1 },
		  &err) < 0 &&
		   !knows(&bed, &next, ROLE_AGENT),
	   "an old key is kept for an hour at least: %s", err.text);
	ok(rotate(&bed, &keys[1], &keys[0], hour, &err) < 0 &&
		   is_named(&bed, &keys[0]),
	   "nobody takes the key of another: %s", err.text);
	ok(rotate(&bed, &keys[1], &next, hour, &err) == 0 &&
		   knows(&bed, &keys[1], ROLE_AGENT) &&
		   knows(&bed, &next, ROLE_AGENT) && is_named(&bed, &next),
	   "both keys are good, the new one bears the name");
	ok(rotate(&bed, &keys[1], &next, hour, &err) == 1 &&
		   rotate(&bed, &next, &next, hour, &err) == 1,
	   "the same again is answered the same, to either key");
	ok(rotate(&bed, &keys[1], &third, hour, &err) < 0 && err.code == EACCES,
	   "the old key chooses no other: %s", err.text);
	ok(rotate(&bed, &next, &third, hour, &err) < 0 && err.code == EBUSY,
	   "there are never three: %s", err.text);
	ok(access_check_machine(bed.access, next.public, "m2", &err) < 0,
	   "the new one is of the machine that the old one was on");
	bed_close(&bed);
	bed_open(&bed);
	ok(knows(&bed, &keys[1], ROLE_AGENT) &&
		   knows(&bed, &next, ROLE_AGENT) && is_named(&bed, &next),
	   "a new controller knows both");
	ok(!access_expire(bed.access, now_ms + hour_ms / 2) &&
		   access_expire(bed.access, now_ms + hour_ms + 60000) &&
		   !knows(&bed, &keys[1], ROLE_AGENT) &&
		   knows(&bed, &next, ROLE_AGENT) && is_named(&bed, &next),
	   "after its time the old one is refused, though the file has it");
	ok(rotate(&bed, &next, &next, hour, &err) == 1,
	   "who missed that asks with the new one");
	ok(rotate(&bed, &next, &third,
		  (struct message_rotate){ .for_s = 30 * 86400 }, &err) == 0 &&
		   !access_expire(bed.access, now_ms + 23 * hour_ms) &&
		   access_expire(bed.access, now_ms + 25 * hour_ms) &&
		   !knows(&bed, &next, ROLE_AGENT) &&
		   knows(&bed, &third, ROLE_AGENT),
	   "it is rotated again; without a word the old one is kept a day");
	ok(rotate(&bed, &third, &fourth,
		  (struct message_rotate){ .for_s = 60 * 86400 }, &err) < 0 &&
		   err.code == EPERM && !knows(&bed, &fourth, ROLE_AGENT),
	   "a key that ends is not followed by one that ends later: %s",
	   err.text);
	ok(rotate(&bed, &third, &fourth, hour, &err) == 0 &&
		   access_expire(bed.access, now_ms + 2 * hour_ms) &&
		   knows(&bed, &fourth, ROLE_AGENT),
	   "but by one");
	third = fourth;
	bed_close(&bed);
	bed_open(&bed);
	ok(!access_expire(bed.access, now_ms + 29L * 24 * hour_ms) &&
		   access_expire(bed.access, now_ms + 31L * 24 * hour_ms) &&
		   !knows(&bed, &third, ROLE_AGENT),
	   "that ends when the first does, whoever knows it");
	bed_clear(&bed);
}

/* A controller that was off while a key came to its end. */
static void test_expired_before_start(void)
{
	struct key keys[2] = { new_key("op", ROLE_OPERATOR),
			       new_key("n1", ROLE_AGENT) };
	struct key_row row = {
		.public = keys[1].public,
		.name = "n1",
		.role = "agent",
		.grants = "none",
		.by = "op",
		.since_ms = 1,
		.until_ms = clock_wall_ms() - 1000,
	};
	struct error err = { 0 };
	struct bed bed;

	bed_init(&bed, keys, 2);
	ok(store_put_key(bed.store, &row, &err) == 0, "a key ends");
	bed_close(&bed);
	bed_open(&bed);
	ok(!knows(&bed, &keys[1], ROLE_AGENT),
	   "and is refused from the first message on");
	bed_clear(&bed);
}

static void test_rotate_revoked(void)
{
	struct key keys[2] = { new_key("op", ROLE_OPERATOR),
			       new_key("ann", ROLE_VIEWER) };
	struct key next = new_key("ann", ROLE_VIEWER);
	struct error err = { 0 };
	struct bed bed;

	bed_init(&bed, keys, 2);
	ok(rotate(&bed, &keys[1], &next, (struct message_rotate){ 0 }, &err) ==
			   0 &&
		   drop_key(&bed, "user", "ann", &err) == 0 &&
		   !knows(&bed, &keys[1], ROLE_VIEWER) &&
		   !knows(&bed, &next, ROLE_VIEWER),
	   "who is removed has neither key: %s", err.text);
	ok(rotate(&bed, &keys[1], &next, (struct message_rotate){ 0 }, &err) <
		   0,
	   "and rotates no more: %s", err.text);
	bed_clear(&bed);
}

/* In memory only. revoked_ms 0: they are valid. */
static void fill(struct bed *bed, int64_t revoked_ms)
{
	char public[KEY_TEXT_SIZE];

	while (bed->access->count < ACCESS_KEYS_MAX) {
		struct key_entry *entry;

		snprintf(public, sizeof(public), "%040zu", bed->access->count);
		entry = key_entry_add(bed->access, "x", ROLE_AGENT, public,
				      "op", NULL);
		entry->revoked_ms = revoked_ms ? revoked_ms++ : 0;
		bed->access->count++;
	}
}

static bool has(struct bed *bed, const struct key *key)
{
	return key_entry_find(bed->access, key->public);
}

static void test_full(void)
{
	struct key keys[3] = { new_key("op", ROLE_OPERATOR),
			       new_key("n1", ROLE_AGENT),
			       new_key("n2", ROLE_AGENT) };
	struct key t = new_key("t", ROLE_JOINER),
		   n3 = new_key("n3", ROLE_AGENT);
	struct key n4 = new_key("n4", ROLE_AGENT);
	struct key_row row = {
		.public = n3.public,
		.name = "n3",
		.role = "agent",
		.grants = "none",
		.by = "op",
		.since_ms = 1,
		.revoked_ms = clock_wall_ms() - 300LL * 86400 * 1000,
	};
	struct error err = { 0 };
	struct bed bed;

	bed_init(&bed, keys, 3);
	store_put_key(bed.store, &row, &err);
	row.public = keys[1].public;
	row.name = "n1";
	row.revoked_ms = 1;
	store_put_key(bed.store, &row, &err);
	bed_close(&bed);
	bed_open(&bed);
	ok(has(&bed, &n3) && !knows(&bed, &n3, ROLE_AGENT),
	   "a revoked key is remembered for a year");
	ok(has(&bed, &keys[1]) && !knows(&bed, &keys[1], ROLE_AGENT),
	   "one that the file has for ever");
	row.public = n3.public;
	row.name = "n3";
	row.revoked_ms = clock_wall_ms() - 400LL * 86400 * 1000;
	store_put_key(bed.store, &row, &err);
	bed_close(&bed);
	bed_open(&bed);
	ok(!has(&bed, &n3) && !knows(&bed, &n3, ROLE_AGENT),
	   "then it is only unknown");
	ok(token(&bed, &t, (struct message_token){ 0 }, &err) == 0, "a token");
	fill(&bed, 1000);
	ok(enrol(&bed, &t, &n4, NULL, &err) == 0 &&
		   bed.access->count <= ACCESS_KEYS_MAX && has(&bed, &keys[1]),
	   "of too many keys the one revoked first makes room: %s", err.text);
	bed_close(&bed);
	bed_open(&bed);
	t = new_key("t", ROLE_JOINER);
	token(&bed, &t, (struct message_token){ 0 }, &err);
	fill(&bed, 0);
	n4 = new_key("n5", ROLE_AGENT);
	ok(enrol(&bed, &t, &n4, NULL, &err) < 0 && err.code == ENOSPC,
	   "valid ones do not: %s", err.text);
	ok(drop_key(&bed, "node", "n2", &err) == 0 &&
		   !knows(&bed, &keys[2], ROLE_AGENT),
	   "but a key of the file can be revoked: %s", err.text);
	bed_clear(&bed);
}

static void test_revoke_token(void)
{
	struct key op = new_key("op", ROLE_OPERATOR);
	struct key t = new_key("t", ROLE_JOINER),
		   n1 = new_key("n1", ROLE_AGENT);
	struct error err = { 0 };
	struct bed bed;
	char name[KEY_NAME_SIZE] = "";

	bed_init(&bed, &op, 1);
	token(&bed, &t, (struct message_token){ 0 }, &err);
	access_tokens(bed.access, copy_name, name);
	ok(drop_key(&bed, "token", name, &err) == 0 &&
		   !knows(&bed, &t, ROLE_JOINER) &&
		   enrol(&bed, &t, &n1, NULL, &err) < 0,
	   "a token is revoked: %s", err.text);
	bed_clear(&bed);
}

int main(void)
{
	tap_begin(60);
	test_token();
	test_limits();
	test_people();
	test_rekey();
	test_networks();
	test_from();
	test_rotate();
	test_expired_before_start();
	test_rotate_revoked();
	test_revoke_token();
	test_full();
	return tap_done();
}
