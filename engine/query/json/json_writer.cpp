// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/json/json.h"
#include "engine/query/number_text.h"

#include <type_traits>

namespace spanscope::query {
namespace {

/// Escapes what JSON cannot hold within quotes, and nothing else.
void appendText(std::string& out, std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default: {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20) {
          out += "\\u00";
          out += kDigits[byte >> 4U];
          out += kDigits[byte & 15U];
        } else {
          out += c;
        }
      }
    }
  }
  out += '"';
}

enum class Style {
  Canonical,  ///< one line, defaults written
  Pretty,     ///< indented, only what was given
};

class Writer {
 public:
  explicit Writer(Style style) : m_style(style) {}

  std::string take() { return std::move(m_out); }

  void node(const Node& node) {
    m_out += '{';
    key(operatorName(node));
    std::visit([this](const auto& value) { body(value); }, node.value);
    m_out += '}';
  }

 private:
  bool isPretty() const { return m_style == Style::Pretty; }

  void text(std::string_view value) { appendText(m_out, value); }
  void key(std::string_view name) {
    text(name);
    m_out += isPretty() ? ": " : ":";
  }
  void parameter(const Parameter& value) { text("{" + value.name + "}"); }
  void value(std::int32_t number) { m_out += std::to_string(number); }
  void value(float number) { m_out += floatText(number); }

  void breakLine() {
    if (!isPretty()) return;
    m_out += '\n';
    m_out.append(2 * m_indent, ' ');
  }
  void open(char bracket) {
    m_out += bracket;
    ++m_indent;
    m_isFirst = true;
  }
  /// Begins the next element or member of what was opened last.
  void next() {
    if (!m_isFirst) m_out += ',';
    m_isFirst = false;
    breakLine();
  }
  void field(std::string_view name) {
    next();
    key(name);
  }
  void close(char bracket) {
    --m_indent;
    if (!m_isFirst) breakLine();
    m_isFirst = false;
    m_out += bracket;
  }

  template <class T>
  void setting(std::string_view name, const Setting<T>& setting, T defaultValue) {
    if (std::holds_alternative<Absent>(setting)) {
      if (isPretty()) return;
      field(name);
      value(defaultValue);
      return;
    }
    field(name);
    if (const auto* number = std::get_if<T>(&setting)) {
      value(*number);
    } else if (const auto* name_ = std::get_if<Parameter>(&setting)) {
      parameter(*name_);
    } else {
      m_out += "null";
    }
  }
  void settings(const GenerateSettings& settings) {
    field("model");
    text(settings.model);
    setting("max_tokens", settings.maxTokens, kDefaultMaxTokens);
    setting("temperature", settings.temperature, kDefaultTemperature);
  }

  void body(const Message& message) { text(message.text); }
  void body(const Print& print) { text(print.text); }
  void body(const Ask& ask) { text(ask.prompt); }
  void body(const File& file) { text(file.path); }
  void body(const Monad& monad) { node(*monad.body); }

  void body(const Generate& generate) {
    open('{');
    settings(generate.settings);
    field("input");
    node(*generate.input);
    close('}');
  }

  void body(const Join& join) {
    open('[');
    for (const Node& child : join.children) {
      next();
      node(child);
    }
    close(']');
  }

  void body(const Zip& zip) {
    open('{');
    field("first");
    node(*zip.first);
    field("second");
    node(*zip.second);
    close('}');
  }

  void body(const Repeat& repeat) {
    open('{');
    field("n");
    if (const auto* name = std::get_if<Parameter>(&repeat.count)) {
      parameter(*name);
    } else {
      m_out += std::to_string(std::get<std::uint8_t>(repeat.count));
    }
    field("g");
    body(repeat.generate);
    close('}');
  }

  void body(const Map& map) {
    open('{');
    field("metadata");
    open('{');
    settings(map.settings);
    close('}');
    field("inputs");
    open('[');
    for (const std::string& input : map.inputs) {
      next();
      text(input);
    }
    close(']');
    close('}');
  }

  void body(const Augment& augment) {
    open('{');
    field("embedding_model");
    text(augment.embeddingModel);
    field("body");
    node(*augment.body);
    field("doc");
    document(augment.document);
    close('}');
  }

  void document(const Document& document) {
    const char* comma = isPretty() ? ", " : ",";
    m_out += '[';
    text(document.name);
    m_out += comma;
    m_out += '{';
    if (const auto* content = std::get_if<std::string>(&document.content)) {
      key("Text");
      text(*content);
    } else {
      key("Binary");
      m_out += '[';
      bool isFirst = true;
      for (const std::uint8_t byte : std::get<std::vector<std::uint8_t>>(document.content)) {
        if (!isFirst) m_out += comma;
        isFirst = false;
        m_out += std::to_string(byte);
      }
      m_out += ']';
    }
    m_out += "}]";
  }

  Style m_style;
  std::string m_out;
  std::size_t m_indent = 0;
  bool m_isFirst = true;
};

}  // namespace

std::string writeCanonical(const Node& node) {
  Writer writer(Style::Canonical);
  writer.node(node);
  return writer.take();
}

std::string writePretty(const Node& node) {
  Writer writer(Style::Pretty);
  writer.node(node);
  return writer.take() + "\n";
}

}  // namespace spanscope::query
