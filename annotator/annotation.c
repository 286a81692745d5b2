/*
 * The passes of an annotation, in their order: parse every unit, collect functions, collect edits, find hazards, choose columns, find
 * places. After that only the text of the units is needed.
 */
#include "annotator/blocks/blocks.h"
#include "annotator/edits/functions.h"
#include "annotator/sites/hazards.h"
#include "annotator/source/origins.h"
#include "annotator/source/parse.h"
#include "annotator/text/columns.h"
#include "annotator/text/write.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

static void dispose_parser(struct annotation *a)
{
	for (size_t i = 0; i < a->unit_count; i++) {
		if (a->units[i].tu)
			clang_disposeTranslationUnit(a->units[i].tu);
		a->units[i].tu = NULL;
	}
	if (a->index)
		clang_disposeIndex(a->index);
	a->index = NULL;
}

static void keep_node(void *node)
{
	(void)node; /* the array of functions owns it */
}

void annotation_free(struct annotation *a)
{
	if (!a)
		return;
	dispose_parser(a);
	for (size_t i = 0; i < a->unit_count; i++) {
		free(a->units[i].text);
		free(a->units[i].edits);
	}
	tdestroy(a->by_usr, keep_node);
	for (size_t i = 0; i < a->function_count; i++) {
		free(a->functions[i]->usr);
		free(a->functions[i]->name);
		free(a->functions[i]->callees);
		free(a->functions[i]);
	}
	for (size_t i = 0; i < a->string_count; i++)
		free(a->strings[i]);
	for (size_t i = 0; i < a->block_count; i++)
		free(a->blocks[i].terms);
	for (size_t i = 0; i < a->kernel_count; i++) {
		free(a->kernels[i].columns);
		free(a->kernels[i].computed);
		free(a->kernels[i].kinds);
	}
	free(a->units);
	free(a->functions);
	free(a->loops);
	free(a->calls);
	free(a->sites);
	free(a->variables);
	free(a->strings);
	free(a->blocks);
	free(a->kernels);
	free(a);
}

int annotation_create(const struct annotator_unit *units, size_t count, struct annotation **out, struct gs_error *err)
{
	struct annotation *a = calloc(1, sizeof *a);
	int result = 0;
	if (a)
		a->units = calloc(count ? count : 1, sizeof *a->units);
	if (!a || !a->units) {
		annotation_free(a);
		return gs_fail(err, ENOMEM, "out of memory");
	}
	a->unit_count = count;
	a->index = clang_createIndex(0, 0);
	for (size_t i = 0; i < count && !result; i++)
		result = parse_unit(a, &units[i], i, err);
	if (!result)
		result = collect_functions(a, err);
	for (size_t i = 0; i < count && !result; i++)
		result = collect_edits(a, i, err);
	if (!result)
		find_hazards(a);
	if (!result)
		result = choose_windows(a, err);
	if (!result)
		result = choose_columns(a, err);
	if (!result)
		result = place_sites(a, err);
	for (size_t i = 0; i < count && !result; i++)
		if (units[i].original)
			result = find_origins(a, i, units[i].original, err);
	dispose_parser(a);
	if (result) {
		annotation_free(a);
		return result;
	}
	*out = a;
	return 0;
}

size_t annotation_blocks(const struct annotation *a, const struct block **out)
{
	*out = a->blocks;
	return a->block_count;
}

size_t annotation_loops(const struct annotation *a, const struct loop **out)
{
	*out = a->loops;
	return a->loop_count;
}

size_t annotation_sites(const struct annotation *a, const struct access_site **out)
{
	*out = a->sites;
	return a->site_count;
}

size_t annotation_kernels(const struct annotation *a, const struct kernel_entry **out)
{
	*out = a->kernels;
	return a->kernel_count;
}
