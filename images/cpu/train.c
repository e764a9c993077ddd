/* train.c - the training loop of one rank. */
#include "images/cpu/train.h"
#include "images/cpu/adam.h"
#include "images/cpu/pass.h"
#include "images/cpu/ring.h"

#include <pthread.h>
#include <sys/resource.h>

/* What one thread does in a step: its share of each pass's sequences, with its
 * own gradients, so that threads need no locks and sums keep their order.
 */
struct share {
	struct trainer *trainer;
	pthread_t thread;
	uint32_t first; /* sequence of the pass */
	uint32_t count;
	struct pass *pass;
	uint8_t *tokens;  /* count * (sequence + 1) */
	float *gradients; /* one more float than parameters: the loss */
};

struct trainer {
	const struct options *options;
	const struct corpus *corpus;
	struct gpt *gpt;
	struct adam *adam;
	struct ring *ring;
	size_t parameters;
	uint64_t step; /* from 0 */
	struct share *shares;
};

static void trainer_clear(struct trainer *trainer)
{
	for (uint32_t i = 0; trainer->shares && i < trainer->options->threads;
	     i++) {
		pass_free(trainer->shares[i].pass);
		free(trainer->shares[i].tokens);
		free(trainer->shares[i].gradients);
	}
	free(trainer->shares);
	ring_free(trainer->ring);
	adam_free(trainer->adam);
	gpt_free(trainer->gpt);
}

static int share_init(struct share *share, struct trainer *trainer,
		      uint32_t index, struct failure *failure)
{
	const struct options *options = trainer->options;
	uint32_t batch = options->micro_batch, threads = options->threads;

	share->trainer = trainer;
	share->first = (uint32_t)((uint64_t)batch * index / threads);
	share->count = (uint32_t)((uint64_t)batch * (index + 1) / threads) -
		       share->first;
	share->pass = pass_new(trainer->gpt, share->count, failure);
	if (!share->pass)
		return -1;
	share->tokens =
		malloc((size_t)share->count * (options->shape.sequence + 1));
	share->gradients =
		calloc(trainer->parameters + 1, sizeof(*share->gradients));
	if (!share->tokens || !share->gradients)
		return failure_set(failure, "out of memory for the gradients");
	return 0;
}

static int trainer_init(struct trainer *trainer, struct failure *failure)
{
	const struct options *options = trainer->options;

	trainer->gpt = gpt_new(&options->shape, options->seed, failure);
	if (!trainer->gpt)
		return -1;
	trainer->parameters = gpt_parameter_count(trainer->gpt);
	trainer->adam = adam_new(trainer->gpt, failure);
	if (!trainer->adam)
		return -1;
	trainer->shares = calloc(options->threads, sizeof(struct share));
	if (!trainer->shares)
		return failure_set(failure, "out of memory");
	for (uint32_t i = 0; i < options->threads; i++) {
		if (share_init(&trainer->shares[i], trainer, i, failure) < 0)
			return -1;
	}
	return 0;
}

static uint64_t global_batch(const struct options *options)
{
	return (uint64_t)options->micro_batch * options->accumulate *
	       options->place.world;
}

/* All passes of a step for one thread. Sample i of a step is the same whoever
 * takes it, so one rank and many see the same data in the same steps.
 */
static void *share_run(void *arg)
{
	struct share *share = arg;
	const struct trainer *trainer = share->trainer;
	const struct options *options = trainer->options;
	size_t length = options->shape.sequence + 1;
	uint64_t global = global_batch(options);
	float scale = (float)(1.0 / ((double)global * options->shape.sequence));
	double loss = 0;

	memset(share->gradients, 0,
	       (trainer->parameters + 1) * sizeof(*share->gradients));
	for (uint32_t pass = 0; pass < options->accumulate; pass++) {
		uint64_t sample =
			trainer->step * global +
			((uint64_t)options->place.rank * options->accumulate +
			 pass) * options->micro_batch +
			share->first;

		for (uint32_t i = 0; i < share->count; i++)
			corpus_sample(trainer->corpus, options->seed,
				      sample + i, length,
				      share->tokens + i * length);
		loss += pass_loss(share->pass, share->tokens, share->count,
				  scale, share->gradients);
	}
	share->gradients[trainer->parameters] = (float)(loss * (double)scale);
	return NULL;
}

