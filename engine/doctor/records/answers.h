// SPDX-License-Identifier: GPL-3.0-or-later
// Reads responses of all protocols, as a whole or as a stream. Open this file to read another form of answer.
#pragma once

#include "engine/doctor/logged_request.h"
#include "engine/doctor/records/json_members.h"

#include <string>

namespace spanscope::doctor {

/// An answer as far as it was read.
struct AnswerReading {
  Message message{.role = "assistant"};
  Usage usage{};
  std::string model{};
  std::string id{};      ///< of a response that later requests can continue
  std::string server{};  ///< the kind of server, if only one kind answers like this
  bool isFound = false;
};

/// Takes the reported counts that are there. nullptr: none.
void readLoggedUsage(const Json* usage, Usage& result);
/// Reads a response: an object, a list of messages or of events, or a text. `depth`: number of wrappers
/// around it.
void readAnswer(const Json& response, AnswerReading& answer, int depth = 0);
/// Reads a response that is a text: JSON, server-sent events, or JSON lines.
void readAnswerText(const std::string& text, AnswerReading& answer, int depth = 0);

}  // namespace spanscope::doctor
