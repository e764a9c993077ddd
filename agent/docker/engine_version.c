/* engine_version.c - chooses the API version of the requests to an engine.
 */
#include "agent/docker/engine_version.h"
#include "protocol/message/json_get.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define API_MAJOR 1
#define API_OLDEST 40
#define API_NEWEST 44

/* "1.41" to 41; -1 for anything else. */
static int minor_version(const cJSON *object, const char *name)
{
	const char *text = json_get_text(object, name);
	char *end;
	long minor;

	if (!text || strncmp(text, "1.", 2) || !isdigit((unsigned char)text[2]))
		return -1;
	minor = strtol(text + 2, &end, 10);
	return *end || minor > 9999 ? -1 : (int)minor;
}

int engine_version_choose(const cJSON *answer, const char *host,
			  char version[ENGINE_VERSION_SIZE], struct error *err)
{
	int newest = minor_version(answer, "ApiVersion");
	int oldest = minor_version(answer, "MinAPIVersion");
	int use = newest < API_NEWEST ? newest : API_NEWEST;

	if (newest < 0)
		return error_set(err, EPROTO,
				 "engine at %s: its answer to /version "
				 "contains no API version",
				 host);
	if (newest < API_OLDEST)
		return error_set(err, EPROTO,
				 "engine at %s: its API is %d.%d; expected "
				 "%d.%d (Docker 19.03) or later",
				 host, API_MAJOR, newest, API_MAJOR,
				 API_OLDEST);
	if (oldest > use)
		use = oldest;
	snprintf(version, ENGINE_VERSION_SIZE, "%d.%d", API_MAJOR, use);
	return 0;
}

cJSON *engine_version_podman(const struct http_answer *answer)
{
	char podman[64], api[64];
	cJSON *version, *component;

	if (answer->status != 200 ||
	    !http_head_value(answer, "Libpod-API-Version", podman,
			     sizeof(podman)) ||
	    !http_head_value(answer, "API-Version", api, sizeof(api)))
		return NULL;
	version = cJSON_CreateObject();
	component = cJSON_CreateObject();
	cJSON_AddStringToObject(component, "Name", "Podman Engine");
	cJSON_AddStringToObject(component, "Version", podman);
	cJSON_AddItemToArray(cJSON_AddArrayToObject(version, "Components"),
			     component);
	if (!cJSON_AddStringToObject(version, "Version", podman) ||
	    !cJSON_AddStringToObject(version, "ApiVersion", api)) {
		cJSON_Delete(version);
		return NULL;
	}
	return version;
}
