/* replay.c - stands in for a framework: checks how it was started, and prints
 * the log that the framework would, with figures from a table.
 *
 * In its image every launcher (torchrun, python3, deepspeed) is this program.
 * It prints its working folder, arguments, environment, the files that it was
 * given and the device nodes that it has, each line behind "replay: "; finds
 * the one row of /replay.table whose needs all stand in its arguments, files
 * and environment; meets the other nodes at the master's address; and prints
 * that row's log. It ends with 2, and a sentence, when no row or two fit, and
 * with 1 when the others do not come. A script that is not there ends it, too.
 *
 * The table: a row begins with `row NAME`; below it, a line each,
 *
 *	form NAME	deepspeed, megatron, trainer, paddle or mmmu
 *	need TEXT	stands in the arguments (one a line), in a file, or in
 *			the environment (behind "env ")
 *	lack TEXT	stands in none of them
 *	rate N		tokens per second and device in the steady state
 *	loss N		of the last step
 *	memory N	GiB, of which such a log tells
 *	cards N*M ...	GiB that each card uses meanwhile: M of them N. Written
 *			to /data/cards, where a simulated monitor finds it,
 *			until it has added two lines to /data/cards.read
 *	batch M A G S	micro batch, accumulation, global batch, tokens
 *	steps N		how many the training has
 *	every N M	steps a line of DeepSpeed's timer; micro steps a loss
 *	accuracy N	what mmmu answers
 *	seconds N	how long it takes
 *
 * Steps take longer at first, and then their median time is that of the rate.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TABLE "/replay.table"
#define FILES "/regatta/in"
#define CARDS "/data/cards"
#define CARDS_READ CARDS ".read"
#define READ_MAX 40 /* seconds, for a monitor on a busy machine */
#define NEEDS_MAX 24
#define MEET_S 60
#define EPOCH 1706756400 /* the log's clock begins on 2024-02-01 03:00 */

extern char **environ;

struct row {
	char name[64];
	char form[16];
	struct image_references {
		char text[128];
		bool lack;
	} needs[NEEDS_MAX];
	size_t need_count;
	double rate, loss, memory, accuracy, seconds;
	unsigned micro, accumulate, global, sequence;
	unsigned steps, print_steps, print_losses;
	double cards[64];
	size_t card_count;
};

struct gang {
	unsigned nodes, rank, world, local;
	char address[256];
	unsigned port;
};

static char setup[1 << 20]; /* arguments, environment, files: for needs */

__attribute__((noreturn, format(printf, 1, 2))) static void
wrong(const char *fmt, ...)
{
	va_list args;

	fprintf(stderr, "replay: ");
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fprintf(stderr, "\n");
	exit(2);
}

/* How it was started. */

static void tell(const char *what, const char *text)
{
	printf("replay: %s %s\n", what, text);
}

