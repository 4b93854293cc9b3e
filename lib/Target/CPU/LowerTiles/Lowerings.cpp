// How each kind of op is lowered for the host, and which of them are detours.
#include "Lowerings.h"
#include "Program.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::cpu;
using namespace kiln::tile;

/// The host's atomic instructions add and exchange integers; all else is a loop.
static bool isLoop(Operation *op) {
  auto atomic = dyn_cast<AtomicRMWOp>(op);
  return atomic && atomic.getKind() != AtomicKind::AddI && atomic.getKind() != AtomicKind::Exch;
}

void Program::addLowerings(Lowerings &table) {
  // Control flow.
  table.add<scf::ForOp>([](Program &program, scf::ForOp op) { return program.lowerFor(op); });
  table.add<scf::WhileOp>([](Program &program, scf::WhileOp op) { return program.lowerWhile(op); });
  table.add<scf::IfOp, scf::IndexSwitchOp>(
      [](Program &program, Operation *op) { return program.lowerBranches(op); });

  // The kernel, its views and buffers.
  table.addInline<KernelOp>().moves();
  table
      .add<ViewFromPointerOp, SubviewOp, AddressOp, PointerFromAddressOp, DimOp, StrideOp>(
          [](Program &program, Operation *op) { program.lowerMemory(op); })
      .moves();
  table.add<AllocOp>([](Program &, AllocOp) {}).moves();
  table.add<AssumeOp>([](Program &, AssumeOp) {});
  table.add<MultipleOfOp>([](Program &program, MultipleOfOp op) {
    program.scalars.map(op.getResult(), program.scalar(op.getValue()));
  });

  // Memory.
  table.addInline<LoadOp, GatherOp, ReadOp>().moves();
  table.add<StoreOp>([](Program &program, StoreOp op) { program.lowerStore(op); }).moves();
  table.add<ScatterOp>([](Program &program, ScatterOp op) { program.lowerScatter(op); }).moves();
  table.add<WriteOp>([](Program &program, WriteOp op) { program.lowerWrite(op); }).moves();
  table
      .add<AtomicRMWOp, AtomicCASOp>(
          [](Program &program, Operation *op) { return program.lowerAtomic(op); })
      .emulatedIf(isLoop);

  // Products, and along an axis.
  table.add<DotOp>([](Program &program, DotOp op) { program.lowerDot(op); });
  table.add<DotScaledOp>([](Program &program, DotScaledOp op) { program.lowerDotScaled(op); })
      .emulated();
  table.add<ReduceOp>([](Program &program, ReduceOp op) { program.lowerReduce(op); });
  table.add<ScanOp>([](Program &program, ScanOp op) { program.lowerScan(op); });
  table.add<ArgReduceOp>([](Program &program, ArgReduceOp op) { program.lowerArgReduce(op); })
      .emulated();
  table.add<SortOp>([](Program &program, SortOp op) {
    program.lowerSort(op, op.getAxis(), op.getDescending(), op.getUnsignedKeys());
  });
  table
      .add<TopKOp>([](Program &program, TopKOp op) {
        program.lowerSort(op, op.getAxis(), !op.getSmallest(), op.getUnsignedKeys());
      })
      .emulated();
  table.add<HistogramOp>([](Program &program, HistogramOp op) { program.lowerHistogram(op); });
  table.addInline<PhiloxOp>().emulated();

  // Shapes and bits.
  table
      .addInline<SplatOp, BroadcastOp, ReshapeOp, TransposeOp, SliceOp, SplitOp, IotaOp,
                 arith::ConstantOp, arith::SelectOp, arith::BitcastOp>()
      .moves();
  table.add<ToScalarOp>([](Program &program, ToScalarOp op) { program.lowerToScalar(op); }).moves();
  table.add<TakeOp>([](Program &program, TakeOp op) { program.lowerTake(op); }).moves();
  table.add<ConcatOp>([](Program &program, ConcatOp op) { program.lowerConcat(op); }).moves();
  table.add<JoinOp>([](Program &program, JoinOp op) { program.lowerJoin(op); }).moves();
  table
      .add<tile::BitcastOp>([](Program &program, tile::BitcastOp op) {
        if (isInline(op.getResult()) || isInlineable(op))
          return program.lowerElements(op);
        program.lowerBitcast(op);
        return success();
      })
      .moves();

  // The outside.
  table.add<PrintOp>([](Program &program, PrintOp op) { return program.lowerPrint(op); }).moves();
  table.add<AssertOp>([](Program &program, AssertOp op) { return program.lowerAssert(op); });
  table.add<InlineAsmOp>(
      [](Program &program, InlineAsmOp op) { return program.lowerInlineAsm(op); });
  table.add<ExternCallOp>(
      [](Program &program, ExternCallOp op) { return program.lowerExternCall(op); });
}

const Lowerings &Lowerings::get() {
  static const Lowerings table = [] {
    Lowerings made;
    Program::addLowerings(made);
    return made;
  }();
  return table;
}
