/* Shared code of fuzz targets that model launches: the targets, the model, and small seeds. */
#include "runtime/model/simulation.h"
#include "tests/fuzz/packs.h"

#include <string.h>

struct simulation fuzz_simulation = SIMULATION_INIT;

void fuzz_models_setup(void)
{
	options_defaults(&fuzz_simulation.options);
	/* One GPU executes PTX, the other has machine code. */
	options_set(&fuzz_simulation.options, options_find("GPU"), "", "gtx480,h200", NULL);
	options_set(&fuzz_simulation.options, options_find("ITERATIONS"), "", "2", NULL);
	options_set(&fuzz_simulation.options, options_find("REPORT"), "", "none", NULL);
	options_set(&fuzz_simulation.options, options_find("LOG"), "", "error", NULL);
	load_targets(&fuzz_simulation);
	choose_model(&fuzz_simulation);
}

void fuzz_choose_model(size_t number)
{
	fuzz_simulation.model.kind = number % 32 ? MODEL_OPTIMISTIC : MODEL_FULL;
}

static bool wanted(const struct gs_section *s)
{
	if (strcmp(s->name, "code") && strcmp(s->name, "target"))
		return strcmp(s->name, "ptx");
	for (size_t i = 0; i < fuzz_simulation.arch_count; i++) {
		size_t length = strlen(fuzz_simulation.archs[i]);
		if (!strncmp(s->data, fuzz_simulation.archs[i], length) && strchr(" \n", s->data[length]))
			return true;
	}
	return false;
}

void fuzz_seed_record(struct gs_buf *out, char kind, const struct gs_pack *pack)
{
	struct gs_pack kept = {0};
	for (size_t i = 0; i < pack->count; i++)
		if (wanted(&pack->sections[i]))
			gs_pack_add(&kept, pack->sections[i].name, pack->sections[i].data, pack->sections[i].len);
	fuzz_record_write(out, kind, &kept);
	gs_pack_free(&kept);
}
