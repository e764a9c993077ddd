/* fuzz.h - what fuzzers share: a claim, and the input as a file.
 *
 * Who feeds what comes from outside to whom:
 *
 *	messages, frames, replies, log chunks	message, stream_index
 *	tokens, networks, references, key lists	names
 *	settings, keys, rotated keys, docker's credentials, stack tools,
 *	failures.yaml, lists of processors	settings
 *	sweeps, with models and frameworks	sweep_file
 *	a node's policy				policy
 *	vendors' profiles, their tools' output	profile, sample
 *	logs: rules, bars, colours, labels	extract, log_lines
 *	output of failed programs		causes
 *	samples, evidence and stacks of nodes	node_streams
 *	exit records				exit_record
 *	the engine's answers and streams	engine_json, engine_stream
 *	images: lists of files, of the engine	imagelist, image_inventory
 *	tar: contexts, workspaces, collected files	tar_filter, unpack
 *	python3's view of FlagPerf's files	python_files
 *	output for a terminal			terminal_text
 *	reports as a baseline, requirements	report_file
 *	files of sweeps				bundle
 *
 * Libraries of others read HTTP requests (libmicrohttpd), ZMTP (libzmq), CBOR
 * items (libcbor), JSON (cJSON), YAML events (libyaml) and tables of the store
 * (SQLite); what we make of them is above.
 */
#pragma once

#include "protocol/base/file.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void must(bool good)
{
	if (!good)
		abort();
}

/* A refusal has a code and a sentence. */
static inline void must_say(const struct error *err)
{
	must(err->code && err->text[0]);
}

/* A folder in memory of this process's own, which goes with it. */
static char fuzz_folder_path[] = "/dev/shm/fuzz-XXXXXX";

static inline void fuzz_folder_drop(void)
{
	file_remove_tree(AT_FDCWD, fuzz_folder_path, NULL);
}

static inline const char *fuzz_folder(void)
{
	static bool made;

	if (!made) {
		must(mkdtemp(fuzz_folder_path) != NULL);
		atexit(fuzz_folder_drop);
		made = true;
	}
	return fuzz_folder_path;
}

/* A file of that name in it, which its owner alone may read. */
static inline const char *fuzz_file(const char *name, const void *data,
				    size_t size)
{
	static char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", fuzz_folder(), name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	must(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	close(fd);
	return path;
}

/* The input as text, with a 0 behind it; the caller frees it. */
static inline char *fuzz_text(const uint8_t *data, size_t size)
{
	char *text = calloc(1, size + 1);

	must(text != NULL);
	memcpy(text, data, size);
	return text;
}
