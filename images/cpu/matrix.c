/* matrix.c - one fast single-precision matrix product, in plain C. */
#include "images/cpu/matrix.h"

#include <stdint.h>

enum {
	ROWS = 6,     /* of a tile: 12 sums of 8 floats fill 16 registers */
	COLUMNS = 16, /* of a tile */
	BLOCK_ROWS = 120,
	BLOCK_COLUMNS = 512,
	BLOCK_DEPTH = 256, /* a tile's operands stay in the first cache */
};

typedef void kernel_fn(size_t depth, const float *a, const float *b,
		       float *tile);

struct matrix_room {
	float a[BLOCK_ROWS * BLOCK_DEPTH] __attribute__((aligned(64)));
	float b[BLOCK_COLUMNS * BLOCK_DEPTH] __attribute__((aligned(64)));
	kernel_fn *kernel;
};

typedef float float4 __attribute__((vector_size(16)));
typedef float float8 __attribute__((vector_size(32)));

/* tile (ROWS x COLUMNS) = the sum over depth of outer products, in as many
 * passes over a and b as the registers of that kind of vector allow.
 */
#define KERNEL(name, vector, how)                                              \
	how static void name(size_t depth, const float *a, const float *b,     \
			     float *tile)                                      \
	{                                                                      \
		const size_t width = sizeof(vector) / sizeof(float);           \
                                                                               \
		for (size_t at = 0; at < COLUMNS; at += 2 * width) {           \
			const float *ap = a, *bp = b + at;                     \
			vector sum[ROWS][2] = { 0 };                           \
                                                                               \
			for (size_t p = 0; p < depth; p++) {                   \
				vector b0 = *(const vector *)(bp);             \
				vector b1 = *(const vector *)(bp + width);     \
                                                                               \
				_Pragma("GCC unroll 6") for (size_t i = 0;     \
							     i < ROWS; i++)    \
				{                                              \
					sum[i][0] += ap[i] * b0;               \
					sum[i][1] += ap[i] * b1;               \
				}                                              \
				ap += ROWS;                                    \
				bp += COLUMNS;                                 \
			}                                                      \
			_Pragma("GCC unroll 6") for (size_t i = 0; i < ROWS;   \
						     i++)                      \
			{                                                      \
				float *row = tile + i * COLUMNS + at;          \
                                                                               \
				*(vector *)(row) = sum[i][0];                  \
				*(vector *)(row + width) = sum[i][1];          \
			}                                                      \
		}                                                              \
	}

KERNEL(kernel_any, float4, )
#ifdef __x86_64__
KERNEL(kernel_avx2, float8, __attribute__((target("avx2,fma"))))
#endif

static kernel_fn *kernel_choose(void)
{
#ifdef __x86_64__
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
		return kernel_avx2;
#endif
	return kernel_any;
}

struct matrix_room *matrix_room_new(bool plain)
{
	struct matrix_room *room =
		aligned_alloc(64, (sizeof(*room) + 63) / 64 * 64);

	if (room)
		room->kernel = plain ? kernel_any : kernel_choose();
	return room;
}

void matrix_room_free(struct matrix_room *room)
{
	free(room);
}

/* Copy `count` lines (rows of a, columns of b) by `depth` in panels of `panel`
 * lines, those beyond count zero. A line's next number lies `along` floats
 * further, the next line `across`.
 */
static inline __attribute__((always_inline)) void
pack(float *to, const float *from, size_t count, size_t depth, size_t across,
     size_t along, size_t panel)
{
	for (size_t first = 0; first < count; first += panel) {
		size_t lines = count - first < panel ? count - first : panel;
		const float *corner = from + first * across;

		for (size_t p = 0; p < depth; p++) {
			const float *line = corner + p * along;

			if (lines == panel) {
				for (size_t i = 0; i < panel; i++)
					to[i] = line[i * across];
			} else {
				for (size_t i = 0; i < panel; i++)
					to[i] = i < lines ? line[i * across]
							  : 0;
			}
			to += panel;
		}
	}
}

/* `flat` operands have their lines side by side: a constant stride of 1 lets
 * the compiler copy whole vectors.
 */
static void pack_a(float *to, struct matrix a, size_t row, size_t p,
		   size_t rows, size_t depth)
{
	if (a.transposed)
		pack(to, a.data + p * a.stride + row, rows, depth, 1, a.stride,
		     ROWS);
	else
		pack(to, a.data + row * a.stride + p, rows, depth, a.stride, 1,
		     ROWS);
}

static void pack_b(float *to, struct matrix b, size_t p, size_t column,
		   size_t depth, size_t columns)
{
	if (b.transposed)
		pack(to, b.data + column * b.stride + p, columns, depth,
		     b.stride, 1, COLUMNS);
	else
		pack(to, b.data + p * b.stride + column, columns, depth, 1,
		     b.stride, COLUMNS);
}

static void tile_store(const float *tile, float *c, size_t stride, size_t rows,
		       size_t columns, bool add)
{
	for (size_t i = 0; i < rows; i++, tile += COLUMNS, c += stride) {
		for (size_t j = 0; j < columns; j++)
			c[j] = add ? c[j] + tile[j] : tile[j];
	}
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static void block_multiply(const struct matrix_room *room, size_t rows,
			   size_t columns, size_t depth, float *c,
			   size_t stride, bool add)
{
	float tile[ROWS * COLUMNS] __attribute__((aligned(64)));

	for (size_t j = 0; j < columns; j += COLUMNS) {
		for (size_t i = 0; i < rows; i += ROWS) {
			room->kernel(depth, room->a + i * depth,
				     room->b + j * depth, tile);
			tile_store(tile, c + i * stride + j, stride,
				   least(ROWS, rows - i),
				   least(COLUMNS, columns - j), add);
		}
	}
}

void matrix_multiply(struct matrix_room *room, size_t rows, size_t columns,
		     size_t depth, struct matrix a, struct matrix b, float *c,
		     size_t stride, bool add)
{
	if (!depth && !add) {
		for (size_t i = 0; i < rows; i++)
			memset(c + i * stride, 0, columns * sizeof(*c));
	}
	for (size_t p = 0; p < depth; p += BLOCK_DEPTH) {
		size_t deep = least(BLOCK_DEPTH, depth - p);

		for (size_t j = 0; j < columns; j += BLOCK_COLUMNS) {
			size_t wide = least(BLOCK_COLUMNS, columns - j);

			pack_b(room->b, b, p, j, deep, wide);
			for (size_t i = 0; i < rows; i += BLOCK_ROWS) {
				size_t high = least(BLOCK_ROWS, rows - i);

				pack_a(room->a, a, i, p, high, deep);
				block_multiply(room, high, wide, deep,
					       c + i * stride + j, stride,
					       add || p > 0);
			}
		}
	}
}
