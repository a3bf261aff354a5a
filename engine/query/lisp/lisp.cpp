// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/lisp/lisp.h"

#include "engine/base/utf8.h"
#include "engine/query/lisp/lisp_evaluator.h"
#include "engine/query/node_parts.h"
#include "engine/query/number_text.h"
#include "engine/query/visit_fields.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>
#include <utility>

namespace spanscope::query {

namespace {

/// Adds the nodes of a tree to a map. The ranges of the nodes are in preorder.
class SourceBuilder {
 public:
  SourceBuilder(SourceMap& sources, const std::vector<SourceRange>& ranges)
      : m_sources(sources), m_ranges(ranges) {}

  void add(const Node& node, std::string step) {
    if (m_next >= m_ranges.size()) return;
    const SourceRange range = m_ranges[m_next++];
    const std::size_t entry = m_sources.open(std::move(step), range.begin);
    forEachChild(node, [this](const Node& child, const std::string& childStep) { add(child, childStep); });
    m_sources.close(entry, range.end);
  }

 private:
  SourceMap& m_sources;
  const std::vector<SourceRange>& m_ranges;
  std::size_t m_next = 0;
};

}  // namespace

ParseResult parseLisp(std::string_view text, const ParseLimits& limits, Surroundings* surroundings) {
  ParseResult result;
  if (auto problem = refuseText(text, std::min(limits.maxBytes, kMaxLispBytes))) {
    result.diagnostics.push_back(std::move(*problem));
    return result;
  }
  const std::optional<std::string> lines = withLineFeeds(text);
  if (lines) text = *lines;
  auto read =
      readLispForm(text, {.maxDepth = std::min(limits.maxDepth, kMaxDepth), .maxForms = kMaxLispSteps});
  if (auto* issues = std::get_if<std::vector<JsonIssue>>(&read)) {
    if (issues->size() > limits.maxDiagnostics) issues->resize(limits.maxDiagnostics);
    const auto isEarlier = [](const JsonIssue& a, const JsonIssue& b) { return a.offset < b.offset; };
    std::ranges::stable_sort(*issues, isEarlier);
    for (JsonIssue& issue : *issues) {
      result.diagnostics.push_back({Severity::Error,
                                    {},
                                    {},
                                    issue.offset,
                                    std::move(issue.found),
                                    std::move(issue.expected),
                                    std::move(issue.hint)});
    }
  } else {
    LispEvaluator evaluator(limits, surroundings);
    if (auto query = evaluator.evaluate(std::get<LispForm>(read))) {
      SourceBuilder(result.sources, query->ranges).add(query->node, {});
      result.query = std::move(query->node);
    }
    result.diagnostics = evaluator.takeDiagnostics();
  }
  locate(result.diagnostics, text);
  return result;
}

namespace {

class Remarks {
 public:
  std::vector<Diagnostic> found;

  void node(const NodePath& path, const Node& node) {
    const auto* message = node.as<Message>();
    if (!infoOf(node).isInMacro || (message != nullptr && message->role == Role::Assistant)) {
      add(path, std::string("the operator \"") + operatorName(node) + "\"",
          "an operator that has a form in the macro");
    }
    if (const auto* join = node.as<Join>()) {
      const bool takesOne = join->kind == JoinKind::Cross;
      if (join->children.empty() || (join->children.size() == 1 && !takesOne)) {
        add(path, std::string("a ") + joinName(join->kind) + " of " + std::to_string(join->children.size()),
            takesOne ? "at least one query" : "at least two queries (one argument must be a list)");
      }
    }
  }
  void text(const NodePath& /*node*/, const std::string& /*pointer*/, const std::string& /*text*/) {}
  void count(const NodePath& /*node*/, const std::string& pointer, const auto& value) {
    number(pointer, value);
  }
  void maxTokens(const NodePath& /*node*/, const std::string& pointer, const auto& value) {
    setting(pointer, value);
  }
  void temperature(const NodePath& /*node*/, const std::string& pointer, const auto& value) {
    setting(pointer, value);
  }

