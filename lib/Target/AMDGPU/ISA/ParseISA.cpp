// Lines of assembly as instructions: mnemonics, operands, and what memory they reach.
#include "kiln/Target/AMDGPU/ISA.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include <map>

using namespace llvm;
using namespace kiln::amdgcn;

//===- Registers ----------------------------------------------------------------------------===//

/// The registers that an operand names: v3, s[4:7], -v1, |v2|, m0, vcc, vcc_lo.
static void addRegisters(StringRef operand, SmallVectorImpl<Registers> &registers) {
  for (size_t at = 0; at < operand.size(); ++at) {
    if (at > 0 && (isAlnum(operand[at - 1]) || operand[at - 1] == '_'))
      continue;
    StringRef rest = operand.substr(at);
    if (rest.starts_with("m0")) {
      registers.push_back({'m', 0, 0});
      continue;
    }
    if (rest.starts_with("vcc")) {
      registers.push_back({'c', rest.starts_with("vcc_hi"), !rest.starts_with("vcc_lo")});
      continue;
    }
    char file = rest.front();
    if (file != 'v' && file != 's' && file != 'a')
      continue;
    rest = rest.drop_front();
    unsigned first, last;
    if (rest.consume_front("[")) {
      if (rest.consumeInteger(10, first) || !rest.consume_front(":") ||
          rest.consumeInteger(10, last) || !rest.starts_with("]"))
        continue;
    } else {
      if (rest.consumeInteger(10, first) || (!rest.empty() && (isAlnum(rest[0]) || rest[0] == '_')))
        continue;
      last = first;
    }
    registers.push_back({file, first, last});
  }
}

static std::optional<Registers> getRegisters(StringRef operand) {
  SmallVector<Registers> registers;
  addRegisters(operand, registers);
  if (registers.empty())
    return std::nullopt;
  return registers.front();
}

//===- Kinds --------------------------------------------------------------------------------===//

/// The bytes that a mnemonic's last words speak of: dwordx4, b128, u16, b64.
static unsigned getBytes(StringRef mnemonic) {
  bool two = mnemonic.contains("read2") || mnemonic.contains("write2") ||
             mnemonic.contains("load_2addr") || mnemonic.contains("store_2addr");
  // A transposing read names what it moves before what it transposes.
  SmallVector<StringRef> words;
  mnemonic.split("_tr_").first.split(words, '_');
  for (StringRef word : reverse(words)) {
    unsigned bytes = StringSwitch<unsigned>(word)
                         .Cases({"dwordx4", "b128"}, 16)
                         .Cases({"dwordx3", "b96"}, 12)
                         .Cases({"dwordx2", "b64", "u64", "i64", "f64"}, 8)
                         .Cases({"dword", "b32", "u32", "i32", "f32", "x2"}, 4)
                         .Cases({"short", "ushort", "sshort", "b16", "u16", "i16"}, 2)
                         .Cases({"byte", "ubyte", "sbyte", "b8", "u8", "i8"}, 1)
                         .Cases({"dwordx8", "b256"}, 32)
                         .Cases({"dwordx16", "b512"}, 64)
                         .Default(0);
    if (bytes)
      return two ? 2 * bytes : bytes;
  }
  return 0;
}

static Kind getMemoryKind(StringRef name, StringRef modifiers) {
  if (name.starts_with("flat_"))
    return Kind::Flat;
  if (name.starts_with("ds_")) {
    if (name.contains("permute") || name.contains("swizzle"))
      return Kind::PermuteLanes;
    if (name.starts_with("ds_read") || name.starts_with("ds_load"))
      return Kind::ReadLDS;
    if (name.starts_with("ds_write") || name.starts_with("ds_store"))
      return Kind::WriteLDS;
    return name == "ds_nop" ? Kind::Other : Kind::AtomicLDS;
  }
  if (name.starts_with("s_load") || name.starts_with("s_buffer_load") ||
      name.starts_with("s_mem") || name.starts_with("s_sendmsg"))
    return Kind::LoadScalar;
  for (StringRef prefix : {"buffer_", "global_", "scratch_", "tbuffer_", "image_"}) {
    if (!name.starts_with(prefix))
      continue;
    bool words = (" " + modifiers + " ").str().find(" lds ") != std::string::npos;
    if (name.contains("load_lds") || name.contains("load_async_to_lds") || words)
      return Kind::LoadToLDS;
    if (name.contains("_atomic"))
      return Kind::AtomicGlobal;
    // Keeping caches and memory the same is counted as what it carries.
    return name.contains("_load") || name.contains("_inv") ? Kind::LoadGlobal : Kind::StoreGlobal;
  }
  return Kind::Other;
}

