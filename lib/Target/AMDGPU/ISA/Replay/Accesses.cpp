// What instructions of the block's waves do in memory.
#include "Block.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace kiln::amdgcn;

/// Part of a word as a register has it, with its sign or without.
static uint32_t takePart(const Instruction &access, uint32_t word) {
  if (access.bytes >= 4 || !access.bytes)
    return word;
  unsigned bits = 8 * access.bytes;
  return access.type.kind == 'i' ? uint32_t(SignExtend64(word, bits))
                                 : word & ((uint32_t(1) << bits) - 1);
}

/// A result that keeps half of what stood there.
static void setLoaded(Wave &wave, const Instruction &access, unsigned word, Words &words) {
  const Registers &result = *access.result;
  if (access.keepsHalf) {
    const Words &before = wave.getVector(result.file, result.first);
    if (words.isUniform)
      std::fill(words.lanes.begin() + 1, words.lanes.end(), words.lanes[0]);
    words.isUniform = false;
    for (unsigned lane = 0; lane < wave.getLanes(); ++lane) {
      uint32_t kept = before.get(lane), half = words.lanes[lane] & 0xffff;
      words.lanes[lane] =
          access.isOfUpperHalf ? (kept & 0xffff) | half << 16 : (kept & 0xffff0000) | half;
    }
  }
  wave.setVector(result, result.first + word, words);
}

//===- LDS ----------------------------------------------------------------------------------===//

bool Block::findPlaces(const Wave &wave, const Step &step,
                       SmallVectorImpl<std::pair<unsigned, uint32_t>> &places) {
  const Instruction &access = *step.instruction;
  unsigned bytes = access.bytes / access.offsets.size();
  bool isLoad = access.kind == Kind::LoadToLDS;
  Input address;
  address.registers = access.address->registers;
  address.number = uint64_t(access.address->number.value_or(0));
  Cause cause = wave.getCause(address);
  bool isOfData = cause && kiln::amdgcn::isOfData(kernel.code[cause - 1]);
  if (!isOfData && !checkCause(wave, cause, "a place in LDS"))
    return false;
  for (unsigned offset : access.offsets)
    for (unsigned lane = 0; lane < wave.getLanes(); ++lane) {
      if (!wave.isOn(lane))
        continue;
      uint64_t place = wave.get(address, lane) + offset;
      // Lanes of a load that passes the registers by fill words one behind another.
      if (isLoad)
        place += lane * std::max(bytes, 4u);
      bool isIn = uint32_t(place) + uint64_t(std::max(bytes, 1u)) <= ldsBytes;
      // Data are drawn, and need not be what the kernel asks of them.
      if (!isIn && isOfData)
        continue;
      if (!isIn) {
        fail(wave.at, formatv("expected a place in the {0} bytes of LDS, got {1} in lane {2} of "
                              "wave {3}",
                              ldsBytes, uint32_t(place), lane, wave.number));
        return false;
      }
      places.push_back({lane, uint32_t(place)});
    }
  return true;
}

/// Looks, and what they look at, are no tiles.
void Block::noteTouched(const Wave &wave, const Step &step,
                        ArrayRef<std::pair<unsigned, uint32_t>> places) {
  const Instruction &access = *step.instruction;
  if (!touched || places.empty())
    return;
  uint32_t word = places.front().second;
  if (access.isArrival)
    touched->arrive(wave.number, word,
                    step.data.empty() ? 0 : uint32_t(wave.get(step.data[0], places.front().first)));
  if (access.isLook)
    touched->look(wave.number, word);
  if (access.isArrival || access.isLook || access.kind == Kind::AtomicLDS)
    return;
  bool isCopy = access.kind == Kind::LoadToLDS;
  unsigned bytes = access.bytes / access.offsets.size();
  for (auto [lane, place] : places)
    touched->access(wave.at, wave.number,
                    isCopy                          ? Touched::Use::Copy
                    : access.kind == Kind::WriteLDS ? Touched::Use::Write
                                                    : Touched::Use::Read,
                    place, isCopy ? std::max(bytes, 4u) : std::max(bytes, 1u));
}

ArrayRef<Cells> Block::getCells(ArrayRef<std::pair<unsigned, uint32_t>> places, unsigned bytes) {
  SmallVector<uint32_t, 2 * kMostLanes> starts;
  for (auto [lane, place] : places)
    starts.push_back(place);
  if (!is_sorted(starts))
    std::sort(starts.begin(), starts.end());
  cells.clear();
  for (uint32_t start : starts) {
    size_t first = start / cellBytes, end = divideCeil(start + bytes, cellBytes);
    if (cells.empty() || cells.back().first + cells.back().count < first)
      cells.push_back({first, end - first});
    else
      cells.back().count = std::max(cells.back().count, end - cells.back().first);
  }
  return cells;
}

