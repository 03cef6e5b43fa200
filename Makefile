# bgtask: make run, test, test-quick, test-systemd, test-qemu, check, fix, sanitize, fuzz, bench, bench-parts,
# policies, install, deb, tarball, image, clean. Needs a Swift 6.3 toolchain and some Debian packages. As
# root, a target installs the packages that it lacks; otherwise it prints the command.

PREFIX ?= /usr/local
# All debug builds, here and in .ci/check, use the same flags, so that nothing is built twice. SwiftPM finds
# the tests in an index of the sources; an index of the system's modules, too, would take a fifth of a build.
FLAGS := $(shell cat .ci/flags)
# The tests to run: a part of their names, or all.
FILTER :=

.PHONY: help build run test test-packages test-quick test-systemd test-qemu check fix sanitize fuzz bench bench-parts policies install deb tarball image clean

help:
	@echo 'make run      build, then a foreground host that runs some of the shipped jobs (Ctrl-C ends it)'
	@echo 'make test     build, then all tests, or those of FILTER=SituationTests: about five minutes on two cores'
	@echo 'make test-quick'
	@echo '              build, then the tests of values, which start no process: half a minute on two cores'
	@echo 'make test-packages'
	@echo '              build and test the plugins that are written as for iOS; part of make test'
	@echo 'make test-systemd'
	@echo '              run the tests of isolation in a container with a real systemd; only as root, two minutes'
	@echo 'make test-qemu'
	@echo '              run a host in a virtual machine with all controllers; only as root, three minutes'
	@echo 'make check    check formatting, permitted imports and compiler warnings: everything but the tests'
	@echo 'make fix      check, and correct what tools can correct'
	@echo 'make sanitize run the decoders in C with the address and undefined-behaviour sanitizers and valgrind,'
	@echo '              and the tests of values with the thread and address sanitizers: half an hour on two cores'
	@echo 'make fuzz     fuzz the readers of foreign bytes for SECONDS each (60): TARGETS="frames elf"'
	@echo 'make bench    compare a whole host with other job runners: ROWS="latency burst", QUICK=1, PAGE=Documentation/Benchmarks'
	@echo 'make bench-parts'
	@echo '              the benchmarks of parts: launcher, store, scheduler, frames, simulation'
	@echo 'make policies compare the scheduling policies with rules of Android and systemd: Documentation/Benchmarks/policies.md'
	@echo 'make install  release build, man pages and completions into PREFIX ($(PREFIX))'
	@echo 'make deb      the Debian packages bgtask and bgtask-dev, in .build/deb'
	@echo 'make tarball  a release that can be unpacked anywhere, in .build/tarball'
	@echo 'make image    a container image of the package of make deb, in .build/image; only as root'
	@echo 'make clean    remove what was built, and the demo'

build:
	@.ci/packages build
	swift build $(FLAGS)

run:
	@.ci/packages build
	@Demo/run

test: $(if $(FILTER),,test-packages)
	@.ci/packages build test
	swift build --build-tests $(FLAGS)
	$(if $(FILTER),swift test --skip-build --disable-xctest --filter '$(FILTER)',@.ci/tests all)

# The last command builds the shipped apps as their users get them. A release build compiles each module as a
# whole, and finds faults that a debug build does not.
test-packages:
	@.ci/packages build
	swift build $(FLAGS) --package-path Tests/Fixtures/Apps --build-tests
	swift test --package-path Tests/Fixtures/Apps --skip-build
	swift build $(FLAGS) --package-path Plugins/Apps --build-tests
	swift test --package-path Plugins/Apps --skip-build
	swift build $(FLAGS) -c release --package-path Plugins/Apps

test-quick:
	@.ci/packages build
	swift build --build-tests $(FLAGS)
	@.ci/tests quick

test-qemu:
	@.ci/packages build qemu
	swift build $(FLAGS)
	Tests/QEMU/run

test-systemd:
	@.ci/packages build systemd test
	swift build --build-tests $(FLAGS)
	Tests/Systemd/run

check:
	@.ci/packages build check
	@.ci/check

fix:
	@.ci/packages build check
	@.ci/check --fix

sanitize:
	@.ci/packages build
	swift build $(FLAGS) --product bgtask-runner
	Tests/Sanitizers/run
	Tests/Sanitizers/valgrind
	Tests/Sanitizers/swift thread
	Tests/Sanitizers/swift address

