# Regatta: builds, tests and installs everything. `make help` lists the targets.

## make [all]      build the programs and the image folder under build/
## make demo       run a real benchmark sweep on two nodes of this machine
## make demo-reference   replay the five reference systems on simulated devices
## make check      build, then run all tests except the long ones, with sanitizers
## make check-long run the tests that take minutes: systemd machines, Podman ...
## make lint       formatting, clang-tidy, cppcheck, shellcheck, manual pages
## make fuzz       fuzz every decoder, FUZZ_SECONDS=600 for each, and simulate
##                 controllers with random seeds for the same time
## make bench      compare performance with other programs and earlier results
## make install    install below DESTDIR and PREFIX=/usr/local; uninstall.
##                 PREFIX=$HOME/... needs no root
## make deb        build Debian packages in build/deb, and check them with lintian
## make tarball    build programs with their libraries in build/tarball, to unpack
##                 into a shared folder; needs no root
## make clean      remove build/
##
## V=1 shows the commands. BUILD=FOLDER and SANITIZE=address,undefined make
## another build beside the first.

BUILD ?= build
PREFIX ?= /usr/local
DESTDIR ?=
V ?= 0
Q = $(if $(filter 0,$(V)),@)
say = $(if $(filter 0,$(V)),$(info $() $() $(1) $(2)))

# All cores, unless the caller (or the make above) said how many.
ifeq ($(MAKELEVEL)$(filter -j% --jobs% --jobserver%,$(MAKEFLAGS)),0)
MAKEFLAGS += -j$(shell nproc)
endif
MAKEFLAGS += --no-print-directory

CC = gcc
CLANG = $(or $(shell command -v clang),$(shell command -v clang-14),clang)
PKGS = libmicrohttpd md4c-html libzmq libsodium nettle libcurl libcbor libcjson \
	libarchive sqlite3 yaml-0.1 libpcre2-8 libsystemd
VERSION := 0.1.0

WERROR ?= -Werror
WARN = -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla \
	-Wundef -Wwrite-strings -Wno-unused-parameter $(WERROR)
# -U first: some compilers define a lower level by themselves.
HARDEN = -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -fstack-protector-strong -fPIE
CFLAGS ?= -O2 -g
SANITIZE ?=
ifneq ($(SANITIZE),)
HARDEN = -fPIE -fno-omit-frame-pointer
CFLAGS = -Og -g1 -fsanitize=$(SANITIZE) -fno-sanitize-recover=all
endif
DEFINES = -D_GNU_SOURCE -DREGATTA_VERSION='"$(VERSION)"'
BASE = -std=gnu11 -I. $(DEFINES) -include protocol/base/banned.h $(WARN)
LDHARDEN = -pie -Wl,-z,relro,-z,now -Wl,--as-needed

# pkg-config runs only when something is built, so `make help` and `make demo`
# work before deploy/setup has installed anything.
PKG_CFLAGS = $(eval PKG_CFLAGS := $$(shell pkg-config --cflags $(PKGS)))$(PKG_CFLAGS)
PKG_LIBS = $(eval PKG_LIBS := $$(shell pkg-config --libs $(PKGS) ncursesw))$(PKG_LIBS)

objects = $(patsubst %.c,$(BUILD)/objects/%.o,$(1))

# ---- what there is -------------------------------------------------------

sources = $(shell find $(1) -name '*.c')
PROTOCOL = $(call sources,protocol)
AGENT = $(filter-out agent/main.c agent/init/%,$(call sources,agent))
CONTROLLER = $(filter-out controller/main.c controller/cli/%, \
	$(call sources,controller))
