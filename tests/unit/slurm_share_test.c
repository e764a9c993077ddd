/* slurm_share_test.c - an agent in a step of Slurm: what it offers, and until
 * when. Slurm is a script here; tests/long/slurm.t has a real one.
 */
#include "agent/slurm_share.h"
#include "agent/time_limit.h"
#include "protocol/base/clock.h"
#include "protocol/base/file.h"
#include "protocol/base/loop.h"
#include "protocol/base/program.h"
#include "tests/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char folder[] = "/tmp/slurm-share.XXXXXX";

/* What `scontrol show --oneliner` is to print. */
static void slurm_says(const char *line)
{
	char path[100], text[500];

	snprintf(path, sizeof(path), "%s/scontrol", folder);
	snprintf(text, sizeof(text), "#!/bin/sh\necho '%s'\n", line);
	file_write(AT_FDCWD, path, text, strlen(text), 0755, 0, NULL);
}

static void in_step(void)
{
	static const char *const names[] = {
		"SLURM_STEP_GPUS",    "SLURM_JOB_GPUS",
		"SLURM_CPUS_ON_NODE", "SLURM_MEM_PER_NODE",
		"SLURM_MEM_PER_CPU",  "CUDA_VISIBLE_DEVICES"
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unsetenv(names[i]);
	setenv("SLURM_JOB_ID", "17", 1);
	setenv("SLURMD_NODENAME", "n1", 1);
	slurm_says("JobId=17 NodeName=n1 NodeAddr=10.0.0.1 "
		   "EndTime=2030-01-02T03:04:05 X=1");
}

static void what_a_step_has(void)
{
	struct slurm_share share;
	struct error err = { 0 };

	in_step();
	setenv("SLURM_CPUS_ON_NODE", "1", 1);
	setenv("SLURM_MEM_PER_CPU", "512", 1);
	setenv("SLURM_JOB_GPUS", "0,1,2", 1);
	setenv("SLURM_STEP_GPUS", "1,2", 1);
	setenv("TZ", "UTC", 1);
	is_int(slurm_share_read(&share, &err), 0, "a step: %s", err.text);
	is(share.node, "n1", "its node");
	is(share.address, "10.0.0.1", "the node's address");
	is(share.devices, "1,2", "devices of the step go first");
	is_int((int64_t)share.cpus, 1, "processors");
	is_int((int64_t)share.memory_bytes, 512 << 20, "memory by processors");
	is_int(share.end_ms, 1893553445000, "the end");
	unsetenv("SLURM_STEP_GPUS");
	setenv("SLURM_MEM_PER_NODE", "1000", 1);
	slurm_share_read(&share, NULL);
	is(share.devices, "0,1,2", "then those of the job");
	is_int((int64_t)share.memory_bytes, 1000LL << 20, "memory of the node");
	unsetenv("SLURM_JOB_GPUS");
	setenv("CUDA_VISIBLE_DEVICES", "3", 1);
	slurm_share_read(&share, NULL);
	is(share.devices, "3", "then those that programs may see");
}

static void what_slurm_does_not_say(void)
{
	struct slurm_share share;
	struct error err = { 0 };

	in_step();
	slurm_says("JobId=17 EndTime=Unknown X=1");
	is_int(slurm_share_read(&share, &err), 0, "no end: %s", err.text);
	is_int(share.end_ms, 0, "it never ends");
	is_int(slurm_share_leave_ms(&share), 0, "nobody leaves");
	is(share.address, "n1", "without an address it is the name");
	slurm_says("JobId=17 EndTime=soon X=1");
	is_int(scontrol_job_end("17", &share.end_ms, &err), -1,
	       "a time that is none");
	is_int(err.code, EPROTO, "is refused: %s", err.text);
	unsetenv("SLURM_JOB_ID");
	is_int(slurm_share_read(&share, &err), -1, "outside of a step");
	is_int(err.code, EINVAL, "says what is expected: %s", err.text);
	setenv("SLURM_JOB_ID", "../17", 1);
	is_int(slurm_share_read(&share, &err), -1, "a job that is none");
}

static void when_it_leaves(void)
{
	struct slurm_share share = { .begin_ms = 1000000,
				     .end_ms = 1000000 + 3600000 };

	is_int(slurm_share_leave_ms(&share), 1000000 + 3480000,
	       "two minutes before the end");
	share.end_ms = 1000000 + 40000;
	is_int(slurm_share_leave_ms(&share), 1000000 + 30000,
	       "or after three quarters");
}

static void changed(void *arg, int64_t end_ms)
{
	*(int64_t *)arg = end_ms;
}

/* The first question comes 10 s after the start, as the end is near. */
static void an_end_that_moves(void)
{
	int64_t told_ms = -1;
	struct error err = { 0 };
	struct time_limit *limit;
	sd_event *loop = program_begin(NULL);

	in_step();
	setenv("TZ", "UTC", 1);
	limit = time_limit_new(loop, "17", clock_wall_ms() + 1000, changed,
			       &told_ms, &err);
	ok(limit, "the end of an allocation is followed: %s", err.text);
	for (int64_t end_ms = clock_mono_ms() + 30000;
	     told_ms < 0 && clock_mono_ms() < end_ms;)
		sd_event_run(loop, 1000000);
	is_int(told_ms, 1893553445000, "one that moves is told");
	time_limit_free(limit);
	sd_event_unref(loop);
}

static void what_containers_get(void)
{
	const struct slurm_share share = { .cpus = 4, .memory_bytes = 1 << 30 };
	struct container_spec some = { .cpus = 2, .memory_bytes = 1 << 20 };
	struct container_spec none = { 0 };
	struct container_spec cpus = { .cpus = 5 };
	struct container_spec memory = { .memory_bytes = (1 << 30) + 1 };
	struct error err = { 0 };

	ok(slurm_share_limit(&share, &some, &err) == 0 && some.cpus == 2 &&
		   some.memory_bytes == 1 << 20,
	   "what a job names stays");
	ok(slurm_share_limit(&share, &none, &err) == 0 && none.cpus == 4 &&
		   none.memory_bytes == 1 << 30,
	   "without limits it gets those of the allocation");
	is_int(slurm_share_limit(&share, &cpus, &err), -1,
	       "more processors are refused: %s", err.text);
	is_int(slurm_share_limit(&share, &memory, &err), -1,
	       "and more memory: %s", err.text);
}

static void where_it_keeps_its_state(void)
{
	const struct slurm_share share = { .node = "n1" };
	char path[PATH_MAX], expected[PATH_MAX];
	struct error err = { 0 };
	struct stat info;

	snprintf(expected, sizeof(expected), "%s/regatta-c-n1", folder);
	is_int(slurm_share_make_state(&share, folder, "c", path, &err), 0,
	       "a folder is made: %s", err.text);
	is(path, expected, "below TMPDIR");
	ok(stat(path, &info) == 0 && (info.st_mode & 0777) == 0700,
	   "for its user alone");
	is_int(slurm_share_make_state(&share, folder, "c", path, &err), 0,
	       "and taken up again");
	rmdir(path);
	ok(symlink("/tmp", path) == 0 &&
		   slurm_share_make_state(&share, folder, "c", path, &err) <
			   0 &&
		   err.code == EACCES,
	   "a link is refused: %s", err.text);
	unlink(path);
	ok(mkdir(path, 0777) == 0 && chmod(path, 0777) == 0 &&
		   slurm_share_make_state(&share, folder, "c", path, &err) < 0,
	   "and a folder that others may write: %s", err.text);
}

int main(void)
{
	char path[200];

	tap_begin(34);
	if (!mkdtemp(folder))
		return 1;
	snprintf(path, sizeof(path), "%s:%s", folder, getenv("PATH"));
	setenv("PATH", path, 1);
	what_a_step_has();
	what_slurm_does_not_say();
	when_it_leaves();
	an_end_that_moves();
	what_containers_get();
	where_it_keeps_its_state();
	file_remove_tree(AT_FDCWD, folder, NULL);
	return tap_done();
}
