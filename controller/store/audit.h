/* audit.h - the rows of the audit log, and the hashes that chain them.
 *
 * Each row carries a hash of itself and of the chain before it: BLAKE2b of 256
 * bits (libsodium's crypto_generichash). Who changes, removes or adds a row
 * behind the controller's back has to change all rows after it as well, and
 * then the newest hash differs from what the journal has.
 */
#ifndef CONTROLLER_STORE_AUDIT_H
#define CONTROLLER_STORE_AUDIT_H

#include <stdint.h>

#define AUDIT_CHAIN_SIZE 65 /* hex digits and their NUL */

/* What somebody ordered, and what came of it. */
struct audit_row {
	uint64_t seq; /* 1 ..; given by the store */
	int64_t time_ms;
	const char *who;
	const char *role;
	const char *address; /* where from */
	const char *act;     /* the message's name */
	const char *request; /* JSON */
	const char *refusal; /* why it was not done; NULL: it was */
	const char *chain;   /* given by the store; NULL: a row of a version
				that had no chain */
};

/* The chain with this row, whose own `chain` is ignored. before: that of the
 * row before it, "" for none.
 */
void audit_chain(const char *before, const struct audit_row *row,
		 char chain[AUDIT_CHAIN_SIZE]);

#endif
