/* kubectl.h - runs the kubectl of this machine, with every way to log in that
 * it has.
 */
#pragma once

#include "protocol/base/buffer.h"

#include <cjson/cJSON.h>

#define KUBECTL_MS 60000
#define KUBECTL_OUTPUT_MAX ((size_t)16 << 20)

/* Run `kubectl OPTIONS WORDS`. options: a list of texts; words: end in NULL;
 * text: gets its output, and is initialized here. ENOENT: there is no kubectl;
 * EIO: the text quotes it.
 */
int kubectl_run(const cJSON *options, const char *const *words,
		struct buffer *text, struct error *err);

/* The same with `-o json`. The caller deletes *answer. EPROTO: no JSON. */
int kubectl_json(const cJSON *options, const char *const *words, cJSON **answer,
		 struct error *err);

/* 1: `kubectl auth can-i VERB WHAT` says yes; 0: it says no. */
int kubectl_can(const cJSON *options, const char *verb, const char *what,
		struct error *err);

/* `kubectl create -f OBJECT -o json`; more: one option more, or NULL. */
int kubectl_create(const cJSON *options, const cJSON *object, const char *more,
		   cJSON **answer, struct error *err);