fuzz:
	@.ci/packages build
	Tests/Fuzzing/run '$(or $(SECONDS),60)' $(TARGETS)

bench:
	@.ci/packages build bench
	swift build -c release --static-swift-stdlib --product bgtaskd
	swift build -c release --static-swift-stdlib --product bgtask
	swift build -c release --product bgtask-runner
	swift build -c release --product bgtask-transfer
	swift build -c release --product bgtask-task
	swift build -c release --package-path Benchmarks --product BenchmarkSwift
	swift build -c release --package-path Benchmarks/whole-host/App
	Benchmarks/whole-host/bench --bin "$$(swift build -c release --static-swift-stdlib --show-bin-path)" \
	    --app Benchmarks/whole-host/App/.build/release/libBenchApp.so \
	    --template-plugin Benchmarks/.build/release/libBenchmarkSwift.so \
	    $(if $(QUICK),--quick) $(if $(PAGE),--page '$(PAGE)') $(ROWS)

bench-parts:
	@.ci/packages build
	swift build -c release --product bgtask-runner
	swift build -c release --package-path Benchmarks
	swift build -c release --package-path Tests/Fixtures/Apps --product FeaturesApp
	"$$(swift build -c release --package-path Benchmarks --show-bin-path)/bgtask-benchmarks" \
	    "$$(swift build -c release --show-bin-path)/bgtask-runner" \
	    "$$(swift build -c release --package-path Tests/Fixtures/Apps --show-bin-path)/libFeaturesApp.so"

# The tables of the page are made by a test, because the rules of other schedulers are part of the tests.
policies:
	@.ci/packages build
	swift build --build-tests $(FLAGS)
	BGTASK_POLICIES_PAGE='$(CURDIR)/Documentation/Benchmarks/policies.md' \
	    swift test --skip-build --disable-xctest --filter 'PolicyComparisonTests'

install:
	@.ci/packages build
	swift build -c release --static-swift-stdlib --product bgtaskd
	swift build -c release --static-swift-stdlib --product bgtask
	swift build -c release --product bgtask-runner
	swift build -c release --product bgtask-transfer
	swift build -c release --product bgtask-task
	install -d '$(DESTDIR)$(PREFIX)/bin' '$(DESTDIR)$(PREFIX)/include' '$(DESTDIR)$(PREFIX)/share/bgtask'
	.ci/manual '$(DESTDIR)$(PREFIX)/share' "$$(swift build -c release --static-swift-stdlib --show-bin-path)"
	cd "$$(swift build -c release --static-swift-stdlib --show-bin-path)" && \
	    install -s bgtaskd bgtask bgtask-runner bgtask-transfer bgtask-task '$(DESTDIR)$(PREFIX)/bin'
	install -m 644 Sources/SDK/CHandlerABI/include/bgtask.h Sources/SDK/CHandlerABI/include/bgtask_json.h \
	    '$(DESTDIR)$(PREFIX)/include'
	install -m 644 Plugins/exports.map '$(DESTDIR)$(PREFIX)/share/bgtask'
	.ci/install-sdk '$(DESTDIR)$(PREFIX)/share/bgtask/SDK'
	Packaging/install-units '$(DESTDIR)$(PREFIX)/lib' '$(DESTDIR)$(PREFIX)/share' '$(PREFIX)/bin'

deb:
	@.ci/packages build deb
	rm -rf .build/deb && mkdir -p .build/deb
	$(MAKE) --no-print-directory install DESTDIR='$(CURDIR)/.build/deb/tree' PREFIX=/usr
	Packaging/deb .build/deb/tree "$$(.build/deb/tree/usr/bin/bgtask --version)" .build/deb
	@if command -v lintian >/dev/null; then lintian --allow-root --fail-on error .build/deb/*.deb; \
	else echo "The packages were not checked: lintian is not installed"; fi

tarball:
	rm -rf .build/tarball && mkdir -p .build/tarball
	$(MAKE) --no-print-directory install DESTDIR='$(CURDIR)/.build/tarball/tree' PREFIX=
	Packaging/tarball .build/tarball/tree "$$(.build/tarball/tree/bin/bgtask --version)" .build/tarball

image:
	@.ci/packages image
	@ls .build/deb/bgtask_*.deb >/dev/null || { echo 'There is no package. Make it first: make deb' >&2; exit 1; }
	Packaging/image .build/deb/bgtask_*.deb .build/image

clean:
	rm -rf .build Benchmarks/.build Benchmarks/whole-host/App/.build demo
