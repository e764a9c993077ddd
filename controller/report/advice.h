/* advice.h - advises what to do about a class of failure.
 */
#ifndef CONTROLLER_REPORT_ADVICE_H
#define CONTROLLER_REPORT_ADVICE_H

#include "protocol/message/state.h"

/* A sentence without a full stop, which sentence_put() translates; NULL:
 * nothing needs to be done.
 */
const char *failure_advice(enum failure failure);

#endif
