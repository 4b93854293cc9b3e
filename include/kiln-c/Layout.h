// Layouts as text, told element by element: what a drawing of one is made of.
#ifndef KILN_C_LAYOUT_H
#define KILN_C_LAYOUT_H

#include "kiln-c/Base.h"

#ifdef __cplusplus
extern "C" {
#endif

// Describes a linear layout as it is printed, with its extents: "register = [[0,1]], lane = [[1,0],
// [2,0]] -> [4, 2]". At most 2^16 places. The JSON:
//   "shape"       the extents
//   "parts"       {"name", "size", "free"}: what a place is made of; `free` is the mask of the
//   part's
//                 bits that repeat elements which other bits name
//   "order", "contiguity"  of the first part: the dimensions from the one that it walks first, and
//                 how many consecutive values hold consecutive elements along each
//   "surjective", "injective"
//   "places"      one list for each element in row-major order, of places, each a list of integers
KILN_EXPORT KilnError *kilnLayoutDescribe(const char *text, KilnBuffer **json);

#ifdef __cplusplus
}
#endif

#endif // KILN_C_LAYOUT_H
