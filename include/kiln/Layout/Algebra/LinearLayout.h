// Linear layouts: which hardware place holds which element of a tensor. Pure algebra, no IR.
#ifndef KILN_LAYOUT_ALGEBRA_LINEARLAYOUT_H
#define KILN_LAYOUT_ALGEBRA_LINEARLAYOUT_H

#include "kiln/Layout/Algebra/F2Matrix.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace kiln {

/// A linear map over F2 from named places to the coordinates of a tensor.
///
/// A place is a tuple such as (register 3, lane 17, warp 1); each of its parts has a power of
/// two of values, so that a place is a string of bits. A layout says which element is there. It
/// is *linear*: element(p xor q) = element(p) xor element(q). So it is known from the elements
/// at the places with a single bit set, the *bases*, and everything asked of it is linear
/// algebra on at most 64 bits. (Zhou et al., "Linear Layouts: Robust Code Generation of
/// Efficient Tensor Computation Using F2", arXiv 2505.23819.)
///
/// An example, for an 8x4 tensor on 4 lanes with 8 registers each:
///
///     register = [[0,1],[0,2],[4,0]]   lane = [[1,0],[2,0]]
///
/// Register 1 of lane 0 holds element (0,1), register 4 holds (4,0), lane 2 holds row 2; so
/// register 5 of lane 3 holds (0,1) xor (4,0) xor (1,0) xor (2,0) = (7,1).
///
/// - A basis of zeros says that its bit makes no difference: both halves hold the same elements
///   (a *broadcast*). `freeVariables` finds these, and bits that repeat what others said.
/// - A layout may hold every element once (invertible), several times (surjective), or not all
///   (then it describes a part, such as one instruction's fragment).
/// - `a * b` stacks: bits of `b` are put above those of `a`, in places and in elements. Blocked
///   layouts are products of one-dimensional identities.
/// - To convert from layout S to layout D, ask for each place of D which place of S holds the
///   same element: `D.invertAndCompose(S)`.
///
/// Elements may also be addresses: a shared buffer's layout maps `offset` to coordinates, and
/// its inverse maps coordinates to offsets, swizzle included.
///
/// **Extents that are no power of two.** A layout of a coordinate of 192 values is one of 256, of
/// which the last places are not there. So it must be known which these are: 192 is three times 64,
/// and the bits from 64 up, a number from 0 to 2, must be the highest bits of one part of a place,
/// and no other basis may have them. Such a part is *cut*: it has three quarters of the values that
/// its bits would give.
///
///     register = [[0,1],[0,2],[0,4],[0,8]]   lane = [[1,0],[2,0]]   -> [4, 12]
///
/// has 12 registers, not 16. All algebra is that of the extents grown to powers of two, and holds
/// for the elements that are there, as places that are cut off hold others alone. `isExact` says
/// whether a layout is of this kind, and `getInSize` counts what is there.
class LinearLayout {
public:
  using Basis = llvm::SmallVector<int64_t, 4>;

  /// A part of a place: its name, and for each of its bits, low first, the element at it.
  struct InDim {
    std::string name;
    llvm::SmallVector<Basis> bases;
    bool operator==(const InDim &other) const { return name == other.name && bases == other.bases; }
  };
  /// A coordinate of an element: its name, and how many values it has.
  struct OutDim {
    std::string name;
    int64_t size;
    bool operator==(const OutDim &other) const { return name == other.name && size == other.size; }
  };

  /// Maps nothing to the one element of a tensor of rank 0.
  LinearLayout() = default;
  /// Checks what it is given; on failure says why in `error`.
  static std::optional<LinearLayout> create(llvm::ArrayRef<InDim> ins, llvm::ArrayRef<OutDim> outs,
                                            std::string *error = nullptr);
  /// `size` places hold elements 0 to size - 1.
  static LinearLayout identity(int64_t size, llvm::StringRef in, llvm::StringRef out);
  /// `size` places all hold element 0 of a coordinate with one value.
  static LinearLayout zeros(int64_t size, llvm::StringRef in, llvm::StringRef out);

  //===- Looking ----------------------------------------------------------------------------===//

  llvm::ArrayRef<InDim> getIns() const { return ins; }
  llvm::ArrayRef<OutDim> getOuts() const { return outs; }
  /// The bases of a part; none if the layout does not have it.
  llvm::ArrayRef<Basis> getBases(llvm::StringRef in) const;
  bool hasIn(llvm::StringRef in) const;
  int getOutIndex(llvm::StringRef out) const;
  unsigned getInBits(llvm::StringRef in) const { return getBases(in).size(); }
  /// The values of a part that are there: as many as its bits give, or fewer if it is cut.
  int64_t getInSize(llvm::StringRef in) const;
  /// Whether a place is not cut off: one value for each part, in order.
  bool isThere(llvm::ArrayRef<int64_t> place) const;
  /// Whether each extent that is no power of two cuts one part: no place holds an element outside.
  bool isExact() const;
  /// The same places with each cut part's highest bits, those that it is cut by, taken away, and of
  /// these extents only what is left. A layout without any is returned as it is.
  LinearLayout dropCuts() const;
  unsigned getTotalInBits() const;
  unsigned getTotalOutBits() const;
  llvm::SmallVector<int64_t> getShape() const;
  llvm::SmallVector<std::string> getInNames() const;
  llvm::SmallVector<std::string> getOutNames() const;

