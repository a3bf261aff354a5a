// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/yaml/yaml_cursor.h"

#include "engine/base/utf8.h"
#include "engine/query/number_text.h"
#include "engine/query/shown_text.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <utility>

namespace spanscope::query {

namespace {

constexpr std::size_t kShownCharacters = 40;

std::string describeAt(std::string_view text, std::size_t offset) {
  if (offset >= text.size()) return "the end of the text";
  const std::string_view line = text.substr(offset, text.find_first_of("\r\n", offset) - offset);
  return line.empty() ? "the end of the line" : inQuotes(line);
}

/// Thrown to end the reading of events early.
struct Refusal {
  JsonIssue issue;
};

/// Corrects yaml-cpp's result for the escapes \N and \_, which is a single byte and not UTF-8. These escapes
/// mean U+0085 and U+00A0.
std::string withWholeCharacters(std::string_view text) {
  std::string whole;
  while (!text.empty()) {
    const std::size_t invalid = std::min(findInvalidUtf8(text), text.size());
    whole += text.substr(0, invalid);
    if (invalid == text.size()) break;
    const char byte = text[invalid];
    whole += byte == '\x85' ? "\xC2\x85" : byte == '\xA0' ? "\xC2\xA0" : "\xEF\xBF\xBD";
    text.remove_prefix(invalid + 1);
  }
  return whole;
}

/// Finds the first tab in the indentation of the line of byte `offset`. The indentation is white space, with
/// the signs of lists and keys in this white space.
std::optional<std::size_t> indentingTab(std::string_view text, std::size_t offset) {
  offset = std::min(offset, text.size());
  const std::size_t lineBreak = offset == 0 ? std::string_view::npos : text.rfind('\n', offset - 1);
  const std::size_t begin = lineBreak == std::string_view::npos ? 0 : lineBreak + 1;
  const std::size_t end = std::min(text.find_first_not_of(" -?:\t", begin), text.size());
  const std::size_t tab = text.substr(0, end).find('\t', begin);
  if (tab == std::string_view::npos) return std::nullopt;
  return tab;
}

/// Checks whether there is a document, or whether the syntax of the document is right.
class Probe final : public YAML::EventHandler {
 public:
  explicit Probe(bool endsAtStart) : m_endsAtStart(endsAtStart) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (m_endsAtStart) throw mark;
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& /*mark*/, YAML::anchor_t /*anchor*/) override {}
  void OnAlias(const YAML::Mark& /*mark*/, YAML::anchor_t /*anchor*/) override {}
  void OnScalar(const YAML::Mark& /*mark*/, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                const std::string& /*value*/) override {}
  void OnSequenceStart(const YAML::Mark& /*mark*/, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                       YAML::EmitterStyle::value /*style*/) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark& /*mark*/, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                  YAML::EmitterStyle::value /*style*/) override {}
  void OnMapEnd() override {}

 private:
  bool m_endsAtStart;
};

/// Returns the syntax error of the first document, if it has one.
std::optional<YAML::Exception> syntaxErrorOf(const std::string& text) {
  std::istringstream stream(text);
  try {
    YAML::Parser parser(stream);
    Probe probe(false);
    parser.HandleNextDocument(probe);
  } catch (const YAML::Exception& error) {
    return error;
  }
  return std::nullopt;
}

/// Returns the tab that causes an error of yaml-cpp at byte `offset`. The tab is in the indentation of that
/// line. The error disappears or changes when spaces replace the tab. In brackets, tabs are allowed.
std::optional<std::size_t> tabBehind(const YAML::Exception& error, const std::string& text,
                                     std::size_t offset) {
  constexpr int kWidest = 8;
  const std::optional<std::size_t> tab = indentingTab(text, offset);
  if (!tab) return std::nullopt;
  for (const int width : {1, kWidest}) {
    std::string spaced(withoutByteOrderMark(text));
    spaced.replace(*tab - (text.size() - spaced.size()), 1, static_cast<std::size_t>(width), ' ');
    const std::optional<YAML::Exception> other = syntaxErrorOf(spaced);
    if (!other || other->mark.pos != error.mark.pos + width - 1 || other->msg != error.msg) return tab;
  }
  return std::nullopt;
}

}  // namespace

class YamlCursor::Collector : public YAML::EventHandler {
 public:
  Collector(YamlCursor& cursor, std::size_t shift, std::size_t maxDepth)
      : m_cursor(cursor), m_shift(shift), m_maxDepth(maxDepth) {}

  std::size_t offsetOf(const YAML::Mark& mark) const {
    const std::size_t end = m_cursor.m_text.size();
    return mark.pos < 0 ? end : std::min(static_cast<std::size_t>(mark.pos) + m_shift, end);
  }

