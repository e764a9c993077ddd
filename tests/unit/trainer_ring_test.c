/* trainer_ring_test.c - the CPU trainer as several processes on 127.0.0.1.
 *
 * Runs the program that REGATTA_TRAINER names (build/images/cpu/trainer) over
 * the repository's LICENSE (or REGATTA_CORPUS).
 */
#include "images/cpu/rendezvous.h"
#include "tests/tap.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

#define OPTIONS_MAX 40
#define STEPS_MAX 1000

struct rank {
	pid_t pid;
	FILE *out; /* its stdout */
	FILE *err;
};

static const char *program, *corpus;

static struct sockaddr_in loopback(uint16_t port)
{
	return (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
}

/* A port that was free a moment ago. */
static uint16_t free_port(void)
{
	struct sockaddr_in address = loopback(0);
	socklen_t size = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)!bind(fd, (struct sockaddr *)&address, size);
	getsockname(fd, (struct sockaddr *)&address, &size);
	close(fd);
	return ntohs(address.sin_port);
}

static void set_number(const char *name, long number)
{
	char text[24];

	snprintf(text, sizeof(text), "%ld", number);
	setenv(name, text, 1);
}

/* options: words with one space between. */
static struct rank rank_start(uint32_t rank, uint32_t world, uint16_t port,
			      const char *options)
{
	struct rank started = { 0 };
	int out[2], err[2];

	if (pipe2(out, O_CLOEXEC) < 0 || pipe2(err, O_CLOEXEC) < 0)
		return started;
	started.pid = fork();
	if (started.pid == 0) {
		char *args[OPTIONS_MAX] = { (char *)"trainer",
					    (char *)"--corpus",
					    (char *)corpus };
		char *rest = strdup(options), *word;

		for (int i = 3; (word = strsep(&rest, " ")); i++)
			args[i] = word;
		dup2(out[1], 1);
		dup2(err[1], 2);
		set_number("RANK", rank);
		set_number("WORLD_SIZE", world);
		set_number("MASTER_PORT", port);
		setenv("MASTER_ADDR", "127.0.0.1", 1);
		execv(program, args);
		_exit(98);
	}
	close(out[1]);
	close(err[1]);
	started.out = fdopen(out[0], "r");
	started.err = fdopen(err[0], "r");
	return started;
}

/* Read all that it still says on stderr, and its exit code (-signal). */
static int rank_end(struct rank *rank, char *words, size_t size)
{
	char line[512];
	int status = 0;

	while (fgets(line, sizeof(line), rank->out))
		;
	words[0] = 0;
	while (fgets(line, sizeof(line), rank->err))
		snprintf(words, size, "%s", line);
	fclose(rank->out);
	fclose(rank->err);
	waitpid(rank->pid, &status, 0);
	return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

/* Loss of each step as rank 0 prints it; the number of steps. */
static int losses_read(struct rank *rank, double *losses, bool *format)
{
	char line[512];
	int count = 0;

	*format = false;
	while (fgets(line, sizeof(line), rank->out)) {
		int step, steps, used = 0;
		double loss, time, rate, memory;

		if (sscanf(line,
			   "step %d/%d | loss %lf | iteration %lf ms | "
			   "%lf tokens/s | memory %lf MiB%n",
			   &step, &steps, &loss, &time, &rate, &memory,
			   &used) == 6 &&
		    used && step == count + 1 && count < STEPS_MAX)
			losses[count++] = loss;
		if (sscanf(line,
			   "training finished | steps %d | final loss %lf | "
			   "%lf tokens/s%n",
			   &steps, &loss, &rate, &used) == 3 &&
		    steps == count && loss == losses[count - 1])
			*format = true;
	}
	return count;
}

/* Run one job of `world` ranks; the number of steps, -1 when a rank failed. */
static int job_run(uint32_t world, const char *options, double *losses)
{
	struct rank ranks[8];
	uint16_t port = free_port();
	char words[512];
	bool format;
	int count;

	/* The last rank first: the others come while it waits. */
	for (uint32_t i = world; i-- > 0;)
		ranks[i] = rank_start(i, world, port, options);
	count = losses_read(&ranks[0], losses, &format);
	for (uint32_t i = 0; i < world; i++) {
		if (rank_end(&ranks[i], words, sizeof(words)) != 0) {
			printf("# rank %u: %s", i, words);
			count = -1;
		}
	}
	return format ? count : -1;
}

static void test_same_curve(void)
{
	/* clang-format off */
	static const struct {
		uint32_t world;
		const char *batch;
	} cases[] = {
		{ 1, "--micro-batch 4 --accumulate 2" },
		{ 4, "--micro-batch 2 --accumulate 1" },
		{ 2, "--micro-batch 1 --accumulate 4" },
		{ 3, "--micro-batch 2 --accumulate 1" },
		{ 1, "--micro-batch 8 --accumulate 1 --threads 3" },
	};
	/* clang-format on */
	static double one[STEPS_MAX], many[STEPS_MAX];
	enum { STEPS = 30 };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		double *losses = i ? many : one, worst = 0;
		char options[256];
		int steps;

		snprintf(options, sizeof(options),
			 "--layers 2 --hidden 64 --heads 2 --sequence 32 "
			 "--steps %d %s",
			 STEPS, cases[i].batch);
		steps = job_run(cases[i].world, options, losses);
		is_int(steps, STEPS, "%u rank(s), %s: trained", cases[i].world,
		       cases[i].batch);
		for (int step = 0; step < STEPS; step++)
			worst = fmax(worst, fabs(losses[step] - one[step]));
		if (i == 0)
			ok(one[0] > 5 && one[STEPS - 1] < one[0] - 1.5,
			   "the loss falls (%.2f to %.2f)", one[0],
			   one[STEPS - 1]);
		else if (cases[i].world == 3) /* 6 samples a step, not 8 */
			ok(worst > 0.01,
			   "another global batch differs "
			   "(%.4f)",
			   worst);
		else
			ok(worst < 0.005,
			   "%u rank(s), %s: the loss curve of one rank (%.4f)",
			   cases[i].world, cases[i].batch, worst);
	}
}

