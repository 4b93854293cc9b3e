// Work beside the threads of a block: copies of a few bytes, and products of warp groups.
#include "Block.h"
#include <utility>

using namespace kiln;
using namespace kiln::emulated;

//===- Copies -------------------------------------------------------------------------------===//

Block::InFlight &Block::use(InFlight &work, const char *what) {
  if (!std::exchange(work.isUsed, true))
    work.queue = shared.order().addQueue(what);
  return work;
}

Block::InFlight &Block::useCopies(unsigned thread) {
  return use(copies[thread], "an asynchronous copy");
}

Block::InFlight &Block::useProducts(unsigned warp) { return use(products[warp], "a product"); }

void Block::startCopies(const Lanes &lanes, const std::vector<Copy> &started) {
  InFlight &work = useCopies(lanes.first);
  for (const Copy &copy : started)
    if (std::string wrong = startOne(work, copy); !wrong.empty())
      return stop(wrong);
  work.groups.emplace_back(shared.order().close(work.queue), started);
}

std::string Block::startOne(const InFlight &work, const Copy &copy) {
  analysis::Agent by = shared.agentOf(copy.thread);
  return shared.startWrite(by, shared.order().start(work.queue, by, analysis::Proxy::Generic),
                           copy.address, copy.bytes);
}

void Block::startCopy(const Copy &copy) {
  InFlight &work = useCopies(copy.thread);
  if (std::string wrong = startOne(work, copy); !wrong.empty())
    fail(wrong);
  work.ungrouped.push_back(copy);
}

void Block::endGroup(unsigned thread) {
  InFlight &work = useCopies(thread);
  work.groups.emplace_back(shared.order().commit(work.queue), std::exchange(work.ungrouped, {}));
}

void Block::tellOfCopies(unsigned thread, uint64_t barrier) {
  InFlight &work = useCopies(thread);
  for (; work.landed < work.groups.size(); ++work.landed)
    land(work.groups[work.landed].second);
  land(work.ungrouped);
  analysis::Tick tick = shared.order().commit(work.queue);
  if (std::string wrong = engines.tell(thread, work.queue, tick, barrier); !wrong.empty())
    fail(wrong);
}

/// They are there, and land no second time.
void Block::land(std::vector<Copy> &group) {
  for (const Copy &copy : std::exchange(group, {}))
    shared.land(copy.address, copy.bytes, copy.data);
}

void Block::waitForCopies(const Lanes &lanes, unsigned inFlight) {
  InFlight &work = copies[lanes.first];
  for (; work.groups.size() > inFlight; work.groups.pop_front()) {
    auto &[tick, group] = work.groups.front();
    land(group);
    work.landed -= work.landed > 0;
    for (unsigned lane = 0; lane < lanes.count; ++lane)
      shared.order().end(work.queue, tick, shared.agentOf(lanes.first + lane));
  }
}

//===- Products -----------------------------------------------------------------------------===//

analysis::Event Block::startProduct(unsigned warp) {
  return shared.order().start(useProducts(warp).queue, shared.agentOf(warp * launch.warpSize),
                              analysis::Proxy::Async);
}

void Block::endProducts(unsigned warp) {
  InFlight &work = useProducts(warp);
  work.groups.emplace_back(shared.order().commit(work.queue), std::vector<Copy>());
}

void Block::waitForProducts(const Lanes &lanes, unsigned inFlight) {
  InFlight &work = products[lanes.first / launch.warpSize];
  work.isFenced = work.isFencedByWatched = false;
  for (; work.groups.size() > inFlight; work.groups.pop_front())
    for (unsigned lane = 0; lane < lanes.count; ++lane)
      shared.order().end(work.queue, work.groups.front().first, shared.agentOf(lanes.first + lane));
}

void Block::fenceRegisters(unsigned warp) {
  products[warp].isFenced = true;
  products[warp].isFencedByWatched |= shared.order().isWatched();
}

bool Block::hasFencedRegisters(unsigned warp) const {
  if (products[warp].isFencedByWatched)
    shared.order().noteUse();
  return products[warp].isFenced;
}

bool Block::useRegisters(unsigned warp, const analysis::Event &reader, size_t bits) {
  auto [at, isNew] =
      registers.try_emplace({warp, shared.order().getSite()}, Registers{reader, bits});
  Registers before = std::exchange(at->second, Registers{reader, bits});
  return !isNew && before.bits != bits && !shared.order().hasEnded(before.reader);
}

//===- Reads of tensor memory ---------------------------------------------------------------===//

Block::InFlight &Block::useReads(unsigned warp) {
  return use(reads[warp], "a read of tensor memory");
}

analysis::Event Block::startReads(unsigned warp) {
  return shared.order().start(useReads(warp).queue, shared.agentOf(warp * launch.warpSize),
                              analysis::Proxy::Tensor);
}

void Block::waitForReads(const Lanes &lanes) {
  InFlight &work = useReads(lanes.first / launch.warpSize);
  analysis::Tick tick = shared.order().close(work.queue);
  for (unsigned lane = 0; lane < lanes.count; ++lane)
    shared.order().end(work.queue, tick, shared.agentOf(lanes.first + lane));
}

//===- Values that are not there yet --------------------------------------------------------===//

/// Tags are NaNs, signalling ones, of which there are so many. A value is kept until its thread has
/// started so many more: shared memory has operands for fewer between a product and its wait.
constexpr uint32_t kFirstTag = 0x7f800001, kTags = 0x3fffff, kKeptValues = 4096;

uint32_t Block::tagValue(unsigned thread, const analysis::Event &maker, uint32_t bits) {
  Values &own = values[thread];
  own.byTag.resize(kKeptValues);
  uint32_t tag = kFirstTag + own.last++ % kTags;
  own.byTag[tag % kKeptValues] = {tag, bits, maker};
  return tag;
}

const Block::Value *Block::findValue(unsigned thread, uint32_t tag) const {
  const std::vector<Value> &byTag = values[thread].byTag;
  const Value *value = byTag.empty() ? nullptr : &byTag[tag % kKeptValues];
  return value && value->tag == tag ? value : nullptr;
}

uint32_t Block::takeValue(unsigned thread, uint32_t bits) const {
  const Value *value = findValue(thread, bits);
  return value ? value->bits : bits;
}

uint32_t Block::fetchValue(unsigned thread, uint32_t bits) const {
  const Value *value = findValue(thread, bits);
  return value && shared.order().hasEnded(value->maker) ? value->bits : bits;
}
