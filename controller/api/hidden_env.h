/* hidden_env.h - hides the values of `env` from viewers.
 *
 * Sweeps may have passwords in their environment, although `secrets:` exists
 * for them. Operators see all values; viewers see only names.
 */
#pragma once

#include "controller/api/api.h"

/* May the sender see values of `env`? */
bool api_sees_env(const struct api_request *request);

/* Replace them in a job's spec: those of its container, and of cells that
 * differ in them. NULL is fine. ENOMEM: the spec must not be sent.
 */
int api_hide_env(cJSON *spec, struct error *err);
