/* What groups do together: scans, sorting, tiles, histograms. */
KERNEL(scan)
{
	IDS;
	l[t] = a[i];
	SYNC;
	for (int k = 1; k < s; k *= 2) {
		float x = l[t];
		if (t >= k)
			x += l[t - k];
		SYNC;
		l[t] = x;
		SYNC;
	}
	o[i] = l[t];
}

KERNEL(guarded_scan)
{
	IDS;
	if (g != 1) {
		__local float *from = l, *to = l + s;
		from[t] = b[i] > 4 ? a[i] : 0.5f;
		SYNC;
		for (int k = 1; k < s; k *= 2) {
			if (t >= k)
				to[t] = from[t] + from[t - k];
			else
				to[t] = from[t];
			SYNC;
			__local float *swap = from;
			from = to;
			to = swap;
		}
		o[i] = from[t];
		if (from[t] > 1.0f)
			q[i] = t;
	}
}

KERNEL(compact)
{
	IDS;
	if (i < n) {
		int keep = a[i] > 0.0f;
		l[t] = keep;
		SYNC;
		for (int k = 1; k < s; k *= 2) {
			float x = t >= k ? l[t - k] : 0.0f;
			SYNC;
			l[t] += x;
			SYNC;
		}
		if (keep)
			o[g * s + (int)l[t] - 1] = a[i] * 1.1f;
		if (t == s - 1)
			q[g] = (int)l[t];
	}
}

KERNEL(sort)
{
	IDS;
	l[t] = a[i];
	SYNC;
	if ((s & (s - 1)) == 0) {
		for (int k = 2; k <= s; k *= 2)
			for (int j = k / 2; j > 0; j /= 2) {
				int other = t ^ j;
				float x = l[t], y = l[other];
				SYNC;
				if (other > t) {
					if (((t & k) == 0) == (x > y)) {
						l[t] = y;
						l[other] = x;
					}
				}
				SYNC;
			}
		if (l[t] > a[i])
			q[i] = 1;
	}
	o[i] = l[t];
}

KERNEL(stencil)
{
	IDS;
	if (g > 0 && i < n) {
		l[t + 1] = a[i];
		if (t == 0) {
			l[0] = a[i - 1];
			l[s + 1] = a[i + s];
		}
		SYNC;
		float x = 0.25f * l[t] + 0.5f * l[t + 1] + 0.25f * l[t + 2];
		if (x > 0.0f)
			o[i] = x;
		else
			q[i] = -1;
	} else
		o[i] = a[i];
}

KERNEL(repeated_stencil)
{
	IDS;
	float x = a[i];
	for (int k = 0; k < m; k++) {
		l[t] = x;
		SYNC;
		if (t > 0 && t < s - 1)
			x = (l[t - 1] + l[t] + l[t + 1]) / 3.0f;
		else if (k == m - 1)
			q[i] = k;
		SYNC;
	}
	o[i] = x;
}

KERNEL(product_of_tiles)
{
	IDS;
	float sum = 0.0f;
	for (int tile = 0; tile * s < n; tile++) {
		l[t] = a[tile * s + t];
		if (tile < 2)
			l[s + t] = a[(tile * s + t * 3) % n];
		else
			l[s + t] = 0.5f;
		SYNC;
		for (int k = 0; k < s; k++)
			if (b[k] & 1)
				sum += l[k] * l[s + (k + t) % s];
		SYNC;
	}
	if (i < n)
		o[i] = sum;
}

KERNEL(histogram)
{
	IDS;
	__local int bins[16];
	for (int k = t; k < 16; k += s)
		bins[k] = 0;
	SYNC;
	if (i < n) {
		atomic_add(&bins[b[i]], 1);
		if (a[i] > 0.0f)
			atomic_add(&bins[10 + b[i] % 6], b[i]);
		SYNC;
		for (int k = t; k < 16; k += s)
			if (bins[k])
				atomic_add(&q[k], bins[k]);
	}
}

KERNEL(largest)
{
	IDS;
	__local int at[256];
	l[t] = a[i];
	at[t] = i;
	SYNC;
	int k = s;
	while (k > 1) {
		int h = (k + 1) / 2;
		if (t + h < k) {
			if (l[t + h] > l[t]) {
				l[t] = l[t + h];
				at[t] = at[t + h];
			}
		}
		SYNC;
		k = h;
	}
	if (a[i] == l[0])
		q[i] = at[0];
	if (t == 0)
		o[g] = l[0];
}

KERNEL(normalised)
{
	IDS;
	float x = a[i];
	if (i < n) {
		l[t] = x * x;
		SYNC;
		if (t == 0) {
			float sum = 0.0f;
			for (int k = 0; k < s; k++)
				sum += l[k];
			l[s] = sum;
		}
		SYNC;
		if (l[s] > 0.1f)
			x = x / sqrt(l[s]) + exp(-x) * 0.01f;
	}
	o[i] = x;
}
