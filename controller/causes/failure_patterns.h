/* failure_patterns.h - what lines of a failed program's output mean.
 *
 * failures.yaml beside the frameworks (images/):
 *
 *	ignore:		[REGEX, ...]	lines that are never quoted
 *	progress:	[REGEX, ...]	lines of a program that goes on; an
 *			error before them did not end it
 *	alive:		[REGEX, ...]	lines that it may print, too, while it
 *			ends: only several of them are progress
 *	facts:
 *	  - match: REGEX	a launcher's report about its processes
 *	    section: root | others	the next lines list these processes
 *	    gives_up: true	a process failed, and the launcher will end
 *	    stops: true		it ends a process that did not fail
 *	    begins: true	another job: what was before counts no more
 *	restarts:	[REGEX, ...]	commands, words joined by blanks, of
 *			launchers that restart failed processes
 *	causes:
 *	  - class: CLASS	of causes_class_name()
 *	    order: 1 to 99	a cause of a lower one comes first
 *	    match: [REGEX, ...]
 *	    traceback: true	only at the end of a Python traceback
 *	    final: true		the program does not go on after it
 *	    ends: true		later errors follow from it
 *	    blameless: true	the rank that prints it is not the guilty one
 *	    teardown: true	it follows from an exception, if there was one
 *	    exception: true	its class is that of the exception
 *	    read: true		its class is what its words say (words.h)
 *	    last: true		only at the end of the output
 *	    before: true	the line before says why
 *	    root: true		it explains the cause of the line before it that
 *				is not indented
 *	    signal: SIGNAME	that it means
 *
 *	words:			what lines say that no pattern knows: words.h
 *
 * Expressions are PCRE2, on bytes, case-sensitive. Named groups: rank,
 * local_rank, task (a launcher's task number, used if there is no rank),
 * speaker (the rank of this whole output), host, exit_code, signal,
 * time. The first
 * pattern that matches a line is used; causes are tried in the order of the
 * file.
 */
#pragma once

#include "controller/causes/words.h"
#include "protocol/base/error.h"
#include "protocol/base/owned.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The set of pairs of adjacent characters in a line.
 *
 * A line contains a text only if it contains all pairs of the text. This check
 * takes a nanosecond, where a search or a regular expression takes fifty. Pairs
 * share bits, so "yes" may be wrong, but "no" is right.
 */

#define LINE_PAIRS 2048 /* bits */

struct line_pairs {
	uint64_t bits[LINE_PAIRS / 64];
};

static inline unsigned line_pair(const char *at)
{
	return ((unsigned char)at[0] * 37u ^ (unsigned char)at[1] * 7u) %
	       LINE_PAIRS;
}

static inline void line_pairs_read(struct line_pairs *pairs, const char *text,
				   size_t size)
{
	memset(pairs, 0, sizeof(*pairs));
	for (size_t i = 0; i + 1 < size; i++) {
		unsigned pair = line_pair(text + i);

		pairs->bits[pair / 64] |= (uint64_t)1 << pair % 64;
	}
}

static inline bool line_pairs_have(const struct line_pairs *pairs,
				   const uint16_t *wanted, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!(pairs->bits[wanted[i] / 64] >> wanted[i] % 64 & 1))
			return false;
	return true;
}

#define FAILURE_LINE_MAX 8192 /* bytes of a line that are looked at */
#define FAILURE_PATTERNS_MAX 1024

enum failure_kind {
	FAILURE_IGNORE,
	FAILURE_PROGRESS,
	FAILURE_ALIVE,
	FAILURE_FACT,
	FAILURE_CAUSE,
	FAILURE_RESTART,
	FAILURE_KINDS
};

enum failure_section {
	SECTION_SAME,
	SECTION_ROOT,
	SECTION_OTHERS,
};

enum failure_group {
	GROUP_RANK,
	GROUP_LOCAL_RANK,
	GROUP_TASK,
	GROUP_SPEAKER,
	GROUP_HOST,
	GROUP_EXIT_CODE,
	GROUP_SIGNAL,
	GROUP_TIME,
	FAILURE_GROUPS
};

/* The meaning of a pattern. */
struct failure_meaning {
	enum causes_class class;
	uint32_t order;
	enum failure_section section;
	bool traceback;
	bool final;
	bool ends;
	bool blameless;
	bool gives_up;
	bool stops;
	bool begins;
	bool teardown;
	bool exception;
	bool last;
	bool before;
	bool read;
	bool root;
	bool resigns;    /* the program ends itself, whatever it says then */
	bool soft;       /* only if something else says that it failed */
	char signal[12]; /* "": none */
};

/* A match of a pattern; text is borrowed from the line, NULL: not captured. */
struct failure_hit {
	const struct failure_meaning *meaning;
	size_t end; /* of the match */
	struct {
		const char *text;
		size_t size;
	} groups[FAILURE_GROUPS];
};

struct failure_patterns;

/* Read a failures.yaml. EINVAL names file, line and what is allowed. */
struct failure_patterns *failure_patterns_read(const char *path,
					       struct error *err);
void failure_patterns_free(struct failure_patterns *patterns);
OWNED_POINTER(struct failure_patterns, failure_patterns_free)

/* Its words; borrowed. */
const struct words *
failure_patterns_words(const struct failure_patterns *patterns);

/* Does a pattern of this kind match the line? The first one fills *hit.
 * traceback: the line may
 * end a traceback. The time is bounded by the size of the line: a pattern
 * that takes too many steps does not match. pairs: those of the line, or of one
 * that holds it (line_pairs.h); NULL: not known, it only takes longer.
 */
bool failure_patterns_find(struct failure_patterns *patterns,
			   enum failure_kind kind,
			   const struct line_pairs *pairs, const char *line,
			   size_t size, bool traceback,
			   struct failure_hit *hit);
