// Memory, streams, peers and recovery of a device on top of a vendor's driver.
#include "AcceleratorDevice.h"
#include "kiln/Runtime/Error.h"
#include "llvm/ADT/STLExtras.h"
#include <chrono>
#include <cstdlib>
#include <thread>

using namespace kiln;
using namespace llvm;

/// How many devices of a driver can be one another's peers.
static constexpr int maxPeers = 64;

AcceleratorDevice::AcceleratorDevice(AcceleratorInfo given, std::unique_ptr<AcceleratorApi> api)
    : Device(given.name, given.target, given.identity, given.memory), info(std::move(given)),
      api(std::move(api)), health(info.name), isBlocking(std::getenv("KILN_LAUNCH_BLOCKING")) {
  abilities = info.abilities;
  cores = info.multiprocessors;
  health.takeLastWords = [this] { return messages.takeLastWords(); };
}

json::Object AcceleratorDevice::properties() const {
  json::Object object{{"max_shared_bytes", int64_t(info.maxSharedBytes)},
                      {"clusters", abilities.clusters},
                      {"cooperative", abilities.cooperative},
                      {"overlap", abilities.overlap},
                      {"priority", abilities.priority}};
  for (auto &[name, value] : info.numbers)
    object[name] = value;
  return object;
}

bool AcceleratorDevice::reaches(MemorySpace other) const {
  if (other.type == memory.type)
    return other.id == memory.id ||
           (other.id >= 0 && other.id < maxPeers && peers.load() >> other.id & 1);
  return is_contained(info.reachableTypes, other.type);
}

//===- Memory -------------------------------------------------------------------------------===//

Expected<void *> AcceleratorDevice::allocate(uint64_t size) {
  if (size == 0)
    return nullptr;
  return on([&] { return api->allocate(size); });
}

Error AcceleratorDevice::free(void *pointer) {
  // The memory of a device that is lost went with it.
  if (!pointer || health.isLost())
    return Error::success();
  return on([&] { return api->free(pointer); });
}

Error AcceleratorDevice::copy(void *to, const void *from, uint64_t size, KilnCopyKind kind,
                              KilnStream stream) {
  if (size == 0)
    return Error::success();
  return on([&] { return api->copy(to, from, size, kind, stream); });
}

Expected<void *> AcceleratorDevice::hiddenMemory(unsigned slot, uint64_t size, bool isCounter,
                                                 KilnStream stream) {
  return on([&]() -> Expected<void *> {
    Expected<uint64_t> capture = api->captureOf(stream);
    if (!capture)
      return capture.takeError();
    std::lock_guard<std::mutex> lock(mutex);
    Hidden &have = hidden[{stream, *capture, isCounter, slot}];
    if (have.size < size) {
      // What runs may still use the old memory, and a graph will.
      if (have.memory && !*capture) {
        if (Error error = api->synchronize(stream))
          return error;
        if (Error error = api->free(have.memory))
          return error;
      }
      have = {};
      Expected<void *> memory = api->allocate(size);
      if (!memory)
        return memory.takeError();
      // In a graph the clearing is part of it.
      if (Error error = isCounter ? api->clear(*memory, size, stream) : Error::success())
        return joinErrors(std::move(error), api->free(*memory));
      have = {*memory, size};
    }
    return have.memory;
  });
}

Expected<StreamMessages *> AcceleratorDevice::streamMessages(KilnStream stream) {
  return on([&]() -> Expected<StreamMessages *> {
    Expected<uint64_t> capture = api->captureOf(stream);
    if (!capture)
      return capture.takeError();
    return messages.get(*api, stream, *capture);
  });
}

//===- Streams ------------------------------------------------------------------------------===//

Expected<KilnStream> AcceleratorDevice::createStream() {
  return on([&] { return api->createStream(); });
}

Error AcceleratorDevice::destroyStream(KilnStream stream) {
  if (health.isLost())
    return Error::success();
  return on([&]() -> Error {
    // A later stream may get the same handle, so hidden memory must not outlive this one; that of
    // graphs does, under the number of their capture, which is never given again.
    std::lock_guard<std::mutex> lock(mutex);
    bool waited = false;
    auto it = hidden.lower_bound({stream, 0, false, 0});
    for (; it != hidden.end() && std::get<0>(it->first) == stream && !std::get<1>(it->first);
         it = hidden.erase(it)) {
      if (!waited)
        if (Error error = api->synchronize(stream))
          return error;
      waited = true;
      if (Error error = api->free(it->second.memory))
        return error;
    }
    if (messages.has(stream)) {
      if (!waited)
        if (Error error = api->synchronize(stream))
          return error;
      if (Error error = messages.release(*api, stream))
        return error;
    }
    return api->destroyStream(stream);
  });
}

