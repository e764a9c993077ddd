/* random.c - reproducible random numbers from a 64-bit state. */
#include "images/cpu/random.h"

uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

double random_normal(uint64_t *state)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += (double)(random_next(state) >> 11) * 0x1p-53;
	return sum;
}
