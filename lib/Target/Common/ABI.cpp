// The flattened parameters of a kernel, and the metadata that a launcher reads.
#include "kiln/Target/Common/ABI.h"
#include "kiln/Dialect/Tile/IR/GridDecisions.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
namespace json = llvm::json;

namespace kiln {

llvm::SmallVector<Parameter> getParameters(tile::KernelOp kernel) {
  llvm::SmallVector<Parameter> parameters;
  Type i64 = IntegerType::get(kernel.getContext(), 64);
  auto addDynamic = [&](Parameter::Kind kind, unsigned argument, ArrayRef<int64_t> values) {
    for (auto [dim, value] : llvm::enumerate(values))
      if (ShapedType::isDynamic(value))
        parameters.push_back({kind, argument, static_cast<unsigned>(dim), i64});
  };
  for (auto [index, type] : llvm::enumerate(kernel.getArgumentTypes())) {
    unsigned argument = index;
    if (auto view = dyn_cast<tile::ViewType>(type)) {
      parameters.push_back({Parameter::Kind::Pointer, argument, 0, view.getElementType()});
      addDynamic(Parameter::Kind::Extent, argument, view.getShape());
      addDynamic(Parameter::Kind::Stride, argument, view.getStrides());
    } else if (auto pointer = dyn_cast<tile::PointerType>(type)) {
      parameters.push_back({Parameter::Kind::Pointer, argument, 0, pointer.getElementType()});
    } else {
      parameters.push_back({Parameter::Kind::Scalar, argument, 0, type});
    }
  }
  return parameters;
}

std::string spellType(Type type) {
  if (type.isIndex())
    return "i64";
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

static StringRef spell(Parameter::Kind kind) {
  switch (kind) {
  case Parameter::Kind::Pointer:
    return "pointer";
  case Parameter::Kind::Extent:
    return "extent";
  case Parameter::Kind::Stride:
    return "stride";
  case Parameter::Kind::Scalar:
    return "scalar";
  }
  return "";
}

json::Array describeParameters(tile::KernelOp kernel) {
  json::Array result;
  for (const Parameter &parameter : getParameters(kernel)) {
    if (tile::getHidden(kernel, parameter.argument))
      break;
    json::Object entry{{"kind", spell(parameter.kind)},
                       {"arg", int64_t(parameter.argument)},
                       {"type", spellType(parameter.type)}};
    if (parameter.kind == Parameter::Kind::Extent || parameter.kind == Parameter::Kind::Stride)
      entry["dim"] = int64_t(parameter.dim);
    result.push_back(std::move(entry));
  }
  return result;
}

llvm::SmallVector<Attribute> describeHidden(tile::KernelOp kernel) {
  llvm::SmallVector<Attribute> result;
  Builder builder(kernel.getContext());
  for (unsigned index = 0; index < kernel.getNumArguments(); ++index)
    if (std::optional<tile::HiddenArgument> hidden = tile::getHidden(kernel, index)) {
      static constexpr StringLiteral kinds[] = {"workspace", "counter", "grid_extent"};
      NamedAttrList entry;
      entry.set("kind", builder.getStringAttr(kinds[hidden->kind]));
      if (hidden->bytes)
        entry.set("bytes_per_program", builder.getI64IntegerAttr(hidden->bytes));
      result.push_back(entry.getDictionary(kernel.getContext()));
    }
  return result;
}

//===- Arguments ----------------------------------------------------------------------------===//

static json::Array describeList(ArrayRef<int64_t> values) {
  json::Array result;
  for (int64_t value : values)
    result.push_back(ShapedType::isDynamic(value) ? json::Value(nullptr) : json::Value(value));
  return result;
}

static json::Object describeFacts(tile::FactsAttr facts) {
  json::Object result;
  if (facts.getPointer())
    result["pointer"] = facts.getPointer();
  if (!facts.getStrides().empty())
    result["strides"] = describeList(facts.getStrides());
  if (!facts.getExtents().empty())
    result["extents"] = describeList(facts.getExtents());
  if (facts.getIndex32())
    result["index32"] = true;
  if (facts.getNoalias())
    result["noalias"] = true;
  if (facts.getDivisor())
    result["divisor"] = facts.getDivisor();
  return result;
}

/// Whether any access writes through memory, through a view made of it, or through what may have
/// been made of its address, wherever that number went.
static bool isWritten(Value memory) {
  llvm::SetVector<Value> reached;
  reached.insert(memory);
  auto follow = [&](ValueRange values) { reached.insert(values.begin(), values.end()); };
  for (size_t i = 0; i < reached.size(); ++i)
    for (Operation *user : reached[i].getUsers()) {
      if (isa<tile::DimOp, tile::StrideOp, tile::LoadOp, tile::GatherOp>(user))
        continue;
      bool isNumber = !isa<tile::ViewType, tile::PointerType>(reached[i].getType());
      bool makesMore = isa<tile::ViewFromPointerOp, tile::SubviewOp, tile::AddressOp,
                           tile::PointerFromAddressOp>(user);
      if (!makesMore && !isNumber)
        return true;
      follow(user->getResults());
      Operation *around = user->hasTrait<OpTrait::IsTerminator>() ? user->getParentOp() : user;
      if (isNumber && around->getNumRegions() && !isa<tile::KernelOp>(around)) {
        follow(around->getResults());
        for (Region &region : around->getRegions())
          for (Block &block : region)
            follow(block.getArguments());
      }
    }
  return false;
}

json::Array describeArguments(tile::KernelOp kernel) {
  json::Array result;
  for (auto [index, type] : llvm::enumerate(kernel.getArgumentTypes())) {
    if (tile::getHidden(kernel, index))
      break;
    json::Object entry;
    auto name = kernel.getArgumentAttributes(index).getAs<StringAttr>(tile::kNameAttrName);
    entry["name"] = name ? name.getValue().str() : "arg" + std::to_string(index);
    if (auto view = dyn_cast<tile::ViewType>(type)) {
      entry["kind"] = "view";
      entry["type"] = spellType(view.getElementType());
      entry["shape"] = describeList(view.getShape());
      entry["strides"] = describeList(view.getStrides());
      entry["written"] = isWritten(kernel.getBody().getArgument(index));
    } else if (auto pointer = dyn_cast<tile::PointerType>(type)) {
      entry["kind"] = "pointer";
      entry["type"] = spellType(pointer.getElementType());
      entry["written"] = isWritten(kernel.getBody().getArgument(index));
    } else {
      entry["kind"] = "scalar";
      entry["type"] = spellType(type);
    }
    if (tile::FactsAttr facts = kernel.getFacts(index))
      entry["facts"] = describeFacts(facts);
    result.push_back(std::move(entry));
  }
  return result;
}

//===- Metadata -----------------------------------------------------------------------------===//

void setMetadata(Operation *op, StringRef name, Attribute value) {
  Operation *module = isa<ModuleOp>(op) ? op : op->getParentOfType<ModuleOp>().getOperation();
  NamedAttrList members;
  if (auto before = module->getAttrOfType<DictionaryAttr>(kMetadataAttrName))
    members.append(before.begin(), before.end());
  members.set(name, value);
  module->setAttr(kMetadataAttrName, members.getDictionary(op->getContext()));
}

std::string spellProtocol(Operation *module) {
  auto members = module->getAttrOfType<DictionaryAttr>(kMetadataAttrName);
  Attribute protocol = members ? members.get(kProtocolName) : Attribute();
  std::string text;
  if (protocol)
    llvm::raw_string_ostream(text) << toJSON(protocol);
  return text;
}

json::Value toJSON(Attribute value) {
  if (isa<UnitAttr>(value))
    return nullptr;
  if (auto boolean = dyn_cast<BoolAttr>(value))
    return boolean.getValue();
  if (auto integer = dyn_cast<IntegerAttr>(value))
    return integer.getValue().getSExtValue();
  if (auto real = dyn_cast<FloatAttr>(value))
    return real.getValueAsDouble();
  if (auto text = dyn_cast<StringAttr>(value))
    return text.getValue();
  if (auto integers = dyn_cast<DenseI64ArrayAttr>(value))
    return json::Array(integers.asArrayRef());
  if (auto list = dyn_cast<ArrayAttr>(value)) {
    json::Array result;
    for (Attribute element : list)
      result.push_back(toJSON(element));
    return result;
  }
  if (auto dict = dyn_cast<DictionaryAttr>(value)) {
    json::Object result;
    for (NamedAttribute member : dict)
      result[member.getName().getValue()] = toJSON(member.getValue());
    return result;
  }
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text;
}

} // namespace kiln
