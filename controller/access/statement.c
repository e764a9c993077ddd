/* statement.c - what a controller signs about the files of a sweep. */
#include "controller/access/statement.h"

#include "protocol/base/buffer.h"

#include <errno.h>
#include <inttypes.h>
#include <sodium.h>
#include <string.h>
#include <zmq.h>

#define SIGNER_HEX (2 * crypto_sign_PUBLICKEYBYTES + 1)
#define SIGNATURE_HEX (2 * crypto_sign_BYTES + 1)

/* What is signed. */
static int statement_text(const struct reply_sign *of, struct buffer *out,
			  struct error *err)
{
	buffer_init(out, 1000);
	return buffer_printf(out, err,
			     "regatta statement 1\nsweep %" PRIu64
			     "\nby %s\nat %" PRId64 "\nmanifest %s\n",
			     of->sweep, of->by, of->at_ms, of->manifest);
}

/* The signing key of a CURVE key. */
static int signing_key(const struct key *key,
		       unsigned char public[crypto_sign_PUBLICKEYBYTES],
		       unsigned char secret[crypto_sign_SECRETKEYBYTES],
		       struct error *err)
{
	unsigned char own[crypto_kdf_KEYBYTES], seed[crypto_sign_SEEDBYTES];

	if (!key_text_valid(key->secret) || !zmq_z85_decode(own, key->secret))
		return error_set(err, EINVAL, "%s: the key cannot sign",
				 key->name);
	crypto_kdf_derive_from_key(seed, sizeof(seed), 1, "statemnt", own);
	crypto_sign_seed_keypair(public, secret, seed);
	sodium_memzero(own, sizeof(own));
	sodium_memzero(seed, sizeof(seed));
	return 0;
}

int statement_sign(const struct key *key, struct reply_sign *statement,
		   struct error *err)
{
	unsigned char public[crypto_sign_PUBLICKEYBYTES];
	unsigned char secret[crypto_sign_SECRETKEYBYTES];
	unsigned char signature[crypto_sign_BYTES];
	char signer[SIGNER_HEX], hex[SIGNATURE_HEX];
	owned(buffer_clear) struct buffer text;

	if (statement_text(statement, &text, err) < 0 ||
	    signing_key(key, public, secret, err) < 0)
		return -1;
	crypto_sign_detached(signature, NULL, (unsigned char *)text.data,
			     text.size, secret);
	sodium_memzero(secret, sizeof(secret));
	sodium_bin2hex(signer, sizeof(signer), public, sizeof(public));
	sodium_bin2hex(hex, sizeof(hex), signature, sizeof(signature));
	return string_set(&statement->signer, signer, err) |
	       string_set(&statement->signature, hex, err);
}

/* Exactly so many bytes of hexadecimal text. */
static bool statement_bytes(const char *hex, unsigned char *bytes, size_t size)
{
	size_t length = 0;

	return hex && strlen(hex) == 2 * size &&
	       sodium_hex2bin(bytes, size, hex, 2 * size, NULL, &length,
			      NULL) == 0 &&
	       length == size;
}

bool statement_holds(const struct reply_sign *statement)
{
	unsigned char public[crypto_sign_PUBLICKEYBYTES];
	unsigned char signature[crypto_sign_BYTES];
	owned(buffer_clear) struct buffer text;

	return statement_text(statement, &text, NULL) == 0 &&
	       statement_bytes(statement->signer, public, sizeof(public)) &&
	       statement_bytes(statement->signature, signature,
			       sizeof(signature)) &&
	       crypto_sign_verify_detached(signature,
					   (unsigned char *)text.data,
					   text.size, public) == 0;
}
