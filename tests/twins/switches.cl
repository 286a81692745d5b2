/* Barriers in switches, and switches around barriers. */
KERNEL(case_of_argument)
{
	IDS;
	float x = a[i];
	switch (m) {
	case 1:
		x += 1.0f;
		break;
	case 3:
		l[t] = x;
		SYNC;
		x = l[(t + 1) % s];
		if (x > 0.0f)
			q[i] = 1;
		break;
	default:
		x = 0.0f;
	}
	o[i] = x;
}

KERNEL(case_of_group)
{
	IDS;
	float x = a[i];
	switch (g % 3) {
	case 0:
		l[t] = x;
		SYNC;
		x = l[(t + 1) % s] * 0.5f;
		/* fall through */
	case 1:
		if (b[i] > 5)
			x += 0.25f;
		break;
	case 2:
		l[t] = x * 2.0f;
		SYNC;
		if (l[(t + 3) % s] > x)
			x = l[(t + 3) % s];
	}
	o[i] = x;
	if (x > 0.3f)
		q[i] = g;
}

KERNEL(cases_before_and_behind)
{
	IDS;
	float x = a[i];
	switch (b[i] & 3) {
	case 0:
		x = 0.5f;
		break;
	case 1:
		x *= 1.5f;
		break;
	case 2:
		x -= 1.0f;
	}
	if (i < n) {
		l[t] = x;
		SYNC;
		switch (b[i]) {
		case 1:
		case 4:
			x = l[(t + 1) % s];
			break;
		case 7:
			q[i] = 7;
			break;
		default:
			x += l[t];
		}
	}
	o[i] = x;
}

KERNEL(switch_in_a_loop)
{
	IDS;
	float x = a[i];
	for (int k = 0; k < 5; k++) {
		switch ((k + g) % 4) {
		case 0:
			continue;
		case 1:
			l[t] = x;
			SYNC;
			x = l[(t + 1) % s] + 0.1f;
			SYNC;
			break;
		case 2:
			if (b[i] > 3)
				x *= 0.9f;
			break;
		default:
			l[t] = x;
			SYNC;
			if (l[(t + 2) % s] > x)
				q[i]++;
			SYNC;
		}
	}
	o[i] = x;
}
