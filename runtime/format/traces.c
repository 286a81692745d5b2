/* How long the columns of a trace buffer are. */
#include "runtime/format/traces.h"

uint64_t trace_column_room(uint64_t buffer_words, uint64_t columns)
{
	const uint64_t most = INT32_MAX, least = COLUMN_HEADER_WORDS + COLUMN_LONGEST;
	if (!columns || columns > UINT32_MAX || buffer_words < TRACE_HEADER_WORDS)
		return 0;
	uint64_t rows = (buffer_words - TRACE_HEADER_WORDS) / columns;
	return rows <= least ? 0 : rows - least < most ? rows - least : most;
}

size_t trace_columns(const uint64_t *words, size_t word_count)
{
	uint64_t columns = word_count > TRACE_HEADER_WORDS ? words[TRACE_COLUMNS_WORD] : 0;
	return columns <= (word_count - TRACE_HEADER_WORDS) / COLUMN_HEADER_WORDS ? (size_t)columns : 0;
}

size_t trace_columns_used(const uint64_t *words, size_t word_count)
{
	const size_t columns = trace_columns(words, word_count);
	size_t most = 0;
	if (!columns)
		return 0;
	const size_t rows = (word_count - TRACE_HEADER_WORDS) / columns - COLUMN_HEADER_WORDS;
	for (size_t i = 0; i < columns; i++) {
		size_t count = words[TRACE_HEADER_WORDS + columns + i] >> 32;
		most = count > most && count <= rows ? count : most;
	}
	return TRACE_HEADER_WORDS + (COLUMN_HEADER_WORDS + most) * columns;
}