static Kind getKind(const Instruction &instruction) {
  StringRef name = instruction.mnemonic;
  if (name.starts_with("s_waitcnt") || name.starts_with("s_wait_"))
    return Kind::Wait;
  if (name == "s_barrier")
    return Kind::Barrier;
  if (name.starts_with("s_barrier_signal"))
    return Kind::BarrierSignal;
  if (name.starts_with("s_barrier_wait"))
    return Kind::BarrierWait;
  if (name.starts_with("s_branch") || name.starts_with("s_cbranch"))
    return Kind::Branch;
  if (name.starts_with("s_swappc"))
    return Kind::Call;
  // Where LLVM's calling convention keeps the address to go back to.
  if (name == "s_setpc_b64" && instruction.operands.front() == "s[30:31]")
    return Kind::Return;
  if (name.starts_with("s_endpgm"))
    return Kind::End;
  if (name.starts_with("v_mfma") || name.starts_with("v_wmma") || name.starts_with("v_smfmac") ||
      name.starts_with("v_swmmac"))
    return Kind::Matrix;
  return getMemoryKind(name, instruction.modifiers);
}

//===- Waits --------------------------------------------------------------------------------===//

static Error parseWait(Instruction &wait) {
  auto set = [&](Counter counter, unsigned count) { wait.waits[unsigned(counter)] = count; };
  StringRef name = wait.mnemonic;
  if (name == "s_waitcnt") {
    // vmcnt(0) lgkmcnt(1), all in one operand.
    StringRef rest = wait.operands.empty() ? "" : StringRef(wait.operands.front());
    while (!(rest = rest.ltrim(" &")).empty()) {
      auto [counter, after] = rest.split('(');
      unsigned count;
      if (after.consumeInteger(10, count) || !after.consume_front(")"))
        return createStringError("expected counters by name");
      if (counter == "vmcnt")
        set(Counter::Load, count);
      else if (counter == "lgkmcnt")
        set(Counter::LDS, count), set(Counter::Scalar, count);
      else if (counter != "expcnt")
        return createStringError("expected a known counter, got '" + counter + "'");
      rest = after;
    }
    return Error::success();
  }
  if (name == "s_wait_alu" || name == "s_waitcnt_depctr" || name == "s_wait_event" ||
      name == "s_wait_expcnt" || name == "s_wait_xcnt")
    return Error::success();
  unsigned count = 0;
  if (name != "s_wait_idle") {
    StringRef text = wait.operands.empty() ? "" : StringRef(wait.operands.back());
    if (text.getAsInteger(0, count))
      return createStringError("expected a count, got '" + text + "'");
  }
  if (name == "s_waitcnt_vscnt" || name == "s_wait_storecnt")
    set(Counter::Store, count);
  else if (name == "s_waitcnt_vmcnt" || name == "s_wait_loadcnt")
    set(Counter::Load, count);
  else if (name == "s_waitcnt_lgkmcnt")
    set(Counter::LDS, count), set(Counter::Scalar, count);
  else if (name == "s_wait_dscnt")
    set(Counter::LDS, count);
  else if (name == "s_wait_kmcnt")
    set(Counter::Scalar, count);
  else if (name == "s_wait_loadcnt_dscnt")
    set(Counter::Load, count >> 8), set(Counter::LDS, count & 0xff);
  else if (name == "s_wait_storecnt_dscnt")
    set(Counter::Store, count >> 8), set(Counter::LDS, count & 0xff);
  else if (name == "s_wait_idle")
    for (unsigned counter = 0; counter < kNumCounters; ++counter)
      set(Counter(counter), 0);
  else if (name != "s_wait_samplecnt" && name != "s_wait_bvhcnt")
    return createStringError("expected a known wait");
  return Error::success();
}

