// The stages a kernel goes through, in order. A stage's name is that of the IR it ends with.
#ifndef KILN_TARGET_STAGE_H
#define KILN_TARGET_STAGE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace kiln {

enum class Stage { Tile, Layout, Schedule, Target, LLVM, LLVMIR, Asm, Binary };

/// All stages, in order.
llvm::ArrayRef<Stage> getStages();
/// "tile", "layout", "schedule", "target", "llvm", "llvmir", "asm", "binary".
llvm::StringRef stringify(Stage stage);
std::optional<Stage> parseStage(llvm::StringRef name);

} // namespace kiln

#endif // KILN_TARGET_STAGE_H
