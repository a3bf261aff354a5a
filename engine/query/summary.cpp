// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/summary.h"

#include "engine/query/shown_text.h"

#include <vector>

namespace spanscope::query {
namespace {

class Outline {
 public:
  explicit Outline(std::size_t textCharacters) : m_textCharacters(textCharacters) {}

  std::string of(const Node& node) const {
    std::string line = operatorName(node);
    if (const auto* message = node.as<Message>()) {
      line += quoted(message->text);
    } else if (const auto* print = node.as<Print>()) {
      line += quoted(print->text);
    } else if (const auto* ask = node.as<Ask>()) {
      line += quoted(ask->prompt);
    } else if (const auto* file = node.as<File>()) {
      line += quoted(file->path);
    } else if (const auto* repeat = node.as<Repeat>()) {
      line += "(g(" + of(*repeat->generate.input) + ") ×" + countOf(*repeat) + ")";
    } else if (const auto* map = node.as<Map>()) {
      line += "(" + inputsOf(*map) + ")";
    } else if (const auto* augment = node.as<Augment>()) {
      line += "(" + of(*augment->body) + ", " + cutText(augment->document.name, kNameCharacters) + ")";
    } else {
      line += "(" + childrenIn(node) + ")";
    }
    return line;
  }

 private:
  static constexpr std::size_t kNameCharacters = 40;

  std::string quoted(const std::string& text) const {
    return m_textCharacters == 0 ? std::string() : " \"" + cutText(text, m_textCharacters) + "\"";
  }

  static std::string countOf(const Repeat& repeat) {
    if (const auto* parameter = std::get_if<Parameter>(&repeat.count)) return "{" + parameter->name + "}";
    return std::to_string(std::get<std::uint8_t>(repeat.count));
  }

  std::string inputsOf(const Map& map) const {
    std::vector<std::string> forms;
    forms.reserve(map.inputs.size());
    for (const std::string& input : map.inputs) forms.push_back("user" + quoted(input));
    return joined(forms);
  }

  std::string childrenIn(const Node& node) const {
    std::vector<std::string> forms;
    for (const ChildRef& child : childrenOf(node)) forms.push_back(of(*child.node));
    return joined(forms);
  }

  static std::string joined(const std::vector<std::string>& forms) {
    std::string line;
    std::size_t next = 0;
    for (std::size_t i = 0; i < forms.size(); i = next) {
      next = i + 1;
      while (next < forms.size() && forms[next] == forms[i]) ++next;
      if (i > 0) line += ", ";
      line += forms[i];
      if (next - i > 1) line += " ×" + std::to_string(next - i);
    }
    return line;
  }

  std::size_t m_textCharacters;
};

}  // namespace

std::string shortForm(const Node& node, const ShortFormOptions& options) {
  const std::string line = Outline(options.textCharacters).of(node);
  return options.maxCharacters == 0 ? line : cutText(line, options.maxCharacters);
}

}  // namespace spanscope::query
