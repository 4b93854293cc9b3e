// RUN: tile-opt %s --split-input-file --verify-diagnostics | FileCheck %s

#a = #tile.layout<register = [[0,1],[8,0]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = []>
#b = #tile.layout<register = [[0,1],[0,2]], lane = [[0,4],[1,0],[2,0],[4,0],[8,0]], warp = []>

// CHECK-DAG: #[[A:.*]] = #tile.layout<register = {{\[}}[0,1],[8,0]], lane = {{\[}}[0,2],[0,4],[1,0],[2,0],[4,0]], warp = []>
// CHECK-DAG: #[[B:.*]] = #tile.layout<register = {{\[}}[0,1],[0,2]], lane = {{\[}}[0,4],[1,0],[2,0],[4,0],[8,0]], warp = []>
// CHECK-LABEL: func @convert
// CHECK: tile.convert_layout %{{.*}} : tensor<16x8xf32, #[[A]]> -> tensor<16x8xf32, #[[B]]>
func.func @convert(%x: tensor<16x8xf32, #a>) -> tensor<16x8xf32, #b> {
  %y = tile.convert_layout %x : tensor<16x8xf32, #a> -> tensor<16x8xf32, #b>
  return %y : tensor<16x8xf32, #b>
}

// CHECK-LABEL: func @atom
// CHECK: tile.dot {{.*}} {atom = #tile.fma} :
func.func @atom(%a: tensor<16x8xf32>, %b: tensor<8x16xf32>, %c: tensor<16x16xf32>)
    -> tensor<16x16xf32> {
  %d = tile.dot %a, %b, %c {atom = #tile.fma}
     : tensor<16x8xf32>, tensor<8x16xf32> -> tensor<16x16xf32>
  return %d : tensor<16x16xf32>
}

// -----

func.func @unlaid(%x: tensor<16xf32>) {
  // expected-error @+1 {{expected tensors with a layout, got 'tensor<16xf32>'}}
  %y = tile.convert_layout %x : tensor<16xf32> -> tensor<16xf32>
  return
}

// -----

// expected-error @+1 {{expected 1 coordinates as in the basis before, got 2}}
func.func private @ragged(tensor<16xf32, #tile.layout<lane = [[1],[1,2]]>>)

// -----

// expected-error @+1 {{expected one list of bases for 'lane', got two}}
func.func private @twice(tensor<16xf32, #tile.layout<lane = [[1]], lane = [[2]]>>)

// -----

// expected-error @+1 {{expected a basis within the extent 16 of dimension 0, got 16}}
func.func private @outside(tensor<16xf32, #tile.layout<lane = [[16]]>>)

// -----

// Twelve registers, and three warps.
func.func private @cut(tensor<12xf32, #tile.layout<register = [[1],[2],[4],[8]]>>,
                       tensor<12x3xf32, #tile.layout<register = [[4,0],[8,0]], lane = [[2,0],[1,0]], warp = [[0,1],[0,2]]>>)

// -----

// expected-error @+1 {{expected a layout of extents that are powers of two, or whose odd factor the highest bits of one part other than lanes count, got lane = [[1]] -> [12]}}
func.func private @odd(tensor<12xf32, #tile.layout<lane = [[1]]>>)

// -----

// expected-error @+1 {{or whose odd factor the highest bits of one part other than lanes count, got lane = [[1],[2],[4],[8]] -> [12]}}
func.func private @lanes(tensor<12xf32, #tile.layout<lane = [[1],[2],[4],[8]]>>)

// -----

// expected-error @+1 {{or whose odd factor the highest bits of one part other than lanes count, got register = [[1],[4],[8],[2]] -> [12]}}
func.func private @order(tensor<12xf32, #tile.layout<register = [[1],[4],[8],[2]]>>)

// -----

// expected-error @+1 {{expected bases of 1 coordinates, got 2}}
func.func private @rank(tensor<16xf32, #tile.layout<lane = [[1, 0]]>>)
