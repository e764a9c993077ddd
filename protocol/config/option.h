/* option.h - describes options in tables, parses them and prints their help.
 *
 * A program lists its options in tables of rules. The same tables serve to
 * parse the command line (here), the environment and the file (config.h), to
 * print the help, and to make the shell completion.
 *
 * Options and other words may be mixed on a command line; `--` ends the
 * options. `--name VALUE`, `--name=VALUE`, `-n VALUE` and `-nVALUE` are the
 * same. If an option is given twice, the last value counts, except for
 * OPTION_LIST.
 */
#pragma once

#include "protocol/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define OPTION_TABLES_MAX 3
#define OPTION_RULES_MAX 96 /* of all tables of a program or command */

enum option_kind {
	OPTION_FLAG,   /* bool */
	OPTION_LAST,   /* a flag that ends parsing: --help, --version */
	OPTION_TEXT,   /* const char * */
	OPTION_PATH,   /* const char *: a file or folder, or one of words[] */
	OPTION_KEY,    /* const char *: a public key, or the path of its file */
	OPTION_NUMBER, /* uint64_t */
	OPTION_SIZE,   /* uint64_t, bytes: 64K, 1.5G, as value_size_bytes() */
	OPTION_FLOOR,  /* struct free_space (protocol/config/free_space.h):
			  50GiB, 20% */
	OPTION_WORD,   /* const char *, one of words[] */
	OPTION_LIST,   /* struct option_list: each use adds one item */
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
	const char *value; /* the name of its value in the help */
	uint64_t min;      /* of numbers and sizes */
	uint64_t max;
	const char *const *words; /* the words allowed; ends in NULL */
	const char *help;
	const char *initial;  /* a daemon's default, or NULL */
	const char *variable; /* another program's environment variable, which
				 precedes the default; or NULL */
	const char *bare; /* the value of an option given without "=VALUE"; a
			     following word is then never the value. NULL: a
			     value is required */
	unsigned places;  /* enum option_place */
};

/* The tables of a program or command; unused ones are NULL. */
struct option_tables {
	const struct option_rule *list[OPTION_TABLES_MAX];
};

/* Walk all rules: start with NULL, end at NULL. */
const struct option_rule *option_next(const struct option_tables *tables,
				      const struct option_rule *rule);

/* Read argv[0..argc). Values are written to *values; texts are borrowed from
 * argv or from the tables. All other words go, in order, to args[], which must
 * have room for argc words; *count is their number. EINVAL: the text says what
 * is not valid and what is expected.
 */
int option_parse(int argc, char **argv, const struct option_tables *tables,
		 void *values, char **args, size_t *count, struct error *err);

/* Set one value from its text (borrowed). A flag takes "true" or "false".
 * EINVAL: the text says what is not valid and what is expected, without the
 * option's name.
 */
int option_set(const struct option_rule *rule, const char *text, void *values,
	       struct error *err);

/* Print a text whose lines start at column `left`, where the cursor is, and are
 * at most 79 columns wide. Lines break between words.
 */
void words_print(FILE *out, const char *text, int left);

/* Print a table as help shows it, at most 79 columns wide. */
void option_print(FILE *out, const struct option_rule *rules);