 private:
  void number(const std::string& pointer, const auto& value) {
    if (std::holds_alternative<Parameter>(value)) add(pointer, "a parameter", "a number");
  }
  void setting(const std::string& pointer, const auto& value) {
    number(pointer, value);
    if (std::holds_alternative<Null>(value)) add(pointer, "null", "a number");
  }
  void add(const std::string& pointer, std::string what, std::string expected) {
    found.push_back({Severity::Warning,
                     pointer,
                     {},
                     0,
                     std::move(what),
                     std::move(expected),
                     "Spanscope reads this form, but the macro of IBM/spnl does not"});
  }
};

}  // namespace

std::vector<Diagnostic> lispRemarks(const Node& node) {
  Remarks remarks;
  FieldWalk<const Node, Remarks>(remarks).walk(node, {});
  return std::move(remarks.found);
}

namespace {

/// Writes a text in double quotes. Characters that would be invisible are written as Rust's escapes.
void appendText(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n' || c == '\r' || c == '\t') {
      out += c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t";
    } else if (byte < 0x20 || byte == 0x7F) {
      out += "\\x";
      appendHex(out, byte, 2);
    } else {
      out += c;
    }
  }
  out += '"';
}

/// Writes forms. A query is on its own line, below the form that contains it. Everything else is after the
/// name of the form.
class Writer {
 public:
  std::string take() { return std::move(m_out); }

  void node(const Node& node) {
    m_out += '(';
    m_out += operatorName(node);
    ++m_indent;
    Fields fields(*this);
    visitFields(node, fields);
    fields.writeSettings();
    --m_indent;
    m_out += ')';
  }

 private:
  /// The fields of one node in the order of their list, except temperature and max_tokens. These two are
  /// optional and come last. If queries come between the name and these two fields, the two fields get a line
  /// of their own.
  class Fields {
   public:
    explicit Fields(Writer& writer) : m_writer(writer) {}

    void operator()(const FieldInfo& /*info*/, const std::string& text) { m_writer.text(text); }
    void operator()(const FieldInfo& /*info*/, const Setting<std::int32_t>& maxTokens) {
      m_maxTokens = &maxTokens;
    }
    void operator()(const FieldInfo& /*info*/, const Setting<float>& temperature) {
      m_temperature = &temperature;
    }
    void operator()(const FieldInfo& /*info*/, const Times& count) {
      if (const auto* parameter = std::get_if<Parameter>(&count)) {
        m_writer.text("{" + parameter->name + "}");
      } else {
        m_writer.word(std::to_string(std::get<std::uint8_t>(count)));
      }
    }
    void operator()(const FieldInfo& /*info*/, const std::vector<std::string>& texts) {
      m_writer.m_out += " (list";
      for (const std::string& text : texts) m_writer.text(text);
      m_writer.m_out += ')';
    }
    void operator()(const FieldInfo& /*info*/, const SourceDocument& document) {
      m_writer.document(document);
    }
    template <GroupField Group>
    void operator()(const FieldInfo& /*info*/, const Group& group) {
      visitGroup(group, *this);
    }
    void operator()(const FieldInfo& /*info*/, const Box<Node>& child) {
      m_hasQuery = true;
      m_writer.child(*child);
    }
    void operator()(const FieldInfo& /*info*/, const std::vector<Node>& children) {
      for (const Node& child : children) m_writer.child(child);
    }

    void writeSettings() {
      if (m_temperature == nullptr || m_maxTokens == nullptr) return;
      if (m_hasQuery) {
        m_writer.m_out += '\n';
        m_writer.m_out.append(2 * m_writer.m_indent - 1, ' ');
      }
      m_writer.setting(*m_temperature);
      m_writer.setting(*m_maxTokens);
    }

   private:
    Writer& m_writer;
    const Setting<float>* m_temperature = nullptr;
    const Setting<std::int32_t>* m_maxTokens = nullptr;
    bool m_hasQuery = false;
  };

  void text(std::string_view value) {
    m_out += ' ';
    appendText(m_out, value);
  }
  void word(const std::string& value) { m_out += " " + value; }
  void child(const Node& value) {
    m_out += '\n';
    m_out.append(2 * m_indent, ' ');
    node(value);
  }