Memory::Word Block::readLDS(uint32_t place, unsigned bytes) const {
  Memory::Word word = memory.lds[place / 4];
  if (unsigned byte = place % 4; byte && bytes + byte > 4 && place / 4 + 1 < memory.lds.size())
    word.word = word.word >> (8 * byte) | memory.lds[place / 4 + 1].word << (32 - 8 * byte);
  else
    word.word >>= 8 * byte;
  return word;
}

/// Puts so many bytes; of the cells notes whether just these were there already.
void Block::writeLDS(uint32_t place, unsigned bytes, ArrayRef<Memory::Word> words) {
  for (unsigned byte = 0; byte < bytes; byte += 4) {
    unsigned count = std::min(4u, bytes - byte);
    for (unsigned part = 0; part < count;) {
      uint32_t at = place + byte + part;
      unsigned in = at % 4, run = std::min(4 - in, count - part);
      uint32_t mask = run == 4 ? UINT32_MAX : ((uint32_t(1) << (8 * run)) - 1) << (8 * in);
      Memory::Word &to = memory.lds[at / 4];
      uint32_t after = words[byte / 4].word >> (8 * part) << (8 * in);
      for (unsigned cell = at / cellBytes; cell <= (at + run - 1) / cellBytes; ++cell) {
        unsigned shift = 8 * (cell * cellBytes % 4);
        uint32_t ofCell = (cellBytes == 4 ? UINT32_MAX : uint32_t(0xff)) << shift;
        isSame[cell] = !((to.word ^ after) & mask & ofCell);
      }
      to.word = (to.word & ~mask) | (after & mask);
      to.cause = words[byte / 4].cause;
      part += run;
    }
  }
}

void Block::updateLDS(const Wave &wave, const Step &step, unsigned lane, uint32_t place) {
  auto get = [&](size_t number) {
    return number < step.data.size() ? uint32_t(wave.get(step.data[number], lane)) : 0;
  };
  // The word that is expected comes first.
  bool isExpected = step.instruction->operation == Operation::CompareExchange;
  Memory::Word &word = memory.lds[place / 4];
  word.word = combine(*step.instruction, word.word, get(isExpected), get(0));
  ++changes;
}

void Block::accessLDS(Runner &runner, const Step &step) {
  Wave &wave = runner.wave;
  const Instruction &access = *step.instruction;
  SmallVector<std::pair<unsigned, uint32_t>, 2 * kMostLanes> places;
  if (!findPlaces(wave, step, places))
    return;
  noteTouched(wave, step, places);
  unsigned bytes = access.bytes / access.offsets.size();
  unsigned wordsOfPlace = divideCeil(bytes, 4);
  ArrayRef<Cells> touched = getCells(places, bytes);
  Order::Use use = access.kind == Kind::AtomicLDS || access.isLook ? Order::Use::Update
                   : access.kind == Kind::WriteLDS                 ? Order::Use::Write
                                                                   : Order::Use::Read;
  if (access.kind == Kind::WriteLDS) {
    size_t half = places.size() / access.offsets.size();
    for (auto [at, each] : enumerate(places)) {
      auto [lane, place] = each;
      const Input &data = step.data[half && at >= half ? 1 : 0];
      SmallVector<Memory::Word, 4> words;
      for (unsigned word = 0; word < wordsOfPlace; ++word)
        words.push_back({uint32_t(wave.get(data, lane, word)), wave.getCause(data)});
      if (access.isOfUpperHalf)
        words[0].word >>= 16;
      writeLDS(place, bytes, words);
    }
    ++changes;
  }
  if (std::string text = order.issue(wave.number, wave.at, touched, use, isSame.get());
      !text.empty())
    return fail(wave.at, text);
  std::vector<Words> loaded(access.result ? wordsOfPlace * access.offsets.size() : 0);
  for (Words &each : loaded)
    each.isUniform = false;
  size_t half = places.size() / access.offsets.size();
  for (auto [at, each] : enumerate(places)) {
    auto [lane, place] = each;
    for (unsigned word = 0; word < wordsOfPlace && !loaded.empty(); ++word) {
      Memory::Word found = readLDS(place + 4 * word, std::min(bytes, 4u));
      Words &to = loaded[word + (at >= half ? wordsOfPlace : 0)];
      to.lanes[lane] = takePart(access, found.word);
      to.cause = found.cause ? found.cause : to.cause;
    }
    if (access.kind == Kind::AtomicLDS)
      updateLDS(wave, step, lane, place);
  }
  // An atomic access may take the register that it fills.
  for (auto [word, each] : enumerate(loaded))
    if (access.result->first + word <= access.result->last)
      setLoaded(wave, access, word, each);
  if (places.empty())
    return;
  if (access.isArrival)
    order.arrive(wave.number, places.front().second);
  if (access.isLook) {
    order.look(wave.number, places.front().second);
    runner.hasLooked = true;
    runner.looked = changes;
    runner.lookedAt = wave.at;
  }
}