static void test_killed_rank(void)
{
	struct rank ranks[4];
	uint16_t port = free_port();
	char line[512];
	bool seen = false;

	for (uint32_t i = 0; i < 4; i++)
		ranks[i] = rank_start(i, 4, port,
				      "--layers 1 --hidden 32 --heads 2 "
				      "--sequence 16 --steps 1000000");
	while (!seen && fgets(line, sizeof(line), ranks[0].out))
		seen = !strncmp(line, "step 5/", 7);
	ok(seen, "four ranks train");
	kill(ranks[2].pid, SIGKILL);
	for (uint32_t i = 0; i < 4; i++) {
		char words[512];
		int code = rank_end(&ranks[i], words, sizeof(words));

		if (i == 2) {
			is_int(code, -SIGKILL, "one of them is killed");
			continue;
		}
		is_int(code, 1, "rank %u ends with exit code 1", i);
		words[strcspn(words, "\n")] = 0;
		ok(strstr(words, " went away"), "and says who is gone: %s",
		   words);
	}
}

/* A connection to the port as soon as somebody listens there. */
static int stranger(uint16_t port)
{
	struct sockaddr_in address = loopback(port);

	for (;;) { /* the watchdog ends it */
		int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

		if (!connect(fd, (struct sockaddr *)&address, sizeof(address)))
			return fd;
		close(fd);
		sched_yield();
	}
}

static void test_strangers(void)
{
	struct hello hello = {
		.magic = HELLO_MAGIC,
		.version = HELLO_VERSION + 1,
		.kind = HELLO_JOIN,
		.world = 2,
		.rank = 1,
		.port = 1,
	};
	uint16_t port = free_port();
	struct rank ranks[2];
	int silent[80], garbage, wrong;
	char byte, words[512];
	double losses[STEPS_MAX];
	bool format;

	ranks[0] = rank_start(0, 2, port, "--steps 3 --hidden 32");
	garbage = stranger(port);
	send(garbage, "GET / HTTP/1.1\r\n\r\n", 18, MSG_NOSIGNAL);
	wrong = stranger(port);
	send(wrong, &hello, sizeof(hello), MSG_NOSIGNAL);
	is_int(recv(garbage, &byte, 1, 0) <= 0, 1, "garbage is closed");
	is_int(recv(wrong, &byte, 1, 0) <= 0, 1, "so is another version");
	for (int i = 0; i < 80; i++)
		silent[i] = stranger(port);
	is_int(recv(silent[0], &byte, 1, 0), 0,
	       "of many silent ones the oldest makes room");
	ranks[1] = rank_start(1, 2, port, "--steps 3 --hidden 32");
	is_int(losses_read(&ranks[0], losses, &format), 3,
	       "the job runs all the same");
	for (int i = 0; i < 2; i++)
		is_int(rank_end(&ranks[i], words, sizeof(words)), 0,
		       "rank %d ends well", i);
	for (int i = 0; i < 80; i++)
		close(silent[i]);
	close(garbage);
	close(wrong);
}

