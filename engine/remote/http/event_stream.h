// SPDX-License-Identifier: GPL-3.0-or-later
// Server-sent events (text/event-stream, as the HTML standard defines it), read piece by piece.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace spanscope::remote {

/// Takes the data of one event, its lines joined by '\n'.
using EventReceiver = std::function<void(std::string_view data)>;

/// Other fields than `data` and comments are passed over. Lines end with LF, CR LF or CR.
class EventStream {
 public:
  /// Most bytes of the data of an event.
  static constexpr std::size_t kMostBytes = std::size_t{16} << 20U;

  explicit EventStream(EventReceiver receive) : m_receive(std::move(receive)) {}

  /// Throws Failure if an event is too large; nothing may be added after that.
  void add(std::string_view piece);
  /// The stream has ended. An event that no empty line ended counts as one: servers leave it out.
  void end();

 private:
  void takeLine();
  void dispatch();

  EventReceiver m_receive;
  std::string m_line;
  std::string m_data;
  bool m_hasData = false;
  bool m_wasReturn = false;  ///< a CR ended the last line: a LF that follows belongs to it
  bool m_isFirstLine = true;
};

}  // namespace spanscope::remote
