/* seed.h - finds the seed that a container's command or environment sets.
 */
#pragma once

#include "protocol/message/spec.h"

#include <stdbool.h>

#define SEED_SIZE 64

/* The value behind a word that ends in "seed", in any case: "--seed 3",
 * "train.seed=3", "SEED=3". False: none is found. Python's PYTHONHASHSEED is no
 * seed of a training. Placeholders stay as they are.
 */
bool container_seed(const struct container_spec *of, char seed[SEED_SIZE]);