static void remember(const char *text)
{
	size_t used = strlen(setup);

	if (used + strlen(text) + 2 > sizeof(setup))
		wrong("more than %zu bytes of arguments", sizeof(setup));
	snprintf(setup + used, sizeof(setup) - used, "%s\n", text);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void tell_environment(void)
{
	size_t count = 0;

	while (environ[count])
		count++;
	qsort(environ, count, sizeof(*environ), by_text);
	for (size_t i = 0; i < count; i++) {
		char text[4400];

		snprintf(text, sizeof(text), "env %s", environ[i]);
		remember(text);
		tell("env", environ[i]);
	}
}

static void tell_file(const char *name)
{
	char path[512], line[4096], text[4400];
	FILE *file;

	snprintf(path, sizeof(path), FILES "/%.200s", name);
	file = fopen(path, "re");
	if (!file)
		wrong("%s: %s", path, strerror(errno));
	while (fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = 0;
		snprintf(text, sizeof(text), "%.200s: %s", name, line);
		tell("file", text);
		remember(text);
	}
	fclose(file);
}

static void tell_files(void)
{
	struct dirent **entries;
	int count = scandir(FILES, &entries, NULL, alphasort);

	for (int i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;

		if (*name != '.' && strcmp(name, "start") != 0)
			tell_file(name);
	}
}

/* Those that a container has anyway are left out. */
static void tell_nodes(const char *folder)
{
	static const char usual[] =
		" console full null ptmx random tty zero urandom mqueue pts "
		"shm fd core stdin stdout stderr ";
	struct dirent **entries;
	int count = scandir(folder, &entries, NULL, versionsort);

	for (int i = 0; i < count; i++) {
		char path[600], word[300];
		struct stat st;

		snprintf(path, sizeof(path), "%s/%s", folder,
			 entries[i]->d_name);
		snprintf(word, sizeof(word), " %s ", entries[i]->d_name);
		if (entries[i]->d_name[0] == '.' || strstr(usual, word) ||
		    lstat(path, &st) < 0)
			continue;
		if (S_ISDIR(st.st_mode))
			tell_nodes(path);
		else if (S_ISCHR(st.st_mode))
			tell("node", path);
	}
}

static void tell_all(char **argv)
{
	char folder[512] = "?";

	if (!getcwd(folder, sizeof(folder)))
		wrong("working folder: %s", strerror(errno));
	tell("cwd", folder);
	for (; *argv; argv++) {
		size_t length = strlen(*argv);

		tell("arg", *argv);
		remember(*argv);
		if (length > 3 && **argv != '-' &&
		    !strcmp(*argv + length - 3, ".py") &&
		    access(*argv, F_OK) < 0)
			wrong("%s: %s", *argv, strerror(errno));
	}
	tell_environment();
	tell_files();
	tell_nodes("/dev");
}

static unsigned variable(const char *name)
{
	const char *text = getenv(name);
	char *end = NULL;
	unsigned long value = text ? strtoul(text, &end, 10) : 0;

	if (!text || !*text || *end)
		wrong("%s is no number in the environment", name);
	return (unsigned)value;
}

static void gang_init(struct gang *gang)
{
	const char *address = getenv("MASTER_ADDR");

	gang->nodes = variable("NNODES");
	gang->rank = variable("NODE_RANK");
	gang->world = variable("WORLD_SIZE");
	gang->local = variable("NPROC_PER_NODE");
	gang->port = variable("MASTER_PORT");
	snprintf(gang->address, sizeof(gang->address), "%s",
		 address ? address : "");
	if (!gang->world)
		wrong("WORLD_SIZE is 0");
}

/* The table. */

static void read_cards(struct row *row, const char *text)
{
	double gib;
	unsigned times;
	int used;

	while (sscanf(text, " %lf*%u%n", &gib, &times, &used) == 2) {
		text += used;
		while (times-- && row->card_count < 64)
			row->cards[row->card_count++] = gib;
	}
}

static void add_need(struct row *row, const char *text, bool lack)
{
	struct image_references *need = &row->needs[row->need_count++];

	if (row->need_count == NEEDS_MAX || strlen(text) >= sizeof(need->text))
		wrong("%s: the row %s needs too much", TABLE, row->name);
	need->lack = lack;
	snprintf(need->text, sizeof(need->text), "%s", text);
}

static void read_line(struct row *row, const char *key, const char *text)
{
	/* clang-format off */
	const struct {
		const char *key;
		double *number;
	} numbers[] = {
		{ "rate", &row->rate }, { "loss", &row->loss },
		{ "memory", &row->memory }, { "accuracy", &row->accuracy },
		{ "seconds", &row->seconds },
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (!strcmp(key, numbers[i].key)) {
			*numbers[i].number = strtod(text, NULL);
			return;
		}
	if (!strcmp(key, "form"))
		snprintf(row->form, sizeof(row->form), "%s", text);
	else if (!strcmp(key, "need") || !strcmp(key, "lack"))
		add_need(row, text, *key == 'l');
	else if (!strcmp(key, "cards"))
		read_cards(row, text);
	else if (!strcmp(key, "batch"))
		sscanf(text, "%u %u %u %u", &row->micro, &row->accumulate,
		       &row->global, &row->sequence);
	else if (!strcmp(key, "steps"))
		sscanf(text, "%u", &row->steps);
	else if (!strcmp(key, "every"))
		sscanf(text, "%u %u", &row->print_steps, &row->print_losses);
	else
		wrong("%s: the row %s has the unknown line \"%s\"", TABLE,
		      row->name, key);
}

/* What is not as it must be, or NULL. */
static const struct image_references *unmet(const struct row *row)
{
	for (size_t i = 0; i < row->need_count; i++)
		if (!strstr(setup, row->needs[i].text) != row->needs[i].lack)
			return &row->needs[i];
	return NULL;
}

/* What is said when no row fits: of the row that was met furthest. */
struct near {
	size_t met;
	char text[300];
};

static void consider(const struct row *row, struct row *found, size_t *fit,
		     struct near *near)
{
	const struct image_references *missing = unmet(row);

	if (!*row->name)
		return;
	if (!missing) {
		*found = *row;
		++*fit;
		return;
	}
	if ((size_t)(missing - row->needs) <= near->met)
		return;
	near->met = (size_t)(missing - row->needs);
	snprintf(near->text, sizeof(near->text), "; %s %s \"%s\"", row->name,
		 missing->lack ? "must not have" : "needs", missing->text);
}

static void find_row(struct row *found)
{
	struct row row = { .name = "" };
	struct near near = { 0 };
	char line[512];
	FILE *file = fopen(TABLE, "re");
	size_t fit = 0;

	if (!file)
		wrong("%s: %s", TABLE, strerror(errno));
	while (fgets(line, sizeof(line), file)) {
		char *text = line + strspn(line, " \t");
		char *key = strsep(&text, " \t\n");

		if (*key == '#' || !*key || !text)
			continue;
		text += strspn(text, " \t");
		text[strcspn(text, "\n")] = 0;
		if (!strcmp(key, "row")) {
			consider(&row, found, &fit, &near);
			row = (struct row){ .print_steps = 1,
					    .print_losses = 1,
					    .seconds = 1 };
			snprintf(row.name, sizeof(row.name), "%s", text);
		} else {
			read_line(&row, key, text);
		}
	}
	fclose(file);
	consider(&row, found, &fit, &near);
	if (fit != 1)
		wrong("%zu rows of the table fit this command%s", fit,
		      near.text);
	tell("row", found->name);
}

/* The gang. */

static struct sockaddr_in master(const struct gang *gang)
{
	struct sockaddr_in address = { .sin_family = AF_INET };

	if (inet_pton(AF_INET, gang->address, &address.sin_addr) != 1)
		wrong("MASTER_ADDR is \"%s\"", gang->address);
	address.sin_port = htons((uint16_t)gang->port);
	return address;
}

static int open_socket(void)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		wrong("socket: %s", strerror(errno));
	return fd;
}

static void host(const struct gang *gang)
{
	struct sockaddr_in address = master(gang);
	int fd = open_socket(), one = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(fd, 64) < 0)
		wrong("port %u: %s", gang->port, strerror(errno));
	for (unsigned i = 1; i < gang->nodes; i++) {
		struct pollfd wait = { .fd = fd, .events = POLLIN };

		if (poll(&wait, 1, MEET_S * 1000) != 1)
			exit(1);
		accept4(fd, NULL, NULL, SOCK_CLOEXEC);
	}
	/* Its peers' ends tell them to begin: open until this one ends. */
}

