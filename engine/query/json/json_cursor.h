// SPDX-License-Identifier: GPL-3.0-or-later
// Reads JSON text for QueryWalk. Open this file when a syntax error in JSON is reported badly.
#pragma once

#include "engine/query/query_walk.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace spanscope::query {

/// Walks through a JSON text (strictly RFC 8259). After some errors in a string or number, the end of the
/// value is still clear. The cursor reports such an error and continues.
class JsonCursor final : public ValueCursor {
 public:
  /// `text` is well-formed UTF-8. `text` and `listener` must outlive the cursor. At most `maxDepth`
  /// containers may be open at the same time.
  JsonCursor(std::string_view text, std::size_t maxDepth, Listener& listener);

  JsonKind peek() override;
  std::size_t offset() const override { return m_offset; }
  bool stopped() const override { return m_stopped; }

  std::string readString() override;
  /// Returns the number as written in the text.
  std::string_view readNumber() override;
  void readLiteral() override;
  void enterArray() override;
  void enterObject() override;

  bool nextElement(Container& array) override;
  bool nextMember(Container& object, std::string& key) override;

  void skipValue() override;
  void expectEnd() override;

  Mark mark() const override { return {m_offset, m_depth}; }
  void goTo(Mark mark) override;
  void stop() override { m_stopped = true; }

  std::string describeNext(JsonKind kind) const override;

 private:
  void skipSpace();
  bool atEnd() const { return m_offset >= m_text.size(); }
  /// Reports something unexpected at the cursor, and ends the walk.
  void fail(std::string expected, std::string hint = {});
  void failWith(JsonIssue issue);
  std::string describeHere() const;
  void enter(char bracket);
  bool nextInContainer(Container& container, char close, const char* expectedFirst);
  bool readKey(std::string& key);
  void readEscape(std::string& value);
  void readUnicodeEscape(std::string& value);
  bool readHexDigits(unsigned& value);

  std::string_view m_text;
  std::size_t m_maxDepth;
  Listener& m_listener;
  std::size_t m_offset = 0;
  std::size_t m_depth = 0;
  bool m_stopped = false;
};

}  // namespace spanscope::query
