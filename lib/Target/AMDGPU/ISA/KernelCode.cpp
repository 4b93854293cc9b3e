// What a kernel says of itself, and what its chip counts.
#include "DescribeInstruction.h"
#include "llvm/TargetParser/TargetParser.h"
#include <map>

using namespace llvm;
using namespace kiln::amdgcn;

static int64_t getNumber(const KernelCode &kernel, StringRef name, int64_t otherwise) {
  auto found = kernel.metadata.find(name);
  return found == kernel.metadata.end() ? otherwise : found->getValue();
}

unsigned kiln::amdgcn::getGeneration(StringRef chip) { return AMDGPU::getIsaVersion(chip).Major; }

unsigned KernelCode::getWaveSize() const {
  return getNumber(*this, "wavefront_size", getGeneration(chip) < 10 ? 64 : 32);
}

unsigned KernelCode::getThreads() const {
  return getNumber(*this, "max_flat_workgroup_size", 1024);
}

bool KernelCode::isOneWave() const { return getThreads() <= getWaveSize(); }

bool KernelCode::countsStoresApart() const { return getGeneration(chip) >= 10; }
bool KernelCode::countsScalarsApart() const { return getGeneration(chip) >= 12; }
bool KernelCode::fillsInOrder() const { return getGeneration(chip) < 12; }

unsigned KernelCode::getCounterLimit(Counter counter) const {
  bool isShort = counter == Counter::LDS || counter == Counter::Scalar;
  if (counter == Counter::Scalar && countsScalarsApart())
    return 31;
  return isShort && getGeneration(chip) < 10 ? 15 : 63;
}

std::optional<Counter> KernelCode::getCounter(const Instruction &instruction) const {
  switch (instruction.kind) {
  case Kind::LoadGlobal:
  case Kind::LoadToLDS:
    return Counter::Load;
  case Kind::AtomicGlobal:
    return instruction.result || !countsStoresApart() ? Counter::Load : Counter::Store;
  case Kind::StoreGlobal:
    return countsStoresApart() ? Counter::Store : Counter::Load;
  case Kind::ReadLDS:
  case Kind::WriteLDS:
  case Kind::AtomicLDS:
  case Kind::PermuteLanes:
    return Counter::LDS;
  case Kind::LoadScalar:
    return Counter::Scalar;
  default:
    return std::nullopt;
  }
}

std::vector<bool> KernelCode::getBlockStarts() const {
  std::vector<bool> begins(code.size() + 1, false);
  begins[0] = true;
  for (auto [at, instruction] : enumerate(code)) {
    if (instruction.target)
      begins[*instruction.target] = true;
    if (instruction.target || !instruction.fallsThrough)
      begins[at + 1] = true;
  }
  return begins;
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
