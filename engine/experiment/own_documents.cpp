// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/own_documents.h"

#include "engine/base/error.h"
#include "engine/experiment/experiment.h"
#include "engine/query/node_parts.h"

#include <cctype>
#include <string_view>
#include <utility>

namespace spanscope::experiment {
namespace {

constexpr const char* kQuery = "the query";

bool generates(const query::Node& node) {
  return node.as<query::Generate>() != nullptr || node.as<query::Repeat>() != nullptr ||
         node.as<query::Map>() != nullptr;
}

constexpr const char* kOnePlus = "one plus with the documents as its children";

bool retrieves(const query::Node& node) {
  return node.as<query::Augment>() != nullptr;
}

bool isPlus(const query::Node& node) {
  const auto* join = node.as<query::Join>();
  return join != nullptr && join->kind == query::JoinKind::Plus;
}

/// Whether the query has one augment in place of the plus. Throws Failure for any other augment.
bool isRetrieved(const query::Node& root) {
  std::size_t augments = 0;
  query::walk(root, {}, [&](const query::Node& node, const NodePath&) {
    if (retrieves(node)) ++augments;
    if (isPlus(node) && query::anyNode(node, retrieves))
      throw Failure(errorAt(kQuery, /*id:augment-under-plus*/ "an augment under plus",
                            "documents under plus, or an augment without plus"));
  });
  if (augments == 0) return false;
  if (augments > 1)
    throw Failure(errorAt(kQuery, std::to_string(augments) + " augment nodes",
                          "one augment, which retrieves the documents"));
  if (query::anyNode(root, isPlus))
    throw Failure(errorAt(kQuery, /*id:augment-beside-plus*/ "an augment beside a plus",
                          "an augment or a plus for the documents"));
  return true;
}

/// Returns the path of the one plus.
NodePath plusOf(const query::Node& root) {
  std::vector<NodePath> pluses;
  const query::Node* plus = nullptr;
  query::walk(root, {}, [&](const query::Node& node, const NodePath& path) {
    if (!isPlus(node)) return;
    pluses.push_back(path);
    plus = &node;
  });
  if (pluses.empty()) throw Failure(errorAt(kQuery, "no plus", kOnePlus));
  if (pluses.size() > 1)
    throw Failure(errorAt(kQuery, std::to_string(pluses.size()) + " plus nodes", kOnePlus));
  if (plus->as<query::Join>()->children.empty())
    throw Failure(errorAt(kQuery, "nothing under plus", kOnePlus));
  if (query::anyNode(*plus, generates))
    throw Failure(errorAt(kQuery, /*id:generate-under-plus*/ "a generate node under plus",
                          "documents under plus, without a generate node"));
  return pluses.front();
}

/// Returns the path of the one plus after the augments were resolved.
NodePath resolvedPlusOf(const query::Node& root) {
  if (query::anyNode(root, retrieves))
    throw Failure(errorAt(kQuery, "an augment", "the documents that the augment retrieves"));
  return plusOf(root);
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

std::optional<std::size_t> countDocuments(const query::Node& query) {
  if (isRetrieved(query)) return std::nullopt;
  return query::nodeAt(query, plusOf(query))->as<query::Join>()->children.size();
}

OwnDocuments::OwnDocuments(query::Node query, std::string name)
    : m_query(std::move(query)), m_plus(resolvedPlusOf(m_query)), m_name(std::move(name)) {
  if (m_query.as<query::Generate>() == nullptr)
    throw Failure(errorAt(kQuery, "a " + std::string(query::operatorName(m_query)) + " on top",
                          "a generate node with the measured answer"));
  std::size_t generating = 0;
  query::walk(m_query, {}, [&](const query::Node& node, const NodePath& path) {
    if (generates(node)) ++generating;
    const auto* message = node.as<query::Message>();
    if (message != nullptr && message->role == query::Role::User && !isBelow(path, m_plus)) m_question = path;
  });
  if (generating > 1)
    throw Failure(errorAt(kQuery, std::to_string(generating) + " generate nodes",
                          "one generate node with the measured answer"));
  if (m_question.empty())
    throw Failure(
        errorAt(kQuery, "no user message except the documents", "one user message with the question"));
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

ExperimentRequest withDocuments(ExperimentRequest request, std::shared_ptr<const OwnDocuments> documents) {
  request.own = std::move(documents);
  if (const Experiment* experiment = findExperiment(request.experiment); experiment != nullptr) {
    for (const ExperimentField& field : experiment->fields) {
      const auto value = request.values.find(field.key);
      const bool isCount = std::string_view(field.key) == experiment->own.count;
      // completed() fills in the usual numbers that fit.
      if (isCount && value != request.values.end() && value->second == field.standard)
        request.values.erase(value);
    }
  }
  return completed(std::move(request));
}

std::vector<std::size_t> documentsInTurn(std::size_t count, std::size_t turn) {
  std::vector<std::size_t> documents;
  for (std::size_t i = 0; i < count; ++i) documents.push_back((turn + i) % count);
  return documents;
}

}  // namespace spanscope::experiment
