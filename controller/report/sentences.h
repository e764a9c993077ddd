/* sentences.h - what results and anomalies say, in another language.
 */
#ifndef CONTROLLER_REPORT_SENTENCES_H
#define CONTROLLER_REPORT_SENTENCES_H

#include "controller/report/translations.h"
#include "protocol/base/buffer.h"

/* Append a sentence of a result's flags, doubts or text. One that has no
 * translation stays as it is.
 */
int sentence_put(const char *sentence, enum language language,
		 struct buffer *out, struct error *err);

#endif
