// What is decided of a load, a store or a value beside the attributes that ops define.
#ifndef KILN_DIALECT_TILE_IR_ACCESSDECISIONS_H
#define KILN_DIALECT_TILE_IR_ACCESSDECISIONS_H

#include "llvm/ADT/StringRef.h"

namespace kiln::tile {

/// A unit: the tile crosses no row's end, so that what lies side by side in a row is in bounds
/// together or not at all. A row is where the view's stride is 1.
inline constexpr llvm::StringLiteral kWholeRowsAttrName = "tile.whole_rows";

/// An i64, of a tile of one row: the row may begin and end in the middle of a vector of 16 bytes,
/// and the tile is accessed by vectors all the same. Where one is not aligned when the kernel runs,
/// or lies in the row in part, its elements are accessed one by one. The tile is turned: in front
/// of the row are the elements that lie so many further on, which is the extent of the tile, or of
/// that of which it is a chunk.
inline constexpr llvm::StringLiteral kRaggedAttrName = "tile.ragged";

/// Of a load through registers into a ring: the stage at the end of whose trip the tile is written
/// to its slot. That of the load if it does not say; of a load that says it and no stage, 0 is
/// that.
inline constexpr llvm::StringLiteral kWriteStageAttrName = "tile.write_stage";

/// Of what makes an operand of products, where they read it: "registers" or "shared" memory. Of a
/// product, where its sum is: "registers" or "tensor_memory". Their atoms must have it there.
inline constexpr llvm::StringLiteral kResidencyAttrName = "tile.residency";

/// Of a product whose sum is in tensor memory, and of the wait for it: where its loop has the sum
/// from one trip to the next, "registers" or "tensor_memory". There it stays if the trip does no
/// more with it than to change it element by element in front of the product. Of a wait in a
/// condition that chooses the sum or a constant: where the condition hands it on.
inline constexpr llvm::StringLiteral kCarriedAttrName = "tile.carried";

/// Of a product whose sum is in tensor memory, and of the wait for it: in which columns its role
/// has the sum there, a number from 0 on. What has the same columns is in use at different times.
inline constexpr llvm::StringLiteral kColumnsAttrName = "tile.columns";

/// Of a product that reads its operand a from tensor memory, and of its start: in which columns its
/// role's warps write that. In those of a sum it is written over the last that they have fetched.
inline constexpr llvm::StringLiteral kOperandColumnsAttrName = "tile.operand_columns";

/// Of a store by an engine, and of the slices that are its boxes: how sums in tensor memory are
/// fetched of which it is made, "whole" or by "boxes", each as it is stored.
inline constexpr llvm::StringLiteral kFetchedAttrName = "tile.fetched";

/// Of a load of which nothing but boxes are used, as a store by an engine takes them: how many
/// boxes a thread holds at a time. So many are loaded where the load stands, each of the others
/// when as many in front of it have been used.
inline constexpr llvm::StringLiteral kHeldAttrName = "tile.held";

/// Of a conversion by which one role hands a tensor over, to conversions of other roles or to
/// products that read it from shared memory: the channel that carries it. Its slots are a buffer in
/// shared memory, or sums in tensor memory.
inline constexpr llvm::StringLiteral kHandedAttrName = "tile.handed";

/// Of a select of tensors in a loop, a boolean: whether it masks in those trips alone in which not
/// all elements pass.
inline constexpr llvm::StringLiteral kGuardedAttrName = "tile.guarded";

/// Of a product of rank 2, its extents as they are computed: rows, columns and the inner one, each
/// as it is or as the next power of two. Several inner ones, powers of two that add up to the
/// product's, cut it into products that follow one another. Without it all grow.
inline constexpr llvm::StringLiteral kExtentsAttrName = "tile.extents";

/// Of a gather or a scatter, [dimension, width]: as many neighbours along the tile's dimension,
/// from a multiple of as many on, are side by side in memory, aligned, and in bounds and chosen
/// together.
inline constexpr llvm::StringLiteral kRunAttrName = "tile.run";

} // namespace kiln::tile

#endif // KILN_DIALECT_TILE_IR_ACCESSDECISIONS_H
