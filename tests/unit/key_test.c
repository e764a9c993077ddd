/* key_test.c - key files that only their owner reads, and the list of keys.
 */
#include "protocol/base/clock.h"
#include "protocol/base/file.h"
#include "protocol/wire/keyring.h"
#include "tests/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

struct folder {
	char path[64];
	char file[128];
};

static void folder_clear(struct folder *folder)
{
	file_remove_tree(AT_FDCWD, folder->path, NULL);
}
OWNED_VALUE(struct folder, folder_clear)

static void folder_init(struct folder *folder)
{
	snprintf(folder->path, sizeof(folder->path), "/tmp/key_test.XXXXXX");
	ok(mkdtemp(folder->path) != NULL, "a folder is made");
	snprintf(folder->file, sizeof(folder->file), "%s/file", folder->path);
}

static void put(const struct folder *folder, const char *text)
{
	file_write(AT_FDCWD, folder->file, text, strlen(text), 0600, 0, NULL);
}

static bool same_key(const struct key *a, const struct key *b)
{
	return !strcmp(a->name, b->name) && a->role == b->role &&
	       !strcmp(a->public, b->public) && !strcmp(a->secret, b->secret);
}

/* All letters of a path are letters of Z85. */
static void test_path_like_a_key(void)
{
	char path[KEY_TEXT_SIZE] = "/tmp/key_test.XXXXXX";
	char public[KEY_TEXT_SIZE];
	struct key key;
	struct error err;

	ok(mkdtemp(path) != NULL, "a folder is made");
	snprintf(path + 20, sizeof(path) - 20, "/controllers-own.key");
	ok(key_generate(&key, "c", ROLE_CONTROLLER, &err) == 0 &&
		   key_save(&key, path, &err) == 0 && strlen(path) == 40,
	   "a key file has a path of 40 characters");
	ok(key_public(path, public, &err) == 0 && !strcmp(public, key.public),
	   "it is read and not taken for a key");
	unlink(path);
	path[20] = 0;
	rmdir(path);
}

static void test_names(void)
{
	static const struct {
		const char *name;
		bool good;
	} cases[] = {
		{ "n1", true },      { "a", true },         { "0", true },
		{ "a.b_c-D", true }, { "", false },         { ".a", false },
		{ "-a", false },     { "a b", false },      { "a/b", false },
		{ "a\n", false },    { "\xc3\xa4", false },
	};
	char longest[KEY_NAME_SIZE + 1];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ok(name_valid(cases[i].name) == cases[i].good, "name %zu is %s",
		   i, cases[i].good ? "good" : "bad");
	memset(longest, 'x', sizeof(longest));
	longest[KEY_NAME_SIZE - 1] = 0;
	ok(name_valid(longest), "63 letters are a name");
	longest[KEY_NAME_SIZE - 1] = 'x';
	longest[KEY_NAME_SIZE] = 0;
	ok(!name_valid(longest), "64 are not");
	is(role_name(ROLE_VIEWER), "viewer", "a role has a name");
	ok(!role_name(ROLE_NONE) && !role_name(3), "others have none");
	ok(role_from("agent") == ROLE_AGENT && role_from("root") == ROLE_NONE,
	   "and a name a role");
}

static void test_generate(void)
{
	struct key a = { 0 }, b = { 0 };
	struct error err = { 0 };

	ok(key_generate(&a, "n1", ROLE_AGENT, &err) == 0 &&
		   key_generate(&b, "n1", ROLE_AGENT, &err) == 0,
	   "pairs are made");
	ok(strlen(a.public) == 40 && strlen(a.secret) == 40, "as Z85 text");
	ok(strcmp(a.public, b.public) && strcmp(a.secret, b.secret),
	   "each is another one");
	b = a;
	ok(key_generate(&a, "no name", ROLE_AGENT, &err) < 0 &&
		   err.code == EINVAL && same_key(&a, &b),
	   "a bad name is refused: %s", err.text);
	ok(key_generate(&a, "n1", ROLE_NONE, &err) < 0 && err.code == EINVAL,
	   "so is a role that is none: %s", err.text);
}

