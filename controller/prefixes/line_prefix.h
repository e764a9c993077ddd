/* line_prefix.h - prefixes that one line is enough to recognise.
 *
 * The stamps of docker logs -t, CRI, kubectl --prefix, journald and syslog,
 * dates, and the labels of torchrun, Ray, MPI, Horovod, srun and pdsh.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the prefixes of a line tell about it. */
struct line_origin {
	int64_t rank;     /* global; -1: unknown */
	bool bare;        /* the rank is a number without a word, "3: ", "[3] ";
			   * a program may count its lines so */
	const char *host; /* borrowed from the line; NULL: unknown */
	size_t host_size;
	bool partial; /* the next line continues it (CRI) */
};

/* The size of one prefix at the beginning of text, with the blank behind it; 0:
 * there is none. *origin takes what it tells: of several ranks the last one
 * counts, because programs write it themselves; of several hosts the last, too.
 */
size_t line_prefix_size(const char *text, size_t size,
			struct line_origin *origin);

/* May a line with this first character begin with such a prefix? */
bool line_prefix_begins(char first);

/* Prefixes that only several lines together show.
 *
 * "trainer-1  | " of compose, "pod container " of stern, "host: " of pdsh,
 * "[3] " of MPI, "12:" and "file-12-" of grep -n, the blanks or "> " before a
 * quoted text: a program may print one such line itself. So a prefix is removed
 * once all lines at the beginning of a log have it.
 */

#define LOG_PREFIX_NAMES 16
#define LOG_PREFIX_NAME_MAX 80

enum log_prefix_kind {
	LOG_PREFIX_NONE,
	LOG_PREFIX_NUMBER,
	LOG_PREFIX_COMPOSE,
	LOG_PREFIX_POD,
	LOG_PREFIX_HOST,
	LOG_PREFIX_RANK,
	LOG_PREFIX_INDENT,
	LOG_PREFIX_KINDS
};

/* A kind of prefix, and what its lines have in common. */
struct log_prefix {
	enum log_prefix_kind kind;
	uint64_t number; /* of the last line (grep -n) */
	size_t width;    /* COMPOSE: the column of the mark; INDENT: blanks */
	/* The files, services, pods, hosts or ranks so far. */
	char names[LOG_PREFIX_NAMES][LOG_PREFIX_NAME_MAX + 1];
	size_t name_count;
	/* Of the lines seen: */
	uint32_t lines;
	uint32_t repeats; /* with a name that an earlier one has */
	size_t frames;    /* the least blanks before one of a traceback */
	uint32_t texts;   /* with a text behind it that speaks for it */
};

/* Can the line be the first with a prefix of some kind? *prefix is set. first:
 * no other line stands before it, as before a text that is quoted.
 */
bool log_prefix_guess(struct log_prefix *prefix, const char *text, size_t size,
		      bool first);

/* A further line: does it have the prefix? *prefix counts it. */
bool log_prefix_continues(struct log_prefix *prefix, const char *text,
			  size_t size);

/* Do the lines seen show that the prefix is one? ended: there are no more. */
bool log_prefix_shown(const struct log_prefix *prefix, bool ended);

/* The size of the prefix of a line, once it is shown; 0: it has none. */
size_t log_prefix_size(const struct log_prefix *prefix, const char *text,
		       size_t size, struct line_origin *origin);
