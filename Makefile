# SPDX-License-Identifier: Apache-2.0
# The front door: installs what is missing, then lets CMake do the work.
#
## make            build the library, the program and the tests
## make demo       build, profile ResNet-50 and GPT-2, leave the reports
## make test       build and run the tests but the long ones; 2 minutes
## make check-long build and run the long tests: each takes more than 5 s
## make check      style: include edges, headers, symbols, ABI, limits, format, text;
##                 a row for every member of a result; no decision by a word
## make check-all  test, check-long, check and check-isa; all tests under sanitizers
##                 and clang too; clang-tidy; an installed copy; a short make fuzz
## make check-page  pages for browsers, in a headless Chromium
## make check-serve  the site of `sleuth serve`, over 10,000 results, likewise
## make check-isa  the engine's tests at each level of instruction sets
## make check-arm  the quick tests, compiled for 64-bit ARM, in an emulator;
##                 not part of check-all
## make check-distributions  make demo, test and install in bare systems of
##                 DISTRIBUTIONS (bookworm trixie); root and debootstrap
## make check-mutants  plant small faults: do the tests notice?  An hour at
##                 most, not part of check-all; MUTANTS='--sample 20 --seed 2'
## make fuzz       hostile models for FUZZ_SECONDS (1800); check-all: 60 s
## make schema     write the tables of docs/schema.md anew
## make abi        record sizes, offsets and symbols of the library anew
## make bench      compare with other tools
## make cases      the case studies of docs/cases, measured anew (MODELS=DIR: of models there too)
## make pictures   the pictures of README.md and docs/gallery.md, made anew
## make install    into PREFIX (/usr/local), below DESTDIR if set
## make clean      remove the build folders
##
## BUILD=DIR       build folder (build)
## CMAKE_FLAGS=... further options for CMake, such as -DSL_WERROR=ON
## DEPS=true       trust that every package is there
BUILD       ?= build
PREFIX      ?= /usr/local
DESTDIR     ?=
CMAKE_FLAGS ?=
DEPS        ?= tools/deps
FUZZ_SECONDS ?= 1800
DISTRIBUTIONS ?= bookworm trixie
JOBS        ?= $(shell nproc 2>/dev/null || echo 2)

# build(folder, options): a folder that is configured keeps its generator, a
# new one gets ninja where there is one.  CMake speaks only when it fails.
build = log=$$(cmake -S . -B $(1) $$(test -f $(1)/CMakeCache.txt || \
	! command -v ninja >/dev/null || echo -G Ninja) $(2) 2>&1) || \
	{ echo "$$log"; exit 1; }; \
	cmake --build $(1) --parallel $(JOBS)
# run_tests(folder, options): fails where a test does, and where there is none.
run_tests = ctest --test-dir $(1) -j2 --output-on-failure --no-tests=error $(2)

checks := includes headers symbols abi limits format text fields words scripts manual

.PHONY: all demo test check check-all check-long bench schema abi cases pictures install clean help deps deps-build deps-dev \
	$(checks:%=check-%) check-arm check-distributions check-isa check-mutants check-page check-serve check-asan check-tsan check-clang check-tidy \
	check-install fuzz check-fuzz

# What needs no test is built without, but for a folder that has them already.
without_tests = $(if $(wildcard $(BUILD)/CMakeCache.txt),,-DSL_BUILD_TESTS=OFF)

all: deps
	@$(call build,$(BUILD),-DSL_BUILD_TESTS=ON $(CMAKE_FLAGS))

# The pages are left beside the build; where they are is said first.
demo: deps-build
	@$(call build,$(BUILD),$(without_tests) $(CMAKE_FLAGS)) --target sleuth_cli
	@echo "pages for a browser: $(abspath $(BUILD))/resnet50.html and $(abspath $(BUILD))/gpt2.html"
	$(BUILD)/sleuth profile resnet50 --html $(BUILD)/resnet50.html \
		--trace $(BUILD)/resnet50.trace.json
	$(BUILD)/sleuth profile gpt2 --html $(BUILD)/gpt2.html
	@echo "pages for a browser: $(abspath $(BUILD))/resnet50.html and $(abspath $(BUILD))/gpt2.html;" \
		"timeline for ui.perfetto.dev: $(BUILD)/resnet50.trace.json"

