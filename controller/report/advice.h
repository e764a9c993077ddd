/* advice.h - explains a class of failure and advises what to do.
 */
#ifndef CONTROLLER_REPORT_ADVICE_H
#define CONTROLLER_REPORT_ADVICE_H

#include "controller/report/translations.h"
#include "protocol/message/state.h"

/* "oom"; in Chinese "内存不足（oom）". NULL for FAILURE_NONE. */
const char *failure_class(enum failure failure, enum language language);

/* A sentence without a full stop; NULL: nothing needs to be done. */
const char *failure_advice(enum failure failure, enum language language);

#endif
