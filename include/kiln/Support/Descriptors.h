// File descriptors that are not mistaken for standard input, output or error.
#ifndef KILN_SUPPORT_DESCRIPTORS_H
#define KILN_SUPPORT_DESCRIPTORS_H

#include <fcntl.h>
#include <unistd.h>

namespace kiln {

/// A process may have closed its first three descriptors, whose numbers new files then get; a child
/// that is given its own as 0, 1 and 2 would overwrite them. The descriptor under a number from 3
/// on, closed at exec; -1 if there is none left.
inline int aboveStandard(int descriptor) {
  if (descriptor < 0 || descriptor > STDERR_FILENO)
    return descriptor;
  int moved = ::fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  ::close(descriptor);
  return moved;
}

} // namespace kiln

#endif // KILN_SUPPORT_DESCRIPTORS_H