/* Run every share, the first one here, and sum up into it. */
static int shares_run(struct trainer *trainer, struct failure *failure)
{
	uint32_t threads = trainer->options->threads, begun = 1;
	float *sum = trainer->shares[0].gradients;

	while (begun < threads &&
	       !pthread_create(&trainer->shares[begun].thread, NULL, share_run,
			       &trainer->shares[begun]))
		begun++;
	share_run(&trainer->shares[0]);
	for (uint32_t i = 1; i < begun; i++) {
		const float *part = trainer->shares[i].gradients;

		pthread_join(trainer->shares[i].thread, NULL);
		for (size_t j = 0; j <= trainer->parameters; j++)
			sum[j] += part[j];
	}
	if (begun < threads)
		return failure_set(failure, "cannot start a thread");
	return 0;
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static double peak_mib(void)
{
	struct rusage usage = { 0 };

	getrusage(RUSAGE_SELF, &usage);
	return (double)usage.ru_maxrss / 1024;
}

static void header_print(const struct trainer *trainer, FILE *out)
{
	const struct options *options = trainer->options;
	unsigned long long tokens =
		global_batch(options) * options->shape.sequence;

	fprintf(out,
		"regatta cpu trainer | rank %u of %u | threads %u\n"
		"model | parameters %zu | layers %u | hidden %u | heads %u | "
		"sequence %u\n"
		"batch | micro %u | accumulate %u | global %llu | "
		"tokens per step %llu\n"
		"corpus | %zu bytes | seed %llu | learning rate %g\n",
		options->place.rank, options->place.world, options->threads,
		trainer->parameters, options->shape.layers,
		options->shape.hidden, options->shape.heads,
		options->shape.sequence, options->micro_batch,
		options->accumulate, (unsigned long long)global_batch(options),
		tokens, trainer->corpus->size,
		(unsigned long long)options->seed, options->learning_rate);
	fflush(out);
}

/* One step; *loss is the mean over the global batch. */
static int step_run(struct trainer *trainer, double *loss,
		    struct failure *failure)
{
	const struct options *options = trainer->options;
	float *gradients = trainer->shares[0].gradients;

	if (trainer->step + 1 == options->fail_step &&
	    fault_step(options->fail, options->place.rank == options->fail_rank,
		       gpt_parameters(trainer->gpt), failure) < 0)
		return -1;
	if (shares_run(trainer, failure) < 0 ||
	    ring_sum(trainer->ring, gradients, trainer->parameters + 1,
		     failure) < 0)
		return -1;
	*loss = (double)gradients[trainer->parameters];
	if (!(*loss >= 0 && *loss < 1e6))
		return failure_set(failure,
				   "the loss is %g: the training diverged",
				   *loss);
	adam_step(trainer->adam, trainer->gpt, gradients,
		  (float)options->learning_rate);
	return 0;
}

static int steps_run(struct trainer *trainer, FILE *out,
		     struct failure *failure)
{
	const struct options *options = trainer->options;
	double tokens = (double)global_batch(options) * options->shape.sequence;
	double begin = now(), last = begin, loss = 0;

	while (trainer->step < options->steps) {
		double end;

		if (step_run(trainer, &loss, failure) < 0)
			return -1;
		trainer->step++;
		if (options->device_memory &&
		    peak_mib() > options->device_memory)
			return failure_set(failure,
					   "CUDA out of memory. Tried to "
					   "allocate %.1f MiB of %u (a device "
					   "that is made up)",
					   peak_mib(), options->device_memory);
		end = now();
		if (options->place.rank == 0 &&
		    (trainer->step % options->log_every == 0 ||
		     trainer->step == options->steps)) {
			fprintf(out,
				"step %llu/%u | loss %.4f | iteration %.1f ms "
				"| %.1f tokens/s | memory %.1f MiB\n",
				(unsigned long long)trainer->step,
				options->steps, loss, (end - last) * 1e3,
				tokens / (end - last), peak_mib());
			fflush(out);
		}
		last = end;
	}
	if (options->place.rank == 0)
		fprintf(out,
			"training finished | steps %u | final loss %.4f | "
			"%.1f tokens/s\n",
			options->steps, loss,
			tokens * options->steps / (last - begin));
	else
		fprintf(out, "rank %u finished | steps %u | memory %.1f MiB\n",
			options->place.rank, options->steps, peak_mib());
	fflush(out);
	return 0;
}

int train(const struct options *options, const struct corpus *corpus, FILE *out,
	  struct failure *failure)
{
	struct trainer trainer = { .options = options, .corpus = corpus };
	int rc = trainer_init(&trainer, failure);

	if (rc == 0) {
		header_print(&trainer, out);
		if (fault_begin(options->fail, &options->place, failure) == 0)
			trainer.ring = ring_new(&options->place, failure);
		rc = trainer.ring ? steps_run(&trainer, out, failure) : -1;
	}
	trainer_clear(&trainer);
	return rc;
}
