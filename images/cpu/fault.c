/* fault.c - a failure on purpose, for who wants to see what is told of it. */
#include "images/cpu/fault.h"
#include "images/cpu/net.h"

#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHUNK ((size_t)1 << 20)
#define SHARED_FILE "/dev/shm/batches"
#define MISSING_FILE "/data/shard-3"

struct fault {
	const char *name;
	const char *help;
	int (*fail)(struct failure *failure); /* NULL: as below */
	int signal;                           /* that it is ended by */
	bool port; /* is taken before the first step */
	bool nan;  /* becomes a parameter */
	bool all;  /* ranks fail, not one */
};

static int fail_error(struct failure *failure)
{
	return failure_set(failure, "bad batch 17 in shard 3");
}

static int fail_memory(struct failure *failure)
{
	void *chunk;

	while ((chunk = malloc(CHUNK)))
		memset(chunk, 1, CHUNK);
	return failure_set(failure, "out of memory");
}

static int fail_device_memory(struct failure *failure)
{
	return failure_set(failure, "CUDA out of memory. Tried to allocate "
				    "2.00 GiB (a device that is made up)");
}

static int fail_sleep(struct failure *failure)
{
	while (pause() < 0)
		;
	return failure_set(failure, "woke up");
}

static int fail_spin(struct failure *failure)
{
	volatile bool turn = true;

	while (turn)
		;
	return failure_set(failure, "came to an end");
}

static int fail_deadlock(struct failure *failure)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

	pthread_mutex_lock(&mutex);
	pthread_mutex_lock(&mutex);
	return failure_set(failure, "a mutex can be locked twice");
}

static int fail_leave(struct failure *failure)
{
	(void)failure;
	_exit(0);
}

static int fail_worker(struct failure *failure)
{
	pid_t worker = fork();
	int status = 0;

	if (!worker)
		raise(SIGKILL);
	if (worker < 0 || waitpid(worker, &status, 0) < 0)
		return failure_errno(failure, "data worker");
	return failure_set(failure, "data worker %d was killed by SIG%s",
			   (int)worker, sigabbrev_np(WTERMSIG(status)));
}

static int fail_shared_memory(struct failure *failure)
{
	int fd = open(SHARED_FILE, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	char *chunk = calloc(1, CHUNK);
	ssize_t written = 1;

	while (fd >= 0 && chunk && written > 0)
		written = write(fd, chunk, CHUNK);
	failure_errno(failure, "cannot write " SHARED_FILE);
	free(chunk);
	if (fd >= 0)
		close(fd);
	unlink(SHARED_FILE);
	return -1;
}

static int fail_missing(struct failure *failure)
{
	int fd = open(MISSING_FILE, O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return failure_errno(failure, "cannot open " MISSING_FILE);
}

static const struct fault faults[] = {
	{ "error", "says so and exits", .fail = fail_error },
	{ "segv", "is ended by SIGSEGV", .signal = SIGSEGV },
	{ "kill", "is ended by SIGKILL", .signal = SIGKILL },
	{ "memory", "takes memory without end", .fail = fail_memory },
	{ "device-memory", "says that a device's memory is used up",
	  .fail = fail_device_memory },
	{ "sleep", "sleeps in a step", .fail = fail_sleep },
	{ "spin", "computes in a step without end", .fail = fail_spin },
	{ "deadlock", "all ranks wait for ever", .fail = fail_deadlock,
	  .all = true },
	{ "leave", "exits with 0", .fail = fail_leave },
	{ "early", "all ranks exit with 0", .fail = fail_leave, .all = true },
	{ "nan", "its loss is NaN", .nan = true },
	{ "port", "rank 0 finds its port taken", .port = true },
	{ "worker", "a child of it is killed", .fail = fail_worker },
	{ "shared-memory", "fills /dev/shm", .fail = fail_shared_memory },
	{ "missing", "misses a file", .fail = fail_missing },
};
#define FAULTS (sizeof(faults) / sizeof(faults[0]))

const struct fault *fault_find(const char *name, struct failure *failure)
{
	size_t used;

	for (size_t i = 0; i < FAULTS; i++)
		if (!strcmp(faults[i].name, name))
			return &faults[i];
	failure_set(failure, "--fail: \"%.20s\" is not valid here; expected",
		    name);
	for (size_t i = 0; i < FAULTS; i++) {
		used = strlen(failure->text);
		snprintf(failure->text + used, sizeof(failure->text) - used,
			 "%s %s", i ? "," : "", faults[i].name);
	}
	return NULL;
}

void fault_help(FILE *to)
{
	for (size_t i = 0; i < FAULTS; i++)
		fprintf(to, "      %-13s %s\n", faults[i].name, faults[i].help);
}

int fault_begin(const struct fault *fault, const struct ring_place *place,
		struct failure *failure)
{
	struct address address;

	if (!fault || !fault->port || place->rank != 0)
		return 0;
	if (address_parse(place->address, place->port, &address, failure) < 0)
		return -1;
	return net_listen(&address, failure) < 0 ? -1 : 0;
}

int fault_step(const struct fault *fault, bool guilty, float *parameters,
	       struct failure *failure)
{
	if (!fault || !(guilty || fault->all))
		return 0;
	if (fault->nan)
		parameters[0] = NAN;
	if (fault->signal)
		raise(fault->signal);
	return fault->fail ? fault->fail(failure) : 0;
}
