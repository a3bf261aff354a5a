// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/retrieve/resolve_augments.h"

#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/query/shown_text.h"
#include "engine/retrieve/augment_documents.h"
#include "engine/retrieve/augment_search.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

namespace spanscope::retrieve {
namespace {

using query::Diagnostic;
using query::Node;

constexpr std::size_t kShownCharacters = 200;
/// Documents that could not be read are named up to this number.
constexpr std::size_t kNamedDocuments = 10;

/// "file: place: found".
std::string foundIn(const Error& error) {
  std::string text;
  for (const std::string& part : {error.file, error.place, error.found}) {
    if (!part.empty()) text += (text.empty() ? "" : ": ") + query::cutText(part, kShownCharacters);
  }
  return text;
}

class Resolver {
 public:
  Resolver(const RetrievalOptions& options, const RetrievalTools& tools)
      : m_options(options), m_tools(tools) {}

  ResolvedAugments result;

  /// The parser bounds the depth of a query.
  void resolve(Node& node, const NodePath& path) {
    if (result.isStopped) return;
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
  void add(Severity severity, const NodePath& path, std::string found, std::string expected,
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
      add(Severity::Error, path, std::string("an operator \"") + query::operatorName(node) + "\"",
          "messages: the question of an augment is known before the query runs");
    }
  }

  query::Join retrieve(const query::Augment& augment, const NodePath& path) {
    query::Join plus{.kind = query::JoinKind::Plus, .children = {}};
    std::string question;
    bool isKnown = true;
    gatherText(*augment.body, path + "/augment/body", question, isKnown);
    if (!isKnown) return plus;
    auto listed = AugmentDocuments::of(augment.document, m_tools.files);
    if (auto* refused = std::get_if<query::NotGiven>(&listed)) {
      add(Severity::Error, path, std::move(refused->found), std::move(refused->expected),
          std::move(refused->hint));
      return plus;
    }
    std::optional<Retrieved> retrieved;
    SearchRemarks remarks;
    auto& documents = std::get<AugmentDocuments>(listed);
    try {
      const auto choice = m_options.choices.find(path);
      retrieved = searchAugment(augment, question, documents,
                                choice == m_options.choices.end() ? FragmentChoice() : choice->second,
                                m_options, m_tools, remarks);
    } catch (const Failure& failure) {
      add(Severity::Error, path, foundIn(failure.error()), failure.error().expected);
      return plus;
    }
    if (!retrieved) {
      result.isStopped = true;
      return plus;
    }
    remark(augment, path, documents, remarks);
    retrieved->node = path;
    for (const FoundFragment& found : retrieved->fragments) {
      if (!found.isInPrompt) continue;
      plus.children.push_back(
          Node{query::Message{.role = query::Role::User, .text = found.ranked.fragment.text}});
    }
    if (plus.children.empty()) {
      add(Severity::Warning, path,
          "nothing in " + query::quoted(augment.document.name) +
              (retrieved->ranking == Ranking::Lexical ? " that shares a word with " : " that is like ") +
              query::quoted(question),
          "a fragment");
    }
    result.retrieved.push_back(std::move(*retrieved));
    return plus;
  }

  void remark(const query::Augment& augment, const NodePath& path, const AugmentDocuments& documents,
              const SearchRemarks& remarks) {
    std::size_t named = 0;
    const auto leftOut = [&](std::string found, std::string expected) {
      if (++named <= kNamedDocuments)
        add(Severity::Warning, path, std::move(found) + " (left out)", std::move(expected));
    };
    for (const query::NotGiven& file : documents.leftOut()) leftOut(file.found, file.expected);
    for (const Error& error : remarks.skipped) leftOut(foundIn(error), error.expected);
    if (named > kNamedDocuments) {
      add(Severity::Warning, path,
          counted(named - kNamedDocuments, "further file") + " of " + query::quoted(augment.document.name) +
              " that cannot be read (left out)",
          "files that can");
    }
    if (!remarks.lostPins.empty()) {
      add(Severity::Warning, path,
          counted(remarks.lostPins.size(), "pinned fragment that is", "pinned fragments that are") +
              " not in " + query::quoted(augment.document.name) + " any more",
          "fragments of the documents as they are now, cut as now");
    }
  }

  const RetrievalOptions& m_options;
  const RetrievalTools& m_tools;
};

}  // namespace

bool hasAugment(const Node& node) {
  if (node.as<query::Augment>() != nullptr) return true;
  const std::vector<query::ChildRef> children = query::childrenOf(node);
  return std::any_of(children.begin(), children.end(),
                     [](const query::ChildRef& child) { return hasAugment(*child.node); });
}

ResolvedAugments resolveAugments(const Node& node, const RetrievalOptions& options,
                                 const RetrievalTools& tools) {
  Resolver resolver(options, tools);
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
  if (!resolver.result.isStopped && !query::hasErrors(resolver.result.diagnostics))
    resolver.result.query = std::move(resolved);
  return std::move(resolver.result);
}

}  // namespace spanscope::retrieve
