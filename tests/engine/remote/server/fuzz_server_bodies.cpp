// SPDX-License-Identifier: GPL-3.0-or-later
// Any bytes are refused as a body with an error in the protocol's form, or become a plan.
#include "engine/base/utf8.h"
#include "engine/remote/server/answer.h"
#include "engine/remote/server/call_bodies.h"
#include "engine/remote/server/connection.h"
#include "engine/remote/server/planned_call.h"
#include "tests/engine/remote/server/stand_in_engine.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

using namespace spanscope;
using namespace spanscope::server;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

template <class Read>
void refusedOrRead(const Read& read) {
  try {
    read();
  } catch (const ApiFailure& failure) {
    require(failure.error().status == 400 && !failure.error().message.empty());
    require(isValidUtf8(errorJson(failure.error())));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const test::StandInEngine engine;
  CallRules rules;
  rules.plan.limits = {.nodes = 10'000, .textBytes = 1U << 20U};
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  refusedOrRead([&] { require(planChat(readChatCall(body), rules, 1).plan != nullptr); });
  refusedOrRead(
      [&] { require(planCompletion(readCompletionCall(body), rules, engine.model(), 1).plan != nullptr); });
  refusedOrRead([&] { require(planQuery(body, rules, 1).plan != nullptr); });
  refusedOrRead([&] { readTokenizeCall(body); });
  refusedOrRead([&] { readDetokenizeCall(body); });
  try {
    const RequestHead head = readHead(body, 1U << 20U);
    // What the library is given reads the same.
    const RequestHead again = readHead(headForLibrary(head), 1U << 20U);
    require(again.method == head.method && again.target == head.target && again.length == head.length &&
            again.isChunked == head.isChunked && again.closes == head.closes);
  } catch (const ApiFailure& failure) {
    require(failure.error().status >= 400 && failure.error().status < 500);
    require(isValidUtf8(errorJson(failure.error())));
  }
  return 0;
}
