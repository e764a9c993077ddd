/* banned.h - C functions that do not compile here; the Makefile includes it
 * first.
 */
#pragma once

#include <stdlib.h>
#include <string.h>
#include <stdio.h>
#include <time.h>

#pragma GCC poison strcpy strcat sprintf vsprintf strtok atoi localtime