//===- Lines --------------------------------------------------------------------------------===//

/// Splits at commas outside of brackets. What follows the last operand, after a blank, are
/// modifiers; the counters of a wait are kept together.
static void splitOperands(StringRef text, Instruction &instruction) {
  int depth = 0;
  size_t start = 0;
  SmallVector<StringRef> parts;
  for (size_t at = 0; at <= text.size(); ++at) {
    char c = at < text.size() ? text[at] : ',';
    depth += (c == '[' || c == '(') - (c == ']' || c == ')');
    if (c == ',' && depth == 0) {
      parts.push_back(text.slice(start, at).trim());
      start = at + 1;
    }
  }
  for (auto [i, part] : enumerate(parts)) {
    if (part.empty())
      continue;
    if (i + 1 == parts.size() && instruction.mnemonic != "s_waitcnt") {
      auto [operand, modifiers] = part.split(' ');
      instruction.operands.push_back(operand.str());
      instruction.modifiers = modifiers.str();
      continue;
    }
    instruction.operands.push_back(part.str());
  }
}

static bool hasResult(const Instruction &instruction) {
  StringRef name = instruction.mnemonic;
  switch (instruction.kind) {
  case Kind::LoadGlobal:
    return name.contains("_load");
  case Kind::LoadScalar:
    return !name.starts_with("s_sendmsg") || name.contains("rtn");
  case Kind::ReadLDS:
  case Kind::PermuteLanes:
    return true;
  case Kind::AtomicLDS:
    return name.contains("_rtn");
  case Kind::AtomicGlobal:
    return StringRef(instruction.modifiers).contains("sc0") ||
           StringRef(instruction.modifiers).contains("glc") ||
           StringRef(instruction.modifiers).contains("TH_ATOMIC_RETURN");
  case Kind::Flat:
    return name.contains("_load");
  default:
    return false;
  }
}

/// Whether vcc is read though no operand says so.
static bool usesMaskUnnamed(const Instruction &instruction) {
  StringRef name = instruction.mnemonic;
  bool isDual = name.consume_front("v_dual_");
  return name.contains("cbranch_vcc") || name.starts_with("v_div_fmas") ||
         (isDual && (name == "cndmask_b32" || any_of(instruction.operands, [](StringRef operand) {
                       return operand.contains("cndmask");
                     })));
}

static Error finish(Instruction &instruction) {
  instruction.kind = getKind(instruction);
  for (StringRef operand : instruction.operands)
    addRegisters(operand, instruction.registers);
  if (instruction.kind == Kind::Wait)
    return parseWait(instruction);
  if (hasResult(instruction) && !instruction.operands.empty())
    instruction.result = getRegisters(instruction.operands.front());
  instruction.bytes = getBytes(instruction.mnemonic);
  StringRef modifiers = instruction.modifiers;
  size_t at = modifiers.find("offset:");
  if (at != StringRef::npos)
    modifiers.substr(at + 7).consumeInteger(10, instruction.offset);
  if (instruction.kind == Kind::LoadToLDS)
    instruction.registers.push_back({'m', 0, 0});
  if (usesMaskUnnamed(instruction))
    instruction.registers.push_back({'c', 0, 1});
  return Error::success();
}

