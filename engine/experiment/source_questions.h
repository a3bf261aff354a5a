// SPDX-License-Identifier: GPL-3.0-or-later
// Questions in the world of the bundled model of which it is known which documents answer them: every second
// one needs two documents, one that says who is meant and one that says what is asked of them. What attention
// says about the documents an answer used is measured with them.
#pragma once

#include "engine/query/query.h"

#include <cstdint>
#include <string>
#include <vector>

namespace spanscope::experiment {

/// Most documents of a question: each is about another person.
inline constexpr std::int32_t kMostSources = 28;
/// Fewest: two that are needed and one that is not.
inline constexpr std::int32_t kFewestSources = 3;

struct SourceWorld {
  std::int32_t documents = 8;  ///< kFewestSources + rivals … kMostSources
  /// Documents besides that say how two others know each other. The bundled model often takes them for the
  /// one that is meant.
  std::int32_t rivals = 0;
  std::uint64_t seed = 0;
};

struct SourceQuestion {
  std::vector<std::string> documents;
  std::string question;
  std::string answer;                ///< what the model says when it is right, word for word
  std::vector<std::int32_t> needed;  ///< places of the one or two documents that answer it, ascending
};

/// The same whenever it is asked for. `index`: from 0; odd ones need two documents.
SourceQuestion sourceQuestion(const SourceWorld& world, std::int32_t index);

/// The documents under plus, then the question; greedy.
query::Node sourceQuery(const SourceQuestion& question);

}  // namespace spanscope::experiment
