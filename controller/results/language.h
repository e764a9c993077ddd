/* language.h - the languages of reports.
 */
#pragma once

enum language { LANGUAGE_EN, LANGUAGE_ZH, LANGUAGES };
