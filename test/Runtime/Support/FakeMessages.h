// What the kernels of a stand-in for a driver library tell the host, and when it is told.
//
// $KILN_FAKE_MESSAGES is the place of the parameter that takes messages and, for each record, its
// message, program, element and value: "1 1 0 0 0 3 42". Functions that are queued are called at
// once or, with $KILN_FAKE_LATE, when somebody waits; never if that fails.
#ifndef KILN_TEST_RUNTIME_SUPPORT_FAKEMESSAGES_H
#define KILN_TEST_RUNTIME_SUPPORT_FAKEMESSAGES_H

#include "kiln/Runtime/Device/MessageRecord.h"
#include <cstdlib>
#include <sstream>
#include <utility>
#include <vector>

namespace kiln::testing {

inline void fakeMessages(void **parameters) {
  const char *text = std::getenv("KILN_FAKE_MESSAGES");
  if (!text)
    return;
  std::istringstream in(text);
  int parameter = 0;
  in >> parameter;
  auto *header = *static_cast<MessageHeader **>(parameters[parameter]);
  auto *records = reinterpret_cast<MessageRecord *>(header + 1);
  MessageRecord record{};
  while (in >> record.message >> record.program[0] >> record.program[1] >> record.program[2] >>
         record.element >> record.value)
    if (uint64_t at = header->claimed++; at < header->capacity)
      records[at] = record;
    else
      ++header->dropped;
}

class FakeQueue {
public:
  void add(void (*function)(void *), void *argument) {
    queued.push_back({function, argument});
    if (!std::getenv("KILN_FAKE_LATE"))
      end(0);
  }
  /// What was queued ends with this result, which is passed on.
  int end(int result) {
    for (auto [function, argument] : std::exchange(queued, {}))
      if (result == 0)
        function(argument);
    return result;
  }

private:
  std::vector<std::pair<void (*)(void *), void *>> queued;
};

} // namespace kiln::testing

#endif // KILN_TEST_RUNTIME_SUPPORT_FAKEMESSAGES_H
