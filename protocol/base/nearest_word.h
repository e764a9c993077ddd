/* nearest_word.h - the word that a misspelt one most likely means.
 */
#pragma once

/* The word (of an array that ends in NULL) with the least edit distance, in any
 * case; NULL when none is near.
 */
const char *nearest_word(const char *text, const char *const *words);
