/* join.h - regatta-agent join: make a key, enrol it, write settings, start.
 */
#pragma once

#include "protocol/base/error.h"
#include "protocol/config/option.h"

/* `regatta-agent join` with argv[0..argc) behind the word. Returns an exit code
 * (protocol/base/program.h), or -1 with *err set. Called again after a failure,
 * it continues.
 */
int agent_join(int argc, char **argv, struct error *err);
