/* audit.c - the rows of the audit log, and the hashes that chain them.
 */
#include "controller/store/audit.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#define HASH_BYTES ((AUDIT_CHAIN_SIZE - 1) / 2)

/* With its NUL, so that no two lists of texts hash alike. */
static void add(crypto_generichash_state *state, const char *text)
{
	if (!text)
		text = "";
	crypto_generichash_update(state, (const unsigned char *)text,
				  strlen(text) + 1);
}

void audit_chain(const char *before, const struct audit_row *row,
		 char chain[AUDIT_CHAIN_SIZE])
{
	unsigned char hash[HASH_BYTES];
	crypto_generichash_state state;
	char numbers[64];

	snprintf(numbers, sizeof(numbers), "%" PRIu64 " %" PRId64, row->seq,
		 row->time_ms);
	crypto_generichash_init(&state, NULL, 0, sizeof(hash));
	add(&state, before);
	add(&state, numbers);
	add(&state, row->who);
	add(&state, row->role);
	add(&state, row->address);
	add(&state, row->act);
	add(&state, row->request);
	/* A refusal with an empty text is not a success. */
	add(&state, row->refusal ? "refused" : "done");
	add(&state, row->refusal);
	crypto_generichash_final(&state, hash, sizeof(hash));
	sodium_bin2hex(chain, AUDIT_CHAIN_SIZE, hash, sizeof(hash));
}
