// The grid of a persistent kernel, whose few programs run many tiles each.
#ifndef KILN_LIB_SCHEDULE_PERSISTENTGRID_H
#define KILN_LIB_SCHEDULE_PERSISTENTGRID_H

#include "Decisions.h"
#include "kiln/Dialect/Tile/IR/GridDecisions.h"

namespace kiln {

/// Numbers tiles so that those which the programs of one chiplet run follow one another. Chiplets
/// take programs in turn: program `p` is on chiplet `p mod chiplets`. It runs the tiles `p`,
/// `p + programs`, …; these are numbered behind all tiles of the chiplets in front of its own, in
/// the order in which its chiplet comes to them. So each number is given once, whatever divides
/// what.
class ChipletNumbers {
public:
  ChipletNumbers(IndexMath math, int64_t chiplets, mlir::Value tiles, mlir::Value program,
                 mlir::Value programs);
  mlir::Value number(IndexMath math, mlir::Value t);

private:
  mlir::Value programs;
  /// The number of the program's first tile, and how many programs its chiplet has.
  mlir::Value first, step;
};

/// First all is checked, then a program's beginning is made, then its loop is filled.
class PersistentGrid {
public:
  /// The grid of a kernel with `tile.persistent`; an error if it has none that fits the order of
  /// its tiles.
  static mlir::FailureOr<PersistentGrid> get(tile::KernelOp kernel);

  /// In front of all that the kernel does: how many tiles there are, and which program of how many
  /// this one is. Leaves the builder behind it.
  void begin(mlir::OpBuilder &builder);
  /// Has these of the kernel's ops, which are the same for all tiles, come before its loop.
  void hoist(mlir::OpBuilder &builder, const llvm::SmallPtrSetImpl<mlir::Operation *> &same);
  /// Tiles up to such a number, which programs run in turn, follow one another on one chiplet, if
  /// the order is to be by chiplets.
  void numberByChiplets(IndexMath math, mlir::Value upTo);
  /// Where tile `t`, run in turn, comes in the order of tiles.
  mlir::Value number(IndexMath math, mlir::Value t) {
    return byChiplet ? byChiplet->number(math, t) : t;
  }
  /// Fills a loop with the kernel's program, of the tile that comes at a place of the order.
  void fill(mlir::scf::ForOp loop, mlir::Value at);
  /// Has a launch make so few programs, and takes the decisions off.
  void finish();

  /// Whether a launch makes no more programs than run the tiles in as few rounds.
  bool isEven() const { return persistent.getEven(); }

  tile::KernelOp kernel;
  tile::Raster raster;
  /// Where programs of clusters work together, all three count clusters, of tiles and of programs:
  /// these lie behind one another along x, and each program has the tile at its own place.
  mlir::Value tiles, program, programs;

private:
  explicit PersistentGrid(tile::KernelOp kernel);
  bool hasClusters() const { return cluster[0] * cluster[1] * cluster[2] > 1; }
  llvm::LogicalResult checkCluster();
  /// How many of the tiles that are kept together one cluster has.
  int64_t countGrouped();

  tile::GridOp grid;
  tile::PersistentAttr persistent;
  mlir::SmallVector<mlir::Operation *> ops;
  /// Of the grid, and of the clusters' grid; where in its cluster the program is, along axes that
  /// have more than one.
  mlir::Value extents[3], clusters[3], own[3];
  std::array<int64_t, 3> cluster;
  std::optional<ChipletNumbers> byChiplet;
};

} // namespace kiln

#endif // KILN_LIB_SCHEDULE_PERSISTENTGRID_H
