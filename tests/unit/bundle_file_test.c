/* bundle_file_test.c - a sweep in one file: what was signed is read, and
 * nothing else.
 */
#include "controller/access/statement.h"
#include "controller/cli/commands/bundle_file.h"
#include "protocol/base/digest.h"
#include "protocol/base/file.h"
#include "tests/tap.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define REPORT "{\"version\":2,\"rows\":[{\"job\":1,\"cell\":\"a=1\"}]}"

static char folder[] = "/tmp/bundle-XXXXXX";
static char path[200];
static struct key key;
static struct error err;

/* How a file differs from a good one. */
struct change {
	const char
		*extra;   /* a path before the manifest that it does not list */
	const char *link; /* the target of that one, a symbolic link */
	const char *last; /* a path behind the signature */
	const char *report; /* other bytes than the listed ones */
	const char *by;     /* another user than the signed one */
	uint32_t version;
	bool no_manifest, no_signature, other_sweep;
};

static void put(struct archive *out, const char *name, const char *link,
		const char *text)
{
	struct archive_entry *entry = archive_entry_new();

	archive_entry_set_pathname(entry, name);
	archive_entry_set_filetype(entry, link ? AE_IFLNK : AE_IFREG);
	archive_entry_set_perm(entry, 0644);
	if (link)
		archive_entry_set_symlink(entry, link);
	else
		archive_entry_set_size(entry, (int64_t)strlen(text));
	archive_write_header(out, entry);
	if (!link)
		archive_write_data(out, text, strlen(text));
	archive_entry_free(entry);
}

static char *hash_of(const char *text, char hex[DIGEST_HEX_SIZE])
{
	struct digest digest;

	digest_init(&digest);
	digest_add(&digest, text, strlen(text));
	digest_hex(&digest, hex);
	return hex;
}

static void put_signed(struct archive *out, const struct change *change,
		       const struct bundle_manifest *manifest)
{
	struct reply_sign sign = { .sweep = 7, .at_ms = 5000 };
	owned(buffer_clear) struct buffer text = BUFFER_INIT(1 << 20);
	char hex[DIGEST_HEX_SIZE];

	codec_encode(&bundle_manifest_schema, manifest, &text, NULL);
	if (!change->no_manifest)
		put(out, "manifest.json", NULL, text.data);
	string_set(&sign.manifest, hash_of(text.data, hex), NULL);
	string_set(&sign.by, "ann", NULL);
	sign.sweep += change->other_sweep;
	statement_sign(&key, &sign, NULL);
	if (change->by)
		string_set(&sign.by, change->by, NULL);
	buffer_clear(&text);
	codec_encode(&reply_sign_schema, &sign, &text, NULL);
	if (!change->no_signature)
		put(out, "signature.json", NULL, text.data);
	codec_clear(&reply_sign_schema, &sign);
}

static void make(const struct change *change)
{
	char hexes[2][DIGEST_HEX_SIZE];
	struct bundle_file files[] = {
		{ (char *)"report.json", strlen(REPORT),
		  hash_of(REPORT, hexes[0]) },
		{ (char *)"logs/1/1/rank-0", 6, hash_of("hello\n", hexes[1]) },
	};
	const struct bundle_manifest manifest = {
		.version = change->version ? change->version : BUNDLE_VERSION,
		.regatta = (char *)"9.9",
		.sweep = 7,
		.name = (char *)"nightly",
		.client = (char *)"ann",
		.submitted_ms = 4000,
		.files = files,
		.files_count = 2,
	};
	struct archive *out = archive_write_new();

	archive_write_add_filter_zstd(out);
	archive_write_set_format_pax_restricted(out);
	archive_write_open_filename(out, path);
	put(out, "report.json", NULL, change->report ? change->report : REPORT);
	put(out, "logs/1/1/rank-0", NULL, "hello\n");
	if (change->extra)
		put(out, change->extra, change->link, "x");
	put_signed(out, change, &manifest);
	if (change->last)
		put(out, change->last, NULL, "x");
	archive_write_close(out);
	archive_write_free(out);
}

static bool reads(struct bundle *bundle, const char *logs)
{
	err = (struct error){ 0 };
	return bundle_read(path, logs, bundle, &err) == 0;
}

