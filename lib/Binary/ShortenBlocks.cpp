// ShortenBlocks.h: where a block is cut.
#include "ShortenBlocks.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace llvm;

/// Shorter blocks cost more by the values that go from one to the next, through memory, than they
/// save: kernels of 5,000 to 8,000 instructions were quickest at 128 to 512.
static constexpr unsigned kMostInstructions = 256;

/// The first instruction that may stand in a block of its own: room that is not made in the entry
/// would be made at run time.
static BasicBlock::iterator findBody(BasicBlock &block) {
  auto body = block.getFirstNonPHIIt();
  if (block.isEntryBlock())
    for (auto at = body; at != block.end(); ++at)
      if (isa<AllocaInst>(*at))
        body = std::next(at);
  return body;
}

static void shorten(BasicBlock *block) {
  auto at = findBody(*block);
  for (unsigned count = 0; !at->isTerminator(); ++at)
    if (count++ == kMostInstructions) {
      block = block->splitBasicBlock(at);
      at = block->begin();
      count = 1;
    }
}

void kiln::shortenBlocks(Module &module) {
  for (Function &function : module)
    for (BasicBlock *block : to_vector(make_pointer_range(function)))
      shorten(block);
}
