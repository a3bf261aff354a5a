// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace spanscope::query {

enum class JsonKind { Null, False, True, Number, String, Array, Object, End, Invalid };

/// Something in a text that is not as it should be.
struct JsonIssue {
  std::size_t offset = 0;
  std::string found;
  std::string expected;
  std::string hint;
};

/// Walks through a document of values as JSON has them, from front to back, without building anything: what
/// the reader of the language needs of a form. The caller says what it wants next; containers are visited
/// with a loop:
///
///     cursor.enterObject();
///     for (ValueCursor::Container object; cursor.nextMember(object, key);) … read or skip exactly one value
///     …
///
/// A syntax error is reported once and ends the walk: from then on stopped() holds, peek() says Invalid and
/// loops end.
class ValueCursor {
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
    std::size_t place = 0;
    std::size_t depth = 0;
  };

  virtual ~ValueCursor() = default;

  /// Kind of the value that comes next; white space before it is passed.
  virtual JsonKind peek() = 0;
  /// The same where a number belongs: a form may read numbers where it would otherwise see text.
  virtual JsonKind peekNumber() { return peek(); }
  /// Byte from which the next thing is read; after peek() the beginning of the value, after a container its
  /// end.
  virtual std::size_t offset() const = 0;
  virtual bool stopped() const = 0;

  /// Each of these reads the value that peek() announced; with any other kind next they stop the walk.
  virtual std::string readString() = 0;
  /// The number as JSON writes it. It has the form of a JSON number and is in the range of a double, or an
  /// issue was reported. Valid until the cursor is gone.
  virtual std::string_view readNumber() = 0;
  virtual void readLiteral() = 0;
  virtual void enterArray() = 0;
  virtual void enterObject() = 0;

  /// Whether the container has another element, which then comes next. Passes the end of the container if
  /// not.
  virtual bool nextElement(Container& array) = 0;
  /// Whether the object has another member. Its key is read; its value comes next.
  virtual bool nextMember(Container& object, std::string& key) = 0;

  /// Passes one value of any kind.
  virtual void skipValue() = 0;
  /// Requires that nothing follows.
  virtual void expectEnd() = 0;

  virtual Mark mark() const = 0;
  virtual void goTo(Mark mark) = 0;
  /// Ends the walk for a reason of the caller's own.
  virtual void stop() = 0;

  /// What the next value, which is of that kind, is in words: "the number 1.5". Does not pass it.
  virtual std::string describeNext(JsonKind kind) const = 0;
  /// How to write text where the next value, which is of that kind, stands; empty if there is no advice.
  virtual std::string textHint(JsonKind /*kind*/) const { return {}; }

 protected:
  ValueCursor() = default;
  ValueCursor(const ValueCursor&) = default;
  ValueCursor& operator=(const ValueCursor&) = default;
};

}  // namespace spanscope::query
