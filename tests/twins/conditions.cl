/* Barriers under conditions, with branches before, between and after them. */
KERNEL(guarded_compare)
{
	IDS;
	if (i < n) {
		l[t] = a[i];
		SYNC;
		if (l[t] < a[i + s])
			q[i] = 1;
	}
}

KERNEL(guarded_neighbour)
{
	IDS;
	if (i < n) {
		l[t] = a[i] * 1.25f + 0.1f;
		SYNC;
		if (l[(t + 1) % s] < l[t])
			o[i] = l[t] * l[(t + 1) % s] + a[i];
	}
}

KERNEL(guarded_else)
{
	IDS;
	if (i < n) {
		l[t] = a[i];
		SYNC;
		if (l[s - 1 - t] > 0.0f)
			o[i] = l[s - 1 - t] * 0.3f + a[i];
		else
			q[i] = b[i];
	} else if (b[i] > 4)
		q[i] = -b[i];
}

KERNEL(odd_groups)
{
	IDS;
	if (g & 1) {
		l[t] = a[i] - b[i];
		SYNC;
		float x = l[(t + 3) % s];
		if (x > 0.5f)
			q[i] += b[i];
		o[i] = x * a[i] + 0.7f;
	} else if (b[i] > 4) {
		q[i] = g;
	}
}

KERNEL(nested_guards)
{
	IDS;
	float x = a[i];
	if (i < n) {
		l[t] = x;
		SYNC;
		if (m > 2) {
			x += l[(t + 1) % s] * 0.5f;
			SYNC;
			l[t] = x;
			SYNC;
			if (l[(t + 2) % s] > x)
				q[i] = 7;
		}
		if (x > 0.0f)
			o[i] = x;
	}
}

KERNEL(divided_before)
{
	IDS;
	float x = 0.1f;
	if (b[i] > 4)
		x = a[i] * 3.0f;
	else
		x -= a[i];
	if (i < n) {
		l[t] = x;
		SYNC;
		if (b[i] > 2)
			x += l[(t + 1) % s];
	}
	o[i] = x;
	if (x > 1.0f)
		q[i] = t;
}

KERNEL(group_returns)
{
	IDS;
	if (g == 1)
		return;
	l[t] = a[i];
	SYNC;
	if (l[(t + 1) % s] > a[i])
		q[i] = 3;
	else
		o[i] = l[t];
}

KERNEL(out_of_range_returns)
{
	IDS;
	if (i >= n)
		return;
	l[t] = a[i] * a[i] - 0.3f;
	SYNC;
	float x = l[(t + s / 2) % s];
	if (x < 0.0f)
		x = -x * 1.1f;
	o[i] = x + a[i];
}

KERNEL(items_return_behind)
{
	IDS;
	if (i < n) {
		l[t] = a[i];
		SYNC;
		if (l[(t + 1) % s] > 0.0f)
			return;
		o[i] = l[(t + 1) % s];
	}
	q[i] = b[i] + 1;
}

KERNEL(group_and_items_return)
{
	IDS;
	if (g == 2)
		return;
	l[t] = a[i];
	SYNC;
	if (b[i] > 6)
		return;
	o[i] = l[s - 1 - t] * 2.5f - a[i];
	if (o[i] > 0.0f)
		q[i]++;
}

KERNEL(barrier_on_both_sides)
{
	IDS;
	float x;
	if (g & 1) {
		l[t] = a[i];
		SYNC;
		x = l[(t + 1) % s] * 0.9f;
	} else {
		l[s - 1 - t] = a[i];
		SYNC;
		x = l[(t + 1) % s] + 0.9f;
	}
	if (x > a[i])
		q[i] = 5;
	o[i] = x;
}

KERNEL(either_of_two)
{
	IDS;
	if ((g & 1) || m > 5) {
		l[t] = a[i];
		SYNC;
		if (l[t] > 0.0f || b[i] > 3)
			o[i] = l[(t + 1) % s];
	}
	if (a[i] > 0.0f && b[i] > 2)
		q[i] = 9;
}

KERNEL(both_of_two)
{
	IDS;
	float x = b[i] > 4 && a[i] > 0.0f ? a[i] : 1.5f;
	if (i < n && m < 5) {
		l[t] = x;
		SYNC;
		x = b[i] > 1 && l[(t + 1) % s] > x ? l[(t + 1) % s] * 0.4f : x - 0.2f;
	}
	o[i] = x;
}

KERNEL(kept_across)
{
	IDS;
	float x, y = a[i];
	int c = 0;
	if (b[i] > 3) {
		x = y * 0.5f;
		c = 2;
	} else
		x = y + 0.5f;
	if (i < n) {
		l[t] = x;
		SYNC;
		x += l[(t + 1) % s];
		if (c)
			y = x * y;
	}
	if (x > 0.0f)
		c += 4;
	q[i] = c;
	o[i] = x + y;
}

KERNEL(two_guards)
{
	IDS;
	float x = a[i];
	if (g > 0) {
		l[t] = x;
		SYNC;
		x = l[(t + 1) % s] + 0.25f;
	}
	if (x > 0.5f)
		q[i] = 1;
	SYNC;
	if (m == 3) {
		l[t] = x * 1.5f;
		SYNC;
		if (l[(t + 5) % s] > x)
			q[i] += 2;
	}
	o[i] = x;
}

KERNEL(one_of_a_chain)
{
	IDS;
	float x = a[i];
	if (g == 0)
		x = x > 0.0f ? x : -x;
	else if (g == 1) {
		l[t] = x;
		SYNC;
		if (b[i] & 1)
			x = l[(t + 1) % s];
	} else if (g == 2) {
		if (b[i] > 5)
			q[i] = 6;
	} else {
		l[t] = x * x;
		SYNC;
		x = l[(t + 2) % s] - x;
		if (x > 1.0f)
			q[i] = 8;
	}
	o[i] = x;
}

KERNEL(last_is_a_barrier)
{
	IDS;
	o[i] = a[i];
	if (i < n) {
		l[t] = a[i];
		SYNC;
		if (l[(t + 1) % s] > 0.2f)
			o[i] = l[(t + 1) % s] + 1.0f;
		SYNC;
	}
}

KERNEL(guard_by_argument)
{
	IDS;
	int c = 0;
	if (m) {
		l[t] = a[i];
		SYNC;
		if (l[(t + 3) % s] > 0.0f)
			c = 5;
		if (b[i] > 6)
			c += 2;
	}
	if (c > 2)
		o[i] = c * 0.37f + a[i];
	q[i] = c;
}
