/* options.c - the words of a command line to checked values, by tables.
 */
#include "controller/cli/options.h"

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

void options_init(struct options *options)
{
	*options = (struct options){
		.sequence = OPTION_NONE,
		.sweep = OPTION_NONE,
		.rank = OPTION_NONE,
		.tail = OPTION_NONE,
		.attempt = OPTION_NONE,
		.devices = OPTION_NONE,
		.from_step = OPTION_NONE,
		.uses = OPTION_NONE,
		.keep_images = OPTION_NONE,
	};
}

struct option_tables options_all(const struct option_rule *rules,
				 const struct option_rule *more)
{
	return (struct option_tables){ { rules, more, always } };
}

int options_parse(int argc, char **argv, const struct option_rule *rules,
		  const struct option_rule *more, struct options *options,
		  char **args, size_t *count, struct error *err)
{
	const struct option_tables tables = options_all(rules, more);

	return option_parse(argc, argv, &tables, options, args, count, err);
}
