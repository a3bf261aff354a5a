// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/query/query_walk.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::query {

/// Walks through the first document of a YAML text. Aliases are errors; tags except !!str change nothing. A
/// scalar in quotes is text, but in the place of a number it may be a number. yaml-cpp reads the whole text
/// before the walk begins. The cursor reports a syntax error only when the walk reaches it, so that errors
/// before it are reported too.
class YamlCursor final : public ValueCursor {
 public:
  /// `text` is well-formed UTF-8 of less than 2 GiB. `text` and `listener` must outlive the cursor. At most
  /// `maxDepth` containers may be open at the same time.
  YamlCursor(std::string_view text, std::size_t maxDepth, Listener& listener);

  /// A tag of the document that means more than the value without it: "!place", "!!binary".
  struct Tag {
    std::size_t offset = 0;  ///< of its value
    std::string name;
  };
  /// The first of them; nothing if there is none.
  const std::optional<Tag>& firstTag() const { return m_firstTag; }

  /// Where a second document begins; it is not read.
  std::optional<std::size_t> secondDocument() const { return m_secondDocument; }

  JsonKind peek() override;
  JsonKind peekNumber() override;
  std::size_t offset() const override;
  bool stopped() const override { return m_stopped; }

  std::string readString() override;
  std::string_view readNumber() override;
  void readLiteral() override;
  void enterArray() override;
  void enterObject() override;

  bool nextElement(Container& array) override;
  bool nextMember(Container& object, std::string& key) override;

  void skipValue() override;
  void expectEnd() override;

  Mark mark() const override { return {m_next, 0}; }
  void goTo(Mark mark) override;
  void stop() override { m_stopped = true; }

  std::string describeNext(JsonKind kind) const override;
  std::string textHint(JsonKind kind) const override;

 private:
  class Collector;
  enum class EventKind : std::uint8_t { Scalar, Alias, Begin, End };
  /// Events are small, because a document may have about as many of them as bytes.
  struct Event {
    EventKind kind = EventKind::Scalar;
    JsonKind value = JsonKind::Null;  ///< of a scalar, or of the container that begins
    std::uint32_t offset = 0;
    std::uint32_t textBegin = 0;  ///< of a scalar: its place in m_texts
    std::uint32_t textSize = 0;
  };

  void collect(const std::string& text, std::size_t maxDepth);
  /// Reports a syntax error at the end if `text`, which is the document with something appended, is not valid
  /// YAML.
  void check(const std::string& text);
  void refuseAt(std::size_t offset, const std::string& reason);
  /// Reports a tab at `offset` that indents a line, and drops all events after it: yaml-cpp has misplaced
  /// them.
  void refuseTab(std::size_t offset);
  /// Keeps the first syntax error of the text.
  void refuse(JsonIssue issue);
  /// Whether there is another event. If a syntax error is the reason that there is none, reports it.
  bool hasNext();
  std::string_view textOf(const Event& event) const;
  void enter(JsonKind container);
  bool closesContainer();
  /// The end of what was closed before event `next`: the beginning of that event, without the separators
  /// between.
  std::size_t endBefore(std::size_t next) const;
  void fail(std::string expected);
  void failWith(JsonIssue issue);
  void pass();

  std::string_view m_text;
  Listener& m_listener;
  std::vector<Event> m_events;
  std::string m_texts;  ///< texts of all scalars, one after the other
  std::optional<JsonIssue> m_syntaxError;
  std::optional<std::size_t> m_secondDocument;
  std::optional<Tag> m_firstTag;
  std::size_t m_next = 0;
  std::optional<std::size_t> m_closedAt;  ///< the end of the container that was closed last
  std::string m_number;
  bool m_stopped = false;
};

// The meaning of a YAML scalar by the rules of IBM/spnl's reader. These are the rules of the YAML 1.2 core
// schema, without capitals in true and false.

/// Null, False, True or Number; String for everything else.
JsonKind yamlScalarKind(std::string_view text);

/// A scalar that is a number, as a JSON number: "16" for "0x10", "0.5" for ".5". A number that a double
/// cannot hold becomes 1e39 or -1e39, which is infinite as a float.
std::string yamlNumber(std::string_view text);

/// Whether IBM/spnl may take the text for something other than text, even in quotes: whatever
/// yamlScalarKind() takes for something else, and other spellings of the same.
bool mayBeMisreadInYaml(std::string_view text);

/// Whether some YAML reader may take the text without quotes for something other than text: those of
/// mayBeMisreadInYaml(), and words of YAML 1.1 such as yes and off.
bool mayMeanOtherInYaml(std::string_view text);

}  // namespace spanscope::query
