// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/own_documents.h"

#include "engine/base/error.h"
#include "engine/query/node_walk.h"

#include <cctype>
#include <utility>

namespace spanscope::experiment {
namespace {

constexpr const char* kQuery = "the query";

bool generates(const query::Node& node) {
  return node.as<query::Generate>() != nullptr || node.as<query::Repeat>() != nullptr ||
         node.as<query::Map>() != nullptr;
}

/// The path of the one plus.
NodePath plusOf(const query::Node& root) {
  if (query::anyNode(root, [](const query::Node& node) { return node.as<query::Augment>() != nullptr; }))
    throw Failure(errorAt(kQuery, "an augment, whose documents are found when it runs",
                          "documents that stand under a plus"));
  std::vector<NodePath> pluses;
  const query::Node* plus = nullptr;
  query::walk(root, {}, [&](const query::Node& node, const NodePath& path) {
    const auto* join = node.as<query::Join>();
    if (join == nullptr || join->kind != query::JoinKind::Plus) return;
    pluses.push_back(path);
    plus = &node;
  });
  const std::string expected = "one plus, whose children are the documents";
  if (pluses.empty()) throw Failure(errorAt(kQuery, "no plus", expected));
  if (pluses.size() > 1) throw Failure(errorAt(kQuery, std::to_string(pluses.size()) + " of plus", expected));
  if (plus->as<query::Join>()->children.empty())
    throw Failure(errorAt(kQuery, "nothing under plus", expected));
  if (query::anyNode(*plus, generates))
    throw Failure(errorAt(kQuery, "a generate under plus", "documents there, which need not be generated"));
  return pluses.front();
}

bool isBelow(const NodePath& path, const NodePath& top) {
  return path.starts_with(top + "/") || path == top;
}

std::size_t wordsOf(const query::Node& node) {
  std::size_t words = 0;
  query::walk(node, {}, [&words](const query::Node& each, const NodePath&) {
    const auto* message = each.as<query::Message>();
    if (message == nullptr) return;
    bool isInWord = false;
    for (const char letter : message->text) {
      const bool isBlank = std::isspace(static_cast<unsigned char>(letter)) != 0;
      if (!isBlank && !isInWord) ++words;
      isInWord = !isBlank;
    }
  });
  return words;
}

}  // namespace

std::size_t countDocuments(const query::Node& query) {
  return query::nodeAt(query, plusOf(query))->as<query::Join>()->children.size();
}

OwnDocuments::OwnDocuments(query::Node query, std::string name)
    : m_query(std::move(query)), m_plus(plusOf(m_query)), m_name(std::move(name)) {
  if (m_query.as<query::Generate>() == nullptr)
    throw Failure(errorAt(kQuery, "a " + std::string(query::operatorName(m_query)) + " on top",
                          "a generate, whose answer is measured"));
  std::size_t generating = 0;
  query::walk(m_query, {}, [&](const query::Node& node, const NodePath& path) {
    if (generates(node)) ++generating;
    const auto* message = node.as<query::Message>();
    if (message != nullptr && message->role == query::Role::User && !isBelow(path, m_plus)) m_question = path;
  });
  if (generating > 1)
    throw Failure(
        errorAt(kQuery, std::to_string(generating) + " of generate", "one, whose answer is measured"));
  if (m_question.empty())
    throw Failure(errorAt(kQuery, "no user message beside the documents", "one, which is the question"));
}

std::size_t OwnDocuments::count() const {
  return query::nodeAt(m_query, m_plus)->as<query::Join>()->children.size();
}

double OwnDocuments::meanWords(std::size_t count) const {
  const std::vector<query::Node>& documents = query::nodeAt(m_query, m_plus)->as<query::Join>()->children;
  std::size_t words = 0;
  for (std::size_t i = 0; i < count; ++i) words += wordsOf(documents.at(i));
  return count == 0 ? 0 : static_cast<double>(words) / static_cast<double>(count);
}

query::Node OwnDocuments::query(const Asked& asked) const {
  query::Node query = m_query;
  if (asked.question != 0) {
    query::nodeAt(query, m_question)->as<query::Message>()->text +=
        " (" + std::to_string(asked.question) + ")";
  }
  const std::vector<query::Node>& documents = query::nodeAt(m_query, m_plus)->as<query::Join>()->children;
  std::vector<query::Node> chosen;
  for (const std::size_t document : asked.documents) chosen.push_back(documents.at(document));
  query::nodeAt(query, m_plus)->as<query::Join>()->children = std::move(chosen);
  query::GenerateSettings& settings = query.as<query::Generate>()->settings;
  settings.model.clear();
  settings.temperature = 0.0F;
  if (asked.maxTokens) settings.maxTokens = *asked.maxTokens;
  return query;
}

std::vector<std::size_t> documentsInTurn(std::size_t count, std::size_t turn) {
  std::vector<std::size_t> documents;
  for (std::size_t i = 0; i < count; ++i) documents.push_back((turn + i) % count);
  return documents;
}

}  // namespace spanscope::experiment
