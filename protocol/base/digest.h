/* digest.h - the SHA-256 of bytes that arrive in pieces, as hexadecimal
 * text.
 *
 * Nettle uses the processor's SHA instructions. For whole images that is three
 * times as fast as libsodium.
 */
#pragma once

#include <nettle/sha2.h>
#include <stdbool.h>
#include <stddef.h>

#define DIGEST_HEX_SIZE 65 /* with the 0 */

struct digest {
	struct sha256_ctx context;
};

void digest_init(struct digest *digest);
void digest_add(struct digest *digest, const void *data, size_t size);

/* The SHA-256 of all that was added; it begins anew then. */
void digest_hex(struct digest *digest, char hex[DIGEST_HEX_SIZE]);

/* Is it 64 hex digits in lower case? */
bool digest_hex_valid(const char *hex);
