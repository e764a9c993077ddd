/* name_match.h - compares names in the different ways in which people write
 * them.
 *
 * Documents, device tools and file names write "NVIDIA_A100-SXM4-80GB",
 * "A100 40G", "H800(80G)" or A10080G for what a description names once.
 */
#ifndef CONTROLLER_CATALOG_NAME_MATCH_H
#define CONTROLLER_CATALOG_NAME_MATCH_H

#include <stdbool.h>
#include <stdint.h>

#define NAME_MATCH_BYTES 96 /* longer names are never the same */

/* Texts that may be part of a name. */
struct name_extras {
	const char *before; /* first word: the vendor; NULL: none */
	uint32_t gib;       /* memory, at the end: "80GB", "80G"; 0: none */
};

/* Is text another spelling of the name? Only ASCII letters, digits, '.' and '+'
 * are compared, without case. False for a text that has none of them.
 */
bool name_match(const char *name, const char *text,
		const struct name_extras *extras);

#endif