/* Names that YAML could take for something else, too. */
static void test_files(void)
{
	static const char *const names[] = { "n1", "null", "true",
					     "12", "1e3",  "0x1f" };
	owned(folder_clear) struct folder folder = { 0 };
	struct error err = { 0 };

	folder_init(&folder);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		owned(keyring_free) struct keyring *ring = NULL;
		struct key key, got = { 0 };
		struct stat st = { 0 };
		char line[256];

		key_generate(&key, names[i], ROLE_OPERATOR, NULL);
		ok(key_save(&key, folder.file, &err) == 0 &&
			   stat(folder.file, &st) == 0 &&
			   (st.st_mode & 07777) == 0600,
		   "the key of %s is saved, for its owner only", names[i]);
		ok(key_load(&got, folder.file, &err) == 0 &&
			   same_key(&got, &key),
		   "and read back equal: %s", err.text);
		unlink(folder.file);
		key_line(&key, line, sizeof(line));
		put(&folder, line);
		ring = keyring_new(folder.file, &err);
		ok(ring && keyring_find(ring, key.public) &&
			   !strcmp(keyring_find(ring, key.public)->name,
				   names[i]),
		   "the line of %s in a list is understood", names[i]);
		unlink(folder.file);
	}
}

static void test_save_and_modes(void)
{
	owned(folder_clear) struct folder folder = { 0 };
	struct key key, got = { .name = "before" };
	struct error err = { 0 };

	folder_init(&folder);
	key_generate(&key, "n1", ROLE_AGENT, NULL);
	key_save(&key, folder.file, NULL);
	ok(key_save(&key, folder.file, &err) < 0 && err.code == EEXIST,
	   "an existing key is not overwritten: %s", err.text);
	chmod(folder.file, 0640);
	ok(key_load(&got, folder.file, &err) < 0 && err.code == EPERM &&
		   !strcmp(got.name, "before"),
	   "a key that others may read is refused: %s", err.text);
	unlink(folder.file);
	ok(symlink("nowhere", folder.file) == 0 &&
		   key_save(&key, folder.file, &err) < 0 && err.code == EEXIST,
	   "nor is a link that leads nowhere");
	unlink(folder.file);
	ok(key_load(&got, folder.file, &err) < 0 && err.code == ENOENT,
	   "a missing key file is ENOENT: %s", err.text);
}

static void bad_key(const struct folder *folder, const char *text,
		    const char *want)
{
	struct key got = { .name = "before" };
	struct error err = { 0 };

	put(folder, text);
	ok(key_load(&got, folder->file, &err) < 0 && err.code == EINVAL &&
		   strstr(err.text, want) && !strcmp(got.name, "before"),
	   "refused for '%s': %s", want, err.text);
}

static void test_broken_files(void)
{
	static const char public[] = "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7";
	owned(folder_clear) struct folder folder = { 0 };
	char text[512];
	struct key a, b;

	folder_init(&folder);
	bad_key(&folder, "", "an empty value");
	bad_key(&folder, "[1]", "list");
	bad_key(&folder, "name: n1\n", "role: missing");
	bad_key(&folder, "name: n1\nrole: king\n", "role");
	bad_key(&folder, "role: agent\n", "name: missing");
	bad_key(&folder, "name: a b\nrole: agent\n", "name");
	bad_key(&folder, "name: n1\nrole: agent\nname: n2\n", "name");
	bad_key(&folder, "name: n1\nrole: agent\n", "public: missing");
	bad_key(&folder, "name: n1\nrole: agent\npublic: short\n",
		":3: public: not a key");
	bad_key(&folder, "name: n1\nrole: agent\nprivate: x\n", "private");
	snprintf(text, sizeof(text), "name: n1\nrole: agent\npublic: \"%s\"\n",
		 public);
	bad_key(&folder, text, "secret: missing");
	key_generate(&a, "n1", ROLE_AGENT, NULL);
	key_generate(&b, "n1", ROLE_AGENT, NULL);
	snprintf(text, sizeof(text),
		 "name: n1\nrole: agent\npublic: \"%s\"\nsecret: \"%s\"\n",
		 a.public, b.secret);
	bad_key(&folder, text, "public: does not match the secret");
}