/// By the crossbar of LDS, not its memory.
void Block::permute(Wave &wave, const Step &step) {
  const Instruction &access = *step.instruction;
  order.issue(wave.number, wave.at);
  if (!access.result)
    return;
  Operation operation = access.operation;
  if (step.data.empty() ||
      (operation != Operation::ReadFromLane && operation != Operation::WriteToLane))
    return wave.nameAll(*access.result, mix(hash_value(access.mnemonic), wave.at), wave.at + 1);
  Words words;
  words.isUniform = false;
  words.cause = wave.getCause(step.data);
  for (unsigned lane = 0; lane < wave.getLanes(); ++lane) {
    unsigned other = uint32_t(wave.get(step.address[0], lane) + step.offset) / 4 % wave.getLanes();
    bool takes = operation == Operation::ReadFromLane;
    if (wave.isOn(takes ? other : lane))
      words.lanes[takes ? lane : other] = uint32_t(wave.get(step.data[0], takes ? other : lane));
  }
  wave.setVector(*access.result, access.result->first, words);
}

//===- Global memory ------------------------------------------------------------------------===//

uint64_t Block::getAttempt(Runner &runner, uint64_t address) {
  // Who looks at one place again and again, and does nothing else, sees it change in the end.
  constexpr uint64_t kPatience = 4;
  auto &[last, count] = runner.attempts[runner.wave.at];
  count = last == address ? count + 1 : 0;
  last = address;
  return count < kPatience ? 0 : count;
}

void Block::loadScalar(Runner &runner, const Step &step) {
  Wave &wave = runner.wave;
  const Instruction &access = *step.instruction;
  if (!access.result)
    return;
  uint64_t address = uint64_t(step.offset);
  Cause cause = 0;
  for (const Input &input : step.address) {
    uint64_t number = wave.getScalar(input);
    address +=
        step.isByDescriptor && input.registers ? number & maskTrailingOnes<uint64_t>(48) : number;
  }
  // What says the time, or no place.
  if (step.address.empty())
    return wave.nameAll(*access.result, mix(wave.at, wave.number), wave.at + 1);
  uint64_t attempt = getAttempt(runner, address);
  for (unsigned number = access.result->first; number <= access.result->last; ++number) {
    uint64_t place = address + 4 * (number - access.result->first);
    bool isGiven = memory.isGiven(place);
    cause = isGiven ? 0 : wave.at + 1;
    uint32_t word = memory.read(isGiven ? place : place & ~uint64_t(3), attempt);
    wave.setScalar(number, takePart(access, word >> (isGiven ? 0 : 8 * (place % 4))), cause);
  }
}

uint64_t Block::getAddress(const Wave &wave, const Step &step, unsigned lane,
                           bool &isInBounds) const {
  uint64_t address = uint64_t(step.offset), offset = uint64_t(step.offset);
  isInBounds = true;
  for (const Input &input : step.address) {
    unsigned words = input.registers ? input.registers->last - input.registers->first + 1 : 1;
    uint64_t number = wave.get(input, lane);
    if (words > 1)
      number |= wave.get(input, lane, 1) << 32;
    if (words == 4)
      number &= maskTrailingOnes<uint64_t>(48);
    if (input.isVector())
      offset += number;
    address += number;
  }
  if (step.isByDescriptor)
    for (const Input &input : step.address)
      if (input.registers && input.registers->getBytes() == 16)
        isInBounds = offset < wave.get(input, lane, 2);
  return address;
}

void Block::loadGlobal(Runner &runner, const Step &step) {
  Wave &wave = runner.wave;
  const Instruction &access = *step.instruction;
  order.issue(wave.number, wave.at);
  if (!access.result)
    return;
  unsigned count = access.result->last - access.result->first + 1;
  bool isInBounds;
  uint64_t attempt = getAttempt(runner, getAddress(wave, step, wave.getFirstLane(), isInBounds));
  std::vector<Words> words(count);
  for (Words &each : words) {
    each.isUniform = false;
    each.cause = wave.at + 1;
  }
  for (unsigned lane = 0; lane < wave.getLanes(); ++lane) {
    if (!wave.isOn(lane))
      continue;
    uint64_t address = getAddress(wave, step, lane, isInBounds);
    for (unsigned word = 0; word < count && isInBounds; ++word) {
      uint64_t place = address + 4 * word;
      uint32_t found = memory.isGiven(place) ? memory.read(place)
                                             : memory.read(place & ~uint64_t(3), attempt) >>
                                                   (access.bytes < 4 ? 8 * (place % 4) : 0);
      words[word].lanes[lane] = takePart(access, found);
    }
  }
  for (auto [word, each] : enumerate(words))
    setLoaded(wave, access, word, each);
}

