/* Barriers in loops that break, continue, return and nest. */
KERNEL(tree)
{
	IDS;
	l[t] = a[i];
	SYNC;
	for (int k = s; k > 1; k = (k + 1) / 2) {
		int h = (k + 1) / 2;
		if (t + h < k)
			l[t] += l[t + h];
		SYNC;
	}
	if (t == 0)
		o[g] = l[0];
}

KERNEL(guarded_tree)
{
	IDS;
	if (i < n) {
		l[t] = a[i] * a[i];
		SYNC;
		for (int k = s; k > 1; k = (k + 1) / 2) {
			int h = (k + 1) / 2;
			if (t + h < k && b[i] < 8)
				l[t] += l[t + h];
			SYNC;
		}
		if (t == 0)
			o[g] = l[0];
		else if (l[0] > 1.0f)
			q[i] = b[i];
	}
}

KERNEL(breaks_at_the_top)
{
	IDS;
	float x = a[i];
	for (int k = 0;; k++) {
		if (k >= m)
			break;
		l[t] = x;
		SYNC;
		x = x * 0.5f + l[(t + 1) % s];
		if (x > 1.0f)
			q[i]++;
		SYNC;
	}
	o[i] = x;
}

KERNEL(breaks_by_local)
{
	IDS;
	float x = a[i];
	for (int k = 0; k < 12; k++) {
		l[t] = x;
		SYNC;
		float first = l[0], other = l[(t + 1) % s];
		SYNC;
		if (first > 1.5f)
			break;
		x = other + 0.3f;
		if (x > 0.0f)
			q[i] += k;
	}
	o[i] = x;
}

KERNEL(breaks_between)
{
	IDS;
	float x = a[i];
	for (int k = 0; k < 8; k++) {
		l[t] = x;
		SYNC;
		x += l[(t + 1) % s] * 0.125f;
		if (k == g)
			break;
		SYNC;
		if (b[i] > k)
			x -= 0.0625f;
	}
	if (x > 0.5f)
		q[i] = 2;
	o[i] = x;
}

KERNEL(continues)
{
	IDS;
	float x = a[i];
	for (int k = 0; k < 2 * m; k++) {
		if (b[i] == k)
			x += 0.7f;
		if ((k + g) & 1)
			continue;
		l[t] = x;
		SYNC;
		x = l[(t + k) % s];
		SYNC;
		if (x < 0.0f)
			x = -x * 0.9f;
	}
	o[i] = x;
}

KERNEL(at_least_once)
{
	IDS;
	float x = a[i];
	int k = 0;
	do {
		if (b[i] > 4)
			x *= 1.1f;
		l[t] = x;
		SYNC;
		x = l[s - 1 - t] + 0.01f;
		SYNC;
		if (x > 1.0f)
			q[i]++;
	} while (++k < g);
	o[i] = x;
}

KERNEL(nested)
{
	IDS;
	float x = a[i];
	for (int k = 0; k < m; k++) {
		for (int j = 0; j < g; j++) {
			l[t] = x;
			SYNC;
			if (j & 1)
				x += l[(t + j) % s] * 0.3f;
			SYNC;
		}
		if (x > b[i])
			x = 0.5f;
	}
	o[i] = x;
}

KERNEL(nested_guard)
{
	IDS;
	float x = a[i];
	for (int k = 0; k < m; k++)
		if ((k ^ g) & 1) {
			for (int j = 0; j < 3; j++) {
				l[t] = x;
				SYNC;
				float y = l[(t + 1) % s];
				SYNC;
				if (y > x)
					x = y * 0.75f + x;
				else
					q[i]++;
			}
		} else if (b[i] > 5)
			x += 1.0f;
	o[i] = x;
}

KERNEL(returns_in_a_loop)
{
	IDS;
	float x = a[i];
	for (int k = 0; k < 4; k++) {
		l[t] = x;
		SYNC;
		x = l[(t + 1) % s] - 0.2f;
		o[i] = x;
		if (k == g)
			return;
		SYNC;
	}
	if (x > 0.0f)
		q[i] = 4;
}

KERNEL(divided_loop_behind)
{
	IDS;
	float x = 0.0f;
	if (i < n) {
		l[t] = a[i];
		SYNC;
		for (int k = 0; k < b[i]; k++) {
			x += l[(t + k) % s];
			if (x > 3.0f)
				break;
		}
	}
	o[i] = x;
}

KERNEL(divided_loop_before)
{
	IDS;
	float x = a[i];
	for (int j = 0; j < m; j++) {
		for (int k = 0; k < b[i]; k++)
			x = x * 0.9f + 0.1f;
		l[t] = x;
		SYNC;
		if (j < g)
			x += l[(t + 1) % s];
		SYNC;
	}
	o[i] = x;
}

KERNEL(jumps_back)
{
	IDS;
	float x = a[i];
	int k = 0;
again:
	l[t] = x;
	SYNC;
	x = l[(t + 1) % s] * 0.8f + 0.1f;
	SYNC;
	if (x > b[i])
		q[i] = k;
	if (++k < m)
		goto again;
	o[i] = x;
}

KERNEL(two_ways_out)
{
	IDS;
	float x = a[i];
	int k = 0;
	while (1) {
		l[t] = x;
		SYNC;
		float y = l[(t + 1) % s];
		if (++k > m)
			break;
		SYNC;
		if (y > x)
			x = y;
		if (k > g + 1)
			break;
	}
	q[i] = k;
	o[i] = x;
}

KERNEL(until_all_agree)
{
	IDS;
	__local int busy;
	float x = a[i] + 2.5f;
	int rounds = 0;
	for (;;) {
		if (t == 0)
			busy = 0;
		SYNC;
		if (x > 1.0f) {
			x = x * 0.75f - 0.01f;
			busy = 1;
		}
		SYNC;
		int more = busy;
		SYNC;
		if (!more)
			break;
		rounds++;
	}
	q[i] = rounds;
	o[i] = x;
}

KERNEL(backwards)
{
	IDS;
	float x = a[i];
	for (int k = s; k--;) {
		if (t == k)
			l[0] = x;
		SYNC;
		if (t < k && l[0] > 0.0f)
			x += l[0] * 0.01f;
		SYNC;
		if (k < s - m)
			break;
	}
	o[i] = x;
}
