/* measure.h - how fast this machine computes, moves memory, writes files and
 * starts a container.
 */
#pragma once

#include "images/cpu/failure.h"

#include <stdint.h>
#include <stdio.h>

/* For so many milliseconds each: multiply matrices, copy memory, and write a
 * file in this folder to the disk. Prints one line, of rates, and where it is
 * known how long the engine took to start this container:
 *
 *	measured | compute 43.1 GFLOP/s | memory 9120.5 MiB/s | disk 411.9 MiB/s
 *	 | engine start 310 ms
 */
int measure(uint32_t ms, const char *folder, FILE *out,
	    struct failure *failure);
