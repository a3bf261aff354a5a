// SPDX-License-Identifier: GPL-3.0-or-later
// Documents and a question of a person's query, on which an experiment runs in place of made-up ones.
#pragma once

#include "engine/base/ids.h"
#include "engine/query/query.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::experiment {

/// How many documents a query has: the children of its plus. Throws Failure if it has no plus, or several, if
/// what stands there is generated, or if an augment finds documents only when it runs.
std::size_t countDocuments(const query::Node& query);

class OwnDocuments {
 public:
  /// `query`: one generate over one plus, whose children are the documents, and a user message outside of it,
  /// the last of which is the question. It has passed every stage before planning. `name`: of the query, for
  /// people. Throws Failure, as countDocuments() does, if the query is none such.
  OwnDocuments(query::Node query, std::string name);

  const std::string& name() const { return m_name; }
  std::size_t count() const;
  /// Mean number of words of the first `count` documents.
  double meanWords(std::size_t count) const;

  struct Asked {
    std::vector<std::size_t> documents;  ///< indices, in the order in which they stand under the plus
    std::uint64_t question =
        0;  ///< 0: the question itself; otherwise another one, with this number behind it
    std::optional<std::int32_t> maxTokens{};  ///< nothing: as the query says
  };
  /// The query over these documents, with greedy sampling and without the name of a model.
  query::Node query(const Asked& asked) const;

 private:
  query::Node m_query;
  NodePath m_plus;
  NodePath m_question;
  std::string m_name;
};

/// The first `count` documents, the `turn`-th of them first: 1, 2, 0 for three documents in turn 1.
std::vector<std::size_t> documentsInTurn(std::size_t count, std::size_t turn);

}  // namespace spanscope::experiment
