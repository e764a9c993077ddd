/* random.h - reproducible random numbers from a 64-bit state.
 *
 * SplitMix64 (Steele, Lea, Flood: "Fast Splittable Pseudorandom Number
 * Generators", 2014): any state is a good one, so a state may be made from a
 * seed and an index.
 */
#pragma once

#include <stdint.h>

uint64_t random_next(uint64_t *state);

/* Mean 0, deviation 1, within 6: the sum of twelve even numbers. */
double random_normal(uint64_t *state);
