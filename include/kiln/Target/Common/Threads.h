// From tiles with layouts to the program of one thread, for targets whose programs are run by
// warps of threads.
#ifndef KILN_TARGET_COMMON_THREADS_H
#define KILN_TARGET_COMMON_THREADS_H

#include "kiln/Binary/DeviceCode.h"
#include "kiln/Dialect/Tile/IR/Decisions.h"
#include "kiln/Dialect/Tile/IR/Marks.h"
#include "kiln/Dialect/Tile/IR/Tile.h"
#include "kiln/Target/TargetInterface.h"
#include "mlir/Pass/Pass.h"

namespace kiln {

using tile::kClusterAttrName;
using tile::kOrdersGlobalAttrName;
using tile::kOverlapAttrName;
using tile::kSharedBytesAttrName;
using tile::kSharedOffsetAttrName;
using tile::kTensorMapAttrName;
using tile::kThreadsAttrName;
using tile::kTrapsAttrName;
/// The global that stands for a program's shared memory.
inline constexpr llvm::StringLiteral kSharedSymbol = "kiln_shared";
/// The address spaces of global and of shared memory, on every target that has both.
inline constexpr unsigned kGlobalSpace = 1;
inline constexpr unsigned kSharedSpace = 3;
/// Who observes the order of an atomic access: a program, a cluster, the device, the system. The
/// conversion to the LLVM dialect says it as the target does.
inline constexpr llvm::StringLiteral kScopeNames[] = {"program", "cluster", "device", "system"};

/// Why the lowering to threads has no way to lower this op of the source language; none if it
/// has. Targets add what they refuse themselves.
std::optional<std::string> whyUnsupportedByThreads(mlir::Operation *op);

/// Whether such an op is lowered through others, rather than to what the chips have for it.
bool isEmulatedByThreads(mlir::Operation *op, TargetInterface target);

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "kiln/Target/Common/ThreadPasses.h.inc"

/// What the driver of a device loads.
enum class DeviceBinary {
  Text,        ///< the assembly, which the driver assembles
  SharedObject ///< an object linked here
};

/// Translates a module of the LLVM dialect to what `request` asks for. The code generator must
/// have been initialised.
mlir::FailureOr<TargetCode> emitDeviceCode(mlir::ModuleOp module, TargetInterface target,
                                           DeviceMachine machine, DeviceBinary form,
                                           const EmitRequest &request);

/// Registers as vectors and as their elements. What goes back and forth between the two, and
/// between types of the same bits, leaves nothing behind: each looks through the others.
mlir::Value elementAt(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value vector, int64_t i);
mlir::Value makeVector(mlir::OpBuilder &builder, mlir::Location loc,
                       llvm::ArrayRef<mlir::Value> elements);
/// Elements of a byte or more, low bits first.
mlir::Value castVector(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value vector,
                       mlir::Type element);

/// A vector of registers, read as words of 32 bits; elements below a byte are packed, low bits
/// first.
mlir::Value toWords(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value registers);

/// Registers those passes, once however many targets call.
void registerThreadStagePasses();

} // namespace kiln

#endif // KILN_TARGET_COMMON_THREADS_H
