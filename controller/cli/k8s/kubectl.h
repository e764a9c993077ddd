/* kubectl.h - runs the kubectl of this machine, with every way to log in that
 * it has.
 */
#pragma once

#include "protocol/base/error.h"

#include <cjson/cJSON.h>

/* Run `kubectl OPTIONS WORD...`; the words end in NULL. options: a list of
 * texts. object: what it gets with `-f`, or NULL. *answer: the JSON that it
 * prints, which the caller deletes; answer NULL: its output is not used.
 * ENOENT: there is no kubectl; EIO: the text quotes it; EPROTO: no JSON.
 */
int kubectl_run(const cJSON *options, const cJSON *object, cJSON **answer,
		struct error *err, ...) __attribute__((sentinel));

/* 1: `kubectl auth can-i VERB WHAT` says yes; 0: it says no. */
int kubectl_can(const cJSON *options, const char *verb, const char *what,
		struct error *err);