/* Wait until rank 0 listens: its port then takes connections. */
static void listening(uint16_t port)
{
	close(stranger(port));
}

static void test_refusals(void)
{
	/* clang-format off */
	static const struct {
		uint32_t rank, world;
		const char *options, *words;
	} cases[] = {
		{ 1, 3, "--steps 2", "WORLD_SIZE is 3 there and 2 at rank 0" },
		{ 1, 2, "--steps 3", "its options or corpus are not those" },
		{ 1, 2, "--steps 2 --seed 9", "its options or corpus" },
	};
	/* clang-format on */
	uint16_t port = free_port();
	struct rank zero = rank_start(0, 2, port, "--steps 2"), one;
	char words[512];

	listening(port);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rank rank = rank_start(cases[i].rank, cases[i].world,
					      port, cases[i].options);

		is_int(rank_end(&rank, words, sizeof(words)), 1,
		       "a rank that differs is refused");
		ok(strstr(words, cases[i].words), "and told why: %s",
		   cases[i].words);
	}
	one = rank_start(1, 2, port, "--steps 2");
	is_int(rank_end(&one, words, sizeof(words)), 0,
	       "the right one still comes in");
	is_int(rank_end(&zero, words, sizeof(words)), 0, "and both train");

	zero = rank_start(0, 3, port, "--steps 2 --timeout 1");
	is_int(rank_end(&zero, words, sizeof(words)), 1,
	       "ranks that never come end the job");
	ok(strstr(words, "not all ranks came within 1 s; missing: 1 2"),
	   "and are named");
	one = rank_start(1, 2, port, "--steps 2 --timeout 1");
	is_int(rank_end(&one, words, sizeof(words)), 1,
	       "so does a rank 0 that never listens");
	ok(strstr(words, "cannot connect to port"), "in words");
}

static void test_options(void)
{
	/* clang-format off */
	static const struct {
		const char *options;
		int code;
		const char *words;
	} cases[] = {
		{ "--help", 0, "" },
		{ "--speed 9", 2, "unknown option --speed; --help lists them" },
		{ "--layers", 2, "--layers: its value is missing" },
		{ "--layers 0", 2, "--layers: \"0\" is not valid here; expected 1 to 256" },
		{ "--layers=257", 2, "\"257\" is not valid here; expected 1 to 256" },
		{ "--steps 1x", 2, "--steps: \"1x\"" },
		{ "--steps -1", 2, "--steps: \"-1\"" },
		{ "--seed 99999999999999999999", 2, "--seed: " },
		{ "--hidden 65 --heads 4", 2,
		  "--hidden: 65 is not valid here; expected a multiple of --heads (4)" },
		{ "--threads 5", 2, "expected at most --micro-batch (4)" },
		{ "--learning-rate 0", 2, "--learning-rate: \"0\"" },
		{ "--learning-rate nan", 2, "--learning-rate: \"nan\"" },
		{ "--corpus /no/such", 2, "--corpus: /no/such: No such file" },
		{ "--sequence 65000", 2, "--sequence: 65000 is not valid here; expected" },
		{ "train", 2, "\"train\" is not valid here; expected --name VALUE" },
		{ "--steps=1 --hidden=16", 0, "" },
	};
	/* clang-format on */
	char words[512];
	struct rank rank;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		rank = rank_start(0, 1, 1, cases[i].options);
		is_int(rank_end(&rank, words, sizeof(words)), cases[i].code,
		       "%s: exit code %d", cases[i].options, cases[i].code);
		ok(strstr(words, cases[i].words), "%s: %s", cases[i].options,
		   cases[i].words[0] ? cases[i].words : "no words");
	}
	rank = rank_start(4, 4, 1, "--steps 1");
	is_int(rank_end(&rank, words, sizeof(words)), 2,
	       "a rank beyond the world: exit code 2");
	ok(strstr(words, "RANK: \"4\" is not valid here; expected 0 to 3"),
	   "in words");
}

int main(void)
{
	tap_begin(120);
	program = getenv("REGATTA_TRAINER");
	program = program ? program : "build/images/cpu/trainer";
	corpus = getenv("REGATTA_CORPUS");
	corpus = corpus ? corpus : "LICENSE";
	if (access(program, X_OK) < 0) {
		printf("Bail out! %s: %s\n", program, strerror(errno));
		return 1;
	}
	test_options();
	test_same_curve();
	test_killed_rank();
	test_strangers();
	test_refusals();
	return tap_done();
}