namespace {
/// The kernels of one text, whose names stand in the directives.
class Parser {
public:
  Expected<std::vector<KernelCode>> parse(StringRef text) {
    unsigned number = 0;
    while (!text.empty()) {
      auto [line, rest] = text.split('\n');
      text = rest;
      ++number;
      line = line.split(';').first.split("//").first.rtrim();
      if (Error error = parseLine(line, number))
        return createStringError(
            formatv("line {0}: {1} in '{2}'", number, toString(std::move(error)), line.trim()));
    }
    std::vector<KernelCode> kernels;
    for (Open &open : all) {
      open.kernel.isFunction = !open.isKernel;
      open.kernel.chip = chip;
      if (open.isKernel &&
          any_of(open.kernel.code, [](auto &each) { return each.kind == Kind::Return; }))
        return createStringError("expected no return from kernel '" + open.kernel.name + "'");
      for (const auto &[at, label] : open.branches) {
        auto found = open.labels.find(label);
        if (found == open.labels.end())
          return createStringError("no label '" + label + "' in '" + open.kernel.name + "'");
        open.kernel.code[at].target = found->second;
      }
      kernels.push_back(std::move(open.kernel));
    }
    return kernels;
  }

private:
  struct Open {
    KernelCode kernel;
    std::map<std::string, unsigned> labels;
    std::vector<std::pair<unsigned, std::string>> branches;
    bool isKernel = false;
  };

  Error parseLine(StringRef line, unsigned number) {
    StringRef trimmed = line.trim();
    if (trimmed.empty())
      return Error::success();
    if (trimmed.consume_front(".amdgcn_target")) {
      chip = trimmed.trim(" \t\"").rsplit("--").second.split(':').first.str();
      return Error::success();
    }
    if (trimmed.starts_with(".type") && trimmed.ends_with("@function"))
      function = trimmed.drop_front(5).trim().split(',').first.str();
    if (trimmed.ends_with(":") && !isSpace(line.front())) {
      StringRef label = trimmed.drop_back();
      if (label == function) {
        all.emplace_back();
        all.back().kernel.name = function;
      } else if (!all.empty()) {
        all.back().labels[label.str()] = all.back().kernel.code.size();
      }
      inCode = !all.empty() && !label.starts_with(".Lfunc_end");
      return Error::success();
    }
    if (trimmed.consume_front(".amdhsa_kernel")) {
      for (Open &open : all)
        open.isKernel |= open.kernel.name == trimmed.trim();
      inCode = false;
      return Error::success();
    }
    if (trimmed.starts_with(".amdgpu_metadata")) {
      inMetadata = true;
      return Error::success();
    }
    if (trimmed.starts_with(".end_amdgpu_metadata")) {
      inMetadata = false;
      return Error::success();
    }
    if (inMetadata)
      return parseMetadata(line);
    if (trimmed.starts_with(".") || !inCode || all.empty())
      return Error::success();
    return parseInstruction(trimmed, number);
  }

  /// Entries of one kernel are sorted by name, so that those before `.symbol` wait for it. Its
  /// arguments are further to the right.
  Error parseMetadata(StringRef line) {
    if (line.consume_front("  - "))
      pending.clear(), metadata = nullptr;
    else if (!line.consume_front("    "))
      return Error::success();
    if (!line.consume_front("."))
      return Error::success();
    auto [key, value] = line.split(':');
    int64_t number;
    if (!value.trim().getAsInteger(10, number))
      (metadata ? *metadata : pending)[key] = number;
    if (key != "symbol")
      return Error::success();
    for (Open &open : all)
      if (value.trim(" '") == open.kernel.name + ".kd")
        metadata = &open.kernel.metadata;
    if (metadata)
      for (auto &entry : pending)
        (*metadata)[entry.getKey()] = entry.getValue();
    return Error::success();
  }

  Error parseInstruction(StringRef line, unsigned number) {
    Open &open = all.back();
    Instruction instruction;
    size_t blank = line.find_first_of(" \t");
    instruction.mnemonic = line.substr(0, blank).str();
    instruction.line = number;
    if (blank != StringRef::npos)
      splitOperands(line.substr(blank).trim(), instruction);
    if (Error error = finish(instruction))
      return error;
    StringRef name = instruction.mnemonic;
    if ((name.starts_with("s_setpc") && instruction.kind != Kind::Return) ||
        name.starts_with("s_call"))
      return createStringError("expected no jump to an address");
    instruction.fallsThrough =
        name != "s_branch" && instruction.kind != Kind::End && instruction.kind != Kind::Return;
    if (instruction.kind == Kind::Branch)
      open.branches.push_back({unsigned(open.kernel.code.size()), instruction.operands.back()});
    open.kernel.code.push_back(std::move(instruction));
    return Error::success();
  }

