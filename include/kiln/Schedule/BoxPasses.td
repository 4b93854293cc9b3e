// Passes about what a role stores by an engine, box by box, and what that is made of.
#ifndef KILN_SCHEDULE_BOXPASSES_TD
#define KILN_SCHEDULE_BOXPASSES_TD

def SinkSlices : Schedule_Pass<"tile-sink-slices"> {
  let summary = "make tensors of which nothing but slices is used a slice at a time";
  let description = [{
    Postcondition: in a role, where nothing but slices of a tensor is used, in its own block and of no
    more elements than it has, an op that makes it element by element, broadcasts, adds dimensions of
    one element or converts it within warps is made of slices of its operands, where the first of the
    equal slices stood. So a
    store that goes box by box holds what is made for a box: 128 by 256 sums of two warp groups fill
    half of a thread's registers, and all of an activation would fill the other half.

    Before:
    ```mlir
    %y = math.exp %x : tensor<64x256xf32, #sums>
    %0 = tile.slice %y [0, 0] : … -> tensor<64x64xf32, #box>
    tile.write %0, %b …
    ```
    After:
    ```mlir
    %0 = tile.slice %x [0, 0] : … -> tensor<64x64xf32, #box>
    %y0 = math.exp %0 : tensor<64x64xf32, #box>
    tile.write %y0, %b …
    ```
    The test is `test/Schedule/sink-slices.mlir`.
  }];
}

def DecideBoxLoads : Schedule_Pass<"tile-decide-box-loads"> {
  let summary = "decide how much of a tile that is stored box by box is loaded at a time";
  let description = [{
    Precondition: the module has a target; what stores by engines take is made box by box.
    Postcondition: a load in a role, of which nothing but boxes are used in its own block, has
    `tile.held` if registers do not suffice for all of it: as many boxes as they suffice for, beside all
    other tensors that are cut into boxes there, what is made of one box, and the least that a
    role has. Not where memory that it loads may be stored to before its last box is used, nor where
    the source decides.

    Before: `%r = tile.load %x[%i, %j] : … -> tensor<64x256xf32, #near>`.
    After: `%r = tile.load %x[%i, %j] {tile.held = 2} : … -> tensor<64x256xf32, #near>`.
    The test is `test/Schedule/decide-box-loads.mlir`.
  }];
}

def RealiseBoxLoads : Schedule_Pass<"tile-realise-box-loads"> {
  let summary = "load a tile of which boxes are used box by box, as `tile.held` says";
  let description = [{
    Precondition: none. Postcondition: no `tile.load` has `tile.held`. One that had is a load of each of
    its boxes: the first so many where it stood, each of the others where the box is used that comes one
    less than so many in front of it. Where more than boxes of it are used, or memory that it loads may be
    stored to in between, it is an error.

    Before:
    ```mlir
    %r = tile.load %x[%i, %j] {tile.held = 1} : … -> tensor<64x128xf32, #near>
    %0 = tile.slice %r [0, 0] : … -> tensor<64x64xf32, #box>
    tile.write %0, %b …
    %1 = tile.slice %r [0, 64] : … -> tensor<64x64xf32, #box>
    tile.write %1, %b …
    ```
    After:
    ```mlir
    %0 = tile.load %x[%i, %j] : … -> tensor<64x64xf32, #box>
    tile.write %0, %b …
    %1 = tile.load %x[%i, %j + 64] : … -> tensor<64x64xf32, #box>
    tile.write %1, %b …
    ```
    The tests are `test/Schedule/realise-box-loads.mlir` and `realise-box-loads-invalid.mlir`.
  }];
}

#endif // KILN_SCHEDULE_BOXPASSES_TD
