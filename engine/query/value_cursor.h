// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace spanscope::query {

enum class JsonKind { Null, False, True, Number, String, Array, Object, End, Invalid };

/// A fault in a text.
struct JsonIssue {
  std::size_t offset = 0;
  std::string found;
  std::string expected;
  std::string hint;
};

/// Walks through a document of JSON-like values, from front to back, without building anything. It hides the
/// form of the text from the reader of the language. The caller says what it wants next, and visits
/// containers with a loop:
///
///     cursor.enterObject();
///     for (ValueCursor::Container object; cursor.nextMember(object, key);) … read or skip exactly one value
///     …
///
/// A syntax error is reported once and ends the walk: from then on stopped() is true, peek() returns Invalid
/// and loops end.
class ValueCursor {
 public:
  /// Receives the issues in the order in which they are found.
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void jsonIssue(JsonIssue issue) = 0;
  };

  /// State of a loop over the members or elements of one container.
  struct Container {
    bool isFirst = true;
    std::size_t keyOffset = 0;  ///< where the key of the last member began
  };

  /// A place to go back to. Valid only for the cursor that made it.
  struct Mark {
    std::size_t place = 0;
    std::size_t depth = 0;
  };

  virtual ~ValueCursor() = default;

  /// Kind of the next value; skips white space before it.
  virtual JsonKind peek() = 0;
  /// The same in a place where a number belongs: some forms read a number where they would otherwise read a
  /// text.
  virtual JsonKind peekNumber() { return peek(); }
  /// Offset in bytes of the next thing to read. After peek() it is the beginning of the value, after a
  /// container the container's end.
  virtual std::size_t offset() const = 0;
  virtual bool stopped() const = 0;

  /// Each of the next five functions reads the value that peek() announced. If the next value has another
  /// kind, it stops the walk.
  virtual std::string readString() = 0;
  /// The number as JSON writes it, within the range of a double; otherwise an issue was reported. Valid until
  /// the cursor is destroyed.
  virtual std::string_view readNumber() = 0;
  virtual void readLiteral() = 0;
  virtual void enterArray() = 0;
  virtual void enterObject() = 0;

  /// Whether the container has another element; it is the next value. If not, the end of the container is
  /// passed.
  virtual bool nextElement(Container& array) = 0;
  /// Whether the object has another member. The function reads its key; the next value is its value.
  virtual bool nextMember(Container& object, std::string& key) = 0;

  /// Skips one value of any kind.
  virtual void skipValue() = 0;
  /// Reports an issue if something follows.
  virtual void expectEnd() = 0;

  virtual Mark mark() const = 0;
  virtual void goTo(Mark mark) = 0;
  /// Ends the walk; for a caller with its own reason.
  virtual void stop() = 0;

  /// Describes the next value, which has this kind, in words: "the number 1.5". Does not skip the value.
  virtual std::string describeNext(JsonKind kind) const = 0;
  /// How to write a text in the place of the next value, which has this kind; empty if there is no advice.
  virtual std::string textHint(JsonKind /*kind*/) const { return {}; }

 protected:
  ValueCursor() = default;
  ValueCursor(const ValueCursor&) = default;
  ValueCursor& operator=(const ValueCursor&) = default;
};

}  // namespace spanscope::query
