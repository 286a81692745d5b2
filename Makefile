# gpusim. `make help` lists the targets and switches.

O ?= build
V ?= 0
DEBUG ?= 0
ASAN ?= 0
TSAN ?= 0
PREFIX ?= /usr/local
DESTDIR ?=
FUZZ_SECONDS ?= 3600
JOBS ?= $(shell nproc 2>/dev/null || echo 1)

CC = gcc
FUZZ_CC = clang-19
LLVM_CONFIG ?= llvm-config-19

# What each target needs of Debian's packages; `setup-*` installs what is missing.
PACKAGES_BUILD = gcc libc6-dev opencl-c-headers ocl-icd-opencl-dev libxxhash-dev libjansson-dev libzstd-dev libclang-19-dev llvm-19-dev
PACKAGES_RUN = pocl-opencl-icd clang-19 libclc-19
PACKAGES_TEST = jq python3-jsonschema libcunit1-dev clinfo clpeak python3-pyopencl libclfft-dev
PACKAGES_VALIDATE = libopenmpi-dev openmpi-bin mpich libmpich-dev gfortran slurm-wlm libsimgrid-dev chromium libreoffice-calc-nogui hashcat libclblast-dev libviennacl-dev g++ python3-opencv python3-numba
PACKAGES_FUZZ = clang-19 libclang-rt-19-dev

CFLAGS ?= -O2 -g
ALL_CFLAGS = -std=gnu11 -ffp-contract=off -D_GNU_SOURCE -I. -I$(O) -fPIC -fvisibility=hidden -pthread -MMD -MP \
	-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes $(CFLAGS)
ALL_LDFLAGS = -pthread $(LDFLAGS)
ifeq ($(DEBUG),1)
ALL_CFLAGS += -O0 -ggdb3
endif
ifeq ($(ASAN),1)
SANITIZE = -fsanitize=address,undefined -fno-omit-frame-pointer
endif
ifeq ($(TSAN),1)
SANITIZE = -fsanitize=thread
endif
ALL_CFLAGS += $(SANITIZE)
ALL_LDFLAGS += $(SANITIZE)
ifeq ($(V),1)
QUIET =
SAY = @:
else
QUIET = @
SAY = @printf '  %-7s %s\n'
endif

LLVM_INCLUDE = $(shell $(LLVM_CONFIG) --includedir 2>/dev/null)
LLVM_LIBDIR = $(shell $(LLVM_CONFIG) --libdir 2>/dev/null)
LLVM_LIBS = -L$(LLVM_LIBDIR) -lclang-19 -lLLVM-19

BASE = $(wildcard runtime/base/*.c)
MODELS = $(wildcard models/*.c models/*/*.c models/*/*/*.c)
COMMON = $(BASE) $(MODELS) $(wildcard runtime/config/*.c runtime/format/*.c) $(O)/builtin_gpus.c
GUEST = $(filter-out %/alias.c,$(wildcard interposer/*/*.c interposer/*/*/*.c)) $(wildcard runtime/guest/*.c runtime/guest/*/*.c) \
	$(MODELLING) $(COMMON)
