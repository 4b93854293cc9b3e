// Declared.h: what is declared, looked for by the lines of the text.
#include "Check.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace kiln;
using namespace kiln::nvptx;

Check::Check(const Kernel &kernel, const Protocol &protocol) : kernel(kernel), protocol(protocol) {
  for (const Protocol::Role &role : protocol.roles) {
    int64_t first = role.first * kLanes, threads = role.warps * kLanes;
    roles.push_back({&role, Paths(kernel, first, threads * role.copies), {}});
    for (int64_t copy = 0; copy < role.copies && role.copies > 1; ++copy)
      roles.back().copies.push_back(Paths(kernel, first + copy * threads, threads));
  }
}

bool Check::isReached(unsigned line) const {
  return any_of(roles, [&](const Warps &warps) { return warps.paths.comesTo(line); });
}

void Check::checkWarps() {
  int64_t warps = 0;
  for (const Protocol::Role &role : protocol.roles)
    warps += role.warps * role.copies;
  if (warps * kLanes != kernel.threads)
    fail(kernel.line, formatv("the metadata declares roles of {0} threads; the block has {1}",
                              warps * kLanes, kernel.threads));
}

/// Each barrier in shared memory is made as it is declared.
void Check::checkInits() {
  std::map<int64_t, int64_t> arrivals;
  for (const Protocol::Counter &counter : protocol.counters)
    for (int64_t slot = 0; slot < counter.slots; ++slot)
      arrivals[counter.at + slot * kCounterBytes] = counter.arrivals;
  for (auto [at, line] : enumerate(kernel.code)) {
    if (!line.is("mbarrier.init") || line.operands.size() < 2 || !isReached(at))
      continue;
    const Warps &warps =
        *find_if(roles, [&, at = at](const Warps &warps) { return warps.paths.comesTo(at); });
    Known place = warps.paths.getPlace(line), count = warps.paths.get(line.operands[1]);
    if (!place || !count || !place->isOne() || !count->isOne()) {
      fail(line.number, "expected the place of a barrier, and its arrivals, to be constants");
      continue;
    }
    auto declared = arrivals.find(place->base);
    if (declared == arrivals.end())
      fail(line.number, formatv("a barrier at byte {0} of shared memory is made here, which the "
                                "metadata does not declare",
                                place->base));
    else if (declared->second != count->base)
      fail(line.number, formatv("the metadata declares {0} arrivals at the barrier at byte {1} of "
                                "shared memory; the code has it await {2}",
                                declared->second, place->base, count->base));
    if (declared != arrivals.end())
      arrivals.erase(declared);
  }
  for (auto [at, count] : arrivals)
    fail(kernel.line, formatv("the metadata declares a barrier of {0} arrivals at byte {1} of "
                              "shared memory; the code makes none",
                              count, at));
}

/// Each barrier with a number is one that is declared, and each of those is met at.
void Check::checkBarriers() {
  std::map<int64_t, int64_t> warpsOf; ///< by number
  for (const Protocol::Barrier &barrier : protocol.barriers)
    for (int64_t number = 0; number < barrier.count; ++number)
      warpsOf[barrier.number + number] = barrier.warps;
  std::set<int64_t> met;
  for (const Warps &warps : roles)
    for (auto [at, line] : enumerate(kernel.code)) {
      // With no number of threads it is the block's.
      if (!warps.paths.comesTo(at) || !isBarrier(line) || line.operands.size() < 2)
        continue;
      Known number = warps.paths.get(line.operands[0]), threads = warps.paths.get(line.operands[1]);
      auto numbers = number ? number->list(kLanes) : std::nullopt;
      auto isDeclared = [&](int64_t each) {
        auto found = warpsOf.find(each);
        return found != warpsOf.end() && threads == Known(getNumber(found->second * kLanes));
      };
      if (!numbers || !all_of(*numbers, isDeclared))
        fail(line.number, formatv("{0} threads meet at barrier {1} here, which the metadata does "
                                  "not declare",
                                  line.operands[1].text, line.operands[0].text));
      else
        met.insert(numbers->begin(), numbers->end());
    }
  for (auto [number, warps] : warpsOf)
    if (!met.count(number))
      fail(kernel.line, formatv("the metadata declares barrier {0} of {1} warps; nobody meets "
                                "there in the code",
                                number, warps));
}

/// Each role sets as many as it is declared to, and no other number.
void Check::checkRegisters() {
  for (const Warps &warps : roles) {
    int64_t declared = warps.role->registers;
    bool isSet = false;
    for (auto [at, line] : enumerate(kernel.code)) {
      if (!warps.paths.comesTo(at) || !line.is("setmaxnreg.") || line.operands.size() != 1)
        continue;
      isSet = true;
      if (line.operands[0].number != declared)
        fail(line.number, formatv("{0} registers are set here by warps of which the metadata "
                                  "declares {1}",
                                  line.operands[0].text, declared));
    }
    if (declared && !isSet)
      fail(kernel.line, formatv("the metadata declares {0} registers of {1}; the code sets none "
                                "such",
                                declared, warps.role->spell()));
  }
}

