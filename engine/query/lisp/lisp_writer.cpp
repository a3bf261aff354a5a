// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/lisp/lisp.h"
#include "engine/query/number_text.h"

#include <type_traits>
#include <utility>

namespace spanscope::query {
namespace {

/// In double quotes, with the escapes of Rust where a character would not be seen.
void appendText(std::string& out, std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
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
      out += kDigits[byte >> 4U];
      out += kDigits[byte & 15U];
    } else {
      out += c;
    }
  }
  out += '"';
}

/// Writes forms so that a query stands on a line of its own below the form it belongs to, and everything else
/// behind the name.
class Writer {
 public:
  std::string take() { return std::move(m_out); }

  void node(const Node& node) {
    m_out += '(';
    m_out += operatorName(node);
    ++m_indent;
    std::visit([this](const auto& value) { body(value); }, node.value);
    --m_indent;
    m_out += ')';
  }

 private:
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
  void setting(const Setting<T>& setting, T defaultValue) {
    if (const auto* number = std::get_if<T>(&setting)) {
      word(numberText(*number));
    } else if (const auto* parameter = std::get_if<Parameter>(&setting)) {
      text("{" + parameter->name + "}");
    } else {
      word(std::holds_alternative<Null>(setting) ? "none" : numberText(defaultValue));
    }
  }
  /// In the order of the form, on a line of its own where queries stand between it and the name.
  void settings(const GenerateSettings& settings, bool onOwnLine) {
    if (onOwnLine) {
      m_out += '\n';
      m_out.append(2 * m_indent - 1, ' ');
    }
    setting(settings.temperature, kDefaultTemperature);
    setting(settings.maxTokens, kDefaultMaxTokens);
  }

  void body(const Message& message) { text(message.text); }
  void body(const Print& print) { text(print.text); }
  void body(const Ask& ask) { text(ask.prompt); }
  void body(const File& file) { text(file.path); }
  void body(const Monad& monad) { child(*monad.body); }

  void body(const Generate& generate) {
    text(generate.settings.model);
    child(*generate.input);
    settings(generate.settings, true);
  }

  void body(const Join& join) {
    for (const Node& node : join.children) child(node);
  }

  void body(const Zip& zip) {
    child(*zip.first);
    child(*zip.second);
  }

  void body(const Repeat& repeat) {
    if (const auto* parameter = std::get_if<Parameter>(&repeat.count)) {
      text("{" + parameter->name + "}");
    } else {
      word(std::to_string(std::get<std::uint8_t>(repeat.count)));
    }
    body(repeat.generate);
  }

  void body(const Map& map) {
    text(map.settings.model);
    m_out += " (list";
    for (const std::string& input : map.inputs) text(input);
    m_out += ')';
    settings(map.settings, false);
  }

  void body(const Augment& augment) {
    text(augment.embeddingModel);
    child(*augment.body);
    m_out += '\n';
    m_out.append(2 * m_indent, ' ');
    m_out += "(doc";
    text(augment.document.name);
    if (const auto* content = std::get_if<std::string>(&augment.document.content)) {
      text(*content);
    } else {
      m_out += " (bytes";
      for (const std::uint8_t byte : std::get<std::vector<std::uint8_t>>(augment.document.content)) {
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

}  // namespace spanscope::query
