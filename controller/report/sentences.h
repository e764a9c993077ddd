/* sentences.h - translates the sentences of results and anomalies.
 */
#ifndef CONTROLLER_REPORT_SENTENCES_H
#define CONTROLLER_REPORT_SENTENCES_H

#include "controller/report/translations.h"
#include "protocol/base/buffer.h"

/* Append a sentence of a result's flags, anomalies or text. A sentence without
 * a translation is appended unchanged.
 */
int sentence_put(const char *sentence, enum language language,
		 struct buffer *out, struct error *err);

#endif
