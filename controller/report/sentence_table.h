/* sentence_table.h - sentences of results, anomalies and failures, in Chinese.
 */
#ifndef CONTROLLER_REPORT_SENTENCE_TABLE_H
#define CONTROLLER_REPORT_SENTENCE_TABLE_H

#include <stddef.h>

/* Marks are what differs from one sentence to another: "*" stays as it is, of
 * "#" a range "1 to 2" is translated, and "@" is a sentence of the table itself
 * or stays as it is. A translation has the same marks in the same order.
 */
struct translation {
	const char *english, *chinese;
	const char *earlier; /* the English of earlier versions; NULL. Stored
				results keep the wording of the version that
				computed them. */
};

/* The first that fits counts. */
extern const struct translation sentence_table[];
extern const size_t sentence_count;

#endif
