// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/surroundings.h"

#include "engine/base/ids.h"
#include "engine/base/utf8.h"
#include "engine/query/node_parts.h"
#include "engine/query/shown_text.h"

#include <utility>

namespace spanscope::query {

std::variant<FileList, NotGiven> Surroundings::listFiles(const std::string& path) {
  return NotGiven{"This client cannot list the files \"" + cutText(path, 80) + "\".",
                  "Write the text of the files into the query.",
                  {}};
}

std::variant<std::string, NotGiven> readTextFile(Surroundings& surroundings, const std::string& path) {
  auto given = surroundings.readFile(path);
  auto* text = std::get_if<std::string>(&given);
  if (text == nullptr) return given;
  const std::string file = "the file \"" + cutText(path, 80) + "\"";
  constexpr const char* kExpected = /*id:text-in-utf8*/ "a text in UTF-8: save the file as UTF-8";
  if (auto narrow = utf8OfWide(*text)) {
    if (!narrow->firstReplaced) return std::move(narrow->text);
    return NotGiven{
        file + ", which has half of a UTF-16 character at byte " + std::to_string(*narrow->firstReplaced),
        kExpected,
        {}};
  }
  // A PDF may be all ASCII.
  if (text->starts_with("%PDF-"))
    return NotGiven{file + ", a PDF", "a text file", "an augment reads the text of a PDF"};
  const bool hasZero = text->find('\0') != std::string::npos;
  if (!hasZero && isValidUtf8(*text)) {
    text->erase(0, text->size() - withoutByteOrderMark(*text).size());
    return given;
  }
  if (const char* const kind = kindOfBytes(*text)) return NotGiven{file + ", " + kind, "a text file", {}};
  if (hasZero) return NotGiven{file + " with a zero byte, which no text has", "a text file", {}};
  return NotGiven{file + ", which is not UTF-8", kExpected, {}};
}

std::variant<std::string, NotGiven> textOfSugar(const Node& sugar, Surroundings& surroundings) {
  switch (infoOf(sugar).resolvedBy) {
    case ResolvedBy::Files:
      return readTextFile(surroundings, *textOf(sugar));
    case ResolvedBy::User:
      return surroundings.ask(*textOf(sugar));
    case ResolvedBy::Nobody:
    case ResolvedBy::Rule:
    case ResolvedBy::Retrieval:
      break;
  }
  return NotGiven{std::string("the operator \"") + operatorName(sugar) + "\"", "sugar", {}};
}

std::variant<Node, std::vector<Diagnostic>> resolveSugar(const Node& node, Surroundings& surroundings) {
  std::vector<Diagnostic> diagnostics;
  Node resolved = node;
  walk(resolved, {}, [&](Node& part, const NodePath& path) {
    if (!isSugar(part)) return;
    auto given = textOfSugar(part, surroundings);
    if (auto* text = std::get_if<std::string>(&given)) {
      part.value = Message{Role::User, std::move(*text)};
      return;
    }
    auto& reason = std::get<NotGiven>(given);
    diagnostics.push_back({Severity::Error,
                           path,
                           {},
                           0,
                           std::move(reason.found),
                           std::move(reason.expected),
                           std::move(reason.hint)});
  });
  if (!diagnostics.empty()) return diagnostics;
  return resolved;
}

}  // namespace spanscope::query
