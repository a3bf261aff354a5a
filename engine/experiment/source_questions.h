// SPDX-License-Identifier: GPL-3.0-or-later
// Makes questions in the world of the bundled model, with the known documents of their answers. Open this
// file to change these questions. Every second question needs two documents. One names the person, and the
// other has the fact about this person. The questions test what attention shows about the used documents.
#pragma once

#include "engine/query/query.h"

#include <cstdint>
#include <string>
#include <vector>

namespace spanscope::experiment {

/// Max documents of a question: each is about a different person.
inline constexpr std::int32_t kMostSources = 28;
/// Min documents: two that are needed and one that is not.
inline constexpr std::int32_t kFewestSources = 3;

struct SourceWorld {
  std::int32_t documents = 8;  ///< kFewestSources + rivals … kMostSources
  /// Number of further documents about the acquaintance of two other people. The bundled model often confuses
  /// them with the needed document.
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

/// Returns the documents under plus, then the question; greedy.
query::Node sourceQuery(const SourceQuestion& question);

}  // namespace spanscope::experiment