  void OnDocumentStart(const YAML::Mark& /*mark*/) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    add(EventKind::Scalar, JsonKind::Null, mark, "");
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    add(EventKind::Alias, JsonKind::Invalid, mark, "");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t /*anchor*/,
                const std::string& value) override {
    noteTag(mark, tag);
    // "!" is the tag of a scalar in quotes.
    const bool isText = tag == "!" || tag == "tag:yaml.org,2002:str";
    add(EventKind::Scalar, isText ? JsonKind::String : yamlScalarKind(value), mark,
        findInvalidUtf8(value) < value.size() ? withWholeCharacters(value) : value);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t /*anchor*/,
                       YAML::EmitterStyle::value /*style*/) override {
    noteTag(mark, tag);
    begin(JsonKind::Array, mark);
  }
  void OnSequenceEnd() override { end(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t /*anchor*/,
                  YAML::EmitterStyle::value /*style*/) override {
    noteTag(mark, tag);
    begin(JsonKind::Object, mark);
  }
  void OnMapEnd() override { end(); }

 private:
  /// Values of JSON have these kinds without a tag, too.
  static bool isOfJson(std::string_view tag) {
    constexpr std::array<std::string_view, 7> kKinds = {"str", "int", "float", "bool", "null", "seq", "map"};
    constexpr std::string_view kPrefix = "tag:yaml.org,2002:";
    if (tag.empty() || tag == "?" || tag == "!") return true;
    return tag.starts_with(kPrefix) && std::ranges::find(kKinds, tag.substr(kPrefix.size())) != kKinds.end();
  }
  void noteTag(const YAML::Mark& mark, std::string_view tag) {
    constexpr std::string_view kPrefix = "tag:yaml.org,2002:";
    if (m_cursor.m_firstTag || isOfJson(tag)) return;
    m_cursor.m_firstTag = {offsetOf(mark), tag.starts_with(kPrefix)
                                               ? "!!" + std::string(tag.substr(kPrefix.size()))
                                               : std::string(tag)};
  }
  void add(EventKind kind, JsonKind value, const YAML::Mark& mark, std::string_view text) {
    m_cursor.m_events.push_back({kind, value, static_cast<std::uint32_t>(offsetOf(mark)),
                                 static_cast<std::uint32_t>(m_cursor.m_texts.size()),
                                 static_cast<std::uint32_t>(text.size())});
    m_cursor.m_texts += text;
  }
  void begin(JsonKind kind, const YAML::Mark& mark) {
    if (m_depth >= m_maxDepth) {
      throw Refusal{{offsetOf(mark),
                     "one more container inside " + std::to_string(m_depth) + " others",
                     "at most " + std::to_string(m_maxDepth) + " nested containers",
                     {}}};
    }
    ++m_depth;
    add(EventKind::Begin, kind, mark, "");
  }
  void end() {
    --m_depth;
    Event event;
    event.kind = EventKind::End;
    event.value = JsonKind::End;
    // yaml-cpp does not report the place. The place of the error is not before the last event.
    event.offset = m_cursor.m_events.empty() ? 0 : m_cursor.m_events.back().offset;
    m_cursor.m_events.push_back(event);
  }

  YamlCursor& m_cursor;
  std::size_t m_shift;
  std::size_t m_maxDepth;
  std::size_t m_depth = 0;
};

YamlCursor::YamlCursor(std::string_view text, std::size_t maxDepth, Listener& listener)
    : m_text(text), m_listener(listener) {
  // YAML allows no other control characters, and yaml-cpp reads some of them as the end of the text.
  const auto control = std::ranges::find_if(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 && c != '\t' && c != '\n' && c != '\r';
  });
  std::size_t end = text.size();
  if (control != text.end()) {
    end = static_cast<std::size_t>(control - text.begin());
    m_syntaxError =
        JsonIssue{end,
                  "a control character",
                  /*id:text-without-any*/ "text without control characters, or an escape in double quotes",
                  {}};
  }
  std::string copy(text.substr(0, end));
  // The reference treats tabs before the first character like spaces.
  const std::size_t first = std::min(copy.find_first_not_of(" \t\r\n"), copy.size());
  std::replace(copy.begin(), copy.begin() + static_cast<std::ptrdiff_t>(first), '\t', ' ');
  // yaml-cpp does not notice a missing closing quote if the text ends with white space.
  if (copy.ends_with('\n')) copy += "...\n";
  if (copy.ends_with(' ') || copy.ends_with('\t')) {
    check(copy + "\n...\n");
    if (m_syntaxError) return;
  }
  collect(copy, maxDepth);
}

