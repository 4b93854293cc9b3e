// The programs of a launch on an emulated chip: one cluster after another, and where programs wait
// for one another, as many at once as the chip keeps.
//
// A thread that looks at a word of global memory by atomic accesses again and again, and always
// finds the same, waits for another program to change it. Once all that run can do no more, the
// next program begins; if no more may, those who look do so a few times more, since they may give
// up. A chip begins programs in order, so whoever waits for one that comes too late waits forever.
#ifndef KILN_LIB_RUNTIME_EMULATED_GRID_H
#define KILN_LIB_RUNTIME_EMULATED_GRID_H

#include "Cluster.h"
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace kiln::emulated {

class Grid {
public:
  /// In clusters of so many blocks along each axis.
  Grid(const Launch &launch, const int64_t cluster[3]);
  /// Goes on until a cluster has ended or something is wrong; false if all have ended.
  bool advance();
  /// What is wrong, or nothing; and whether it is that there was no memory.
  const std::string &getError() const { return error; }
  bool lacksMemory() const { return isWithoutMemory; }

private:
  /// Begins the next cluster; whether there was one that may.
  bool start();
  /// None that run can go on.
  bool goOn();
  std::string describeDeadlock() const;
  void locate(uint64_t number, uint32_t program[3]) const;

  const Launch &launch;
  GlobalMemory global;
  int64_t cluster[3];
  uint64_t counts[3], count;
  /// Clusters: that the chip keeps at once; that may begin, being among as many that have not
  /// ended; the first of those behind.
  uint64_t most;
  std::vector<uint64_t> waiting;
  uint64_t next = 0;
  std::vector<std::unique_ptr<Cluster>> running, idle;
  Turns turns;
  /// Of looks that those who run were given since anything happened, and their steps before.
  unsigned rounds = 0;
  uint64_t stepsBefore = 0;
  std::string error;
  bool isWithoutMemory = false;
};

} // namespace kiln::emulated

#endif // KILN_LIB_RUNTIME_EMULATED_GRID_H
