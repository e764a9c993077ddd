/* seed_test.c - the seed that a command or an environment sets. */
#include "controller/cell/seed.h"

#include "tests/tap.h"

static void seed_is(const char *first, const char *second, const char *env,
		    const char *want)
{
	char *argv[] = { (char *)first, (char *)second };
	char *variables[] = { (char *)env };
	const struct container_spec of = {
		.argv = { .items = argv, .count = second ? 2 : 1 },
		.env = { .items = variables, .count = env != NULL },
	};
	char seed[SEED_SIZE];

	is(container_seed(&of, seed) ? seed : "none", want, "%s %s %s", first,
	   second ? second : "", env ? env : "");
}

int main(void)
{
	tap_begin(20);
	seed_is("--seed", "3", NULL, "3");
	seed_is("--seed=17", NULL, NULL, "17");
	seed_is("--random-seed", "${ROUND}", NULL, "${ROUND}");
	seed_is("sh", "python t.py --seed 42 && echo", NULL, "42");
	seed_is("train.seed=7", NULL, NULL, "7");
	seed_is("--GLOBAL_SEED", "1", NULL, "1");
	seed_is("train", NULL, "SEED=5", "5");
	seed_is("train", NULL, "PYTHONHASHSEED=0", "none");
	seed_is("--seedling", "3", NULL, "none");
	seed_is("--seed", NULL, NULL, "none");
	seed_is("--seed=", NULL, NULL, "none");
	return tap_done();
}
