/* suggestions.h - one name in the several ways in which people write it.
 *
 * Documents, device tools and file names write "NVIDIA_A100-SXM4-80GB",
 * "A100 40G", "H800(80G)" or A10080G for what a description names once.
 */
#ifndef CONTROLLER_CATALOG_SUGGESTIONS_H
#define CONTROLLER_CATALOG_SUGGESTIONS_H

#include <stdbool.h>
#include <stdint.h>

#define SUGGESTION_BYTES 96 /* longer names are never the same */

/* What else may stand in a name, beside what it names. */
struct suggestion {
	const char *before; /* the vendor's, as a first word; NULL: nothing */
	uint32_t gib;       /* memory, at the end: "80GB", "80G"; 0: none */
};

/* Is text another way to write the name? Only ASCII letters and digits count,
 * '.' and '+' too, in any case. Never true of a text without any.
 */
bool suggestion_same(const char *name, const char *text,
		     const struct suggestion *spelling);

#endif
