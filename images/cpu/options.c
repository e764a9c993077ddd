/* options.c - what the trainer is told: its arguments and its environment. */
#include "images/cpu/options.h"

#include <errno.h>
#include <math.h>

#define DEFAULT_CORPUS "/data/corpus.txt"

/* clang-format off */
static const struct number {
	const char *name;
	size_t place;
	uint32_t initial, min, max;
	const char *help;
} numbers[] = {
#define NUMBER(name, member, initial, min, max, help) \
	{ name, offsetof(struct options, member), initial, min, max, help }
	NUMBER("layers", shape.layers, 2, 1, 256, "transformer layers"),
	NUMBER("hidden", shape.hidden, 128, 8, 16384,
	       "width, a multiple of --heads"),
	NUMBER("heads", shape.heads, 4, 1, 1024, "attention heads"),
	NUMBER("sequence", shape.sequence, 128, 2, 65536,
	       "tokens (bytes) of one sample"),
	NUMBER("micro-batch", micro_batch, 4, 1, 65536,
	       "samples of one pass on one rank"),
	NUMBER("accumulate", accumulate, 1, 1, 1000000,
	       "passes before each step"),
	NUMBER("steps", steps, 60, 1, 1000000000, "steps to train"),
	NUMBER("threads", threads, 1, 1, 256, "at most --micro-batch"),
	NUMBER("log-every", log_every, 1, 1, 1000000000,
	       "print each so many steps, and the last"),
	NUMBER("timeout", timeout, 60, 1, 86400,
	       "seconds for all ranks to come together"),
	NUMBER("device-memory", device_memory, 0, 0, 1 << 20,
	       "MiB of a device that is made up; 0: no limit"),
	NUMBER("measure", measure, 0, 0, 3600000,
	       "ms to measure compute, memory and disk, each, first"),
	NUMBER("fail-rank", fail_rank, 0, 0, RING_WORLD_MAX - 1,
	       "the rank that --fail is for"),
	NUMBER("fail-step", fail_step, 6, 1, 1000000000,
	       "the step in which it fails"),
};
/* clang-format on */
#define NUMBERS (sizeof(numbers) / sizeof(numbers[0]))

static int number_parse(const char *name, const char *text, uint64_t min,
			uint64_t max, uint64_t *value, struct failure *failure)
{
	size_t digits = strspn(text, "0123456789");

	errno = 0;
	*value = strtoull(text, NULL, 10);
	if (!digits || text[digits] || errno || *value < min || *value > max)
		return failure_set(failure,
				   "%s: \"%.40s\" is not valid here; expected "
				   "%llu to %llu",
				   name, text, (unsigned long long)min,
				   (unsigned long long)max);
	return 0;
}

static uint32_t *number_place(struct options *options,
			      const struct number *number)
{
	return (uint32_t *)(void *)((char *)options + number->place);
}

static int rate_parse(const char *text, double *rate, struct failure *failure)
{
	char *end;

	*rate = strtod(text, &end);
	if (end == text || *end || !(*rate > 0 && *rate <= 1))
		return failure_set(failure,
				   "--learning-rate: \"%.40s\" is not valid "
				   "here; expected a number above 0 and at "
				   "most 1",
				   text);
	return 0;
}

static int option_take(struct options *options, const char *name,
		       const char *value, struct failure *failure)
{
	char full[48];
	uint64_t number;

	snprintf(full, sizeof(full), "--%s", name);
	for (size_t i = 0; i < NUMBERS; i++) {
		if (strcmp(name, numbers[i].name) != 0)
			continue;
		if (number_parse(full, value, numbers[i].min, numbers[i].max,
				 &number, failure) < 0)
			return -1;
		*number_place(options, &numbers[i]) = (uint32_t)number;
		return 0;
	}
	if (strcmp(name, "seed") == 0)
		return number_parse(full, value, 0, UINT64_MAX, &options->seed,
				    failure);
	if (strcmp(name, "learning-rate") == 0)
		return rate_parse(value, &options->learning_rate, failure);
	if (strcmp(name, "corpus") == 0) {
		options->corpus = value;
		return 0;
	}
	if (strcmp(name, "scratch") == 0) {
		options->scratch = value;
		return 0;
	}
	if (strcmp(name, "fail") == 0) {
		options->fail = fault_find(value, failure);
		return options->fail ? 0 : -1;
	}
	return failure_set(failure, "unknown option --%.40s; --help lists them",
			   name);
}

static int environment_number(const char *name, uint64_t min, uint64_t max,
			      uint64_t *value, struct failure *failure)
{
	const char *text = getenv(name);

	return text && *text
		       ? number_parse(name, text, min, max, value, failure)
		       : 0;
}

