/* options.c - the words of a command line to checked values, by tables.
 */
#include "controller/cli/options.h"

#include "protocol/config/free_space.h"

/* clang-format off */
static const struct option_rule always[] = {
	{ .name = "help", .letter = 'h', .kind = OPTION_LAST,
	  .offset = offsetof(struct options, help), .help = "show this" },
	{ .name = "version", .letter = 'V', .kind = OPTION_LAST,
	  .offset = offsetof(struct options, version),
	  .help = "show the version" },
	{ 0 },
};
/* clang-format on */

struct option_tables options_all(const struct option_rule *rules,
				 const struct option_rule *more)
{
	return (struct option_tables){ { rules, more, always } };
}

bool options_given(const struct option_rule *rule,
		   const struct options *options)
{
	const void *value = (const char *)options + rule->offset;

	switch (rule->kind) {
	case OPTION_NUMBER:
		return *(const uint64_t *)value != OPTION_NONE;
	case OPTION_LIST:
		return ((const struct option_list *)value)->count;
	case OPTION_FLAG:
	case OPTION_LAST:
		return *(const bool *)value;
	case OPTION_FLOOR:
		return free_space_is_set(value);
	default:
		return *(const char *const *)value;
	}
}

int options_parse(int argc, char **argv, const struct option_tables *tables,
		  struct options *options, char **args, size_t *count,
		  struct error *err)
{
	const struct option_rule *rule = NULL;

	while ((rule = option_next(tables, rule)))
		if (rule->kind == OPTION_NUMBER)
			*(uint64_t *)((char *)options + rule->offset) =
				OPTION_NONE;
	return option_parse(argc, argv, tables, options, args, count, err);
}
