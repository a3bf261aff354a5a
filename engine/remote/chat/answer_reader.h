// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the body of an answer with status 200, in any form. The body has events, one JSON object, several
// objects, or an unrelated page. The content type does not show the form of the body. Open this file when an
// answer ends too early or too late.
//
// Reads server-sent events (text/event-stream, as HTML defines it), piece by piece. Open this file when a
// stream is split wrongly.
#pragma once

#include "engine/remote/chat/answer_json.h"
#include "engine/remote/chat/chat_answer.h"

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spanscope::remote {

/// Receives the data of one event, with a line feed between two lines.
using EventReceiver = std::function<void(std::string_view data)>;

/// Hooks for data that the HTML definition of events does not allow.
struct EventHooks {
  /// Whether the data so far are a complete event, so that the next line of data begins another event. Some
  /// servers separate events with one line break. Null: never.
  std::function<bool(std::string_view data)> isWhole{};
  /// Receives lines that are neither a comment nor a known field. Null: such lines are skipped.
  std::function<void(std::string_view line)> stray{};
};

/// Reads only the fields `data` and `event`. Comments are skipped. Lines end with LF, CR LF or CR.
class EventStream {
 public:
  /// Max number of bytes of the data of an event.
  static constexpr std::size_t kMostBytes = std::size_t{16} << 20U;

  explicit EventStream(EventReceiver receive, EventHooks hooks = {})
      : m_receive(std::move(receive)), m_hooks(std::move(hooks)) {}

  /// Throws Failure if an event is too large. Nothing may be added after that.
  void add(std::string_view piece);
  /// Call this when the stream has ended. An event without an empty line at its end is valid, because some
  /// servers omit this line.
  void end();

  /// Returns the `event` field of the incomplete event; usually empty.
  const std::string& name() const { return m_name; }

 private:
  void takeLine();
  void dispatch();

  EventReceiver m_receive;
  EventHooks m_hooks;
  std::string m_line;
  std::string m_name;
  std::size_t m_checked = 0;  ///< bytes of data that are not a complete event
  std::string m_data;
  bool m_hasData = false;
  bool m_wasReturn = false;  ///< a CR ended the last line; a following LF belongs to it
  bool m_isFirstLine = true;
};

class AnswerReader {
 public:
  /// Receives the texts of an event, possibly none.
  using Receiver = std::function<void(const std::vector<AnswerText>& came)>;

  /// The reader fills `answers` while the body arrives. `answers` must outlive the reader. `key` is the
  /// server's key. No error contains the key.
  AnswerReader(const AnswerForm& form, std::span<ChatAnswer> answers, std::string key, Receiver receive);
  AnswerReader(const AnswerReader&) = delete;
  AnswerReader& operator=(const AnswerReader&) = delete;

  /// Adds a piece of the body. Throws Failure like addEvent(). Data after the end is skipped.
  void add(std::string_view piece);
  /// Call this when the body has ended. Throws Failure with the server's words if an answer has no end.
  void end();
  /// Call this when no more data arrives, even if the body has no end. If choice 0 is missing, the stored
  /// text of another choice becomes the answer.
  void settle();

  /// Returns the max time to wait for the rest of the body if all answers are complete, else nothing.
  std::optional<std::chrono::milliseconds> patience() const;

 private:
  enum class Body { Unknown, Events, Objects, Page };

  void take(std::string_view data, std::string_view name);
  /// Handles a line that is no part of an event.
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
  ObjectScanner m_strayObjects;  ///< objects in lines that are no part of an event
  std::optional<std::chrono::steady_clock::time_point> m_doneAt;  ///< time of completion of all answers
  std::size_t m_taken = 0;                                        ///< objects
  std::string m_beginning;                                        ///< beginning of the body, for errors
  std::string m_stray;                                            ///< lines that are no part of an event
};

}  // namespace spanscope::remote
