// Reading the metadata that Artifact.h describes, without trust.
#include "kiln/Runtime/Device/Plan.h"
#include "kiln/Runtime/Error.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <numeric>

using namespace kiln;
using namespace llvm;

static Error wrong(StringRef kernel, const Twine &what) {
  return makeError(KILN_ERROR_CORRUPT,
                   "metadata of kernel '" + kernel + "' cannot be used: " + what);
}

/// Integers with null as -1; nothing if it is no such list.
static std::optional<std::vector<int64_t>> integers(const json::Array *array) {
  std::vector<int64_t> values;
  if (!array)
    return values;
  for (const json::Value &value : *array) {
    if (value.getAsNull())
      values.push_back(-1);
    else if (auto number = value.getAsInteger())
      values.push_back(*number);
    else
      return std::nullopt;
  }
  return values;
}

static Error parseArgument(StringRef kernel, const json::Object &entry, LaunchPlan::Argument &out) {
  out.name = entry.getString("name").value_or("").str();
  out.type = entry.getString("type").value_or("").str();
  StringRef kind = entry.getString("kind").value_or("");
  if (kind == "view")
    out.kind = KILN_ARG_TENSOR;
  else if (kind == "pointer")
    out.kind = KILN_ARG_POINTER;
  else if (kind == "scalar")
    out.kind = out.type == "i1"                       ? KILN_ARG_BOOL
               : StringRef(out.type).starts_with("i") ? KILN_ARG_INTEGER
                                                      : KILN_ARG_FLOAT;
  else
    return wrong(kernel, "argument of unknown kind '" + kind + "'");
  auto shape = integers(entry.getArray("shape")), strides = integers(entry.getArray("strides"));
  if (!shape || !strides || shape->size() != strides->size() || shape->size() > KILN_MAX_RANK)
    return wrong(kernel, "argument '" + out.name + "' has no proper shape and strides");
  out.shape = std::move(*shape);
  out.strides = std::move(*strides);
  out.written = entry.getBoolean("written").value_or(true);

  const json::Object *facts = entry.getObject("facts");
  if (!facts)
    return Error::success();
  out.pointer = facts->getInteger("pointer").value_or(0);
  out.divisor = facts->getInteger("divisor").value_or(0);
  out.index32 = facts->getBoolean("index32").value_or(false);
  out.noalias = facts->getBoolean("noalias").value_or(false);
  auto strideFacts = integers(facts->getArray("strides"));
  auto extentFacts = integers(facts->getArray("extents"));
  if (!strideFacts || !extentFacts || strideFacts->size() > out.shape.size() ||
      extentFacts->size() > out.shape.size())
    return wrong(kernel, "argument '" + out.name + "' has no proper facts");
  out.strideMultiples = std::move(*strideFacts);
  out.extentMultiples = std::move(*extentFacts);
  return Error::success();
}

static Error parseTensorMap(LaunchPlan &plan, const json::Object &entry, LaunchPlan::Slot &out) {
  LaunchPlan::TensorMap map;
  int64_t arg = entry.getInteger("arg").value_or(-1);
  if (arg < 0 || arg >= int64_t(plan.arguments.size()) ||
      plan.arguments[arg].kind != KILN_ARG_TENSOR)
    return wrong(plan.kernel, "a tensor map of argument " + Twine(arg) + ", which is no view");
  const LaunchPlan::Argument &argument = plan.arguments[arg];
  auto box = integers(entry.getArray("box"));
  auto dims = integers(entry.getArray("dims"));
  map.arg = arg;
  map.type = entry.getString("type").value_or(argument.type).str();
  map.swizzle = entry.getInteger("swizzle").value_or(0);
  bool fits = box && box->size() == argument.shape.size() && !box->empty() && box->size() <= 5;
  for (size_t i = 0; fits && i < box->size(); ++i)
    fits = (*box)[i] >= 1 && (*box)[i] <= 256;
  if (!fits)
    return wrong(plan.kernel, "the tensor map of argument '" + argument.name +
                                  "' has no box of extents from 1 to 256");
  map.box = std::move(*box);
  // None: as they are.
  std::vector<int64_t> order(map.box.size());
  std::iota(order.begin(), order.end(), 0);
  map.dims = dims && !dims->empty() ? std::move(*dims) : order;
  if (!dims || !std::is_permutation(map.dims.begin(), map.dims.end(), order.begin(), order.end()))
    return wrong(plan.kernel, "the tensor map of argument '" + argument.name +
                                  "' does not name each of its dimensions once");
  for (int64_t dim : map.dims) {
    map.shape.push_back(argument.shape[dim]);
    map.strides.push_back(argument.strides[dim]);
  }
  map.extentSlots.assign(map.box.size(), -1);
  map.strideSlots.assign(map.box.size(), -1);
  out.kind = LaunchPlan::Kind::TensorMap;
  out.arg = arg;
  out.number = plan.maps.size();
  plan.maps.push_back(std::move(map));
  return Error::success();
}

