# SPDX-License-Identifier: GPL-2.0
#
#   sudo make demo      the main job on a real kernel, in a virtual machine
#   sudo make check     all tests, on kernels 6.1 and 6.12 (the last line counts them)
#   sudo make check-long  longer, fuzzed, and on a debug kernel too; takes hours
#   make check-quick    those that need no virtual machine, in under a minute
#   sudo make check-mutants     whether the tests find faults planted in the module (takes hours)
#   sudo make bench     the goals W1 to W9, R1 to R4, T1, T2 (beside raw md), P1 (beside its peers), D1 (beside btt), D2,
#                       how far it carries, and the historic benchmarks; RUNS=1 takes two and a half hours, 3 (the default) seven
#   make bench-page     Documentation/bench, of what was measured last: tables and pictures
#   sudo make bench-check   whether the target still saves the members as much; some seven minutes
#   make                the module for all installed kernel headers, and the daemon
#   make KVER=6.12.117+deb12-amd64 modules
#   sudo make install uninstall [DESTDIR=DIR] [PREFIX=/usr/local] [KVER=RELEASE]
#                       programs, man pages, service, and the module for KVER
#   sudo make install-programs install-dkms     the module by dkms, which follows kernel updates
#   make deb            Debian packages, in build/deb
#   make lint clean
#   make docs           man pages, in build/daemon, and all documents as HTML, from build/docs/index.html on
#
# Each part has a Makefile of its own. Results are in build/, kernels and the emulator in .cache/.

include version.mk
KVERS := $(or $(KVER),$(notdir $(patsubst %/build,%,$(wildcard /lib/modules/*/build))))
# Those that have the module, whether their headers are here or not.
installed = $(wildcard $(DESTDIR)/lib/modules/*/updates/dm-fullstripe.ko*)
INSTALLED_KVERS = $(or $(KVER),$(sort $(notdir $(patsubst %/updates/,%,$(dir $(installed))))))
ifneq ($(word 2,$(DESTDIR) $(PREFIX)),$(if $(DESTDIR),$(PREFIX)))
$(error DESTDIR and PREFIX must have no blanks)
endif
RUNS = 3
DKMS = $(DESTDIR)/usr/src/fullstripe-$(FULLSTRIPE_VERSION)

.PHONY: all setup modules test-modules daemon unit check check-quick check-long check-mutants debug-kernel \
	demo bench bench-page bench-check lint docs clean \
	install install-modules install-programs install-dkms dkms-source \
	uninstall uninstall-modules uninstall-programs uninstall-dkms deb

all: modules daemon

setup:
	selftests/setup

modules:
	$(if $(KVERS),,$(error no kernel headers found: install them, or run 'sudo make setup'))
	set -e; for kver in $(KVERS); do $(MAKE) -C kmod KVER=$$kver; done

daemon:
	$(MAKE) -C daemon O=$(CURDIR)/build/daemon all

unit:
	$(MAKE) -C selftests unit

selftests/%/programs:
	$(MAKE) -C selftests/$* all

# Some of the tests load modules of their own.
selftests/functional/programs: test-modules
test-modules:
	set -e; for kver in $(KVERS); do $(MAKE) -C selftests/modules KVER=$$kver; done

# What setup installs decides what is built: another make sees it then.
check: setup
	$(MAKE) modules daemon unit selftests/functional/programs selftests/crash/programs
	selftests/run

check-quick:
	$(MAKE) modules daemon unit
	selftests/run --quick

check-long: setup
	$(MAKE) modules daemon unit selftests/functional/programs selftests/crash/programs debug-kernel
	selftests/run --long

# KASAN, lockdep, kmemleak and fault injection; the module is built for it too.
debug-kernel: setup
	selftests/vm/debug-kernel --module

check-mutants: setup
	$(MAKE) modules daemon unit selftests/functional/programs selftests/crash/programs
	selftests/crash/check-mutants

demo: setup
	$(MAKE) modules daemon
	selftests/demo/run

# What fails does not keep the rest from being measured.
bench: setup
	$(MAKE) modules daemon
	status=0; \
	for part in run profile history sweep peers; do \
		selftests/bench/$$part --runs $(RUNS) || status=1; \
	done; \
	selftests/bench/instructions || status=1; \
	selftests/bench/page || status=1; \
	exit $$status

# Measures nothing.
bench-page:
	selftests/bench/page

bench-check: setup
	$(MAKE) modules
	selftests/bench/check --array R5
	selftests/bench/check --array R8

lint:
	selftests/lint

docs:
	$(MAKE) -C daemon O=$(CURDIR)/build/daemon man
	$(MAKE) -C Documentation O=$(CURDIR)/build/docs all

install: install-modules install-programs

install-modules: modules
	set -e; for kver in $(KVERS); do $(MAKE) -C kmod KVER=$$kver install; done

install-programs:
	$(MAKE) -C daemon O=$(CURDIR)/build/daemon install
	$(MAKE) -C udev install

# What dkms(8) builds the module from.
dkms-source:
	rm -rf $(DKMS)
	mkdir -p $(DKMS)
	cp -r $(addprefix kmod/,Kbuild $(filter-out Kbuild Kconfig Makefile,$(notdir $(wildcard kmod/*)))) $(DKMS)
	sed 's/#MODULE_VERSION#/$(FULLSTRIPE_VERSION)/' dkms.conf >$(DKMS)/dkms.conf

install-dkms: dkms-source
	$(if $(DESTDIR),$(error dkms builds for this machine: install-dkms takes no DESTDIR; dkms-source does))
	[ -z "$$(dkms status fullstripe/$(FULLSTRIPE_VERSION))" ] || dkms remove fullstripe/$(FULLSTRIPE_VERSION) --all
	dkms add fullstripe/$(FULLSTRIPE_VERSION)
	set -e; for kver in $(KVERS); do dkms install fullstripe/$(FULLSTRIPE_VERSION) -k $$kver; done

uninstall: uninstall-modules uninstall-programs

uninstall-modules:
	set -e; for kver in $(INSTALLED_KVERS); do $(MAKE) -C kmod KVER=$$kver uninstall; done

# What install makes, elsewhere, says what is to be removed; all but the configuration.
uninstall-programs:
	set -e; made=$$(mktemp -d); trap 'rm -rf "$$made"' EXIT; \
	$(MAKE) install-programs DESTDIR="$$made"; \
	(cd "$$made" && find . ! -type d ! -path './etc/*' -printf '$(DESTDIR)/%P\0') | xargs -0 rm -f

uninstall-dkms:
	dkms remove fullstripe/$(FULLSTRIPE_VERSION) --all
	rm -rf $(DKMS)

# Of the files that git knows, as they are, in a folder that has nothing else.
deb:
	rm -rf build/deb
	mkdir -p build/deb/fullstripe-$(FULLSTRIPE_VERSION)
	git ls-files -z | tar -c --null -T - | tar -x -C build/deb/fullstripe-$(FULLSTRIPE_VERSION)
	cd build/deb/fullstripe-$(FULLSTRIPE_VERSION) && dpkg-buildpackage -us -uc
	ls build/deb/*.deb

clean:
	rm -rf build
