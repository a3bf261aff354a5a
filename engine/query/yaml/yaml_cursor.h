// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/query/value_cursor.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::query {

/// Walks through the first document of a YAML text. Aliases are refused, tags other than !!str mean nothing,
/// a scalar in quotes is text, but where a number belongs it may be one. yaml-cpp reads the text before the
/// walk begins; a syntax error is reported when the walk comes to it, so what is wrong before it is reported
/// too.
class YamlCursor final : public ValueCursor {
 public:
  /// `text` is well-formed UTF-8 of less than 2 GiB and outlives the cursor, as does the listener. At most
  /// `maxDepth` containers may be open at once.
  YamlCursor(std::string_view text, std::size_t maxDepth, Listener& listener);

  /// Where a second document begins, which nobody reads.
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
  /// A document has at most about as many as bytes, so they are small.
  struct Event {
    EventKind kind = EventKind::Scalar;
    JsonKind value = JsonKind::Null;  ///< of a scalar, of the container that begins
    std::uint32_t offset = 0;
    std::uint32_t textBegin = 0;  ///< of a scalar in m_texts
    std::uint32_t textSize = 0;
  };

  void collect(const std::string& text, std::size_t maxDepth);
  /// Refuses the document if `text`, which is it with something added, is no YAML.
  void check(const std::string& text);
  void refuseAt(std::size_t offset, const std::string& reason);
  /// The tab at `offset` takes from everything behind it the place it was meant for.
  void refuseTab(std::size_t offset);
  /// The first syntax error counts.
  void refuse(JsonIssue issue);
  /// Whether an event is left; reports the syntax error if it is not for that.
  bool hasNext();
  std::string_view textOf(const Event& event) const;
  void enter(JsonKind container);
  bool closesContainer();
  /// The end of what was closed before event `next`: the place of that event without what separates the two.
  std::size_t endBefore(std::size_t next) const;
  void fail(std::string expected);
  void failWith(JsonIssue issue);
  void pass();

  std::string_view m_text;
  Listener& m_listener;
  std::vector<Event> m_events;
  std::string m_texts;  ///< of all scalars, one after the other
  std::optional<JsonIssue> m_syntaxError;
  std::optional<std::size_t> m_secondDocument;
  std::size_t m_next = 0;
  std::optional<std::size_t> m_closedAt;  ///< the end of the container that was passed just now
  std::string m_number;
  bool m_stopped = false;
};

}  // namespace spanscope::query
