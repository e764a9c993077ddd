/* option.h - options by tables: read from words, printed as help.
 *
 * A program lists its options in tables of rules. From these they are read
 * (here), and so are its environment and its file (config.h), its help is
 * printed and a shell's completion is made: there is no second list.
 *
 * On a command line options may stand anywhere; `--` ends them. `--name VALUE`,
 * `--name=VALUE`, `-n VALUE` and `-nVALUE` are the same; of an option given
 * twice the last one counts, unless it makes a list.
 */
#ifndef PROTOCOL_CONFIG_OPTION_H
#define PROTOCOL_CONFIG_OPTION_H

#include "protocol/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define OPTION_TABLES_MAX 3
#define OPTION_RULES_MAX 96 /* of all tables of a program or command */

enum option_kind {
	OPTION_FLAG, /* bool */
	OPTION_LAST, /* a flag that ends the reading: --help, --version */
	OPTION_TEXT, /* const char * */
	OPTION_PATH, /* the same, of a file or folder, or one of words[] */
	OPTION_KEY,  /* the same, a public key or the path of a file with it */
	OPTION_NUMBER, /* uint64_t */
	OPTION_SIZE,   /* uint64_t, bytes: 64K, 1.5G, as value_size_bytes() */
	OPTION_FLOOR,  /* struct free_space (protocol/config/free_space.h):
			  50GiB, 20% */
	OPTION_WORD,   /* const char *, one of words[] */
	OPTION_LIST,   /* struct option_list, one item each time */
};

#define OPTION_LIST_MAX 64 /* times that one option may be given */

struct option_list {
	const char *items[OPTION_LIST_MAX];
	size_t count;
};

#define OPTION_SIZE_MAX (1ULL << 60)

/* Where a daemon's option may not be given (config.h). */
enum option_place {
	OPTION_NOT_IN_FILE = 1,
	OPTION_NOT_IN_ENVIRONMENT = 2,
	OPTION_LINE_ONLY = 3,
};

struct option_rule {
	const char *name; /* without "--"; NULL ends a table */
	char letter;      /* or 0 */
	enum option_kind kind;
	size_t offset;     /* in the struct of values */
	const char *value; /* what help calls its value */
	uint64_t min;      /* numbers and sizes */
	uint64_t max;
	const char *const *words; /* the words allowed; ends in NULL */
	const char *help;
	const char *initial;  /* a daemon's default, or NULL */
	const char *variable; /* another program's environment variable that
				 goes before the default, or NULL */
	const char *bare;     /* the value when none stands behind "="; then no
				 other word is one. NULL: there must be one */
	unsigned places;      /* enum option_place */
};

/* The tables of a program or command; unused ones are NULL. */
struct option_tables {
	const struct option_rule *list[OPTION_TABLES_MAX];
};

/* Walk all rules: start with NULL, end at NULL. */
const struct option_rule *option_next(const struct option_tables *tables,
				      const struct option_rule *rule);

/* Read argv[0..argc). Values go to *values: texts are borrowed from argv or
 * from the tables. All other words, in order, go to args[], which has room for
 * argc; *count is their number. EINVAL says what was found and what is allowed.
 */
int option_parse(int argc, char **argv, const struct option_tables *tables,
		 void *values, char **args, size_t *count, struct error *err);

/* One value from its text (borrowed): "found 'x', allowed is ...", without a
 * name. A flag takes "true" or "false".
 */
int option_set(const struct option_rule *rule, const char *text, void *values,
	       struct error *err);

/* Print words, and break lines between them: from column `left` on, where the
 * cursor stands, at most 79 columns wide.
 */
void words_print(FILE *out, const char *text, int left);

/* Print a table as help shows it, at most 79 columns wide. */
void option_print(FILE *out, const struct option_rule *rules);

#endif
