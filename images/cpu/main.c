/* main.c - trainer: trains a small GPT on the CPU, alone or with other ranks.
 *
 * Exit 0: trained. 1: it failed, or another rank went away. 2: an option is
 * wrong. Words about failures go to stderr.
 */
#include "images/cpu/measure.h"
#include "images/cpu/options.h"
#include "images/cpu/train.h"

int main(int argc, char **argv)
{
	struct options options;
	struct corpus corpus;
	struct failure failure = { 0 };
	int rc;

	switch (options_parse(argc, argv, &options, &failure)) {
	case OPTIONS_HELP:
		options_help(stdout);
		return 0;
	case OPTIONS_WRONG:
		fprintf(stderr, "trainer: %s\n", failure.text);
		return 2;
	case OPTIONS_RUN:
		break;
	}
	if (corpus_read(options.corpus, &corpus, &failure) < 0) {
		fprintf(stderr, "trainer: %s\n", failure.text);
		return 2;
	}
	if (corpus.size <= options.shape.sequence) {
		fprintf(stderr,
			"trainer: --sequence: %u is not valid here; expected "
			"less than the corpus's %zu bytes\n",
			options.shape.sequence, corpus.size);
		corpus_clear(&corpus);
		return 2;
	}
	options.place.digest =
		options_digest(&options, corpus.bytes, corpus.size);
	if (options.measure &&
	    measure(options.measure, options.scratch, stdout, &failure) < 0)
		rc = -1;
	else
		rc = train(&options, &corpus, stdout, &failure);
	if (rc < 0)
		fprintf(stderr, "trainer: rank %u: %s\n", options.place.rank,
			failure.text);
	corpus_clear(&corpus);
	return rc < 0 ? 1 : 0;
}
