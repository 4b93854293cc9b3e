// What a chip's record holds. A chip is one record of `Chip`, in the room of its target
// (include/kiln/Target/<X>/Chips.td): the compiler's tables, the lists of chips, the tests and the
// page of the reference are made of it. tools/kiln-tblgen writes it as C++ (kiln/Target/Chip.h).
#ifndef KILN_TARGET_CHIP_TD
#define KILN_TARGET_CHIP_TD

//===- Numbers with their sources ------------------------------------------------------------===//

// A number that a record may state; the record's name is that of the field in C++.
class Quantity<string unitOf, string meaning> {
  string unit = unitOf;
  string summary = meaning;
}

// One number. It is whole: what was measured is rounded, and of a range it is the middle.
class Is<Quantity of, int number> {
  Quantity quantity = of;
  int value = number;
}

// Numbers that one document or measurement has. What nobody has measured is left out.
class From<string place, list<Is> found> {
  string source = place;
  list<Is> numbers = found;
}

// The machine.
def cores : Quantity<"", "multiprocessors, compute units, or pairs of them that run one block">;
def clock : Quantity<"MHz", "the highest clock of the cores">;
def matrixClock : Quantity<"MHz", "the clock of the vendor's peaks of matrix products, if lower">;
def chiplets : Quantity<"", "dies, each with a second-level cache">;
def clusterBlocks : Quantity<"", "blocks of a cluster that every launch may have">;
def maxClusterBlocks : Quantity<"", "blocks of a cluster that a launch may opt in to">;

// What a core holds, and a block may ask for.
def threadsPerCore : Quantity<"", "threads that a core holds">;
def warpsPerCore : Quantity<"", "warps that a core holds">;
def blocksPerCore : Quantity<"", "blocks that a core holds">;
def sharedPerCore : Quantity<"bytes", "shared memory of a core">;
def tensorMemory : Quantity<"bytes", "memory of a core that matrix products accumulate in">;
def namedBarriers : Quantity<"", "barriers of a block that have a number">;
def barrierArrivals : Quantity<"", "arrivals that a phase of a barrier in shared memory awaits">;
def barrierBytes : Quantity<"", "bytes that a phase of a barrier in shared memory awaits">;

// Rates of one core, in results of a lane; a packed instruction has several. Matrix instructions
// sum narrow floats in f32.
def issue : Quantity<"a cycle", "instructions of a warp that are issued">;
def matrixF64 : Quantity<"a cycle", "multiply-adds of f64 by matrix instructions">;
def matrixF32 : Quantity<"a cycle", "multiply-adds of f32 by matrix instructions">;
def matrixTF32 : Quantity<"a cycle", "multiply-adds of tf32 by matrix instructions">;
def matrixF16 : Quantity<"a cycle", "multiply-adds of f16 or bf16 by matrix instructions">;
def matrixF8 : Quantity<"a cycle", "multiply-adds of 8-bit floats by matrix instructions">;
def matrixF6 : Quantity<"a cycle", "multiply-adds of 6-bit floats by matrix instructions">;
def matrixF4 : Quantity<"a cycle", "multiply-adds of 4-bit floats by matrix instructions">;
def matrixI8 : Quantity<"a cycle", "multiply-adds of 8-bit integers by matrix instructions">;
def matrixI4 : Quantity<"a cycle", "multiply-adds of 4-bit integers by matrix instructions">;
// Where matrix instructions of one warp are slower than those of several.
def warpMatrixTF32 : Quantity<"a cycle", "multiply-adds of tf32 by matrix instructions of a warp">;
def warpMatrixF16 : Quantity<"a cycle", "multiply-adds of f16 or bf16 by those of a warp">;
def warpMatrixF8 : Quantity<"a cycle", "multiply-adds of 8-bit floats by those of a warp">;
def warpMatrixI8 : Quantity<"a cycle", "multiply-adds of 8-bit integers by those of a warp">;
def fmaF64 : Quantity<"a cycle", "multiply-adds of f64">;
def fmaF32 : Quantity<"a cycle", "multiply-adds of f32">;
def fmaF16 : Quantity<"a cycle", "multiply-adds of f16">;
def addI32 : Quantity<"a cycle", "sums of integers of 32 bits">;
def multiplyI32 : Quantity<"a cycle", "products of integers of 32 bits">;
def logicI32 : Quantity<"a cycle", "and, or, shift of 32 bits">;
def exp2s : Quantity<"a cycle", "exponentials to base 2 of f32">;
def specials : Quantity<"a cycle", "reciprocals, roots, logarithms and sines of f32">;
def conversions : Quantity<"a cycle", "conversions of f32 to f16 or bf16">;
def shuffles : Quantity<"a cycle", "lanes that take another's register">;
def sharedBandwidth : Quantity<"bytes a cycle", "reads of shared memory by one core">;
def l1Bandwidth : Quantity<"bytes a cycle", "reads that one core's first-level cache answers">;

// Memory of the whole device.
def l1Bytes : Quantity<"bytes", "first-level cache of a core">;
def l2Bytes : Quantity<"bytes", "second-level caches of all chiplets together">;
def l2Bandwidth : Quantity<"GB/s", "reads that second-level caches answer, measured">;
def engineBandwidth : Quantity<"GB/s", "reads by the copy engine that second-level caches answer">;
def splitBandwidth : Quantity<"GB/s", "the same of rows that begin amid a sector">;
def lastLevelBytes : Quantity<"bytes", "the cache before memory that chiplets share">;
def lastLevelBandwidth : Quantity<"GB/s", "reads that this cache answers, as the vendor states">;
def memoryBandwidth : Quantity<"GB/s", "global memory, as the vendor states">;
def measuredBandwidth : Quantity<"GB/s", "global memory, reached">;

