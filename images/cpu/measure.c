/* measure.c - how fast this machine computes, moves memory, writes files and
 * starts a container.
 */
#include "images/cpu/measure.h"
#include "images/cpu/matrix.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SIDE 384UL                    /* of the matrices */
#define COPY_BYTES ((size_t)64 << 20) /* more than caches hold */
#define WRITE_BYTES ((size_t)4 << 20) /* between two syncs */
#define FILE_BYTES ((size_t)64 << 20) /* written over again from there */

static double measure_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Each returns the rate per second of what it did; below 0: it failed. */

static double measure_compute(double seconds, float *room)
{
	struct matrix_room *copies = matrix_room_new(false);
	struct matrix a = { room, SIDE, false };
	struct matrix b = { room + SIDE * SIDE, SIDE, false };
	double begun = measure_seconds(), now = begun, done = 0;

	for (size_t i = 0; i < 2 * SIDE * SIDE; i++)
		room[i] = (float)(i % 7);
	while (copies && now < begun + seconds) {
		matrix_multiply(copies, SIDE, SIDE, SIDE, a, b,
				room + 2 * SIDE * SIDE, SIDE, false);
		done += 2.0 * SIDE * SIDE * SIDE;
		now = measure_seconds();
	}
	matrix_room_free(copies);
	return copies ? done / (now - begun) : -1;
}

static double measure_memory(double seconds, char *from, char *to)
{
	double begun, now, done = 0;

	memset(from, 1, COPY_BYTES);
	memset(to, 2, COPY_BYTES);
	begun = now = measure_seconds();
	while (now < begun + seconds) {
		memcpy(to, from, COPY_BYTES);
		from[0] = to[COPY_BYTES / 2]; /* the copy is needed */
		done += COPY_BYTES;
		now = measure_seconds();
	}
	return done / (now - begun);
}

static double measure_disk(double seconds, int fd, const char *bytes)
{
	double begun = measure_seconds(), now = begun, done = 0;
	off_t at = 0;

	while (now < begun + seconds) {
		if (pwrite(fd, bytes, WRITE_BYTES, at) !=
			    (ssize_t)WRITE_BYTES ||
		    fdatasync(fd) < 0)
			return -1;
		at = (at + (off_t)WRITE_BYTES) % (off_t)FILE_BYTES;
		done += WRITE_BYTES;
		now = measure_seconds();
	}
	return done / (now - begun);
}

/* When process 1 began, in seconds since boot; below 0: not known. Source:
 * proc_pid_stat(5), starttime.
 */
static double container_began(void)
{
	FILE *file = fopen("/proc/1/stat", "re");
	unsigned long long ticks;
	char text[1024] = "";
	const char *at;

	if (!file)
		return -1;
	at = fgets(text, sizeof(text), file) ? strrchr(text, ')') : NULL;
	fclose(file);
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	return at && sscanf(at, "%llu", &ticks) == 1
		       ? (double)ticks / (double)sysconf(_SC_CLK_TCK)
		       : -1;
}

/* From the file that the agent writes before it tells the engine to start the
 * container, to its first process; below 0: not known.
 */
static double engine_seconds(void)
{
	double began = container_began();
	struct timespec wall, boot;
	struct stat told;

	if (began < 0 || stat("/regatta/in/start", &told) < 0 ||
	    clock_gettime(CLOCK_REALTIME, &wall) < 0 ||
	    clock_gettime(CLOCK_BOOTTIME, &boot) < 0)
		return -1;
	return (double)(wall.tv_sec - boot.tv_sec - told.st_mtim.tv_sec) +
	       (double)(wall.tv_nsec - boot.tv_nsec - told.st_mtim.tv_nsec) /
		       1e9 +
	       began;
}

int measure(uint32_t ms, const char *folder, FILE *out, struct failure *failure)
{
	double seconds = ms / 1000.0, compute = -1, memory = -1, disk = -1;
	double engine = engine_seconds();
	char *from = malloc(COPY_BYTES), *to = malloc(COPY_BYTES);
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/measure-XXXXXX", folder);
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	if (from && to && fd >= 0) {
		compute = measure_compute(seconds, (float *)(void *)from);
		memory = measure_memory(seconds, from, to);
		disk = measure_disk(seconds, fd, from);
	}
	if (compute < 0 || memory < 0 || disk < 0)
		failure_set(failure, "cannot measure in %.200s: %s", folder,
			    strerror(errno));
	else
		fprintf(out,
			"measured | compute %.1f GFLOP/s | memory %.1f MiB/s | "
			"disk %.1f MiB/s",
			compute / 1e9, memory / 1048576, disk / 1048576);
	if (disk >= 0 && engine > 0)
		fprintf(out, " | engine start %.0f ms", engine * 1000);
	if (disk >= 0)
		fputc('\n', out);
	fflush(out);
	if (fd >= 0)
		close(fd);
	free(from);
	free(to);
	return disk < 0 || memory < 0 || compute < 0 ? -1 : 0;
}
