/* flight_recorder.c - any bytes as the dumps of two ranks.
 */
#include "controller/stacks/flight_recorder.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	owned(flights_free) struct flights *flights = flights_new(NULL);
	const char *text = (const char *)data, *node = NULL;
	char verdict[FLIGHT_TEXT_SIZE];
	int64_t rank = -1;

	if (!flights)
		return 0;
	flights_take(flights, "n1", 0, 0, text, size, NULL);
	flights_take(flights, "n2", 1, 1, text + size / 2, size - size / 2,
		     NULL);
	flights_take(flights, "n2", 2, 0, text, size, NULL);
	if (flights_verdict(flights, verdict, &node, &rank) &&
	    (!node || !flights_has(flights, rank) || !strstr(verdict, node)))
		abort();
	if (flights_last(flights, verdict, &node, &rank) &&
	    (!node || !flights_has(flights, rank) || !strstr(verdict, node)))
		abort();
	return 0;
}
