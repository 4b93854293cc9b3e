// Counts over instructions.
#include "kiln/Target/AMDGPU/CodeFigures.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace kiln::amdgcn;

/// What an access counts under; empty if it is none.
static StringRef getGroup(const Instruction &instruction) {
  if (instruction.isScratch)
    return "scratch";
  switch (instruction.kind) {
  case Kind::LoadGlobal:
    return instruction.result ? "global_loads" : "";
  case Kind::StoreGlobal:
    return instruction.bytes ? "global_stores" : "";
  case Kind::AtomicGlobal:
    return "global_atomics";
  case Kind::LoadToLDS:
    return "loads_to_lds";
  case Kind::ReadLDS:
    return "lds_reads";
  case Kind::WriteLDS:
    return "lds_writes";
  case Kind::AtomicLDS:
    return "lds_atomics";
  case Kind::Flat:
    return "flat";
  default:
    return "";
  }
}

static void add(json::Object &object, StringRef key, int64_t count) {
  object[key.str()] = object.getInteger(key).value_or(0) + count;
}

static json::Object &getGroupObject(json::Object &object, StringRef key) {
  if (!object.getObject(key))
    object[key] = json::Object();
  return *object.getObject(key);
}

/// A wait as its counters and counts: "load 2, lds 0".
static std::string spellWait(const Instruction &wait) {
  static constexpr StringLiteral names[] = {"load", "store", "lds", "scalar"};
  std::string text;
  for (auto [counter, name] : enumerate(names))
    if (wait.waits[counter])
      text += (text.empty() ? "" : ", ") + name.str() + " " + utostr(*wait.waits[counter]);
  return text;
}

static json::Object describe(ArrayRef<const Instruction *> code, bool withWaits) {
  json::Object all{{"instructions", int64_t(code.size())}};
  json::Array waits;
  for (const Instruction *each : code) {
    const Instruction &instruction = *each;
    if (StringRef group = getGroup(instruction); !group.empty())
      add(getGroupObject(all, group), utostr(instruction.bytes), 1);
    if (instruction.kind == Kind::Matrix)
      add(getGroupObject(all, "matrix"), instruction.mnemonic, 1);
    if (instruction.kind == Kind::PermuteLanes)
      add(getGroupObject(all, "lane_permutes"), "lds", 1);
    if (permutesRows(instruction.operation))
      add(getGroupObject(all, "lane_permutes"), "permlane", 1);
    if (instruction.permutesLanes)
      add(getGroupObject(all, "lane_permutes"), "dpp", 1);
    if (instruction.kind == Kind::Barrier || instruction.kind == Kind::BarrierWait)
      add(all, "barriers", 1);
    if (instruction.kind == Kind::Wait)
      if (std::string text = spellWait(instruction); !text.empty())
        waits.push_back(text);
  }
  if (withWaits)
    all["waits"] = std::move(waits);
  return all;
}

json::Object kiln::amdgcn::describeCode(const KernelCode &kernel) {
  SmallVector<const Instruction *> code;
  for (const Instruction &instruction : kernel.code)
    code.push_back(&instruction);
  json::Object all = describe(code, /*withWaits=*/false);
  all["kernel"] = kernel.name;
  all["chip"] = kernel.chip;
  static constexpr std::pair<StringLiteral, StringLiteral> numbers[] = {
      {"vgprs", "vgpr_count"},
      {"accumulators", "agpr_count"},
      {"sgprs", "sgpr_count"},
      {"vgpr_spills", "vgpr_spill_count"},
      {"sgpr_spills", "sgpr_spill_count"},
      {"scratch_bytes", "private_segment_fixed_size"},
      {"lds_bytes", "group_segment_fixed_size"},
      {"threads", "max_flat_workgroup_size"}};
  for (auto [name, key] : numbers)
    if (auto found = kernel.metadata.find(key); found != kernel.metadata.end())
      all[name] = found->getValue();
  json::Array loops;
  for (const std::vector<unsigned> &loop : kernel.getInnerLoops()) {
    code.clear();
    for (unsigned at : loop)
      code.push_back(&kernel.code[at]);
    loops.push_back(describe(code, /*withWaits=*/true));
  }
  all["inner_loops"] = std::move(loops);
  return all;
}
