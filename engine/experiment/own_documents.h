// SPDX-License-Identifier: GPL-3.0-or-later
// Documents and a question of a person's query, on which an experiment runs in place of made-up ones.
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

struct ExperimentWish;

/// How many documents a query has: the children of its plus. Nothing if an augment stands for the plus: it
/// becomes one when it runs. Throws Failure if there is no plus, if there are several, or if what stands
/// there is generated.
std::optional<std::size_t> countDocuments(const query::Node& query);

class OwnDocuments {
 public:
  /// `query`: one generate over one plus, whose children are the documents, and a user message outside of it,
  /// the last of which is the question. It has passed every stage before planning, and no augment is left.
  /// `name`: of the query, for people. Throws Failure, as countDocuments() does, if the query is none such.
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

/// The wish on documents that were not known before. The usual numbers of documents become those that there
/// are documents for. Throws Failure if the wish has another number that is too large.
ExperimentWish withDocuments(ExperimentWish wish, std::shared_ptr<const OwnDocuments> documents);

/// The first `count` documents, the `turn`-th of them first: 1, 2, 0 for three documents in turn 1.
std::vector<std::size_t> documentsInTurn(std::size_t count, std::size_t turn);

}  // namespace spanscope::experiment
