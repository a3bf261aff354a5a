// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::server {

/// Ends a reply where one of several texts begins. What may be the beginning of such a text is held back
/// until it is known.
class StopTexts {
 public:
  /// `texts`: none of them is empty.
  explicit StopTexts(std::vector<std::string> texts) : m_texts(std::move(texts)) {}

  /// The text that is sure to belong to the reply now that `text` has come. After a stop, nothing more comes.
  std::string push(std::string_view text);
  /// What was held back, when the reply has ended without a stop.
  std::string finish();
  bool hasStopped() const { return m_hasStopped; }

 private:
  std::vector<std::string> m_texts;
  std::string m_held;
  bool m_hasStopped = false;
};

}  // namespace spanscope::server
