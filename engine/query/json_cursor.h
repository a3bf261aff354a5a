// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace spanscope::query {

enum class JsonKind { Null, False, True, Number, String, Array, Object, End, Invalid };

/// Something in a JSON text that is not as it should be.
struct JsonIssue {
  std::size_t offset = 0;
  std::string found;
  std::string expected;
  std::string hint;
};

/// Walks through a JSON text (RFC 8259, strictly) from front to back without building anything. The caller
/// says what it wants next; containers are visited with a loop:
///
///     cursor.enterObject();
///     for (JsonCursor::Container object; cursor.nextMember(object, key);) … read or skip exactly one value …
///
/// A syntax error is reported once and ends the walk: from then on stopped() holds, peek() says Invalid and
/// loops end. What is wrong within a string or a number but leaves no doubt where it ends is reported, and
/// the walk goes on.
class JsonCursor {
 public:
  /// Takes the issues, in the order in which they are met.
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void jsonIssue(JsonIssue issue) = 0;
  };

  /// State of a loop over the members or elements of one container.
  struct Container {
    bool isFirst = true;
    std::size_t keyOffset = 0;  ///< where the last member's key began
  };

  /// A place to go back to. Valid for the cursor it came from.
  struct Mark {
    std::size_t offset = 0;
    std::size_t depth = 0;
  };

  /// `text` is well-formed UTF-8 and outlives the cursor, as does the listener. At most `maxDepth` containers
  /// may be open at once.
  JsonCursor(std::string_view text, std::size_t maxDepth, Listener& listener);

  /// Kind of the value that comes next; white space before it is passed.
  JsonKind peek();
  /// Byte from which the next thing is read; after peek() the beginning of the value.
  std::size_t offset() const { return m_offset; }
  bool stopped() const { return m_stopped; }

  /// Each of these reads the value that peek() announced; with any other kind next they stop the walk.
  std::string readString();
  /// The text of the number, as it stands. It has the form of a JSON number and is in the range of a double,
  /// or an issue was reported.
  std::string_view readNumber();
  void readLiteral();
  void enterArray();
  void enterObject();

  /// Whether the container has another element, which then comes next. Passes the closing bracket if not.
  bool nextElement(Container& array);
  /// Whether the object has another member. Its key is read; its value comes next.
  bool nextMember(Container& object, std::string& key);

  /// Passes one value of any kind.
  void skipValue();
  /// Requires that nothing but white space follows.
  void expectEnd();

  Mark mark() const { return {m_offset, m_depth}; }
  void goTo(Mark mark);
  /// Ends the walk for a reason of the caller's own.
  void stop() { m_stopped = true; }

 private:
  void skipSpace();
  bool atEnd() const { return m_offset >= m_text.size(); }
  /// The issue of something unexpected at the cursor; ends the walk.
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