static void list_of(const struct folder *folder, const struct key *keys,
		    size_t count)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(1 << 20);
	char line[256];

	for (size_t i = 0; i < count; i++) {
		key_line(&keys[i], line, sizeof(line));
		buffer_text(&text, line, NULL);
	}
	put(folder, text.data);
}

static void test_list_changes(void)
{
	owned(folder_clear) struct folder folder = { 0 };
	owned(keyring_free) struct keyring *ring = NULL;
	struct key keys[3];
	struct error err = { 0 };

	folder_init(&folder);
	key_generate(&keys[0], "n1", ROLE_AGENT, NULL);
	key_generate(&keys[1], "ann", ROLE_OPERATOR, NULL);
	key_generate(&keys[2], "bob", ROLE_VIEWER, NULL);
	put(&folder, "");
	ring = keyring_new(folder.file, &err);
	ok(ring && !keyring_find(ring, keys[0].public),
	   "nobody is in an empty list");
	list_of(&folder, keys, 2);
	ok(keyring_find(ring, keys[0].public) &&
		   keyring_find(ring, keys[1].public) &&
		   !keyring_find(ring, keys[2].public),
	   "keys that are added are known");
	ok(keyring_named(ring, "ann")->role == ROLE_OPERATOR &&
		   !keyring_named(ring, "bob"),
	   "also by name");
	list_of(&folder, keys + 1, 2);
	ok(!keyring_find(ring, keys[0].public) &&
		   keyring_find(ring, keys[2].public),
	   "a key that is removed is known no more");
	put(&folder, "n1: {role: agent, public: broken}\n");
	ok(keyring_find(ring, keys[2].public) != NULL,
	   "a broken list changes nothing");
	ok(strstr(keyring_problem(ring), ":1: n1.public: not a key"),
	   "and the problem is told: %s", keyring_problem(ring));
	keyring_find(ring, keys[2].public);
	ok(keyring_problem(ring)[0], "as long as it lasts");
	unlink(folder.file);
	ok(keyring_find(ring, keys[2].public) && keyring_problem(ring)[0],
	   "so it is with one that is gone: %s", keyring_problem(ring));
	list_of(&folder, keys, 3);
	ok(keyring_find(ring, keys[0].public) && !keyring_problem(ring)[0],
	   "until it is mended");
	ok(!keyring_find(ring, "") && !keyring_find(ring, "x") &&
		   !keyring_named(ring, ""),
	   "what is no key is not found");
}

static void test_bad_lists(void)
{
	owned(folder_clear) struct folder folder = { 0 };
	owned(keyring_free) struct keyring *ring = NULL;
	struct key keys[2];
	struct error err = { 0 };

	folder_init(&folder);
	ok(!keyring_new(folder.file, &err) && err.code == ENOENT,
	   "a list must be there: %s", err.text);
	put(&folder, "[]");
	ok(!keyring_new(folder.file, &err) && err.code == EINVAL,
	   "and be one: %s", err.text);
	put(&folder, "n1: {role: agent}\n");
	ok(!keyring_new(folder.file, &err) && err.code == EINVAL,
	   "with a key for each: %s", err.text);
	put(&folder, "a b: {role: agent}\n");
	ok(!keyring_new(folder.file, &err) && strstr(err.text, "a b"),
	   "of names that are good: %s", err.text);
	key_generate(&keys[0], "n1", ROLE_AGENT, NULL);
	keys[1] = keys[0];
	memcpy(keys[1].name, "n2", 3);
	list_of(&folder, keys, 2);
	ok(!keyring_new(folder.file, &err) &&
		   strstr(err.text, "have the same key"),
	   "two names cannot share a key: %s", err.text);
}