void YamlCursor::collect(const std::string& text, std::size_t maxDepth) {
  const std::size_t shift = text.size() - withoutByteOrderMark(text).size();
  std::istringstream stream(text.substr(shift));
  Collector collector(*this, shift, maxDepth);
  try {
    YAML::Parser parser(stream);
    parser.HandleNextDocument(collector);
    if (m_syntaxError) return;
    // The rest of the text is read only as far as necessary to see whether there is a second document.
    try {
      Probe probe(true);
      parser.HandleNextDocument(probe);
    } catch (const YAML::Mark& mark) {
      m_secondDocument = collector.offsetOf(mark);
    } catch (const YAML::Exception&) {
      // Errors after the first document do not matter.
    }
  } catch (const Refusal& refusal) {
    refuse(refusal.issue);
  } catch (const YAML::Exception& error) {
    const std::size_t offset = collector.offsetOf(error.mark);
    const std::optional<std::size_t> tab = tabBehind(error, text, offset);
    if (tab) {
      refuseTab(*tab);
    } else {
      refuseAt(offset, error.msg);
    }
  }
}

void YamlCursor::refuseTab(std::size_t offset) {
  // The events that yaml-cpp made of the line do not have the intended meaning.
  const auto isBehind = [offset](const Event& event) {
    return event.kind != EventKind::End && event.offset >= offset;
  };
  m_events.erase(std::ranges::find_if(m_events, isBehind), m_events.end());
  refuse({offset, /*id:tab-indents*/ "a tab that indents", "spaces",
          /*id:yaml-not-indent*/ "YAML does not indent with tabs"});
}

void YamlCursor::check(const std::string& text) {
  if (syntaxErrorOf(text)) refuseAt(m_text.size(), {});
}

void YamlCursor::refuseAt(std::size_t offset, const std::string& reason) {
  const bool isOpen = offset >= m_text.size();
  refuse({offset, describeAt(m_text, offset), "YAML",
          isOpen ? /*id:something-not-closed*/ "A quote or a bracket is not closed" : reason});
}

void YamlCursor::refuse(JsonIssue issue) {
  if (!m_syntaxError || issue.offset < m_syntaxError->offset) m_syntaxError = std::move(issue);
}

bool YamlCursor::hasNext() {
  if (m_stopped) return false;
  if (m_next < m_events.size()) return true;
  if (m_syntaxError) failWith(*m_syntaxError);
  return false;
}

std::string_view YamlCursor::textOf(const Event& event) const {
  return std::string_view(m_texts).substr(event.textBegin, event.textSize);
}

JsonKind YamlCursor::peek() {
  m_closedAt.reset();
  if (!hasNext()) return m_stopped ? JsonKind::Invalid : JsonKind::End;
  return m_events[m_next].value;
}

JsonKind YamlCursor::peekNumber() {
  if (peek() != JsonKind::String) return peek();
  Event& event = m_events[m_next];
  const JsonKind meant = yamlScalarKind(textOf(event));
  if (meant == JsonKind::Number || meant == JsonKind::Null) event.value = meant;
  return event.value;
}

std::size_t YamlCursor::offset() const {
  if (m_closedAt) return *m_closedAt;
  return m_next < m_events.size() ? m_events[m_next].offset : m_text.size();
}

void YamlCursor::pass() {
  ++m_next;
  m_closedAt.reset();
}

std::string YamlCursor::readString() {
  if (peek() != JsonKind::String) {
    fail("text");
    return {};
  }
  std::string text(textOf(m_events[m_next]));
  pass();
  return text;
}

std::string_view YamlCursor::readNumber() {
  if (peek() != JsonKind::Number) {
    fail("a number");
    return "0";
  }
  m_number = yamlNumber(textOf(m_events[m_next]));
  pass();
  return m_number;
}

void YamlCursor::readLiteral() {
  const JsonKind kind = peek();
  if (kind == JsonKind::Null || kind == JsonKind::True || kind == JsonKind::False) {
    pass();
  } else {
    fail("true, false or null");
  }
}

void YamlCursor::enterArray() {
  enter(JsonKind::Array);
}

void YamlCursor::enterObject() {
  enter(JsonKind::Object);
}

void YamlCursor::enter(JsonKind container) {
  if (peek() == container) {
    pass();
  } else {
    fail(container == JsonKind::Array ? "a list" : "an object");
  }
}

bool YamlCursor::closesContainer() {
  if (!hasNext()) {
    fail("the end of the list or object");
    return true;
  }
  if (m_events[m_next].kind != EventKind::End) return false;
  pass();
  m_closedAt = endBefore(m_next);
  return true;
}

