/* flight_recorder.h - names the rank that did not enter a collective, by the
 * dumps of PyTorch's flight recorder.
 *
 * A dump is a pickle of protocol 2 with the last collectives of a rank, and the
 * ranks of its process groups. Dumps of versions 2.x are read, PyTorch 2.4 and
 * later. Source: PyTorch, FlightRecorder.hpp (the keys) and pickler.cpp (the
 * opcodes that it writes).
 *
 * A collective that is not completed waits for the ranks that have not entered
 * it. A rank that waits in a collective of another group is held up itself, so
 * it is not named. Of ranks that go on, the one is named that calls most
 * collectives last.
 */
#pragma once

#include "protocol/base/error.h"
#include "protocol/base/owned.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A container writes the dumps, and the controller's loop reads them: some 0.3
 * s at most. 2000 collectives with their frames are 3 MiB.
 */
#define FLIGHT_DUMP_MAX ((size_t)8 << 20)   /* bytes of a dump */
#define FLIGHT_DUMPS_MAX ((size_t)32 << 20) /* of all of a job */
#define FLIGHT_TEXT_SIZE 400

struct flights; /* the dumps of a job */

/* NULL: ENOMEM. */
struct flights *flights_new(struct error *err);
void flights_free(struct flights *flights);
OWNED_POINTER(struct flights, flights_free)

bool flights_has(const struct flights *flights, int64_t rank);

/* Read the dump of a rank of this node (borrowed), once for each rank.
 * still_ns: dump_still_ns(). EPROTO: it is none, or broken. E2BIG: there are
 * too many collectives. Then, and without memory (ENOMEM), it does not count.
 */
int flights_take(struct flights *flights, const char *node, int64_t rank,
		 int64_t still_ns, const char *bytes, size_t size,
		 struct error *err);

/* "n2: rank 3 has not entered all_reduce 512, in which 7 ranks wait (flight
 * recorder)", of ranks that stand still. *node and *rank: that rank. False:
 * none stands apart.
 */
bool flights_verdict(const struct flights *flights, char text[FLIGHT_TEXT_SIZE],
		     const char **node, int64_t *rank);

/* "n2: rank 3 was the last to enter 38 of 40 collectives, 12 ms after the
 * others (flight recorder)", by the wall clocks of the nodes: of three ranks or
 * more, in FLIGHT_LAST_PCT of FLIGHT_LAST_CALLS or more collectives, and
 * FLIGHT_LAST_MS or more after their median. False: none is.
 */
#define FLIGHT_LAST_PCT 75
#define FLIGHT_LAST_CALLS 16
#define FLIGHT_LAST_MS 2
bool flights_last(const struct flights *flights, char text[FLIGHT_TEXT_SIZE],
		  const char **node, int64_t *rank);