  static std::string numberText(std::int32_t value) { return std::to_string(value); }
  static std::string numberText(float value) { return floatText(value); }

  template <class T>
  void setting(const std::variant<Absent, Null, T, Parameter>& setting) {
    if (const auto* number = std::get_if<T>(&setting)) {
      word(numberText(*number));
    } else if (const auto* parameter = std::get_if<Parameter>(&setting)) {
      text("{" + parameter->name + "}");
    } else {
      word(std::holds_alternative<Null>(setting) ? "none" : numberText(kDefaultOf<T>));
    }
  }

  void document(const SourceDocument& document) {
    m_out += '\n';
    m_out.append(2 * m_indent, ' ');
    m_out += "(doc";
    text(document.name);
    if (const auto* content = std::get_if<std::string>(&document.content)) {
      text(*content);
    } else {
      m_out += " (bytes";
      for (const std::uint8_t byte : std::get<std::vector<std::uint8_t>>(document.content)) {
        word(std::to_string(byte));
      }
      m_out += ')';
    }
    m_out += ')';
  }

  std::string m_out;
  std::size_t m_indent = 0;
};

}  // namespace

std::string writeLisp(const Node& node) {
  Writer writer;
  writer.node(node);
  return writer.take() + "\n";
}

namespace {

constexpr std::string_view kSpace = " \t\r\n\f\v";

/// A number must contain a digit; ".inf" and similar texts are words here.
bool isNumber(std::string_view word) {
  return word.find_first_of("0123456789") != std::string_view::npos && isLooseNumber(word);
}

class Reader {
 public:
  Reader(std::string_view text, const LispFormLimits& limits) : m_text(text), m_limits(limits) {}

  std::vector<JsonIssue> issues;

  LispForm readAll() {
    LispForm form;
    m_offset = m_text.size() - withoutByteOrderMark(m_text).size();
    skipSpace();
    if (m_offset == m_text.size()) {
      fail({m_offset, "the end of the text", "a form, such as (user \"text\")", {}});
      return form;
    }
    readForm(form, 0);
    if (m_stopped) return form;
    skipSpace();
    if (m_offset < m_text.size()) {
      const bool isClosing = m_text[m_offset] == ')';
      fail({m_offset, isClosing ? "a ) that closes nothing" : "a second form", "one form",
            isClosing ? "" : /*id:several-queries-stand-seq*/ "Write several queries in (seq …)"});
    }
    return form;
  }

 private:
  void fail(JsonIssue issue) {
    if (!m_stopped) issues.push_back(std::move(issue));
    m_stopped = true;
  }

  void skipSpace() {
    while (true) {
      m_offset = std::min(m_text.find_first_not_of(kSpace, m_offset), m_text.size());
      if (m_offset == m_text.size() || m_text[m_offset] != ';') return;
      m_offset = std::min(m_text.find('\n', m_offset), m_text.size());
    }
  }

  /// Call this only if the next character is neither white space nor the end.
  void readForm(LispForm& form, std::size_t depth) {
    if (++m_forms > m_limits.maxForms) {
      fail({m_offset, "too many forms", "at most " + std::to_string(m_limits.maxForms) + " forms", {}});
      return;
    }
    form.range.begin = m_offset;
    const char c = m_text[m_offset];
    if (c == '(') {
      readList(form, depth);
    } else if (c == '"') {
      readText(form);
    } else {
      readWord(form);
    }
    form.range.end = m_offset;
  }

  void readList(LispForm& form, std::size_t depth) {
    const std::size_t begin = m_offset;
    if (depth >= m_limits.maxDepth) {
      fail({m_offset,
            "one more list inside " + std::to_string(depth) + " others",
            "at most " + std::to_string(m_limits.maxDepth) + " nested lists",
            {}});
      return;
    }
    ++m_offset;
    while (!m_stopped) {
      skipSpace();
      if (m_offset == m_text.size()) {
        fail({begin, /*id:not-closed*/ "a ( that is not closed", "a ) before the end of the text", {}});
      } else if (m_text[m_offset] == ')') {
        ++m_offset;
        return;
      } else {
        readForm(form.children.emplace_back(), depth + 1);
      }
    }
  }

