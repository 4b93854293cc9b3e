// What a target's warps have to wait for one another, for their copies, and for engines.
#ifndef KILN_TARGET_COMMON_SYNCHRONISATION_TD
#define KILN_TARGET_COMMON_SYNCHRONISATION_TD

include "mlir/IR/OpBase.td"

/// Emits code; `otherwise` is what chips do that have no such thing.
class EmitsSynchronisation<string what, string name, dag args = (ins), string type = "void",
                           code otherwise = [{}]>
    : InterfaceMethod<what, type, name,
          !con((ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc), args), [{}],
          otherwise>;

/// The same of what is asked for only where one of the questions above it was answered with yes.
class EmitsIfThere<string what, string name, dag args = (ins), string type = "void">
    : EmitsSynchronisation<what, name, args, type,
                           [{ llvm_unreachable("asked of a chip that has no such thing"); }]>;

/// Whether the chip has something; chips of other kinds have not.
class AsksWhether<string what, string name>
    : InterfaceMethod<what, "bool", name, (ins), [{}], [{ return false; }]>;

def SynchronisationInterface : AttrInterface<"SynchronisationInterface"> {
  let cppNamespace = "::kiln";
  let description = [{
    What warps synchronise by. The lowering of roles, channels and copies is common: it asks what the
    chip has, and how that is made is each target's affair. A target's attribute implements it
    besides its own interface, all of the first group and, of the others, what its chips have.

    Code generators must move no access to shared memory across any of these.
  }];
  let methods = [
    // All warps, and copies into shared memory that warps start, count and wait for themselves.
    EmitsSynchronisation<"An i32 that all lanes of a warp have alike, as one that the warp has once.",
        "makeUniform", (ins "::mlir::Value":$value), "::mlir::Value">,
    EmitsSynchronisation<"Ends a group: the copies that the warp has started since the last one.",
        "endCopies">,
    EmitsSynchronisation<[{
      Until at most so many of the warp's groups are under way, each of which has so many copies.
    }], "waitForCopies", (ins "int64_t":$groups, "int64_t":$copies)>,
    EmitsSynchronisation<"Until the warp's own accesses to shared memory are done.",
        "waitForShared">,
    EmitsSynchronisation<[{
      All warps of the program meet; what each had waited for is done for all. A fence would wait
      for copies that are under way.
    }], "meet">,
    EmitsSynchronisation<[{
      From here on the warp has this priority, from 0 to 3: those of a higher one issue first. Asked of
      chips alone whose record says that warps have priorities.
    }], "setPriority", (ins "int64_t":$level), "void", [{ return; }]>,
    EmitsSynchronisation<[{
      No instruction moves from the one side of it to the other, in whatever schedules them: code
      generator or assembler.
    }], "orderSchedule">,

    AsksWhether<[{
      Whether code generators can be told in which order the instructions between two barriers come.
    }], "ordersInstructions">,
    EmitsIfThere<[{
      The next so many instructions of a kind come next, of a list of them by a number.
    }], "orderInstructions", (ins "::kiln::tile::InstructionKind":$kind, "int64_t":$count,
                                  "int64_t":$pipeline)>,

    // Groups of warps.
    InterfaceMethod<[{
      How many groups of warps can have a barrier of their own, numbered from 1 on: none where all
      warps share the only one, and groups meet at barriers in shared memory.
    }], "int64_t", "getGroupBarriers", (ins), [{}], [{ return 0; }]>,
    EmitsIfThere<"The threads of a group meet; its number is an i32.", "groupBarrier",
        (ins "::mlir::Value":$number, "int64_t":$threads)>,
    EmitsIfThere<[{
      Leaves each thread of the group so many registers of the `before` it has, where the chip's
      record says that groups can.
    }],
        "setRegisters", (ins "int64_t":$before, "int64_t":$after)>,

    // Barriers in shared memory, which count arrivals, and copies of threads among them: channels
    // between roles are made of these. A phase of a barrier ends when so many have arrived; its
    // first phase is 0. Who uses one says how many arrivals a phase awaits, as who made it did.
    EmitsSynchronisation<"A fresh barrier of so many arrivals a phase.", "initBarrier",
        (ins "::mlir::Value":$barrier, "int64_t":$arrivals)>,
    EmitsSynchronisation<"After all of them are made: engines see them too, where there are any.",
        "publishBarriers">,
    EmitsSynchronisation<"Arrives, by one lane for its warp: what the warp did is done.", "arrive",
        (ins "::mlir::Value":$barrier, "int64_t":$arrivals)>,
    EmitsSynchronisation<[{
      Holds the phase up until all that this thread has started to copy into shared memory itself is
      there: the thread goes on where copies tell of their end themselves, and waits where they do
      not. It does not count among the arrivals.
    }], "awaitCopies", (ins "::mlir::Value":$barrier)>,
    EmitsSynchronisation<[{
      Where barriers of groups of warps order shared memory alone: what this thread did in global
      memory, by itself or by copies, is done, and what others of the block did, who told of it, it
      sees.
    }], "fenceGlobal", (ins), "void", [{ return; }]>,
    EmitsIfThere<[{
      Arrives, and gives the parity (i32) of the phase that awaited it. Asked of chips alone whose
      groups of warps have no other barriers.
    }],
        "arriveInPhase", (ins "::mlir::Value":$barrier, "int64_t":$arrivals), "::mlir::Value">,
    EmitsSynchronisation<[{
      Until the phase of this parity (i32) has ended; of a fresh barrier, that of parity 1 has. With
      `ofCluster` other programs of the cluster arrive at it, too.
    }], "waitBarrier", (ins "::mlir::Value":$barrier, "::mlir::Value":$parity,
                            "int64_t":$arrivals, "bool":$ofCluster)>,
    EmitsSynchronisation<[{
      The lanes of a warp wait for one another; what each of them did lies before what any does
      next.
    }], "meetLanes">,

    // Engines that work beside the warps.
    AsksWhether<[{
      Whether these barriers count bytes, too, and engines copy and multiply beside the warps: a
      phase ends when all bytes that the barrier was told of have come as well.
    }], "hasByteBarriers">,
    EmitsIfThere<"Arrives and announces bytes that engines will bring.", "arriveExpecting",
        (ins "::mlir::Value":$barrier, "int64_t":$bytes)>,
    EmitsIfThere<"What this thread wrote to shared memory, engines see.", "publishShared">,
    EmitsIfThere<"What this thread wrote to global memory, engines see.", "publishGlobal">,
    InterfaceMethod<[{
      The type of a parameter that holds a map of a view; its attribute is `tile.tensor_map`, from
      which the conversion to LLVM makes those of a parameter by value.
    }], "::mlir::Type", "getMapType", (ins "::mlir::MLIRContext *":$context), [{}],
        [{ llvm_unreachable("asked of a chip that has no such thing"); }]>,
    EmitsIfThere<"Asks for a map before a copy does.", "prefetchMap", (ins "::mlir::Value":$map)>,
    EmitsIfThere<"Ends what this thread's copies out, started since the last call, are counted as.",
        "commitStores">,
    EmitsIfThere<[{
      Until at most so many of those still read shared memory, or, with `done`, write at all.
    }], "waitStores", (ins "int64_t":$inFlight, "bool":$done)>,
    EmitsIfThere<[{
      Until at most so many of the dots that this group started are in flight. The values are those
      of `registers`, held until then.
    }], "waitDots", (ins "int64_t":$inFlight, "::mlir::ValueRange":$registers),
        "::llvm::SmallVector<::mlir::Value>">,

    // Tensor memory, of chips whose products are accumulated there.
    InterfaceMethod<"What is set aside for so many bytes of accumulators.",
        "int64_t", "getTensorBytes", (ins "int64_t":$bytes), [{}],
        [{ llvm_unreachable("asked of a chip that has no tensor memory"); }]>,
    InterfaceMethod<"The bytes of one column of tensor memory; 0 if the chip has none.",
        "int64_t", "getTensorColumnBytes", (ins), [{}], [{ return 0; }]>,
    EmitsIfThere<[{
      The lanes of one warp set so many bytes aside and write the address (i32) to shared memory,
      until they end that and, later, give back what they have. With `ofPair` a warp of each program
      of a pair does it together with the other, and both have the same address.
    }], "allocTensor", (ins "::mlir::Value":$shared, "int64_t":$bytes, "bool":$ofPair)>,
    EmitsIfThere<"Ends that.", "endTensorAllocs", (ins "bool":$ofPair)>,
    EmitsIfThere<"Gives it back.", "freeTensor",
        (ins "::mlir::Value":$address, "int64_t":$bytes, "bool":$ofPair)>,
    EmitsIfThere<"The address of a slot (i32) of so many bytes.", "getTensorSlot",
        (ins "::mlir::Value":$address, "::mlir::Value":$slot, "int64_t":$bytes), "::mlir::Value">,
    EmitsIfThere<[{
      What this thread did in tensor memory lies before what threads do there that it tells of it
      next.
    }], "publishTensor">,
    EmitsIfThere<"What this thread does there next lies behind that which it was told of.",
        "observeTensor">,
    EmitsIfThere<[{
      Arrives at a barrier once all dots have ended that this thread has started into tensor memory;
      with a mask (i16), at that of each program of the cluster whose bit is set. With `ofPair` they are
      dots of two programs.
    }], "commitDots", (ins "::mlir::Value":$barrier, "::mlir::Value":$mask, "bool":$ofPair)>,

    // Launches.
    AsksWhether<"Whether programs run side by side in clusters.", "hasClusters">,
    EmitsIfThere<"All threads of all programs of the cluster meet.", "meetCluster">,
    EmitsIfThere<"The program's number in its cluster (i32).", "getNumberInCluster", (ins),
                 "::mlir::Value">,
    EmitsIfThere<[{
      Where this barrier lies in the shared memory of a program of the cluster, by its number there
      (i32), for engines to count at.
    }], "getBarrierOf", (ins "::mlir::Value":$barrier, "::mlir::Value":$program), "::mlir::Value">,
    EmitsIfThere<[{
      Arrives at the barrier that lies where this one does in the shared memory of a program of the
      cluster, by its number there (i32). That the thread's reads are done by then is all that the
      program learns; with `publishes` it sees what the thread has done, too.
    }], "arriveAt", (ins "::mlir::Value":$barrier, "::mlir::Value":$program, "bool":$publishes)>,
    AsksWhether<"Whether a kernel can begin before what precedes it has ended.",
        "overlapsLaunches">,
    EmitsIfThere<[{
      Lets what follows on the stream begin, once all programs have come here or ended.
    }], "launchDependents">,
    EmitsIfThere<[{
      Until all that precedes on the stream has ended and its memory can be read.
    }], "waitDependencies">,
  ];
}

#endif // KILN_TARGET_COMMON_SYNCHRONISATION_TD
