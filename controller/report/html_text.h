/* html_text.h - text into HTML, with what has a meaning there escaped.
 */
#ifndef CONTROLLER_REPORT_HTML_TEXT_H
#define CONTROLLER_REPORT_HTML_TEXT_H

#include "protocol/base/buffer.h"
#include "protocol/base/error.h"

/* Control characters become blanks. What is no UTF-8, or turns the direction of
 * text (utf8_turns()), becomes U+FFFD.
 */
int html_text(struct buffer *out, const char *text, struct error *err);

/* The same, but line ends and tabs stay: for <pre>. */
int html_lines(struct buffer *out, const char *text, struct error *err);

#endif