static void join(const struct gang *gang)
{
	struct sockaddr_in address = master(gang);

	for (int tries = 0; tries < MEET_S * 20; tries++) {
		int fd = open_socket();

		if (!connect(fd, (struct sockaddr *)&address, sizeof(address)))
			return;
		close(fd);
		poll(NULL, 0, 50);
	}
	exit(1);
}

static void meet(const struct gang *gang)
{
	if (gang->nodes < 2)
		return;
	if (gang->rank)
		join(gang);
	else
		host(gang);
	tell("gang", "met");
}

/* What all logs need. */

static void pace(const struct row *row, double share)
{
	fflush(stdout);
	poll(NULL, 0, (int)(row->seconds * 1000 * share + 0.5));
}

/* "2024-02-01 03:12:40" at so many seconds of the training. */
static const char *stamp(double seconds, char text[32])
{
	time_t now = EPOCH + (time_t)seconds;
	struct tm tm;

	gmtime_r(&now, &tm);
	strftime(text, 32, "%Y-%m-%d %H:%M:%S", &tm);
	return text;
}

/* How much longer than in the steady state a step takes, from 1 on: the first
 * ones much, later ones now more, now less.
 */
static double slowness(unsigned step)
{
	static const double jitter[] = { 0, 0.002, -0.002, 0.001, -0.001 };

	if (step <= 3)
		return 1 + 1.0 / step;
	return 1 + jitter[step % 5];
}

