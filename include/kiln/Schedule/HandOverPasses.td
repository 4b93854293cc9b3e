// Passes about tensors that go from role to role.
#ifndef KILN_SCHEDULE_HANDOVERPASSES_TD
#define KILN_SCHEDULE_HANDOVERPASSES_TD

def DecideHandOvers : Schedule_Pass<"tile-decide-hand-overs"> {
  let summary = "decide how tensors go from the role that makes them to others";
  let description = [{
    Precondition: rings are channels. Postcondition: each tensor that one role makes and another uses is the
    operand of a `tile.convert_layout` of the maker's, whose `tile.handed` is the type of the channel that
    carries it; and of that one each other role has conversions of its own, which read it. Roles of as many
    warps read it as it is laid out; others say how by a `tile.convert_layout` of theirs. A sum in tensor
    memory stays there, in one slot more than its dot says to be `in_flight`. All else goes through shared
    memory, in the order that is best for its first reader, as deep as what makes it says, or its loop. Where
    no one buffer has each copy's part in one piece, as of rows that copies share out if the columns are no
    power of two, a slot has boxes of the tensor, among which threads choose by registers. A conversion for which the source says `tile.handed` keeps it. Nothing has `tile.depth` then.

    What warps make and products read from shared memory goes so too, in an order that these take: a
    conversion with `tile.residency = "shared"` stands for the slot. Where the products' own role makes it, the
    channel is `own`, but for products that end by commit, which give its slots back by themselves. As
    deep as nobody says, it has a slot more than such products hold. All other `tile.residency` is gone.

    A value that several roles make, one of them keeps, which uses it: what others make of it is handed to
    that one. What an op of none makes of tensors of several is that role's then.

    Before:
    ```mlir
    %abs = math.absf %x {tile.role = "make"} : !t
    %u = tile.convert_layout %abs {role = "use"} : !t -> !u
    ```
    After:
    ```mlir
    %abs = math.absf %x {tile.role = "make"} : !t
    %h = tile.convert_layout %abs {role = "make", tile.handed = !tile.channel<3, …>} : !t -> !t
    %u = tile.convert_layout %h {role = "use"} : !t -> !u
    ```
    The tests are `test/Schedule/decide-hand-overs.mlir`, `decide-hand-overs-operands.mlir`,
    `hand-overs-boxes.mlir`, `decide-hand-overs-invalid.mlir` and `hand-overs-operands-invalid.mlir`.
  }];
}

def RealiseHandOvers : Schedule_Pass<"tile-realise-hand-overs"> {
  let summary = "let tensors go from role to role through channels, as `tile.handed` says";
  let description = [{
    Precondition: tensors go from role to role by conversions with `tile.handed` alone. Postcondition: each is
    a channel of that type. The maker writes the tensor to a slot, as bytes if it has fewer bits, or commits
    its sum; each other role gets the slot and reads it in its layout, or fetches the sum; products read the slot
    itself, also those of the maker's own role, which fills a ring for itself then. The conversions are gone. A sum can stay in tensor memory only if a dot has it there, the maker uses
    it no more, those who fetch it are of as many copies, and the warps of each are those that can.
    Barriers of such a channel are told by one copy of each role: `tile-realise-copies` makes each slot
    one a copy.

    Before:
    ```mlir
    %h = tile.convert_layout %abs {role = "make", tile.handed = !tile.channel<3, …>} : !t -> !t
    %u = tile.convert_layout %h {role = "use"} : !t -> !u
    ```
    After:
    ```mlir
    %s0, %p0 = tile.next %ring {role = "make"}
    tile.put %ring[%s0, %p0] bytes = 0 {role = "make"} { … tile.write %abs, %b }
    %s1, %p1 = tile.next %ring {role = "use"}
    %x = tile.get %ring[%s1, %p1] {role = "use"}
    %u = tile.read %x {role = "use"}
    ```
    Of a channel of several buffers each has a box of the tensor: the maker writes slices, and what others
    read is put together.
    The tests are `test/Schedule/realise-hand-overs.mlir`, `realise-hand-overs-sums.mlir`,
    `hand-overs-boxes.mlir` and `realise-hand-overs-invalid.mlir`.
  }];
}

#endif // KILN_SCHEDULE_HANDOVERPASSES_TD