  void readWord(LispForm& form) {
    const std::size_t end = std::min(m_text.find_first_of(" \t\r\n\f\v();\"", m_offset), m_text.size());
    if (end == m_offset) {
      fail({m_offset, "a ) that closes nothing", "a form", {}});
      return;
    }
    const std::string_view word = m_text.substr(m_offset, end - m_offset);
    m_offset = end;
    form.kind = isNumber(word) ? LispFormKind::Number : LispFormKind::Symbol;
    form.text = form.kind == LispFormKind::Number ? looseNumberAsJson(word) : std::string(word);
  }

  void readText(LispForm& form) {
    form.kind = LispFormKind::Text;
    const std::size_t begin = m_offset++;
    while (true) {
      const std::size_t next = std::min(m_text.find_first_of("\"\\", m_offset), m_text.size());
      form.text += m_text.substr(m_offset, next - m_offset);
      m_offset = next;
      if (next == m_text.size()) {
        fail({begin, "a text without an end", "a closing double quote", {}});
        return;
      }
      if (m_text[next] == '"') {
        ++m_offset;
        return;
      }
      readEscape(form.text);
    }
  }

  /// Reads an escape of a Rust string.
  void readEscape(std::string& text) {
    constexpr std::string_view kNames = "\"'\\nrt0";
    constexpr std::string_view kValues{"\"'\\\n\r\t\0", 7};
    const std::size_t begin = m_offset++;
    const char name = m_offset < m_text.size() ? m_text[m_offset] : '\0';
    if (const std::size_t known = kNames.find(name);
        known != std::string_view::npos && m_offset < m_text.size()) {
      text += kValues[known];
      ++m_offset;
    } else if (name == '\n' || name == '\r') {
      // A backslash at the end of a line removes the line break and the indentation of the next line.
      m_offset = std::min(m_text.find_first_not_of(" \t\r\n", m_offset), m_text.size());
    } else if (name == 'x') {
      readCode(text, begin, m_text.substr(m_offset + 1, 2), 3, 0x7F);
    } else if (name == 'u' && m_text.substr(m_offset + 1).starts_with('{')) {
      const std::string_view rest = m_text.substr(m_offset + 2, 7);
      const std::size_t close = rest.find('}');
      const bool isClosed = close != std::string_view::npos;
      readCode(text, begin, isClosed ? rest.substr(0, close) : std::string_view(), isClosed ? close + 3 : 1,
               0x10FFFF);
    } else {
      issues.push_back({begin, "a backslash that begins no escape",
                        "one of \\\" \\' \\\\ \\n \\r \\t \\0 \\xXX \\u{XXXX}",
                        "to write a backslash, double it: \\\\"});
    }
  }

  void readCode(std::string& text, std::size_t begin, std::string_view digits, std::size_t length,
                unsigned most) {
    unsigned code = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    const bool isSurrogate = code >= 0xD800 && code < 0xE000;
    m_offset += length;
    m_offset = std::min(m_offset, m_text.size());
    if (digits.empty() || error != std::errc() || end != digits.data() + digits.size() || code > most ||
        isSurrogate) {
      issues.push_back({begin,
                        /*id:escape-no-character*/ "an escape that is not a character",
                        "\\x00 … \\x7f, or \\u{…} of a character",
                        {}});
      m_offset = begin + 2;
      return;
    }
    appendUtf8(text, code);
  }

  std::string_view m_text;
  LispFormLimits m_limits;
  std::size_t m_offset = 0;
  std::size_t m_forms = 0;
  bool m_stopped = false;
};

}  // namespace

std::variant<LispForm, std::vector<JsonIssue>> readLispForm(std::string_view text,
                                                            const LispFormLimits& limits) {
  Reader reader(text, limits);
  LispForm form = reader.readAll();
  if (!reader.issues.empty()) return std::move(reader.issues);
  return form;
}

}  // namespace spanscope::query