Error AcceleratorDevice::checkNotCaptured(KilnStream stream) {
  Expected<uint64_t> capture = api->captureOf(stream);
  if (!capture)
    return capture.takeError();
  if (*capture)
    return makeError(KILN_ERROR_INVALID_ARGUMENT,
                     "expected a stream of '" + name +
                         "' to wait for, got one that is being captured into a graph");
  return Error::success();
}

Error AcceleratorDevice::synchronize(KilnStream stream) {
  return on([&]() -> Error {
    if (Error error = checkNotCaptured(stream))
      return error;
    if (Error error = api->synchronize(stream))
      return error;
    health.ended(stream);
    return messages.takeFailure();
  });
}

Error AcceleratorDevice::synchronizeFor(KilnStream stream, uint64_t milliseconds) {
  using Clock = std::chrono::steady_clock;
  return on([&]() -> Error {
    if (Error error = checkNotCaptured(stream))
      return error;
    constexpr uint64_t longest = uint64_t(1) << 40; // later than any clock's end
    auto until = Clock::now() + std::chrono::milliseconds(std::min(milliseconds, longest));
    for (std::chrono::microseconds pause(10);; pause = std::min(pause * 2, pause.max() / 2)) {
      Expected<bool> idle = api->isIdle(stream);
      if (!idle)
        return idle.takeError();
      if (*idle)
        break;
      auto left = std::chrono::duration_cast<std::chrono::microseconds>(until - Clock::now());
      if (left.count() <= 0)
        return makeError(KILN_ERROR_TIMEOUT, health.recentKernels("what was queued", stream) +
                                                 " did not end on '" + name + "' within " +
                                                 Twine(milliseconds) + " ms");
      pause = std::min(pause, std::chrono::microseconds(1000));
      std::this_thread::sleep_for(std::min(pause, left));
    }
    health.ended(stream);
    return messages.takeFailure();
  });
}

//===- Peers --------------------------------------------------------------------------------===//

/// Devices of one driver have memory of one type.
static AcceleratorDevice *asPeer(Device &device, Device &peer) {
  bool isPeer =
      peer.memory.type == device.memory.type && peer.memory.id >= 0 && peer.memory.id < maxPeers;
  return isPeer ? static_cast<AcceleratorDevice *>(&peer) : nullptr;
}

Expected<bool> AcceleratorDevice::canAccessPeer(Device &peer) {
  AcceleratorDevice *other = asPeer(*this, peer);
  if (&peer == this || !other)
    return other != nullptr;
  return on([&] { return api->canAccess(*other->api); });
}

Error AcceleratorDevice::enablePeerAccess(Device &peer) {
  if (&peer == this)
    return Error::success();
  Expected<bool> can = canAccessPeer(peer);
  if (!can)
    return can.takeError();
  if (!*can)
    return Device::enablePeerAccess(peer);
  return on([&]() -> Error {
    if (Error error = api->enableAccess(*static_cast<AcceleratorDevice &>(peer).api))
      return error;
    peers |= uint64_t(1) << peer.memory.id;
    return Error::success();
  });
}

//===- Recovery -----------------------------------------------------------------------------===//

Error AcceleratorDevice::reset() {
  std::lock_guard<std::mutex> lock(mutex);
  if (Error error = api->renew()) {
    KilnErrorCode code = KILN_ERROR_DEVICE;
    std::string why;
    handleAllErrors(std::move(error), [&](const RuntimeError &failure) {
      code = failure.code;
      why += (why.empty() ? "" : "; ") + failure.text;
    });
    if (health.isLost())
      why += "; " + toString(health.answer());
    return makeError(code, "cannot reset device '" + name + "': " + why);
  }
  hidden.clear();
  messages.forget();
  peers = 0;
  ++generation;
  health.renew();
  return Error::success();
}

std::unique_ptr<Device> kiln::makeAccelerator(AcceleratorInfo info,
                                              std::unique_ptr<AcceleratorApi> api) {
  return std::make_unique<AcceleratorDevice>(std::move(info), std::move(api));
}
