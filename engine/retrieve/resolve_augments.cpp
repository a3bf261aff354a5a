// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/retrieve/resolve_augments.h"

#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/query/node_parts.h"
#include "engine/query/shown_text.h"
#include "engine/retrieve/augment_search.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <variant>

namespace spanscope::retrieve {
namespace {

using query::Diagnostic;
using query::Node;

constexpr std::size_t kShownCharacters = 200;
/// Max number of named documents among those that could not be read. The same limit applies to those that are
/// not UTF-8.
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

  void resolve(Node& query) {
    query::walk(query, {}, [this](Node& node, const NodePath& path) {
      if (result.isStopped || query::documentOf(node) == nullptr) return;
      node.value = retrieve(node, path);
    });
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
    const query::Gives gives = query::infoOf(node).gives;
    const bool isArranged = query::arityOf(node).most > 1;
    if (gives == query::Gives::Text) {
      if (!text.empty()) text += '\n';
      text += *query::textOf(node);
    } else if (isArranged) {
      query::forEachChild(node, [&](const Node& child, const std::string& step) {
        gatherText(child, path + step, text, isKnown);
      });
    } else if (gives != query::Gives::Nothing) {
      isKnown = false;
      add(Severity::Error, path, std::string("an operator \"") + query::operatorName(node) + "\"",
          "messages: the question of an augment is known before the query runs");
    }
  }

  query::Join retrieve(const Node& augment, const NodePath& path) {
    const query::SourceDocument& document = *query::documentOf(augment);
    query::Join plus{.kind = query::JoinKind::Plus, .children = {}};
    std::string question;
    bool isKnown = true;
    query::forEachChild(augment, [&](const Node& body, const std::string& step) {
      gatherText(body, path + step, question, isKnown);
    });
    if (!isKnown) return plus;
    auto listed = AugmentDocuments::of(document, m_tools.files);
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
      retrieved = searchAugment(*query::embeddingModelOf(augment), question, documents,
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
    remark(document, path, documents, remarks);
    retrieved->node = path;
    for (const FoundFragment& found : retrieved->fragments) {
      if (!found.isInPrompt) continue;
      plus.children.push_back(
          Node{query::Message{.role = query::Role::User, .text = found.ranked.fragment.text}});
    }
    if (plus.children.empty()) {
      add(Severity::Warning, path,
          "nothing in " + query::inQuotes(document.name) +
              (retrieved->ranking == Ranking::Lexical ? " that shares a word with " : " that is like ") +
              query::inQuotes(question),
          "a fragment");
    }
    result.retrieved.push_back(std::move(*retrieved));
    return plus;
  }

  void remark(const query::SourceDocument& document, const NodePath& path, const AugmentDocuments& documents,
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
          counted(named - kNamedDocuments, "further file") + " of " + query::inQuotes(document.name) +
              " that cannot be read (left out)",
          "files that can");
    }
    const auto nameFirst = [&](const std::vector<Error>& errors, const char* what, const char* expected) {
      for (std::size_t i = 0; i < std::min(errors.size(), kNamedDocuments); ++i)
        add(Severity::Warning, path, foundIn(errors[i]), errors[i].expected);
      if (errors.size() <= kNamedDocuments) return;
      add(Severity::Warning, path,
          counted(errors.size() - kNamedDocuments, "further file") + " of " + query::inQuotes(document.name) +
              what,
          expected);
    };
    nameFirst(documents.altered(), " with bytes that are no UTF-8 (read as U+FFFD)", "UTF-8");
    nameFirst(remarks.unread, " with pages without text", "pages with text");
    if (!remarks.lostPins.empty()) {
      add(Severity::Warning, path,
          counted(remarks.lostPins.size(), "pinned fragment that is", "pinned fragments that are") +
              " not in " + query::inQuotes(document.name) + " any more",
          "fragments of the documents as they are now, cut as now");
    }
  }

  const RetrievalOptions& m_options;
  const RetrievalTools& m_tools;
};

}  // namespace

bool hasAugment(const Node& node) {
  return query::anyNode(node, [](const Node& part) { return query::documentOf(part) != nullptr; });
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
  resolver.resolve(resolved);
  if (!resolver.result.isStopped && !query::hasErrors(resolver.result.diagnostics))
    resolver.result.query = std::move(resolved);
  return std::move(resolver.result);
}

}  // namespace spanscope::retrieve
