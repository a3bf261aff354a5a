// SPDX-License-Identifier: GPL-3.0-or-later
// Walks through a document of JSON-like values and collects diagnostics. Open this file to read a new kind of
// field, or to add a written form.
#pragma once

#include "engine/query/diagnostic.h"
#include "engine/query/query.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace spanscope::query {

enum class JsonKind { Null, False, True, Number, String, Array, Object, End, Invalid };
/// Returns the kind in words: "a list". Empty for End and Invalid.
const char* kindText(JsonKind kind);

/// A fault in a text.
struct JsonIssue {
  std::size_t offset = 0;
  std::string found;
  std::string expected;
  std::string hint;
};

/// Reads a document of JSON-like values from front to back and builds nothing. The cursor hides the form of
/// the text from the reader of the language. The caller names the expected kind of the next value. The caller
/// visits a container with a loop:
/// - enterObject() or enterArray() enters the container.
/// - nextMember() or nextElement() returns whether a value follows.
/// - The loop body reads or skips exactly one value.
///
/// The cursor reports a syntax error once, and the error ends the walk. After the error, stopped() is true,
/// peek() returns Invalid, and loops end.
class ValueCursor {
 public:
  /// Receives the issues in the order in which the cursor finds them.
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void jsonIssue(JsonIssue issue) = 0;
  };

  /// State of a loop over the members or elements of one container.
  struct Container {
    bool isFirst = true;
    std::size_t keyOffset = 0;  ///< offset of the key of the last member
  };

  /// A place for goTo(). A place is valid only for the cursor that made the place.
  struct Mark {
    std::size_t place = 0;
    std::size_t depth = 0;
  };

  virtual ~ValueCursor() = default;

  /// Returns the kind of the next value. Skips white space before the value.
  virtual JsonKind peek() = 0;
  /// Returns the kind of the next value where a number is expected. Some forms read a text as a number there.
  virtual JsonKind peekNumber() { return peek(); }
  /// Offset in bytes of the next thing to read. After peek() this is the beginning of the value. After a
  /// container it is the end of the container.
  virtual std::size_t offset() const = 0;
  virtual bool stopped() const = 0;

  /// Each of the next five functions reads the value whose kind peek() returned. A value of another kind
  /// stops the walk.
  virtual std::string readString() = 0;
  /// Returns the number as JSON writes it. The number is in the range of a double, or an issue was reported.
  /// The text is valid until the cursor is destroyed.
  virtual std::string_view readNumber() = 0;
  virtual void readLiteral() = 0;
  virtual void enterArray() = 0;
  virtual void enterObject() = 0;

  /// Returns whether the array has another element. That element is the next value. Without another element,
  /// the cursor moves past the end of the array.
  virtual bool nextElement(Container& array) = 0;
  /// Returns whether the object has another member. Reads its key. The next value is the value of this
  /// member.
  virtual bool nextMember(Container& object, std::string& key) = 0;

  /// Skips one value of any kind.
  virtual void skipValue() = 0;
  /// Reports an issue if something follows.
  virtual void expectEnd() = 0;

  virtual Mark mark() const = 0;
  virtual void goTo(Mark mark) = 0;
  /// Ends the walk, e.g. because the caller found an error.
  virtual void stop() = 0;

  /// Describes the next value in words: "the number 1.5". `kind` is the kind of the value. Does not skip the
  /// value.
  virtual std::string describeNext(JsonKind kind) const = 0;
  /// Returns advice on how to write a text instead of the next value, which has this kind. Empty if there is
  /// no advice.
  virtual std::string textHint(JsonKind /*kind*/) const { return {}; }

 protected:
  ValueCursor() = default;
  ValueCursor(const ValueCursor&) = default;
  ValueCursor& operator=(const ValueCursor&) = default;
};

/// One walk through a document of values: the cursor, its place, and the diagnostics so far. Each reader of a
/// part of the language gets the walk as its first argument.
class QueryWalk : private ValueCursor::Listener {
 public:
  /// Makes the cursor that walks through the text and reports to the listener.
  using MakeCursor = std::function<std::unique_ptr<ValueCursor>(ValueCursor::Listener&)>;

  /// `text` is well-formed UTF-8 within the limits. The offsets of the cursor refer to `text`.
  QueryWalk(std::string_view text, const ParseLimits& limits, const MakeCursor& makeCursor);

  ValueCursor& cursor() { return *m_cursor; }

  /// Calls `read` for a value one step below the current place: under a key, or at an index.
  template <class Read>
  void within(std::string step, Read read) {
    m_path.push_back(std::move(step));
    read();
    m_path.pop_back();
  }

  /// Reports an error. Too many errors end the walk.
  void error(std::size_t offset, std::string found, std::string expected, std::string hint = {});
  void warning(std::size_t offset, std::string found, std::string expected, std::string hint = {});
  std::size_t errors() const { return m_errors; }

  /// Reports that the next value has the wrong kind, and skips it.
  void refuseValue(std::string expected, std::string hint = {});
  /// Reports that a list has too many elements. Does not skip the extra elements.
  void refuseExtraElement(const std::string& form);
  /// Counts a new node. Returns false if the walk has ended, or if this node exceeds the limit.
  bool countNode(std::size_t offset);

  /// Returns all diagnostics in the order of the text, with positions. Call this function once, at the end.
  std::vector<Diagnostic> takeDiagnostics();

 private:
  void jsonIssue(JsonIssue issue) override;
  void report(Severity severity, JsonIssue issue);
  /// Returns the JSON pointer of the current place.
  std::string pointer() const;

  std::string_view m_text;
  ParseLimits m_limits;
  std::vector<std::string> m_path;  ///< keys and indices as the document writes them
  std::vector<Diagnostic> m_diagnostics;
  std::size_t m_nodes = 0;
  std::size_t m_errors = 0;
  std::size_t m_warnings = 0;
  std::unique_ptr<ValueCursor> m_cursor;
};

// Reads operators that are written as an object, or as a list of their fields in order.

enum class Need {
  Required,
  RequiredInList,  ///< an object has another way to write the field; the caller checks this
  Optional,
};

struct FieldReader {
  const char* name;
  Need need;
  const char* meaning;  ///< name of the value in the error for a missing field; nullptr: optional
  std::function<void()> read;
};

struct FieldsRead {
  std::vector<bool> seen;   ///< by field: whether the field was read
  bool isComplete = false;  ///< the whole object or list was read
};

enum class ListForm { Allowed, Refused };

/// Gets the key of a member that is no field, and the offset of the key. Returns true if the function has
/// read the value.
using OtherField = std::function<bool(const std::string&, std::size_t)>;

/// Reads the fields of an operator. Reports fields that are missing, given twice or unknown.
FieldsRead readFields(QueryWalk& walk, ListForm listForm, std::span<const FieldReader> fields,
                      const OtherField& readOther = {});

// Read values of fields that are no queries: texts, numbers, bytes. Each function reads the next value of the
// walk. If the value is wrong, the function reports an error and skips the value. The argument then keeps its
// value.

/// `expected` describes the right value in words: "text", "the path of a file".
void readText(QueryWalk& walk, std::string& text, const char* expected);

void readMaxTokens(QueryWalk& walk, Setting<std::int32_t>& setting);
void readTemperature(QueryWalk& walk, Setting<float>& setting);
/// Reads the count of a repeat.
void readCount(QueryWalk& walk, Times& count);

/// Reads a list of numbers from 0 to 255. The function reports other elements and leaves them out.
void readBytes(QueryWalk& walk, std::vector<std::uint8_t>& bytes);

}  // namespace spanscope::query
