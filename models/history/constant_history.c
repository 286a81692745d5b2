#include "models/history/constant_history.h"

bool constant_history_launch(struct constant_history *h, const struct gpu *gpu, uint64_t groups)
{
	bool known = gpu->const_kept && h->sms >= gpu->sm_count;
	uint64_t left = h->sms < gpu->sm_count ? gpu->sm_count - h->sms : 0;
	h->sms += groups < left ? groups : left;
	return known;
}
