// New layouts from old: composition, inverses, products, quotients and changes of shape.
#include "kiln/Layout/Algebra/LinearLayout.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/Support/MathExtras.h"

using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

namespace kiln {

LinearLayout LinearLayout::compose(const LinearLayout &outer) const {
  LinearLayout result;
  result.outs = outer.outs;
  SmallVector<int> source;
  for (const InDim &in : outer.ins)
    source.push_back(getOutIndex(in.name));
  for (const InDim &in : ins) {
    InDim composed{in.name, {}};
    for (const Basis &basis : in.bases)
      composed.bases.push_back(outer.apply(llvm::map_to_vector(
          source, [&](int index) { return index < 0 ? int64_t(0) : basis[index]; })));
    result.ins.push_back(composed);
  }
  return result;
}

std::optional<LinearLayout> LinearLayout::invert() const {
  if (!isInjective())
    return std::nullopt;
  return pseudoInvert();
}

std::optional<LinearLayout> LinearLayout::pseudoInvert() const {
  F2Matrix matrix = getMatrix();
  LinearLayout result;
  for (const InDim &in : ins)
    result.outs.push_back({in.name, getInSize(in.name)});
  for (auto [i, out] : llvm::enumerate(outs)) {
    InDim in{out.name, {}};
    for (int64_t value = 1; value < out.size; value *= 2) {
      Basis element(outs.size(), 0);
      element[i] = value;
      std::optional<uint64_t> place = matrix.solve(flatten(element));
      if (!place)
        return std::nullopt;
      in.bases.push_back(unflattenPlace(*place));
    }
    result.ins.push_back(in);
  }
  return result;
}

std::optional<LinearLayout> LinearLayout::invertAndCompose(const LinearLayout &other) const {
  // Solving picks one of the places that hold an element. The choice is steered by trying first
  // the place that keeps each shared part as it is; what is left is solved with the rest.
  F2Matrix matrix = other.getMatrix();
  LinearLayout result;
  for (const InDim &in : other.ins)
    result.outs.push_back({in.name, other.getInSize(in.name)});
  for (const InDim &in : ins) {
    InDim composed{in.name, {}};
    for (auto [bit, basis] : llvm::enumerate(in.bases)) {
      SmallVector<int64_t> same;
      for (const InDim &dim : other.ins)
        same.push_back(dim.name == in.name && bit < dim.bases.size() ? int64_t(1) << bit : 0);
      if (other.apply(same) == basis) {
        composed.bases.push_back(Basis(same.begin(), same.end()));
        continue;
      }
      std::optional<uint64_t> place = matrix.solve(other.flatten(basis));
      if (!place)
        return std::nullopt;
      composed.bases.push_back(other.unflattenPlace(*place));
    }
    result.ins.push_back(composed);
  }
  return result;
}

LinearLayout LinearLayout::operator*(const LinearLayout &upper) const {
  LinearLayout result = *this;
  for (const OutDim &out : upper.outs) {
    int index = getOutIndex(out.name);
    if (index >= 0) {
      result.outs[index].size *= out.size;
      continue;
    }
    result.outs.push_back(out);
    for (InDim &in : result.ins)
      for (Basis &basis : in.bases)
        basis.push_back(0);
  }
  for (const InDim &in : upper.ins) {
    auto *target = llvm::find_if(result.ins, [&](const InDim &dim) { return dim.name == in.name; });
    if (target == result.ins.end()) {
      result.ins.push_back({in.name, {}});
      target = &result.ins.back();
    }
    for (const Basis &basis : in.bases) {
      Basis shifted(result.outs.size(), 0);
      for (auto [value, out] : llvm::zip(basis, upper.outs)) {
        int here = getOutIndex(out.name);
        shifted[result.getOutIndex(out.name)] = value * (here < 0 ? 1 : outs[here].size);
      }
      target->bases.push_back(shifted);
    }
  }
  return result;
}

std::optional<LinearLayout> LinearLayout::divideLeft(const LinearLayout &lower) const {
  // What remains above `lower`; the product says whether it was a factor.
  LinearLayout result;
  for (const OutDim &out : outs) {
    int index = lower.getOutIndex(out.name);
    int64_t size = index < 0 ? 1 : lower.outs[index].size;
    if (out.size % size)
      return std::nullopt;
    result.outs.push_back({out.name, out.size / size});
  }
  for (const InDim &in : ins) {
    unsigned below = lower.getInBits(in.name);
    if (below > in.bases.size())
      return std::nullopt;
    InDim rest{in.name, {}};
    for (const Basis &basis : llvm::drop_begin(in.bases, below)) {
      Basis divided;
      for (auto [value, whole, part] : llvm::zip(basis, outs, result.outs)) {
        int64_t size = whole.size / part.size;
        if (value % size)
          return std::nullopt;
        divided.push_back(value / size);
      }
      rest.bases.push_back(divided);
    }
    result.ins.push_back(rest);
  }
  LinearLayout product = lower * result;
  if (product.sublayout(SmallVector<StringRef>(llvm::map_range(
                            ins, [](const InDim &in) { return StringRef(in.name); })),
                        SmallVector<StringRef>(llvm::map_range(
                            outs, [](const OutDim &out) { return StringRef(out.name); }))) != *this)
    return std::nullopt;
  return result;
}

std::optional<LinearLayout> LinearLayout::divideRight(const LinearLayout &upper) const {
  LinearLayout result;
  for (const OutDim &out : outs) {
    int index = upper.getOutIndex(out.name);
    int64_t size = index < 0 ? 1 : upper.outs[index].size;
    if (out.size % size)
      return std::nullopt;
    result.outs.push_back({out.name, out.size / size});
  }
  for (const InDim &in : ins) {
    unsigned above = upper.getInBits(in.name);
    if (above > in.bases.size())
      return std::nullopt;
    InDim rest{in.name, {}};
    for (const Basis &basis : llvm::drop_end(in.bases, above)) {
      for (auto [value, part] : llvm::zip(basis, result.outs))
        if (value >= part.size)
          return std::nullopt;
      rest.bases.push_back(basis);
    }
    result.ins.push_back(rest);
  }
  if (result * upper != *this)
    return std::nullopt;
  return result;
}

LinearLayout LinearLayout::sublayout(ArrayRef<StringRef> keepIns,
                                     ArrayRef<StringRef> keepOuts) const {
  LinearLayout result;
  SmallVector<int> source;
  for (StringRef name : keepOuts) {
    int index = getOutIndex(name);
    source.push_back(index);
    result.outs.push_back({name.str(), index < 0 ? 1 : outs[index].size});
  }
  for (StringRef name : keepIns) {
    InDim in{name.str(), {}};
    for (const Basis &basis : getBases(name)) {
      Basis kept;
      for (int index : source)
        kept.push_back(index < 0 ? 0 : basis[index]);
      in.bases.push_back(kept);
    }
    result.ins.push_back(in);
  }
  return result;
}

LinearLayout LinearLayout::removeZeroBases(StringRef name) const {
  LinearLayout result = *this;
  for (InDim &in : result.ins)
    if (in.name == name)
      llvm::erase_if(in.bases, [](const Basis &basis) {
        return llvm::all_of(basis, [](int64_t value) { return value == 0; });
      });
  return result;
}

LinearLayout LinearLayout::renameIn(StringRef from, StringRef to) const {
  LinearLayout result = *this;
  for (InDim &in : result.ins)
    if (in.name == from)
      in.name = to.str();
  return result;
}

LinearLayout LinearLayout::transposeOuts(ArrayRef<unsigned> permutation) const {
  LinearLayout result = *this;
  for (auto [i, from] : llvm::enumerate(permutation))
    result.outs[i] = {getDimName(i), outs[from].size};
  for (auto [old, in] : llvm::zip(ins, result.ins))
    for (auto [before, basis] : llvm::zip(old.bases, in.bases))
      for (auto [i, from] : llvm::enumerate(permutation))
        basis[i] = before[from];
  return result;
}

LinearLayout LinearLayout::reshapeOuts(ArrayRef<int64_t> shape) const {
  LinearLayout result = *this;
  result.outs = getTensorOuts(shape);
  for (auto [old, in] : llvm::zip(ins, result.ins))
    for (auto [before, basis] : llvm::zip(old.bases, in.bases))
      basis = result.unflatten(flatten(before));
  return result;
}

} // namespace kiln
