// What AMD's instructions do that LLVM's descriptions of them do not say: the only place that reads
// mnemonics.
//
// LLVM tells of each instruction which operands it has, which registers it uses beside them,
// whether it loads, stores, branches or ends, and of what format it is. It does not tell, in what
// it installs, which counter an `s_wait_*` names, which half of a barrier an instruction is,
// whether care for caches is counted, what integer instructions compute, and how many bytes of
// memory are reached where no run of registers says it (LLVM itself learns that from the IR). So
// these stand here. An instruction whose effect neither the descriptions nor this table tell is an
// error (DescribeInstruction.cpp), never one without effect; one whose number is not known may give
// any. ISATest holds every mnemonic that Kiln was seen to emit against it (EmittedTest.cpp).
#ifndef KILN_LIB_TARGET_AMDGPU_ISA_INSTRUCTIONTABLE_H
#define KILN_LIB_TARGET_AMDGPU_ISA_INSTRUCTIONTABLE_H

#include "kiln/Target/AMDGPU/ISA.h"
#include "llvm/ADT/StringRef.h"

namespace kiln::amdgcn {

/// The bits of MCInstrDesc::TSFlags that say of what format an instruction is and what counts it.
/// LLVM's own insertion of waits goes by them; their names are in a header that it does not install
/// (SIDefines.h), so they are repeated here, and ParseISATest holds each to an instruction.
enum Flag : uint64_t {
  kSALU = UINT64_C(1) << 0,
  kVALU = UINT64_C(1) << 1,
  kSOPP = UINT64_C(1) << 6, ///< scalar instructions that compute nothing
  kSDWA = UINT64_C(1) << 14,
  kDPP = UINT64_C(1) << 15,
  kSMEM = UINT64_C(1) << 19,
  kFlat = UINT64_C(1) << 24,
  kLDS = UINT64_C(1) << 25,
  kCountsVector = UINT64_C(1) << 32,
  kCountsTensor = UINT64_C(1) << 38,
  kCountsAsync = UINT64_C(1) << 41,
  kFlatGlobal = UINT64_C(1) << 51,
  kMFMA = UINT64_C(1) << 54,
  kFlatScratch = UINT64_C(1) << 56,
  kWMMA = UINT64_C(1) << 59,
  kSWMMAC = UINT64_C(1) << 63,
};

/// Counters as a set, one bit each.
using Counters = unsigned;

/// What is known of an instruction by its name.
struct Known {
  llvm::StringLiteral mnemonic;
  Kind kind = Kind::Other;
  Operation operation = Operation::None;
  /// Of a wait: the counters that its number is for, or, where there are others, its low byte; and
  /// those that the rest is for.
  Counters counters = 0, upperCounters = 0;
  /// Of a wait: one number for all counters, whose parts LLVM's printer knows.
  bool isPacked = false;
  /// What no compiler emits and no proof follows.
  bool isRefused = false;
};

/// Null for what LLVM's description is to tell.
const Known *findKnown(llvm::StringRef mnemonic);
/// What an instruction computes; none if that is of no interest or not known. Of the second half of
/// two in one, too.
Operation getOperation(llvm::StringRef mnemonic);
/// Of one of 16 bits, which writes half of a register, or takes half of one: what it computes of
/// these.
Operation getNarrowOperation(llvm::StringRef mnemonic);
/// The words that say what a vector or scalar instruction computes, whichever unit does; of others
/// all of them.
llvm::StringRef getWords(llvm::StringRef mnemonic);
/// What its numbers are.
NumberType getNumberType(llvm::StringRef mnemonic);
/// Of a comparison, in which relations it holds.
std::optional<unsigned> getRelations(llvm::StringRef mnemonic);
/// The counters of one part of an `s_waitcnt` as it is printed: "vmcnt".
llvm::Expected<Counters> getCounters(llvm::StringRef name);
/// The bytes of one place that a lane accesses; none if the name does not say so.
std::optional<unsigned> getMemoryBytes(llvm::StringRef mnemonic);
/// How many elements apart the offsets of an access to two places count.
unsigned getOffsetStride(llvm::StringRef mnemonic);

} // namespace kiln::amdgcn

#endif // KILN_LIB_TARGET_AMDGPU_ISA_INSTRUCTIONTABLE_H