  /// The element at a place: one value for each part, in order.
  Basis apply(llvm::ArrayRef<int64_t> place) const;
  /// The element at the place whose other parts are zero.
  Basis applyTo(llvm::StringRef in, int64_t value) const;
  /// Bits of places (the first part lowest) to bits of elements (the last coordinate lowest, so
  /// that they read as a row-major index, in extents that are powers of two).
  F2Matrix getMatrix() const;
  int64_t flatten(llvm::ArrayRef<int64_t> element) const;
  Basis unflatten(int64_t flat) const;
  int64_t flattenPlace(llvm::ArrayRef<int64_t> place) const;
  Basis unflattenPlace(int64_t flat) const;

  bool isInjective() const { return getMatrix().rank() == getTotalInBits(); }
  bool isSurjective() const { return getMatrix().rank() == getTotalOutBits(); }
  bool isInvertible() const { return isInjective() && isSurjective(); }
  /// For each part, the bits that may be zero without losing an element. Of bits that repeat one
  /// another the later ones are free.
  llvm::SmallVector<int64_t> freeVariables() const;
  /// A basis of the places that hold element 0.
  llvm::SmallVector<Basis> kernel() const;
  /// A basis of the elements that are held.
  llvm::SmallVector<Basis> image() const;
  /// How many consecutive values of `in`, from 0 on, hold consecutive elements along `out`.
  int64_t getContiguity(llvm::StringRef in, llvm::StringRef out) const;
  /// Coordinates from the one that `in` walks first to the one it walks last.
  llvm::SmallVector<unsigned> getOrder(llvm::StringRef in) const;

  //===- Making new ones --------------------------------------------------------------------===//

  /// First this, then `outer`, whose parts are this layout's coordinates by name.
  LinearLayout compose(const LinearLayout &outer) const;
  /// From elements to places. Needs an invertible layout.
  std::optional<LinearLayout> invert() const;
  /// From elements to one of their places (free bits zero). Needs a surjective layout.
  std::optional<LinearLayout> pseudoInvert() const;
  /// For each place here, a place of `other` with the same element; where possible the place
  /// that agrees in the parts that both have. None if `other` lacks an element held here.
  std::optional<LinearLayout> invertAndCompose(const LinearLayout &other) const;

  /// Stacks `upper` above this.
  LinearLayout operator*(const LinearLayout &upper) const;
  /// The layout q with lower * q == this, if there is one.
  std::optional<LinearLayout> divideLeft(const LinearLayout &lower) const;
  /// The layout q with q * upper == this, if there is one.
  std::optional<LinearLayout> divideRight(const LinearLayout &upper) const;

  /// Only these parts and coordinates; the rest is zero, or dropped.
  LinearLayout sublayout(llvm::ArrayRef<llvm::StringRef> keepIns,
                         llvm::ArrayRef<llvm::StringRef> keepOuts) const;
  /// Drops the bits of `in` that hold no element of their own because their basis is zero.
  LinearLayout removeZeroBases(llvm::StringRef in) const;
  LinearLayout renameIn(llvm::StringRef from, llvm::StringRef to) const;
  /// The coordinates in another order: coordinate i is this one's `permutation[i]`.
  LinearLayout transposeOuts(llvm::ArrayRef<unsigned> permutation) const;
  /// The same row-major elements under another shape, with coordinates dim0, dim1, ….
  LinearLayout reshapeOuts(llvm::ArrayRef<int64_t> shape) const;

  bool operator==(const LinearLayout &other) const {
    return ins == other.ins && outs == other.outs;
  }
  bool operator!=(const LinearLayout &other) const { return !(*this == other); }

  //===- Reading and writing ----------------------------------------------------------------===//

  /// `register = [[0,1],[8,0]], lane = [[1,0]] -> [16, 2]`.
  void print(llvm::raw_ostream &os) const;
  std::string str() const;
  /// Reads what `print` writes; coordinates are called dim0, dim1, ….
  static std::optional<LinearLayout> parse(llvm::StringRef text, std::string *error = nullptr);
  /// A table of the first two coordinates with the places that hold each element, such as
  /// `lane3:1` (register 1 of lane 3). Other coordinates are zero.
  std::string picture() const;

private:
  llvm::SmallVector<InDim, 4> ins;
  llvm::SmallVector<OutDim, 4> outs;
};

/// "dim0", "dim1", …: how the coordinates of a tensor are called.
std::string getDimName(unsigned index);
llvm::SmallVector<LinearLayout::OutDim> getTensorOuts(llvm::ArrayRef<int64_t> shape);

} // namespace kiln

#endif // KILN_LAYOUT_ALGEBRA_LINEARLAYOUT_H
