// Paths.h: blocks, and to a fixed point over them what is known of the registers of some waves.
#include "Paths.h"
#include "llvm/ADT/STLExtras.h"
#include <deque>
#include <set>

using namespace llvm;
using namespace kiln::amdgcn;

//===- Blocks -------------------------------------------------------------------------------===//

Blocks::Blocks(const KernelCode &kernel) : kernel(kernel) {
  std::vector<bool> begins = kernel.getBlockStarts();
  begins.back() = true;
  for (auto [at, isStart] : enumerate(begins)) {
    if (isStart)
      starts.push_back(at);
    blockOf.push_back(starts.size() - 1);
  }
}

SmallVector<unsigned, 2> Blocks::getNext(unsigned block) const {
  SmallVector<unsigned, 2> next;
  if (block == getEnd())
    return next;
  const Instruction &last = kernel.code[getLast(block)];
  if (last.target)
    next.push_back(of(*last.target));
  if (last.fallsThrough && !is_contained(next, block + 1))
    next.push_back(block + 1);
  if (next.empty())
    next.push_back(getEnd());
  return next;
}

/// Those that all ways from a block to the end come to, its own among them.
static std::vector<BitVector> findSurelyPassed(const Edges &edges) {
  unsigned end = edges.size() - 1;
  std::vector<BitVector> passed(edges.size(), BitVector(edges.size(), true));
  passed[end].reset();
  passed[end].set(end);
  for (bool changed = true; changed;) {
    changed = false;
    for (unsigned block = end; block-- > 0;) {
      if (edges[block].empty())
        continue;
      BitVector all(edges.size(), true);
      for (unsigned next : edges[block])
        all &= passed[next];
      all.set(block);
      changed |= all != passed[block];
      passed[block] = std::move(all);
    }
  }
  return passed;
}

std::vector<unsigned> kiln::amdgcn::findMeetings(const Edges &edges) {
  std::vector<BitVector> passed = findSurelyPassed(edges);
  unsigned end = edges.size() - 1;
  std::vector<unsigned> meetings(edges.size(), end), counts;
  for (const BitVector &each : passed)
    counts.push_back(each.count());
  // Of those that are passed, the first is the one from which all others are.
  for (unsigned block = 0; block < end; ++block)
    for (unsigned other : passed[block].set_bits())
      if (other != block && !edges[block].empty() && counts[other] > counts[meetings[block]] &&
          counts[other] < edges.size())
        meetings[block] = other;
  return meetings;
}

BitVector kiln::amdgcn::findBetween(const Edges &edges, unsigned from, unsigned to) {
  BitVector between(edges.size());
  SmallVector<unsigned> work(edges[from].begin(), edges[from].end());
  while (!work.empty()) {
    unsigned block = work.pop_back_val();
    if (block == to || between.test(block))
      continue;
    between.set(block);
    work.append(edges[block].begin(), edges[block].end());
  }
  return between;
}

//===- Ways of some waves -------------------------------------------------------------------===//

static Range getBoth(Range a, Range b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

/// What is counted to: the last of the numbers that an instruction takes.
static Range getBound(const Instruction &arrival, const Ranges &ranges) {
  for (const Operand &operand : reverse(arrival.operands))
    if (operand.registers && !operand.isResult && !operand.isModifier && !operand.isTied)
      return ranges.get(operand);
  return {};
}

static bool isOfLDS(Kind kind) {
  return kind == Kind::LoadToLDS || kind == Kind::ReadLDS || kind == Kind::WriteLDS ||
         kind == Kind::AtomicLDS;
}

Paths kiln::amdgcn::followPaths(const KernelCode &kernel, const Blocks &blocks, unsigned firstWave,
                                unsigned lastWave) {
  constexpr unsigned kPatience = 4;
  const std::vector<uint64_t> bounds = findBounds(kernel);
  const unsigned waveSize = kernel.getWaveSize();
  Paths paths;
  paths.edges.resize(blocks.size());
  std::vector<std::optional<Ranges>> before(blocks.size());
  std::vector<unsigned> visits(blocks.size(), 0);
  before[0].emplace();
  before[0]->setThreads(firstWave * waveSize, (lastWave + 1) * waveSize - 1);
  std::deque<unsigned> work{0};
  auto arrive = [&](unsigned from, unsigned to, const Ranges &ranges) {
    if (!is_contained(paths.edges[from], to))
      paths.edges[from].push_back(to);
    if (!before[to])
      before[to] = ranges;
    else if (!before[to]->join(ranges, ++visits[to] > kPatience, bounds))
      return;
    if (to != blocks.getEnd() && !is_contained(work, to))
      work.push_back(to);
  };
  while (!work.empty()) {
    unsigned block = work.front();
    work.pop_front();
    Ranges ranges = *before[block];
    const Instruction &last = kernel.code[blocks.getLast(block)];
    for (unsigned at = blocks.getFirst(block); at <= blocks.getLast(block); ++at) {
      const Instruction &instruction = kernel.code[at];
      if (isOfLDS(instruction.kind)) {
        Range place = getPlace(instruction, ranges, waveSize);
        auto known = paths.places.try_emplace(at, place).first;
        known->second = getBoth(known->second, place);
      }
      if (instruction.isArrival) {
        Range bound = getBound(instruction, ranges);
        auto known = paths.bounds.try_emplace(at, bound).first;
        known->second = getBoth(known->second, bound);
      }
      if (instruction.kind == Kind::Call)
        ranges = {};
      else
        ranges.apply(instruction);
    }
    std::optional<bool> isTaken = last.target ? ranges.isTaken(last) : std::nullopt;
    if (last.target && isTaken.value_or(true)) {
      Ranges taken = ranges;
      taken.refine(last, true);
      arrive(block, blocks.of(*last.target), taken);
    }
    if (last.fallsThrough && !isTaken.value_or(false)) {
      ranges.refine(last, false);
      arrive(block, block + 1, ranges);
    }
    if (!last.target && !last.fallsThrough)
      arrive(block, blocks.getEnd(), ranges);
  }
  return paths;
}