/* Of step 1 to the last, which has the row's. */
static double loss_at(const struct row *row, double step, double last)
{
	double first = row->loss + 9;

	if (step >= last)
		return row->loss;
	return row->loss + (first - row->loss) * exp(-6 * step / last);
}

/* Seconds of a step in the steady state. */
static double step_seconds(const struct row *row, const struct gang *gang)
{
	return (double)row->global * row->sequence / (row->rate * gang->world);
}

static void use_cards(const struct row *row)
{
	unlink(CARDS_READ);
	FILE *file = row->card_count ? fopen(CARDS, "we") : NULL;

	if (row->card_count && !file)
		wrong("%s: %s", CARDS, strerror(errno));
	for (size_t i = 0; i < row->card_count; i++)
		fprintf(file, "%.0f\n", row->cards[i] * 1024);
	if (file)
		fclose(file);
}

/* A reading that had begun before they were used may be one of the two. */
static void free_cards(const struct row *row)
{
	struct stat st;

	if (!row->card_count)
		return;
	for (int tries = 0; tries < READ_MAX * 20; tries++) {
		if (!stat(CARDS_READ, &st) && st.st_size >= 10)
			break;
		poll(NULL, 0, 50);
	}
	unlink(CARDS);
	unlink(CARDS_READ);
}

/* DeepSpeed's engine, and the script that FlagPerf runs on it. */

static void deepspeed_timer(const struct row *row, double samples, double mean,
			    unsigned step, double now)
{
	char text[32];

	printf("[%s,118] [INFO] [logging.py:96:log_dist] [Rank 0] step=%u, "
	       "skipped=0, lr=[1e-05], mom=[(0.9, 0.95)]\n",
	       stamp(now, text), step);
	if (step < 3)
		return;
	printf("[%s,119] [INFO] [timer.py:260:stop] epoch=0/micro_step=%u/"
	       "global_step=%u, RunningAvgSamplesPerSec=%.15g, "
	       "CurrSamplesPerSec=%.15g, MemAllocated=%.2fGB, "
	       "MaxMemAllocated=%.2fGB\n",
	       stamp(now, text), step * row->accumulate, step, mean, samples,
	       row->memory / 3, row->memory);
}

static void print_deepspeed(const struct row *row, const struct gang *gang)
{
	unsigned count = row->steps * row->accumulate;
	double plain = step_seconds(row, gang), now = 0, timed = 0;
	double rate = 0;

	for (unsigned step = 1; step <= row->steps; step++) {
		double seconds = plain * slowness(step);

		for (unsigned m = (step - 1) * row->accumulate;
		     m < step * row->accumulate; m++)
			if (m % row->print_losses == 0)
				printf("Step %u/%u, Loss: %.6g\n", m, count,
				       loss_at(row, m,
					       count - row->print_losses));
		now += seconds;
		timed += step > 2 ? seconds : 0;
		rate = step > 2 ? row->global * (step - 2) / timed : 0;
		if (!gang->rank && step % row->print_steps == 0)
			deepspeed_timer(row, row->global / seconds, rate, step,
					now);
		pace(row, 1.0 / row->steps);
	}
	if (gang->rank)
		return;
	printf("System tokens per second:  %.15g\n", rate * row->sequence);
	printf("Tokens/p/s:  %.15g\n", rate * row->sequence / gang->world);
}

