/* rules: what advice there is. Each looks at one launch; rules.c has the table. */
#ifndef GPUSIM_RUNTIME_ADVICE_RULES_H
#define GPUSIM_RUNTIME_ADVICE_RULES_H

#include "runtime/advice/advice.h"

/* What the instructions of one line of the source ask of memory; sums over executions. */
struct advice_line {
	uint16_t file;
	uint32_t line;
	struct instruction_survey sum;
};

struct advice_rule {
	const char *name, *remedy;
	/* Adds a trial for everything that it finds: what to change, and the evidence. Nothing, if the launch does not have the fault. */
	void (*find)(const struct advice_rule *rule, const struct advice_case *c, struct advice_trials *out);
};
extern const struct advice_rule advice_rules[];
extern const size_t advice_rule_count;

/* A new trial of a rule, for a line or for none (NULL). NULL: there is no room. */
struct advice_trial *advice_try(const struct advice_rule *rule, const struct advice_case *c, const struct advice_line *line,
                                enum warps_change_kind kind, struct advice_trials *out);
/* The trial is about a line. */
void advice_place(const struct advice_case *c, const struct advice_line *line, struct advice_trial *t);
/* The same with another GPU: its description, to be changed. NULL also when out of memory. */
struct advice_trial *advice_try_gpu(const struct advice_rule *rule, const struct advice_case *c, struct advice_trials *out);

#define RULE(name) void advise_##name(const struct advice_rule *rule, const struct advice_case *c, struct advice_trials *out)
RULE(coalescing);
RULE(conflicts);
RULE(groups);
RULE(atomics);
RULE(vectors);
RULE(divergence);
RULE(occupancy);
RULE(doubles);
RULE(instructions);

#endif
