#include "runtime/guest/driver/simulation.h"

struct simulation simulation = SIMULATION_INIT;
