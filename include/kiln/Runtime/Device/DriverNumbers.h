// Numbers that all driver libraries share: results, flags, kinds of attribute. A vendor's folder
// checks them against that vendor's own declarations where it has some.
#ifndef KILN_RUNTIME_DEVICE_DRIVERNUMBERS_H
#define KILN_RUNTIME_DEVICE_DRIVERNUMBERS_H

namespace kiln::driver {

/// What a call came to. Which of noDevice and invalidDevice a machine without a device gets
/// differs from release to release; tooManyAtOnce is of programs that cannot all run at once.
enum Result {
  succeeded = 0,
  outOfMemory = 2,
  noDevice = 100,
  invalidDevice = 101,
  notReady = 600,
  peerAlreadyEnabled = 704,
  tooManyAtOnce = 720
};

/// What no later call on the device survives: memory that was lost, an address, instruction or
/// stack that was wrong, a time that ran out, a failed assertion, whatever else ended a kernel.
constexpr bool isFatal(int result) {
  return result == 214 || result == 220 || result == 700 || result == 702 || result == 709 ||
         result == 710 || (result >= 714 && result <= 719);
}

/// What a function can be asked for.
enum FunctionAttribute { sharedBytes = 1, localBytes = 3, numRegisters = 4 };

/// A stream that the default stream does not wait for, and host memory that every device reaches,
/// at an address of its own.
constexpr unsigned streamOfItsOwn = 1;
constexpr unsigned hostForAllDevices = 1, hostMapped = 2;

/// The mode of capture that refuses nothing, and the state of a stream that is not captured.
constexpr int captureRelaxed = 2, notCaptured = 0;

} // namespace kiln::driver

#endif // KILN_RUNTIME_DEVICE_DRIVERNUMBERS_H