/// As many of each kind as are declared. LLVM makes no two of one, nor one of two (keepFences).
void Check::checkFences() {
  static constexpr struct {
    StringLiteral kind, mnemonic;
  } fences[] = {{"barriers", "fence.mbarrier_init."},
                {"shared", "fence.proxy.async.shared"},
                {"global", "fence.proxy.async.global"},
                {"tensor_before", "tcgen05.fence::before_thread_sync"},
                {"tensor_after", "tcgen05.fence::after_thread_sync"}};
  std::map<StringRef, int64_t> declared;
  for (const Protocol::Fence &fence : protocol.fences)
    declared[fence.kind] += fence.count;
  for (const auto &fence : fences) {
    int64_t found =
        count_if(kernel.code, [&](const Line &line) { return line.is(fence.mnemonic); });
    auto said = declared.find(fence.kind);
    int64_t count = said == declared.end() ? 0 : said->second;
    if (found != count)
      fail(kernel.line, formatv("the metadata declares {0} fences of the kind '{1}'; the code has "
                                "{2} '{3}'",
                                count, fence.kind, found, fence.mnemonic));
    if (said != declared.end())
      declared.erase(said);
  }
  for (auto [kind, count] : declared)
    fail(kernel.line,
         formatv("the metadata declares fences of a kind '{0}', of which PTX has none", kind));
}

//===- Copies that lag ----------------------------------------------------------------------===//

/// A copy lags by barriers of its role that it comes to in front of those before it, and these wait
/// for it as often at the end.
void Check::checkLag(const Warps &warps) {
  const Protocol::Role &role = *warps.role;
  int64_t threads = role.warps * role.copies * kLanes;
  std::vector<int64_t> early(role.copies), late(role.copies);
  for (auto [at, line] : enumerate(kernel.code)) {
    if (!warps.paths.comesTo(at) || !isBarrier(line))
      continue;
    Known count = line.operands.size() < 2 ? Known(getNumber(kernel.threads))
                                           : warps.paths.get(line.operands[1]);
    if (count != Known(getNumber(threads)))
      continue;
    SmallVector<bool> comes;
    for (const Paths &copy : warps.copies)
      comes.push_back(copy.comesTo(at));
    if (all_of(comes, [](bool one) { return one; }))
      continue;
    auto &passed = comes.back() ? early : late;
    for (int64_t copy = 0; copy < role.copies; ++copy)
      passed[copy] += comes[copy];
  }
  for (int64_t copy = 0; copy < role.copies; ++copy)
    if (early[copy] != copy * role.skew || late[copy] != (role.copies - 1 - copy) * role.skew)
      return fail(
          kernel.line,
          formatv("the metadata declares that copy {0} of {1} lags by {2} barriers; the code "
                  "has it pass {3} alone first, and {4} at the end",
                  copy, role.spell(), copy * role.skew, early[copy], late[copy]));
}

void Check::checkLags() {
  for (const Warps &warps : roles) {
    if (!warps.copies.empty())
      checkLag(warps);
    else if (warps.role->skew)
      fail(kernel.line, formatv("the metadata declares that copies of {0} lag; it has one",
                                warps.role->spell()));
    // Their loops are of chips whose barriers count waves wherever they stand.
    if (!warps.role->trips.empty())
      fail(kernel.line, formatv("the metadata declares barriers a trip of {0}, which PTX does "
                                "not tell",
                                warps.role->spell()));
  }
}

std::vector<TextProblem> Check::run() {
  checkWarps();
  checkInits();
  checkCounters();
  checkRings();
  checkBarriers();
  checkRegisters();
  checkFences();
  checkLags();
  return std::move(problems);
}

//===- The whole ----------------------------------------------------------------------------===//

bool kiln::nvptx::isText(StringRef text) {
  return text.starts_with(".target sm_") || text.contains("\n.target sm_");
}

std::vector<TextProblem> kiln::nvptx::checkText(StringRef text, std::vector<Protocol> protocols) {
  std::vector<TextProblem> problems;
  for (const Kernel &kernel : readKernels(text)) {
    auto declared =
        find_if(protocols, [&](const Protocol &each) { return each.kernel == kernel.name; });
    if (declared == protocols.end()) {
      problems.push_back(
          {kernel.line, kernel.name.str(), "the metadata declares no protocol of the kernel"});
      continue;
    }
    append_range(problems, Check(kernel, *declared).run());
    protocols.erase(declared);
  }
  for (const Protocol &protocol : protocols)
    problems.push_back(
        {1, protocol.kernel, "the metadata declares a protocol of a kernel that is not there"});
  return problems;
}

Expected<std::vector<TextProblem>> kiln::nvptx::checkText(StringRef text) {
  std::vector<Protocol> protocols;
  for (StringRef rest = text.split(kProtocolMark).second; !rest.empty();
       rest = rest.split(kProtocolMark).second) {
    Expected<Protocol> protocol = parseProtocol(rest.split('\n').first);
    if (!protocol)
      return protocol.takeError();
    protocols.push_back(std::move(*protocol));
  }
  return checkText(text, std::move(protocols));
}
