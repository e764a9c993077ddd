/* environment.c - the environment of a process: the container's, then ours. */
#include "agent/init/environment.h"
#include "agent/init/init.h"

struct variable {
	char *text;   /* NAME=VALUE */
	size_t order; /* of two with the same name, the later one counts */
};

static int name_compare(const char *a, const char *b)
{
	size_t a_length = strcspn(a, "=");
	size_t b_length = strcspn(b, "=");
	size_t common = a_length < b_length ? a_length : b_length;
	int sign = memcmp(a, b, common);

	return sign ? sign : (a_length > b_length) - (a_length < b_length);
}

static int variable_compare(const void *a, const void *b)
{
	const struct variable *left = a;
	const struct variable *right = b;
	int sign = name_compare(left->text, right->text);

	return sign ? sign
		    : (left->order < right->order) -
			       (left->order > right->order);
}

/* Sorting instead of looking each name up: the start file may hold 10^5 of
 * them. The array keeps RANK and LOCAL_RANK in the room behind the pointers.
 */
char **environment_new(char **base, const struct start *start, uint32_t rank,
		       uint32_t local_rank)
{
	static const size_t TEXT = 32;
	size_t count = 0, total, kept = 0;
	struct variable *all;
	char **environment, *text;

	while (base[count])
		count++;
	total = count + start->env.count + (start->rank_env ? 2 : 0);
	all = calloc(total + 1, sizeof(*all));
	environment = calloc(1, (total + 1) * sizeof(*environment) + 2 * TEXT);
	if (!all || !environment) {
		free(all);
		free(environment);
		return NULL;
	}
	text = (char *)(environment + total + 1);
	snprintf(text, TEXT, "RANK=%u", rank);
	snprintf(text + TEXT, TEXT, "LOCAL_RANK=%u", local_rank);
	for (size_t i = 0; i < total; i++) {
		size_t ours = i - count;

		all[i].order = i;
		if (i < count)
			all[i].text = base[i];
		else if (ours < start->env.count)
			all[i].text = start->env.items[ours];
		else
			all[i].text = text + (i + 1 == total ? TEXT : 0);
	}
	qsort(all, total, sizeof(*all), variable_compare);
	for (size_t i = 0; i < total; i++) {
		if (i && !name_compare(all[i - 1].text, all[i].text))
			continue;
		environment[kept++] = all[i].text;
	}
	free(all);
	return environment;
}

void environment_free(char **environment)
{
	free(environment);
}

const char *environment_get(char **environment, const char *name)
{
	size_t length = strlen(name);

	for (; *environment; environment++) {
		if (!strncmp(*environment, name, length) &&
		    (*environment)[length] == '=')
			return *environment + length + 1;
	}
	return NULL;
}

/* The array has room, because it was made for all records, of which the command
 * is at least one.
 */
int environment_prepend(char **base, struct start *start)
{
	const char *path = environment_get(base, "PATH"), *own;

	start->env.items[start->env.count] = NULL;
	for (char **env = start->env.items;
	     (own = environment_get(env, "PATH")); env++)
		path = own;
	if (asprintf(&start->path, "PATH=%s:%s", INIT_BIN,
		     path ? path : DEFAULT_PATH) < 0) {
		start->path = NULL;
		return -1;
	}
	start->env.items[start->env.count++] = start->path;
	return 0;
}
