// Global memory by buffer descriptors: what is checked by the hardware alone, what by a comparison,
// and what cannot go that way.
// RUN: tile-opt %s --split-input-file --tile-pipeline="target=amdgpu:gfx942 stop-after=target" | FileCheck %s
// RUN: tile-opt %s --split-input-file --tile-pipeline="target=amdgpu:gfx942 stop-after=target" | FileCheck %s --check-prefix=HARDWARE

#facts = #tile.facts<pointer = 16, strides = [16, 4], extents = [0, 16]>
#vector = #tile.facts<pointer = 16, strides = [4], extents = [16]>

// One dimension: the descriptor is the tile's part of the view, and nothing is compared per thread.
// CHECK-LABEL: func.func @elementwise
// HARDWARE-LABEL: func.func @elementwise
// CHECK: %[[INSIDE:.*]] = arith.maxsi
// CHECK: %[[BYTES:.*]] = arith.muli %[[INSIDE]], %{{.*}} : index
// CHECK: %[[SIZE:.*]] = arith.index_cast %[[BYTES]] : index to i64
// CHECK: %[[BUFFER:.*]] = rocdl.make.buffer.rsrc %{{.*}}, %{{.*}}, %[[SIZE]], %{{.*}} : <1> to <8>
// CHECK: rocdl.raw.ptr.buffer.load %[[BUFFER]], %{{.*}}, %{{.*}}, %{{.*}} : vector<4xi32>
// CHECK: rocdl.raw.ptr.buffer.store {{.*}} : vector<4xi32>
// HARDWARE-NOT: arith.select {{.*}} : i32
// HARDWARE: return
tile.kernel @elementwise(%x: !tile.view<?xf32> {tile.facts = #vector},
                         %y: !tile.view<?xf32> {tile.facts = #vector}) {
  %i = tile.program_id x
  %c1024 = arith.constant 1024 : index
  %at = arith.muli %i, %c1024 : index
  %t = tile.load %x[%at] : !tile.view<?xf32> -> tensor<1024xf32>
  tile.store %t, %y[%at] : tensor<1024xf32>, !tile.view<?xf32>
  tile.return
}

// -----

// Padding that is not zero needs to know what is in bounds; the offsets do not.
// CHECK-LABEL: func.func @padded
// CHECK: rocdl.raw.ptr.buffer.load %{{.*}} : i16
// CHECK: arith.select {{.*}} : bf16
tile.kernel @padded(%x: !tile.view<?x?xbf16>, %y: !tile.view<?x?xbf16>) {
  %i = tile.program_id x
  %c0 = arith.constant 0 : index
  %low = arith.constant 0xFF80 : bf16
  %t = tile.load %x[%i, %c0] pad(%low : bf16) : !tile.view<?x?xbf16> -> tensor<1x256xbf16>
  tile.store %t, %y[%i, %c0] : tensor<1x256xbf16>, !tile.view<?x?xbf16>
  tile.return
}

// -----

#facts = #tile.facts<pointer = 16, strides = [16, 4], extents = [0, 16]>
#small = #tile.facts<pointer = 16, strides = [16, 4], extents = [0, 16], index32>

// Two dimensions: offsets of 32 bits, if the view promises that these are enough, and one outside
// of every buffer. What is the same in all threads is added by the instruction.
// CHECK-LABEL: func.func @matrix
// CHECK: %[[OUTSIDE:.*]] = arith.constant -2147483648 : i32
// CHECK: %[[OFFSET:.*]] = arith.select %{{.*}}, %{{.*}}, %[[OUTSIDE]] : i32
// CHECK: rocdl.raw.ptr.buffer.load %{{.*}}, %[[OFFSET]], %[[UNIFORM:.*]], %{{.*}} : vector<4xi32>
// CHECK-NOT: llvm.load
// Else there is a pointer to choose.
// CHECK: arith.select {{.*}} : !llvm.ptr<1>
// CHECK: llvm.store
tile.kernel @matrix(%x: !tile.view<?x?xf32> {tile.facts = #small},
                    %y: !tile.view<?x?xf32> {tile.facts = #facts}) {
  %i = tile.program_id x
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %m = arith.muli %i, %c64 : index
  %t = tile.load %x[%m, %c0] : !tile.view<?x?xf32> -> tensor<64x64xf32>
  %u = tile.load %y[%m, %c0] : !tile.view<?x?xf32> -> tensor<64x64xf32>
  %s = arith.addf %t, %u : tensor<64x64xf32>
  tile.store %s, %y[%m, %c0] : tensor<64x64xf32>, !tile.view<?x?xf32>
  tile.return
}

// -----

#small = #tile.facts<pointer = 16, strides = [4], extents = [16], index32>

// A tile that may begin in front of the view has a first element in bounds, too.
// CHECK-LABEL: func.func @shifted
// CHECK: arith.subi %{{.*}} : i32
// CHECK: arith.cmpi ult, %{{.*}} : i32
// CHECK: rocdl.raw.ptr.buffer.load {{.*}} : i32
tile.kernel @shifted(%x: !tile.view<?xf32> {tile.facts = #small},
                     %y: !tile.view<?xf32> {tile.facts = #small}, %by: index) {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%by] : !tile.view<?xf32> -> tensor<128xf32>
  tile.store %t, %y[%c0] : tensor<128xf32>, !tile.view<?xf32>
  tile.return
}

// -----

// Of one byte the descriptor has all bytes or none: one or none would be kept as a truth value.
// CHECK-LABEL: func.func @one_byte
// CHECK-DAG: %[[ALL:.*]] = arith.constant 2147483648 : i64
// CHECK-DAG: %[[NONE:.*]] = arith.constant 0 : i64
// CHECK: %[[SIZE:.*]] = arith.select %{{.*}}, %[[ALL]], %[[NONE]] : i64
// CHECK: rocdl.make.buffer.rsrc %{{.*}}, %{{.*}}, %[[SIZE]], %{{.*}} : <1> to <8>
tile.kernel @one_byte(%x: !tile.view<?xi8>, %y: !tile.view<?xi8>) {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0] : !tile.view<?xi8> -> tensor<1xi8>
  tile.store %t, %y[%c0] : tensor<1xi8>, !tile.view<?xi8>
  tile.return
}
