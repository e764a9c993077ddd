/* advice.h - what who runs a job does about its failure.
 */
#ifndef CONTROLLER_CLI_ADVICE_H
#define CONTROLLER_CLI_ADVICE_H

#include "protocol/message/state.h"

/* A sentence; NULL: there is nothing to be done. */
const char *failure_advice(enum failure failure);

#endif
