// The orders of a tile in shared memory that suit the products and copies of a role that read it.
#include "kiln/Layout/Transforms/BufferReaders.h"
#include "kiln/Dialect/Tile/IR/Roles.h"
#include "kiln/Layout/Transforms/AsyncAtomInterfaces.h"
#include "kiln/Layout/Transforms/Layouts.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

static int64_t countCopies(Operation *user) {
  RoleAttr role = lookUpRole(user);
  return role ? role.getCopies() : 1;
}

BufferReader BufferReader::ofDot(OpOperand &use) {
  return {cast<DotOp>(use.getOwner()), use.getOperandNumber(), {}, countCopies(use.getOwner()), {}};
}

BufferReader BufferReader::ofLanes(Value tensor, Operation *user) {
  return {{}, 0, tensor, countCopies(user), {}};
}

LinearLayout BufferReader::getLayout() const {
  return known ? *known : kiln::getLayout(dot ? DotOp(dot).getResult() : tensor);
}

static bool isTransposed(const BufferReader &reader) {
  DotOp dot = reader.dot;
  return reader.operand == 0 ? dot.getTransposeA() : dot.getTransposeB();
}

SmallVector<int64_t> kiln::getShare(const BufferReader &reader, const LinearLayout &layout,
                                    ArrayRef<int64_t> shape) {
  SmallVector<int64_t> share(shape);
  ArrayRef<LinearLayout::Basis> warps = layout.getBases(kWarp);
  if (reader.copies == 1 || warps.empty())
    return share;
  for (size_t dim = 0; dim < share.size(); ++dim) {
    if (!warps.back()[dim])
      continue;
    // Of a product's operands each has one of the dimensions that copies may share out.
    if (reader.dot && dim != reader.operand)
      continue;
    share[reader.dot && isTransposed(reader) ? 1 - dim : dim] /= reader.copies;
  }
  return share;
}

std::vector<LinearLayout> kiln::repeatOrders(std::vector<LinearLayout> orders,
                                             ArrayRef<int64_t> shape) {
  for (LinearLayout &order : orders) {
    SmallVector<LinearLayout::InDim> ins(order.getIns());
    SmallVector<int64_t> share = order.getShape();
    for (size_t dim = 0; dim < shape.size(); ++dim)
      for (int64_t value = share[dim]; value < shape[dim]; value *= 2) {
        LinearLayout::Basis basis(shape.size(), 0);
        basis[dim] = value;
        ins.front().bases.push_back(basis);
      }
    order = *LinearLayout::create(ins, getTensorOuts(shape));
  }
  llvm::erase_if(orders, [](const LinearLayout &order) { return !order.isExact(); });
  return orders;
}

std::vector<LinearLayout> kiln::getAdmitted(const BufferReader &reader, ArrayRef<int64_t> shape) {
  DotOp dot = reader.dot;
  return cast<AsyncMmaAtomInterface>(dot.getAtomAttr())
      .getSharedLayouts(reader.operand, shape, isTransposed(reader));
}

/// Of a share, which the product takes as it lies.
static bool admitsShare(const LinearLayout &order, const BufferReader &reader,
                        ArrayRef<int64_t> share, RankedTensorType type) {
  auto part = getPartType(BufferType::get(type.getContext(), type.getShape(), type.getElementType(),
                                          LayoutAttr::get(type.getContext(), order)),
                          share);
  return part &&
         (!reader.dot || llvm::is_contained(getAdmitted(reader, share),
                                            cast<LayoutAttr>(part.getLayout()).toLinear(share)));
}

/// Of a window, which lies in what the product takes.
static bool admitsWindow(const LinearLayout &order, const BufferReader &reader,
                         ArrayRef<int64_t> share, RankedTensorType type) {
  ArrayRef<int64_t> shape = type.getShape();
  auto whole = BufferType::get(type.getContext(), shape, type.getElementType(),
                               LayoutAttr::get(type.getContext(), order));
  return reader.dot && getWindowType(whole, share) &&
         llvm::is_contained(getAdmitted(reader, shape), order);
}

bool kiln::admits(const LinearLayout &order, const BufferReader &reader, RankedTensorType type,
                  bool asWindow) {
  SmallVector<int64_t> share = getShare(reader, reader.getLayout(), type.getShape());
  return admitsShare(order, reader, share, type) ||
         (asWindow && admitsWindow(order, reader, share, type));
}

std::vector<LinearLayout> kiln::findWrittenOrders(const LinearLayout &written, int64_t copies,
                                                  ArrayRef<BufferReader> readers,
                                                  RankedTensorType type) {
  ArrayRef<int64_t> shape = type.getShape();
  const auto *product = llvm::find_if(readers, [](auto &reader) { return bool(reader.dot); });
  // What copies write of it is a part of it, too.
  BufferReader writer{{}, 0, {}, copies, written};
  SmallVector<int64_t> own = getShare(writer, written, shape);
  std::vector<LinearLayout> orders;
  auto add = [&](ArrayRef<int64_t> share) {
    for (LinearLayout &order : repeatOrders(getAdmitted(*product, share), shape))
      if (!llvm::is_contained(orders, order) && admitsShare(order, writer, own, type) &&
          llvm::all_of(readers, [&](auto &reader) { return admits(order, reader, type); }))
        orders.push_back(order);
  };
  add(own);
  for (const BufferReader &reader : readers)
    add(getShare(reader, reader.getLayout(), shape));
  return orders;
}
