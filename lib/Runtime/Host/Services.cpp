// Printing by whole lines, and the first failed assert of a launch.
#include "LaunchServices.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <unistd.h>

using namespace kiln;
using namespace llvm;

/// The line that this thread is collecting.
static std::string &line() {
  static thread_local std::string text;
  return text;
}

static void writeText(HostServices *, const char *text, int64_t size) { line().append(text, size); }
static void writeSigned(HostServices *, int64_t value) { line() += std::to_string(value); }
static void writeUnsigned(HostServices *, uint64_t value) { line() += std::to_string(value); }

static void writeReal(HostServices *, double value) {
  // Enough digits for a float to be told from its neighbours, without a tail of noise.
  char text[32];
  if (std::isnan(value))
    std::snprintf(text, sizeof(text), "nan");
  else
    std::snprintf(text, sizeof(text), "%.9g", value);
  line() += text;
}

static void writeLine(HostServices *) {
  std::string text = std::move(line());
  line().clear();
  text += '\n';
  // One write a line: the system keeps lines of several threads apart.
  StringRef rest = text;
  while (!rest.empty()) {
    ssize_t put = ::write(STDOUT_FILENO, rest.data(), rest.size());
    if (put < 0 && errno == EINTR)
      continue;
    if (put < 0)
      return;
    rest = rest.drop_front(put);
  }
}

static void recordAssert(HostServices *services, const char *message, int64_t messageSize,
                         const char *file, int64_t fileSize, int64_t line, int64_t column,
                         int64_t x, int64_t y, int64_t z) {
  AssertReport &report = *static_cast<LaunchServices *>(services)->report;
  std::lock_guard<std::mutex> lock(report.mutex);
  if (!report.text.empty())
    return;
  raw_string_ostream os(report.text);
  os << "assertion failed";
  if (messageSize > 0)
    os << ": " << StringRef(message, messageSize);
  if (fileSize > 0)
    os << " at " << StringRef(file, fileSize) << ':' << line << ':' << column;
  os << " in program (" << x << ", " << y << ", " << z << ')';
}

LaunchServices::LaunchServices(AssertReport &report)
    : HostServices{writeText, writeSigned, writeUnsigned, writeReal, writeLine, recordAssert},
      report(&report) {}
