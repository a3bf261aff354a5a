// SPDX-License-Identifier: GPL-3.0-or-later
// The tree that the rewrite rules work on: the query with what later parts must resolve already gone, each
// node with the place it came from.
#pragma once

#include "engine/base/error.h"
#include "engine/plan/plan.h"
#include "engine/query/node_parts.h"
#include "engine/query/visit_fields.h"

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
  /// Left by a rule on what it made.
  enum class Mark {
    None,
    Done,      ///< the rule leaves it alone from now on
    ReplyOnly  ///< a judge of attention locality: the same, and prompts take its reply and never its prompt
  };

  std::size_t op = query::kIndexOf<query::Join>;  ///< which of query::Operators it is
  NodePath node;                                  ///< where it came from in the query as given
  query::Role role = query::Role::User;           ///< of a message
  std::string text;                               ///< of those that have one: messages, what is printed
  query::JoinKind join = query::JoinKind::Seq;    ///< of a join
  DraftSettings settings;                         ///< of those that answer
  std::uint32_t count = 0;                        ///< how often a generate is repeated
  std::vector<std::string> inputs;                ///< that are answered one by one
  OutputForm form = OutputForm::Anew;  ///< of a generate: how its output reaches the prompt it stands in
  std::uint32_t call = 0;  ///< of a generate: equal where the same output is used in several places
  Mark mark = Mark::None;
  std::vector<Draft> children;  ///< as many as the operator takes

  const Draft& input() const { return children.front(); }
  template <class Operator>
  bool is() const {
    return op == query::kIndexOf<Operator>;
  }
  bool isJoin(query::JoinKind kindOfJoin) const { return is<query::Join>() && join == kindOfJoin; }
  /// What its operator is like.
  const query::OperatorShape& shape() const { return query::shapeOf(op); }
  const query::OperatorInfo& info() const { return shape().info; }
  /// The key of its operator: "user", "plus", …
  const char* name() const;
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
