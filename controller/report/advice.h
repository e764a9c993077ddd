/* advice.h - advises what to do about a class of failure.
 */
#ifndef CONTROLLER_REPORT_ADVICE_H
#define CONTROLLER_REPORT_ADVICE_H

#include "controller/results/language.h"
#include "protocol/message/state.h"

/* A sentence without a full stop; NULL: nothing needs to be done. */
const char *failure_advice(enum failure failure, enum language language);

#endif
