// Accesses.h: by the mnemonics, and by what is known of the registers that say where.
#include "Accesses.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace kiln;
using namespace kiln::nvptx;

/// What a lane says of a row of a matrix.
static constexpr int64_t kRowBytes = 16;

//===- Instructions -------------------------------------------------------------------------===//

/// Of "st.shared.v4.b32".
static int64_t getBytes(StringRef mnemonic) {
  int64_t count = 1, bits = 0;
  SmallVector<StringRef, 6> parts;
  mnemonic.split(parts, '.');
  for (StringRef part : parts) {
    int64_t number = 0;
    if (part.consume_front("v") && !part.getAsInteger(10, number))
      count = number;
    else if (!part.empty() && StringRef("bfsu").contains(part.front()) &&
             !part.drop_front().getAsInteger(10, number))
      bits = number;
  }
  return count * bits / 8;
}

/// The place in shared memory that an engine's copy reads or writes.
static void addCopy(const Line &line, const Paths &paths, const Warps &warps, unsigned at,
                    Accesses &accesses) {
  size_t shared = line.mnemonic.find(".shared"), global = line.mnemonic.find(".global");
  bool isFill = shared < global;
  for (const Operand &operand : line.operands) {
    Known place = operand.isPlace ? paths.get(operand) : std::nullopt;
    bool isShared = place && place->of == Numbers::Of::Shared;
    if (!isFill && !isShared)
      continue;
    accesses.push_back(
        {at, &warps, isFill ? Use::Copy : Use::Read, 0, isShared ? place : std::nullopt});
    for (const Operand &other : line.operands)
      if (Known behind = other.isPlace ? paths.get(other) : std::nullopt;
          isFill && behind && behind->of == Numbers::Of::Shared)
        accesses.back().barrier = behind;
    return;
  }
}

static void addAccesses(const Line &line, const Paths &paths, const Warps &warps, unsigned at,
                        Accesses &accesses) {
  auto add = [&](Use use, int64_t bytes) {
    accesses.push_back({at, &warps, use, bytes, paths.getPlace(line)});
  };
  if (line.is("cp.async.bulk.") && line.mnemonic.contains(".shared") &&
      line.mnemonic.contains(".global"))
    return addCopy(line, paths, warps, at, accesses);
  if (line.is("cp.reduce.async.bulk."))
    return addCopy(line, paths, warps, at, accesses);
  if (line.is("cp.async.c") && line.operands.size() > 2)
    return add(Use::Copy, line.operands[2].number.value_or(0));
  if (line.is("st.shared") || line.is("st.volatile.shared"))
    return add(Use::Write, getBytes(line.mnemonic));
  if (line.is("stmatrix."))
    return add(Use::Write, kRowBytes);
  if (line.is("ld.shared") || line.is("ld.volatile.shared"))
    return add(Use::Read, getBytes(line.mnemonic));
  if (line.is("ldmatrix."))
    return add(Use::Read, kRowBytes);
  if (!line.is("wgmma.mma_async") && !line.is("tcgen05.mma") && !line.is("tcgen05.cp"))
    return;
  // An operand that is in registers, or in tensor memory, is no descriptor. Which of them are
  // descriptors the number of registers says, where what is in one is not known.
  for (const Operand &operand : line.operands) {
    Known place = paths.get(operand);
    if (place && place->of == Numbers::Of::Descriptor)
      accesses.push_back({at, &warps, Use::Read, 0, place});
    else if (operand.text.starts_with("%rd") && !place)
      accesses.push_back({at, &warps, Use::Read, 0, std::nullopt});
  }
}

//===- Threads ------------------------------------------------------------------------------===//

namespace {
/// Looks at fewer threads where what is known of more says too little.
class Narrower {
public:
  Narrower(const Kernel &kernel, const Warps &warps, function_ref<bool(const Access &)> isHome)
      : kernel(kernel), warps(warps), isHome(isHome) {}

  /// Of each line in doubt what all the threads are known to access there.
  using Doubts = std::map<unsigned, Accesses>;

  Accesses run() {
    Doubts doubts;
    for (auto [at, line] : enumerate(kernel.code)) {
      if (!warps.paths.comesTo(at))
        continue;
      Accesses own;
      addAccesses(line, warps.paths, warps, at, own);
      if (areHome(own))
        append_range(found, own);
      else
        doubts.emplace(at, std::move(own));
    }
    const Protocol::Role &role = *warps.role;
    split(role.first * kLanes, role.warps * role.copies * kLanes, doubts, warps.paths);
    return std::move(found);
  }

private:
  bool areHome(ArrayRef<Access> accesses) const { return all_of(accesses, isHome); }

  /// Both halves of the threads.
  void split(int64_t first, int64_t threads, const Doubts &doubts, const Paths &all) {
    if (doubts.empty())
      return;
    narrow(first, threads / 2, doubts, all);
    narrow(first + threads / 2, threads - threads / 2, doubts, all);
  }

  void narrow(int64_t first, int64_t threads, const Doubts &doubts, const Paths &all) {
    Paths paths(kernel, first, threads, &all);
    Doubts rest;
    for (const auto &[at, known] : doubts) {
      if (!paths.comesTo(at) || accused.count(at))
        continue;
      Accesses own;
      addAccesses(kernel.code[at], paths, warps, at, own);
      // What is told by lanes that are not among these is known of all of them alone.
      bool isKnown = all_of(own, [](const Access &access) { return bool(access.place); });
      if (!isKnown)
        own = known;
      // Which warps come to it is told by each of them.
      bool areAllHome = areHome(own);
      if (isKnown && threads > (areAllHome ? kLanes : 1)) {
        rest.emplace(at, std::move(own));
        continue;
      }
      if (!areAllHome)
        accused.insert(at);
      append_range(found, own);
    }
    split(first, threads, rest, paths);
  }

  const Kernel &kernel;
  const Warps &warps;
  function_ref<bool(const Access &)> isHome;
  Accesses found;
  std::set<unsigned> accused; ///< lines of which one thread is known to go astray
};
} // namespace

Accesses kiln::nvptx::collectAccesses(const Kernel &kernel, const Warps &warps,
                                      function_ref<bool(const Access &)> isHome) {
  return Narrower(kernel, warps, isHome).run();
}
