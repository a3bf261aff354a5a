// SPDX-License-Identifier: GPL-3.0-or-later
// Makes questions for the bundled model. For each question, the documents with the answer are known. Open
// this file to change these questions. Every second question needs two documents. One document names the
// person, and the other document has the fact about this person. The questions test what attention shows
// about the used documents.
#pragma once

#include "engine/query/query.h"

#include <cstdint>
#include <string>
#include <vector>

namespace spanscope::experiment {

/// Max documents of a question: each document is about a different person.
inline constexpr std::int32_t kMostSources = 28;
/// Min documents: two needed documents, and one document that is not needed.
inline constexpr std::int32_t kFewestSources = 3;

struct SourceWorld {
  std::int32_t documents = 8;  ///< kFewestSources + rivals … kMostSources
  /// Number of additional documents about how two other people met. The bundled model often confuses these
  /// documents with the needed document.
  std::int32_t rivals = 0;
  std::uint64_t seed = 0;
};

struct SourceQuestion {
  std::vector<std::string> documents;
  std::string question;
  std::string answer;                ///< the correct answer of the model, word for word
  std::vector<std::int32_t> needed;  ///< indices of the one or two documents that answer it, ascending
};

/// Equal arguments give equal questions. `index`: from 0. Questions with an odd index need two documents.
SourceQuestion sourceQuestion(const SourceWorld& world, std::int32_t index);

/// Returns a query: the documents under a plus, then the question. The temperature is 0.
query::Node sourceQuery(const SourceQuestion& question);

}  // namespace spanscope::experiment