ANNOTATOR = $(wildcard annotator/*.c annotator/*/*.c) $(O)/builtin_annotator.c $(O)/builtin_lift.c runtime/format/matrices.c
CC_SOURCES = $(ANNOTATOR) $(wildcard analysis/*/*.c runtime/cc/*.c) models/code/code.c $(BASE)
CC_HEADERS = $(wildcard annotator/*.h annotator/*/*.h annotator/*/*.def annotator/*/*.cl annotator/*/*.awk analysis/*/*.h analysis/*/*.def \
	runtime/cc/*.h runtime/format/*.h runtime/format/*.def) models/code/code.h models/trace/trace.h models/trace/read.h
# The part of the analysis that needs no LLVM: reading PTX, and its graphs.
OBSERVED = analysis/sass/observed.c analysis/sass/blocks.c
PTX = $(filter-out $(OBSERVED),$(wildcard analysis/sass/*.c)) $(wildcard analysis/ptx/*.c analysis/fatbin/*.c analysis/graph/*.c analysis/builtins/*.c) runtime/format/matrices.c
PTX_READER = $(wildcard analysis/ptx/*.c) runtime/format/matrices.c
# What writes single instructions, and what their text calls.
LIFT_INSTRUCTIONS = $(wildcard annotator/opcodes/*.c) $(O)/builtin_lift.c runtime/format/matrices.c
# What models and reports launches. It needs no driver.
MODELLING = $(wildcard runtime/process/*.c runtime/timeline/*.c runtime/model/*.c runtime/advice/*.c runtime/estimates/*.c runtime/estimates/*/*.c runtime/report/*.c)
CMD = $(wildcard runtime/cmd/*.c runtime/cmd/*/*.c runtime/cmd/*/*/*.c) $(COMMON) $(PTX) $(OBSERVED) $(MODELLING) $(O)/builtin_page.c $(O)/builtin_micro.c
PAGE = $(addprefix runtime/cmd/page/,util.js zoom.js table.js kinds.js charts.js source.js timeline.js advice.js memory.js main.js page.css page.html)
CLUSTER_PAGE = $(addprefix runtime/cmd/,page/util.js page/zoom.js page/table.js cluster/page/cluster.js)
TESTS = $(wildcard tests/*.c $(foreach part,models analysis annotator runtime interposer,tests/$(part)/*.c tests/$(part)/*/*.c tests/$(part)/*/*/*.c)) tests/oracle/test_oracle.c tests/lift/pack.c tests/lift/runner.c tests/lift/traced.c
ORACLE = $(filter-out $(addprefix tests/oracle/,run.c timing.c analytical.c test_oracle.c),$(wildcard tests/oracle/*.c tests/oracle/extended/*.c))
# What the unit tests link of the guest's side.
GUEST_TESTED = $(MODELLING) $(wildcard runtime/guest/support/*.c) \
	$(patsubst %,runtime/guest/cuda/%.c,memory streams copies prints groups scratch images) \
	interposer/cuda/ways/patch.c $(wildcard interposer/cuda/device/*.c)
CMD_TESTED = $(addprefix runtime/cmd/accelsim/import/,line.c bytes.c packed.c trace.c) $(addprefix runtime/cmd/streams/,ranges.c lanes.c windows.c) $(addprefix runtime/cmd/accelsim/export/,names.c opcodes.c registers.c groups.c warps.c)
PROGRAMS = $(patsubst %.c,$(O)/%,$(wildcard tests/guest/*.c tests/bench/*.c kernels/*.c) \
	tests/generate/generate.c tests/generate/run.c tests/twins/twins.c)

OBJ = $(patsubst %.c,$(O)/obj/%.o,$(patsubst $(O)/%,%,$(1)))

ifneq ($(filter . .. / ./,$(O))$(word 2,$(O)),)
$(error O=$(O): name a folder of its own, without blanks)
endif

.PHONY: all demo test bench validate sanitize fuzz-annotator fuzz-ptx fuzz-fatbin fuzz-cubin fuzz-sass fuzz-task fuzz-gpu_from fuzz-ppt fuzz-ppt_gpu fuzz-task_from fuzz-topology fuzz-lifter fuzz-profile fuzz-cache \
	install uninstall deb clean help programs cuda-ptx \
	setup-demo setup-test setup-validate setup-fuzz
.DEFAULT_GOAL = all

# Libraries that have the name of a CUDA runtime, or of the driver (interposer/cuda/ways/alias.c).
RUNTIME_ALIASES = $(patsubst %,$(O)/cuda/libcudart.so.%,11.0 12 13)
DRIVER_ALIAS = $(O)/cuda/driver/libcuda.so.1
ALIASES = $(RUNTIME_ALIASES) $(DRIVER_ALIAS)

all: $(O)/libgpusim.so $(O)/gpusim-cc $(O)/gpusim $(O)/gpusim.1 $(ALIASES)

$(O)/libgpusim.so: $(call OBJ,$(GUEST))
	$(SAY) LINK $@
	$(QUIET)$(CC) -shared -Wl,-Bsymbolic -Wl,-z,nodelete $(if $(SANITIZE),,-Wl,-z,defs) $(ALL_LDFLAGS) -o $@ $^ -lzstd -ldl -lm

$(ALIASES): interposer/cuda/ways/alias.c $(O)/libgpusim.so
	$(SAY) LINK $@
	$(QUIET)mkdir -p $(@D)
	$(QUIET)echo '$(@F) { };' > $@.version
	$(QUIET)$(CC) -shared -nostdlib -Wl,-soname,$(@F) -Wl,--version-script=$@.version -Wl,--no-as-needed -Wl,-z,defs \
		-Wl,-rpath,'$$ORIGIN/..:$$ORIGIN/../..:$$ORIGIN/../../..' -o $@ $< -L$(O) -lgpusim $(if $(SANITIZE),,-lc)
	$(QUIET)rm $@.version

$(O)/gpusim-cc: $(call OBJ,$(CC_SOURCES))
	$(SAY) LINK $@
	$(QUIET)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LLVM_LIBS) -lzstd -lm

$(O)/gpusim: $(call OBJ,$(CMD))
	$(SAY) LINK $@
	$(QUIET)$(CC) $(ALL_LDFLAGS) -o $@ $^ -ljansson -lzstd -ldl -lm

$(O)/gpusim.1: $(O)/gpusim
	$(SAY) MAN $@
	$(QUIET)$(O)/gpusim --help-man > $@

# Written only when it changes, so that nothing is compiled in vain.
$(O)/cc_id.h: $(CC_SOURCES) $(CC_HEADERS) $(MAKEFILE_LIST)
	$(QUIET)mkdir -p $(@D)
	$(QUIET)echo "#define GPUSIM_CC_ID \"$$(cat $(CC_SOURCES) $(CC_HEADERS) | \
		sha256sum | cut -c1-12)\"" > $@.new
	$(QUIET)cmp -s $@.new $@ && rm $@.new || mv $@.new $@

# The same of what makes estimates: those in the cache are valid for the models that made them, and for no others.
MODEL_SOURCES = $(MODELS) $(wildcard models/*.h models/*.def models/*/*.h models/*/*/*.h runtime/model/*.[ch] runtime/estimates/*.[ch] runtime/estimates/*/*.[ch])

$(O)/model_id.h: $(MODEL_SOURCES) $(MAKEFILE_LIST)
	$(QUIET)mkdir -p $(@D)
	$(QUIET)echo "#define GPUSIM_MODEL_ID \"$$(cat $(MODEL_SOURCES) | sha256sum | cut -c1-12)\"" > $@.new
	$(QUIET)cmp -s $@.new $@ && rm $@.new || mv $@.new $@

# Other flags, other objects: the stamp changes when they do, but not with another name for the same folder.
FLAGS := $(CC) $(subst -I$(O) ,,$(ALL_CFLAGS))
$(shell mkdir -p $(O); echo '$(FLAGS)' | cmp -s - $(O)/flags || echo '$(FLAGS)' > $(O)/flags)

# What reports say that they were made by. Empty where the sources are no checkout of their own.
COMMIT := $(shell test -e .git && git describe --always --abbrev=12 --exclude '*' --dirty 2>/dev/null)
$(shell echo '#define GPUSIM_COMMIT "$(COMMIT)"' | cmp -s - $(O)/commit.h || echo '#define GPUSIM_COMMIT "$(COMMIT)"' > $(O)/commit.h)

$(call OBJ,$(GUEST) $(CC_SOURCES) $(CMD) $(TESTS) $(wildcard tests/fuzz/*.c)): $(O)/flags | $(O)/cc_id.h $(O)/model_id.h

# Text that is compiled in, so that library and command work wherever they are. The only place where text becomes C strings:
#   $(call embed,HEADER,DEFINITIONS)                    the C file $@; the definitions are made by the next three
#   $(call as_table,STRUCT,NAME,FILES,SUFFIX)           an array of {name of the file without SUFFIX, its text}, ended by {0, 0}
#   $(call as_text,NAME,FILES)                          the text of all files as one string
#   $(call as_sections,FILES)                           a string for each section of kernel code (annotator/text/sections.awk)
AS_STRING = sed 's/\\/\\\\/g; s/"/\\"/g; s/.*/"&\\n"/'
SECTIONS = annotator/text/sections.awk
as_table = echo 'const struct $(1) $(2)[] = {'; for f in $(sort $(3)); do \
	printf '{"%s",\n' "$$(basename $$f $(4))"; $(AS_STRING) $$f; echo '},'; done; echo '{0, 0}};';
as_text = echo 'const char $(1)[] ='; cat $(2) | $(AS_STRING); echo ';';
as_sections = echo 'const char'; awk -f $(SECTIONS) $(1) | $(AS_STRING) | sed 's/^"@\(.*\)\\n"$$/, \1[] =/; 1s/^,//'; echo ';';
define embed
	$(SAY) GEN $@
	$(QUIET)mkdir -p $(@D)
	$(QUIET){ echo '#include "$(1)"'; $(2) } > $@
endef

$(O)/builtin_gpus.c: $(wildcard models/gpus/*.gpu) Makefile
	$(call embed,runtime/config/gpus.h,$(call as_table,builtin_gpu,builtin_gpus,$(wildcard models/gpus/*.gpu),.gpu))

$(O)/builtin_page.c: $(PAGE) $(CLUSTER_PAGE) Makefile
	$(call embed,runtime/cmd/page/page.h,$(foreach kind,html css js,$(call as_text,page_$(kind),$(filter %.$(kind),$(PAGE)))) $(call as_text,cluster_js,$(CLUSTER_PAGE)))

$(O)/builtin_micro.c: $(wildcard kernels/micro/*.cl kernels/micro/*.ptx) Makefile
	$(call embed,runtime/cmd/tune/tune.h,$(call as_table,micro_source,micro_sources,$(wildcard kernels/micro/*.cl kernels/micro/*.ptx)))

$(O)/builtin_annotator.c: $(wildcard annotator/text/*.cl) annotator/lift/frame.cl $(SECTIONS) Makefile
	$(call embed,annotator/text/template.h,$(call as_sections,$(sort $(wildcard annotator/text/*.cl)) annotator/lift/frame.cl))

$(O)/builtin_lift.c: $(wildcard annotator/opcodes/prelude*.cl) Makefile
	$(call embed,annotator/opcodes/opcode.h,$(call as_text,lift_prelude_text,$(sort $(wildcard annotator/opcodes/prelude*.cl))))

$(addprefix $(O)/obj/builtin_,gpus.o page.o micro.o annotator.o lift.o): $(O)/obj/%.o: $(O)/%.c
	$(SAY) CC $<
	$(QUIET)mkdir -p $(@D)
	$(QUIET)$(CC) $(ALL_CFLAGS) -c -o $@ $<

$(O)/obj/annotator/%.o $(O)/obj/analysis/%.o $(O)/obj/runtime/cc/%.o $(O)/obj/tests/%.o: ALL_CFLAGS += $(addprefix -I,$(LLVM_INCLUDE))

$(O)/obj/%.o: %.c
	$(SAY) CC $<
	$(QUIET)mkdir -p $(@D)
	$(QUIET)$(CC) $(ALL_CFLAGS) -c -o $@ $<

# Programs that the library is tried on: ordinary OpenCL applications, without anything of ours.
programs: $(PROGRAMS) $(O)/tests/golden/golden $(O)/tests/traces/traces $(O)/tests/oracle/run $(O)/tests/oracle/timing $(O)/tests/oracle/analytical \
	$(O)/tests/registers/registers $(O)/tests/instructions/instructions $(O)/tests/fuzz/replay

$(O)/tests/guest/%: tests/guest/%.c tests/guest/guest.h
	$(SAY) CC $<
	$(QUIET)mkdir -p $(@D)
	$(QUIET)$(CC) -O1 -g -I. -Wall -Wextra $(SANITIZE) -DCL_TARGET_OPENCL_VERSION=300 -pthread -o $@ $< -lOpenCL -ldl -lm

$(O)/kernels/% $(O)/tests/bench/% $(O)/tests/generate/% $(O)/tests/twins/%:
	$(SAY) CC $<
	$(QUIET)mkdir -p $(@D)
	$(QUIET)$(CC) -O2 -g -I. -Wall -Wextra -ffp-contract=off $(SANITIZE) -o $@ $(filter %.c,$^) -lOpenCL -ldl -lm

# CUDA programs: plain C with PTX inside, so that neither nvcc nor a CUDA runtime is needed to build them.
CUDA_PROGRAMS = $(patsubst %.cu,$(O)/%,$(filter-out tests/cuda/programs/cooperative.cu,$(wildcard tests/cuda/programs/*.cu)))
programs: $(CUDA_PROGRAMS) $(O)/kernels/cuda/host $(O)/tests/cuda/results

$(CUDA_PROGRAMS): $(O)/tests/cuda/programs/%: tests/cuda/programs/%.cu tests/cuda/programs/ptx/%.ptx tests/cuda/programs/program.h tests/cuda/programs/arrays.h kernels/cuda/runtime.h
	$(SAY) CC $<
	$(QUIET)mkdir -p $(@D)
	$(QUIET)$(CC) -O1 -g -I. -Wall -Wextra -ffp-contract=off $(SANITIZE) -DPTX_FILE='"tests/cuda/programs/ptx/$*.ptx"' -o $@ -x c $< -lm

$(O)/kernels/cuda/host: kernels/cuda/host.c kernels/cuda/runtime.h kernels/cases.h
$(O)/tests/cuda/results: tests/cuda/results.c kernels/cases.h
$(O)/kernels/cuda/host $(O)/tests/cuda/results:
	$(SAY) CC $<
	$(QUIET)mkdir -p $(@D)
	$(QUIET)$(CC) -O2 -g -I. -Wall -Wextra $(SANITIZE) -o $@ $< -lm

# A driver of ours, programs that use it, and one that looks up functions (tests/cuda/host).
CUDA_HOST = $(addprefix $(O)/tests/cuda/host/,libcuda.so.1 program lookup columns)
programs: $(CUDA_HOST)
$(O)/tests/cuda/host/columns: tests/cuda/host/columns.c runtime/format/counted.h runtime/format/traces.h | $(O)/libgpusim.so
$(O)/tests/cuda/host/columns: HOST_LIBS = -L$(O) -lgpusim
$(O)/tests/cuda/host/libcuda.so.1: tests/cuda/host/driver.c runtime/format/counted.h runtime/format/traces.h tests/cuda/host/shared.h
	$(SAY) CC $<
	$(QUIET)mkdir -p $(@D)
	$(QUIET)$(CC) -O1 -g -I. -Wall -Wextra -shared -fPIC -Wl,-soname,$(@F) -o $@ $<
$(O)/tests/cuda/host/program: tests/cuda/host/program.c tests/cuda/host/shared.h $(O)/tests/cuda/host/libcuda.so.1
$(O)/tests/cuda/host/lookup: tests/cuda/host/lookup.c
$(addprefix $(O)/tests/cuda/host/,program lookup columns):
	$(SAY) CC $<
	$(QUIET)mkdir -p $(@D)
	$(QUIET)$(CC) -O1 -g -D_GNU_SOURCE -Wall -Wextra $(SANITIZE) -fno-builtin -rdynamic -I. -o $@ $(filter-out %.h,$^) $(HOST_LIBS) -ldl -lpthread

# A library that stands for MPI, and a program that uses it (tests/command/cluster.sh).
programs: $(O)/tests/mpi/calls
$(O)/tests/mpi/libmpi-stub.so: tests/mpi/stub.c tests/mpi/stub.h
	$(SAY) CC $<
	$(QUIET)mkdir -p $(@D)
	$(QUIET)$(CC) -O1 -g -I. -Wall -Wextra -shared -fPIC -Wl,-soname,$(@F) -o $@ $<
$(O)/tests/mpi/calls: tests/mpi/calls.c $(O)/tests/mpi/libmpi-stub.so tests/mpi/stub.h
	$(SAY) CC $<
	$(QUIET)$(CC) -O1 -g -I. -Wall -Wextra $(SANITIZE) -o $@ $< -L$(@D) -lmpi-stub

# What measures real GPUs (tests/accuracy/truth/measure.sh builds them for itself). They open OpenCL and CUDA when they run.
TRUTH = $(addprefix $(O)/tests/accuracy/truth/,opencl driver)
programs: $(TRUTH)
$(O)/tests/accuracy/truth/opencl: $(addprefix tests/accuracy/truth/,opencl.c device.c device.h) kernels/cases.h
$(O)/tests/accuracy/truth/driver: tests/accuracy/truth/driver.c kernels/cases.h
$(TRUTH):
	$(SAY) CC $<
	$(QUIET)mkdir -p $(@D)
	$(QUIET)$(CC) -O1 -g -I. -Wall -Wextra $(SANITIZE) -o $@ $(filter %.c,$^) -ldl -lm

# PTX of CUDA C++ by clang, without the CUDA toolkit. The results are committed, so this runs only when somebody asks for it.
# The CUDA runtime inside a program of its own: kernels find what trace_native.c exports.
programs: $(O)/tests/cuda/direct
$(O)/tests/cuda/direct: tests/cuda/direct.c $(call OBJ,$(GUEST)) $(O)/cc_id.h
	$(SAY) CC $<
	$(QUIET)mkdir -p $(@D)
	$(QUIET)$(CC) -O1 -g -std=gnu11 -D_GNU_SOURCE -I. -I$(O) -Wall -Wextra $(SANITIZE) -rdynamic -pthread -o $@ $(filter %.c %.o,$^) -lzstd -ldl -lm

CUDA_PTX = $(foreach f,$(wildcard kernels/cuda/*.cu) $(patsubst $(O)/%,%.cu,$(CUDA_PROGRAMS)),$(dir $f)ptx/$(basename $(notdir $f)).ptx)
cuda-ptx:
	$(QUIET)for ptx in $(CUDA_PTX); do \
		folder=$${ptx%/ptx/*} name=$${ptx##*/} arch=sm_70 version=+ptx64; \
		[ $$name != clusters.ptx ] || { arch=sm_90 version=+ptx80; }; \
		clang-19 -x cuda -I. --cuda-path=/nonexistent --cuda-device-only -nocudainc -nocudalib --cuda-gpu-arch=$$arch --cuda-feature=$$version \
			-O3 -ffp-contract=on -S -o $$ptx $$folder/$${name%.ptx}.cu || exit 1; \
	done

# Talks to gpusim-cc, and runs what it makes.
$(O)/tests/golden/golden: tests/golden/golden.c
# Kernels call what trace_native.c exports.
$(O)/tests/traces/traces: tests/traces/traces.c $(call OBJ,models/trace/read.c models/accesses/image.c) runtime/guest/support/trace_native.c \
		runtime/guest/support/trace_columns.c runtime/guest/support/trace_choice.c runtime/guest/support/boxes.c runtime/format/traces.c
$(O)/tests/golden/golden $(O)/tests/traces/traces: tests/golden/common.c tests/golden/common.h $(call OBJ,$(BASE)) $(O)/cc_id.h
	$(SAY) CC $<
	$(QUIET)mkdir -p $(@D)
	$(QUIET)$(CC) -O1 -g -D_GNU_SOURCE -I. -I$(O) -Itests/golden -Wall -Wextra $(SANITIZE) -rdynamic -o $@ $(filter %.c %.o,$^) -lOpenCL -lm

# Lifts single instructions and runs them.
$(O)/obj/tests/instructions/rounding.o: ALL_CFLAGS += -frounding-math -ffp-contract=off
$(O)/tests/instructions/instructions: $(call OBJ,$(wildcard tests/instructions/*.c) $(LIFT_INSTRUCTIONS) $(PTX_READER) $(BASE) runtime/guest/support/matrices.c)
	$(SAY) LINK $@
	$(QUIET)mkdir -p $(@D)
	$(QUIET)$(CC) $(ALL_LDFLAGS) -rdynamic -o $@ $^ -lOpenCL -lm

$(O)/tests/registers/registers: tests/registers/registers.c $(call OBJ,$(COMMON) $(PTX) runtime/cmd/explain/compile.c runtime/cmd/cc_run.c)
	$(SAY) CC $<
	$(QUIET)mkdir -p $(@D)
	$(QUIET)$(CC) -O1 -g -D_GNU_SOURCE -I. -I$(O) -Wall -Wextra $(SANITIZE) -o $@ $^ -pthread -lzstd -lm

$(foreach p,$(filter-out $(O)/tests/guest/%,$(PROGRAMS)),$(eval $(p): $(patsubst $(O)/%,%.c,$(p))))
$(O)/kernels/launches: $(addprefix kernels/shapes/,host.c host.h)
$(O)/kernels/shapes: $(wildcard kernels/shapes/*.c kernels/shapes/*.h)
$(O)/tests/generate/generate: $(addprefix tests/generate/,expressions.c statements.c functions.c generate.h)
$(O)/tests/generate/run: tests/generate/work.h
$(O)/tests/twins/twins: tests/guest/guest.h

$(O)/unit-tests: $(call OBJ,$(TESTS) $(ORACLE) $(COMMON) $(GUEST_TESTED) $(CMD_TESTED) $(filter-out runtime/cc/main.c runtime/base/% models/%,$(CC_SOURCES)))
	$(SAY) LINK $@
	$(QUIET)$(CC) $(ALL_LDFLAGS) -rdynamic -o $@ $^ $(LLVM_LIBS) -lcunit -lOpenCL -lzstd -ldl -lm

# The fuzz target: the annotator is watched, what feeds it is not. The plain driver runs the same target on files.
FUZZ_TARGET = tests/fuzz/target.c tests/fuzz/clean.c
FUZZ_DRIVER = $(FUZZ_TARGET) tests/fuzz/mutate.c tests/fuzz/grammar.c
FUZZ_TESTED = $(filter-out annotator/count/% annotator/lift/% annotator/opcodes/%,$(ANNOTATOR)) $(BASE) $(addprefix runtime/cc/,device.c options.c)
FUZZ_OBJ = $(patsubst %.c,$(O)/fuzz/obj/%.o,$(filter-out $(O)/%,$(FUZZ_DRIVER) $(FUZZ_TESTED))) $(O)/obj/builtin_annotator.o $(O)/obj/builtin_lift.o
FUZZ_FLAGS = -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer

$(O)/fuzz/obj/annotator/%.o: FUZZ_FLAGS += -fsanitize=fuzzer-no-link

$(O)/fuzz/obj/%.o: %.c Makefile
	$(SAY) FUZZCC $<
	$(QUIET)mkdir -p $(@D)
	$(QUIET)$(FUZZ_CC) $(ALL_CFLAGS) -I$(LLVM_INCLUDE) $(FUZZ_FLAGS) -c -o $@ $<

$(O)/fuzz/annotator: $(FUZZ_OBJ)
	$(SAY) LINK $@
	$(QUIET)$(FUZZ_CC) $(FUZZ_FLAGS) -fsanitize=fuzzer -o $@ $^ $(LLVM_LIBS)

FUZZ_PTX_OBJ = $(patsubst %.c,$(O)/fuzz/obj/%.o,tests/fuzz/ptx_reader.c tests/analysis/ptx_check.c $(PTX_READER) $(BASE))

$(O)/fuzz/obj/analysis/%.o: FUZZ_FLAGS += -fsanitize=fuzzer-no-link

$(O)/fuzz/ptx: $(FUZZ_PTX_OBJ)
	$(SAY) LINK $@
	$(QUIET)$(FUZZ_CC) $(FUZZ_FLAGS) -fsanitize=fuzzer -o $@ $^ -lm

FUZZ_FATBIN_OBJ = $(patsubst %.c,$(O)/fuzz/obj/%.o,tests/fuzz/fatbin_reader.c $(wildcard analysis/fatbin/*.c) $(BASE))

$(O)/fuzz/fatbin: $(FUZZ_FATBIN_OBJ)
	$(SAY) LINK $@
	$(QUIET)$(FUZZ_CC) $(FUZZ_FLAGS) -fsanitize=fuzzer -o $@ $^ -lzstd -lm

FUZZ_CUBIN_OBJ = $(patsubst %.c,$(O)/fuzz/obj/%.o,tests/fuzz/cubin_reader.c analysis/sass/cubin.c analysis/sass/lines.c analysis/sass/decode.c $(BASE))

$(O)/fuzz/cubin: $(FUZZ_CUBIN_OBJ)
	$(SAY) LINK $@
	$(QUIET)$(FUZZ_CC) $(FUZZ_FLAGS) -fsanitize=fuzzer -o $@ $^ -lzstd -lm

FUZZ_SASS_OBJ = $(patsubst %.c,$(O)/fuzz/obj/%.o,tests/fuzz/sass_reader.c $(addprefix runtime/cmd/accelsim/import/,line.c bytes.c packed.c trace.c) \
	$(addprefix runtime/cmd/streams/,ranges.c lanes.c windows.c survey.c counting.c) analysis/sass/opcodes.c $(OBSERVED) $(wildcard analysis/graph/*.c analysis/builtins/*.c) $(PTX_READER) models/code/code.c $(BASE))

$(O)/fuzz/obj/runtime/cmd/accelsim/import/%.o $(O)/fuzz/obj/runtime/cmd/streams/%.o: FUZZ_FLAGS += -fsanitize=fuzzer-no-link

$(O)/fuzz/sass: $(FUZZ_SASS_OBJ)
	$(SAY) LINK $@
	$(QUIET)$(FUZZ_CC) $(FUZZ_FLAGS) -fsanitize=fuzzer -o $@ $^ -lzstd -lm

# Readers of commands, with all that the command has.
FUZZ_CMD_OBJ = $(patsubst %.c,$(O)/fuzz/obj/%.o,$(filter-out $(O)/%,$(CMD))) $(patsubst $(O)/%.c,$(O)/obj/%.o,$(filter $(O)/%,$(CMD)))
$(O)/fuzz/obj/runtime/cmd/main.o: FUZZ_FLAGS += -Dmain=command_main

$(O)/fuzz/task: $(O)/fuzz/obj/tests/fuzz/task_reader.o $(O)/fuzz/obj/tests/fuzz/task_list.o $(FUZZ_CMD_OBJ)
	$(SAY) LINK $@
	$(QUIET)$(FUZZ_CC) $(FUZZ_FLAGS) -fsanitize=fuzzer -o $@ $^ -ljansson -lzstd -ldl -lm

$(O)/fuzz/files: $(O)/fuzz/obj/tests/fuzz/files.o $(O)/fuzz/obj/tests/fuzz/task_list.o $(FUZZ_CMD_OBJ)
	$(SAY) LINK $@
	$(QUIET)$(FUZZ_CC) $(FUZZ_FLAGS) -fsanitize=fuzzer -o $@ $^ -ljansson -lzstd -ldl -lm

# The program's name says which command it is of.
FUZZ_FILES = gpu_from ppt ppt_gpu task_from topology
$(addprefix $(O)/fuzz/,$(FUZZ_FILES)): $(O)/fuzz/files
	$(QUIET)ln -f $< $@

# What gpusim-cc does with a CUDA module: reader, lifter, and the tables that it writes. No LLVM is needed.
FUZZ_LIFTER_OBJ = $(patsubst %.c,$(O)/fuzz/obj/%.o,tests/fuzz/lifter.c $(addprefix runtime/cc/,lifted.c lifted_tables.c lifted_targets.c options.c assemble.c own_code.c) \
	$(wildcard analysis/mapping/*.c analysis/machine/*.c annotator/count/*.c annotator/lift/*.c annotator/opcodes/*.c analysis/assembled/*.c) $(PTX) models/code/code.c $(BASE)) \
	$(O)/obj/builtin_annotator.o $(O)/obj/builtin_lift.o

# A function without instructions has no array of them, and C forbids to add 0 to NULL.
$(foreach f,analysis/graph analysis/mapping analysis/machine annotator/lift annotator/opcodes,$(O)/fuzz/obj/$f/%.o): \
	FUZZ_FLAGS += -fno-sanitize=pointer-overflow,nonnull-attribute

$(O)/fuzz/lifter: $(FUZZ_LIFTER_OBJ)
	$(SAY) LINK $@
	$(QUIET)$(FUZZ_CC) $(FUZZ_FLAGS) -fsanitize=fuzzer -o $@ $^ -lzstd -lm

# The reader of profiles, and what replay makes of their records.
FUZZ_PACKS = tests/fuzz/packs.c tests/fuzz/pack_mutate.c tests/fuzz/modelling.c
FUZZ_PROFILE_OBJ = $(patsubst %.c,$(O)/fuzz/obj/%.o,tests/fuzz/profile_reader.c $(FUZZ_PACKS) $(filter-out $(O)/%,$(COMMON)) $(MODELLING) \
	runtime/cmd/sweep/replay.c runtime/cmd/sweep/only.c runtime/cmd/flags.c)

$(O)/fuzz/obj/runtime/%.o: FUZZ_FLAGS += -fsanitize=fuzzer-no-link
# What the library does with entries of its cache, as far as that needs no driver.
FUZZ_CACHE_OBJ = $(patsubst %.c,$(O)/fuzz/obj/%.o,tests/fuzz/cache_reader.c $(FUZZ_PACKS) $(filter-out $(O)/%,$(COMMON)) $(MODELLING) \
	runtime/guest/support/units.c)

# Less work per launch (models/util/limits.h). Arrays of no elements may be NULL there, which C forbids to add 0 to.
$(O)/fuzz/obj/models/%.o: FUZZ_FLAGS += -fsanitize=fuzzer-no-link -fno-sanitize=pointer-overflow,nonnull-attribute \
	-DMODEL_MOST_BLOCKS=4096 -DMODEL_BUDGET=40000

$(O)/fuzz/profile: $(FUZZ_PROFILE_OBJ) $(O)/obj/builtin_gpus.o
	$(SAY) LINK $@
	$(QUIET)$(FUZZ_CC) $(FUZZ_FLAGS) -fsanitize=fuzzer -o $@ $^ -lzstd -lm

$(O)/fuzz/cache: $(FUZZ_CACHE_OBJ) $(O)/obj/builtin_gpus.o
	$(SAY) LINK $@
	$(QUIET)$(FUZZ_CC) $(FUZZ_FLAGS) -fsanitize=fuzzer -o $@ $^ -lzstd -lm

$(O)/tests/fuzz/replay: $(call OBJ,tests/fuzz/replay.c $(FUZZ_TARGET) $(FUZZ_TESTED))
	$(SAY) LINK $@
	$(QUIET)mkdir -p $(@D)
	$(QUIET)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LLVM_LIBS) -lm

# Runs PTX, for tests: counts, paths and accesses, and the timing model on them.
$(O)/obj/tests/oracle/%.o: ALL_CFLAGS += -ffp-contract=off -frounding-math

$(O)/tests/oracle/run: $(call OBJ,tests/oracle/run.c $(ORACLE) $(PTX_READER) $(BASE))
$(O)/tests/oracle/timing: $(call OBJ,tests/oracle/timing.c $(ORACLE) $(PTX_READER) $(COMMON))
$(O)/tests/oracle/analytical: $(call OBJ,tests/oracle/analytical.c $(ORACLE) $(PTX_READER) $(COMMON))
$(O)/tests/oracle/run $(O)/tests/oracle/timing $(O)/tests/oracle/analytical:
	$(SAY) LINK $@
	$(QUIET)mkdir -p $(@D)
	$(QUIET)$(CC) $(ALL_LDFLAGS) -o $@ $^ -lzstd -ldl -lm

# PTX for every form of instruction and of random programs, executed in several ways (tests/lift/conformance).
CONFORMANCE = $(addprefix $(O)/tests/lift/conformance/,generate random oracle compare device)
programs: $(CONFORMANCE)
$(O)/obj/tests/lift/conformance/%.o: ALL_CFLAGS += -ffp-contract=off
$(O)/tests/lift/conformance/generate: $(call OBJ,$(addprefix tests/lift/conformance/,generate.c forms.c))
$(O)/tests/lift/conformance/random: $(call OBJ,tests/lift/conformance/random.c)
$(O)/tests/lift/conformance/oracle: $(call OBJ,$(addprefix tests/lift/conformance/,oracle.c folder.c) $(ORACLE) $(PTX_READER) $(BASE))
$(O)/tests/lift/conformance/compare: $(call OBJ,$(addprefix tests/lift/conformance/,compare.c folder.c))
$(O)/tests/lift/conformance/device: $(call OBJ,$(addprefix tests/lift/conformance/,device.c folder.c))
$(CONFORMANCE):
	$(SAY) LINK $@
	$(QUIET)mkdir -p $(@D)
	$(QUIET)$(CC) $(ALL_LDFLAGS) -o $@ $^ -lzstd -ldl -lm

# Lifts PTX, and runs it with plain OpenCL.
TRACE_NATIVE = $(addprefix runtime/guest/support/,trace_native.c trace_choice.c boxes.c trace_warp.c matrices.c)
LIFT = $(wildcard annotator/lift/*.c) $(O)/builtin_annotator.c $(LIFT_INSTRUCTIONS)

programs: $(O)/tests/lift/run $(O)/tests/lift/suite $(O)/tests/lift/bench $(O)/tests/lift/conformance/lifted
$(O)/obj/tests/lift/run.o: ALL_CFLAGS += -Wno-unused-function
LIFT_RUNNER = tests/lift/runner.c $(LIFT) $(PTX) $(TRACE_NATIVE)
$(O)/tests/lift/run: $(call OBJ,tests/lift/run.c $(LIFT_RUNNER) $(BASE))
$(O)/tests/lift/suite: $(call OBJ,tests/lift/suite.c tests/lift/traced.c $(LIFT_RUNNER) $(ORACLE) $(COMMON))
$(O)/tests/lift/conformance/lifted: $(call OBJ,$(addprefix tests/lift/conformance/,lifted.c folder.c) $(LIFT_RUNNER) $(BASE))
$(O)/tests/lift/bench: $(call OBJ,tests/lift/bench.c $(LIFT_RUNNER) $(BASE))
$(O)/tests/lift/run $(O)/tests/lift/suite $(O)/tests/lift/bench $(O)/tests/lift/conformance/lifted:
	$(SAY) LINK $@
	$(QUIET)mkdir -p $(@D)
	$(QUIET)$(CC) $(ALL_LDFLAGS) -rdynamic -o $@ $^ -lOpenCL -lzstd -ldl -lm

# Installs missing packages: says which, asks nothing, removes nothing.
define install_packages
	@if command -v dpkg-query >/dev/null && command -v apt-get >/dev/null; then \
		missing=; for p in $(1); do \
			dpkg-query -W -f='$${Status}' $$p 2>/dev/null | grep -q '^install ok installed' || missing="$$missing $$p"; \
		done; \
		if [ -n "$$missing" ]; then \
			echo "Installing from Debian:$$missing"; \
			root=; [ "$$(id -u)" = 0 ] || root=sudo; \
			$$root apt-get update -qq && \
			$$root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends --no-remove $$missing; \
		fi; \
	else echo "Not a Debian system; needed are the equivalents of: $(1)"; fi
endef

setup-demo:
	$(call install_packages,$(PACKAGES_BUILD) $(PACKAGES_RUN))

setup-test: 
	$(call install_packages,$(PACKAGES_BUILD) $(PACKAGES_RUN) $(PACKAGES_TEST))

setup-validate:
	$(call install_packages,$(PACKAGES_BUILD) $(PACKAGES_RUN) $(PACKAGES_TEST) $(PACKAGES_VALIDATE))

setup-fuzz:
	$(call install_packages,$(PACKAGES_BUILD) $(PACKAGES_RUN) $(PACKAGES_FUZZ))

# A second make: the first could not know the tools that its set-up installed.
demo: setup-demo
	@$(MAKE) --no-print-directory -j$(JOBS) all $(O)/kernels/demo $(O)/kernels/cuda/host
	LD_PRELOAD=$(abspath $(O))/libgpusim.so GPUSIM_GPU=h200,v100,gtx480 $(O)/kernels/demo
	$(O)/gpusim run --gpu v100,h200 -- $(O)/kernels/cuda/host kernels/cases.txt saxpy-s matmul_tiled-s reduce-s

test: setup-test
	@$(MAKE) --no-print-directory -j$(JOBS) all programs $(O)/unit-tests
	tests/run.sh $(O)

bench: setup-test
	@$(MAKE) --no-print-directory -j$(JOBS) all programs
	tests/bench.sh $(O)

validate: setup-validate
	@$(MAKE) --no-print-directory -j$(JOBS) all programs $(O)/unit-tests
	tests/validate.sh $(O)

sanitize: setup-test
	@$(MAKE) --no-print-directory -j$(JOBS) all programs
	tests/sanitize.sh $(O)

fuzz-annotator: setup-fuzz
	@$(MAKE) --no-print-directory -j$(JOBS) $(O)/fuzz/annotator $(O)/tests/generate/generate
	tests/fuzz/run.sh $(O) $(FUZZ_SECONDS)

fuzz-ptx: setup-fuzz
	@$(MAKE) --no-print-directory -j$(JOBS) $(O)/fuzz/ptx
	mkdir -p $(O)/fuzz/ptx-corpus $(O)/fuzz/ptx-found
	$(O)/fuzz/ptx -max_total_time=$(FUZZ_SECONDS) -timeout=5 -max_len=16384 -len_control=20 -dict=tests/fuzz/ptx.dict \
		-artifact_prefix=$(O)/fuzz/ptx-found/ -print_final_stats=1 $(O)/fuzz/ptx-corpus tests/fuzz/ptx

fuzz-fatbin: setup-fuzz
	@$(MAKE) --no-print-directory -j$(JOBS) $(O)/fuzz/fatbin
	mkdir -p $(O)/fuzz/fatbin-corpus $(O)/fuzz/fatbin-found
	$(O)/fuzz/fatbin -max_total_time=$(FUZZ_SECONDS) -timeout=10 -max_len=16384 -artifact_prefix=$(O)/fuzz/fatbin-found/ \
		-print_final_stats=1 $(O)/fuzz/fatbin-corpus tests/fuzz/fatbin

fuzz-cubin: setup-fuzz
	@$(MAKE) --no-print-directory -j$(JOBS) $(O)/fuzz/cubin
	mkdir -p $(O)/fuzz/cubin-corpus $(O)/fuzz/cubin-found
	cp tests/analysis/sass/*.cubin $(O)/fuzz/cubin-corpus
	$(O)/fuzz/cubin -max_total_time=$(FUZZ_SECONDS) -timeout=10 -max_len=16384 -artifact_prefix=$(O)/fuzz/cubin-found/ \
		-print_final_stats=1 $(O)/fuzz/cubin-corpus

fuzz-task: setup-fuzz
	@$(MAKE) --no-print-directory -j$(JOBS) $(O)/fuzz/task
	mkdir -p $(O)/fuzz/task-corpus $(O)/fuzz/task-found
	$(O)/fuzz/task -max_total_time=$(FUZZ_SECONDS) -timeout=10 -max_len=4096 -artifact_prefix=$(O)/fuzz/task-found/ \
		-print_final_stats=1 $(O)/fuzz/task-corpus tests/fuzz/task

fuzz-sass: setup-fuzz
	@$(MAKE) --no-print-directory -j$(JOBS) $(O)/fuzz/sass
	mkdir -p $(O)/fuzz/sass-corpus $(O)/fuzz/sass-found
	$(O)/fuzz/sass -max_total_time=$(FUZZ_SECONDS) -timeout=10 -max_len=16384 -artifact_prefix=$(O)/fuzz/sass-found/ \
		-print_final_stats=1 $(O)/fuzz/sass-corpus tests/fuzz/sass

# Configurations of simulators that tests have are seeds, too.
$(addprefix fuzz-,$(FUZZ_FILES)): fuzz-%: setup-fuzz
	@$(MAKE) --no-print-directory -j$(JOBS) $(O)/fuzz/$*
	mkdir -p $(O)/fuzz/$*-corpus $(O)/fuzz/$*-found
	[ $* != gpu_from ] || for d in tests/command/configs/*; do for f in $$d/*; do echo "=== $$(basename $$f)"; cat $$f; done >$(O)/fuzz/$*-corpus/$$(basename $$d); done
	$(O)/fuzz/$* -max_total_time=$(FUZZ_SECONDS) -timeout=20 -rss_limit_mb=4096 -max_len=16384 -close_fd_mask=3 \
		-artifact_prefix=$(O)/fuzz/$*-found/ -print_final_stats=1 $(O)/fuzz/$*-corpus tests/fuzz/$*

# The PTX of our own CUDA kernels is the seed.
fuzz-lifter: setup-fuzz
	@$(MAKE) --no-print-directory -j$(JOBS) $(O)/fuzz/lifter
	mkdir -p $(O)/fuzz/lifter-corpus $(O)/fuzz/lifter-found
	$(O)/fuzz/lifter -max_total_time=$(FUZZ_SECONDS) -timeout=20 -rss_limit_mb=4096 -max_len=16384 -dict=tests/fuzz/ptx.dict \
		-artifact_prefix=$(O)/fuzz/lifter-found/ -print_final_stats=1 $(O)/fuzz/lifter-corpus tests/fuzz/ptx tests/fuzz/fatbin \
		kernels/cuda/ptx tests/cuda/programs/ptx

# A profile of the day is the seed of both.
$(O)/fuzz/seed: $(O)/libgpusim.so $(O)/gpusim-cc $(O)/gpusim $(O)/kernels/launches
	mkdir -p $(O)/fuzz
	$(O)/gpusim record -o $@ -- $(O)/kernels/launches collatz 64 2

fuzz-profile fuzz-cache: fuzz-%: setup-fuzz
	@$(MAKE) --no-print-directory -j$(JOBS) $(O)/fuzz/$* $(O)/fuzz/seed
	mkdir -p $(O)/fuzz/$*-corpus $(O)/fuzz/$*-found
	$(O)/fuzz/$* --seed $(O)/fuzz/seed $(O)/fuzz/$*-corpus/seed
	$(O)/fuzz/$* -max_total_time=$(FUZZ_SECONDS) -timeout=120 -rss_limit_mb=4096 -max_len=4000000 \
		-artifact_prefix=$(O)/fuzz/$*-found/ -print_final_stats=1 $(O)/fuzz/$*-corpus

install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib $(DESTDIR)$(PREFIX)/libexec/gpusim \
		$(DESTDIR)$(PREFIX)/share/man/man1 $(DESTDIR)$(PREFIX)/share/gpusim/gpus $(DESTDIR)$(PREFIX)/lib/gpusim/cuda/driver
	install -m 755 $(O)/gpusim $(DESTDIR)$(PREFIX)/bin
	install -m 644 $(O)/libgpusim.so $(DESTDIR)$(PREFIX)/lib
	install -m 644 $(RUNTIME_ALIASES) $(DESTDIR)$(PREFIX)/lib/gpusim/cuda
	install -m 644 $(DRIVER_ALIAS) $(DESTDIR)$(PREFIX)/lib/gpusim/cuda/driver
	install -m 755 $(O)/gpusim-cc $(DESTDIR)$(PREFIX)/libexec/gpusim
	install -m 644 $(O)/gpusim.1 $(DESTDIR)$(PREFIX)/share/man/man1
	for c in $$($(O)/gpusim --help-commands); do $(O)/gpusim --help-man $$c > $(DESTDIR)$(PREFIX)/share/man/man1/gpusim-$$c.1; done
	install -d $(DESTDIR)$(PREFIX)/share/bash-completion/completions $(DESTDIR)$(PREFIX)/share/zsh/vendor-completions $(DESTDIR)$(PREFIX)/share/doc/gpusim
	$(O)/gpusim --help-bash > $(DESTDIR)$(PREFIX)/share/bash-completion/completions/gpusim
	$(O)/gpusim --help-zsh > $(DESTDIR)$(PREFIX)/share/zsh/vendor-completions/_gpusim
	install -m 644 README.md docs/*.md docs/report.schema.json $(DESTDIR)$(PREFIX)/share/doc/gpusim
	install -m 644 models/gpus/*.gpu $(DESTDIR)$(PREFIX)/share/gpusim/gpus
	@[ -n "$(DESTDIR)" ] || ldconfig || true

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/gpusim $(DESTDIR)$(PREFIX)/lib/libgpusim.so $(DESTDIR)$(PREFIX)/share/man/man1/gpusim.1 \
		$(DESTDIR)$(PREFIX)/share/man/man1/gpusim-*.1 $(DESTDIR)$(PREFIX)/share/bash-completion/completions/gpusim \
		$(DESTDIR)$(PREFIX)/share/zsh/vendor-completions/_gpusim
	rm -rf $(DESTDIR)$(PREFIX)/libexec/gpusim $(DESTDIR)$(PREFIX)/share/gpusim $(DESTDIR)$(PREFIX)/lib/gpusim $(DESTDIR)$(PREFIX)/share/doc/gpusim

deb: all
	packaging/deb.sh $(O)

clean:
	rm -rf $(O)

help:
	@echo 'make demo        install what is missing, build, run an OpenCL and a CUDA program of ours and show their reports'
	@echo 'make test        install what is missing, build, run the tests (minutes)'
	@echo 'make all         build the library, gpusim-cc, the gpusim command and its manual page'
	@echo 'make bench       measure what the library costs, side by side with plain POCL'
	@echo 'make validate    the long tests: more real programs, random kernels, accuracy (an hour)'
	@echo 'make sanitize    unit tests, guests and the suite under AddressSanitizer, UBSan and ThreadSanitizer (an hour)'
	@echo 'make fuzz-annotator  feed random programs to the annotator, for FUZZ_SECONDS (an hour)'
	@echo 'make fuzz-ptx    feed random text to the reader of PTX, for FUZZ_SECONDS'
	@echo 'make fuzz-fatbin  feed random bytes to the reader of fat binaries, for FUZZ_SECONDS'
	@echo 'make fuzz-lifter  feed random PTX to the lifter, for FUZZ_SECONDS'
	@echo 'make fuzz-profile  feed crafted profiles to gpusim replay, for FUZZ_SECONDS'
	@echo 'make fuzz-cache  feed crafted entries of the cache to what reads them, for FUZZ_SECONDS'
	@echo 'make cuda-ptx    compile the CUDA kernels of kernels/cuda and tests/cuda to the PTX that is committed beside them'
	@echo 'make install     to PREFIX (/usr/local) under DESTDIR; make uninstall takes it away'
	@echo 'make deb         make a Debian package of that, in the build folder'
	@echo 'make clean       remove the build folder'
	@echo 'Switches: V=1 show commands, DEBUG=1, ASAN=1 (address and undefined), TSAN=1 (threads), O=DIR build folder, JOBS=N compilers at once'

-include $(shell find $(O) -name '*.d' 2>/dev/null)
