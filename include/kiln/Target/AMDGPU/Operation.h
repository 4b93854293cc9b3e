// What instructions compute, as far as checks follow their numbers.
#ifndef KILN_TARGET_AMDGPU_OPERATION_H
#define KILN_TARGET_AMDGPU_OPERATION_H

namespace kiln::amdgcn {

/// What an instruction computes, or what else it is known by, where that matters to a proof. What
/// is none of these may give any number.
enum class Operation {
  None,
  Move,
  MoveWide,  ///< of 64 bits
  MoveShort, ///< of 16 bits with a sign, as all short forms
  MovePair,  ///< of either half of two pairs
  MoveIf,    ///< by the scalar unit's condition
  FirstLane, ///< the first of the lanes that are on
  Not,
  NotWide,
  Add,
  AddShort,
  AddWide,
  AddWithCarry,
  Add3,
  Subtract,
  SubtractReversed, ///< from the second operand
  SubtractWide,
  SubtractWithBorrow,
  SubtractWithBorrowReversed,
  Multiply,
  MultiplyShort,
  Multiply24,
  MultiplySigned24,
  MultiplyHigh,
  MultiplyHighSigned,
  MultiplyHigh24,
  MultiplyWide,
  MultiplyAdd,
  MultiplyAdd24,
  MultiplyAddSigned24,
  MultiplyAddWide,       ///< numbers of 32 bits to one of 64
  MultiplyAddWideSigned, ///< with signs
  And,
  AndWide,
  AndNot,
  AndNotWide,
  AndOr,
  Or,
  OrWide,
  OrNot,
  OrNotWide,
  Or3,
  Xor,
  XorWide,
  Xor3,
  XorAdd,
  NotAnd,
  NotAndWide,
  NotOr,
  NotOrWide,
  NotXor,
  NotXorWide,
  ByTable, ///< any function of three bits
  ShiftLeft,
  ShiftLeftReversed, ///< the amount first
  ShiftLeftWide,
  ShiftLeftWideReversed,
  ShiftRight,
  ShiftRightReversed,
  ShiftRightWide,
  ShiftRightWideReversed,
  ShiftRightSigned,
  ShiftRightSignedReversed,
  ShiftRightSignedWide,
  ShiftRightSignedWideReversed,
  ShiftLeftAdd,
  ShiftLeftAddWide,
  ShiftLeft1Add,
  ShiftLeft2Add,
  ShiftLeft3Add,
  ShiftLeft4Add,
  ShiftLeftOr,
  AddShiftLeft,
  ShiftBothRight, ///< of two words one behind the other
  ShiftBothRightByBytes,
  SetBit,
  ClearBit,
  IsBitClear, ///< comparisons by the scalar unit
  IsBitSet,
  ExtractBits,
  ExtractBitsSigned,
  ExtractBitsPacked,
  ExtractBitsSignedPacked,
  ExtractBitsWide,
  ExtractBitsSignedWide,
  InsertBits,
  MaskBits, ///< so many ones from a bit on
  CountOnes,
  CountOnesWide,
  CountOnesAdd,
  FindFirst, ///< the lowest bit that is one
  FindFirstWide,
  FindLast, ///< how many bits above the highest are zeros
  FindLastWide,
  ReverseBits,
  ExtendByte, ///< with its sign
  ExtendShort,
  Absolute,
  PackLow, ///< two halves of words in one
  PackLowHigh,
  PackHigh,
  PickBytes, ///< of two words, by a third
  Minimum,
  Maximum,
  Minimum3,
  Maximum3,
  Median3,
  CountLanesLow, ///< those in a mask in front of the lane
  CountLanesHigh,
  SelectLanes, ///< the second where a mask holds
  Select,      ///< one of them by the scalar unit's condition: the first where it holds
  SaveLanes,   ///< puts by which lanes are on, and turns some off
  SaveLanesAndNot,
  SaveLanesOr,
  WriteLane,
  ReadLane,
  // Numbers move between lanes without LDS: of 16 lanes, of such a row and the next one, between
  // the halves of a wave; and rows or halves of two registers change places.
  PermuteRow,
  PermuteAcrossRows,
  PermuteHalves,
  SwapRows,
  SwapHalves,
  TakeAddress, ///< of the next instruction
  ReadFromLane,
  WriteToLane,
  Exchange, ///< puts a word in place of one, or only in place of another one
  CompareExchange,
  CountRound, ///< counts a word up to a bound, then from zero again
  Sleep,
  Nothing,
  IsEqual, ///< comparisons of unsigned numbers by the scalar unit
  IsUnequal,
  IsLess,
  IsLessOrEqual,
  IsGreater,
  IsGreaterOrEqual,
  Compare, ///< all others
  // What integers are divided by.
  FloatFromUnsigned,
  FloatFromSigned,
  UnsignedFromFloat,
  SignedFromFloat,
  AddFloats,
  SubtractFloats,
  SubtractFloatsReversed,
  MultiplyFloats,
  MultiplyAddFloats,
  Reciprocal,
  Truncate,
  RoundDown,
  RoundUp,
  BranchIfNoLane, ///< by exec
  BranchIfAnyLane,
  BranchIfNoneMeet, ///< by vcc
  BranchIfAnyMeet,
  BranchIfNot, ///< by what a comparison gave
  BranchIf
};

/// Whether an instruction puts by which lanes are on, and changes that.
inline bool savesLanes(Operation operation) {
  return operation == Operation::SaveLanes || operation == Operation::SaveLanesAndNot ||
         operation == Operation::SaveLanesOr;
}

/// Whether numbers move between lanes by the registers of a wave.
inline bool permutesRows(Operation operation) {
  return operation >= Operation::PermuteRow && operation <= Operation::SwapHalves;
}

/// What an instruction's numbers are: 'u' without a sign, 'i' with one, 'f' floats, 'b' bits; zero
/// if its name does not say so.
struct NumberType {
  char kind = 0;
  unsigned bits = 0;
};

/// A comparison as the set of what two numbers may be to one another.
enum Relation : unsigned { kLess = 1, kEqual = 2, kGreater = 4, kUnordered = 8 };

} // namespace kiln::amdgcn

#endif // KILN_TARGET_AMDGPU_OPERATION_H
