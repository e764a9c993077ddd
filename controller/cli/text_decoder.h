/* text_decoder.h - turns the bytes of a text into UTF-8, by the mark at their
 * start, and refuses what is no text.
 */
#ifndef CONTROLLER_CLI_TEXT_DECODER_H
#define CONTROLLER_CLI_TEXT_DECODER_H

#include "protocol/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As file_reader_fn. */
typedef int text_decoder_fn(const void *text, size_t size, void *arg,
			    struct error *err);

/* Starts as zeros, but for name, fn and arg. */
struct text_decoder {
	const char *name; /* of the file, for errors */
	text_decoder_fn *fn;
	void *arg;
	bool begun;
	unsigned unit; /* bytes of a code unit; 1: UTF-8, or any other bytes */
	bool big_endian;
	unsigned char part[4]; /* of a code unit that is not complete */
	unsigned part_size;
	uint32_t high; /* first half of a pair; 0: none */
};

/* Decode a piece. The first one must have 512 bytes, unless the file is
 * shorter. EINVAL: it is no text; the error says what it is.
 */
int text_decoder_feed(struct text_decoder *decoder, const void *piece,
		      size_t size, struct error *err);

#endif
