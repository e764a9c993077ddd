/* nearest_word.h - the word that a misspelt one most likely means.
 */
#ifndef PROTOCOL_BASE_NEAREST_WORD_H
#define PROTOCOL_BASE_NEAREST_WORD_H

/* The word (of an array that ends in NULL) with the least edit distance, in any
 * case; NULL when none is near.
 */
const char *nearest_word(const char *text, const char *const *words);

#endif
