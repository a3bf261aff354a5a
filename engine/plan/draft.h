// SPDX-License-Identifier: GPL-3.0-or-later
// The tree that the rewrite rules work on: the query with what later parts must resolve already gone, each
// node with the place it came from.
#pragma once

#include "engine/base/error.h"
#include "engine/plan/plan.h"
#include "engine/query/query.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace spanscope::plan {

/// What a generate says besides its input, with the language's defaults in place.
struct DraftSettings {
  std::string model;
  std::optional<std::int32_t> maxTokens;
  float temperature = query::kDefaultTemperature;
  bool operator==(const DraftSettings&) const = default;
};

struct Draft {
  enum class Kind { Message, Print, Join, Generate, Monad, Zip, Repeat, Map };

  /// Left by a rule on what it made.
  enum class Mark {
    None,
    Done,      ///< the rule leaves it alone from now on
    ReplyOnly  ///< a judge of attention locality: the same, and prompts take its reply and never its prompt
  };

  Kind kind = Kind::Join;
  NodePath node;                                ///< where it came from in the query as given
  query::Role role = query::Role::User;         ///< of Message
  std::string text;                             ///< of Message and Print
  query::JoinKind join = query::JoinKind::Seq;  ///< of Join
  DraftSettings settings;                       ///< of Generate, Repeat and Map
  std::uint32_t count = 0;                      ///< of Repeat
  std::vector<std::string> inputs;              ///< of Map
  OutputForm form = OutputForm::Anew;  ///< of Generate: how its output reaches the prompt it stands in
  std::uint32_t call = 0;              ///< of Generate: equal where the same output is used in several places
  Mark mark = Mark::None;
  std::vector<Draft> children;  ///< Join: any; Generate, Monad, Repeat: one; Zip: first and second

  const Draft& input() const { return children.front(); }
  bool isJoin(query::JoinKind kindOfJoin) const { return kind == Kind::Join && join == kindOfJoin; }
};

/// A message without text, a print, a dropped step or a join of nothing: no tokens of a prompt come from it.
bool givesNothing(const Draft& draft);

/// How much of the plan's limits a tree takes.
struct DraftSize {
  std::size_t nodes = 0;
  std::size_t textBytes = 0;
};
DraftSize sizeOf(const Draft& draft);

/// The draft of a query. What cannot be planned is appended to `problems`; the draft is of use only if there
/// is none. Calls are numbered from 1.
Draft makeDraft(const query::Node& query, float defaultTemperature, OutputForm outputForm,
                std::size_t maxDepth, std::vector<Error>& problems);

}  // namespace spanscope::plan
