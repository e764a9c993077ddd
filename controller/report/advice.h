/* advice.h - advises what to do about a failure: by what its text tells, else
 * by its class.
 */
#pragma once

#include "controller/results/language.h"
#include "protocol/message/state.h"

/* A sentence without a full stop; NULL: nothing needs to be done. text: of the
 * failure, or NULL.
 */
const char *failure_advice(enum failure failure, const char *text,
			   enum language language);

/* The same, once for each advice. *given is all zero before the first. */
#define ADVICE_MAX 32 /* that a page gives */
struct advice_given {
	const char *of[ADVICE_MAX];
};
const char *advice_once(struct advice_given *given, enum failure failure,
			const char *text, enum language language);