/// Finds what each map is made of among the other parameters.
static Error resolveTensorMaps(LaunchPlan &plan) {
  for (LaunchPlan::TensorMap &map : plan.maps) {
    const LaunchPlan::Argument &argument = plan.arguments[map.arg];
    for (size_t i = 0; i < plan.slots.size(); ++i) {
      const LaunchPlan::Slot &slot = plan.slots[i];
      if (slot.arg != map.arg)
        continue;
      if (slot.kind == LaunchPlan::Kind::Pointer)
        map.pointerSlot = i;
      size_t at = find(map.dims, int64_t(slot.dim)) - map.dims.begin();
      if (slot.kind == LaunchPlan::Kind::Extent)
        map.extentSlots[at] = i;
      if (slot.kind == LaunchPlan::Kind::Stride)
        map.strideSlots[at] = i;
    }
    bool known = map.pointerSlot >= 0;
    for (size_t i = 0; i < map.box.size(); ++i)
      known &= (map.extentSlots[i] >= 0 || map.shape[i] >= 0) &&
               (map.strideSlots[i] >= 0 || map.strides[i] >= 0);
    if (!known)
      return wrong(plan.kernel, "the tensor map of argument '" + argument.name +
                                    "' needs its pointer, extents and strides as parameters");
  }
  return Error::success();
}

static Error parseSlot(LaunchPlan &plan, const json::Object &entry, LaunchPlan::Slot &out) {
  using Kind = LaunchPlan::Kind;
  StringRef kind = entry.getString("kind").value_or("");
  int64_t arg = entry.getInteger("arg").value_or(-1), dim = entry.getInteger("dim").value_or(-1);
  if (kind == "workspace" || kind == "counter") {
    int64_t bytes = entry.getInteger("bytes").value_or(0);
    int64_t perProgram = entry.getInteger("bytes_per_program").value_or(0);
    if (bytes < 0 || perProgram < 0)
      return wrong(plan.kernel, "a parameter of negative size");
    out.kind = kind == "counter" ? Kind::Counter : Kind::Workspace;
    out.number = plan.memories.size();
    plan.memories.push_back({uint64_t(bytes), uint64_t(perProgram)});
    return Error::success();
  }
  if (kind == "messages") {
    out.kind = Kind::Messages;
    return Error::success();
  }
  if (kind == "grid_extent") {
    out.kind = Kind::GridExtent;
    plan.gridExtentSlot = plan.slots.size();
    return Error::success();
  }
  if (kind == "tensor_map")
    return parseTensorMap(plan, entry, out);
  if (kind != "pointer" && kind != "extent" && kind != "stride" && kind != "scalar")
    return makeError(KILN_ERROR_UNSUPPORTED, "kernel '" + plan.kernel +
                                                 "' has a parameter of kind '" + kind +
                                                 "', which this runtime does not know");
  if (arg < 0 || arg >= int64_t(plan.arguments.size()))
    return wrong(plan.kernel, "a parameter of argument " + Twine(arg) + ", of " +
                                  Twine(plan.arguments.size()) + " arguments");
  out.arg = arg;
  const LaunchPlan::Argument &argument = plan.arguments[arg];
  bool isView = argument.kind == KILN_ARG_TENSOR;
  if (kind == "extent" || kind == "stride") {
    if (!isView || dim < 0 || dim >= int64_t(argument.shape.size()))
      return wrong(plan.kernel, "argument '" + argument.name + "' has no dimension " + Twine(dim));
    out.kind = kind == "extent" ? Kind::Extent : Kind::Stride;
    out.dim = dim;
    return Error::success();
  }
  bool isPointer = isView || argument.kind == KILN_ARG_POINTER;
  if (isPointer != (kind == "pointer"))
    return wrong(plan.kernel,
                 "argument '" + argument.name + "' as a parameter of kind '" + kind + "'");
  out.kind = isPointer ? Kind::Pointer : Kind::Scalar;
  return Error::success();
}

