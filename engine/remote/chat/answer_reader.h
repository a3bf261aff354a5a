// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the body of an answer with status 200, whatever its form is: events, one JSON object, several of
// them, or a page that is no answer at all. Servers send each of these under every content type.
#pragma once

#include "engine/remote/chat/answer_json.h"
#include "engine/remote/chat/chat_answer.h"
#include "engine/remote/http/event_stream.h"

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::remote {

class AnswerReader {
 public:
  /// Takes the texts that came with an event; there may be none.
  using Receiver = std::function<void(const std::vector<AnswerText>& came)>;

  /// `answers`: filled while the body comes; they must outlive it. `key`: of the server; no error repeats it.
  AnswerReader(const AnswerForm& form, std::span<ChatAnswer> answers, std::string key, Receiver receive);
  AnswerReader(const AnswerReader&) = delete;
  AnswerReader& operator=(const AnswerReader&) = delete;

  /// Adds a piece of the body. Throws Failure as addEvent() does. What follows the end is skipped.
  void add(std::string_view piece);
  /// The body has ended. Throws Failure where an answer has no end by then, with the server's words.
  void end();
  /// Nothing more comes, also where the body has no end: takes what is kept of another choice.
  void settle();

  /// How much longer to wait for the rest at most, since nothing of the answers is missing. Nothing: it is.
  std::optional<std::chrono::milliseconds> patience() const;

 private:
  enum class Body { Unknown, Events, Objects, Page };

  void take(std::string_view data, std::string_view name);
  /// A line that is no part of an event.
  void takeStray(std::string_view line);
  bool haveEnded() const;
  bool areDone() const;

  const AnswerForm& m_form;
  std::span<ChatAnswer> m_answers;
  std::string m_key;
  Receiver m_receive;
  Body m_body = Body::Unknown;
  EventStream m_events;
  ObjectScanner m_objects;
  ObjectScanner m_strayObjects;                                   ///< of lines that are no part of an event
  std::optional<std::chrono::steady_clock::time_point> m_doneAt;  ///< when the answers were done
  std::size_t m_taken = 0;                                        ///< objects
  std::string m_beginning;                                        ///< of the body, for errors
  std::string m_stray;                                            ///< lines that are no part of an event
};

}  // namespace spanscope::remote
