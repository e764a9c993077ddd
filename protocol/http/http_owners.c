/* http_owners.c - how many answers a second each owner of an HTTP server gets.
 */
#include "protocol/http/http_owners.h"
#include "protocol/base/clock.h"

#include <stdio.h>
#include <string.h>

bool http_owners_answer(struct http_owners *owners, const char *name)
{
	int64_t second = clock_mono_ms() / 1000;
	struct http_owner *owner;
	size_t i = 0;

	if (owners->second != second)
		owners->count = 0;
	owners->second = second;
	while (i < owners->count && strcmp(owners->list[i].name, name) != 0)
		i++;
	if (i == HTTP_OWNERS_MAX)
		return false;
	owner = &owners->list[i];
	if (i == owners->count) {
		owners->count++;
		owner->answers = 0;
		snprintf(owner->name, sizeof(owner->name), "%s", name);
	}
	return ++owner->answers <= HTTP_RATE;
}
