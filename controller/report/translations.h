/* translations.h - the phrases of pages in English and Chinese.
 */
#pragma once

#include "controller/results/language.h"

/* "en", "zh" */
extern const char *const language_names[LANGUAGES + 1];

/* The translation of an English phrase, or the phrase itself if there is none.
 * A translation has the same conversions (%s) in the same order.
 */
const char *phrase(enum language language, const char *english)
	__attribute__((format_arg(2)));
