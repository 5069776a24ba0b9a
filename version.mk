# SPDX-License-Identifier: GPL-2.0
# FULLSTRIPE_VERSION, for makefiles: what kmod/version.h says.
FULLSTRIPE_VERSION := $(shell awk '/define FULLSTRIPE_(MAJOR|MINOR|PATCH)/ { version = version dot $$3; dot = "." } \
	END { print version }' $(dir $(lastword $(MAKEFILE_LIST)))kmod/version.h)
