// What each move of a tile costs a warp, told in the kernel's metadata: what `kiln explain` prints.
#include "ThreadPlans.h"
#include "kiln/Layout/Transforms/AccessFacts.h"
#include "kiln/Target/Common/ABI.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

namespace {
class Explanation {
public:
  Explanation(KernelOp kernel, TargetInterface target)
      : kernel(kernel), chip(target.getChipRecord()), builder(kernel.getContext()) {}

  void run() {
    kernel.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
      TypeSwitch<Operation *>(op)
          .Case<LoadOp>([&](LoadOp load) {
            addAccess(op, load.getResult(), load.getView(), load.getExtents());
          })
          .Case<StoreOp>([&](StoreOp store) {
            addAccess(op, store.getValue(), store.getView(), store.getExtents());
          })
          .Case<ReadOp>([&](ReadOp read) {
            if (!read.getExtents())
              addBuffer(op, read.getResult(), read.getBuffer().getType(), read.getAtomAttr());
          })
          .Case<WriteOp>([&](WriteOp write) {
            if (!write.getExtents())
              addBuffer(op, write.getValue(), write.getBuffer().getType(), write.getAtomAttr());
          })
          .Case<CopyInOp>([&](CopyInOp copy) { addDirectCopy(copy); })
          .Case<ConvertLayoutOp>([&](ConvertLayoutOp convert) { addConversion(convert); });
    });
    if (!moves.empty())
      setMetadata(kernel, "moves", builder.getArrayAttr(moves));
  }

private:
  using Fields = SmallVector<NamedAttribute>;

  void set(Fields &fields, StringRef name, int64_t value) {
    fields.push_back(builder.getNamedAttr(name, builder.getI64IntegerAttr(value)));
  }
  void set(Fields &fields, StringRef name, const std::string &text) {
    fields.push_back(builder.getNamedAttr(name, builder.getStringAttr(text)));
  }

  Fields begin(Operation *op, Value tensor) {
    auto type = cast<RankedTensorType>(tensor.getType());
    return begin(op, RankedTensorType::get(type.getShape(), type.getElementType()));
  }
  Fields begin(Operation *op, Type type) {
    Fields fields;
    std::string text;
    llvm::raw_string_ostream(text) << type;
    set(fields, "op", op->getName().getStringRef().str());
    set(fields, "type", text);
    if (auto loc = op->getLoc()->findInstanceOf<FileLineColLoc>())
      set(fields, "line", int64_t(loc.getLine()));
    return fields;
  }

  void add(Fields &fields) { moves.push_back(builder.getDictionaryAttr(fields)); }

  void addAccess(Operation *op, Value tensor, TypedValue<ViewType> view,
                 std::optional<ArrayRef<int64_t>> extents) {
    LinearLayout layout = getLayout(tensor);
    AccessFacts facts = getAccessFacts(op);
    int64_t width = 1;
    if (facts.dim >= 0) {
      width = std::min(facts.width, layout.getContiguity(kRegister, getDimName(facts.dim)));
      while (extents && (*extents)[facts.dim] % width)
        width /= 2;
    }
    int64_t bytes = getSharedElementBytes(view.getType().getElementType());
    Fields fields = begin(op, tensor);
    set(fields, "bytes", width * bytes);
    set(fields, "instructions", std::max<int64_t>(1, layout.getInSize(kRegister) / width));
    // Without a stride that is known to be one, each element may lie anywhere.
    if (facts.dim >= 0)
      set(fields, "sectors", countSectors(layout, facts.dim, width, bytes));
    add(fields);
  }

  void addBuffer(Operation *op, Value tensor, BufferType type, Attribute atom) {
    auto layout = dyn_cast_or_null<LayoutAttr>(type.getLayout());
    LinearLayout places = getLayout(tensor);
    LinearLayout buffer =
        LinearLayout::identity(ShapedType::getNumElements(type.getShape()), kOffset, getDimName(0))
            .reshapeOuts(type.getShape());
    if (layout)
      buffer = layout.toLinear(type.getShape());
    unsigned bytes = getSharedElementBytes(type.getElementType());
    SharedSide side = measureSide(places, buffer, bytes, chip, isa<WriteOp>(op), atom);
    Fields fields = begin(op, tensor);
    set(fields, "bytes", side.width * bytes);
    set(fields, "instructions", side.instructions);
    set(fields, "cycles", side.instructions * side.cycles);
    set(fields, "conflicts", side.instructions * (side.cycles - side.fewest));
    if (atom)
      setAtom(fields, atom);
    add(fields);
  }

  void setAtom(Fields &fields, Attribute atom) {
    std::string text;
    llvm::raw_string_ostream(text) << atom;
    set(fields, "atom", text);
  }

  /// What each warp of a role copies into its own ring, past the registers.
  void addDirectCopy(CopyInOp op) {
    auto atom = dyn_cast<DirectAtomInterface>(op.getAtom());
    RoleAttr role = WarpGroupsOp::getRoleOf(op);
    if (!atom || !role)
      return;
    BufferType type = op.getBuffer().getType();
    int64_t pieces = getSharedBytes(type) / (int64_t(chip.warpSize) * atom.getGranularity());
    int64_t warps = countCopyingWarps(pieces, role.getTotalWarps(), atom).value_or(1);
    int64_t instructions = llvm::divideCeil(pieces, warps);
    Fields fields = begin(op, RankedTensorType::get(type.getShape(), type.getElementType()));
    set(fields, "bytes", atom.getGranularity());
    set(fields, "instructions", instructions);
    set(fields, "cycles", instructions * atom.getIssueCycles(chip));
    setAtom(fields, op.getAtom());
    add(fields);
  }

  void addConversion(ConvertLayoutOp op) {
    LinearLayout from = getLayout(op.getInput()), to = getLayout(op.getResult());
    Conversion conversion = classifyConversion(from, to);
    Fields fields = begin(op, op.getResult());
    set(fields, "way", tile::stringifyConversionKind(conversion.kind).str());
    int64_t shuffles = conversion.kind == tile::ConversionKind::Lanes
                           ? countShuffles(conversion, op.getType())
                           : 0;
    set(fields, "instructions", shuffles);
    set(fields, "cycles", shuffles * kShuffleCycles);
    add(fields);
  }

  KernelOp kernel;
  const Chip &chip;
  Builder builder;
  SmallVector<Attribute> moves;
};
} // namespace

void kiln::explainMoves(KernelOp kernel, TargetInterface target) {
  Explanation(kernel, target).run();
}
