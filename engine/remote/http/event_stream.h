// SPDX-License-Identifier: GPL-3.0-or-later
// Reads server-sent events (text/event-stream, as HTML defines it), piece by piece. Open this file when a
// stream is split wrongly.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace spanscope::remote {

/// Receives the data of one event, its lines joined by '\n'.
using EventReceiver = std::function<void(std::string_view data)>;

/// Hooks for data that the HTML definition of events does not allow.
struct EventHooks {
  /// Whether the data so far are a complete event, so that the next line of data begins another one. Some
  /// servers separate events by one line break. Null: never.
  std::function<bool(std::string_view data)> isWhole{};
  /// Receives lines that are neither a comment nor a known field. Null: they are skipped.
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
  /// The stream has ended. An event without an empty line at its end counts, because servers leave the line
  /// out.
  void end();

  /// Returns the `event` field of the event that is being received; usually empty.
  const std::string& name() const { return m_name; }

 private:
  void takeLine();
  void dispatch();

  EventReceiver m_receive;
  EventHooks m_hooks;
  std::string m_line;
  std::string m_name;
  std::size_t m_checked = 0;  ///< bytes of data that were not whole
  std::string m_data;
  bool m_hasData = false;
  bool m_wasReturn = false;  ///< a CR ended the last line; a following LF belongs to it
  bool m_isFirstLine = true;
};

}  // namespace spanscope::remote
