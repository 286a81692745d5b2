/* The trace of a launch that has completed, from the device. */
#include "runtime/guest/tracing.h"

#include "runtime/format/traces.h"

struct kept_trace *trace_bring_back(struct launch *l)
{
	struct counter_buffer *b = l->trace_buffer;
	struct kept_trace *t = NULL;
	size_t words = 0;
	if (!buffer_fetch_trace(b, &words))
		t = trace_pack(b->words, (words - TRACE_HEADER_WORDS) / (TRACE_CHUNK_BYTES / sizeof *b->words));
	else
		words = b->word_count;
	buffer_give_back(b, words);
	l->trace_buffer = NULL;
	worker_moved();
	if (t) {
		t->argument_bytes = l->argument_bytes;
		t->argument_count = l->record.argument_count;
		l->argument_bytes = NULL;
	}
	return t;
}