static int environment_take(struct ring_place *place, struct failure *failure)
{
	uint64_t rank = 0, world = 1, port = 29500;
	const char *rank_name = getenv("RANK") ? "RANK" : "NODE_RANK";
	const char *address = getenv("MASTER_ADDR");

	if (environment_number("WORLD_SIZE", 1, RING_WORLD_MAX, &world,
			       failure) < 0 ||
	    environment_number(rank_name, 0, world - 1, &rank, failure) < 0 ||
	    environment_number("MASTER_PORT", 1, UINT16_MAX, &port, failure) <
		    0)
		return -1;
	place->rank = (uint32_t)rank;
	place->world = (uint32_t)world;
	place->port = (uint16_t)port;
	place->address = address && *address ? address : "127.0.0.1";
	return 0;
}

static int options_check(const struct options *options, struct failure *failure)
{
	const struct gpt_shape *shape = &options->shape;

	if (shape->hidden % shape->heads != 0)
		return failure_set(failure,
				   "--hidden: %u is not valid here; expected a "
				   "multiple of --heads (%u)",
				   shape->hidden, shape->heads);
	if (options->threads > options->micro_batch)
		return failure_set(failure,
				   "--threads: %u is not valid here; expected "
				   "at most --micro-batch (%u)",
				   options->threads, options->micro_batch);
	return 0;
}

enum options_result options_parse(int argc, char **argv,
				  struct options *options,
				  struct failure *failure)
{
	*options = (struct options){
		.seed = 1,
		.learning_rate = 3e-3,
		.corpus = DEFAULT_CORPUS,
		.scratch = "/data",
	};
	for (size_t i = 0; i < NUMBERS; i++)
		*number_place(options, &numbers[i]) = numbers[i].initial;
	for (int i = 1; i < argc; i++) {
		char name[40];
		size_t length = strcspn(argv[i], "=");
		const char *value =
			argv[i][length] ? argv[i] + length + 1 : NULL;

		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
			return OPTIONS_HELP;
		if (strncmp(argv[i], "--", 2) != 0) {
			failure_set(failure,
				    "\"%.40s\" is not valid here; expected "
				    "--name VALUE",
				    argv[i]);
			return OPTIONS_WRONG;
		}
		snprintf(name, sizeof(name), "%.*s", (int)length - 2,
			 argv[i] + 2);
		if (!value && i + 1 < argc)
			value = argv[++i];
		if (!value) {
			failure_set(failure, "--%s: its value is missing",
				    name);
			return OPTIONS_WRONG;
		}
		if (option_take(options, name, value, failure) < 0)
			return OPTIONS_WRONG;
	}
	if (options_check(options, failure) < 0 ||
	    environment_take(&options->place, failure) < 0)
		return OPTIONS_WRONG;
	options->place.timeout_ms = options->timeout * 1000;
	return OPTIONS_RUN;
}

void options_help(FILE *to)
{
	fputs("usage: trainer [--name VALUE]...\n\n"
	      "Trains a small GPT on the bytes of a text, on the CPU, and\n"
	      "prints a line for each step.\n\n",
	      to);
	for (size_t i = 0; i < NUMBERS; i++)
		fprintf(to, "  --%-14s %s (%u to %u; %u)\n", numbers[i].name,
			numbers[i].help, numbers[i].min, numbers[i].max,
			numbers[i].initial);
	fputs("  --learning-rate  of AdamW (above 0, at most 1; 0.003)\n"
	      "  --seed           of the parameters and the data order (1)\n"
	      "  --corpus         the text (" DEFAULT_CORPUS ")\n"
	      "  --scratch        a folder whose disk is measured (/data)\n"
	      "  --fail           a failure on purpose, to see what is told\n"
	      "                   of it:\n",
	      to);
	fault_help(to);
	fputs("  --help           this text\n\n"
	      "Several ranks train one model together when the environment\n"
	      "says so:\n\n"
	      "  RANK or NODE_RANK  this process (0 to WORLD_SIZE - 1; 0)\n"
	      "  WORLD_SIZE         how many there are (1)\n"
	      "  MASTER_ADDR        where rank 0 listens: an address in\n"
	      "                     numbers, or localhost (127.0.0.1)\n"
	      "  MASTER_PORT        and its port (29500)\n\n"
	      "A step takes micro-batch x accumulate x WORLD_SIZE samples,\n"
	      "the same ones however they are divided.\n",
	      to);
}

/* FNV-1a */
static uint64_t digest_byte(uint64_t digest, uint8_t byte)
{
	return (digest ^ byte) * 0x100000001b3;
}

uint64_t options_digest(const struct options *options, const uint8_t *corpus,
			size_t size)
{
	const uint64_t same[] = {
		options->shape.layers,
		options->shape.hidden,
		options->shape.heads,
		options->shape.sequence,
		options->micro_batch,
		options->accumulate,
		options->steps,
		options->seed,
		options->place.world,
		(uint64_t)(options->learning_rate * 1e12),
		size,
	};
	uint64_t digest = 0xcbf29ce484222325;

	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		for (int bit = 0; bit < 64; bit += 8)
			digest = digest_byte(digest, (uint8_t)(same[i] >> bit));
	}
	for (size_t i = 0; i < size; i++)
		digest = digest_byte(digest, corpus[i]);
	return digest;
}
