/* main.c - feeds a fuzzer its seeds, without libFuzzer, and reports in TAP.
 *
 *	NAME [FOLDER]		default: tests/fuzz/corpus/NAME
 *
 * What has once broken a decoder is a seed; an input that breaks it again ends
 * the program, and is the last that it named.
 */
#include "protocol/base/buffer.h"
#include "protocol/base/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define SEED_MAX (64 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
__attribute__((weak)) int LLVMFuzzerInitialize(int *argc, char ***argv);

static int feed(const char *folder, const char *name)
{
	owned(buffer_clear) struct buffer seed = BUFFER_INIT(SEED_MAX);
	struct error err = { 0 };
	char path[PATH_MAX + 256];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	printf("# %s\n", path);
	if (file_read(AT_FDCWD, path, &seed, &err) < 0) {
		printf("# %s\n", err.text);
		return -1;
	}
	LLVMFuzzerTestOneInput((const uint8_t *)(seed.data ? seed.data : ""),
			       seed.size);
	return 0;
}

int main(int argc, char **argv)
{
	const char *name = strrchr(argv[0], '/');
	char folder[PATH_MAX];
	struct dirent *entry;
	int count = 0, bad = 0;
	DIR *seeds;

	name = name ? name + 1 : argv[0];
	snprintf(folder, sizeof(folder), "tests/fuzz/corpus/%s", name);
	if (argc > 1)
		snprintf(folder, sizeof(folder), "%s", argv[1]);
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (LLVMFuzzerInitialize)
		LLVMFuzzerInitialize(&argc, &argv);
	/* No seed at all is one, too. */
	LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
	seeds = opendir(folder);
	while (seeds && (entry = readdir(seeds))) {
		if (entry->d_name[0] == '.')
			continue;
		bad |= feed(folder, entry->d_name);
		count++;
	}
	if (seeds)
		closedir(seeds);
	printf("%sok 1 - %s: %d seeds break nothing\n1..1\n", bad ? "not " : "",
	       name, count);
	return bad ? 1 : 0;
}
