// The protocol by which a kernel's warps hand data to one another, as the compiler has realised it:
// what it declares in the metadata, and what who reads the final code must find there.
#ifndef KILN_SUPPORT_PROTOCOL_H
#define KILN_SUPPORT_PROTOCOL_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>
#include <vector>

namespace kiln {

struct Protocol {
  /// Warps that run one part of the program, copy behind copy from warp `first` on.
  struct Role {
    /// Of one that counters name; else none.
    std::string name;
    int64_t first = 0, warps = 0, copies = 1;
    /// By how many barriers of the block each copy lags behind the one before it.
    int64_t skew = 0;
    /// What each thread may use, where the role sets it; else 0.
    int64_t registers = 0;
    /// Of a role with a skew on a chip whose barriers are of all waves, how many of them each of
    /// its innermost loops has a trip; zero of loops in which conditions decide on that.
    std::vector<int64_t> trips;
    /// "role 'load'", or by its warps.
    std::string spell() const;
  };
  /// One of the buffers of a ring's slots: bytes of shared memory, and of one slot.
  struct Buffer {
    int64_t at = 0, bytes = 0;
  };
  /// Slots in shared memory; `own` if who reads them fills them. Of such a ring only buffers that
  /// copies fill past the registers: what stores fill no code tells from other tiles.
  struct Ring {
    int64_t depth = 0;
    bool own = false;
    std::vector<Buffer> buffers;
    /// Rings in front of it on whose bytes it lies, by their numbers: both are not in use at once.
    std::vector<int64_t> over;
  };
  /// Words in shared memory, 8 bytes apart, that count the arrivals of a phase; and which roles
  /// arrive and wait there. Those of a ring, by its number, are one for each of its slots, behind
  /// its buffers.
  struct Counter {
    int64_t at = 0, slots = 0, arrivals = 0;
    std::optional<int64_t> ring;
    std::vector<std::string> arrive, wait;
  };
  /// Barriers with a number, each of so many warps.
  struct Barrier {
    int64_t number = 0, count = 1, warps = 0;
  };
  /// How many fences of a kind there are.
  struct Fence {
    std::string kind;
    int64_t count = 0;
  };

  std::string kernel;
  std::vector<Role> roles;
  std::vector<Ring> rings;
  std::vector<Counter> counters;
  std::vector<Barrier> barriers;
  std::vector<Fence> fences;
};

/// Where the text stands beside the code of kernels that has sections, a zero behind each.
inline constexpr llvm::StringLiteral kProtocolSection = ".kiln.protocol";

/// How far words that count arrivals lie apart.
inline constexpr int64_t kCounterBytes = 8;

/// What slots of rings are aligned to, wherever they begin and end.
inline constexpr int64_t kRingAlignment = 1024;

/// Reads what stands beside the code of a kernel; what is wrong is an error that names the member.
llvm::Expected<Protocol> parseProtocol(llvm::StringRef text);

/// "waves 4 to 7".
std::string spellRange(llvm::StringRef what, int64_t first, int64_t last);

} // namespace kiln

#endif // KILN_SUPPORT_PROTOCOL_H
