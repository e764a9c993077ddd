/* line_prefix.h - prefixes that one line is enough to recognise.
 *
 * The stamps of docker logs -t, CRI, kubectl --prefix, journald and syslog,
 * dates, and the labels of torchrun, Ray, MPI, Horovod, srun and pdsh.
 */
#ifndef CONTROLLER_PREFIXES_LINE_PREFIX_H
#define CONTROLLER_PREFIXES_LINE_PREFIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the prefixes of a line tell about it. */
struct line_origin {
	int64_t rank;     /* global; -1: unknown */
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

/* Characters of the name of a host, pod or program: at most size. */
size_t prefix_name_size(const char *text, size_t size);

/* Of a host's: it has a digit, and is no error code of Ascend; 0: it is none.
 */
size_t prefix_host_size(const char *text, size_t size);

/* Digits at the beginning of text. */
size_t digits_size(const char *text, size_t size);

#endif
