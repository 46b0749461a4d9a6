# What the examples' Makefiles share. NEWT_BUILD is a build folder of newtc; leave it empty to use an
# installed package through pkg-config.
NEWT_BUILD ?=
ifneq ($(NEWT_BUILD),)
NEWT_ROOT   := $(dir $(lastword $(MAKEFILE_LIST)))../..
NEWTC       ?= $(NEWT_BUILD)/compiler/newtc
NEWT_CFLAGS ?= -I$(NEWT_ROOT)/runtime/include
NEWT_LIBS   ?= $(NEWT_BUILD)/runtime/libnewt.a -ldl -lpthread
else
NEWTC       ?= $(shell pkg-config --variable=newtc newt)
NEWT_CFLAGS ?= $(shell pkg-config --cflags newt)
NEWT_LIBS   ?= $(shell pkg-config --libs --static newt)
endif
NEWTFLAGS ?=
CFLAGS    ?= -O3 -Wall -Wextra
BUILD     ?= build
EX_CFLAGS := -std=c11 -D_POSIX_C_SOURCE=200809L -I$(BUILD) -I$(dir $(lastword $(MAKEFILE_LIST))) $(NEWT_CFLAGS)

$(BUILD)/$(KERNEL): $(BUILD)/main.o $(BUILD)/$(KERNEL).o
	$(CC) $(LDFLAGS) -o $@ $^ $(NEWT_LIBS) -lm

# a pattern rule with two targets runs once for both
$(BUILD)/%.c $(BUILD)/%.h: %.newt
	@mkdir -p $(BUILD)
	$(NEWTC) $(NEWTFLAGS) -MD -MF $(BUILD)/$*.d -o $(BUILD)/$*.c $<

$(BUILD)/main.o: main.c | $(BUILD)/$(KERNEL).h
	$(CC) $(EX_CFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/$(KERNEL).o: $(BUILD)/$(KERNEL).c
	$(CC) $(EX_CFLAGS) $(CFLAGS) -c -o $@ $<

run: $(BUILD)/$(KERNEL)
	$(BUILD)/$(KERNEL) $(ARGS)

clean:
	rm -rf $(BUILD)

.PHONY: run clean
.SECONDARY: $(BUILD)/$(KERNEL).c $(BUILD)/$(KERNEL).h
-include $(BUILD)/$(KERNEL).d $(BUILD)/main.d
