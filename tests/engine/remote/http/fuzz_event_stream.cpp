// SPDX-License-Identifier: GPL-3.0-or-later
// Any bytes as a stream of events: however they are cut, the same events come of them, and each is refused in
// words or adds to answers. The first byte says how they are cut, the second how many answers are expected.
#include "engine/base/error.h"
#include "engine/base/utf8.h"
#include "engine/remote/chat/answer_reader.h"
#include "engine/remote/chat/chat_answer.h"
#include "engine/remote/protocol.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace spanscope;
using namespace spanscope::remote;

namespace {

void mustBe(bool holds) {
  if (!holds) std::abort();
}

std::vector<std::string> eventsIn(std::string_view bytes, std::size_t step) {
  std::vector<std::string> events;
  EventStream stream([&events](std::string_view data) { events.emplace_back(data); });
  for (std::size_t i = 0; i < bytes.size(); i += step) stream.add(bytes.substr(i, step));
  stream.end();
  return events;
}

template <class Take>
bool takenOrRefused(const Take& take) {
  try {
    take();
    return true;
  } catch (const Failure& failure) {
    const std::string_view what = failure.what();
    mustBe(!what.empty() && isValidUtf8(what));
    mustBe(
        std::none_of(what.begin(), what.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }));
    return false;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  const std::vector<std::string> events = eventsIn(bytes, bytes.size() + 1);
  mustBe(events == eventsIn(bytes, 1 + data[0] % 17));
  std::vector<ChatAnswer> answers(1 + data[1] % 5);
  const AnswerForm& form = *protocols()[data[1] / 5U % protocols().size()]->answers;
  std::vector<std::string> texts(answers.size());
  bool isAllTaken = true;
  for (const std::string& event : events) {
    isAllTaken &= takenOrRefused([&] {
      for (const AnswerText& came : addEvent(form, answers, event)) {
        mustBe(came.answer < answers.size() && !came.piece.empty());
        texts[came.answer] += came.piece;
      }
    });
  }
  for (const ChatAnswer& answer : answers) {
    for (const auto& count : {answer.promptTokens, answer.cachedTokens, answer.generatedTokens})
      mustBe(!count || (*count >= 0 && *count <= 1'000'000'000));
  }
  // An event that is refused may have been taken in part.
  for (std::size_t i = 0; i < answers.size(); ++i) mustBe(!isAllTaken || answers[i].text == texts[i]);
  for (const ChatAnswer& answer : answers) {
    mustBe(isValidUtf8(answer.text));
    if (const std::optional<Error> problem = problemOf(answer)) mustBe(isValidUtf8(problem->message()));
  }
  // A whole body comes to the same however it is cut.
  const auto bodyOf = [&](std::size_t step) {
    std::vector<ChatAnswer> read(answers.size());
    const bool isRead = takenOrRefused([&] {
      AnswerReader reader(form, read, "secret-key", [](const std::vector<AnswerText>&) {});
      for (std::size_t i = 0; i < bytes.size(); i += step) reader.add(bytes.substr(i, step));
      reader.end();
      for (const ChatAnswer& answer : read) mustBe(answer.hasEnded());
    });
    return std::pair(isRead, isRead ? read.front().text : std::string());
  };
  mustBe(bodyOf(bytes.size() + 1) == bodyOf(1 + data[0] % 17));
  const std::string message = errorMessage(bytes);
  mustBe(isValidUtf8(message));
  return 0;
}
