/* hidden_env.c - hides the values of `env` from viewers. */
#include "controller/api/hidden_env.h"

#include "protocol/message/json_get.h"
#include "protocol/wire/wire.h"

#include <string.h>

#define HIDDEN "(hidden)"

bool api_sees_env(const struct api_request *request)
{
	return request->peer && wire_peer_role(request->peer) == ROLE_OPERATOR;
}

/* ["NAME=VALUE", ...] */
static int hide_list(cJSON *list, struct error *err)
{
	cJSON *item;

	cJSON_ArrayForEach(item, list) {
		const char *text = cJSON_GetStringValue(item);
		owned_free char *hidden = NULL;

		if (asprintf(&hidden, "%.*s=" HIDDEN,
			     text ? (int)strcspn(text, "=") : 0,
			     text ? text : "") < 0)
			hidden = NULL;
		if (!hidden || !cJSON_SetValuestring(item, hidden))
			return error_nomem(err, "job");
	}
	return 0;
}

/* {"env.NAME": VALUE, ...} among others */
static int hide_values(cJSON *values, struct error *err)
{
	for (cJSON *item = values ? values->child : NULL; item;
	     item = item->next) {
		cJSON *made;

		if (!item->string || strncmp(item->string, "env.", 4) != 0)
			continue;
		made = cJSON_CreateString(HIDDEN);
		if (!made)
			return error_nomem(err, "job");
		made->string = strdup(item->string);
		if (!made->string ||
		    !cJSON_ReplaceItemViaPointer(values, item, made)) {
			cJSON_Delete(made);
			return error_nomem(err, "job");
		}
		item = made;
	}
	return 0;
}

int api_hide_env(cJSON *spec, struct error *err)
{
	const cJSON *container = json_get(spec, "container");

	if (hide_list(json_get(container, "env"), err) < 0 ||
	    hide_list(json_get(container, "engine_env"), err) < 0)
		return -1;
	return hide_values(json_get(spec, "values"), err);
}
