// How reports name who did what, and where in the source.
#ifndef KILN_LIB_RUNTIME_EMULATED_REPORTS_H
#define KILN_LIB_RUNTIME_EMULATED_REPORTS_H

#include "kiln/Analysis/AccessHistory.h"
#include <array>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace kiln::emulated {

/// A place in the program, as the object's table has it (lib/Target/Emulated/Sites.h).
struct Site {
  uint32_t file, line, column, what, caller, scalars;
};

/// Clashes of accesses at different places, so many of which are told together: the program goes on
/// behind all but the last.
struct Clashes {
  uint64_t most = 1;
  std::set<std::array<uint32_t, 3>> seen; ///< what kind each is, and the sites of both accesses
  std::string told;                       ///< of those behind which it has gone on

  /// What stops the program, or nothing.
  std::string add(const std::array<uint32_t, 3> &clash, const std::string &what);
};

struct Names {
  const Site *sites = nullptr;
  const char *text = nullptr;
  unsigned threads = 1, warpSize = 32; ///< of a block, of a warp
  /// Warps from one on that run a part of the program of their own.
  struct Role {
    std::string name;
    unsigned firstWarp, warps;
  };
  std::vector<Role> roles = {};
  std::shared_ptr<Clashes> clashes = nullptr; ///< of a launch

  /// ", at k.py:3:5 (load), called at k.py:9:1", as far as it is known.
  std::string at(uint32_t site) const;
  /// "thread 3 (warp 0, role load)", with its block if it is none of the block that begins there.
  std::string thread(analysis::Agent agent, analysis::Agent first) const;
  /// " (role load)", or nothing.
  std::string role(unsigned warp) const;
};

/// Who made or started an access, and where.
struct Access {
  analysis::Event event;
  analysis::Agent by = 0;
  uint32_t site = 0;
};

/// The last accesses of each agent to a memory, of which reports tell.
class AccessLog {
public:
  void clear();
  /// Of its agent so many are kept.
  void note(const Access &access, bool isWrite, size_t first, size_t count, size_t kept);
  std::optional<Access> findLast(analysis::Agent agent) const;
  /// The last one that made an event of the byte; with no site if it is too long ago.
  Access find(const analysis::Event &event, bool isWrite, size_t offset) const;

private:
  struct Record {
    analysis::Tick tick;
    analysis::Agent by;
    uint32_t site, first, count;
    bool isWrite;
  };
  struct Ring {
    std::vector<Record> records;
    size_t next = 0;
  };
  std::vector<Ring> rings; ///< by agent
};

/// Who made it, by which proxy and where.
std::string describeAccess(const analysis::HappensBefore &order, const Names &names,
                           analysis::Agent first, const Access &access);

/// What is wrong with a use of the barrier at an offset of shared memory, that no fence shows it
/// though it was initialised.
std::string describeUnpublished(const analysis::HappensBefore &order, const Names &names,
                                analysis::Agent first, const Access &use, const Access &initialised,
                                uint64_t offset);

/// What is wrong with an access: its own event and the one that it clashes with, where and by whom,
/// and what is missing between the two; or nothing, if the program goes on. `place` is as in "byte
/// 4 of shared memory", `what` as in "a read of", `noun` as in "read"; the block whose memory it is
/// has its threads from `first` on.
std::string describe(const analysis::HappensBefore &order, const Names &names,
                     analysis::Agent first, const analysis::Clash &clash, const Access &access,
                     const Access &other, const std::string &place, const char *what,
                     const char *noun);

} // namespace kiln::emulated

#endif // KILN_LIB_RUNTIME_EMULATED_REPORTS_H
