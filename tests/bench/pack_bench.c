/* pack_bench.c - a folder as a tar file and back, beside tar.
 *
 *	pack_bench --build DIR --folder DIR
 *
 * Two trees: code (10,000 files of 4 KiB) and weights (4 files, 512 MiB in
 * all). Ours hashes what it packs, and unpacks as `regatta fetch` does; tar
 * writes the same without a hash, and then with sha256sum behind it. What is
 * unpacked is not synced.
 */
#include "protocol/base/file.h"
#include "protocol/blob/blob_store.h"
#include "protocol/blob/incoming.h"
#include "protocol/blob/tarball.h"
#include "protocol/blob/unpack.h"
#include "tests/bench/measure.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define PIECE (1 << 20)

static const char *folder;
static struct error error;

static void must(bool good)
{
	if (!good)
		fail(&error);
}

static void make_tree(const char *name, int files, size_t size)
{
	owned_free char *bytes = malloc(size);
	char path[4096];

	for (int i = 0; i < files; i++) {
		snprintf(path, sizeof(path), "%s/%s/%d", folder, name, i / 100);
		must(file_make_folders(path, 0755, &error) == 0);
		randombytes_buf(bytes, size);
		snprintf(path, sizeof(path), "%s/%s/%d/%d", folder, name,
			 i / 100, i);
		must(file_write(AT_FDCWD, path, bytes, size, 0644, 0, &error) ==
		     0);
	}
}

static double pack(const char *name)
{
	owned(tarball_free) struct tarball *tarball = NULL;
	owned_free char *piece = malloc(PIECE);
	owned_fd int to = -1;
	double began = clock_s();
	char path[4096];
	ssize_t got;

	snprintf(path, sizeof(path), "%s/ours.tar", folder);
	to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	must((tarball = tarball_new(path, NULL, &error)) != NULL);
	while ((got = tarball_read(tarball, piece, PIECE, &error)) > 0)
		must(write(to, piece, (size_t)got) == got);
	must(got == 0 && fsync(to) == 0);
	return clock_s() - began;
}

/* As it comes in at a node: in pieces, hashed, synced. */
static double store(struct blob_store *blobs, char hash[BLOB_HASH_SIZE])
{
	owned(incoming_free) struct incoming *incoming =
		incoming_new(blobs, NULL, BLOB_BYTES_MAX, &error);
	owned_free char *piece = malloc(PIECE);
	owned_fd int from = -1;
	double began = clock_s();
	char path[4096];
	ssize_t got;
	int rc;

	snprintf(path, sizeof(path), "%s/ours.tar", folder);
	from = open(path, O_RDONLY | O_CLOEXEC);
	while ((got = read(from, piece, PIECE)) > 0)
		must(incoming_write(incoming, piece, (size_t)got, &error) == 0);
	while ((rc = incoming_finish(incoming, hash, &error)) > 0)
		;
	must(rc == 0);
	return clock_s() - began;
}

static double take_out(struct blob_store *blobs, const char *hash)
{
	static const struct unpack_limits limits = { BLOB_BYTES_MAX, 1000000 };
	owned_fd int tar = blob_store_open(blobs, hash, &error);
	owned_fd int dir = -1;
	double began;
	char path[4096];

	sync();
	began = clock_s();
	snprintf(path, sizeof(path), "%s/out", folder);
	must(file_make_folders(path, 0755, &error) == 0);
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	must(unpack(tar, dir, NULL, &limits, NULL, NULL, NULL, &error) == 0);
	return clock_s() - began;
}

static void run(const char *text, const char *name)
{
	char command[8192];

	/* text is one of ours: of the folder, and the tree's name in it. */
	snprintf(command, sizeof(command), "F='%s' N='%s'; %s", folder, name,
		 text);
	if (system(command) != 0) {
		error_set(&error, EIO, "%s", text);
		fail(&error);
	}
}

/* What was done before is removed, and on disk. */
static double shell(const char *text, const char *name)
{
	double began;

	run("rm -rf \"$F/out\"; mkdir \"$F/out\"; sync", name);
	began = clock_s();
	run(text, name);
	return clock_s() - began;
}

static void line(const char *tree, const char *way, double mib, double in_s,
		 double out_s)
{
	cJSON *result = result_new("pack", way);

	cJSON_AddStringToObject(result, "tree", tree);
	cJSON_AddNumberToObject(result, "pack_mib_s", mib / in_s);
	if (out_s > 0) {
		printf("  %-10s %-34s %8.0f %8.0f\n", tree, way, mib / in_s,
		       mib / out_s);
		cJSON_AddNumberToObject(result, "unpack_mib_s", mib / out_s);
	} else {
		printf("  %-10s %-34s %8.0f %8s\n", tree, way, mib / in_s, "-");
	}
	result_put(result);
}

static void measure(struct blob_store *blobs, const char *name, int files,
		    size_t size)
{
	double mib = (double)files * (double)size / (1 << 20), in, out, kept;
	char hash[BLOB_HASH_SIZE];

	make_tree(name, files, size);
	sync(); /* or the first to sync pays for the tree */
	in = pack(name);
	kept = store(blobs, hash);
	out = take_out(blobs, hash);
	line(name, "regatta: hashed, synced", mib, in, out);
	line(name, "  into the store of a node", mib, kept, 0);
	in = shell("tar -C \"$F/$N\" -cf \"$F/a.tar\" . && sync \"$F/a.tar\"",
		   name);
	out = shell("tar -C \"$F/out\" -xf \"$F/a.tar\"", name);
	line(name, "tar, synced", mib, in, out);
	in = shell("tar -C \"$F/$N\" -cf - . | tee \"$F/a.tar\" | sha256sum "
		   ">/dev/null && sync \"$F/a.tar\"",
		   name);
	line(name, "tar | sha256sum, synced", mib, in, 0);
	run("rm -rf \"$F/$N\" \"$F/a.tar\" \"$F/ours.tar\" \"$F/content\" "
	    "\"$F/out\"",
	    name);
}

int main(int argc, char **argv)
{
	struct blob_store *blobs;

	for (int i = 1; i + 1 < argc; i += 2)
		if (!strcmp(argv[i], "--folder"))
			folder = argv[i + 1];
	if (!folder || sodium_init() < 0) {
		fprintf(stderr, "usage: pack_bench --folder DIR\n");
		return 2;
	}
	blobs = blob_store_new(folder, &error);
	must(blobs != NULL);
	printf("  %-10s %-34s %8s %8s\n", "tree", "(MiB/s)", "pack", "unpack");
	measure(blobs, "code", is_quick() ? 500 : 10000, 4096);
	blob_store_free(blobs);
	blobs = blob_store_new(folder, &error);
	must(blobs != NULL);
	measure(blobs, "weights", 4, is_quick() ? 4 << 20 : 128 << 20);
	blob_store_free(blobs);
	return 0;
}
