/* audit.c - the rows of the audit log, and the hashes that chain them.
 */
#include "controller/store/audit.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#define HASH_BYTES ((AUDIT_CHAIN_SIZE - 1) / 2)

/* With its NUL, so that no two lists of texts hash alike. */
static void audit_hash_text(crypto_generichash_state *state, const char *text)
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
	audit_hash_text(&state, before);
	audit_hash_text(&state, numbers);
	audit_hash_text(&state, row->who);
	audit_hash_text(&state, row->role);
	audit_hash_text(&state, row->address);
	audit_hash_text(&state, row->act);
	audit_hash_text(&state, row->request);
	/* A refusal with an empty text is not a success. */
	audit_hash_text(&state, row->refusal ? "refused" : "done");
	audit_hash_text(&state, row->refusal);
	crypto_generichash_final(&state, hash, sizeof(hash));
	sodium_bin2hex(chain, AUDIT_CHAIN_SIZE, hash, sizeof(hash));
}
