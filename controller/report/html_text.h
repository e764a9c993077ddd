/* html_text.h - escapes text for HTML.
 */
#ifndef CONTROLLER_REPORT_HTML_TEXT_H
#define CONTROLLER_REPORT_HTML_TEXT_H

#include "protocol/base/buffer.h"
#include "protocol/base/error.h"

/* Append the text. Control characters become blanks. Invalid UTF-8 and
 * characters that change the text direction (utf8_turns()) become U+FFFD.
 */
int html_text(struct buffer *out, const char *text, struct error *err);

/* The same for <pre>: line ends and tabs stay. */
int html_lines(struct buffer *out, const char *text, struct error *err);

#endif
