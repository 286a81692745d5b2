/* Reads the energy that the GPU counts, beside its power, clock and temperature, in a thread of its own. */
#ifndef NVML_H
#define NVML_H
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
typedef void *nvml_device;
struct sample { double t; unsigned long long mj; unsigned mw, sm, mem, temp; unsigned long long reasons; };
struct nvml {
	nvml_device dev;
	int (*energy)(nvml_device, unsigned long long *);
	int (*power)(nvml_device, unsigned *);
	int (*clock)(nvml_device, int, unsigned *);
	int (*temp)(nvml_device, int, unsigned *);
	int (*reasons)(nvml_device, unsigned long long *);
	pthread_t thread;
	volatile int stop, count;
	struct sample s[200000];
};
static struct nvml nvml;
static double now_s(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + t.tv_nsec * 1e-9; }
static void *nvml_loop(void *x)
{
	(void)x;
	unsigned long long last = 0;
	while (!nvml.stop && nvml.count < 200000) {
		struct sample s = {0};
		double a = now_s();
		nvml.energy(nvml.dev, &s.mj);
		s.t = (a + now_s()) / 2;
		if (s.mj != last) {
			last = s.mj;
			nvml.power(nvml.dev, &s.mw);
			nvml.clock(nvml.dev, 1, &s.sm);
			nvml.clock(nvml.dev, 2, &s.mem);
			nvml.temp(nvml.dev, 0, &s.temp);
			if (nvml.reasons)
				nvml.reasons(nvml.dev, &s.reasons);
			nvml.s[nvml.count] = s;
			__sync_synchronize();
			nvml.count++;
		}
		usleep(1000);
	}
	return NULL;
}
static int nvml_start(void)
{
	void *l = dlopen("libnvidia-ml.so.1", RTLD_NOW);
	if (!l)
		l = dlopen("libnvidia-ml.so", RTLD_NOW);
	if (!l) { fprintf(stderr, "no NVML: %s\n", dlerror()); return -1; }
	int (*init)(void) = (int (*)(void))dlsym(l, "nvmlInit_v2");
	int (*get)(unsigned, nvml_device *) = (int (*)(unsigned, nvml_device *))dlsym(l, "nvmlDeviceGetHandleByIndex_v2");
	nvml.energy = (int (*)(nvml_device, unsigned long long *))dlsym(l, "nvmlDeviceGetTotalEnergyConsumption");
	nvml.power = (int (*)(nvml_device, unsigned *))dlsym(l, "nvmlDeviceGetPowerUsage");
	nvml.clock = (int (*)(nvml_device, int, unsigned *))dlsym(l, "nvmlDeviceGetClockInfo");
	nvml.temp = (int (*)(nvml_device, int, unsigned *))dlsym(l, "nvmlDeviceGetTemperature");
	nvml.reasons = (int (*)(nvml_device, unsigned long long *))dlsym(l, "nvmlDeviceGetCurrentClocksThrottleReasons");
	if (!init || !get || !nvml.energy || init() || get(0, &nvml.dev)) { fprintf(stderr, "NVML does not start\n"); return -1; }
	return pthread_create(&nvml.thread, NULL, nvml_loop, NULL);
}
/* Watts from the counter's changes between two times (line through them), and the means of the others. */
static void nvml_report(FILE *f, double from, double to)
{
	double n = 0, st = 0, se = 0, stt = 0, ste = 0, mw = 0, sm = 0, mem = 0, temp = 0;
	unsigned long long reasons = 0;
	double first = 0, e0 = 0, tl = 0, el = 0;
	for (int i = 0; i < nvml.count; i++) {
		struct sample *s = &nvml.s[i];
		if (s->t < from || s->t > to)
			continue;
		if (!n) { first = s->t; e0 = s->mj; }
		double t = s->t - first, e = (s->mj - e0) * 1e-3;
		n++; st += t; se += e; stt += t * t; ste += t * e;
		mw += s->mw; sm += s->sm; mem += s->mem; temp += s->temp; reasons |= s->reasons;
		tl = t; el = e;
	}
	double slope = n > 2 ? (n * ste - st * se) / (n * stt - st * st) : 0;
	if (n < 1) n = 1;
	fprintf(f, "%.3f,%.3f,%.3f,%.0f,%.0f,%.1f,%llx,%.0f", slope, tl > 0 ? el / tl : 0, mw / n / 1e3, sm / n, mem / n, temp / n, reasons, n);
}
#define NVML_COLUMNS "watts,watts_ends,watts_gauge,sm_mhz,mem_mhz,temp_c,throttle,samples"
#endif