CLI = $(filter-out controller/cli/main.c,$(call sources,controller/cli))
INIT = $(wildcard agent/init/*.c) $(addprefix protocol/base/,buffer.c clock.c \
	error.c file.c list.c printable.c strings.c utf8.c) protocol/blob/pattern.c
TRAINER = $(wildcard images/cpu/*.c)

LIBS = $(BUILD)/libcli.a $(BUILD)/libcontroller.a $(BUILD)/libagent.a \
	$(BUILD)/libprotocol.a
PROGRAMS = $(if $(wildcard controller/cli/main.c),$(BUILD)/regatta) \
	$(if $(wildcard agent/main.c),$(BUILD)/regatta-agent) \
	$(if $(wildcard controller/main.c),$(BUILD)/regatta-controller) \
	$(if $(wildcard agent/init/main.c),$(BUILD)/regatta-init)

# The image folder as it is installed: data files as they are, and cpu/ as the
# build context of the CPU training image.
IMAGES = $(patsubst %,$(BUILD)/%,$(shell find images -type f ! -name '*.[ch]' \
	! -name '.*' 2>/dev/null)) \
	$(if $(wildcard images/cpu/main.c),$(addprefix \
	$(BUILD)/images/cpu/,trainer corpus.txt)) \
	$(patsubst deploy/%,$(BUILD)/images/%,$(wildcard deploy/validation/*))

UNIT_SOURCES = $(wildcard tests/unit/*_test.c)
UNIT = $(patsubst %.c,$(BUILD)/%,$(UNIT_SOURCES))
UNIT_HELPERS = $(filter-out $(UNIT_SOURCES),$(wildcard tests/unit/*.c))
FAULT_TESTS = $(patsubst %.c,$(BUILD)/%,$(shell grep -ls \
	'"tests/unit/fault.h"' $(UNIT_SOURCES) /dev/null))
SIMULATION = $(BUILD)/tests/simulation/simulate
LAB = $(patsubst tests/lab/%.c,$(BUILD)/lab/%,$(wildcard tests/lab/*.c))
# Those that run on the host and speak the protocol.
LAB_PEERS = $(filter %/peer %/evil,$(LAB))
# Programs are tests/bench/*_bench.c; the other files there are part of each.
BENCH_SOURCES = $(wildcard tests/bench/*_bench.c)
BENCH = $(patsubst tests/bench/%.c,$(BUILD)/bench/%,$(BENCH_SOURCES))
BENCH_PARTS = $(filter-out $(BENCH_SOURCES),$(wildcard tests/bench/*.c))
FUZZ = $(patsubst tests/fuzz/%.c,$(BUILD)/%,$(wildcard tests/fuzz/*.c))

MAN = $(wildcard $(foreach s,1 5 7 8,agent/*.$s agent/init/*.$s controller/*.$s \
	controller/cli/*.$s deploy/*.$s))
C_FILES = $(sort $(shell find protocol agent controller images tests \
	-name '*.[ch]' 2>/dev/null))
SCRIPTS = $(sort $(shell grep -rlE '^\#! ?/bin/(ba)?sh' .ci deploy tests; \
	find deploy tests -name '*.sh' -o -name '*.t' -o -path '*/machines/*'))

# ---- build ---------------------------------------------------------------

.PHONY: all programs images unit simulation lab asan replay fuzzers benches \
	check check-long lint fuzz bench demo deb demo-reference install \
	tarball uninstall clean help force
.SECONDARY:
.DELETE_ON_ERROR:

all: programs images
programs: $(PROGRAMS)

FOLDERS = $(sort $(dir $(call objects,$(filter %.c,$(C_FILES))) \
	$(call static_objects,$(INIT) $(TRAINER) $(wildcard tests/lab/*.c)) \
	$(UNIT) $(SIMULATION) $(LAB) $(BENCH) $(REPLAY) $(PORTABLE)))

# Rewritten only when the flags differ from those of the last build. All else
# that is built depends on it, so it makes the folders, too: one process here,
# a process less for each file.
FLAGS = $(strip $(CC) $(BASE) $(HARDEN) $(CFLAGS) $(LDHARDEN))
$(BUILD)/.flags: export FLAGS_NOW = $(FLAGS)
$(BUILD)/.flags: force
	@mkdir -p $(FOLDERS)
	@printf '%s\n' "$$FLAGS_NOW" | cmp -s - $@ || \
		printf '%s\n' "$$FLAGS_NOW" >$@

$(BUILD)/objects/%.o: %.c Makefile $(BUILD)/.flags
	$(call say,CC,$@)
	$(Q)$(CC) $(BASE) -MMD -MP -MT $@ $(HARDEN) $(CFLAGS) $(PKG_CFLAGS) -c -o $@ $<

# They hold the files beside them.
$(BUILD)/objects/controller/web/web_page.o: controller/web/style.css \
	controller/web/script.js
$(BUILD)/objects/controller/report/html_style.o: controller/report/style.css
$(BUILD)/objects/controller/sweep/flagperf/conf.o: \
	controller/sweep/flagperf/python_files.py

$(BUILD)/libprotocol.a: $(call objects,$(PROTOCOL))
$(BUILD)/libagent.a: $(call objects,$(AGENT))
$(BUILD)/libcontroller.a: $(call objects,$(CONTROLLER))
$(BUILD)/libcli.a: $(call objects,$(CLI))
$(BUILD)/libtrainer.a: $(call objects,$(filter-out %/main.c,$(TRAINER)))
$(BUILD)/libtest.a: $(call objects,$(UNIT_HELPERS))
$(BUILD)/%.a:
	$(call say,AR,$@)
	@rm -f $@
	$(Q)$(AR) rcs $@ $(filter %.o,$^)

# Objects first, so that a test may replace a member of an archive.
LINK = $(CC) $(CFLAGS) $(LDHARDEN) $(LDFLAGS) $(WRAP) -o $@ $(filter %.o,$^) \
	-Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(LINK_LIBS) -lm
LINK_LIBS = $(PKG_LIBS)

$(BUILD)/regatta: $(BUILD)/objects/controller/cli/main.o $(BUILD)/libcli.a \
	$(BUILD)/libcontroller.a $(BUILD)/libprotocol.a
$(BUILD)/regatta-controller: $(BUILD)/objects/controller/main.o \
	$(BUILD)/libcontroller.a $(BUILD)/libprotocol.a
$(BUILD)/regatta-agent: $(BUILD)/objects/agent/main.o $(BUILD)/libagent.a \
	$(BUILD)/libprotocol.a
$(BUILD)/regatta $(BUILD)/regatta-controller $(BUILD)/regatta-agent:
	$(call say,LINK,$@)
	$(Q)$(LINK)

# The same for any folder on any machine with this glibc, or a newer one, and
# libstdc++: all other libraries lie beside them. That of libarchive needs a
# newer glibc for its random numbers, and libxml2 for a format never written
# here: it is linked into them.
PORTABLE_GLIBC = 2.35
PORTABLE = $(addprefix $(BUILD)/portable/,regatta regatta-agent \
	regatta-controller)
ARCHIVE_NEEDS = $(shell objdump -p $$($(CC) -print-file-name=libarchive.so) | \
	sed -n 's/.*NEEDED *\(lib[^c].*\)/-l:\1/p')
$(PORTABLE): LDFLAGS += -Wl,-rpath,'$$ORIGIN/../lib/regatta/libraries' \
	-Wl,--disable-new-dtags \
	-Wl,--defsym=archive_write_set_format_xar=archive_write_set_format_raw
$(PORTABLE): LINK_LIBS = $(patsubst -larchive,-l:libarchive.a \
	$(ARCHIVE_NEEDS) -l:libbsd.so.0,$(PKG_LIBS))
$(BUILD)/portable/regatta: $(BUILD)/objects/controller/cli/main.o \
	$(BUILD)/libcli.a $(BUILD)/libcontroller.a $(BUILD)/libprotocol.a
$(BUILD)/portable/regatta-controller: $(BUILD)/objects/controller/main.o \
	$(BUILD)/libcontroller.a $(BUILD)/libprotocol.a
$(BUILD)/portable/regatta-agent: $(BUILD)/objects/agent/main.o \
	$(BUILD)/libagent.a $(BUILD)/libprotocol.a
$(PORTABLE):
	$(call say,LINK,$@)
	$(Q)$(LINK)

# Static programs run in empty images; so they are never sanitized.
STATIC_CFLAGS = -O2 -g
$(BUILD)/static/images/cpu/%.o: STATIC_CFLAGS = -O3 -g
$(BUILD)/static/%.o: %.c Makefile $(BUILD)/.flags
	$(call say,CC,$@)
	$(Q)$(CC) $(BASE) -MMD -MP -MT $@ $(STATIC_CFLAGS) -c -o $@ $<

static_objects = $(patsubst %.c,$(BUILD)/static/%.o,$(1))
define LINK_STATIC
	$(call say,STATIC,$@)
	$(Q)$(CC) -static -s -o $@ $(filter %.o,$^) $(STATIC_LIBS) -lm -lpthread
endef

# Runs as PID 1 in every container: static, so it needs nothing of the image.
$(BUILD)/regatta-init: STATIC_LIBS = -lseccomp
$(BUILD)/regatta-init: $(call static_objects,$(INIT))
	$(LINK_STATIC)

images: $(IMAGES)

$(BUILD)/images/cpu/trainer: $(call static_objects,$(TRAINER))
	$(LINK_STATIC)

# Real English text that every checkout has: the training corpus.
$(BUILD)/images/cpu/corpus.txt: LICENSE
	@install -D -m 644 $< $@

$(BUILD)/images/validation/%: deploy/validation/%
	@install -D -m 644 $< $@

$(BUILD)/images/%: images/%
	@install -D -m 644 $< $@

# ---- test programs -------------------------------------------------------

# Linked by the hundred, with the quickest linker of Debian 12's compilers.
ifneq ($(shell command -v ld.gold),)
$(UNIT): LDFLAGS += -fuse-ld=gold
endif

unit: $(UNIT) $(SIMULATION)
$(FAULT_TESTS): WRAP = -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc \
	-Wl,--wrap=strdup
$(addprefix $(BUILD)/tests/unit/,operations_test blob_service_test): \
	WRAP = -Wl,--wrap=clock_mono_ms
$(BUILD)/tests/unit/server_test: WRAP = -Wl,--wrap=clock_cpu_us
$(BUILD)/tests/unit/blob_store_test: WRAP = -Wl,--wrap=clock_mono_ms \
	-Wl,--wrap=fsync,--wrap=sync_file_range
$(UNIT): $(BUILD)/%: $(BUILD)/objects/%.o $(BUILD)/libtest.a $(LIBS) \
		$(BUILD)/libtrainer.a
	$(call say,LINK,$@)
	$(Q)$(LINK)

simulation: $(SIMULATION)
comma = ,
$(SIMULATION): WRAP = $(addprefix -Wl$(comma)--wrap=,sqlite3_step sqlite3_exec \
	sqlite3_extended_errcode store_put_job store_set_job store_put_event \
	store_put_result store_put_node store_remove_node store_put_pin)
$(SIMULATION): $(call objects,$(wildcard tests/simulation/*.c)) $(LIBS)
	$(call say,LINK,$@)
	$(Q)$(LINK)

lab: $(LAB)
$(filter-out $(LAB_PEERS),$(LAB)): $(BUILD)/lab/%: $(BUILD)/static/tests/lab/%.o
	$(LINK_STATIC)
$(LAB_PEERS): $(BUILD)/lab/%: $(BUILD)/objects/tests/lab/%.o \
		$(BUILD)/libprotocol.a
	$(call say,LINK,$@)
	$(Q)$(LINK)

benches: $(BENCH)
$(BENCH): $(BUILD)/bench/%: $(BUILD)/objects/tests/bench/%.o \
		$(call objects,$(BENCH_PARTS)) $(LIBS)
	$(call say,LINK,$@)
	$(Q)$(LINK)

# The fuzzers, fed with their seeds alone: without clang and libFuzzer.
REPLAY = $(patsubst tests/fuzz/%.c,$(BUILD)/replay/%,$(wildcard tests/fuzz/*.c))
replay: $(REPLAY)
$(REPLAY): $(BUILD)/replay/%: $(BUILD)/objects/tests/fuzz/%.o \
		$(BUILD)/objects/tests/fuzz/replay/main.o $(LIBS)
	$(call say,LINK,$@)
	$(Q)$(LINK)

asan:
	@$(MAKE) BUILD=build/asan SANITIZE=address,undefined programs unit replay

# In this flavour $(FUZZ) lies right under $(BUILD), which is build/fuzz.
FUZZ_FLAVOUR = BUILD=build/fuzz CC=$(CLANG) WERROR= \
	SANITIZE=fuzzer-no-link,address,undefined
fuzzers:
	@$(MAKE) $(FUZZ_FLAVOUR) fuzz-programs
.PHONY: fuzz-programs
ifneq ($(findstring fuzzer,$(SANITIZE)),)
fuzz-programs: $(FUZZ)
$(FUZZ): LDFLAGS += -fsanitize=fuzzer
$(FUZZ): $(BUILD)/%: $(BUILD)/objects/tests/fuzz/%.o $(LIBS)
	$(call say,LINK,$@)
	$(Q)$(LINK)
endif

# ---- what a person types -------------------------------------------------

check:
	@deploy/setup build run test
	@$(MAKE) all lab simulation benches
	@tests/check

check-long:
	@deploy/setup build run test deb long
	@$(MAKE) all lab
	@tests/check --long

demo:
	@deploy/setup build run
	@$(MAKE) all
	@deploy/demo

demo-reference:
	@deploy/setup build run test
	@$(MAKE) all lab
	@deploy/demo-reference

bench:
	@deploy/setup build run test
	@$(MAKE) all lab benches
	@tests/bench/run

FUZZ_SECONDS ?= 600
fuzz:
	@deploy/setup build test
	@$(MAKE) fuzzers simulation
	@tests/fuzz/run $(FUZZ_SECONDS)
	@$(SIMULATION) --random --seconds $(FUZZ_SECONDS)

lint:
	@deploy/setup build lint
	@$(MAKE) lint-format lint-includes lint-tidy lint-cppcheck \
		lint-scripts lint-pages
.PHONY: lint-format lint-includes lint-tidy lint-cppcheck lint-scripts \
	lint-pages

lint-format:
	$(call say,LINT,clang-format)
	$(Q)clang-format --dry-run -Werror $(C_FILES)
	$(Q)! grep -nE '^ \*[[:alnum:]"{#]|^/\*/' $(C_FILES) || \
		{ echo "rows of a comment that a formatter joined"; exit 1; }

lint-includes: programs
	$(call say,LINT,includes)
	$(Q)tests/includes $(BUILD)/objects $(BUILD)/static
	$(Q)tests/initialized $(filter %.c,$(C_FILES))

TIDY = $(addprefix $(BUILD)/tidy/,$(filter %.c,$(C_FILES)))
lint-tidy: $(TIDY)
$(TIDY): $(BUILD)/tidy/%: % .clang-tidy $(filter %.h,$(C_FILES))
	$(call say,LINT,clang-tidy $<)
	@mkdir -p $(@D)
	$(Q)clang-tidy --quiet $< -- $(BASE) $(PKG_CFLAGS) 2>$@.err || \
		{ cat $@.err; exit 1; }
	@touch $@

# Left out, since cppcheck does not know __attribute__((cleanup)): leaks, which
# the analyzer of clang and the sanitizers look for. Its guesses across files
# (ctu*) take sizeof(p->x) for an access. NULL is a pointer here, as POSIX has
# it (varFuncNullUB). In a _Generic() of a table, ((struct t *)0)->m is no
# access. It must see TAILQ_HEAD and kin, and a loop in cJSON's macro (without
# semicolons, at which it divides -D).
QUEUE_H = $(shell $(CC) -M -include sys/queue.h -x c /dev/null | \
	grep -o '/[^ ]*/queue.h')
lint-cppcheck:
	$(call say,LINT,cppcheck)
	$(Q)cppcheck --quiet --enable=warning,portability --std=c11 -I. \
		$(DEFINES) --inline-suppr \
		--include=$(QUEUE_H) --suppress=missingIncludeSystem \
		-D'cJSON_ArrayForEach(at,in)=while((at=cJSON_next(in)))' \
		--suppress='*:$(QUEUE_H)' \
		--suppress=memleak --suppress=resourceLeak \
		--suppress=ctunullpointer --suppress=ctuuninitvar \
		--suppress=varFuncNullUB \
		--suppress='nullPointer:controller/report/reference*.c' \
		--error-exitcode=1 $(filter %.c,$(C_FILES))

lint-scripts:
	$(call say,LINT,shellcheck)
	$(Q)shellcheck $(SCRIPTS)
	$(Q)! grep -nE '\| *grep -[a-zA-Z]*q' $(SCRIPTS) || \
		{ echo "tests/system/lib.sh says why these are 'finds'"; exit 1; }
	$(Q)! find tests -name '*.t' ! -perm -100 | grep . || \
		{ echo "a test that cannot be run"; exit 1; }

lint-pages:
	$(call say,LINT,manual pages)
	$(Q)$(if $(MAN),mandoc -Tlint -Wwarning $(MAN))
	$(Q)for page in $(MAN); do \
		found=$$(LC_ALL=C.UTF-8 MANROFFSEQ= man --warnings -E UTF-8 -l \
			-Tutf8 -Z "$$page" 2>&1 >/dev/null); \
		[ -z "$$found" ] || { echo "$$found"; exit 1; }; \
	done

# ---- install -------------------------------------------------------------

# Nothing is compiled for a PREFIX: protocol/config/installed.h says how programs
# find their parts and settings.
ROOT = $(DESTDIR)$(PREFIX)
PARTS = $(ROOT)/lib/regatta
SETTINGS = $(if $(filter /usr /usr/%,$(PREFIX)),,$(PREFIX))/etc/regatta
# A line for each file.
told = printf '  INSTALL %s\n' $(1)
put = install -D -m $(1) $(2) $(3) && $(call told,$(3))
install_to = $(foreach p,$(filter $(addprefix $(BUILD)/,$(1)),$(PROGRAMS)), \
	$(call put,755,$p,$(ROOT)/$(2)/$(notdir $p)) &&) true
install: all
	$(Q)$(call install_to,regatta,bin)
	$(Q)$(call install_to,regatta-agent regatta-controller,sbin)
	$(Q)$(call install_to,regatta-init,lib/regatta)
	$(Q)rm -rf $(PARTS)/images
	$(Q)for file in $(patsubst $(BUILD)/%,%,$(IMAGES)); do \
		mode=$$([ -x $(BUILD)/$$file ] && echo 755 || echo 644); \
		$(call put,$$mode,$(BUILD)/$$file,$(PARTS)/$$file) || exit 1; \
	done
	$(Q)for file in deploy/systemd/*.yaml; do \
		$(call put,644,$$file,$(PARTS)/$${file##*/}) || exit 1; \
	done
	$(Q)for page in $(MAN); do \
		at=$(ROOT)/share/man/man$${page##*.}/$${page##*/}; \
		$(call put,644,$$page,$$at) || exit 1; \
	done
	$(Q)install -d $(ROOT)/lib/systemd/system
	$(Q)for unit in deploy/systemd/*.service; do \
		at=$(ROOT)/lib/systemd/system/$${unit##*/}; \
		sed 's|=/usr/sbin/|=$(PREFIX)/sbin/|; s|/etc/regatta|$(SETTINGS)|' \
			$$unit >$$at && $(call told,$$at) || exit 1; \
	done
	$(Q)$(call put,644,deploy/systemd/regatta.sysusers,$(ROOT)/lib/sysusers.d/regatta.conf)
	$(Q)$(call put,644,deploy/systemd/regatta.tmpfiles,$(ROOT)/lib/tmpfiles.d/regatta.conf)
	$(Q)$(foreach c,$(COMPLETIONS),mkdir -p $(dir $(ROOT)/share/$c) && \
		$(BUILD)/regatta completion $(call shell_of,$c) \
		>$(ROOT)/share/$c && $(call told,$(ROOT)/share/$c) &&) true

