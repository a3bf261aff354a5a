// SPDX-License-Identifier: GPL-3.0-or-later
// Questions in the world of the bundled model, for which it is known which documents answer them. Every
// second question needs two documents: one says who is meant, the other says what is asked about this person.
// They test what attention tells about the documents that an answer used.
#pragma once

#include "engine/query/query.h"

#include <cstdint>
#include <string>
#include <vector>

namespace spanscope::experiment {

/// Most documents of a question: each is about a different person.
inline constexpr std::int32_t kMostSources = 28;
/// Fewest documents: two that are needed and one that is not.
inline constexpr std::int32_t kFewestSources = 3;

struct SourceWorld {
  std::int32_t documents = 8;  ///< kFewestSources + rivals … kMostSources
  /// Number of further documents that say how two other people know each other. The bundled model often takes
  /// them for the needed document.
  std::int32_t rivals = 0;
  std::uint64_t seed = 0;
};

struct SourceQuestion {
  std::vector<std::string> documents;
  std::string question;
  std::string answer;                ///< the correct answer of the model, word for word
  std::vector<std::int32_t> needed;  ///< places of the one or two documents that answer it, ascending
};

/// Equal arguments give equal questions. `index`: from 0; questions with an odd index need two documents.
SourceQuestion sourceQuestion(const SourceWorld& world, std::int32_t index);

/// The documents under plus, then the question; greedy.
query::Node sourceQuery(const SourceQuestion& question);

}  // namespace spanscope::experiment