  std::string chip, function;
  std::vector<Open> all;
  bool inCode = false, inMetadata = false;
  StringMap<int64_t> pending;
  StringMap<int64_t> *metadata = nullptr;
};
} // namespace

Expected<std::vector<KernelCode>> kiln::amdgcn::parseISA(StringRef text) {
  return Parser().parse(text);
}

//===- What a kernel says of itself ---------------------------------------------------------===//

static int64_t getNumber(const KernelCode &kernel, StringRef name, int64_t otherwise) {
  auto found = kernel.metadata.find(name);
  return found == kernel.metadata.end() ? otherwise : found->getValue();
}

/// "gfx942" is of generation 9, "gfx1201" of 12.
static unsigned getGeneration(StringRef chip) {
  unsigned number = 0;
  chip.consume_front("gfx");
  chip.drop_back(std::min<size_t>(2, chip.size())).getAsInteger(10, number);
  return number;
}

unsigned KernelCode::getWaveSize() const {
  return getNumber(*this, "wavefront_size", getGeneration(chip) < 10 ? 64 : 32);
}

bool KernelCode::isOneWave() const {
  return getNumber(*this, "max_flat_workgroup_size", 1024) <= getWaveSize();
}

bool KernelCode::countsStoresApart() const { return getGeneration(chip) >= 10; }
bool KernelCode::countsScalarsApart() const { return getGeneration(chip) >= 12; }
bool KernelCode::fillsInOrder() const { return getGeneration(chip) < 12; }

unsigned KernelCode::getCounterLimit(Counter counter) const {
  bool isShort = counter == Counter::LDS || counter == Counter::Scalar;
  if (counter == Counter::Scalar && countsScalarsApart())
    return 31;
  return isShort && getGeneration(chip) < 10 ? 15 : 63;
}

std::vector<std::vector<unsigned>> KernelCode::getInnerLoops() const {
  std::vector<SmallVector<unsigned, 2>> before(code.size());
  for (auto [at, instruction] : enumerate(code)) {
    if (instruction.target && *instruction.target < code.size())
      before[*instruction.target].push_back(at);
    if (instruction.fallsThrough && at + 1 < code.size())
      before[at + 1].push_back(at);
  }
  // By its first instruction: what reaches a branch back to it without going through it.
  std::map<unsigned, std::vector<bool>> loops;
  for (auto [at, instruction] : enumerate(code)) {
    if (!instruction.target || *instruction.target > at)
      continue;
    unsigned head = *instruction.target;
    std::vector<bool> body(code.size(), false);
    SmallVector<unsigned> work{unsigned(at)};
    body[head] = true;
    while (!work.empty()) {
      unsigned member = work.pop_back_val();
      if (body[member])
        continue;
      body[member] = true;
      work.append(before[member]);
    }
    // A branch back to the kernel's end is not one: then the walk came to the kernel's start.
    if (body[0] && head != 0)
      continue;
    auto [known, isNew] = loops.try_emplace(head, body);
    for (unsigned i = 0; !isNew && i < code.size(); ++i)
      known->second[i] = known->second[i] || body[i];
  }
  std::vector<std::vector<unsigned>> inner;
  for (const auto &loop : loops) {
    const std::vector<bool> &body = loop.second;
    if (any_of(loops, [&](auto &other) { return other.first != loop.first && body[other.first]; }))
      continue;
    inner.emplace_back();
    for (unsigned at = 0; at < code.size(); ++at)
      if (body[at])
        inner.back().push_back(at);
  }
  return inner;
}
