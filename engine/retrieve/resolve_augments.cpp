// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/retrieve/resolve_augments.h"

#include "engine/base/error.h"
#include "engine/query/utf8.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

namespace spanscope::retrieve {
namespace {

using query::Diagnostic;
using query::Node;

std::string bytesOf(const query::Document& document) {
  if (const auto* text = std::get_if<std::string>(&document.content)) return *text;
  const auto& bytes = std::get<std::vector<std::uint8_t>>(document.content);
  return {bytes.begin(), bytes.end()};
}

class Resolver {
 public:
  Resolver(const RetrievalOptions& options, const text::Tokenizer& tokenizer, LexicalIndex& index)
      : m_options(options), m_tokenizer(tokenizer), m_index(index) {}

  ResolvedAugments result;

  /// The parser bounds the depth of a query.
  void resolve(Node& node, const NodePath& path) {
    if (auto* augment = node.as<query::Augment>()) {
      node.value = retrieve(*augment, path);
    } else if (auto* join = node.as<query::Join>()) {
      const std::string prefix = path + "/" + joinName(join->kind) + "/";
      for (std::size_t i = 0; i < join->children.size(); ++i)
        resolve(join->children[i], prefix + std::to_string(i));
    } else if (auto* generate = node.as<query::Generate>()) {
      resolve(*generate->input, path + "/g/input");
    } else if (auto* monad = node.as<query::Monad>()) {
      resolve(*monad->body, path + "/monad");
    } else if (auto* zip = node.as<query::Zip>()) {
      resolve(*zip->first, path + "/zip/first");
      resolve(*zip->second, path + "/zip/second");
    } else if (auto* repeat = node.as<query::Repeat>()) {
      resolve(*repeat->generate.input, path + "/repeat/g/input");
    }
  }

 private:
  void add(query::Severity severity, const NodePath& path, std::string found, std::string expected,
           std::string hint = {}) {
    Diagnostic diagnostic;
    diagnostic.severity = severity;
    diagnostic.pointer = path;
    diagnostic.found = std::move(found);
    diagnostic.expected = std::move(expected);
    diagnostic.hint = std::move(hint);
    result.diagnostics.push_back(std::move(diagnostic));
  }

  void gatherText(const Node& node, const NodePath& path, std::string& text, bool& isKnown) {
    if (const auto* message = node.as<query::Message>()) {
      if (!text.empty()) text += '\n';
      text += message->text;
    } else if (node.as<query::Join>() != nullptr || node.as<query::Zip>() != nullptr) {
      for (const query::ChildRef& child : query::childrenOf(node))
        gatherText(*child.node, path + child.step, text, isKnown);
    } else if (node.as<query::Print>() == nullptr && node.as<query::Monad>() == nullptr) {
      isKnown = false;
      add(query::Severity::Error, path, std::string("an operator \"") + query::operatorName(node) + "\"",
          "messages: the question of an augment is known before the query runs");
    }
  }

  query::Join retrieve(const query::Augment& augment, const NodePath& path) {
    query::Join plus{.kind = query::JoinKind::Plus, .children = {}};
    std::string question;
    bool isKnown = true;
    gatherText(*augment.body, path + "/augment/body", question, isKnown);
    if (!isKnown) return plus;
    Retrieved retrieved{.node = path, .fragments = {}};
    try {
      const auto indexed = m_index.add({{.name = augment.document.name, .bytes = bytesOf(augment.document)}},
                                       m_tokenizer, m_options.chunk);
      retrieved.fragments =
          m_index.find(question, static_cast<std::size_t>(m_options.fragments), indexed.keys.front());
    } catch (const Failure& failure) {
      const Error& error = failure.error();
      std::string found;
      for (const std::string& part : {error.file, error.place, error.found}) {
        if (!part.empty()) found += (found.empty() ? "" : ": ") + query::cutText(part, kShownCharacters);
      }
      add(query::Severity::Error, path, std::move(found), error.expected);
      return plus;
    }
    if (retrieved.fragments.empty()) {
      add(query::Severity::Warning, path,
          "nothing in " + query::quoted(augment.document.name) + " that shares a word with " +
              query::quoted(question),
          "a fragment");
    }
    for (const Fragment& fragment : retrieved.fragments)
      plus.children.push_back(Node{query::Message{.role = query::Role::User, .text = fragment.text}});
    result.retrieved.push_back(std::move(retrieved));
    return plus;
  }

  static constexpr std::size_t kShownCharacters = 200;

  const RetrievalOptions& m_options;
  const text::Tokenizer& m_tokenizer;
  LexicalIndex& m_index;
};

}  // namespace

bool hasAugment(const Node& node) {
  if (node.as<query::Augment>() != nullptr) return true;
  const std::vector<query::ChildRef> children = query::childrenOf(node);
  return std::any_of(children.begin(), children.end(),
                     [](const query::ChildRef& child) { return hasAugment(*child.node); });
}

ResolvedAugments resolveAugments(const Node& node, const RetrievalOptions& options,
                                 const text::Tokenizer& tokenizer, LexicalIndex& index) {
  Resolver resolver(options, tokenizer, index);
  std::optional<Error> problem = checkChunkOptions(options.chunk);
  if (!problem && (options.fragments < 1 || options.fragments > kMaxFragments)) {
    problem =
        Error{{}, "fragments", std::to_string(options.fragments), "1 to " + std::to_string(kMaxFragments)};
  }
  if (problem) {
    Diagnostic diagnostic;
    diagnostic.found = problem->place + ": " + problem->found;
    diagnostic.expected = problem->expected;
    resolver.result.diagnostics.push_back(std::move(diagnostic));
    return std::move(resolver.result);
  }
  Node resolved = node;
  resolver.resolve(resolved, {});
  if (!query::hasErrors(resolver.result.diagnostics)) resolver.result.query = std::move(resolved);
  return std::move(resolver.result);
}

}  // namespace spanscope::retrieve
