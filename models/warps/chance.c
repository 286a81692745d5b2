/*
 * Lanes that meet in a bank by chance.
 *
 *   P(no bank is asked for more than k words) = n! / (b c)^n [x^n] (sum over j <= k of C(c, j) (e^x - 1)^j)^b
 *   E = sum over k >= 0 of 1 - P
 * for n lanes on b banks of c words: (e^x - 1)^j is the exponential generating function of lanes that hit all of j words. Lanes on
 * the same word share an access.
 * Source: Flajolet and Sedgewick, Analytic Combinatorics, II.3 (balls, urns and surjections).
 */
#include "models/warps/chance.h"

#include <math.h>
#include <string.h>

struct series {
	double at[CHANCE_LANES + 1];
};

static struct series multiply(const struct series *a, const struct series *b, uint32_t degree)
{
	struct series product = {{0}};
	for (uint32_t i = 0; i <= degree; i++)
		for (uint32_t j = 0; i + j <= degree; j++)
			product.at[i + j] += a->at[i] * b->at[j];
	return product;
}

static struct series power(struct series base, uint32_t exponent, uint32_t degree)
{
	struct series result = {{1}};
	for (; exponent; exponent /= 2) {
		if (exponent % 2)
			result = multiply(&result, &base, degree);
		base = multiply(&base, &base, degree);
	}
	return result;
}

/* e^(x / scale) - 1; with x divided by all words, coefficients are those of probabilities. */
static struct series one_word(double scale, uint32_t degree)
{
	struct series s = {{0}};
	double term = 1;
	for (uint32_t i = 1; i <= degree; i++)
		s.at[i] = term /= i * scale;
	return s;
}

void chance_fullest_bank(uint32_t lanes, uint32_t banks, uint64_t words, double *means)
{
	uint32_t degree = lanes < CHANCE_LANES ? lanes : CHANCE_LANES;
	double each = fmax(1, round((double)words / banks)), choose = 1;
	struct series hit = one_word(each * banks, degree), hits = {{1}}, bank = {{1}};
	memset(means, 0, (degree + 1) * sizeof *means);
	for (uint32_t k = 0; k <= degree; k++) {
		struct series all = power(bank, banks, degree);
		double factorial = 1, most = 0;
		for (uint32_t n = 0; n <= degree; n++, factorial *= n) {
			double more = fmax(0, 1 - factorial * all.at[n]);
			means[n] += more;
			most = fmax(most, more);
		}
		if (most < 1e-6 || k >= each)
			break;
		hits = multiply(&hits, &hit, degree);
		choose *= (each - k) / (k + 1);
		for (uint32_t n = 0; n <= degree; n++)
			bank.at[n] += choose * hits.at[n];
	}
}
