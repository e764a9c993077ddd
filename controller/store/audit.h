/* audit.h - the rows of the audit log, and the hashes that chain them.
 *
 * Each row carries a hash of itself and of the chain before it: BLAKE2b of 256
 * bits (libsodium's crypto_generichash). To change, remove or add a row, one
 * has to change all rows after it as well; then the newest hash differs from
 * the one in the journal.
 */
#pragma once

#include <stdint.h>

#define AUDIT_CHAIN_SIZE 65 /* hex digits and their NUL */

/* A request, and its outcome. */
struct audit_row {
	uint64_t seq; /* 1 ..; given by the store */
	int64_t time_ms;
	const char *who;
	const char *role;
	const char *address; /* where from */
	const char *act;     /* the message's name */
	const char *request; /* JSON */
	const char *refusal; /* why it was refused; NULL: it was carried out */
	const char *chain;   /* given by the store; NULL: a row of a version
				that had no chain */
};

/* The chain value of this row; its own `chain` is ignored. before: that of the
 * row before it, "" for none.
 */
void audit_chain(const char *before, const struct audit_row *row,
		 char chain[AUDIT_CHAIN_SIZE]);
