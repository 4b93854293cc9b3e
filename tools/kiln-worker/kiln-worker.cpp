// Compiles for a process that keeps its distance (kiln-c/Compiler.h, KilnIsolation). Started by
// the library with a socket as standard input; of no use by hand.
#include "kiln-c/Compiler.h"
#include <cstdio>
#include <sys/socket.h>

int main(int argc, char **argv) {
  int type = 0;
  socklen_t size = sizeof(type);
  if (argc != 1 || ::getsockopt(0, SOL_SOCKET, SO_TYPE, &type, &size) != 0) {
    std::fprintf(stderr,
                 "%s: expected a socket as standard input, which Kiln's library gives it when a "
                 "compile is to be isolated\n",
                 argv[0]);
    return 2;
  }
  return kilnWorkerMain(0);
}
