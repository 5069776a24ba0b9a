# SPDX-License-Identifier: GPL-2.0
#
#   sudo make demo      the main job on a real kernel, in a virtual machine
#   sudo make check     all tests, on kernels 6.1 and 6.12 (the last line counts them)
#   sudo make check-long  longer, and on a debug kernel too; takes hours
#   make check-quick    those that need no virtual machine, in under a minute
#   sudo make check-mutants     whether the tests find faults planted in the module (takes an hour)
#   sudo make bench     the goals W1 to W9 and R1 to R4, measured beside raw md
#   make                the module for all installed kernel headers, and the daemon
#   make KVER=6.12.117+deb12-amd64 modules
#   sudo make install   module, programs and man pages
#   make lint docs clean
#
# Each part has a Makefile of its own. Results are in build/, kernels in .cache/.

KVERS := $(or $(KVER),$(notdir $(patsubst %/build,%,$(wildcard /lib/modules/*/build))))

.PHONY: all setup modules daemon unit check check-quick check-long check-mutants debug-kernel \
	demo bench lint docs install clean

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

bench: setup
	$(MAKE) modules daemon
	selftests/bench/run

lint:
	selftests/lint

docs:
	$(MAKE) -C daemon O=$(CURDIR)/build/daemon man

install: all
	set -e; for kver in $(KVERS); do $(MAKE) -C kmod KVER=$$kver install; done
	$(MAKE) -C daemon O=$(CURDIR)/build/daemon install

clean:
	rm -rf build
