/* digest.c - the SHA-256 of bytes that arrive in pieces, as hexadecimal
 * text.
 */
#include "protocol/base/digest.h"

#include <sodium.h>
#include <string.h>

void digest_init(struct digest *digest)
{
	sha256_init(&digest->context);
}

void digest_add(struct digest *digest, const void *data, size_t size)
{
	sha256_update(&digest->context, size, data);
}

void digest_hex(struct digest *digest, char hex[DIGEST_HEX_SIZE])
{
	unsigned char bytes[SHA256_DIGEST_SIZE];

	sha256_digest(&digest->context, sizeof(bytes), bytes);
	sodium_bin2hex(hex, DIGEST_HEX_SIZE, bytes, sizeof(bytes));
}

bool digest_hex_valid(const char *hex)
{
	return strlen(hex) == DIGEST_HEX_SIZE - 1 &&
	       strspn(hex, "0123456789abcdef") == DIGEST_HEX_SIZE - 1;
}