# Where each shell looks for what `regatta completion` prints.
COMPLETIONS = bash-completion/completions/regatta \
	fish/vendor_completions.d/regatta.fish zsh/vendor-completions/_regatta
shell_of = $(firstword $(subst -, ,$(subst /, ,$(1))))

uninstall:
	rm -f $(ROOT)/bin/regatta $(ROOT)/sbin/regatta-agent \
		$(ROOT)/sbin/regatta-controller
	rm -rf $(PARTS)
	rm -f $(ROOT)/lib/systemd/system/regatta-*.service \
		$(ROOT)/lib/sysusers.d/regatta.conf \
		$(ROOT)/lib/tmpfiles.d/regatta.conf \
		$(addprefix $(ROOT)/share/,$(COMPLETIONS))
	for page in $(MAN); do \
		rm -f $(ROOT)/share/man/man$${page##*.}/$${page##*/}; \
	done

# Packages of the tree as it is. DEB_VERSION: theirs, not that of the programs.
# Who builds them has an address, deploy/debian has none.
DEB_VERSION ?= $(VERSION)
deb:
	@deploy/setup build deb
	$(call say,DEB,$(DEB_VERSION))
	$(Q)rm -rf build/deb/regatta
	$(Q)mkdir -p build/deb/regatta
	$(Q)tar -cf - --exclude=./build --exclude=./.git . | \
		tar -xf - -C build/deb/regatta
	$(Q)cp -r deploy/debian build/deb/regatta/debian
	$(Q)sed -i '1s/(.*)/($(DEB_VERSION))/' \
		build/deb/regatta/debian/changelog
	$(Q)cd build/deb/regatta && REGATTA_DEB_BUILD=$(CURDIR)/build/deb/objects \
		MAKEFLAGS= dpkg-buildpackage -b -us -uc \
		-j$(shell nproc) >../build.log 2>&1 || \
		{ tail -30 ../build.log; exit 1; }
	$(Q)lintian --allow-root --profile debian --fail-on error,warning \
		--suppress-tags bogus-mail-host,bogus-mail-host-in-debian-changelog \
		$$(ls build/deb/*_$(DEB_VERSION)_*.deb | grep -v dbgsym)
	@ls build/deb/*_$(DEB_VERSION)_*.deb

tarball:
	@deploy/setup build
	@$(MAKE) all $(PORTABLE)
	$(call say,TAR,build/tarball)
	$(Q)MAKE='$(MAKE)' deploy/tarball $(BUILD) $(VERSION) $(PORTABLE_GLIBC)

clean:
	rm -rf build

help:
	@sed -n 's/^## \{0,1\}//p' Makefile

-include $(patsubst %.c,$(BUILD)/objects/%.d,$(filter %.c,$(C_FILES)))
-include $(patsubst %.c,$(BUILD)/static/%.d,$(INIT) $(TRAINER) \
	$(wildcard tests/lab/*.c))
