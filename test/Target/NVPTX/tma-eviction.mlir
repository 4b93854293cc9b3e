// How soon a line may be evicted is the second cache's policy of a copy by the engine.
// RUN: sed 's/tile.load %a\[%row, %kk\]/& evict = last/; s/tile.load %b\[%column, %kk\]/& cache = streaming/; s/tile.store %narrow, %c\[%row, %column\]/& evict = first/' \
// RUN:   %S/../../../benchmarks/gemm.mlir > %t.mlir
// RUN: tile-compile %t.mlir --emit asm | FileCheck %s
// RUN: tile-compile %S/../../../benchmarks/gemm.mlir --emit asm | FileCheck %s --check-prefix=PLAIN

// CHECK: mov.b64 {{\s*}}%[[LAST:.*]], 1508705875169116160;
// CHECK: cp.async.bulk.tensor.2d.shared::{{.*}}.L2::cache_hint {{.*}}, %[[LAST]];
// CHECK: mov.b64 {{\s*}}%[[FIRST:.*]], 1364590687093260288;
// CHECK: cp.async.bulk.tensor.2d.shared::{{.*}}.L2::cache_hint {{.*}}, %[[FIRST]];
// CHECK: mov.b64 {{\s*}}%[[FIRST:.*]], 1364590687093260288;
// CHECK: cp.async.bulk.tensor.2d.global.shared::cta{{.*}}.L2::cache_hint {{.*}}, %[[FIRST]];
// PLAIN-NOT: cache_hint