/* Megatron below FlagScale's launcher: the last rank of all prints. */
static void print_megatron(const struct row *row, const struct gang *gang)
{
	double plain = step_seconds(row, gang), now = 0;
	unsigned last = gang->local - 1;
	char text[32];

	if (!gang->rank)
		printf("[default0]:using world size: %u, data-parallel size: "
		       "%u\n",
		       gang->world, row->global / row->micro / row->accumulate);
	for (unsigned step = 1; step <= row->steps; step++) {
		double seconds = plain * slowness(step);

		now += seconds;
		pace(row, 1.0 / row->steps);
		if (gang->rank != gang->nodes - 1)
			continue;
		printf("[default%u]: [%s] iteration %8u/%8u | consumed "
		       "samples: "
		       "%12u | elapsed time per iteration (ms): %.1f | "
		       "learning "
		       "rate: %.6E | global batch size: %5u | lm loss: %.6E | "
		       "loss scale: 1.0 | grad norm: 1.050 | number of skipped "
		       "iterations:   0 | number of nan iterations:   0 |\n",
		       last, stamp(now, text), step, row->steps,
		       step * row->global, seconds * 1000, 1.5e-4, row->global,
		       loss_at(row, step, row->steps));
		if (step == 1)
			printf("[default%u]:[Rank %u] (after 1 iterations) "
			       "memory (MB) | allocated: %.1f | max allocated: "
			       "%.1f | reserved: %.1f | max reserved: %.1f\n",
			       last, gang->world - 1, row->memory * 1024 / 3,
			       row->memory * 1024, row->memory * 1024,
			       row->memory * 1024);
	}
	if (!gang->rank)
		printf("[default0]:[after training is done] datetime: %s \n",
		       stamp(now, text));
}

/* HuggingFace's Trainer, and the wrapper that knows the tokens. */
static void print_trainer(const struct row *row, const struct gang *gang)
{
	double seconds = step_seconds(row, gang), total = seconds * row->steps;

	for (unsigned step = 1; step <= row->steps; step++) {
		double share = (double)step / row->steps;

		printf("\r%3.0f%%|%-10.*s| %u/%u [%02.0f:%02.0f<%02.0f:%02.0f, "
		       "%.2f%s]",
		       share * 100, (int)(share * 10), "##########", step,
		       row->steps, floor(seconds * step / 60),
		       floor(fmod(seconds * step, 60)),
		       floor((total - seconds * step) / 60),
		       floor(fmod(total - seconds * step, 60)),
		       seconds > 1 ? seconds : 1 / seconds,
		       seconds > 1 ? "s/it" : "it/s");
		printf("\r{'loss': %.4f, 'grad_norm': 1.25, 'learning_rate': "
		       "%.3g, 'epoch': %.2f}\n",
		       loss_at(row, step, row->steps), 1e-3 * (1 - share),
		       share);
		pace(row, 1.0 / row->steps);
	}
	printf("\n{'train_runtime': %.4f, 'train_samples_per_second': %.3f, "
	       "'train_steps_per_second': %.3f, 'train_loss': %.4f, 'epoch': "
	       "1.0}\n",
	       total, row->global / seconds, 1 / seconds, row->loss + 0.5);
	printf("System tokens per second:  %.15g\n", row->rate * gang->world);
	printf("Tokens/p/s:  %.15g\n", row->rate);
}

static void print_mmmu(const struct row *row)
{
	puts("llava_initializing...");
	for (unsigned i = 1; i <= row->steps; i++) {
		printf("\r%3u%%|%-10.*s| %u/%u [%02u:%02u<%02u:%02u, 2.10it/s]",
		       i * 100 / row->steps, (int)(i * 10 / row->steps),
		       "##########", i, row->steps, i / 126, i / 2 % 60,
		       (row->steps - i) / 126, (row->steps - i) / 2 % 60);
		pace(row, 1.0 / row->steps);
	}
	printf("\nMMMU : %.3f\n", row->accuracy);
}

/* Paddle: each rank has a file of its own; the launcher shows the first. */
static void perflog(FILE *out, unsigned rank, const char *event,
		    const char *value, double now)
{
	fprintf(out,
		"[PerfLog] {\"event\": \"%s\", %s\"metadata\": {\"file\": "
		"\"dist_paddle.py\", \"lineno\": 118, \"time_ms\": %.0f, "
		"\"rank\": %u}}\n",
		event, value, (EPOCH + now) * 1000, rank);
}