std::string LaunchPlan::spelling() const {
  std::string place =
      file.empty() || line <= 0 ? "" : " (" + file + ":" + std::to_string(line) + ")";
  return "'" + kernel + "'" + place;
}

Expected<LaunchPlan> LaunchPlan::parse(const Artifact &artifact) {
  const json::Object &metadata = artifact.metadata();
  LaunchPlan plan;
  plan.kernel = artifact.metadataString("kernel").str();
  const json::Array *arguments = metadata.getArray("arguments"), *abi = metadata.getArray("abi");
  if (plan.kernel.empty() || !arguments || !abi)
    return wrong(plan.kernel, "expected 'kernel', 'arguments' and 'abi'");
  for (const json::Value &value : *arguments) {
    const json::Object *entry = value.getAsObject();
    if (!entry)
      return wrong(plan.kernel, "expected each of 'arguments' to be an object");
    if (Error error = parseArgument(plan.kernel, *entry, plan.arguments.emplace_back()))
      return error;
  }
  for (const json::Value &value : *abi) {
    const json::Object *entry = value.getAsObject();
    if (!entry)
      return wrong(plan.kernel, "expected each of 'abi' to be an object");
    Slot slot{};
    if (Error error = parseSlot(plan, *entry, slot))
      return error;
    plan.hasHidden |=
        slot.kind == Kind::Workspace || slot.kind == Kind::Counter || slot.kind == Kind::Messages;
    plan.slots.push_back(slot);
  }
  if (llvm::any_of(plan.slots, [](const Slot &slot) { return slot.kind == Kind::Messages; })) {
    const json::Array *messages = metadata.getArray("messages");
    if (!messages)
      return wrong(plan.kernel, "expected 'messages', because a parameter takes them");
    auto table = MessageTable::parse(plan.kernel, *messages);
    if (!table)
      return wrong(plan.kernel, toString(table.takeError()));
    plan.messages = std::move(*table);
  }
  if (Error error = resolveTensorMaps(plan))
    return error;
  auto count = [&](StringRef name, int64_t none) {
    return metadata.getInteger(name).value_or(none);
  };
  int64_t scratch = count("scratch_bytes", 0), shared = count("shared_bytes", 0);
  plan.hasGrid = metadata.getBoolean("has_grid").value_or(false);
  plan.ownGrid = metadata.getBoolean("own_grid").value_or(false);
  if (plan.ownGrid && !plan.hasGrid)
    return wrong(plan.kernel, "a grid of its own that it does not have");
  plan.anyMemory = metadata.getBoolean("any_memory").value_or(false);
  plan.warps = count("warps", 1);
  plan.warpSize = count("warp_size", 1);
  if (const json::Array *cluster = metadata.getArray("cluster"))
    for (size_t i = 0; i < std::min<size_t>(3, cluster->size()); ++i)
      plan.traits.cluster[i] = (*cluster)[i].getAsInteger().value_or(1);
  plan.ownCluster = metadata.getBoolean("own_cluster").value_or(false);
  plan.traits.cooperative = metadata.getBoolean("cooperative").value_or(false);
  plan.traits.overlap = metadata.getBoolean("overlap").value_or(false);
  plan.file = artifact.metadataString("file").str();
  plan.line = count("line", 0);
  plan.programs = count("programs", 0);
  plan.programsPerCore = count("persistent_per_core", 0);
  plan.evenPrograms = metadata.getBoolean("even_programs").value_or(false);
  plan.streams = metadata.getBoolean("streams").value_or(false);
  plan.programsPerBlock = count("programs_per_block", 1);
  if (plan.programsPerBlock < 1 || (plan.programsPerBlock > 1 && plan.gridExtentSlot < 0))
    return wrong(plan.kernel, "several programs a block without a parameter that counts them");
  if (scratch < 0 || shared < 0 || plan.programs < 0 || plan.programsPerCore < 0 ||
      plan.warps < 1 || plan.warpSize < 1 ||
      llvm::any_of(plan.traits.cluster, [](int64_t n) { return n < 1 || n > maxClusterExtent; }))
    return wrong(plan.kernel, "a negative size or count");
  plan.scratchBytes = scratch;
  plan.sharedBytes = shared;
  return plan;
}
