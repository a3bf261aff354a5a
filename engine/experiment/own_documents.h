// SPDX-License-Identifier: GPL-3.0-or-later
// Takes the documents and the question of the user's query, for experiments that otherwise make them up. Open
// this file to accept other queries.
#pragma once

#include "engine/base/ids.h"
#include "engine/query/query.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::experiment {

struct ExperimentRequest;

/// Returns the number of documents of a query, which are the children of its plus. Returns nothing for an
/// augment, which becomes a plus when it runs. Throws Failure if there is no plus, or more than one. Throws
/// Failure if a child is generated.
std::optional<std::size_t> countDocuments(const query::Node& query);

class OwnDocuments {
 public:
  /// `query` is one generate over one plus, whose children are the documents. The last user message outside
  /// of the plus is the question. The query has passed all stages before planning and contains no augment.
  /// `name`: the query's name for the user. Throws Failure like countDocuments() for other queries.
  OwnDocuments(query::Node query, std::string name);

  const std::string& name() const { return m_name; }
  /// The query as it was given.
  const query::Node& whole() const { return m_query; }
  std::size_t count() const;
  /// Mean number of words of the first `count` documents.
  double meanWords(std::size_t count) const;

  struct Asked {
    std::vector<std::size_t> documents;  ///< indices, in the order of the new plus
    /// 0: the question itself; otherwise the question with this number after it.
    std::uint64_t question = 0;
    std::optional<std::int32_t> maxTokens{};  ///< nothing: the limit of the query
  };
  /// Returns the query over these documents. The query has greedy sampling and no name of a model.
  query::Node query(const Asked& asked) const;

 private:
  query::Node m_query;
  NodePath m_plus;
  NodePath m_question;
  std::string m_name;
};

/// Sets the documents of a request that were not known before. Usual numbers of documents are reduced to the
/// existing number. Throws Failure if the request has another number that is too large.
ExperimentRequest withDocuments(ExperimentRequest request, std::shared_ptr<const OwnDocuments> documents);

/// Returns the first `count` documents, rotated so that number `turn` comes first: 1, 2, 0 for three
/// documents in turn 1.
std::vector<std::size_t> documentsInTurn(std::size_t count, std::size_t turn);

}  // namespace spanscope::experiment
