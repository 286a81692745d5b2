/*
 * What functions should give, to send differences from it instead of results (measure.cu, fit.c). Sums and products of doubles alone give the
 * same bits everywhere.
 */
#ifndef GPUSIM_TESTS_ACCURACY_TRUTH_FUNCTIONS_REFERENCE_H
#define GPUSIM_TESTS_ACCURACY_TRUTH_FUNCTIONS_REFERENCE_H

#include <math.h>
#include <stdint.h>
#include <string.h>

static uint32_t bits_of(float f)
{
	uint32_t u;
	memcpy(&u, &f, 4);
	return u;
}

static float float_of(uint32_t u)
{
	float f;
	memcpy(&f, &u, 4);
	return f;
}

static double reference_exp(double x)
{
	double term = 1, sum = 1;
	for (int k = 1; k < 24; k++) {
		term = term * x / k;
		sum += term;
	}
	return sum;
}

static double reference_exp2(double x)
{
	double n = floor(x + 0.5);
	return ldexp(reference_exp((x - n) * 0.69314718055994530942), (int)n);
}

static double reference_log2(double x)
{
	int e;
	double m = frexp(x, &e);
	if (m < 0.70710678) {
		m *= 2;
		e--;
	}
	double s = (m - 1) / (m + 1), term = s, sum = 0;
	for (int k = 1; k < 45; k += 2) {
		sum += term / k;
		term = term * s * s;
	}
	return sum * 2 * 1.44269504088896340736 + e;
}

/* The sine or cosine of so many turns. */
static double reference_turns(double turns, int cosine)
{
	double x = (turns - floor(turns + 0.5)) * 6.28318530717958647693, term = cosine ? 1 : x, sum = term;
	for (int k = cosine ? 1 : 2; k < 44; k += 2) {
		term = -term * x * x / (k * (k + 1.0));
		sum += term;
	}
	return sum;
}

static double reference_tanh(double x)
{
	double e, term = 1, less_1 = 0;
	if (x >= 0.25) {
		e = reference_exp2(2 * x * 1.44269504088896340736);
		return (e - 1) / (e + 1);
	}
	for (int k = 1; k < 24; k++) {
		term = term * (2 * x) / k;
		less_1 += term;
	}
	return less_1 / (less_1 + 2);
}

/* What GPUs divide an angle by first: a product in f32, cut off. */
static double turns_of(float x)
{
	double d = (double)x * (double)0.15915494f;
	float f = (float)d;
	return (double)(fabs((double)f) > fabs(d) ? float_of(bits_of(f) - 1) : f);
}

static float reference(char kind, float x)
{
	switch (kind) {
	case 'r': return (float)(1.0 / x);
	case 'q': return (float)(1.0 / sqrt((double)x));
	case 's': return (float)sqrt((double)x);
	case 'e': return (float)reference_exp2(x);
	case 'l': return (float)reference_log2(x);
	case 'i': return (float)reference_turns(turns_of(x), 0);
	case 'o': return (float)reference_turns(turns_of(x), 1);
	default: return (float)reference_tanh(x);
	}
}

#endif