std::size_t YamlCursor::endBefore(std::size_t next) const {
  while (next < m_events.size() && m_events[next].kind == EventKind::End) ++next;
  const std::size_t limit = next < m_events.size() ? m_events[next].offset : m_text.size();
  const std::size_t last = m_text.substr(0, limit).find_last_not_of(" \t\r\n,-?");
  const std::size_t end = last == std::string_view::npos ? 0 : last + 1;
  return std::max<std::size_t>(end, m_next > 0 ? m_events[m_next - 1].offset : 0);
}

bool YamlCursor::nextElement(Container& array) {
  array.isFirst = false;
  return !m_stopped && !closesContainer();
}

bool YamlCursor::nextMember(Container& object, std::string& key) {
  object.isFirst = false;
  while (!m_stopped && !closesContainer()) {
    const Event& event = m_events[m_next];
    object.keyOffset = event.offset;
    if (event.kind == EventKind::Scalar) {
      key = textOf(event);
      pass();
      return true;
    }
    if (event.kind == EventKind::Begin) {
      m_listener.jsonIssue({event.offset, describeNext(event.value) + " as a key", "a word", {}});
    }
    skipValue();
    skipValue();
  }
  return false;
}

void YamlCursor::skipValue() {
  std::size_t depth = 0;
  do {
    if (!hasNext()) {
      fail("a value");
      return;
    }
    const Event& event = m_events[m_next];
    if (event.kind == EventKind::Begin) ++depth;
    if (event.kind == EventKind::End) --depth;
    if (event.kind == EventKind::Alias) {
      m_listener.jsonIssue({event.offset, "an alias", "the value itself",
                            /*id:aliases-not-read*/ "Spanscope does not read aliases"});
      if (m_stopped) return;
    }
    pass();
  } while (depth > 0);
}

void YamlCursor::expectEnd() {
  // The events end with the document. If a syntax error ended the events early, the error is reported now.
  hasNext();
}

void YamlCursor::goTo(Mark mark) {
  m_next = mark.place;
  m_closedAt.reset();
}

std::string YamlCursor::describeNext(JsonKind kind) const {
  if (kind == JsonKind::Null) {
    // If the value is empty, the text at this place belongs to the next event.
    const std::string_view rest = m_text.substr(m_events[m_next].offset);
    const bool isWritten = rest.starts_with('~') || yamlScalarKind(rest.substr(0, 4)) == JsonKind::Null;
    return isWritten ? "null" : "nothing";
  }
  if (kind == JsonKind::Number) return "the number " + cutText(textOf(m_events[m_next]), kShownCharacters);
  if (kind == JsonKind::String) return "the text " + inQuotes(textOf(m_events[m_next]));
  return kindText(kind);
}

std::string YamlCursor::textHint(JsonKind kind) const {
  switch (kind) {
    case JsonKind::Null:
    case JsonKind::False:
    case JsonKind::True:
    case JsonKind::Number:
      return /*id:text-stands-quotes*/ "Write text like this in quotes";
    default:
      return {};
  }
}

void YamlCursor::fail(std::string expected) {
  if (m_stopped) return;
  const std::string found =
      m_next < m_events.size() ? describeAt(m_text, m_events[m_next].offset) : "the end of the text";
  failWith({offset(), found, std::move(expected), {}});
}

void YamlCursor::failWith(JsonIssue issue) {
  if (m_stopped) return;
  m_stopped = true;
  m_listener.jsonIssue(std::move(issue));
}

namespace {

bool isOneOf(std::string_view text, std::string_view words) {
  const std::vector<std::string_view> all = splitAt(words, ' ');
  return std::ranges::find(all, text) != all.end();
}

}  // namespace

JsonKind yamlScalarKind(std::string_view text) {
  if (isOneOf(text, "~ null Null NULL")) return JsonKind::Null;
  if (text == "true") return JsonKind::True;
  if (text == "false") return JsonKind::False;
  if (isLooseNumber(text)) return JsonKind::Number;
  return JsonKind::String;
}

std::string yamlNumber(std::string_view text) {
  return looseNumberAsJson(text);
}

bool mayBeMisreadInYaml(std::string_view text) {
  return yamlScalarKind(text) != JsonKind::String || isOneOf(text, "True TRUE False FALSE .nan .NaN .NAN");
}

bool mayMeanOtherInYaml(std::string_view text) {
  return mayBeMisreadInYaml(text) || isOneOf(text, "= << y Y n N yes Yes YES no No NO on On ON off Off OFF");
}

}  // namespace spanscope::query
