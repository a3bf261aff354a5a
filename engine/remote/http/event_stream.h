// SPDX-License-Identifier: GPL-3.0-or-later
// Server-sent events (text/event-stream, as the HTML standard defines it), read piece by piece.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace spanscope::remote {

/// Takes the data of one event, its lines joined by '\n'.
using EventReceiver = std::function<void(std::string_view data)>;

/// What servers send that the standard does not have.
struct EventHooks {
  /// Whether the data so far are an event of their own, which a further line of data does not belong to: some
  /// servers divide events by one line break. Null: they never are.
  std::function<bool(std::string_view data)> isWhole{};
  /// Takes lines that are neither a comment nor a field of the standard. Null: they are skipped.
  std::function<void(std::string_view line)> stray{};
};

/// Of the fields, `data` and `event` count. Comments are skipped. Lines end with LF, CR LF or CR.
class EventStream {
 public:
  /// Most bytes of the data of an event.
  static constexpr std::size_t kMostBytes = std::size_t{16} << 20U;

  explicit EventStream(EventReceiver receive, EventHooks hooks = {})
      : m_receive(std::move(receive)), m_hooks(std::move(hooks)) {}

  /// Throws Failure if an event is too large; nothing may be added after that.
  void add(std::string_view piece);
  /// The stream has ended. An event that no empty line ended counts as one: servers leave it out.
  void end();

  /// The `event` field of the event that is being received; mostly empty.
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
  bool m_wasReturn = false;  ///< a CR ended the last line: a LF that follows belongs to it
  bool m_isFirstLine = true;
};

}  // namespace spanscope::remote
