/* nearest_word.h - the word that a misspelt one most likely means.
 */
#pragma once

/* The word (of an array that ends in NULL) with the least edit distance, in any
 * case; a part of the text ("nodes" of "num_nodes") is nearer than a word of
 * two edits. NULL when none is near.
 */
const char *nearest_word(const char *text, const char *const *words);