static void test_bans(void)
{
	owned(folder_clear) struct folder folder = { 0 };
	owned(keyring_free) struct keyring *ring = NULL;
	struct key keys[2];
	int64_t since;

	folder_init(&folder);
	key_generate(&keys[0], "n1", ROLE_AGENT, NULL);
	key_generate(&keys[1], "n2", ROLE_AGENT, NULL);
	list_of(&folder, keys, 2);
	ring = keyring_new(folder.file, NULL);
	keyring_ban(ring, "n1", 60000);
	keyring_ban(ring, "nobody", 60000);
	ok(!keyring_find(ring, keys[0].public) &&
		   keyring_find(ring, keys[1].public),
	   "a banned key is refused, another is not");
	ok(keyring_named(ring, "n1") != NULL, "but it stays in the list");
	list_of(&folder, keys, 1);
	ok(!keyring_find(ring, keys[0].public),
	   "a change of the list does not lift the ban");
	keyring_ban(ring, "n1", 20);
	since = clock_mono_ms();
	while (!keyring_find(ring, keys[0].public))
		if (clock_mono_ms() - since > 5000)
			break;
	ok(keyring_find(ring, keys[0].public) && clock_mono_ms() - since >= 18,
	   "time does");
}

static size_t walk_count(const struct keyring *ring)
{
	size_t at = 0, count = 0;

	while (keyring_next(ring, &at))
		count++;
	return count;
}

static void test_owner(void)
{
	owned(folder_clear) struct folder folder = { 0 };
	owned(keyring_free) struct keyring *ring = NULL;
	struct key keys[4];
	struct error err;
	uint64_t changes;

	folder_init(&folder);
	for (size_t i = 0; i < 4; i++)
		key_generate(&keys[i], i < 2 ? "ann" : "bob", ROLE_VIEWER,
			     NULL);
	list_of(&folder, keys, 1);
	ring = keyring_new(folder.file, NULL);
	changes = keyring_changes(ring);
	ok(keyring_admit(ring, "ann", ROLE_OPERATOR, keys[1].public, &err) ==
			   0 &&
		   !keyring_find(ring, keys[0].public) &&
		   keyring_named(ring, "ann")->role == ROLE_OPERATOR &&
		   walk_count(ring) == 1 && keyring_changes(ring) != changes,
	   "the owner's key counts before the file's of its name");
	keyring_forget(ring, keys[1].public);
	ok(!keyring_find(ring, keys[1].public) &&
		   keyring_find(ring, keys[0].public) && walk_count(ring) == 1,
	   "without it the file's counts again");
	keyring_ban(ring, "ann", 60000);
	ok(keyring_succeed(ring, keys[0].public, keys[1].public, &err) == 0 &&
		   keyring_known(ring, keys[0].public) &&
		   keyring_find(ring, keys[1].public) &&
		   !strcmp(keyring_named(ring, "ann")->public,
			   keys[1].public) &&
		   walk_count(ring) == 2,
	   "a key of the file has a successor, and stays");
	ok(!keyring_find(ring, keys[0].public), "as banned as it was");
	ok(keyring_revoke(ring, keys[0].public, &err) == 0 &&
		   !keyring_known(ring, keys[0].public) &&
		   walk_count(ring) == 1,
	   "until it is revoked");
	keyring_forget(ring, keys[1].public);
	ok(!keyring_named(ring, "ann") && walk_count(ring) == 0,
	   "and the file does not bring it back");
	list_of(&folder, keys + 1, 2);
	keyring_admit(ring, "cay", ROLE_VIEWER, keys[2].public, NULL);
	ok(!keyring_find(ring, keys[0].public) &&
		   keyring_find(ring, keys[1].public) &&
		   !strcmp(keyring_find(ring, keys[2].public)->name, "cay") &&
		   !keyring_named(ring, "bob") && walk_count(ring) == 2,
	   "a new list counts; a key has one name");
	ok(keyring_admit(ring, "ann", ROLE_VIEWER, keys[0].public, &err) < 0 &&
		   err.code == EACCES,
	   "what is revoked is not added again");
}

int main(void)
{
	tap_begin(68);
	test_names();
	test_path_like_a_key();
	test_generate();
	test_files();
	test_save_and_modes();
	test_broken_files();
	test_list_changes();
	test_bad_lists();
	test_bans();
	test_owner();
	return tap_done();
}
