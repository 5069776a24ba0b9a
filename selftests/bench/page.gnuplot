# SPDX-License-Identifier: GPL-2.0
#
# What the pictures of ./page have in common. Colours are those that who is colour-blind tells apart.
set datafile separator "\t"
set datafile missing "-"
set encoding utf8
set grid ytics linecolor "gray80"
set linetype 1 linecolor "#0072b2" linewidth 2 pointtype 7
set linetype 2 linecolor "#d55e00" linewidth 2 pointtype 5
set linetype 3 linecolor "#009e73" linewidth 2 pointtype 9
set linetype 4 linecolor "#cc79a7" linewidth 2 pointtype 11
set linetype 5 linecolor "#e69f00" linewidth 2 pointtype 13
