/* yardstick_bench.c - what the machine itself can do, at this minute.
 *
 *	yardstick_bench --build DIR --folder DIR
 *		[--engine unix://SOCKET --image REFERENCE]
 *
 * It runs before each benchmark, so that figures of two machines, or of two
 * hours of a shared one, can be compared: a copy in memory, the encryption of a
 * frame as CURVE does it (a box of 64 KiB), 4 KiB made safe on the folder's
 * disk, and, with an engine, the bare creation of a container. Each takes a
 * tenth of a second, in a quick run a hundredth.
 */
#include "protocol/base/file.h"
#include "tests/bench/bare_engine.h"
#include "tests/bench/measure.h"

#include <fcntl.h>
#include <getopt.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LASTS_S 0.1
#define QUICK_LASTS_S 0.01
#define COPY_BYTES (32 << 20) /* more than a cache holds */
#define BOX_BYTES (64 << 10)
#define SYNC_BYTES 4096
#define SYNCS_MAX 200
#define CREATES 3
#define QUICK_CREATES 1

static struct error error;
static double lasts_s;
static volatile char sink; /* what is copied is wanted */

static void must(bool good)
{
	if (!good)
		fail(&error);
}

static double copy_gb_s(void)
{
	owned_free char *from = malloc(COPY_BYTES);
	owned_free char *to = malloc(COPY_BYTES);
	double began, lasted;
	int copies = 0;

	must(from && to);
	memset(from, 1, COPY_BYTES);
	memset(to, 2, COPY_BYTES);
	began = clock_s();
	do {
		from[copies++] ^= 3; /* no copy is like the one before */
		memcpy(to, from, COPY_BYTES);
		lasted = clock_s() - began;
	} while (lasted < lasts_s);
	sink = to[0];
	return (double)copies * COPY_BYTES / lasted / 1e9;
}

static double box_mb_s(void)
{
	unsigned char public_key[crypto_box_PUBLICKEYBYTES];
	unsigned char secret_key[crypto_box_SECRETKEYBYTES];
	unsigned char shared[crypto_box_BEFORENMBYTES];
	unsigned char nonce[crypto_box_NONCEBYTES] = { 0 };
	owned_free unsigned char *text = calloc(1, BOX_BYTES);
	owned_free unsigned char *box = malloc(BOX_BYTES + crypto_box_MACBYTES);
	double began, lasted;
	int boxes = 0;

	must(text && box && crypto_box_keypair(public_key, secret_key) == 0 &&
	     crypto_box_beforenm(shared, public_key, secret_key) == 0);
	began = clock_s();
	do {
		sodium_increment(nonce, sizeof(nonce));
		must(crypto_box_easy_afternm(box, text, BOX_BYTES, nonce,
					     shared) == 0);
		boxes++;
		lasted = clock_s() - began;
	} while (lasted < lasts_s);
	return (double)boxes * BOX_BYTES / lasted / 1e6;
}

static double sync_ms(const char *folder)
{
	static const char block[SYNC_BYTES];
	double times[SYNCS_MAX];
	double began = clock_s(), before = began, now;
	char path[4096];
	owned_fd int file = -1;
	size_t count = 0;

	snprintf(path, sizeof(path), "%s/yardstick", folder);
	file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	must(file >= 0);
	do {
		must(write(file, block, sizeof(block)) == sizeof(block) &&
		     fdatasync(file) == 0);
		now = clock_s();
		times[count++] = (now - before) * 1e3;
		before = now;
	} while (count < SYNCS_MAX && now - began < lasts_s);
	unlink(path);
	return measure_quantile(times, count, 0.5);
}

static double create_ms(const struct engine_options *options)
{
	size_t count = is_quick() ? QUICK_CREATES : CREATES;
	struct bare_times times[CREATES];
	double created[CREATES];

	must(bare_engine_run(options, count, 1, times, &error) == 0);
	for (size_t i = 0; i < count; i++)
		created[i] = times[i].created_s * 1e3;
	return measure_quantile(created, count, 0.5);
}

static void options_read(struct engine_options *options, int argc, char **argv)
{
	static const struct option names[] = {
		{ "build", required_argument, NULL, 'b' },
		{ "folder", required_argument, NULL, 'f' },
		{ "engine", required_argument, NULL, 'e' },
		{ "image", required_argument, NULL, 'i' },
		{ NULL, 0, NULL, 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "", names, NULL)) != -1) {
		if (option == 'b')
			options->build = optarg;
		else if (option == 'f')
			options->folder = optarg;
		else if (option == 'e')
			options->engine = optarg;
		else if (option == 'i')
			options->image = optarg;
		else
			exit(2);
	}
	if (!options->folder || !options->engine != !options->image) {
		fputs("yardstick_bench: needs --folder, and --image with "
		      "--engine\n",
		      stderr);
		exit(2);
	}
}

int main(int argc, char **argv)
{
	struct engine_options options = { 0 };
	cJSON *result = result_new("yardstick", "machine");
	double copy, box, sync, create = 0;

	options_read(&options, argc, argv);
	lasts_s = is_quick() ? QUICK_LASTS_S : LASTS_S;
	error_set(&error, 1, "the machine's yardsticks cannot be taken");
	must(sodium_init() >= 0);
	copy = copy_gb_s();
	box = box_mb_s();
	sync = sync_ms(options.folder);
	if (options.engine)
		create = create_ms(&options);
	printf("  this machine now: memcpy %.1f GB/s, box %.0f MB/s, sync %.2f "
	       "ms",
	       copy, box, sync);
	if (options.engine)
		printf(", create %.1f ms", create);
	putchar('\n');
	cJSON_AddNumberToObject(result, "memcpy_gb_s", copy);
	cJSON_AddNumberToObject(result, "box_mb_s", box);
	cJSON_AddNumberToObject(result, "sync_ms", sync);
	if (options.engine)
		cJSON_AddNumberToObject(result, "create_ms", create);
	result_put(result);
	return 0;
}
