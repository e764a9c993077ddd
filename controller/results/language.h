/* language.h - the languages of reports.
 */
#ifndef CONTROLLER_RESULTS_LANGUAGE_H
#define CONTROLLER_RESULTS_LANGUAGE_H

enum language { LANGUAGE_EN, LANGUAGE_ZH, LANGUAGES };

#endif
