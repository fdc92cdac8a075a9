# The two commands of the README, and what developers use. `make` alone prints the list.
# Works with only git and make installed: tools/install_deps brings the rest.

ARGS ?=
CMAKE = cmake
BUILD = build/release
CTEST_ARGS ?=

.PHONY: help
help: ## print this list
	@echo 'gpusight: the flight recorder for GPUs on Linux'
	@echo
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | \
	  awk -F'|' '{ printf "%-14s %s\n", $$1, $$2 }'

.PHONY: run
run: build ## install what is needed, build, start the daemon and print its address; ARGS='--listen …'
	@echo 'gpusight: Ctrl-C stops it'
	@exec $(BUILD)/bin/gpusight serve --simulate if-no-gpu $(ARGS)

.PHONY: test
test: deps-test ## install what is needed, build the release and run its tests (at most 10 minutes)
	@$(CMAKE) --preset release -DGPUSIGHT_TESTS=ON
	@$(CMAKE) --build $(BUILD)
	@ctest --test-dir $(BUILD) --output-on-failure -LE 'peers|soak' -j 2 $(CTEST_ARGS)

.PHONY: build
build: deps-build ## build the program as users run it, without tests
	@$(CMAKE) --preset release -DGPUSIGHT_TESTS=OFF
	@$(CMAKE) --build $(BUILD) --target for_users

.PHONY: dev
dev: deps-test ## build everything with debug information into build/dev
	@$(CMAKE) --preset dev
	@$(CMAKE) --build build/dev

.PHONY: check
check: ## layers, format, lint of changed files, generated documents
	@tools/install_deps build test check
	@tools/ci/check

.PHONY: format
format: ## format every C++ file
	@tools/install_deps check
	@git ls-files '*.cc' '*.h' | xargs -r clang-format-14 -i

.PHONY: docs
docs: build ## write docs/reference, docs/faults.md and what else is made from tables anew
	@tools/gen_docs --write

.PHONY: golden
golden: deps-test ## accept what the formats and tables look like now as what they should look like
	@$(CMAKE) --preset dev
	@$(CMAKE) --build build/dev --target export_prometheus_test cli_test config_test
	@GPUSIGHT_UPDATE_GOLDEN=1 ctest --test-dir build/dev -R '^(export_prometheus|cli|config)$$' > /dev/null || true
	@git --no-pager diff --stat -- src

.PHONY: bench
bench: deps-test ## measure and print the figures with their budgets, into bench/RESULTS.md
	@$(CMAKE) --preset release -DGPUSIGHT_TESTS=OFF -DGPUSIGHT_BENCH=ON
	@$(CMAKE) --build $(BUILD) --target for_users bench_floor promql_bench chunk_bench bench_history_day bench_history_store
	@bench/run

.PHONY: soak
soak: deps-test ## what takes longer than CI has: many kills, long runs, fuzzing
	@tools/soak

.PHONY: clean
clean: ## remove everything that was built
	rm -rf build web/dist web/node_modules

.PHONY: deps-build deps-test
deps-build:
	@tools/install_deps build
deps-test:
	@tools/install_deps build test
