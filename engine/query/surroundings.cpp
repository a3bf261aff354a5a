// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/surroundings.h"

#include "engine/base/ids.h"
#include "engine/base/utf8.h"
#include "engine/query/shown_text.h"

#include <utility>

namespace spanscope::query {
namespace {

class SugarResolver {
 public:
  explicit SugarResolver(Surroundings& surroundings) : m_surroundings(surroundings) {}

  std::vector<Diagnostic> diagnostics;

  void resolve(Node& node, const NodePath& path) {
    if (const auto* ask = node.as<Ask>()) {
      put(m_surroundings.ask(ask->prompt), node, path);
    } else if (const auto* file = node.as<File>()) {
      put(readTextFile(m_surroundings, file->path), node, path);
    } else if (auto* join = node.as<Join>()) {
      const std::string prefix = path + "/" + joinName(join->kind) + "/";
      for (std::size_t i = 0; i < join->children.size(); ++i)
        resolve(join->children[i], prefix + std::to_string(i));
    } else if (auto* generate = node.as<Generate>()) {
      resolve(*generate->input, path + "/g/input");
    } else if (auto* monad = node.as<Monad>()) {
      resolve(*monad->body, path + "/monad");
    } else if (auto* zip = node.as<Zip>()) {
      resolve(*zip->first, path + "/zip/first");
      resolve(*zip->second, path + "/zip/second");
    } else if (auto* repeat = node.as<Repeat>()) {
      resolve(*repeat->generate.input, path + "/repeat/g/input");
    } else if (auto* augment = node.as<Augment>()) {
      resolve(*augment->body, path + "/augment/body");
    }
  }

 private:
  void put(std::variant<std::string, NotGiven> given, Node& node, const NodePath& path) {
    if (auto* text = std::get_if<std::string>(&given)) {
      node.value = Message{Role::User, std::move(*text)};
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
  }

  Surroundings& m_surroundings;
};

}  // namespace

std::variant<FileList, NotGiven> Surroundings::listFiles(const std::string& path) {
  return NotGiven{"the files \"" + cutText(path, 80) + "\"", "text: files cannot be listed here", {}};
}

std::variant<std::string, NotGiven> readTextFile(Surroundings& surroundings, const std::string& path) {
  auto given = surroundings.readFile(path);
  auto* text = std::get_if<std::string>(&given);
  if (text == nullptr) return given;
  if (isValidUtf8(*text)) {
    text->erase(0, text->size() - withoutByteOrderMark(*text).size());
    return given;
  }
  return NotGiven{"the file \"" + cutText(path, 80) + "\", which is not UTF-8", "a text file", {}};
}

std::variant<Node, std::vector<Diagnostic>> resolveSugar(const Node& node, Surroundings& surroundings) {
  SugarResolver resolver(surroundings);
  Node resolved = node;
  resolver.resolve(resolved, {});
  if (!resolver.diagnostics.empty()) return std::move(resolver.diagnostics);
  return resolved;
}

}  // namespace spanscope::query
