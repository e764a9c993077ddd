/* matrix.h - one fast single-precision matrix product, in plain C.
 *
 * Blocks of both operands are copied into the order in which a small kernel
 * (6 x 16 numbers in registers) reads them. On x86 the kernel exists twice, for
 * any processor and for those with AVX2 and FMA; the processor at hand decides
 * when the program runs. Sums are taken in the same order in each run.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct matrix {
	const float *data;
	size_t stride;   /* floats from one row to the next as stored */
	bool transposed; /* used as its transpose */
};

/* Room for the copies: one per thread, about 0.7 MiB. plain: use the kernel for
 * any processor, whatever this one can (for tests). NULL: out of memory.
 */
struct matrix_room;
struct matrix_room *matrix_room_new(bool plain);
void matrix_room_free(struct matrix_room *room);

/* c (rows x columns, stride floats from row to row) = a b, where a is
 * rows x depth and b depth x columns as used; c += a b when `add`. c must not
 * overlap a or b. depth 0 gives zeros.
 */
void matrix_multiply(struct matrix_room *room, size_t rows, size_t columns,
		     size_t depth, struct matrix a, struct matrix b, float *c,
		     size_t stride, bool add);