static void paddle_step(FILE *out, const struct row *row, unsigned rank,
			unsigned step, double seconds, double now)
{
	char value[400];

	perflog(out, rank, "STEP_BEGIN", "", now - seconds);
	snprintf(value, sizeof(value),
		 "\"value\": {\"loss\": %.8f, \"learning_rate\": %.6e, "
		 "\"global_step\": %u, \"interval_runtime\": %.4f, "
		 "\"interval_samples_per_second\": %.4f, "
		 "\"interval_steps_per_second\": %.4f, \"epoch\": %.4f}, ",
		 loss_at(row, step, row->steps), 1.2e-4 * step / 188, step,
		 seconds, row->global / seconds, 1 / seconds, step * 1e-4);
	perflog(out, rank, "STEP_END", value, now);
}

static void paddle_end(FILE *out, const struct row *row, unsigned rank,
		       double total)
{
	double samples = (double)row->global * row->steps / total;
	char value[300];

	perflog(out, rank, "TRAIN_END", "", total);
	fprintf(out,
		"***** train metrics *****\n"
		"  train_loss               = %10.4f\n"
		"  train_runtime            = %u:%02u:%05.2f\n"
		"  train_samples_per_second = %10.2f\n"
		"  train_steps_per_second   = %10.3f\n",
		row->loss + 0.5, (unsigned)(total / 3600),
		(unsigned)(total / 60) % 60, fmod(total, 60), samples,
		row->steps / total);
	snprintf(value, sizeof(value),
		 "\"value\": {\"e2e_time\": %.4f, "
		 "\"training_sequences_per_second\": %.2f, "
		 "\"effective_tokens_per_second\": %.6f, \"raw_train_time\": "
		 "%.4f, \"init_time\": 71.204}, ",
		 total + 90, samples, samples * row->sequence, total);
	perflog(out, rank, "FINISHED", value, total + 1);
}

static void print_paddle(const struct row *row, const struct gang *gang)
{
	double plain = step_seconds(row, gang), now = 0;
	FILE *files[64] = { NULL };
	char path[64];

	mkdir("/tmp", 0777);
	mkdir("/tmp/paddle", 0777);
	for (unsigned i = 0; i < gang->local && i < 64; i++) {
		snprintf(path, sizeof(path), "/tmp/paddle/workerlog.%u", i);
		files[i] = fopen(path, "we");
		if (!files[i])
			wrong("%s: %s", path, strerror(errno));
		perflog(files[i], i, "TRAIN_START", "", 0);
	}
	for (unsigned step = 1; step <= row->steps; step++) {
		double seconds = plain * slowness(step);

		now += seconds;
		for (unsigned i = 0; i < gang->local; i++)
			paddle_step(files[i], row, i, step, seconds, now);
		paddle_step(stdout, row, 0, step, seconds, now);
		pace(row, 1.0 / row->steps);
	}
	for (unsigned i = 0; i < gang->local; i++) {
		paddle_end(files[i], row, i, now);
		fclose(files[i]);
	}
	paddle_end(stdout, row, 0, now);
}

int main(int argc, char **argv)
{
	struct gang gang = { 0 };
	struct row row = { .name = "" };

	tell_all(argv);
	gang_init(&gang);
	find_row(&row);
	meet(&gang);
	use_cards(&row);
	if (!strcmp(row.form, "deepspeed"))
		print_deepspeed(&row, &gang);
	else if (!strcmp(row.form, "megatron"))
		print_megatron(&row, &gang);
	else if (!strcmp(row.form, "trainer"))
		print_trainer(&row, &gang);
	else if (!strcmp(row.form, "paddle"))
		print_paddle(&row, &gang);
	else if (!strcmp(row.form, "mmmu"))
		print_mmmu(&row);
	else
		wrong("the row %s has the unknown form \"%s\"", row.name,
		      row.form);
	free_cards(&row);
	return 0;
}