schema: all
	@tools/write-schema $(BUILD)/tests/print_schema docs/schema.md

abi: deps-dev
	@tools/check-abi --write

cases: all
	@BUILD=$(BUILD) tools/cases $(if $(MODELS),--models $(MODELS))

pictures: all deps-dev
	@BUILD=$(BUILD) tools/pictures $(PICTURES)

test: all
	@$(call run_tests,$(BUILD),-LE long)

check-long: all
	@$(call run_tests,$(BUILD),-L long)

check: $(checks:%=check-%)

check-arm:
	@$(DEPS) --arm
	@tools/$@

check-distributions:
	@tools/$@ $(DISTRIBUTIONS)

check-mutants: all deps-dev
	@BUILD=$(BUILD) tools/$@ $(MUTANTS)

check-symbols check-manual check-tidy: all
$(checks:%=check-%) check-install check-tidy: deps-dev
	@BUILD=$(BUILD) tools/$@

check-isa check-page check-serve: all deps-dev
	@BUILD=$(BUILD) tools/$@

check-all: test check-long check check-isa check-page check-serve check-asan check-tsan check-clang check-tidy check-install \
	check-fuzz

asan  := -DCMAKE_BUILD_TYPE=Debug -DSL_SANITIZE=address,undefined
tsan  := -DCMAKE_BUILD_TYPE=Debug -DSL_SANITIZE=thread
clang := -DCMAKE_C_COMPILER=clang
check-asan check-tsan check-clang: check-%: deps-dev
	@$(call build,build-$*,-DSL_WERROR=ON $($*))
	@$(call run_tests,build-$*)

# Starts from our corpus and from ONNX's own models where they are.  What is
# new goes to build-fuzz/seeds, what breaks to build-fuzz/crash-*.
ONNX_TESTDATA ?= $(wildcard /usr/share/libonnx-testdata/data/node)
fuzz_limits := -max_len=8192 -timeout=20 -rss_limit_mb=2048 \
	-print_final_stats=1 -verbosity=0 -artifact_prefix=build-fuzz/
fuzz check-fuzz: deps-dev
	@$(call build,build-fuzz,$(clang) -DSL_FUZZ=ON) --target fuzz_onnx fuzz_run
	@mkdir -p build-fuzz/seeds build-fuzz/run-seeds
	build-fuzz/fuzz_onnx -max_total_time=$(FUZZ_SECONDS) $(fuzz_limits) \
		build-fuzz/seeds fuzz/corpus $(ONNX_TESTDATA)
	build-fuzz/fuzz_run $(run_limit) $(fuzz_limits) \
		build-fuzz/run-seeds fuzz/corpus $(ONNX_TESTDATA)
# Whole models are run for as long as is asked, but in a check as they stand.
fuzz: run_limit = -max_total_time=$(FUZZ_SECONDS)
check-fuzz: run_limit = -runs=0
check-fuzz: FUZZ_SECONDS = 60

bench: all deps-dev
	$(BUILD)/bench_scope_cost
	$(BUILD)/bench_ceilings
	$(BUILD)/bench_graph_sizes
	@for script in $$(find bench -type f -perm -u+x | sort); do \
		$$script $(BUILD)/sleuth || exit 1; done

install: deps-build
	@$(call build,$(BUILD),$(without_tests) $(CMAKE_FLAGS)) --target installed
	DESTDIR=$(DESTDIR) cmake --install $(BUILD) --prefix $(PREFIX)

clean:
	rm -rf $(BUILD) build-arm build-asan build-tsan build-clang build-fuzz

help:
	@sed -n 's/^## \{0,1\}//p' Makefile

deps:
	@$(DEPS)

deps-build:
	@$(DEPS) --build

deps-dev:
	@$(DEPS) --dev