// How long one thing takes that nothing overlaps.
def fmaLatency : Quantity<"cycles", "a multiply-add of f32">;
def exp2Latency : Quantity<"cycles", "an exponential to base 2 of f32">;
def shuffleLatency : Quantity<"cycles", "a register from another lane">;
def matrixLatency : Quantity<"cycles", "the shortest matrix instruction of f16, to its result">;
def warpMatrixLatency : Quantity<"cycles", "a matrix instruction of a warp of f16, to its result">;
def matrixWaitCost : Quantity<"cycles", "a fence, commit and wait around a matrix instruction">;
def sharedLatency : Quantity<"cycles", "a load from shared memory">;
def fragmentLatency : Quantity<"cycles", "a load of four matrices of 8 rows from shared memory">;
def remoteSharedLatency : Quantity<"cycles",
                                   "a load from the shared memory of a cluster's other block">;
def l1Latency : Quantity<"cycles", "a load that the first-level cache answers">;
def l2Latency : Quantity<"cycles",
                         "a load that the near part of the second-level cache answers">;
def l2FarLatency : Quantity<"cycles", "a load that its far part answers">;
def lastLevelLatency : Quantity<"cycles", "a load that the cache before memory answers">;
def memoryLatency : Quantity<"cycles", "a load from global memory">;
def asyncLatency : Quantity<"cycles", "a thread's own copy past its registers, from that cache">;
def engineLatency : Quantity<"cycles", "a copy by the engine from the second-level cache">;

// What it costs to wait for one another.
def barrierLatency : Quantity<"cycles", "a block's barrier, but for what each warp adds">;
def barrierWarpCost : Quantity<"cycles", "what each warp adds to a block's barrier">;
def namedBarrierLatency : Quantity<"cycles", "a barrier of one warp that has a number">;
def arriveCost : Quantity<"cycles", "an arrival at a barrier in shared memory">;
def barrierRoundTrip : Quantity<"cycles", "an arrival at a barrier in shared memory and the wait">;
def handOverLatency : Quantity<"cycles",
                               "from an arrival there to the end of another warp's wait">;
def clusterBarrierLatency : Quantity<"cycles", "a cluster's barrier that orders memory">;
def proxyFenceCost : Quantity<"cycles", "a fence between a thread's stores and an engine's reads">;
def deviceFenceCost : Quantity<"cycles", "a fence for the whole device">;
def resizeCost : Quantity<"cycles", "warps giving registers away or taking some">;

// What the vendor states of the whole device without sparsity, products of narrow floats summed in
// f32; the tests hold it to the product of cores, clock and rate.
def peakFmaF32 : Quantity<"GFLOP/s", "the vendor's peak of f32">;
def peakMatrixF64 : Quantity<"GFLOP/s", "the vendor's peak of f64 by matrix instructions">;
def peakMatrixTF32 : Quantity<"GFLOP/s", "the vendor's peak of tf32 by matrix instructions">;
def peakMatrixF16 : Quantity<"GFLOP/s", "the vendor's peak of f16 by matrix instructions">;
def peakMatrixF8 : Quantity<"GFLOP/s", "the vendor's peak of 8-bit floats by matrix instructions">;

//===- The record ----------------------------------------------------------------------------===//

// How shared memory serves one access of a warp: banks, and a basis of the lanes that are served
// together (`kiln::SharedPhase`).
class SharedPhase<int banksOf, list<int> lanesOf> {
  int banks = banksOf;
  list<int> lanes = lanesOf;
}

// By what each lane asks for: at most 4 bytes, 8, or 16.
class SharedPhases<list<SharedPhase> readsOf, list<SharedPhase> writesOf> {
  list<SharedPhase> reads = readsOf;
  list<SharedPhase> writes = writesOf;
}

// 32 banks that serve lanes in their order, 128 bytes a cycle.
defvar inOrder = [SharedPhase<32, [1, 2, 4, 8, 16]>, SharedPhase<32, [1, 2, 4, 8]>,
                  SharedPhase<32, [1, 2, 4]>];

// How the warps of a block hand registers to one another: what a thread can have, in steps, and how
// many warps do it together. A step of zero: they cannot.
class RoleRegisters<int stepOf, int leastOf, int mostOf, int warpsOf> {
  int step = stepOf;
  int least = leastOf;
  int most = mostOf;
  int warps = warpsOf;
}

// A field without a value here must have one in each record. Target's classes add fields of their
// own; each is one of the target's `ChipRecord` too.
class Chip<string chip> {
  // As LLVM's code generator spells it; no two targets have chips of one name.
  string name = chip;
  // The product that the numbers are of, where several have the chip.
  string machine;
  // Where the limits below are from.
  string source;
  int warpSize;
  // The most of one block, and of one thread; a core's registers.
  int maxThreads;
  int registersPerThread;
  int registersPerCore;
  int sharedBytes;
  // Features for LLVM's code generator.
  string features = "";
  SharedPhases shared = SharedPhases<inOrder, inOrder>;
  // Its matrix instructions take subnormal f16 and bf16 for zero.
  bit flushesHalves = false;
  // The code generator's own waits tell no slots of a ring apart that are chosen at run time.
  bit knownSlots = false;
  // Its barrier waits for no access: each warp waits for its own in front of it, and the code
  // generator's own waits would end copies into shared memory, and forget what a loop's turn before
  // has written.
  bit bareBarriers = false;
  // Warps have priorities.
  bit priorities = false;
  RoleRegisters roleRegisters = RoleRegisters<0, 0, 0, 1>;
  list<From> figures;
  // What every chip of the target must state among its figures.
  list<Quantity> required = [cores, clock, warpsPerCore, threadsPerCore, sharedPerCore,
                             memoryBandwidth, l2Bytes];
}

#endif // KILN_TARGET_CHIP_TD