void Block::loadToLDS(Runner &runner, const Step &step) {
  Wave &wave = runner.wave;
  const Instruction &access = *step.instruction;
  SmallVector<std::pair<unsigned, uint32_t>, kMostLanes> places;
  if (!findPlaces(wave, step, places))
    return;
  noteTouched(wave, step, places);
  unsigned bytes = std::max(access.bytes, 4u);
  ArrayRef<Cells> touched = getCells(places, bytes);
  for (auto [lane, place] : places) {
    bool isInBounds;
    uint64_t address = getAddress(wave, step, lane, isInBounds);
    SmallVector<Memory::Word, 4> words;
    for (unsigned word = 0; word < bytes / 4; ++word)
      words.push_back({isInBounds ? memory.read(address + 4 * word) : 0, wave.at + 1});
    writeLDS(place, bytes, words);
  }
  ++changes;
  std::string text = order.issue(wave.number, wave.at, touched, Order::Use::Write, isSame.get());
  if (!text.empty())
    fail(wave.at, text);
}

void Block::updateGlobal(Runner &runner, const Step &step) {
  Wave &wave = runner.wave;
  const Instruction &access = *step.instruction;
  order.issue(wave.number, wave.at);
  Words words;
  words.isUniform = false;
  words.cause = wave.at + 1;
  for (unsigned lane = 0; lane < wave.getLanes(); ++lane) {
    if (!wave.isOn(lane) || step.data.empty())
      continue;
    bool isInBounds;
    uint64_t address = getAddress(wave, step, lane, isInBounds);
    uint32_t number = uint32_t(wave.get(step.data[0], lane));
    uint32_t expected = uint32_t(wave.get(step.data[0], lane, 1));
    words.lanes[lane] = memory.update(address, access, number, expected);
  }
  if (access.result)
    for (unsigned word = 0; access.result->first + word <= access.result->last; ++word)
      wave.setVector(*access.result, access.result->first + word, words);
}

/// What a lane put by, at the same address of its own.
void Block::accessScratch(Runner &runner, const Step &step) {
  Wave &wave = runner.wave;
  const Instruction &access = *step.instruction;
  order.issue(wave.number, wave.at);
  bool isStore = access.kind == Kind::StoreGlobal, isInBounds;
  unsigned count = std::max(1u, access.bytes / 4);
  for (unsigned word = 0; word < count; ++word) {
    Words loaded;
    loaded.isUniform = false;
    for (unsigned lane = 0; lane < wave.getLanes(); ++lane) {
      if (!wave.isOn(lane))
        continue;
      uint32_t address = uint32_t(getAddress(wave, step, lane, isInBounds)) + 4 * word;
      Words &there = memory.scratch[{wave.number, address / 4}];
      there.isUniform = false;
      if (isStore) {
        there.lanes[lane] = uint32_t(wave.get(step.data[0], lane, word));
        there.cause = wave.getCause(step.data);
      } else {
        loaded.lanes[lane] = takePart(access, there.lanes[lane]);
        loaded.cause = there.cause ? there.cause : loaded.cause;
      }
    }
    if (!isStore && access.result)
      setLoaded(wave, access, word, loaded);
  }
}

/// What functions write has a name.
void Block::call(Wave &wave, const Step &step) {
  for (unsigned counter = 0; counter < kNumCounters; ++counter)
    order.wait(wave.number, Counter(counter), 0);
  uint64_t name = mix(wave.at, 0);
  for (const Registers &written : kernel.writtenByFunctions)
    if (!(written == kLanes))
      wave.nameAll(written, name = mix(name, 1), wave.at + 1);
}

void Block::accessMemory(Runner &runner, const Step &step) {
  const Instruction &access = *step.instruction;
  if (access.isScratch)
    return accessScratch(runner, step);
  bool looks = access.isLook || access.kind == Kind::LoadScalar ||
               access.kind == Kind::LoadGlobal || access.kind == Kind::AtomicGlobal;
  if (!looks)
    runner.attempts.clear();
  switch (access.kind) {
  case Kind::ReadLDS:
  case Kind::WriteLDS:
  case Kind::AtomicLDS:
    return accessLDS(runner, step);
  case Kind::PermuteLanes:
    return permute(runner.wave, step);
  case Kind::LoadScalar:
    return loadScalar(runner, step);
  case Kind::LoadGlobal:
    return loadGlobal(runner, step);
  case Kind::LoadToLDS:
    return loadToLDS(runner, step);
  case Kind::AtomicGlobal:
    return updateGlobal(runner, step);
  case Kind::StoreGlobal:
    order.issue(runner.wave.number, runner.wave.at);
    return;
  default:
    return fail(runner.wave.at, "expected an access whose place in memory is known");
  }
}
