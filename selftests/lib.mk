# SPDX-License-Identifier: GPL-2.0
#
# As much of kselftest's lib.mk as is needed where there is no kernel source.

run_tests: all
	./run

emit_tests:
	@printf 'dm-fullstripe:%s\n' $(notdir $(TEST_CUSTOM_PROGS) $(TEST_PROGS))

clean:
	rm -rf $(EXTRA_CLEAN)

.PHONY: all run_tests emit_tests clean
