# SPDX-License-Identifier: GPL-2.0
#
# Figures of several runs: in the middle and from where to where, beside a goal, and as text.

def median: sort | if length % 2 == 1 then .[length / 2 | floor] else (.[length / 2 - 1] + .[length / 2]) / 2 end;
def range_of: {median: median, min: min, max: max, runs: length};

def at_least(goal): {goal: ">= \(goal)", reached: (.median >= goal)} + .;
def at_most(goal): {goal: "<= \(goal)", reached: (.median <= goal)} + .;

def digits(n): if . == null then "-" else . * pow(10; n) | round / pow(10; n) | tostring end;
def short: if . == null then "-" elif fabs >= 100 then digits(0) elif fabs >= 10 then digits(1) else digits(2) end;
# Of one run there is none.
def spread: if .min == .max then "" else "\(.min | short) to \(.max | short)" end;
