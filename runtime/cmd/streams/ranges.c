/* Pieces of memory that a program uses, from its copies and from what its kernels touch. Traces do not say what was allocated. */
#include "runtime/cmd/streams/job.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What is allocated apart is in pages apart where it is large: drivers give memory out in pages of 2 MB. */
enum { PAGE_SHIFT = 21, MOST_PAGES = 1 << 20, MOST_PIECES = 1 << 16 };

long pieces_find(const struct touched_pieces *m, uint64_t address)
{
	size_t low = 0, high = m->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (m->list[middle].begin <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && address - m->list[low - 1].begin < m->list[low - 1].bytes ? (long)(low - 1) : PIECES_NONE;
}

/* Puts a piece in, with all that it overlaps. */
static int add_piece(struct touched_pieces *m, struct touched_piece p)
{
	size_t first = 0, last;
	if (!p.bytes || p.begin + p.bytes < p.begin)
		return 0;
	if (m->count >= MOST_PIECES)
		return 0;
	if (!gs_reserve(&m->list, m->count, &m->room, sizeof *m->list))
		return -ENOMEM;
	while (first < m->count && m->list[first].begin + m->list[first].bytes <= p.begin)
		first++;
	for (last = first; last < m->count && m->list[last].begin < p.begin + p.bytes; last++) {
		const struct touched_piece *o = &m->list[last];
		uint64_t end = o->begin + o->bytes > p.begin + p.bytes ? o->begin + o->bytes : p.begin + p.bytes;
		p.begin = o->begin < p.begin ? o->begin : p.begin;
		p.bytes = end - p.begin;
		p.copied += o->copied;
		p.largest = o->largest > p.largest ? o->largest : p.largest;
	}
	memmove(&m->list[first + 1], &m->list[last], (m->count - last) * sizeof *m->list);
	m->count = m->count - (last - first) + 1;
	m->list[first] = p;
	return 0;
}

int pieces_copy(struct touched_pieces *m, uint64_t begin, uint64_t bytes)
{
	return add_piece(m, (struct touched_piece){.begin = begin, .bytes = bytes});
}

static struct touched_page *find_page(struct touched_pieces *m, uint64_t number)
{
	size_t at = (size_t)(number * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (m->page_slots - 1);
	while (m->pages[at].high && m->pages[at].number != number)
		at = (at + 1) & (m->page_slots - 1);
	return &m->pages[at];
}

static bool grow_pages(struct touched_pieces *m)
{
	struct touched_pieces grown = {.page_slots = m->page_slots ? m->page_slots * 2 : 256};
	if (m->page_slots && m->page_count * 2 < m->page_slots)
		return true;
	if (m->page_count >= MOST_PAGES || !(grown.pages = calloc(grown.page_slots, sizeof *grown.pages)))
		return false;
	for (size_t i = 0; i < m->page_slots; i++)
		if (m->pages[i].high)
			*find_page(&grown, m->pages[i].number) = m->pages[i];
	free(m->pages);
	m->pages = grown.pages;
	m->page_slots = grown.page_slots;
	return true;
}

bool pieces_touch(struct touched_pieces *m, uint64_t address, uint32_t bytes)
{
	uint64_t end = address + (bytes ? bytes : 1);
	if (end <= address || !grow_pages(m))
		return false;
	struct touched_page *p = find_page(m, address >> PAGE_SHIFT);
	m->page_count += !p->high;
	*p = (struct touched_page){address >> PAGE_SHIFT, p->high && p->low < address ? p->low : address, p->high > end ? p->high : end};
	return true;
}

static int compare_pages(const void *a, const void *b)
{
	const struct touched_page *x = a, *y = b;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* What is between pieces that are known stays apart from them. */
static int add_between(struct touched_pieces *m, uint64_t low, uint64_t high)
{
	for (size_t i = 0; i < m->count && low < high; i++) {
		uint64_t begin = m->list[i].begin, end = begin + m->list[i].bytes;
		if (end <= low || begin >= high)
			continue;
		if (begin > low) {
			int result = add_piece(m, (struct touched_piece){.begin = low, .bytes = begin - low});
			if (result)
				return result;
			i++; /* it moved on by one */
		}
		low = end;
	}
	return low < high ? add_piece(m, (struct touched_piece){.begin = low, .bytes = high - low}) : 0;
}

int pieces_settle(struct touched_pieces *m)
{
	size_t count = 0;
	int result = 0;
	for (size_t i = 0; i < m->page_slots; i++)
		if (m->pages[i].high)
			m->pages[count++] = m->pages[i];
	if (count)
		qsort(m->pages, count, sizeof *m->pages, compare_pages);
	for (size_t i = 0; i < count && !result;) {
		size_t last = i;
		while (last + 1 < count && m->pages[last + 1].number == m->pages[last].number + 1)
			last++;
		result = add_between(m, m->pages[i].low, m->pages[last].high);
		i = last + 1;
	}
	free(m->pages);
	m->pages = NULL;
	m->page_count = m->page_slots = 0;
	return result;
}

void pieces_free(struct touched_pieces *m)
{
	free(m->list);
	free(m->pages);
	*m = (struct touched_pieces){0};
}
