// SPDX-License-Identifier: GPL-3.0-or-later
// Reads YAML text for QueryWalk. Open this file when a syntax error in YAML is reported badly.
#pragma once

#include "engine/query/query_walk.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::query {

/// Walks through the first document of a YAML text. Aliases are errors. Tags except !!str change nothing. A
/// scalar in quotes is text. Such a scalar can also give an expected number. yaml-cpp reads the whole text
/// before the walk begins. The cursor reports a syntax error only when the walk reaches the error. Earlier
/// errors are also reported.
class YamlCursor final : public ValueCursor {
 public:
  /// `text` is well-formed UTF-8 of less than 2 GiB. `text` and `listener` must outlive the cursor. At most
  /// `maxDepth` containers may be open at the same time.
  YamlCursor(std::string_view text, std::size_t maxDepth, Listener& listener);

  /// A tag of the document that changes the meaning of its value: "!place", "!!binary".
  struct Tag {
    std::size_t offset = 0;  ///< offset of the value of the tag
    std::string name;
  };
  /// Returns the first such tag, or nothing.
  const std::optional<Tag>& firstTag() const { return m_firstTag; }

  /// Returns the offset of a second document, which the cursor does not read.
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
  /// Events are small because a document may have almost as many events as bytes.
  struct Event {
    EventKind kind = EventKind::Scalar;
    JsonKind value = JsonKind::Null;  ///< kind of a scalar, or of the container that begins
    std::uint32_t offset = 0;
    std::uint32_t textBegin = 0;  ///< for a scalar: place of its text in m_texts
    std::uint32_t textSize = 0;
  };

  void collect(const std::string& text, std::size_t maxDepth);
  /// Parses `text`, the document with something appended. If the result is not valid YAML, reports a syntax
  /// error at the end.
  void check(const std::string& text);
  void refuseAt(std::size_t offset, const std::string& reason);
  /// Reports a tab at `offset` that indents a line. Drops all events after the tab, because yaml-cpp has
  /// misplaced these events.
  void refuseTab(std::size_t offset);
  /// Keeps the first syntax error of the text.
  void refuse(JsonIssue issue);
  /// Whether there is another event. If a syntax error ended the events, reports that error.
  bool hasNext();
  std::string_view textOf(const Event& event) const;
  void enter(JsonKind container);
  bool closesContainer();
  /// Returns the end of the container closed before event `next`. The end of the container is the beginning
  /// of that event, without the separators before the event.
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

// Define the meaning of a YAML scalar by the rules of IBM/spnl's reader. The reader follows the YAML 1.2 core
// schema, without capitals in true and false.

/// Returns Null, False, True or Number. Returns String for all other texts.
JsonKind yamlScalarKind(std::string_view text);

/// Returns a scalar that is a number as a JSON number: "16" for "0x10", "0.5" for ".5". A number outside the
/// range of a double becomes 1e39 or -1e39, which is infinite as a float.
std::string yamlNumber(std::string_view text);

/// Whether IBM/spnl may read the text as something other than text, even in quotes. The result is true for
/// each text that yamlScalarKind() does not call String, and for other spellings of these texts.
bool mayBeMisreadInYaml(std::string_view text);

/// Whether some YAML reader may read the text without quotes as something other than text. Such texts are the
/// texts of mayBeMisreadInYaml(), and words of YAML 1.1 such as yes and off.
bool mayMeanOtherInYaml(std::string_view text);

}  // namespace spanscope::query
