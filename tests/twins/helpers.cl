/* Barriers in functions that are called under conditions, in loops, and by each other. */
float exchange(__local float *l, int t, int by, int s, float x)
{
	l[t] = x;
	SYNC;
	float y = l[(t + by) % s];
	SYNC;
	return y;
}

float exchange_some(__local float *l, int t, int g, int s, float x)
{
	if (g == 1)
		return x;
	l[t] = x;
	SYNC;
	float y = l[(t + 1) % s];
	SYNC;
	return y > x ? y : x * 0.5f;
}

float total(__local float *l, int t, int s, float x)
{
	l[t] = x;
	SYNC;
	for (int k = s; k > 1; k = (k + 1) / 2) {
		int h = (k + 1) / 2;
		if (t + h < k)
			l[t] += l[t + h];
		SYNC;
	}
	float sum = l[0];
	SYNC;
	return sum;
}

float either(__local float *l, int t, int g, int s, float x)
{
	if (g & 1) {
		l[t] = x;
		SYNC;
		if (l[(t + 1) % s] > 0.0f)
			x = 1.25f;
		SYNC;
	} else
		x = exchange(l, t, 2, s, x);
	return x;
}

KERNEL(calls_under_a_condition)
{
	IDS;
	float x = a[i];
	if (i < n) {
		x = exchange(l, t, 1, s, x);
		if (x > a[i])
			q[i] = 3;
	}
	o[i] = x;
}

KERNEL(callee_returns_early)
{
	IDS;
	float x = exchange_some(l, t, g, s, a[i]);
	if (x > 0.0f)
		q[i] = 1;
	o[i] = x * 1.5f - 0.3f;
}

KERNEL(callee_returns_early_under_a_condition)
{
	IDS;
	float x = a[i];
	if (m > 2)
		x = exchange_some(l, t, g, s, x);
	if (b[i] > 4)
		x = -x;
	o[i] = x;
}

KERNEL(calls_in_a_loop)
{
	IDS;
	float x = a[i];
	for (int k = 0; k < m; k++) {
		x += exchange(l, t, k, s, x) * 0.3f;
		if (k == g)
			break;
		if (x > 1.0f)
			q[i] += k;
	}
	o[i] = x;
}

KERNEL(mean_and_spread)
{
	IDS;
	if (i < n) {
		float mean = total(l, t, s, a[i]) / s, d = a[i] - mean;
		float spread = total(l, t, s, d * d) / s;
		if (d * d > spread)
			q[i] = d > 0.0f ? 1 : -1;
		o[i] = spread;
	}
}

KERNEL(callee_has_two_ways)
{
	IDS;
	float x = either(l, t, g, s, a[i]);
	if (x > a[i])
		o[i] = x + 0.5f;
	else
		q[i] = b[i];
}

KERNEL(callee_chooses_in_a_loop)
{
	IDS;
	float x = a[i];
	for (int k = 0; k < 3; k++) {
		if (b[i] > k)
			x *= 0.95f;
		x = either(l, t, k + g, s, x);
	}
	o[i] = x;
}

KERNEL(calls_a_kernel)
{
	IDS;
	if (i < n)
		callee_has_two_ways(a, b, o, q, n, m, l);
	if (b[i] > 5)
		o[i] += 1.0f;
}

KERNEL(condition_that_calls)
{
	IDS;
	float x = a[i];
	if (total(l, t, s, x) > 0.0f) {
		x = exchange(l, t, 1, s, x);
		if (x < 0.0f)
			q[i] = 2;
	}
	o[i] = x;
}