static void test_good(void)
{
	owned(bundle_clear) struct bundle bundle = { 0 };
	owned(buffer_clear) struct buffer log = BUFFER_INIT(100);
	char logs[100], file[150];

	snprintf(logs, sizeof(logs), "%s/logs", folder);
	snprintf(file, sizeof(file), "%s/logs/1/1/rank-0", logs);
	mkdir(logs, 0700);
	make(&(struct change){ 0 });
	ok(reads(&bundle, logs), "what was written is read %s", err.text);
	ok(bundle.rows.count == 1 && bundle.rows.items->info.job == 1,
	   "with its rows");
	is(bundle_about(&bundle).name, "nightly", "and what is known of it");
	is(bundle.signature.by, "ann", "and who asked for it");
	ok(file_read(AT_FDCWD, file, &log, NULL) == 0 &&
		   !strcmp(log.data, "hello\n"),
	   "its logs are unpacked");
	bundle_clear(&bundle);
	ok(!reads(&bundle, logs) && err.code == EEXIST,
	   "but nothing is written over (%s)", err.text);
}

static void test_refused(void)
{
	static const struct {
		const char *what;
		struct change change;
		const char *text;
	} cases[] = {
		{ "a changed report",
		  { .report = "{\"version\":2,\"rows\":[]}" },
		  "report.json was changed: its hash is not that of the "
		  "manifest" },
		{ "a file that is not listed",
		  { .extra = "logs/2/1/rank-0" },
		  "logs/2/1/rank-0 is not in the manifest there" },
		{ "a path that leads out",
		  { .extra = "logs/../../x" },
		  "'logs/../../x' is not valid in a bundle" },
		{ "an absolute path",
		  { .extra = "/tmp/x" },
		  "'/tmp/x' is not valid in a bundle" },
		{ "a link",
		  { .extra = "logs/2", .link = "/tmp" },
		  "'logs/2' is not valid in a bundle" },
		{ "a second report",
		  { .extra = "report.json" },
		  "is not in the manifest there" },
		{ "a file behind the signature",
		  { .last = "x" },
		  "'x' comes after the signature" },
		{ "no manifest",
		  { .no_manifest = true },
		  "it has no manifest.json or no signature.json" },
		{ "no signature",
		  { .no_signature = true },
		  "it has no manifest.json or no signature.json" },
		{ "another user than the signed one",
		  { .by = "bob" },
		  "the signature is wrong" },
		{ "the signature of another sweep",
		  { .other_sweep = true },
		  "the signature is of another manifest" },
		{ "a later version",
		  { .version = 9 },
		  "a bundle of version 9, by Regatta 9.9; this one reads "
		  "versions up to 1" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		owned(bundle_clear) struct bundle bundle = { 0 };

		make(&cases[i].change);
		ok(!reads(&bundle, NULL) && strstr(err.text, cases[i].text) &&
			   (err.code == EINVAL),
		   "%s is refused: %s", cases[i].what, err.text);
	}
}

/* A file that is cut anywhere, and one that is none. */
static void test_damaged(void)
{
	owned(buffer_clear) struct buffer whole = BUFFER_INIT(1 << 20);
	size_t read = 0;

	make(&(struct change){ 0 });
	file_read(AT_FDCWD, path, &whole, NULL);
	for (size_t size = 0; size < whole.size; size += 7) {
		owned(bundle_clear) struct bundle bundle = { 0 };

		file_write(AT_FDCWD, path, whole.data, size, 0600, 0, NULL);
		read += reads(&bundle, NULL) || !*err.text;
	}
	is_int((long long)read, 0, "a file that is cut is refused in words");
	file_write(AT_FDCWD, path, "sweep: x\n", 9, 0600, 0, NULL);
	ok(!reads(&(struct bundle){ 0 }, NULL) && err.code == EINVAL,
	   "and so is another one: %s", err.text);
}

static void test_bomb(void)
{
	size_t size = (size_t)64 << 20;
	char *zeros = calloc(1, size + 1);

	memset(zeros, ' ', size);
	make(&(struct change){ .report = zeros });
	free(zeros);
	ok(!reads(&(struct bundle){ 0 }, NULL) && err.code == E2BIG,
	   "what grows beyond all measure is refused: %s", err.text);
}

static void test_names(void)
{
	char name[PATH_MAX];

	ok(bundle_log_path(3, 1, "rank-0", name, &err) == 0 &&
		   !strcmp(name, "logs/3/1/rank-0"),
	   "a stream has a path");
	ok(bundle_log_path(3, 1, "../x", name, &err) < 0 &&
		   bundle_log_path(3, 1, "", name, &err) < 0 &&
		   bundle_log_path(3, 1, "a/b", name, &err) < 0,
	   "which stays in its folder");
}

int main(void)
{
	tap_begin(60);
	if (!mkdtemp(folder))
		return 1;
	snprintf(path, sizeof(path), "%s/a.tar.zst", folder);
	key_generate(&key, "controller", ROLE_CONTROLLER, &err);
	test_good();
	test_refused();
	test_damaged();
	test_bomb();
	test_names();
	file_remove_tree(AT_FDCWD, folder, NULL);
	return tap_done();
}
